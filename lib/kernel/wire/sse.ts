/**
 * Server-Sent Events: an event to its text, and comments.
 * Spec: https://html.spec.whatwg.org/multipage/server-sent-events.html §9.2
 */

export const EVENT_STREAM = 'text/event-stream'

/** A comment, which clients ignore: sent where a proxy might time out. */
export const HEARTBEAT = ': \n\n'

/** A comment that ends a stream. */
export const FAREWELL = ': end\n\n'

/**
 * One event as text. `data` is one line, as `JSON.stringify` writes it; `event` and `id` must not hold
 * line breaks: they are constants or made by the server, never what a client sent.
 */
export function formatEvent(data: string, event?: string, id?: string): string {
  let lines = id === undefined ? '' : `id: ${id}\n`
  if (event !== undefined) lines += `event: ${event}\n`
  return `${lines}data: ${data}\n\n`
}
