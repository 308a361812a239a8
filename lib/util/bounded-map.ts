/** Values that can be made again, by name: where a new one has no room, the oldest ones go. */
export class BoundedMap<V> extends Map<string, V> {
  readonly #max: number
  readonly #sizeOf: (value: V) => number
  #size = 0

  /** `sizeOf` is counted against `max`; left out: each value is 1. */
  constructor(max: number, sizeOf: (value: V) => number = () => 1) {
    super()
    this.#max = max
    this.#sizeOf = sizeOf
  }

  /** Keeps the value in any case, alone where it is larger than all may be. */
  override set(name: string, value: V): this {
    this.delete(name)
    this.#size += this.#sizeOf(value)
    for (const oldest of this.keys()) {
      if (this.#size <= this.#max) break
      this.delete(oldest)
    }
    return super.set(name, value)
  }

  override delete(name: string): boolean {
    const value = this.get(name)
    if (value !== undefined) this.#size -= this.#sizeOf(value)
    return super.delete(name)
  }

  override clear(): void {
    this.#size = 0
    super.clear()
  }
}
