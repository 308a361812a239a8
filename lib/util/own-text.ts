/**
 * The same text in memory of its own: the runtime keeps all of a long text for a part that was cut from it,
 * which is counted as its own few bytes.
 */
export function ownText(text: string): string {
  const own = Buffer.from(text).toString()
  // UTF-8 has no half of a character.
  return own === text ? own : Buffer.from(text, 'utf16le').toString('utf16le')
}
