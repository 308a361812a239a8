/** Values that can be made again, by name: where a new one has no room, the oldest ones go. */
export class BoundedMap<V> extends Map<string, V> {
  readonly #max: number
  readonly #sizeOf: (value: V, name: string) => number
  #size = 0

  /** `sizeOf` is counted against `max`; left out: each value is 1. */
  constructor(max: number, sizeOf: (value: V, name: string) => number = () => 1) {
    super()
    this.#max = max
    this.#sizeOf = sizeOf
  }

  /** Keeps the value in any case, alone where it is larger than all may be. */
  override set(name: string, value: V): this {
    this.delete(name)
    this.#size += this.#sizeOf(value, name)
    if (this.#size > this.#max) this.#makeRoom()
    return super.set(name, value)
  }

  override delete(name: string): boolean {
    const value = this.get(name)
    if (value !== undefined) this.#size -= this.#sizeOf(value, name)
    return super.delete(name)
  }

  #makeRoom(): void {
    for (const oldest of this.keys()) {
      if (this.#size <= this.#max) break
      this.delete(oldest)
    }
  }

  override clear(): void {
    this.#size = 0
    super.clear()
  }
}
