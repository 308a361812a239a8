/**
 * The closed set of ways to fail. A handler throws a `Fault` to tell its caller something; whatever
 * else is thrown is a defect of the handler and its text stays in the log.
 *
 * Knows no protocol: each door has one table from kind to its own number.
 */
import { describe } from './log.ts'

/**
 * What went wrong, in the words of no protocol.
 *
 * `invalid` the input is readable but wrong · `unauthenticated` nobody knows who is asking ·
 * `forbidden` known, but not allowed · `not-found` no such thing, or not for this caller ·
 * `conflict` right in itself, but not in this state · `unsupported` this server or this client cannot ·
 * `too-large` over a limit of size · `busy` over a limit of load, try again later · `timeout` took too
 * long · `cancelled` the caller no longer wants it · `failed` it was tried and did not work, and the
 * text says why · `upstream` a service that was asked on the way has failed, a model for one · `internal` a
 * defect, whose text is not shown.
 */
export type FaultKind =
  | 'invalid' | 'unauthenticated' | 'forbidden' | 'not-found' | 'conflict' | 'unsupported'
  | 'too-large' | 'busy' | 'timeout' | 'cancelled' | 'failed' | 'upstream' | 'internal'

const kinds: ReadonlySet<string> = new Set<FaultKind>([
  'invalid', 'unauthenticated', 'forbidden', 'not-found', 'conflict', 'unsupported',
  'too-large', 'busy', 'timeout', 'cancelled', 'failed', 'upstream', 'internal',
])

/** What a `Fault` may carry besides: what caused it, for the log, and when to try again. */
export interface FaultOptions extends ErrorOptions { readonly retryAfterSeconds?: number | undefined }

/** What a fault is known by, whichever copy of this library made it: a command may have one of its own. */
const MARK = Symbol.for('triport.Fault')

/**
 * The only error whose message a caller sees. `detail` is any JSON value for machines: an HTTP door puts
 * it into the problem document, the JSON-RPC doors into `error.data`.
 *
 * Throws `TypeError` where the kind is not one of the closed set.
 */
export class Fault extends Error {
  readonly kind: FaultKind
  readonly detail: unknown
  /** When it may work, in seconds: what `Retry-After` says of a fault that is `busy`. Left out: 1. */
  readonly retryAfterSeconds: number | undefined

  constructor(kind: FaultKind, message: string, detail?: unknown, options: FaultOptions = {}) {
    if (!kinds.has(kind)) {
      throw new TypeError(`'${String(kind)}' is no kind of Fault; write one of ${[...kinds].join(', ')}`)
    }
    super(message || kind, 'cause' in options ? { cause: options.cause } : undefined)
    Object.defineProperty(this, MARK, { value: true })
    this.name = 'Fault'
    this.kind = kind
    this.detail = detail
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

// A class that extends it asks for its own.
Object.defineProperty(Fault, Symbol.hasInstance, {
  value(this: Function, thrown: unknown): boolean {
    if (this !== Fault) return Function.prototype[Symbol.hasInstance].call(this, thrown)
    return typeof thrown === 'object' && thrown !== null && Reflect.get(thrown, MARK) === true
  },
})

/** What was thrown, as a `Fault`: itself, or `internal` with the thrown value as its cause. Never throws. */
export function asFault(thrown: unknown): Fault {
  let cause = thrown
  try {
    if (thrown instanceof Fault) return thrown
  } catch {
    // A proxy may throw whatever is asked of it, and a revoked one does.
    cause = new Error('What was thrown cannot be looked at')
  }
  return new Fault('internal', 'Internal error', undefined, { cause })
}

/** A mistake of an author's: a defect, of which `said` is for the log alone. */
export function mistake(said: string): Fault {
  return asFault(new TypeError(said))
}

/** The sentence that a caller may read: the message of a `Fault`, and of a defect only the request's id. */
export function publicMessage(fault: Fault, requestId: string, exposeErrors: boolean): string {
  if (fault.kind !== 'internal') return fault.message
  if (exposeErrors && fault.cause !== undefined) {
    return fault.cause instanceof Error ? fault.cause.message : describe(fault.cause)
  }
  return `Internal error (request ${requestId})`
}

/** The longest that a caller is told to wait, in seconds. */
const MAX_RETRY_S = 3_600

/** What `Retry-After` says of a fault: whole seconds, from 1 to an hour. */
export function retryAfter({ retryAfterSeconds = 1 }: Fault): string {
  const seconds = Math.ceil(retryAfterSeconds)
  return String(Math.min(MAX_RETRY_S, seconds >= 1 ? seconds : 1))
}

/**
 * What an error of a client for other people's services is to our caller: `busy` for 429, `upstream` for 5xx.
 * Such clients say the status as `status` or `statusCode`, and wrap the last of several tries. Undefined for
 * any other error. Never throws.
 */
export function upstreamFault(thrown: unknown): Fault | undefined {
  try {
    let error = thrown
    for (let depth = 0; depth < 3 && typeof error === 'object' && error !== null; depth++) {
      const status: unknown = Reflect.get(error, 'status') ?? Reflect.get(error, 'statusCode')
      if (status === 429) {
        const headers: unknown = Reflect.get(error, 'headers') ?? Reflect.get(error, 'responseHeaders')
        const retryAfterSeconds = secondsIn(headers)
        const said = 'A service that was asked on the way is busy; try again later'
        return new Fault('busy', said, undefined, { cause: thrown, retryAfterSeconds })
      }
      if (typeof status === 'number' && status >= 500 && status < 600) {
        const said = 'A service that was asked on the way has failed'
        return new Fault('upstream', said, undefined, { cause: thrown })
      }
      error = Reflect.get(error, 'lastError') ?? Reflect.get(error, 'cause')
    }
  } catch {
    // A proxy may throw whatever is asked of it.
  }
  return undefined
}

/** The seconds of a `Retry-After`, of `Headers` or of a plain object. */
export function secondsIn(headers: unknown): number | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  const get: unknown = Reflect.get(headers, 'get')
  const name = 'retry-after'
  const said: unknown = typeof get === 'function' ? get.call(headers, name) : Reflect.get(headers, name)
  const seconds = Number(said ?? NaN)
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}
