/**
 * Members by their ids. A `Map` among ten thousand that come and go leaves tables behind that keep what has
 * gone alive until the garbage collector has been through all memory, which costs more than the request
 * around it. Here a look at the hashes, which are together in memory, mostly says where a member is, or that
 * there is none; a way from member to member would go through all of it.
 */

/** What can be in an index, in one at a time. */
export interface Indexed {
  readonly id: string
  /** Only the index writes these. */
  hash: number
  number: number
  /** Whose id it is, where each holder has ids of its own. */
  readonly holder?: Indexed | undefined
}

const LEAST_PLACES = 16
/** With more members than that for each place, the way to a free one would be long. */
const MOST_TAKEN = 3 / 4

export class StringIndex<T extends Indexed> {
  /** Secret, so that nobody can choose ids of one place; the factor is odd, so that no bit is lost. */
  #begin = 0
  #factor = 0
  /** By place, 0 where it is free: a member is where its hash says, or after it with none free between. */
  #hashes = new Int32Array(LEAST_PLACES)
  #numbers = new Int32Array(LEAST_PLACES)
  /** By number; one that is free again is taken first, so that what comes is beside what came before it. */
  readonly #members: (T | undefined)[] = []
  readonly #free: number[] = []

  get size(): number { return this.#members.length - this.#free.length }

  /** The one of an id, where given that of its holder. */
  get(id: string, holder?: Indexed): T | undefined {
    const hash = this.#hashOf(id, holder)
    const hashes = this.#hashes
    const mask = hashes.length - 1
    for (let place = hash & mask; hashes[place] !== 0; place = place + 1 & mask) {
      if (hashes[place] !== hash) continue
      const member = this.#members[this.#numbers[place]!]!
      if (member.id === id && (holder === undefined || member.holder === holder)) return member
    }
    return undefined
  }

  /** Adds one under an id that is free, where given of its holder. */
  add(member: T, holder?: Indexed): void {
    member.hash = this.#hashOf(member.id, holder)
    if (this.size >= this.#hashes.length * MOST_TAKEN) this.#grow()
    member.number = this.#free.pop() ?? this.#members.length
    this.#members[member.number] = member
    this.#put(member)
  }

  remove(member: T): void {
    const { hash, number } = member
    if (this.#members[number] !== member) return
    this.#members[number] = undefined
    this.#free.push(number)
    const [hashes, numbers] = [this.#hashes, this.#numbers]
    const mask = hashes.length - 1
    let place = hash & mask
    while (hashes[place] !== hash || numbers[place] !== number) place = place + 1 & mask
    // What is after it moves up, unless it would be before the place that its hash says.
    for (let next = place + 1 & mask; hashes[next] !== 0; next = next + 1 & mask) {
      if ((next - hashes[next]! & mask) < (next - place & mask)) continue
      hashes[place] = hashes[next]!
      numbers[place] = numbers[next]!
      place = next
    }
    hashes[place] = 0
  }

  /** All that are there now. */
  [Symbol.iterator](): Iterator<T> {
    return this.#members.filter((member) => member !== undefined).values()
  }

  #put(member: T): void {
    const { hash, number } = member
    const hashes = this.#hashes
    const mask = hashes.length - 1
    let place = hash & mask
    while (hashes[place] !== 0) place = place + 1 & mask
    hashes[place] = hash
    this.#numbers[place] = number
  }

  #grow(): void {
    const all = [...this]
    const places = this.#hashes.length * 2
    this.#hashes = new Int32Array(places)
    this.#numbers = new Int32Array(places)
    for (const member of all) this.#put(member)
  }

  #hashOf(id: string, holder: Indexed | undefined): number {
    if (this.#factor === 0) this.#choose()
    const factor = this.#factor
    let hash = holder === undefined ? this.#begin : this.#begin ^ holder.hash
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
