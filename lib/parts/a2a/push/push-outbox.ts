/**
 * Events that are still to be posted, kept in the store that processes share from before the first try until
 * the receiver has them. What a dead process has left is taken over by another, found by the name of the dead
 * one.
 */
import { SYSTEM_OWNER } from '../../../kernel/store/store.ts'
import { decoded, isText, optional, readStored, recordOf } from '../../../floors/shared/stored-value.ts'
import { PlainLease } from '../../../kernel/util/quota.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import type { Log } from '../../../kernel/define/log.ts'
import type { Quota } from '../../../kernel/util/quota.ts'
import type { ClusterMembership } from '../../../floors/shared/cluster.ts'
import type { Entry, Store, StoreKey } from '../../../kernel/store/store.ts'

export interface Undelivered {
  readonly owner: string
  readonly taskId: string
  readonly configId: string
  /** What is posted; undefined: the task as it stands then. */
  readonly body: string | undefined
}

/** What is kept, or is being kept, on behalf of this process. */
export interface KeptEvent {
  /** Whether it could be kept. Never rejects. */
  readonly written: Promise<boolean>
  /** It was delivered, or is not wanted any more. */
  forget(): void
}

interface StoredEvent extends Undelivered {
  readonly by: string
  /** Its position among those of its process. */
  readonly number: number
}

/** One that a dead process was to post; `name` is that of its key. */
export interface TakenOver extends StoredEvent { readonly kept: KeptEvent; readonly name: string }

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
  readonly #cluster: ClusterMembership
  readonly #bytes: Quota
  /** The names of what is kept, or is being kept, on behalf of this process. */
  readonly #kept = new Set<string>()
  /** What is not to be posted any more, but is still in the store. */
  readonly #unremoved = new Set<StoreKey>()
  #number = 0
  #written: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #hasFailed = false

  /** `bytes`: of what is on its way to the store, too. */
  constructor(store: Store, log: Log, cluster: ClusterMembership, bytes: Quota) {
    this.#store = store
    this.#log = log
    this.#cluster = cluster
    this.#bytes = bytes
    cluster.onBeat(() => {
      const keys = [...this.#unremoved]
      this.#unremoved.clear()
      for (const key of keys) void this.#remove(key)
    })
  }

  /**
   * Keeps an event until it is forgotten. Undefined where this is closed. What cannot be kept is posted all
   * the same, and the first failure logged.
   */
  keep(event: Undelivered): KeptEvent | undefined {
    if (this.#isClosed) return undefined
    const { id: by } = this.#cluster
    const number = this.#number = Math.max(this.#number + 1, Date.now() * 1_000)
    const stored: StoredEvent = { ...event, by, number }
    const key = { collection: EVENTS, owner: SYSTEM_OWNER + by, key: `${number}` }
    const value = formatJson(stored)
    const lease = new PlainLease(event.owner)
    this.#bytes.add(lease, value.length * 2)
    this.#kept.add(nameOf(key))
    const written = this.#write(key, value).finally(() => lease.close())
    this.#written = this.#written.then(() => written)
    return this.#keptAs(key, written)
  }

  /** Resolves when everything is kept that is being kept now, or could not be. */
  async written(): Promise<void> {
    await this.#written
  }

  /**
   * Makes what a dead process has left this one's, and gives it to `adopt`, in order. No more is taken when
   * it has `maxBytes`. Resolves to whether there may be more of it for the next look, which gets again what
   * `adopt` rejects.
   */
  async takeOver(
    node: string, maxBytes: number, adopt: (events: readonly TakenOver[]) => Promise<void>,
  ): Promise<boolean> {
    const owner = SYSTEM_OWNER + node
    const taken: TakenOver[] = []
    const alive = new Map([[node, false]])
    let leftBytes = maxBytes
    let isEmpty = true
    const isDone = (): boolean => this.#isClosed || leftBytes <= 0 || taken.length >= MAX_TAKEN
    try {
      for (let before: number | undefined, isLast = false; !isLast;) {
        const entries: readonly Entry[] = await this.#store.list(EVENTS, owner, PAGE, before)
        isEmpty &&= entries.length === 0
        for (const entry of entries) {
          const event = isDone() ? undefined : await this.#take(owner, entry, alive)
          if (event === undefined) continue
          leftBytes -= entry.value.length * 2
          taken.push(event)
        }
        before = entries.at(-1)?.version
        isLast = entries.length < PAGE || isDone()
      }
      await adopt(taken.toSorted((one, other) => one.number - other.number))
    } catch (cause) {
      for (const { name } of taken) this.#kept.delete(name)
      this.#log('warning', 'Events of webhooks could not be taken over', { cause })
      return true
    }
    return !isEmpty || this.#isClosed
  }

  /** Leaves what is still here to other processes. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.written()
    if (this.#kept.size > 0) this.#cluster.keepName()
  }

  #keptAs(key: StoreKey, written: Promise<boolean>): KeptEvent {
    return { written, forget: () => void written.then((isKept) => isKept ? this.#remove(key) : undefined) }
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

  /** Undefined where another process posts the event, or this one does already. */
  async #take(
    owner: string, entry: Entry, alive: Map<string, boolean>,
  ): Promise<TakenOver | undefined> {
    const key = { collection: EVENTS, owner, key: entry.key }
    const event = readStored(EVENTS, entry, decoded(isStoredEvent), this.#log)
    const name = nameOf(key)
    if (event === undefined || this.#kept.has(name)) return undefined
    const { by } = event
    const { id } = this.#cluster
    if (by !== id && !alive.has(by)) alive.set(by, await this.#cluster.isAlive(by))
    if (alive.get(by) === true || this.#isClosed) return undefined
    const mine = formatJson({ ...event, by: id })
    // Undefined: another process was first.
    const taken = await this.#store.write(key, mine, UNDELIVERED_KEEP_MS, entry.version)
    if (taken === undefined) return undefined
    this.#kept.add(name)
    return { ...event, name, kept: this.#keptAs(key, Promise.resolve(true)) }
  }

  async #write(key: StoreKey, value: string): Promise<boolean> {
    try {
      // What is kept under a name without a lease would be taken over at once.
      await this.#cluster.ready()
      await this.#store.write(key, value, UNDELIVERED_KEEP_MS, 'any')
      this.#hasFailed = false
      return true
    } catch (cause) {
      this.#warn(cause)
      this.#kept.delete(nameOf(key))
      return false
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

const isStoredEvent = recordOf<StoredEvent>({
  owner: isText, taskId: isText, configId: isText, by: isText, body: optional(isText),
  number: Number.isFinite,
})
