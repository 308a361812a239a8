/**
 * One request on its way through a method: what it says, and the one place where results and faults become
 * answers in the words of its revision.
 */
import { asFault, Fault, publicMessage, retryAfter } from '../../define/fault.ts'
import { isWithin, sentenceWithin } from '../../wire/bounded.ts'
import {
  formatError, formatResult, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, rpcError,
} from '../../wire/jsonrpc.ts'
import { isRecord } from '../../define/content.ts'
import { challenge } from '../protocol/authorization.ts'
import { capabilityFor } from '../protocol/questions.ts'
import type { CallFacts, ClientInfo, Origin, Trace } from '../../define/call.ts'
import type { LiveCall } from '../../define/live-call.ts'
import type { Id, RpcError } from '../../wire/jsonrpc.ts'
import type { ResponseChannel, Peer, Session } from '../session/session.ts'
import type { McpContext } from './context.ts'
import type { EarlierRounds } from './input-required.ts'
import type { FaultKind } from '../../define/fault.ts'
import type { Ability } from '../../define/question.ts'
import type { Authorization } from '../../http/access/auth.ts'
import type { Revision } from '../protocol/revisions.ts'

const MISSING_CAPABILITY = -32021

const codes: Readonly<Record<FaultKind, number>> = {
  'invalid': INVALID_PARAMS,
  'unauthenticated': INVALID_REQUEST,
  'forbidden': INVALID_REQUEST,
  'not-found': INVALID_PARAMS,
  'conflict': INVALID_REQUEST,
  'unsupported': METHOD_NOT_FOUND,
  'too-large': INVALID_REQUEST,
  'busy': INTERNAL_ERROR,
  'timeout': INTERNAL_ERROR,
  'cancelled': INTERNAL_ERROR,
  'failed': INTERNAL_ERROR,
  'upstream': INTERNAL_ERROR,
  'internal': INTERNAL_ERROR,
}

/** HTTP statuses of those faults that are told at HTTP's level too. */
const statuses: ReadonlyMap<FaultKind, number> = new Map([
  ['unauthenticated', 401], ['forbidden', 403], ['busy', 503], ['cancelled', 503],
])

/** A fault as an error of a revision. What an author attached to it stands beside the sentence. */
export function mcpError({ kind, detail }: Fault, said: string, revision: Revision): RpcError {
  // A defect shows nothing of itself.
  const more = isRecord(detail) && kind !== 'internal' ? detail : undefined
  if (isLack(kind, more)) return lackOf(more, said)
  const { resourceNotFound } = revision
  if (kind === 'not-found' && more !== undefined && 'uri' in more && resourceNotFound !== INVALID_PARAMS) {
    const data = { detail: sentenceWithin(said), ...more }
    return { code: resourceNotFound, message: 'Resource not found', data }
  }
  return rpcError(codes[kind], said, more)
}

/** What is lacking: the handler may have said more than its kind. */
interface Lack { readonly ability: Ability; readonly requiredCapabilities?: unknown }

/** The client cannot be asked in the way that the handler needs. */
function isLack(kind: FaultKind, more: object | undefined): more is Lack {
  return kind === 'unsupported' && more !== undefined && 'ability' in more
}

function lackOf(more: Lack, said: string): RpcError {
  const requiredCapabilities = more.requiredCapabilities ?? capabilityFor(more.ability)
  const data = { detail: said, requiredCapabilities }
  return { code: MISSING_CAPABILITY, message: 'Missing required client capability', data }
}

/** The HTTP status of a fault; undefined where that of any answer does. */
export function statusOf({ kind }: Fault, { code }: RpcError, revision: Revision): number | undefined {
  return code === MISSING_CAPABILITY ? revision.missingCapabilityStatus : statuses.get(kind)
}

/** What HTTP adds to it. */
export function faultHeaders(
  fault: Fault, realm: string, auth: Authorization | undefined,
): readonly string[] | undefined {
  const { kind, detail } = fault
  if (kind === 'busy' || kind === 'cancelled') return ['Retry-After', retryAfter(fault)]
  if (kind !== 'forbidden' && kind !== 'unauthenticated') return undefined
  const error = kind === 'forbidden' ? 'insufficient_scope' : 'invalid_token'
  return ['WWW-Authenticate', challenge(realm, auth, error, scopesIn(detail))]
}

/** The scopes that a fault names. An author can attach anything to one, getters that throw among it. */
function scopesIn(detail: unknown): readonly unknown[] | undefined {
  try {
    const scopes = isRecord(detail) ? detail['scopes'] : undefined
    return Array.isArray(scopes) ? [...scopes] : undefined
  } catch {
    return undefined
  }
}

/** One request. */
export class McpRequest implements CallFacts {
  readonly protocol = 'mcp'
  readonly mcp: McpContext
  readonly peer: Peer
  readonly origin: Origin
  readonly channel: ResponseChannel
  readonly id: Id
  readonly params: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, unknown>>
  /** The run of an author's code behind it; let go where that becomes a task. */
  call: LiveCall | undefined
  /** The client has left. */
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
    this.mcp = mcp
    this.peer = peer
    this.origin = origin
    this.channel = channel
    this.id = id
    this.params = params
    this.metadata = metadata
  }

  get session(): Session | undefined { return this.peer.session }
  get sessionId(): string | undefined { return this.peer.session?.id }
  /** What rounds before have settled, where this is no client's own request. */
  get earlierRounds(): EarlierRounds | undefined { return undefined }
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

  /** Whether it has been answered. */
  get isFinished(): boolean { return this.#isFinished }

  /** Its answer takes a while: from now on it can be cancelled by its id where there is a session. */
  wait(): void {
    if (this.call === undefined || this.#isFinished) return
    this.#isWaiting = true
    this.peer.session?.running.set(this.id, this.call)
  }

  /** The client has left: nobody waits for the answer. */
  leave(): void {
    this.isGone = true
    this.call?.disconnect()
    this.onLeave?.()
  }

  /** Answers with a result: an object of this revision's shape, or its JSON text where it is ready. */
  succeed(result: object | string): void {
    if (this.#isFinished) return
    let text: string
    try {
      text = this.encode(result)
    } catch (error) {
      return this.fail(error)
    }
    this.#finish()
    this.channel.finish(formatResult(this.id, text))
  }

  /** A result's JSON text. Throws a `Fault` for what JSON cannot say, and for what is too large. */
  encode(result: object | string): string {
    let text: string
    try {
      text = typeof result === 'string' ? result : JSON.stringify(this.stamped(result))
    } catch (error) {
      // What a handler returned cannot be said in JSON: a defect like any other of its.
      this.mcp.service.log('error', 'A result is not JSON', { request: this.origin.requestId, cause: error })
      throw new Fault('internal', 'Internal error', undefined, { cause: error })
    }
    const { maxResultBytes } = this.mcp.service.limits
    if (isWithin(text, maxResultBytes)) return text
    throw new Fault('too-large', `The result is larger than ${maxResultBytes} bytes`)
  }

  /** A result with what newer revisions say in every one. */
  stamped(result: object): object {
    if (!this.peer.revision.stamps) return result
    const meta = '_meta' in result && typeof result._meta === 'object' ? result._meta : undefined
    if (meta === undefined) return { resultType: 'complete', _meta: this.stamp, ...result }
    return { resultType: 'complete', ...result, _meta: { ...meta, ...this.stamp } }
  }

  /** The server's own words in a result's `_meta`. */
  get stamp(): Readonly<Record<string, unknown>> { return this.mcp.stampOf(this.peer.revision) }

  /** Answers with an error, or with nothing where the client has cancelled or left. */
  fail(thrown: unknown): void {
    if (this.#isFinished) return
    const fault = this.faultOf(thrown)
    this.#finish()
    if (fault.kind === 'cancelled' && this.#isDisconnected) return this.channel.abandon()
    const error = this.errorOf(fault)
    const { revision } = this.peer
    const headers = faultHeaders(fault, this.mcp.service.name, this.mcp.options.auth)
    this.channel.finish(formatError(this.id, error), statusOf(fault, error, revision), headers)
  }

  /** What was thrown, as a `Fault`; a defect is logged. */
  faultOf(thrown: unknown): Fault {
    const fault = asFault(thrown)
    if (fault !== thrown) {
      const { requestId } = this.origin
      this.mcp.service.log('error', 'An MCP request failed', { request: requestId, cause: thrown })
    }
    return fault
  }

  /** A fault as an error of this revision. */
  errorOf(fault: Fault): RpcError {
    const told = publicMessage(fault, this.origin.requestId, this.mcp.service.exposeErrors)
    try {
      const error = mcpError(fault, told, this.peer.revision)
      JSON.stringify(error)
      return error
    } catch (cause) {
      // What an author attached to a fault must not keep its caller from hearing of it.
      const { requestId } = this.origin
      this.mcp.service.log('error', 'The detail of a fault is not JSON', { request: requestId, cause })
      return mcpError(new Fault(fault.kind, fault.message), told, this.peer.revision)
    }
  }

  get #isDisconnected(): boolean { return this.isGone || this.call?.isDisconnected === true }

  #finish(): void {
    this.#isFinished = true
    this.onFinish?.()
    if (!this.#isWaiting) return
    const { session } = this.peer
    if (session !== undefined && session.running.get(this.id) === this.call) session.running.delete(this.id)
  }
}
