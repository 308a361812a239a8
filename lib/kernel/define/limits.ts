/**
 * The limits of the kernel and of what several parts stand on, with their units and reasons; and how a table
 * of limits is checked, theirs or that of a part. `Infinity` lifts one, `undefined` keeps it. Checked once,
 * when a server is made.
 */
import { show } from './validate.ts'
import { total } from '../util/memory.ts'

/** Limits that stand together. */
export interface LimitTable<T extends object> {
  /** What each is where it is not given. */
  readonly defaults: Readonly<T>
  readonly mayBeZero?: readonly (keyof T)[]
  /** Of two limits the first cannot be larger. */
  readonly ordered?: readonly (readonly [keyof T, keyof T])[]
}

/**
 * The limits that every server has, all options of `createServer`. Bytes are bytes, `Ms` are milliseconds.
 * What bounds one part alone is an option of that part.
 */
export interface KernelLimits {
  /** One request body. Base64 arguments need megabytes; a flood needs a bound. */
  readonly maxBodyBytes: number
  /** The memory of the bodies of all open requests and runs; over it 503. An eighth is for up to 16 KiB. */
  readonly maxBodiesBytes: number
  /** Nesting of JSON. Real messages stay below 20. */
  readonly maxDepth: number
  /** Objects and lists of one body, which take twenty times their text; other values: five times as many. */
  readonly maxObjects: number
  /** An id or the name of a method in a message, in bytes: both are echoed. */
  readonly maxNameBytes: number
  /** All header lines of a request together, as Node counts them. */
  readonly maxHeaderBytes: number
  /** Header lines of a request; more are refused, where Node would drop them silently. */
  readonly maxHeaderLines: number
  /** From the first byte of a request to the end of its headers. */
  readonly headersTimeoutMs: number
  /** From the first byte of a request to the end of its body. */
  readonly bodyTimeoutMs: number
  /** A promise of an `apiKey` or `verify` function; over it 503. */
  readonly authTimeoutMs: number
  /**
   * Wrong keys and tokens of one network address in a minute; twice as many may come at once. Over it 429,
   * and `apiKey` and `verify` functions are not called. A key of a list is always accepted.
   */
  readonly maxFailedIdentifications: number
  /** How often the two timeouts above are checked. */
  readonly checkIntervalMs: number
  /** An idle connection is kept this long, or up to 12 s longer: more than the 60 s of load balancers. */
  readonly keepAliveMs: number
  /** Open sockets; never more than the process's file limit less 100. */
  readonly maxConnections: number
  /**
   * Requests that wait for an earlier one of their connection, in all; over it connections with more than an
   * equal part of them are closed. One read of a socket may bring two thousand, and Node takes 3 kB for each.
   */
  readonly maxWaitingRequests: number
  /**
   * Open response streams; the rest of the connections stays free for short requests. As many requests may
   * wait for tasks.
   */
  readonly maxStreams: number
  /** One run of a tool, the time in which a client is asked not counted. Many clients wait 60 s. */
  readonly toolTimeoutMs: number
  /** One run of an agent or a group, counted in the same way. */
  readonly agentTimeoutMs: number
  /** A question to the client, from asking to its answer. People need minutes. */
  readonly askTimeoutMs: number
  /**
   * Calls that run at one time, in all. Where some callers fill it, others who have less than an equal part
   * still get in, up to half as many again; the same holds for `maxBodiesBytes` and `maxCallsBytes`.
   */
  readonly maxCalls: number
  /** What running calls keep: results so far, histories that they read in a store, requests in lines. */
  readonly maxCallsBytes: number
  /**
   * Checking the arguments of one call against a JSON Schema, or the result, in steps of about a tenth of a
   * microsecond. Megabytes of plain rows need fewer; what was made to be slow needs more, and is refused.
   */
  readonly maxCheckSteps: number
  /** One result, as it is written. */
  readonly maxResultBytes: number
  /** Written but not yet read by one slow client; over it that stream is dropped. */
  readonly maxStreamBytes: number
  /** The same for all replies together, streams and whole ones; over it the largest is dropped. */
  readonly maxQueuedBytes: number
  /** A reply with waiting bytes of which none are read for this long is dropped. Proxies wait 60 s. */
  readonly writeTimeoutMs: number
  /** Silence on a stream before a comment is sent: half of the shortest common proxy limit. */
  readonly heartbeatMs: number
  /** Tasks that are kept at one time. */
  readonly maxTasks: number
  /** A finished task can be read this long. */
  readonly taskKeepMs: number
  /** A task that waits for its client, and does not run, waits this long. */
  readonly waitingTaskKeepMs: number
  /** All tasks together. */
  readonly maxTasksBytes: number
  /** Conversations that are remembered. */
  readonly maxConversations: number
  /** A conversation without a new message is forgotten after this. */
  readonly conversationIdleMs: number
  /** Messages of one conversation; the oldest go first. */
  readonly conversationMessages: number
  /** Bytes of one conversation; the oldest messages go first. */
  readonly conversationBytes: number
  /** All conversations together. */
  readonly maxConversationsBytes: number
  /** The reply to a query with an Idempotency-Key is kept this long: clients try again within seconds. */
  readonly idempotencyKeepMs: number
  /** Such keys; over it, the caller with most loses the oldest. A shared store has bounds of its own. */
  readonly maxIdempotencyKeys: number
  /** Their replies together, in the same way. Most replies are a few kilobytes. */
  readonly maxIdempotencyBytes: number
  /** One call of a shared store; over it, the store counts as unavailable. */
  readonly storeTimeoutMs: number
  /** One value or event that is given to a shared store, in bytes. The store has a bound of its own. */
  readonly maxValueBytes: number
  /** A process that shares a store and does not renew its lease for this long counts as dead. */
  readonly leaseMs: number
  /** Runs of one task with `recover: 'rerun'`, the first among them: code that kills its process ends. */
  readonly maxRuns: number
  /** Such a task fails where no process serves it for this long. */
  readonly rerunWaitMs: number
  /** What runs may take this long to end when the server closes. Docker gives 10 s in all. */
  readonly graceMs: number
}

const MiB = 1024 * 1024

/** Those of a server without options. */
export const kernelDefaults: KernelLimits = Object.freeze({
  maxBodyBytes: 4 * MiB,
  maxBodiesBytes: total(256 * MiB),
  maxDepth: 64,
  maxObjects: 100_000,
  maxNameBytes: 256,
  maxHeaderBytes: 16 * 1024,
  maxHeaderLines: 200,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  authTimeoutMs: 10_000,
  maxFailedIdentifications: 10,
  checkIntervalMs: 2_000,
  keepAliveMs: 65_000,
  maxConnections: 12_000,
  maxWaitingRequests: 5_000,
  maxStreams: 10_000,
  toolTimeoutMs: 60_000,
  agentTimeoutMs: 300_000,
  askTimeoutMs: 600_000,
  maxCalls: 1_024,
  maxCallsBytes: total(256 * MiB),
  maxCheckSteps: 500_000,
  maxResultBytes: 16 * MiB,
  maxStreamBytes: MiB,
  maxQueuedBytes: total(64 * MiB),
  writeTimeoutMs: 30_000,
  heartbeatMs: 15_000,
  maxTasks: 10_000,
  taskKeepMs: 60 * 60_000,
  // A person may answer tomorrow.
  waitingTaskKeepMs: 24 * 60 * 60_000,
  maxTasksBytes: total(256 * MiB),
  maxConversations: 10_000,
  conversationIdleMs: 30 * 60_000,
  conversationMessages: 100,
  conversationBytes: MiB,
  maxConversationsBytes: total(256 * MiB),
  idempotencyKeepMs: 10 * 60_000,
  maxIdempotencyKeys: 10_000,
  maxIdempotencyBytes: total(64 * MiB),
  storeTimeoutMs: 2_000,
  maxValueBytes: 16 * MiB,
  leaseMs: 10_000,
  maxRuns: 3,
  rerunWaitMs: 10 * 60_000,
  graceMs: 10_000,
})

export const kernelLimits: LimitTable<KernelLimits> = {
  defaults: kernelDefaults,
  mayBeZero: ['graceMs'],
  ordered: [
    ['maxBodyBytes', 'maxBodiesBytes'],
    ['headersTimeoutMs', 'bodyTimeoutMs'],
    ['maxStreams', 'maxConnections'],
    ['maxStreamBytes', 'maxQueuedBytes'],
    ['conversationBytes', 'maxConversationsBytes'],
  ],
}

/**
 * The limits of a table: those of `options`, its defaults for the rest. `owner`: the part whose options they
 * are, in sentences. Left out: they are options of the server.
 *
 * Throws `RangeError` for NaN, negative and zero values, for fractions, and where one given limit contradicts
 * another; where only one of such a pair is given, the other follows it.
 */
export function limitsIn<T extends object>(
  { defaults, mayBeZero = [], ordered = [] }: LimitTable<T>, options: Partial<T>, owner?: string,
): Readonly<T> {
  const limits = { ...defaults } as Record<keyof T, number>
  const pathOf = (name: keyof T): string => owner === undefined ? String(name) : `${owner}.${String(name)}`
  for (const name of Object.keys(defaults) as (keyof T)[]) {
    const value: unknown = options[name]
    if (value === undefined) continue
    const whole = typeof value === 'number' && (value === Infinity || Number.isSafeInteger(value))
    if (!whole || value < (mayBeZero.includes(name) ? 0 : 1)) {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : NaN
      const remedy = Number.isNaN(number) ? 'write a whole number above zero, or Infinity for no limit'
        : `write it as a number: ${number}`
      throw new RangeError(`${pathOf(name)} is ${show(value)}; ${remedy}`)
    }
    limits[name] = value
  }
  for (const [small, large] of ordered) {
    if (limits[small] <= limits[large]) continue
    if (options[small] !== undefined && options[large] !== undefined) {
      const sizes = `${pathOf(small)} (${limits[small]}) is larger than ${pathOf(large)} (${limits[large]})`
      throw new RangeError(`${sizes}; raise ${pathOf(large)}`)
    }
    if (options[small] !== undefined) limits[large] = limits[small]
    else limits[small] = limits[large]
  }
  return Object.freeze(limits) as Readonly<T>
}

/** Those of one server. Throws as `limitsIn` does. */
export function limitsOf(options: Partial<KernelLimits>): KernelLimits {
  return limitsIn(kernelLimits, options)
}
