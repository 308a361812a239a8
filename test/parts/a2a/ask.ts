/**
 * A client of the plain dialect in its own words, as they stand in a body: it can say what is wrong, and
 * shows everything that an answer has. No test itself.
 */
import { request } from '../../fixtures/client.ts'
import type { TriportServer } from '../../../lib/preset/create-server.ts'

/** An answer, taken apart. */
export interface Asked {
  readonly status: number
  readonly headers: Headers
  readonly id: unknown
  readonly said: Said | undefined
  /** The text of its first part. */
  readonly text: string | undefined
  readonly code: number | undefined
  readonly error: string | undefined
  readonly data: Readonly<Record<string, unknown>> | undefined
}

/** The message in a result. */
export interface Said {
  readonly role: string
  readonly parts: readonly { readonly type: string; readonly text?: string; readonly uri?: string }[]
  readonly messageId: string
  readonly contextId: string
}

interface Envelope {
  readonly id?: unknown
  readonly result?: { readonly message: Said }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Asked['data'] }
}

/** What a message may have besides its text. */
export interface More {
  readonly id?: unknown
  readonly contextId?: string | undefined
  readonly metadata?: object
}

/** The envelope of a message with one text. */
export function message(text: string, { id = '1', contextId, metadata }: More = {}): object {
  const params = { message: { role: 'user', parts: [{ type: 'text', text }], contextId }, metadata }
  return { jsonrpc: '2.0', id, method: 'message/send', params }
}

/** Where and how a body is posted. */
export interface Way {
  readonly headers?: Record<string, string>
  readonly path?: string
  readonly signal?: AbortSignal
}

/** Posts a body: text and bytes as they are, anything else as JSON. */
export async function post(server: TriportServer, body: unknown, way: Way = {}): Promise<Asked> {
  const { headers, path = '/a2a', signal } = way
  const response = await server.fetch(request(path, body, headers, 'POST', signal))
  const { id, result, error } = await response.json() as Envelope
  const { status } = response
  return {
    status, headers: response.headers, id,
    said: result?.message,
    text: result?.message.parts[0]?.text,
    code: error?.code,
    error: error?.message,
    data: error?.data,
  }
}

/** The parts of an answer, texts and addresses. */
export async function ask(server: TriportServer, text: string, more?: More): Promise<string> {
  const { said, error } = await post(server, message(text, more))
  return said?.parts.map((part) => part.text ?? part.uri).join('|') ?? `${error}`
}
