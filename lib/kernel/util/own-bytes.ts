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
