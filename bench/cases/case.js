/**
 * What a case is, and what cases have in common.
 *
 * A case is one request that is sent again and again: `{ name, title, aim, door, hasSession, method, path,
 * headers, body, requests, check }`. `aim` is the CPU ratio that triport is to reach; `door` is the server of
 * the process that is asked ('open' if left out); with `hasSession` each connection opens an MCP session
 * first, and names it in each request; `requests` is how many one slice sends; `check` gets an answer,
 * `{ status, head, body }`, and throws where it is wrong. A case may bring its own `slice` (see `slice.js`).
 */
export const JSON_TYPE = 'application/json'
export const EVENT_STREAM = 'text/event-stream'

/** What the door `keyed` asks for. */
export const KEY = 'the key of the benchmark'

export const QUESTION = 'What is the capital of France?'

/** A `POST` of JSON. */
export function posted({ path, accept = '*/*', headers = {}, body, ...rest }) {
  return {
    method: 'POST', path, headers: { 'Content-Type': JSON_TYPE, 'Accept': accept, ...headers },
    body: JSON.stringify(body), ...rest,
  }
}

/** Every message of an answer, whether it came as a document or as events. */
export function messagesOf({ head, body }) {
  if (!/^content-type: text\/event-stream/im.test(head)) return [JSON.parse(body)]
  return [...body.matchAll(/^data: ?({.*})\r?$/gm)].map(([, data]) => JSON.parse(data))
}
