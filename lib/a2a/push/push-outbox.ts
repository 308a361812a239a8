/**
 * Events that are still to be posted, kept in a store that outlives this process: from before the first try
 * until the receiver has them. Those of a process that is gone are taken over by whichever asks next.
 *
 * A process that keeps any holds a lease, an entry that expires unless it is renewed: whoever has none is
 * gone. Knows nothing of configurations and of posting. Where the store is not shared, nothing is kept.
 */
import { isRecord } from '../../define/content.ts'
import { randomUuid } from '../../wire/random.ts'
import type { Log } from '../../define/log.ts'
import type { Entry, Store, StoreKey } from '../../state/store.ts'

/** An event that is still to be posted. */
export interface Undelivered {
  readonly owner: string
  readonly taskId: string
  readonly configId: string
  /** What is posted; undefined: the task as it stands then. */
  readonly body: string | undefined
}

/** One that a process was to post that is gone. */
export interface TakenOver extends Undelivered { readonly kept: Promise<StoreKey | undefined> }

interface KeptEvent extends Undelivered {
  /** Who posts it. */
  readonly by: string
  /** Its place among those of its process. */
  readonly number: number
}

const EVENTS = 'push-events'
const SENDERS = 'push-senders'
/** Everybody's: it is for the house to look through. */
const SYSTEM_OWNER = '~push'
/** Receivers that are away for longer have lost it. */
export const UNDELIVERED_KEEP_MS = 3_600_000
const LEASE_MS = 30_000
/** What one look takes over at most; the next takes more. */
const MAX_TAKEN = 1_000
const PAGE = 100
/** Of more, what is left is posted once more after this process. */
const MAX_UNREMOVED = 10_000

/** The undelivered events of one process. */
export class PushOutbox {
  readonly #store: Store
  readonly #log: Log
  readonly #leaseMs: number
  readonly #id: string = randomUuid()
  readonly #lease: StoreKey = { collection: SENDERS, owner: SYSTEM_OWNER, key: this.#id }
  readonly #writing = new Set<Promise<unknown>>()
  /** Nobody is to post them, but they are still in the store. */
  readonly #unremoved = new Set<StoreKey>()
  #number = 0
  #bytes = 0
  #held = 0
  #isClosed = false
  #leased: Promise<unknown> | undefined
  #renewal: NodeJS.Timeout | undefined
  #hasFailed = false

  /** `leaseMs`: how long after its end the events of a process are taken over by another. */
  constructor(store: Store, log: Log, leaseMs: number = LEASE_MS) {
    this.#store = store
    this.#log = log
    this.#leaseMs = leaseMs
  }

  /** Whether anything is kept at all. */
  get isKept(): boolean { return this.#store.isShared }
  /** What is on its way to the store, whether or not anybody still wants it. */
  get bytes(): number { return this.#bytes }

  /**
   * Keeps an event until it is forgotten. Undefined where nothing is kept, or this is closed. Never rejects:
   * what cannot be kept is posted all the same, and the first failure logged.
   */
  keep({ owner, taskId, configId, body }: Undelivered): Promise<StoreKey | undefined> | undefined {
    if (!this.isKept || this.#isClosed) return undefined
    const number = this.#number = Math.max(this.#number + 1, Date.now() * 1_000)
    const event: KeptEvent = { owner, taskId, configId, body, by: this.#id, number }
    this.#held++
    const place = { collection: EVENTS, owner: SYSTEM_OWNER, key: `${this.#id}/${number}` }
    const value = JSON.stringify(event)
    const bytes = value.length * 2
    this.#bytes += bytes
    const kept = this.#keep(place, value)
    this.#writing.add(kept)
    void kept.finally(() => {
      this.#bytes -= bytes
      this.#writing.delete(kept)
    })
    return kept
  }

  /** Resolves when everything is kept that is being kept now, or could not be. */
  async written(): Promise<void> {
    await Promise.all([...this.#writing])
  }

  /** An event was delivered, or nobody wants it any more. */
  forget(kept: Promise<StoreKey | undefined> | undefined): void {
    void kept?.then((place) => place === undefined ? this.#release() : this.#remove(place))
  }

  /**
   * Events of processes that are gone, which are this one's from now on: those of each configuration in their
   * order. No more are begun when these have so many bytes. What could not be removed is removed first.
   */
  async takeOver(maxBytes: number): Promise<readonly (readonly TakenOver[])[]> {
    for (const place of [...this.#unremoved]) {
      // Two may look at one time.
      if (this.#unremoved.delete(place)) await this.#remove(place)
    }
    const taken: (KeptEvent & TakenOver)[] = []
    const alive = new Map([[this.#id, true]])
    let before: number | undefined
    let leftBytes = maxBytes
    try {
      while (taken.length < MAX_TAKEN) {
        const entries: readonly Entry[] = await this.#store.list(EVENTS, SYSTEM_OWNER, PAGE, before)
        for (const entry of entries) {
          if (this.#isClosed || leftBytes <= 0) break
          const events = await this.#take(entry, alive)
          if (events.length > 0) leftBytes -= entry.value.length * 2
          taken.push(...events)
        }
        before = entries.at(-1)?.version
        if (entries.length < PAGE || this.#isClosed || leftBytes <= 0) break
      }
    } catch (cause) {
      this.#warn(cause)
    }
    const lines = new Map<string, TakenOver[]>()
    for (const event of taken.toSorted((a, b) => a.number - b.number)) {
      const name = `${event.taskId}/${event.configId}`
      const line = lines.get(name)
      if (line === undefined) lines.set(name, [event])
      else line.push(event)
    }
    return [...lines.values()]
  }

  /** Lets another process have at once what is still here. */
  async close(): Promise<void> {
    this.#isClosed = true
    const leased = this.#leased
    await Promise.all(this.#writing)
    this.#rest()
    if (leased === undefined) return
    try {
      await leased
      await this.#store.remove(this.#lease, 'any')
    } catch (cause) {
      this.#warn(cause)
    }
  }

  /** Removes what nobody is to post any more. Never rejects: what is still there is for the next look. */
  async #remove(place: StoreKey): Promise<void> {
    try {
      await this.#store.remove(place, 'any')
    } catch (cause) {
      this.#warn(cause)
      if (this.#unremoved.size < MAX_UNREMOVED) return void this.#unremoved.add(place)
    }
    this.#release()
  }

  #release(): void {
    if (--this.#held === 0) this.#rest()
  }

  async #take(entry: Entry, alive: Map<string, boolean>): Promise<readonly (KeptEvent & TakenOver)[]> {
    const event: unknown = JSON.parse(entry.value)
    const place = { collection: EVENTS, owner: SYSTEM_OWNER, key: entry.key }
    if (!isEvent(event)) return []
    const { by } = event
    if (!alive.has(by)) {
      const lease = await this.#store.read({ collection: SENDERS, owner: SYSTEM_OWNER, key: by })
      alive.set(by, lease !== undefined)
    }
    if (alive.get(by) === true || this.#isClosed) return []
    await this.#ensureLease()
    const mine = { ...event, by: this.#id }
    const version = await this.#store.write(place, JSON.stringify(mine), UNDELIVERED_KEEP_MS, entry.version)
    // Another process was first.
    if (version === undefined) return []
    this.#held++
    return [{ ...mine, kept: Promise.resolve(place) }]
  }

  async #keep(place: StoreKey, value: string): Promise<StoreKey | undefined> {
    try {
      await this.#ensureLease()
      await this.#store.write(place, value, UNDELIVERED_KEEP_MS, 'any')
      this.#hasFailed = false
      return place
    } catch (cause) {
      this.#warn(cause)
      return undefined
    }
  }

  /** Nobody may find an event here without its lease. */
  #ensureLease(): Promise<unknown> {
    if (this.#leased !== undefined) return this.#leased
    const renew = async (): Promise<void> => {
      await this.#store.write(this.#lease, '', this.#leaseMs, 'any')
    }
    this.#renewal = setInterval(() => {
      renew().catch((cause: unknown) => this.#warn(cause))
    }, this.#leaseMs / 3).unref()
    const leased = this.#leased = renew()
    // It may be another's by then.
    leased.catch(() => { if (this.#leased === leased) this.#rest() })
    return leased
  }

  /** Without events no lease is needed. */
  #rest(): void {
    clearInterval(this.#renewal)
    this.#leased = undefined
  }

  #warn(cause: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    const sentence = 'Events of webhooks could not be kept: some may be lost if this process ends'
    this.#log('warning', sentence, { cause })
  }
}

function isEvent(value: unknown): value is KeptEvent {
  if (!isRecord(value)) return false
  const { owner, taskId, configId, by, body, number } = value
  return [owner, taskId, configId, by].every((text) => typeof text === 'string')
    && typeof number === 'number' && (body === undefined || typeof body === 'string')
}
