/**
 * Idempotency keys: a request with a key is run once, and the same request again gets the first reply. A key
 * belongs to one principal; for every other it is free.
 *
 * A key has one entry in a store, written before the run begins (by compare-and-set, so that of two requests
 * at the same time one runs), and again with the reply at its end. A run that fails leaves nothing, so it may
 * be tried again. What a dead process was running is never run again under its key: whether it took effect is
 * not known. A reply is a text.
 */
import { createHash } from 'node:crypto'
import { andThen, caught } from '../../kernel/util/thenable.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { memoryStore } from '../memory/memory-store.ts'
import { keyOf } from '../../kernel/store/store.ts'
import { sharedOf } from '../shared/shared-of.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { ClusterMembership } from '../shared/cluster.ts'
import type { Entry, Store, StoreKey } from '../../kernel/store/store.ts'

/** 1 to 255 visible characters of ASCII. */
export const IDEMPOTENCY_KEY: RegExp = /^[\x21-\x7e]{1,255}$/

/**
 * Held: the key was free, and is held now. Done: there is a reply. Died: its process has ended before there
 * was one. Lost: the reply could not be kept, or what is kept cannot be read. Other: the key was used for
 * another request.
 */
export type KeyClaim =
  | { readonly state: 'held'; readonly hold: KeyHold }
  | { readonly state: 'done'; readonly reply: string }
  | { readonly state: 'running' | 'died' | 'lost' | 'other' }

/** A key while its request runs. The first of the three counts; none ever fails. */
export interface KeyHold {
  /** Writes the reply. Where it is too large, the key is marked as lost. */
  keep(reply: string): MaybePromise<unknown>
  /** The reply is too large to be kept. */
  lose(): MaybePromise<unknown>
  /** There is no reply: the same request may be run again. */
  release(): MaybePromise<unknown>
}

const COLLECTION = 'idempotency'
const DIGEST_LENGTH = 43
/** Running, done or lost, and the digest of the request. */
const VALUE = /^[rdl][\w-]{43}/
/** A run without a limit counts as dead after this time. */
const MAX_RUN_MS = 24 * 60 * 60_000

/** The last write for a key, which the store has not got. */
type Unsettled = () => MaybePromise<unknown>

export interface IdempotentReplies {
  /**
   * Looks a key up, and holds it where it is free. Two requests are the same where their `request` is;
   * `timeoutMs` is how long its run may take. Throws, or rejects with, `Fault('busy')` where the store cannot
   * be reached: a key is never ignored.
   */
  claim(owner: string, key: string, request: string, timeoutMs: number): MaybePromise<KeyClaim>
}

function makeReplies(service: Service): IdempotentReplies {
  const { limits, log, sharing } = service
  const { maxIdempotencyKeys: maxEntries, maxIdempotencyBytes: maxBytes } = limits
  // A store of its own: repeated queries must not evict what is to be kept longer.
  const own = sharing?.store ?? memoryStore({ maxEntries, maxBytes })
  return idempotentReplies(limits, own, log, sharedOf(service)?.cluster)
}

/** Those of a server. */
export function idempotencyOf(service: Service): IdempotentReplies {
  return service.use(makeReplies)
}

/** Keeps them in a store. `cluster`: the processes that share it, if any do. */
export function idempotentReplies(
  limits: KernelLimits, store: Store, log: Log, cluster?: ClusterMembership,
): IdempotentReplies {
  const unsettled = new Set<Unsettled>()
  let hasFailed = false
  cluster?.onBeat(() => void settleAll())
  return { claim }

  function claim(owner: string, key: string, request: string, timeoutMs: number): MaybePromise<KeyClaim> {
    const at = { collection: COLLECTION, owner: keyOf(owner), key: keyOf(key) }
    const digest = createHash('sha256').update(request).digest('base64url')
    const keepMs = Math.min(timeoutMs, MAX_RUN_MS) + limits.idempotencyKeepMs
    const work = (): MaybePromise<KeyClaim> => andThen(
      store.write(at, `r${digest}${cluster?.id ?? ''}`, keepMs, 0),
      (version) => claimed(at, digest, version),
    )
    return caught(work, (cause) => {
      const sentence = 'The Idempotency-Key cannot be looked up now; try again later'
      throw new Fault('busy', sentence, undefined, { cause })
    })
  }

  function claimed(at: StoreKey, digest: string, version: number | undefined): MaybePromise<KeyClaim> {
    if (version !== undefined) return { state: 'held', hold: hold(at, digest, version) }
    return andThen(store.read(at), (entry) => (
      cluster === undefined ? claimIn(entry, digest) : judged(at, digest, entry, cluster)
    ))
  }

  async function judged(
    at: StoreKey, digest: string, entry: Entry | undefined, members: ClusterMembership,
  ): Promise<KeyClaim> {
    const claim = claimIn(entry, digest)
    const node = entry?.value.slice(1 + DIGEST_LENGTH)
    // Without a lease of its own, this process takes all others for alive.
    if (claim.state !== 'running' || !node || !members.mayJudge || await members.isAlive(node)) return claim
    // It may have written the reply just before.
    const last = await store.read(at)
    return last?.version === entry?.version ? { state: 'died' } : claimIn(last, digest)
  }

  function hold(at: StoreKey, digest: string, version: number): KeyHold {
    const write = (value: string): MaybePromise<unknown> => (
      store.write(at, value, limits.idempotencyKeepMs, version)
    )
    const markLost = (): MaybePromise<unknown> => write(`l${digest}`)
    let isSettled = false
    let settled: MaybePromise<unknown>
    // `again` is never what writes the reply: that would stay in memory while the store is unavailable.
    const settle = (work: Unsettled, again: Unsettled): MaybePromise<unknown> => {
      if (isSettled) return settled
      isSettled = true
      return settled = caught(work, (cause) => {
        const isTooLarge = cause instanceof Fault && cause.kind === 'too-large'
        return isTooLarge ? caught(again, (later) => failed(later, again)) : failed(cause, again)
      })
    }
    const remove = (): MaybePromise<unknown> => store.remove(at, version)
    return {
      keep: (reply) => settle(() => write(`d${digest}${reply}`), markLost),
      lose: () => settle(markLost, markLost),
      release: () => settle(remove, remove),
    }
  }

  /** The first failure is logged. The write is tried again with each beat. */
  function failed(cause: unknown, again: Unsettled): void {
    const { size } = unsettled
    if (cluster !== undefined && size < limits.maxIdempotencyKeys) unsettled.add(again)
    if (hasFailed) return
    hasFailed = true
    log('warning', 'A reply could not be kept for its Idempotency-Key', { cause })
  }

  async function settleAll(): Promise<void> {
    for (const again of [...unsettled]) {
      try {
        await again()
        unsettled.delete(again)
      } catch {
        // The next beat tries again.
        return
      }
    }
  }
}

/** What an entry says. Without one the key has just become free: the client asks again. */
function claimIn(entry: Entry | undefined, digest: string): KeyClaim {
  if (entry === undefined) return { state: 'running' }
  const { value } = entry
  // It may have run: it must not run again.
  if (!VALUE.test(value)) return { state: 'lost' }
  const end = 1 + DIGEST_LENGTH
  if (value.slice(1, end) !== digest) return { state: 'other' }
  if (value.startsWith('d')) return { state: 'done', reply: value.slice(end) }
  return { state: value.startsWith('l') ? 'lost' : 'running' }
}
