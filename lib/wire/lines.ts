/**
 * Text that comes in chunks of bytes, as lines: each ends with LF, a CR before it is dropped, an empty
 * one is passed over. A line over the limit is reported once and skipped to its end.
 */
import { StringDecoder } from 'node:string_decoder'

/** Makes a reader: give it each chunk, it calls `onLine` for each line of at most `maxLength` characters. */
export function lineReader(
  maxLength: number, onLine: (line: string) => void, onTooLong: () => void,
): (chunk: Uint8Array) => void {
  const decoder = new StringDecoder('utf8')
  let rest: string[] = []
  let length = 0
  let isSkipping = false

  function add(piece: string): void {
    if (isSkipping) return
    length += piece.length
    if (length <= maxLength) {
      rest.push(piece)
      return
    }
    isSkipping = true
    rest = []
    onTooLong()
  }

  function end(): void {
    const line = rest.join('').replace(/\r$/, '')
    const wasSkipping = isSkipping
    rest = []
    length = 0
    isSkipping = false
    if (!wasSkipping && line.trim() !== '') onLine(line)
  }

  return (chunk) => {
    const text = decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      add(text.slice(from, at))
      end()
      from = at + 1
    }
    if (from < text.length) add(text.slice(from))
  }
}
