/**
 * Members by their ids, each linked to others of its hash. A `Map` among ten thousand that come and go leaves
 * tables behind that keep what has gone alive until the garbage collector has been through all memory, which
 * costs more than the request around it.
 */

/** What can be in an index, in one at a time. Only the index writes these. */
export interface Indexed<T> {
  readonly id: string
  hash: number
  /** The one after it that has the same place. */
  chained: T | undefined
}

const LEAST_PLACES = 16

export class StringIndex<T extends Indexed<T>> {
  /** Secret, so that nobody can choose ids of one place; the factor is odd, so that no bit is lost. */
  #begin = 0
  #factor = 0
  #places: (T | undefined)[] = new Array<T | undefined>(LEAST_PLACES).fill(undefined)
  #size = 0

  get size(): number { return this.#size }

  /** The one of an id, of which `isWanted` is true. */
  get(id: string, isWanted?: (member: T) => boolean): T | undefined {
    const hash = this.#hashOf(id)
    let member = this.#places[hash & this.#places.length - 1]
    while (member !== undefined) {
      if (member.hash === hash && member.id === id && isWanted?.(member) !== false) break
      member = member.chained
    }
    return member
  }

  add(member: T): void {
    member.hash = this.#hashOf(member.id)
    if (this.#size === this.#places.length) this.#grow()
    this.#size += 1
    this.#link(member)
  }

  remove(member: T): void {
    const place = member.hash & this.#places.length - 1
    let one = this.#places[place]
    if (one === member) {
      this.#places[place] = member.chained
    } else {
      while (one !== undefined && one.chained !== member) one = one.chained
      if (one === undefined) return
      one.chained = member.chained
    }
    // What has left must not keep others in memory.
    member.chained = undefined
    this.#size -= 1
  }

  * [Symbol.iterator](): Generator<T> {
    for (const first of this.#places) {
      for (let member = first; member !== undefined;) {
        const { chained } = member
        yield member
        member = chained
      }
    }
  }

  #link(member: T): void {
    const place = member.hash & this.#places.length - 1
    member.chained = this.#places[place]
    this.#places[place] = member
  }

  #grow(): void {
    const all = [...this]
    this.#places = new Array<T | undefined>(this.#places.length * 2).fill(undefined)
    for (const member of all) this.#link(member)
  }

  #hashOf(id: string): number {
    if (this.#factor === 0) this.#choose()
    const factor = this.#factor
    let hash = this.#begin
    for (let at = 0; at < id.length; at++) {
      hash = Math.imul(hash ^ id.charCodeAt(at), factor)
      hash ^= hash >>> 15
    }
    return hash
  }

  /** When it is first used: some runtimes have nothing random before a request. */
  #choose(): void {
    const [begin = 0, factor = 0] = crypto.getRandomValues(new Int32Array(2))
    this.#begin = begin
    this.#factor = factor | 1
  }
}
