/**
 * How many may do something at one time, in all and for one owner: receivers and name servers that do not
 * answer hold up nobody else's. Owners who wait take turns; those of one owner come in the order of asking.
 */

/** For how many there is room, and how many more may wait; left out, any number. */
export interface SlotLimits {
  readonly max: number
  readonly maxPerOwner: number
  readonly maxWaiting?: number
  readonly maxWaitingPerOwner?: number
}

/** What one owner has: places, and those who wait for one. */
interface Share { taken: number; readonly waiting: Set<() => void> }

/** The places of one server, in all and for each owner. */
export class PushSlots {
  readonly #limits: Required<SlotLimits>
  /** Who had a place last comes last. */
  readonly #shares = new Map<string, Share>()
  #taken = 0
  #waiting = 0

  constructor(limits: SlotLimits) {
    this.#limits = { maxWaiting: Infinity, maxWaitingPerOwner: Infinity, ...limits }
  }

  /** Places that are taken. */
  get taken(): number { return this.#taken }
  /** Those who wait for one. */
  get waiting(): number { return this.#waiting }

  /**
   * Resolves when there is a place, to what gives it back, once, however often it is called. Undefined where
   * `signal` aborts before, and where too many wait already: then nothing is taken, and nobody waits.
   */
  async enter(owner: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return undefined
    const { max, maxPerOwner, maxWaiting, maxWaitingPerOwner } = this.#limits
    const share = this.#shares.get(owner) ?? { taken: 0, waiting: new Set() }
    if (this.#taken < max && share.taken < maxPerOwner) return this.#take(owner, share)
    if (this.#waiting >= maxWaiting || share.waiting.size >= maxWaitingPerOwner) return undefined
    return new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', leave)
        share.waiting.delete(come)
        this.#waiting--
      }
      const come = (): void => {
        end()
        resolve(this.#take(owner, share))
      }
      const leave = (): void => {
        end()
        this.#tidy(owner, share)
        resolve(undefined)
      }
      signal.addEventListener('abort', leave)
      share.waiting.add(come)
      this.#waiting++
      this.#shares.set(owner, share)
    })
  }

  #take(owner: string, share: Share): () => void {
    this.#shares.delete(owner)
    this.#shares.set(owner, share)
    share.taken++
    this.#taken++
    let isGivenBack = false
    return () => {
      if (isGivenBack) return
      isGivenBack = true
      share.taken--
      this.#taken--
      this.#tidy(owner, share)
      this.#admit()
    }
  }

  #tidy(owner: string, { taken, waiting }: Share): void {
    if (taken + waiting.size === 0) this.#shares.delete(owner)
  }

  #admit(): void {
    const { max, maxPerOwner } = this.#limits
    // Whoever comes goes behind the others, and is asked once more there.
    for (const { taken, waiting } of this.#shares.values()) {
      if (this.#taken >= max) return
      const [first] = taken < maxPerOwner ? waiting : []
      first?.()
    }
  }
}
