/**
 * Members by small numbers, their slots, and by their ids. What is known of a member is in columns of numbers
 * by its slot, so that one that comes and soon leaves is one object to which nothing old is linked: links and
 * members of its own would cost the garbage collector more than the request around it. So would a `Map` among
 * ten thousand that come and go: it leaves tables behind that keep what has gone alive.
 *
 * A look at the hashes, which are together in memory, mostly says where a member is, or that there is none.
 */

/** What can have a slot, in one place at a time. */
export interface Slotted {
  /** What it is found by. */
  readonly id: string
  /** 0: nowhere. Only that in which it is writes it. */
  slot: number
}

const LEAST_LENGTH = 16
/** With more members than that for each place, the way to a free one would be long. */
const MOST_TAKEN = 3 / 4

/** A column with a place `at`; where it had none, with half as many more. */
export function grown<Column extends Int32Array | Float64Array>(column: Column, at: number): Column {
  if (at < column.length) return column
  const Longer = column.constructor as new (length: number) => Column
  const longer = new Longer(Math.max(LEAST_LENGTH, at + 1, column.length * 3 >> 1))
  longer.set(column)
  return longer
}

export class Slots<T extends Slotted> {
  /** Secret, so that nobody can choose ids of one place; the factor is odd, so that no bit is lost. */
  #begin = 0
  #factor = 0
  /** By place, 0 where it is free: a slot is where its hash says, or after it with none free between. */
  #hashes = new Int32Array(LEAST_LENGTH)
  #places = new Int32Array(LEAST_LENGTH)
  /** By slot: its hash, 0 where it is not looked up, and its holder. */
  #known = new Int32Array(LEAST_LENGTH)
  readonly #members: (T | undefined)[] = [undefined]
  /** What is free again is taken first, so that what comes is beside what came before it. */
  readonly #free: number[] = []
  readonly #isByHolder: boolean
  #size = 0

  /** `isByHolder`: whether each holder has ids of its own. */
  constructor(isByHolder = false) {
    this.#isByHolder = isByHolder
  }

  get size(): number { return this.#size }

  at(slot: number): T | undefined { return this.#members[slot] }

  holderOf(slot: number): number { return this.#known[slot * 2 + 1]! }

  /** The one of an id, where each holder has its own that of a holder. */
  get(id: string, holder: number = 0): T | undefined {
    const hash = this.#hashOf(id, holder)
    const hashes = this.#hashes
    const mask = hashes.length - 1
    for (let place = hash & mask; hashes[place] !== 0; place = place + 1 & mask) {
      if (hashes[place] !== hash) continue
      const slot = this.#places[place]!
      const member = this.#members[slot]!
      if (member.id === id && (!this.#isByHolder || this.holderOf(slot) === holder)) return member
    }
    return undefined
  }

  /** Adds one under an id that is free, or one that is not looked up. Returns its slot. */
  add(member: T, holder: number = 0, isFound = true): number {
    const slot = member.slot = this.take()
    this.#members[slot] = member
    this.#size += 1
    const known = this.#known = grown(this.#known, slot * 2 + 1)
    known[slot * 2 + 1] = holder
    known[slot * 2] = isFound ? this.#hashOf(member.id, holder) : 0
    if (isFound) this.#put(known[slot * 2]!, slot)
    return slot
  }

  remove(member: T): void {
    const { slot } = member
    member.slot = 0
    this.#members[slot] = undefined
    this.#size -= 1
    this.free(slot)
    const hash = this.#known[slot * 2]!
    if (hash === 0) return
    const [hashes, places] = [this.#hashes, this.#places]
    const mask = hashes.length - 1
    let place = hash & mask
    while (hashes[place] !== hash || places[place] !== slot) place = place + 1 & mask
    // What is after it moves up, unless it would be before the place that its hash says.
    for (let next = place + 1 & mask; hashes[next] !== 0; next = next + 1 & mask) {
      if ((next - hashes[next]! & mask) < (next - place & mask)) continue
      hashes[place] = hashes[next]!
      places[place] = places[next]!
      place = next
    }
    hashes[place] = 0
  }

  /** Takes a slot for what is no member, until it is free again. */
  take(): number {
    return this.#free.pop() ?? this.#members.push(undefined) - 1
  }

  free(slot: number): void {
    this.#free.push(slot)
  }

  /** All that are there now. */
  [Symbol.iterator](): Iterator<T> {
    return this.#members.filter((member) => member !== undefined).values()
  }

  #put(hash: number, slot: number): void {
    if (this.#size >= this.#hashes.length * MOST_TAKEN) this.#grow()
    const hashes = this.#hashes
    const mask = hashes.length - 1
    let place = hash & mask
    while (hashes[place] !== 0) place = place + 1 & mask
    hashes[place] = hash
    this.#places[place] = slot
  }

  #grow(): void {
    const [hashes, places] = [this.#hashes, this.#places]
    this.#hashes = new Int32Array(hashes.length * 2)
    this.#places = new Int32Array(hashes.length * 2)
    for (const [place, hash] of hashes.entries()) if (hash !== 0) this.#put(hash, places[place]!)
  }

  #hashOf(id: string, holder: number): number {
    if (this.#factor === 0) this.#choose()
    const factor = this.#factor
    let hash = this.#isByHolder ? this.#begin ^ holder : this.#begin
    for (let at = 0; at < id.length; at++) {
      hash = Math.imul(hash ^ id.charCodeAt(at), factor)
      hash ^= hash >>> 15
    }
    return hash === 0 ? 1 : hash
  }

  /** When it is first used: some runtimes have nothing random before a request. */
  #choose(): void {
    const [begin = 0, factor = 0] = crypto.getRandomValues(new Int32Array(2))
    this.#begin = begin
    this.#factor = factor | 1
  }
}
