/**
 * What a dialect of A2A is: how a server reads each request, and writes each result, event, error and card.
 * And which version of A2A a client asks for. `dialects.ts` is the table of all dialects.
 * Spec: A2A 1.0 §3.6.
 */
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import type { Fault } from '../../../kernel/define/fault.ts'
import type { Exchange } from '../../../kernel/http/message/exchange.ts'
import type { RpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { A2aReason } from './faults.ts'
import type { OperationName, Requests, Results, StreamEvent, TaskView } from './model.ts'

/** The media type of A2A's JSON where no JSON-RPC is around it. */
export const A2A_JSON_TYPE = 'application/a2a+json'

type Types = Pick<Exchange['head'], 'accept' | 'contentType'>

/** The media type of an answer of HTTP+JSON: the protocol's own where the client sends or accepts that. */
export function jsonTypeFor({ accept, contentType }: Types): string {
  return isNamed(accept) || isNamed(contentType) ? A2A_JSON_TYPE : JSON_TYPE
}

function isNamed(header: string | undefined): boolean {
  return header !== undefined && header.toLowerCase().includes(A2A_JSON_TYPE)
}

/** Kept with a task whose events are posted, too. */
export type DialectName = 'plain' | '0.3' | '1.0'

/** How one operation is read and written. */
export interface OperationCodec<Request, Result> {
  /** The JSON-RPC method. */
  readonly method: string
  /**
   * Reads params. `maxNameBytes` bounds ids. Throws `Fault('invalid')` that names the member and what it must
   * be; unknown members are ignored.
   */
  decodeRequest(params: unknown, maxNameBytes: number): Request
  /** As JSON text. */
  formatResult(result: Result): string
}

/** Each operation that the dialect has. */
export type OperationCodecs = {
  readonly [name in OperationName]?: OperationCodec<Requests[name], Results[name]>
}

/** Reads the params of each operation. */
export type Decoders = {
  readonly [name in OperationName]: OperationCodec<Requests[name], never>['decodeRequest']
}

/** Writes what comes of each operation. */
export type Formatters = {
  readonly [name in OperationName]: OperationCodec<never, Results[name]>['formatResult']
}

/** The operations under the names of their methods. */
export function operationsOf(
  methods: Readonly<Record<OperationName, string>>, decoders: Decoders, formatters: Formatters,
): OperationCodecs {
  const names = Object.keys(methods) as OperationName[]
  return Object.fromEntries(names.map((name) => [
    name, { method: methods[name], decodeRequest: decoders[name], formatResult: formatters[name] },
  ]))
}

/** How errors are written. */
export interface ErrorEncoders {
  /** The error of an answer. `sentence` is what the caller may read. */
  encodeFault(fault: Fault, sentence: string): RpcError
  /** The error of a request that is none of this dialect's, by its number in JSON-RPC. */
  encodeError(code: number, sentence: string): RpcError
}

/** One way of writing A2A. */
export interface Dialect extends ErrorEncoders {
  readonly name: DialectName
  /** The version of A2A, by major and minor, under which clients ask for it. */
  readonly version: '0.3' | '1.0'
  readonly operations: OperationCodecs
  /** Whether it has tasks; where not, everything is answered with a message. */
  readonly hasTasks: boolean
  /** The error where the card declares no extended card. Left out: `UNSUPPORTED_OPERATION`. */
  readonly undeclaredCard?: A2aReason
  /** Whether an error instead of a stream is written as an event: its clients read nothing else there. */
  readonly streamsErrors: boolean
  /** The body of a webhook for an event, JSON text; `task` is the task after the event. */
  formatPush(event: StreamEvent, task: TaskView): string
  /** Where the params of `push-create` and of a message have a webhook. */
  readonly pushAt: { readonly create: string; readonly send: string }
  /** The media type of that body. */
  readonly pushType: string
  /** That body is the whole task, whatever the event: of several that wait, the last one is enough. */
  readonly pushesTasks: boolean
}

/** The version that a client names, by major and minor; undefined where it names none. */
export type Version = string | undefined

/** Where a client names it. */
type Asked = Pick<Exchange, 'head' | 'query'>

/** §3.6.1: the version as a client wrote it, in a header or else in a query parameter. */
export function versionTextOf({ head: { a2aVersion }, query }: Asked): string | undefined {
  if (a2aVersion !== undefined || query === '') return a2aVersion
  // §3.2.6: in any case.
  for (const [name, text] of new URLSearchParams(query)) if (/^a2a-version$/i.test(name)) return text
  return undefined
}

/** Which version that is. 0.2 is answered as 0.3. */
export function versionOf(asked: Asked): Version {
  const text = versionTextOf(asked)?.trim()
  if (text === undefined || text === '') return undefined
  const [, major, minor = '0'] = /^(\d{1,4})(?:\.(\d{1,4}))?(?:\.\d{1,9})?$/.exec(text) ?? []
  if (major === undefined) return text
  const version = `${Number(major)}.${Number(minor)}`
  return version === '0.2' ? '0.3' : version
}
