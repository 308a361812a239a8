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
 * text says why · `internal` a defect, whose text is not shown.
 */
export type FaultKind =
  | 'invalid' | 'unauthenticated' | 'forbidden' | 'not-found' | 'conflict' | 'unsupported'
  | 'too-large' | 'busy' | 'timeout' | 'cancelled' | 'failed' | 'internal'

const kinds: ReadonlySet<string> = new Set<FaultKind>([
  'invalid', 'unauthenticated', 'forbidden', 'not-found', 'conflict', 'unsupported',
  'too-large', 'busy', 'timeout', 'cancelled', 'failed', 'internal',
])

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

  constructor(kind: FaultKind, message: string, detail?: unknown, options?: ErrorOptions) {
    if (!kinds.has(kind)) {
      throw new TypeError(`'${String(kind)}' is no kind of Fault; write one of ${[...kinds].join(', ')}`)
    }
    super(message || kind, options)
    Object.defineProperty(this, MARK, { value: true })
    this.name = 'Fault'
    this.kind = kind
    this.detail = detail
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
export function sentence(fault: Fault, requestId: string, exposeErrors: boolean): string {
  if (fault.kind !== 'internal') return fault.message
  if (exposeErrors && fault.cause !== undefined) {
    return fault.cause instanceof Error ? fault.cause.message : describe(fault.cause)
  }
  return `Internal error (request ${requestId})`
}
