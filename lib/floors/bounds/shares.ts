/**
 * Who has to make room where something bounded, in number and in bytes, is full: the holder of most of what
 * is short, and of equals the one whose account has not changed for longest. So no one pushes out what
 * belongs to one who holds less.
 */
import { BEYOND } from '../../kernel/util/quota.ts'
import { LinkedList } from '../../kernel/util/linked-list.ts'
import { NOT_IN_HEAP, Heap } from './heap.ts'
import type { LinkedMember } from '../../kernel/util/linked-list.ts'

/** The account of one holder, written by `Shares` alone. */
export class Share<T> implements LinkedMember<Share<T>> {
  readonly holder: T
  count = 0
  bytes = 0
  /** Rises with every change of any share. */
  changedAt = 0
  placeByCount: number = NOT_IN_HEAP
  placeByBytes: number = NOT_IN_HEAP
  previous: Share<T> | undefined = undefined
  next: Share<T> | undefined = undefined

  constructor(holder: T) {
    this.holder = holder
  }
}

type By = 'count' | 'bytes'

/** The accounts of all holders, ranked by what is short from the first time that it is. */
export class Shares<T> {
  readonly #maxCount: number
  readonly #maxBytes: number
  readonly #all = new LinkedList<Share<T>>()
  #byCount: Heap<Share<T>> | undefined
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
  get largest(): T | undefined { return this.#ranked(this.isHeavy).first?.holder }

  /** The largest without the largest. */
  get next(): T | undefined { return this.#ranked(this.isHeavy).second?.holder }

  /** Another that holds as much as the largest. */
  get asLarge(): T | undefined {
    const { first, second } = this.#ranked(this.isHeavy)
    const by: By = this.isHeavy ? 'bytes' : 'count'
    return first?.[by] === second?.[by] ? second?.holder : undefined
  }

  /** All that hold anything, those with most bytes first, or with most in number. */
  * largestFirst(isByBytes: boolean): Generator<T> {
    for (const { holder } of this.#ranked(isByBytes).inOrder()) yield holder
  }

  /** The holder has one more, one less, or as many as before, and so many bytes more or less. */
  change(share: Share<T>, count: 1 | 0 | -1, bytes: number): void {
    const before = share.count
    share.changedAt = ++this.#changes
    share.count += count
    share.bytes += bytes
    this.#count += count
    this.#bytes += bytes
    if (before === 0 && share.count > 0) {
      this.#all.add(share)
      this.#byCount?.add(share)
      this.#byBytes?.add(share)
    } else if (before > 0 && share.count === 0) {
      this.#all.remove(share)
      this.#byCount?.remove(share)
      this.#byBytes?.remove(share)
    } else if (before > 0) {
      this.#byCount?.moved(share)
      this.#byBytes?.moved(share)
    }
  }

  /** What counts but belongs to no holder. Negative numbers give it back. */
  setAside(count: number, bytes: number): void {
    this.#count += count
    this.#bytes += bytes
  }

  #ranked(isByBytes: boolean): Heap<Share<T>> {
    if (isByBytes) return this.#byBytes ??= this.#rank('bytes', 'placeByBytes')
    return this.#byCount ??= this.#rank('count', 'placeByCount')
  }

  #rank(by: By, place: 'placeByBytes' | 'placeByCount'): Heap<Share<T>> {
    const heap = new Heap<Share<T>>({
      isBefore: (one, other) => one[by] === other[by] ? one.changedAt < other.changedAt : one[by] > other[by],
      placeOf: (share) => share[place],
      place(share, at) { share[place] = at },
    })
    for (const share of this.#all) heap.add(share)
    return heap
  }
}
