/**
 * Events that are still to be posted, kept in the shared store from before the first try until the receiver
 * has them. What a dead process has left is taken over by another, found by the name of the dead one. Where
 * the store is not shared, nothing is kept.
 */
import { SYSTEM_OWNER } from '../../../kernel/store/store.ts'
import { decoded, isText, optional, readStored, recordOf } from '../../../floors/shared/stored-value.ts'
import { PlainLease, Quota } from '../../../kernel/util/quota.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import type { Log } from '../../../kernel/define/log.ts'
import type { ClusterMembership } from '../../../floors/shared/cluster.ts'
import type { Entry, Store, StoreKey } from '../../../kernel/store/store.ts'

export interface Undelivered {
  readonly owner: string
  readonly taskId: string
  readonly configId: string
  /** What is posted; undefined: the task as it stands then. */
  readonly body: string | undefined
}

/** One that a dead process was to post. */
export interface TakenOver extends Undelivered { readonly kept: Promise<StoreKey | undefined> }

/** What a dead process had left, and what of it is this one's now: of each configuration in order. */
export interface Inheritance {
  readonly isEmpty: boolean
  readonly lines: readonly (readonly TakenOver[])[]
}

interface KeptEvent extends Undelivered {
  readonly by: string
  /** Its position among those of its process. */
  readonly number: number
}

const EVENTS = 'push-events'
/** A receiver that does not answer for longer has lost it. */
export const UNDELIVERED_KEEP_MS = 3_600_000
/** What one look takes over at most; the next takes more. */
const MAX_TAKEN = 1_000
const PAGE = 100
/** Of more, what is left is posted once more after this process. */
const MAX_UNREMOVED = 10_000

export class PushOutbox {
  readonly #store: Store
  readonly #log: Log
  readonly #cluster: ClusterMembership | undefined
  readonly #writing = new Set<Promise<unknown>>()
  /** The names of what is kept, or is being kept, on behalf of this process. */
  readonly #kept = new Set<string>()
  /** What is not to be posted any more, but is still in the store. */
  readonly #unremoved = new Set<StoreKey>()
  /** Bytes on their way to the store. */
  readonly #bytes = new Quota('webhook events on their way to the store', Infinity)
  #number = 0
  #isClosed = false
  #hasFailed = false

  /** `cluster`: the processes that share the store, where any do. */
  constructor(store: Store, log: Log, cluster: ClusterMembership | undefined) {
    this.#store = store
    this.#log = log
    this.#cluster = cluster
    cluster?.onBeat(() => { for (const key of this.#unremoved) void this.#removeAgain(key) })
  }

  /** What is on its way to the store, wanted or not. */
  get bytes(): number { return this.#bytes.used }

  /**
   * Keeps an event until it is forgotten. Undefined where nothing is kept, or this is closed. Never rejects:
   * what cannot be kept is posted all the same, and the first failure logged.
   */
  keep({ owner, taskId, configId, body }: Undelivered): Promise<StoreKey | undefined> | undefined {
    if (this.#cluster === undefined || this.#isClosed) return undefined
    const by = this.#cluster.id
    const number = this.#number = Math.max(this.#number + 1, Date.now() * 1_000)
    const event: KeptEvent = { owner, taskId, configId, body, by, number }
    const key = { collection: EVENTS, owner: SYSTEM_OWNER + by, key: `${number}` }
    const value = formatJson(event)
    const lease = new PlainLease(owner)
    this.#bytes.add(lease, value.length * 2)
    this.#kept.add(nameOf(key))
    const kept = this.#write(key, value)
    this.#writing.add(kept)
    void kept.finally(() => {
      lease.close()
      this.#writing.delete(kept)
    })
    return kept
  }

  /** Resolves when everything is kept that is being kept now, or could not be. */
  async written(): Promise<void> {
    await Promise.all([...this.#writing])
  }

  /** An event was delivered, or is not wanted any more. */
  forget(kept: Promise<StoreKey | undefined> | undefined): void {
    void kept?.then((key) => key && this.#remove(key))
  }

  /**
   * Makes what a dead process has left this one's. No more is taken when it has `maxBytes`; what is left
   * then is for the next look. Rejects where the store fails.
   */
  async takeOver(node: string, maxBytes: number): Promise<Inheritance> {
    const owner = SYSTEM_OWNER + node
    const taken: (KeptEvent & TakenOver)[] = []
    const alive = new Map([[node, false]])
    let before: number | undefined
    let leftBytes = maxBytes
    let isEmpty = true
    const isDone = (): boolean => this.#isClosed || leftBytes <= 0 || taken.length >= MAX_TAKEN
    for (;;) {
      const entries: readonly Entry[] = await this.#store.list(EVENTS, owner, PAGE, before)
      isEmpty &&= entries.length === 0
      for (const entry of entries) {
        if (isDone()) break
        const event = await this.#take(owner, entry, alive)
        if (event === undefined) continue
        leftBytes -= entry.value.length * 2
        taken.push(event)
      }
      before = entries.at(-1)?.version
      if (entries.length < PAGE || isDone()) break
    }
    const lines = new Map<string, TakenOver[]>()
    for (const event of taken.toSorted((a, b) => a.number - b.number)) {
      const name = `${event.taskId}/${event.configId}`
      const line = lines.get(name)
      if (line === undefined) lines.set(name, [event])
      else line.push(event)
    }
    return { isEmpty: isEmpty && !this.#isClosed, lines: [...lines.values()] }
  }

  /** What was taken over cannot be posted now: the next look takes it over again. */
  putBack(events: readonly TakenOver[]): void {
    for (const { kept } of events) void kept.then((key) => key && this.#kept.delete(nameOf(key)))
  }

  /** Leaves what is still here to other processes. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.written()
    if (this.#kept.size > 0) this.#cluster?.keepName()
  }

  /** Never rejects: what could not be removed is removed after the next beat. */
  async #remove(key: StoreKey): Promise<void> {
    try {
      await this.#store.remove(key, 'any')
    } catch (cause) {
      this.#warn(cause)
      if (this.#unremoved.size < MAX_UNREMOVED) return void this.#unremoved.add(key)
    }
    this.#kept.delete(nameOf(key))
  }

  async #removeAgain(key: StoreKey): Promise<void> {
    // Another beat may come meanwhile.
    if (this.#unremoved.delete(key)) await this.#remove(key)
  }

  /** Undefined where another process posts the event, or this one does already. */
  async #take(
    owner: string, entry: Entry, alive: Map<string, boolean>,
  ): Promise<(KeptEvent & TakenOver) | undefined> {
    const cluster = this.#cluster
    const event = readStored(EVENTS, entry, decoded(isEvent), this.#log)
    const storeKey = { collection: EVENTS, owner, key: entry.key }
    if (cluster === undefined || event === undefined || this.#kept.has(nameOf(storeKey))) return undefined
    const { by } = event
    if (by !== cluster.id) {
      if (!alive.has(by)) alive.set(by, await cluster.isAlive(by))
      if (alive.get(by) === true) return undefined
    }
    if (this.#isClosed) return undefined
    const mine = { ...event, by: cluster.id }
    const text = formatJson(mine)
    const isTaken = await this.#store.write(storeKey, text, UNDELIVERED_KEEP_MS, entry.version)
    // Another process was first.
    if (isTaken === undefined) return undefined
    this.#kept.add(nameOf(storeKey))
    return { ...mine, kept: Promise.resolve(storeKey) }
  }

  async #write(key: StoreKey, value: string): Promise<StoreKey | undefined> {
    try {
      // What is kept under a name without a lease would be taken over at once.
      await this.#cluster?.ready()
      await this.#store.write(key, value, UNDELIVERED_KEEP_MS, 'any')
      this.#hasFailed = false
      return key
    } catch (cause) {
      this.#warn(cause)
      this.#kept.delete(nameOf(key))
      return undefined
    }
  }

  #warn(cause: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    const sentence = 'Events of webhooks could not be kept: some may be lost if this process ends'
    this.#log('warning', sentence, { cause })
  }
}

function nameOf({ owner, key }: StoreKey): string { return `${owner}/${key}` }

const isEvent = recordOf<KeptEvent>({
  owner: isText, taskId: isText, configId: isText, by: isText, body: optional(isText),
  number: Number.isFinite,
})
