/**
 * Who has to make room where something bounded, in number and in bytes, is full: the holder of most of what
 * is short, and of equals the one whose account has not changed for longest. So no one pushes out what
 * belongs to one who holds less.
 */
import { BEYOND } from './quota.ts'
import { LinkedList } from './linked-list.ts'
import { NOT_IN_HEAP, Heap } from './heap.ts'
import type { LinkedMember } from './linked-list.ts'
import type { Order } from './heap.ts'

/** The account of one holder, written by `Shares` alone. */
export class Share<T> implements LinkedMember<Share<T>> {
  readonly holder: T
  count = 0
  bytes = 0
  /** Rises with every change of any share. */
  changedAt = 0
  place: number = NOT_IN_HEAP
  previous: Share<T> | undefined = undefined
  next: Share<T> | undefined = undefined

  constructor(holder: T) {
    this.holder = holder
  }
}

const byBytes: Order<Share<unknown>> = {
  isBefore: (one, other) =>
    one.bytes === other.bytes ? one.changedAt < other.changedAt : one.bytes > other.bytes,
  placeOf: (share) => share.place,
  place(share, at) { share.place = at },
}

/**
 * The accounts of all holders. By number, there is one list for each number, so that nothing is searched; by
 * bytes, holders are ranked from the first time that bytes are short.
 */
export class Shares<T> {
  readonly #maxCount: number
  readonly #maxBytes: number
  /** By number, those that hold so many, in the order in which they changed; none is empty. */
  readonly #byCount: (LinkedList<Share<T>> | undefined)[] = [undefined]
  /** The last list that became empty, to be used again. */
  #spare: LinkedList<Share<T>> | undefined
  #mostCount = 0
  #byBytes: Heap<Share<T>> | undefined
  #count = 0
  #bytes = 0
  #changes = 0

  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount
    this.#maxBytes = maxBytes
  }

  get count(): number { return this.#count }
  get bytes(): number { return this.#bytes }

  get isOver(): boolean { return this.#count > this.#maxCount || this.isHeavy }

  /** Whether bytes are what is short. */
  get isHeavy(): boolean { return this.#bytes > this.#maxBytes }

  /**
   * Whether it is too much for this holder. Where no one can make room, a holder of less than an equal part
   * of the bytes still gets more, up to half as much again in all.
   */
  isTooMuchFor({ bytes }: Share<T>, holders: number): boolean {
    if (!this.isOver) return false
    return this.#count > this.#maxCount || this.#bytes > this.#maxBytes * (1 + BEYOND)
      || bytes > this.#maxBytes / holders
  }

  /** The holder of most of what is short: of bytes, if those are. */
  get largest(): T | undefined { return this.#largest?.holder }

  /** The largest without the largest. */
  get next(): T | undefined { return this.#next?.holder }

  /** Another that holds as much as the largest. */
  get asLarge(): T | undefined {
    const largest = this.#largest
    const next = this.#next
    if (largest === undefined || next === undefined) return undefined
    const isEqual = this.isHeavy ? largest.bytes === next.bytes : largest.count === next.count
    return isEqual ? next.holder : undefined
  }

  /** All that hold anything, those with most bytes first, or with most in number. */
  * largestFirst(isByBytes: boolean): Generator<T> {
    if (isByBytes) {
      for (const { holder } of this.#ranked.inOrder()) yield holder
      return
    }
    for (let count = this.#mostCount; count > 0; count--) {
      const first = this.#byCount[count]?.first
      for (let share = first; share !== undefined; share = share.next) yield share.holder
    }
  }

  /** The holder has one more, one less, or as many as before, and so many bytes more or less. */
  change(share: Share<T>, count: 1 | 0 | -1, bytes: number): void {
    share.changedAt = ++this.#changes
    this.#count += count
    this.#bytes += bytes
    share.bytes += bytes
    this.#recount(share, count)
    if (this.#byBytes === undefined) return
    if (share.place === NOT_IN_HEAP) this.#byBytes.add(share)
    else if (share.count > 0) this.#byBytes.moved(share)
    else this.#byBytes.remove(share)
  }

  /** What counts but belongs to no holder. Negative numbers give it back. */
  setAside(count: number, bytes: number): void {
    this.#count += count
    this.#bytes += bytes
  }

  get #largest(): Share<T> | undefined {
    return this.isHeavy ? this.#ranked.first : this.#byCount[this.#mostCount]?.first
  }

  get #next(): Share<T> | undefined {
    if (this.isHeavy) return this.#ranked.second
    const next = this.#largest?.next
    if (next !== undefined) return next
    for (let count = this.#mostCount - 1; count > 0; count--) {
      const first = this.#byCount[count]?.first
      if (first !== undefined) return first
    }
    return undefined
  }

  /** All by bytes, from now on. */
  get #ranked(): Heap<Share<T>> {
    if (this.#byBytes !== undefined) return this.#byBytes
    const ranking = new Heap<Share<T>>(byBytes)
    for (const holders of this.#byCount) {
      for (let share = holders?.first; share !== undefined; share = share.next) ranking.add(share)
    }
    return this.#byBytes = ranking
  }

  #recount(share: Share<T>, change: number): void {
    const before = this.#byCount[share.count]
    before?.remove(share)
    if (before !== undefined && before.first === undefined) {
      this.#byCount[share.count] = undefined
      this.#spare = before
    }
    share.count += change
    if (share.count > 0) this.#holdersOf(share.count).add(share)
    if (share.count > this.#mostCount) this.#mostCount = share.count
    while (this.#mostCount > 0 && this.#byCount[this.#mostCount] === undefined) this.#mostCount--
  }

  #holdersOf(count: number): LinkedList<Share<T>> {
    const holders = this.#byCount[count]
    if (holders !== undefined) return holders
    const made = this.#spare ?? new LinkedList<Share<T>>()
    this.#spare = undefined
    return this.#byCount[count] = made
  }
}
