/**
 * A small MCP client for the tests of this folder: it says what the tests tell it to say, and no more. It
 * reaches a server through `server.fetch`, so no socket is open.
 */
import assert from 'node:assert/strict'
import { request, serve } from '../../fixtures/client.ts'
import { EventStream, messagesOf } from '../../fixtures/events.ts'
import type { ServerOptions, TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { Json } from '../../fixtures/events.ts'

/** A server, of the preset or of parts. */
export type Answering = Pick<TriportServer, 'fetch'>

export const legacyRevisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
export const allRevisions = [...legacyRevisions, '2026-07-28'] as const

const META = 'io.modelcontextprotocol/'

/** A server with the MCP door. */
export function serveMcp(t: Scope, options: ServerOptions): TriportServer {
  return serve(t, { name: 'Test', protocol: 'mcp', ...options })
}

/** Posts a message, as it is or as JSON. */
export function post(
  server: Answering, message: unknown, headers: Record<string, string> | Headers = {}, path = '/mcp',
  signal?: AbortSignal,
): Promise<Response> {
  return server.fetch(request(path, message, headers, 'POST', signal))
}

/** The last message of an answer, which is the answer itself. */
export async function answerOf(response: Response): Promise<Json> {
  return (await messagesOf(response)).at(-1)
}

let ids = 0

/** What a modern request is made of, besides its method and params. */
export interface ModernOptions {
  readonly capabilities?: object
  readonly meta?: object
  readonly headers?: Record<string, string>
  readonly id?: string | number
  readonly signal?: AbortSignal
}

/** Params with the `_meta` that every modern request has. */
export function withMeta(params: object = {}, { capabilities = {}, meta = {} }: ModernOptions = {}): Json {
  return {
    ...params,
    _meta: {
      [`${META}protocolVersion`]: '2026-07-28',
      [`${META}clientCapabilities`]: capabilities,
      [`${META}clientInfo`]: { name: 'test', version: '1.0.0' },
      ...meta,
    },
  }
}

const namedBy: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'], ['prompts/get', 'name'], ['resources/read', 'uri'],
])

/** Sends a request of 2026-07-28 with the headers that it needs. */
export function modern(
  server: Answering, method: string, params: Json = {}, options: ModernOptions = {},
): Promise<Response> {
  const headers = new Headers({ 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method })
  const name: unknown = params[namedBy.get(method) ?? '']
  if (typeof name === 'string') headers.set('Mcp-Name', name)
  new Headers(options.headers).forEach((value, key) => headers.set(key, value))
  const message = { jsonrpc: '2.0', id: options.id ?? ++ids, method, params: withMeta(params, options) }
  return post(server, message, headers, '/mcp', options.signal)
}

/** The same, and its answer. */
export async function ask(
  server: Answering, method: string, params?: Json, options?: ModernOptions,
): Promise<Json> {
  return answerOf(await modern(server, method, params, options))
}

/** Calls a tool in 2026-07-28; its result. */
export async function call(
  server: Answering, name: string, args: object = {}, options?: ModernOptions,
): Promise<Json> {
  return (await ask(server, 'tools/call', { name, arguments: args }, options)).result
}

/** A session of one of the older revisions. */
export class LegacySession {
  readonly server: Answering
  readonly headers: Record<string, string>
  /** The result of `initialize`. */
  readonly opened: Json
  #ids = 0

  constructor(server: Answering, headers: Record<string, string>, opened: Json) {
    this.server = server
    this.headers = headers
    this.opened = opened
  }

  get id(): string { return this.headers['Mcp-Session-Id']! }

  post(message: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return post(this.server, message, { ...this.headers, ...headers }, '/mcp', signal)
  }

  /** Sends a request. */
  send(method: string, params?: object, id: string | number = ++this.#ids): Promise<Response> {
    return this.post({ jsonrpc: '2.0', id, method, ...params !== undefined && { params } })
  }

  /** Sends a request; its answer. */
  async ask(method: string, params?: object): Promise<Json> {
    return answerOf(await this.send(method, params))
  }

  /** Calls a tool; its result. */
  async call(name: string, args: object = {}, meta?: object): Promise<Json> {
    const params = { name, arguments: args, ...meta !== undefined && { _meta: meta } }
    return (await this.ask('tools/call', params)).result
  }

  /** Calls a tool whose answer is a stream. */
  async stream(name: string, args: object = {}, meta?: object, id?: string | number): Promise<EventStream> {
    const params = { name, arguments: args, ...meta !== undefined && { _meta: meta } }
    return new EventStream(await this.send('tools/call', params, id))
  }

  notify(method: string, params?: object): Promise<Response> {
    return this.post({ jsonrpc: '2.0', method, ...params !== undefined && { params } })
  }

  /** Answers a question of the server. */
  answer(id: string | number, result: object): Promise<Response> {
    return this.post({ jsonrpc: '2.0', id, result })
  }

  get(headers: Record<string, string> = {}): Promise<Response> {
    return this.server.fetch(
      request('/mcp', undefined, { Accept: 'text/event-stream', ...this.headers, ...headers }),
    )
  }

  /** The stream that GET opens. */
  async listen(headers?: Record<string, string>): Promise<EventStream> {
    return new EventStream(await this.get(headers))
  }

  end(): Promise<Response> {
    return this.server.fetch(request('/mcp', undefined, this.headers, 'DELETE'))
  }
}

/** Begins a session. */
export async function begin(
  server: Answering, revision: string = '2025-11-25', capabilities: object = {},
  headers: Record<string, string> = {},
): Promise<LegacySession> {
  const response = await post(server, {
    jsonrpc: '2.0', id: 0, method: 'initialize',
    params: { protocolVersion: revision, capabilities, clientInfo: { name: 'test', version: '1.0.0' } },
  }, headers)
  assert.equal(response.status, 200)
  const id = response.headers.get('mcp-session-id')
  assert.ok(id, 'initialize opened no session')
  const { result } = await response.json() as Json
  const session = new LegacySession(server, {
    ...headers, 'Mcp-Session-Id': id, 'MCP-Protocol-Version': result.protocolVersion,
  }, result)
  assert.equal((await session.notify('notifications/initialized')).status, 202)
  return session
}

/** The text of a tool's result. */
export function said(result: Json): string {
  return result.content.map((block: Json) => block.text ?? '').join('')
}
