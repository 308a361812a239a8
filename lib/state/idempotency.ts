/**
 * Replies for those who ask again: what is asked under a key of the client's own is run once, and whoever
 * asks the same again gets the reply of the first time. A key belongs to one principal; for every other it
 * is free.
 *
 * One entry a key in a store, written before the run begins (by compare-and-set, so that of two who come at
 * once one runs), and again with its reply at the end. Of a run that fails nothing is left, so that it may be
 * tried again. What a process that died was running is never run again under its key: whether it took effect
 * is not known. Knows no protocol; a reply is a text.
 */
import { createHash } from 'node:crypto'
import { isThenable } from '../util/thenable.ts'
import { Fault } from '../define/fault.ts'
import { keyOf } from './store.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { Limits } from '../define/limits.ts'
import type { Log } from '../define/log.ts'
import type { ClusterMembership } from './cluster.ts'
import type { Entry, Store, StoreKey } from './store.ts'

/** What may be a key: 1 to 255 visible characters of ASCII. */
export const IDEMPOTENCY_KEY: RegExp = /^[\x21-\x7e]{1,255}$/

/**
 * What is known of a key: nothing, and now it is held; that its request is `running`; that its process has
 * ended before there was a reply (`died`); what was replied to it; that the reply could not be kept (`lost`);
 * that it stands for another request (`other`).
 */
export type KeyClaim =
  | { readonly state: 'held'; readonly hold: KeyHold }
  | { readonly state: 'done'; readonly reply: string }
  | { readonly state: 'running' | 'died' | 'lost' | 'other' }

const COLLECTION = 'idempotency'
const DIGEST_LENGTH = 43
/** A run without a limit counts as dead after this. */
const MAX_RUN_MS = 24 * 60 * 60_000

/** What is done for a key at its end, of which the store could not be told. */
type Unsettled = () => MaybePromise<unknown>

/** The keys of one server, in a store. */
export class IdempotentReplies {
  readonly #limits: Limits
  readonly #store: Store
  readonly #log: Log
  readonly #nodes: ClusterMembership | undefined
  readonly #unsettled = new Set<Unsettled>()
  #hasFailed = false

  /** `nodes` are the processes that share the store, where any do. */
  constructor(limits: Limits, store: Store, log: Log, nodes?: ClusterMembership) {
    this.#limits = limits
    this.#store = store
    this.#log = log
    this.#nodes = nodes
    nodes?.onBeat(() => void this.#settle())
  }

  /**
   * Looks a key up, and holds it where it is free. `request` is all that makes two requests the same one;
   * `timeoutMs` is how long its run may take. Throws, or rejects with, `Fault('busy')` where that cannot be
   * told now: a key is never passed over in silence.
   */
  claim(owner: string, key: string, request: string, timeoutMs: number): MaybePromise<KeyClaim> {
    const place = { collection: COLLECTION, owner: keyOf(owner), key: keyOf(key) }
    const digest = createHash('sha256').update(request).digest('base64url')
    const keepMs = Math.min(timeoutMs, MAX_RUN_MS) + this.#limits.idempotencyKeepMs
    try {
      const version = this.#store.write(place, `r${digest}${this.#nodes?.id ?? ''}`, keepMs, 0)
      const claim = isThenable(version)
        ? version.then((written) => this.#claimed(place, digest, written))
        : this.#claimed(place, digest, version)
      return isThenable(claim) ? claim.catch((cause: unknown) => { throw unknown(cause) }) : claim
    } catch (cause) {
      throw unknown(cause)
    }
  }

  #claimed(place: StoreKey, digest: string, version: number | undefined): MaybePromise<KeyClaim> {
    if (version !== undefined) {
      const { idempotencyKeepMs } = this.#limits
      const hold = new KeyHold(this.#store, place, digest, version, idempotencyKeepMs, this.#failed)
      return { state: 'held', hold }
    }
    const entry = this.#store.read(place)
    if (isThenable(entry)) return entry.then((read) => this.#found(place, digest, read))
    return this.#nodes === undefined ? claimIn(entry, digest) : this.#found(place, digest, entry)
  }

  /** Who runs it may have ended. */
  async #found(place: StoreKey, digest: string, entry: Entry | undefined): Promise<KeyClaim> {
    const claim = claimIn(entry, digest)
    const node = entry?.value.slice(1 + DIGEST_LENGTH)
    // Who cannot tell who is dead takes everybody for alive.
    if (claim.state !== 'running' || !node || this.#nodes?.mayJudge !== true) return claim
    if (await this.#nodes.isAlive(node)) return claim
    // Its last word may have been the reply.
    const last = await this.#store.read(place)
    return last?.version === entry?.version ? { state: 'died' } : claimIn(last, digest)
  }

  /** The first of several failures is enough. Others must not wait for what is over: it is told later. */
  readonly #failed = (cause: unknown, again: Unsettled): void => {
    const { size } = this.#unsettled
    if (this.#nodes !== undefined && size < this.#limits.maxIdempotencyKeys) this.#unsettled.add(again)
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#log('warning', 'A reply could not be kept for its Idempotency-Key', { cause })
  }

  async #settle(): Promise<void> {
    for (const again of [...this.#unsettled]) {
      try {
        await again()
        this.#unsettled.delete(again)
      } catch {
        // There will be another sign of life.
        return
      }
    }
  }
}

/** A key while its request runs. Exactly one of `keep` and `release` is called, and neither ever fails. */
export class KeyHold {
  readonly #store: Store
  readonly #place: StoreKey
  readonly #digest: string
  readonly #version: number
  readonly #keepMs: number
  readonly #onFailure: (cause: unknown, again: Unsettled) => void

  constructor(
    store: Store, place: StoreKey, digest: string, version: number, keepMs: number,
    onFailure: (cause: unknown, again: Unsettled) => void,
  ) {
    this.#store = store
    this.#place = place
    this.#digest = digest
    this.#version = version
    this.#keepMs = keepMs
    this.#onFailure = onFailure
  }

  /** What was replied. One that cannot be kept is remembered as such. */
  keep(reply: string): MaybePromise<void> {
    const lose = this.#lose
    return this.#try(() => this.#write(`d${this.#digest}${reply}`), (cause) => {
      if (!(cause instanceof Fault) || cause.kind !== 'too-large') return this.#onFailure(cause, lose)
      return this.#try(lose, (later) => this.#onFailure(later, lose))
    })
  }

  /** Apart from `keep`, whose reply it would hold on to for as long as the store is away. */
  readonly #lose = (): MaybePromise<unknown> => this.#write(`l${this.#digest}`)

  /** There is no reply: the same may be run again. */
  release(): MaybePromise<void> {
    const remove = (): MaybePromise<unknown> => this.#store.remove(this.#place, this.#version)
    return this.#try(remove, (cause) => this.#onFailure(cause, remove))
  }

  #write(value: string): MaybePromise<unknown> {
    return this.#store.write(this.#place, value, this.#keepMs, this.#version)
  }

  #try(
    work: () => MaybePromise<unknown>, failed: (cause: unknown) => MaybePromise<void>,
  ): MaybePromise<void> {
    try {
      const done = work()
      return isThenable(done) ? Promise.resolve(done).then(() => {}, failed) : undefined
    } catch (cause) {
      return failed(cause)
    }
  }
}

/** What an entry says. One that has gone just now will be free when it is asked for again. */
function claimIn(entry: Entry | undefined, digest: string): KeyClaim {
  if (entry === undefined) return { state: 'running' }
  const { value } = entry
  const end = 1 + DIGEST_LENGTH
  if (value.slice(1, end) !== digest) return { state: 'other' }
  if (value.startsWith('d')) return { state: 'done', reply: value.slice(end) }
  return { state: value.startsWith('l') ? 'lost' : 'running' }
}

function unknown(cause: unknown): Fault {
  const sentence = 'The Idempotency-Key cannot be looked up now; try again later'
  return new Fault('busy', sentence, undefined, { cause })
}
