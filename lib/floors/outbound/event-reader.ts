/**
 * Server-Sent Events of other servers: chunks of text to events.
 * Spec: https://html.spec.whatwg.org/multipage/server-sent-events.html §9.2
 */

export interface ServerEvent {
  /** `message` where the stream named none. */
  readonly event: string
  readonly data: string
  /** The last id seen on the stream, '' before the first. */
  readonly id: string
}

const LINE_END = /\r\n|\n|\r/

/**
 * Reads a stream: takes each chunk of decoded text, and calls `onEvent` with each whole event. What is left
 * without its blank line at the end is no event. Takes time in proportion to the text, however it is cut. An
 * event of more than `maxLength` characters, names and comments counted, throws `RangeError`.
 */
export function eventReader(
  onEvent: (event: ServerEvent) => void, maxLength: number = 4 * 1024 * 1024,
): (chunk: string) => void {
  // The begin of a line, as it came: put together once, when its end is there.
  let begun: string[] = []
  let afterReturn = false
  let started = false
  let event = ''
  let id = ''
  let data: string[] = []
  // All of the event so far, because what is dropped costs too: a line may hold on to the chunk it came in.
  let length = 0

  function count(characters: number): void {
    length += characters
    if (length > maxLength) throw new RangeError(`An event is longer than ${maxLength} characters`)
  }

  function take(line: string): void {
    if (line === '') {
      if (data.length > 0) onEvent({ event: event === '' ? 'message' : event, data: data.join('\n'), id })
      event = ''
      data = []
      length = 0
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1)
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id' && !value.includes('\0')) id = value
  }

  return (chunk) => {
    if (chunk === '') return
    let text = chunk
    // A CR at the end of one chunk and an LF at the start of the next are one line end.
    if (afterReturn && text.startsWith('\n')) text = text.slice(1)
    afterReturn = chunk.endsWith('\r')
    if (!started && text.charCodeAt(0) === 0xfeff) text = text.slice(1)
    started = true
    const lines = text.split(LINE_END)
    const last = lines.pop()!
    for (const line of lines) {
      count(line.length)
      if (begun.length === 0) {
        take(line)
      } else {
        begun.push(line)
        take(begun.join(''))
        begun = []
      }
    }
    if (last === '') return
    count(last.length)
    begun.push(last)
  }
}
