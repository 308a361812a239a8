/** The client for tests: its requests, their answers and errors; and queries over plain HTTP. */
import { eventReader } from '../floors/outbound/event-reader.ts'
import { isRecord } from '../kernel/define/content.ts'
import { rejectUnknown } from '../kernel/define/validate.ts'
import { JSON_TYPE } from '../kernel/wire/media.ts'
import { EVENT_STREAM } from '../kernel/wire/sse.ts'
import type { ServerEvent } from '../floors/outbound/event-reader.ts'
import type { TriportServer } from '../preset/create-server.ts'
import type { JsonRecord, TestClient, TestClientOptions, TestReply, TestRequest } from './types.ts'

type Server = Pick<TriportServer, 'fetch'>

/** How often one call may ask. */
export const MAX_ROUNDS = 100

/** An error that a server answered. Its message is the server's sentence. */
export class TestClientError extends Error {
  override readonly name = 'TestClientError'
  /** Of HTTP; JSON-RPC errors often come with 200. */
  readonly status: number
  /** The number of a JSON-RPC error. */
  readonly code: number | undefined
  /** The whole body: a problem document, a JSON-RPC message, or text. */
  readonly document: unknown

  constructor(status: number, document: unknown) {
    const error = isRecord(document) && isRecord(document['error']) ? document['error'] : document
    const { code, message, data, detail } = isRecord(error) ? error : {}
    const more = isRecord(data) ? data['detail'] : undefined
    super(String(detail ?? more ?? message ?? `The status of the answer is ${status}`))
    this.status = status
    this.code = typeof code === 'number' ? code : undefined
    this.document = document
  }
}

const common: readonly string[] = ['headers', 'signal']

/** Posts JSON. Rejects with `TestClientError` for a status of 400 and above. */
export async function postJson(
  server: Server, { url = 'http://localhost', headers: always = {} }: TestClientOptions, path: string,
  body: object, own: Readonly<Record<string, string>>, given: TestRequest, known: readonly string[] = [],
): Promise<Response> {
  rejectUnknown('The request', given, [...known, ...common])
  const headers = new Headers({ 'Content-Type': JSON_TYPE, ...own })
  const all = [...Object.entries(always), ...Object.entries(given.headers ?? {})]
  for (const [name, value] of all) headers.set(name, value)
  const response = await server.fetch(new Request(url.replace(/\/$/, '') + path, {
    method: 'POST', headers, body: JSON.stringify(body), signal: given.signal ?? null,
  }))
  if (response.ok) return response
  throw new TestClientError(response.status, parsed(await response.text()))
}

/** The results of JSON-RPC in an answer, one document or events; notifications go to `onNotice`. */
export async function* resultsOf(
  response: Response, onNotice?: (notice: JsonRecord) => void,
): AsyncGenerator<JsonRecord> {
  const isStream = response.headers.get('content-type')?.startsWith(EVENT_STREAM) === true
  const messages = isStream ? eventsOf(response) : [{ data: await response.text() }]
  for await (const { data } of messages) {
    if (data === '') continue
    const message = JSON.parse(data) as JsonRecord
    if (message['error'] !== undefined) throw new TestClientError(response.status, message)
    if (message['result'] !== undefined) yield message['result'] as JsonRecord
    else onNotice?.(message)
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<ServerEvent> {
  const waiting: ServerEvent[] = []
  const feed = eventReader((event) => waiting.push(event), Infinity)
  const decoder = new TextDecoder()
  for await (const chunk of body ?? []) {
    feed(decoder.decode(chunk, { stream: true }))
    yield* waiting.splice(0)
  }
}

/** A body as JSON; as text where it is none. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

export function httpClient(server: Server, options: TestClientOptions): Pick<TestClient, 'query' | 'stream'> {
  function ask(query: string, given: TestRequest, stream: boolean): Promise<Response> {
    const { agent, sessionId: session_id, metadata } = given
    const path = agent === undefined ? '/' : `/agents/${encodeURIComponent(agent)}`
    const body = { query, session_id, metadata, stream }
    return postJson(server, options, path, body, {}, given, ['agent', 'sessionId', 'metadata'])
  }
  return {
    query: async (query, given = {}) => await (await ask(query, given, false)).json() as TestReply,
    async stream(query, given = {}) {
      const response = await ask(query, given, true)
      const events: { readonly event: string; readonly data: unknown }[] = []
      for await (const { event, data } of eventsOf(response)) events.push({ event, data: parsed(data) })
      const { event, data } = events.at(-1) ?? { event: '', data: undefined }
      if (event !== 'done') {
        throw new TestClientError(isRecord(data) ? Number(data['status']) : response.status, data)
      }
      const deltas = events.filter((one) => one.event === 'delta')
      const pieces = deltas.map((one) => String((one.data as JsonRecord)['text']))
      return { pieces, events, reply: data as TestReply }
    },
  }
}
