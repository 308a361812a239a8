/** Copies of what is kept for long, and is a part of something longer that is not. */

/**
 * The same bytes in memory of their own, where they are a view of much more: who keeps and counts a few bytes
 * must not keep all that they were read with. Transports hand out views of 64 KiB.
 */
export function ownBytes(view: Buffer): Buffer {
  if (view.buffer.byteLength <= 2 * view.length) return view
  // Not from the runtime's pool, which is such a view again.
  const own = Buffer.allocUnsafeSlow(view.length)
  view.copy(own)
  return own
}

/**
 * The same text in memory of its own: the runtime keeps all of a long text for a part that was cut from it,
 * which is counted as its own few bytes.
 */
export function ownText(text: string): string {
  const own = text.length > scratch.length ? Buffer.from(text).toString()
    : scratch.toString('latin1', 0, scratch.write(text, 'latin1'))
  // Neither has all that a text may have: UTF-8 has no half of a character.
  return own === text ? own : Buffer.from(text, 'utf16le').toString('utf16le')
}

/** Most texts are short and in Latin letters, and then a buffer that is there already takes half the time. */
const scratch = Buffer.allocUnsafeSlow(4_096)
