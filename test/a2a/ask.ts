/**
 * A client in a few lines: says something to a server without a socket, and reads the answer.
 */
import type { TriportServer } from '../../lib/server.ts'

/** The parts of an answer that tests look at. */
export interface Asked {
  readonly status: number
  readonly headers: Headers
  readonly body: {
    readonly id?: unknown
    readonly result?: { readonly message: Said }
    readonly error?: { readonly code: number; readonly message: string; readonly data?: Readonly<Record<string, unknown>> }
  }
}

/** The message in a result. */
export interface Said {
  readonly role: string
  readonly parts: readonly { readonly type: string; readonly text?: string; readonly uri?: string }[]
  readonly messageId: string
  readonly contextId: string
}

/** The envelope of a message with one text. */
export function message(text: string, more: { id?: unknown; contextId?: string; metadata?: object } = {}): object {
  const { id = '1', contextId, metadata } = more
  const params = { message: { role: 'user', parts: [{ type: 'text', text }], contextId }, metadata }
  return { jsonrpc: '2.0', id, method: 'message/send', params }
}

/** Posts a body: a string as it is, anything else as JSON. */
export async function post(
  server: TriportServer, body: unknown, headers: Record<string, string> = {}, path = '/a2a', signal?: AbortSignal,
): Promise<Asked> {
  const response = await server.fetch(new Request(`http://agents.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    signal: signal ?? null,
  }))
  const { status } = response
  return { status, headers: response.headers, body: await response.json() as Asked['body'] }
}

/** The text of an answer. */
export async function ask(server: TriportServer, text: string, more?: Parameters<typeof message>[1]): Promise<string> {
  const { body } = await post(server, message(text, more))
  return body.result?.message.parts.map((part) => part.text ?? part.uri).join('|') ?? JSON.stringify(body.error)
}
