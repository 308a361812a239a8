/**
 * How many posts are on their way at one time, in all and for one owner: receivers that do not answer hold up
 * nobody else's. Who waits comes in the order of asking, as far as their owner has room.
 */

interface Waiting { readonly owner: string; readonly enter: () => void }

/** The places of one server, in all and for each owner. */
export class PushSlots {
  readonly #max: number
  readonly #maxPerOwner: number
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()
  #count = 0

  constructor(max: number, maxPerOwner: number) {
    this.#max = max
    this.#maxPerOwner = maxPerOwner
  }

  /** Resolves when there is a place; whoever was let in leaves. */
  enter(owner: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add({ owner, enter: resolve })
      this.#admit()
    })
  }

  leave(owner: string): void {
    const left = (this.#taken.get(owner) ?? 1) - 1
    if (left === 0) this.#taken.delete(owner)
    else this.#taken.set(owner, left)
    this.#count--
    this.#admit()
  }

  #admit(): void {
    for (const one of this.#waiting) {
      if (this.#count >= this.#max) return
      const taken = this.#taken.get(one.owner) ?? 0
      if (taken >= this.#maxPerOwner) continue
      this.#waiting.delete(one)
      this.#taken.set(one.owner, taken + 1)
      this.#count++
      one.enter()
    }
  }
}
