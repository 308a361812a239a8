/**
 * A few texts under each id, kept for long and mostly never read: in tables of numbers and bytes, from which
 * an object is made when one is read.
 *
 * That saves 3 µs of the 4.6 that a conversation took as an object, and more of an A2A task: the garbage
 * collector copies ten thousand of them, with their strings, as new ones replace the oldest.
 */

export const NO_SLOT = -1

/** How long the ids are, as `randomUuid` makes them. */
export const ID_LENGTH = 36
const LEAST_SLOTS = 64
/** In UTF-8. */
const MAX_CHARACTER_BYTES = 4

/** The slots of one holder, the oldest first. Written by `TextSlots` alone. */
export interface SlotHolder {
  firstSlot: number
  lastSlot: number
}

/** A `Tag` is what many have in common, known without reading their texts. */
export class TextSlots<T extends SlotHolder, Tag = undefined> {
  readonly #maxSlots: number
  readonly #texts: number
  readonly #cellBytes: number
  #count = 0
  #slots = 0
  /** The first free slot; `#next` has the others. */
  #free = NO_SLOT
  // By slot:
  readonly #holders: (T | undefined)[] = []
  readonly #tags: (Tag | undefined)[] = []
  /** Texts that do not fit into a cell, joined. */
  readonly #long: (string | undefined)[] = []
  #cells: Buffer = Buffer.alloc(0)
  #lengths = new Uint32Array()
  #bytes = new Uint32Array()
  #begunAt = new Float64Array()
  #previous = new Int32Array()
  #next = new Int32Array()
  #hashes = new Int32Array()
  /** The slot before it in the chain of its hash. */
  #chain = new Int32Array()
  /** By hash, the last slot of a chain; their number is a power of two. */
  #heads = new Int32Array()

  /**
   * At most `maxSlots` at a time, of so many texts each. An id and short texts of ASCII are in `cellBytes`;
   * others are kept as strings.
   */
  constructor(maxSlots: number, texts: number, cellBytes: number) {
    this.#maxSlots = maxSlots
    this.#texts = texts
    this.#cellBytes = cellBytes
  }

  get count(): number { return this.#count }
  holderOf(slot: number): T { return this.#holders[slot]! }
  bytesOf(slot: number): number { return this.#bytes[slot]! }
  begunAt(slot: number): number { return this.#begunAt[slot]! }
  tagOf(slot: number): Tag { return this.#tags[slot] as Tag }

  idOf(slot: number): string {
    const at = slot * this.#cellBytes
    return this.#cells.toString('latin1', at, at + ID_LENGTH)
  }

  textsOf(slot: number): readonly string[] {
    return Array.from({ length: this.#texts }, (_, which) => this.textOf(slot, which))
  }

  textOf(slot: number, which: number): string {
    const first = slot * this.#texts
    let from = 0
    for (let at = 0; at < which; at++) from += this.#lengths[first + at]!
    const to = from + this.#lengths[first + which]!
    const long = this.#long[slot]
    if (long !== undefined) return long.slice(from, to)
    const at = slot * this.#cellBytes + ID_LENGTH
    return this.#cells.toString('latin1', at + from, at + to)
  }

  /** The slots of a holder, the newest first. */
  * of(holder: T): Generator<number> {
    for (let slot = holder.lastSlot; slot !== NO_SLOT; slot = this.#previous[slot]!) yield slot
  }

  /** Takes a slot, its holder's newest. `id` is of `randomUuid`; `moreBytes` count beside the texts. */
  add(
    holder: T, id: string, texts: readonly string[], moreBytes: number, begunAt: number, tag?: Tag,
  ): number {
    if (this.#free === NO_SLOT) this.#grow()
    this.#count += 1
    const slot = this.#free
    this.#free = this.#next[slot]!
    this.#holders[slot] = holder
    this.#tags[slot] = tag
    this.#begunAt[slot] = begunAt
    this.#bytes[slot] = moreBytes + this.#write(slot, id, texts)
    this.#append(holder, slot)
    const hash = this.#hashes[slot] = hashOf(id)
    this.#link(slot, hash)
    return slot
  }

  /** The slot of an id; `NO_SLOT` where there is none. */
  find(id: string): number {
    if (id.length !== ID_LENGTH || this.#slots === 0) return NO_SLOT
    const hash = hashOf(id)
    let slot = this.#heads[this.#headOf(hash)]!
    while (slot !== NO_SLOT && (this.#hashes[slot] !== hash || this.idOf(slot) !== id)) {
      slot = this.#chain[slot]!
    }
    return slot
  }

  remove(slot: number): void {
    this.#count -= 1
    this.#leave(this.#holders[slot]!, slot)
    this.#unlink(slot)
    this.#holders[slot] = undefined
    this.#tags[slot] = undefined
    this.#long[slot] = undefined
    this.#next[slot] = this.#free
    this.#free = slot
  }

  /** Writes a slot; returns how many bytes the texts have. */
  #write(slot: number, id: string, texts: readonly string[]): number {
    const first = slot * this.#texts
    for (let which = 0; which < texts.length; which++) this.#lengths[first + which] = texts[which]!.length
    let all = id
    for (let which = 0; which < texts.length; which++) all += texts[which]!
    const at = slot * this.#cellBytes
    // As many bytes as characters: so it is ASCII. With less room to spare it might be others, cut.
    const isShort = all.length <= this.#cellBytes - MAX_CHARACTER_BYTES
    if (isShort && this.#cells.write(all, at, this.#cellBytes) === all.length) return all.length - ID_LENGTH
    this.#cells.write(id, at, ID_LENGTH, 'latin1')
    // One flat string: a text that came in pieces is an object for each of them.
    const long = this.#long[slot] = texts.join('')
    return Buffer.byteLength(long)
  }

  #append(holder: T, slot: number): void {
    const last = holder.lastSlot
    this.#previous[slot] = last
    this.#next[slot] = NO_SLOT
    if (last === NO_SLOT) holder.firstSlot = slot
    else this.#next[last] = slot
    holder.lastSlot = slot
  }

  #leave(holder: T, slot: number): void {
    const previous = this.#previous[slot]!
    const next = this.#next[slot]!
    if (previous === NO_SLOT) holder.firstSlot = next
    else this.#next[previous] = next
    if (next === NO_SLOT) holder.lastSlot = previous
    else this.#previous[next] = previous
  }

  #headOf(hash: number): number {
    return hash & this.#heads.length - 1
  }

  #link(slot: number, hash: number): void {
    const head = this.#headOf(hash)
    this.#chain[slot] = this.#heads[head]!
    this.#heads[head] = slot
  }

  #unlink(slot: number): void {
    const head = this.#headOf(this.#hashes[slot]!)
    const before = this.#chain[slot]!
    let one = this.#heads[head]!
    if (one === slot) {
      this.#heads[head] = before
      return
    }
    while (this.#chain[one] !== slot) one = this.#chain[one]!
    this.#chain[one] = before
  }

  /** Twice as many slots, none of which was free. */
  #grow(): void {
    const from = this.#slots
    const slots = Math.min(Math.max(LEAST_SLOTS, from * 2), this.#maxSlots)
    this.#cells = moved(this.#cells, Buffer.allocUnsafeSlow(slots * this.#cellBytes))
    this.#lengths = moved(this.#lengths, new Uint32Array(slots * this.#texts))
    this.#bytes = moved(this.#bytes, new Uint32Array(slots))
    this.#begunAt = moved(this.#begunAt, new Float64Array(slots))
    this.#previous = moved(this.#previous, new Int32Array(slots))
    this.#next = moved(this.#next, new Int32Array(slots))
    this.#hashes = moved(this.#hashes, new Int32Array(slots))
    this.#chain = new Int32Array(slots)
    this.#heads = new Int32Array(2 ** Math.ceil(Math.log2(slots))).fill(NO_SLOT)
    for (let slot = 0; slot < from; slot++) this.#link(slot, this.#hashes[slot]!)
    for (let slot = slots - 1; slot >= from; slot--) {
      this.#next[slot] = this.#free
      this.#free = slot
    }
    this.#slots = slots
  }
}

/** Only ids that were made here are in a chain, so no client can make one long. */
function hashOf(id: string): number {
  let hash = 0
  for (let at = 0; at < 8; at++) hash = Math.imul(hash, 31) + id.charCodeAt(at) | 0
  return hash
}

function moved<Column extends Uint8Array | Uint32Array | Int32Array | Float64Array>(
  from: Column, to: Column,
): Column {
  to.set(from)
  return to
}
