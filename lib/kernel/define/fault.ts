/**
 * The closed set of ways to fail. A handler throws a `Fault` to send its message to the caller; whatever else
 * is thrown is a defect of the handler and its text stays in the log. Each protocol has one table from kind
 * to its own number.
 */
import { describe } from './log.ts'

/**
 * What went wrong, in the words of no protocol.
 *
 * `invalid` the input is readable but wrong · `unauthenticated` the caller is not known ·
 * `forbidden` known, but not allowed · `not-found` no such thing, or not for this caller ·
 * `conflict` right in itself, but not in this state · `unsupported` this server or this client cannot ·
 * `too-large` over a limit of size · `busy` over a limit of load, try again later · `timeout` took too
 * long · `cancelled` the caller no longer wants it · `failed` it was tried and did not work, and the
 * text says why · `upstream` another service, such as a model, has failed · `internal` a defect, whose
 * text is not shown.
 */
export type FaultKind =
  | 'invalid' | 'unauthenticated' | 'forbidden' | 'not-found' | 'conflict' | 'unsupported'
  | 'too-large' | 'busy' | 'timeout' | 'cancelled' | 'failed' | 'upstream' | 'internal'

const kinds: ReadonlySet<unknown> = new Set<FaultKind>([
  'invalid', 'unauthenticated', 'forbidden', 'not-found', 'conflict', 'unsupported',
  'too-large', 'busy', 'timeout', 'cancelled', 'failed', 'upstream', 'internal',
])

export function isFaultKind(kind: unknown): kind is FaultKind { return kinds.has(kind) }

/** What a `Fault` may carry besides: what caused it, for the log, and when to try again. */
export interface FaultOptions {
  readonly cause?: unknown
  readonly retryAfterSeconds?: number | undefined
}

/** Faults of other copies of this library count too: a command may have a copy of its own. */
const MARK = Symbol.for('triport.Fault')

/**
 * The only error whose message a caller sees. `detail` is any JSON value for machines: it is sent beside the
 * message, in the place that the protocol has for it.
 *
 * Throws `TypeError` where the kind is not one of the closed set.
 */
export class Fault extends Error {
  readonly kind: FaultKind
  readonly detail: unknown
  /** When it may work, in seconds: the `Retry-After` of a fault that is `busy`. Left out: 1. */
  readonly retryAfterSeconds: number | undefined

  constructor(kind: FaultKind, message: string, detail?: unknown, options: FaultOptions = {}) {
    if (!isFaultKind(kind)) {
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

// A class that extends it checks for itself.
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
    // A proxy may throw on any access, and a revoked one does.
    cause = new Error('What was thrown cannot be looked at')
  }
  return new Fault('internal', 'Internal error', undefined, { cause })
}

/** A mistake of an author's: a defect, whose message is for the log alone. */
export function mistake(message: string): Fault {
  return asFault(new TypeError(message))
}

/** What a caller may read: the message of a `Fault`, and of a defect only the request's id. */
export function publicMessage(fault: Fault, requestId: string, exposeErrors: boolean): string {
  if (fault.kind !== 'internal') return fault.message
  if (exposeErrors && fault.cause !== undefined) {
    return fault.cause instanceof Error ? fault.cause.message : describe(fault.cause)
  }
  return `Internal error (request ${requestId})`
}

const MAX_RETRY_S = 3_600

/** `Retry-After` for a fault: whole seconds, from 1 to an hour. */
export function retryAfter({ retryAfterSeconds = 1 }: Fault): string {
  const seconds = Math.ceil(retryAfterSeconds)
  return String(Math.min(MAX_RETRY_S, seconds >= 1 ? seconds : 1))
}

/**
 * The fault for an error of a client library for another service: `busy` for 429, `upstream` for 5xx. Such
 * libraries have the status in `status`, `statusCode` or `code`, and wrap the last of several tries.
 * Undefined for any other error. Never throws.
 */
export function upstreamFault(thrown: unknown): Fault | undefined {
  try {
    let error = thrown
    for (let depth = 0; depth < 3 && typeof error === 'object' && error !== null; depth++) {
      const of: object = error
      const status = ['status', 'statusCode', 'code'].map((name): unknown => Reflect.get(of, name))
        .find((one) => typeof one === 'number')
      if (status === 429) {
        const headers: unknown = Reflect.get(error, 'headers') ?? Reflect.get(error, 'responseHeaders')
        const retryAfterSeconds = secondsIn(headers)
        const message = 'A service that was asked on the way is busy; try again later'
        return new Fault('busy', message, undefined, { cause: thrown, retryAfterSeconds })
      }
      if (typeof status === 'number' && status >= 500 && status < 600) {
        const message = 'A service that was asked on the way has failed'
        return new Fault('upstream', message, undefined, { cause: thrown })
      }
      error = Reflect.get(error, 'lastError') ?? Reflect.get(error, 'cause')
    }
  } catch {
    // A proxy may throw on any access.
  }
  return undefined
}

/** The seconds of a `Retry-After`, of `Headers` or of a plain object. */
export function secondsIn(headers: unknown): number | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  const get: unknown = Reflect.get(headers, 'get')
  const name = 'retry-after'
  const value: unknown = typeof get === 'function' ? get.call(headers, name) : Reflect.get(headers, name)
  const seconds = Number(value ?? NaN)
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}
