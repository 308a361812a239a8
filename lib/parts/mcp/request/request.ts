/**
 * Who calls, and one request of theirs on its way through a method: the one place where results and faults
 * become answers.
 * Spec: MCP 2026-07-28, Error Codes; 2025-11-25, Resources, Error Handling.
 */
import { asFault, Fault, publicMessage, retryAfter } from '../../../kernel/define/fault.ts'
import { isName, isWithin, MAX_NAME_BYTES, sentenceWithin } from '../../../kernel/wire/bounded.ts'
import {
  formatError, formatResult, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, rpcError,
} from '../../../floors/jsonrpc/jsonrpc.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { isRecord } from '../../../kernel/define/content.ts'
import { scopesIn } from '../../../kernel/define/principal.ts'
import { shownFault } from '../../../kernel/run/shown-fault.ts'
import { capabilityFor } from '../protocol/questions.ts'
import type { CallFacts, ClientInfo, Origin, Trace } from '../../../kernel/define/call.ts'
import type { LiveCall } from '../../../kernel/define/live-call.ts'
import type { Id, RpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { ResponseChannel, Peer, Session } from '../session/session.ts'
import type { McpContext } from './context.ts'
import type { FaultKind } from '../../../kernel/define/fault.ts'
import type { Ability } from '../../../kernel/define/question.ts'
import type { Revision } from '../protocol/revisions.ts'

const MISSING_CAPABILITY = -32021

/** The JSON-RPC code of each fault, and its HTTP status where that is not the one of any answer. */
const numbers: Readonly<Record<FaultKind, readonly [code: number, status?: number]>> = {
  'invalid': [INVALID_PARAMS], 'not-found': [INVALID_PARAMS], 'unsupported': [METHOD_NOT_FOUND],
  'unauthenticated': [INVALID_REQUEST, 401], 'forbidden': [INVALID_REQUEST, 403],
  'conflict': [INVALID_REQUEST], 'too-large': [INVALID_REQUEST],
  'busy': [INTERNAL_ERROR, 503], 'cancelled': [INTERNAL_ERROR, 503], 'timeout': [INTERNAL_ERROR],
  'failed': [INTERNAL_ERROR], 'upstream': [INTERNAL_ERROR], 'internal': [INTERNAL_ERROR],
}

/** A fault as an error of a revision, with what its author attached to it. */
function mcpError({ kind, detail }: Fault, message: string, revision: Revision): RpcError {
  const more = isRecord(detail) ? detail : undefined
  if (kind === 'unsupported' && more !== undefined && 'ability' in more) {
    const requiredCapabilities = more['requiredCapabilities'] ?? capabilityFor(more['ability'] as Ability)
    const data = { detail: message, requiredCapabilities }
    return { code: MISSING_CAPABILITY, message: 'Missing required client capability', data }
  }
  const { resourceNotFound } = revision
  if (kind === 'not-found' && more !== undefined && 'uri' in more && resourceNotFound !== INVALID_PARAMS) {
    const data = { detail: sentenceWithin(message), ...more }
    return { code: resourceNotFound, message: 'Resource not found', data }
  }
  return rpcError(numbers[kind][0], message, more)
}

/** A param that names something. Throws `Fault('invalid')` for anything else. */
export function nameParam({ params }: McpRequest, name: string): string {
  const value = params[name]
  if (isName(value)) return value
  const demand = typeof value === 'string' ? ` of at most ${MAX_NAME_BYTES} bytes` : ''
  throw new Fault('invalid', `params.${name} must be a string${demand}`)
}

/** Who makes a call, from where, and how results and faults are written for them. */
export class McpFacts implements CallFacts {
  readonly protocol = 'mcp'
  readonly mcp: McpContext
  readonly peer: Peer
  readonly origin: Origin
  readonly metadata: Readonly<Record<string, unknown>>

  constructor(
    mcp: McpContext, peer: Peer, origin: Origin, metadata: Readonly<Record<string, unknown>>,
  ) {
    this.mcp = mcp
    this.peer = peer
    this.origin = origin
    this.metadata = metadata
  }

  get session(): Session | undefined { return this.peer.session }
  get sessionId(): string | undefined { return this.peer.session?.id }
  get client(): ClientInfo | undefined { return this.peer.client }

  /** The trace context that newer clients send in `_meta`; undefined where it can only be in the headers. */
  get trace(): Trace | undefined {
    const { traceparent, tracestate, baggage } = this.metadata
    if (typeof traceparent !== 'string') return undefined
    return {
      traceparent,
      ...typeof tracestate === 'string' && { tracestate },
      ...typeof baggage === 'string' && { baggage },
    }
  }

  /** A result's JSON text. Throws a `Fault` for what is no JSON, and for what is too large. */
  encode(result: object | string): string {
    let text: string
    try {
      text = typeof result === 'string' ? result : formatJson(this.stamped(result))
    } catch (error) {
      // A defect of the handler.
      this.#log('A result is not JSON', error)
      throw new Fault('internal', 'Internal error', undefined, { cause: error })
    }
    const { maxResultBytes } = this.mcp.service.limits
    if (isWithin(text, maxResultBytes)) return text
    throw new Fault('too-large', `The result is larger than ${maxResultBytes} bytes`)
  }

  stamped(result: object): object {
    if (!this.peer.revision.stamps) return result
    const meta = '_meta' in result && typeof result._meta === 'object' ? result._meta : undefined
    if (meta === undefined) return { resultType: 'complete', _meta: this.stamp, ...result }
    return { resultType: 'complete', ...result, _meta: { ...meta, ...this.stamp } }
  }

  get stamp(): Readonly<Record<string, unknown>> { return this.mcp.madeFor(this.peer.revision).meta }

  /** What was thrown, as a `Fault`; a defect is logged. */
  faultOf(thrown: unknown): Fault {
    const fault = asFault(thrown)
    if (fault !== thrown) this.#log('An MCP request failed', thrown)
    return fault
  }

  errorOf(fault: Fault): RpcError {
    const { service } = this.mcp
    const { requestId } = this.origin
    const message = publicMessage(fault, requestId, service.exposeErrors)
    return mcpError(shownFault(service, fault, requestId), message, this.peer.revision)
  }

  #log(what: string, cause: unknown): void {
    this.mcp.service.log('error', what, { request: this.origin.requestId, cause })
  }
}

export class McpRequest extends McpFacts {
  readonly channel: ResponseChannel
  readonly id: Id
  readonly params: Readonly<Record<string, unknown>>
  /** The run of an author's code behind it; undefined again where that becomes a task. */
  call: LiveCall | undefined
  isGone = false
  /** Called once when the client leaves. */
  onLeave: (() => void) | undefined
  /** Called once when the request is answered. */
  onFinish: (() => void) | undefined
  #isFinished = false
  #isWaiting = false

  constructor(
    mcp: McpContext, peer: Peer, origin: Origin, channel: ResponseChannel, id: Id,
    params: Readonly<Record<string, unknown>>, metadata: Readonly<Record<string, unknown>>,
  ) {
    super(mcp, peer, origin, metadata)
    this.channel = channel
    this.id = id
    this.params = params
  }

  get isFinished(): boolean { return this.#isFinished }

  /** Its answer takes a while: from now on it can be cancelled by its id where there is a session. */
  wait(): void {
    if (this.call === undefined || this.#isFinished) return
    this.#isWaiting = true
    this.peer.session?.running.set(this.id, this.call)
  }

  /** The client has left and wants no answer. */
  leave(): void {
    this.isGone = true
    this.call?.disconnect()
    this.onLeave?.()
  }

  /**
   * Answers with a result: an object of this revision's shape, or its JSON text where it is ready. Nothing
   * where it is undefined: the method answers by itself. Never throws.
   */
  succeed(result: object | string | undefined): void {
    if (this.#isFinished || result === undefined) return
    try {
      const text = this.encode(result)
      this.#finish()
      this.channel.finish(formatResult(this.id, text))
    } catch (error) {
      this.fail(error)
    }
  }

  /** Answers with an error, or with nothing where the client has cancelled or left. */
  fail(thrown: unknown): void {
    if (this.#isFinished) return
    const fault = this.faultOf(thrown)
    this.#finish()
    const { kind } = fault
    const isUnwanted = this.isGone || this.call?.isDisconnected === true
    if (kind === 'cancelled' && isUnwanted) return this.channel.abandon()
    const error = this.errorOf(fault)
    const status = error.code === MISSING_CAPABILITY ? this.peer.revision.missingCapabilityStatus
      : numbers[kind][1]
    const isBusy = kind === 'busy' || kind === 'cancelled'
    this.channel.finish(formatError(this.id, error), status, {
      ...isBusy && { headers: ['Retry-After', retryAfter(fault)] },
      ...kind === 'forbidden' && { neededScopes: scopesIn(fault) ?? [] },
    })
  }

  /** Answers with what something else has ended with: a failure, but no refusal of this request. */
  report(failure: Fault): void {
    if (this.#isFinished) return
    const error = this.errorOf(failure)
    this.#finish()
    this.channel.finish(formatError(this.id, error))
  }

  #finish(): void {
    this.#isFinished = true
    this.onFinish?.()
    if (!this.#isWaiting) return
    const { session } = this.peer
    if (session !== undefined && session.running.get(this.id) === this.call) session.running.delete(this.id)
  }
}
