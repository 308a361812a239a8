/**
 * What parts stand on: each floor is made when it is first asked for, one for each server, and ends with it.
 * A floor is known by the function that makes it.
 */
import type { Service } from '../run/service.ts'
import type { Gauge } from '../util/gauge.ts'
import type { Lifetime } from '../util/lifetime.ts'

/** What a floor may have besides what its users take of it. */
export interface Floor extends Lifetime {
  /** Members of `server.status()`. */
  status?(): object
  gauges?(): readonly Gauge[]
}

type MakeFloor = (service: Service) => object

export class Floors {
  /** In the order in which they were made; undefined: it is being made. */
  readonly #made = new Map<MakeFloor, Floor | undefined>()

  get all(): readonly Floor[] {
    return [...this.#made.values()].filter((floor) => floor !== undefined)
  }

  /** What `make` has made of the server. Throws where it is asked for while it is being made. */
  use<T extends object>(make: (service: Service) => T, service: Service): T {
    const known = this.#made.get(make)
    if (known !== undefined) return known as T
    if (this.#made.has(make)) {
      const open = [...this.#made].filter(([, floor]) => floor === undefined).map(([{ name }]) => name)
      throw new TypeError(`The floors ${open.join(', ')} need each other; one of them has to be made first`)
    }
    this.#made.set(make, undefined)
    try {
      const floor = make(service)
      // Behind those that it has asked for itself.
      this.#made.delete(make)
      this.#made.set(make, floor)
      return floor
    } catch (error) {
      this.#made.delete(make)
      throw error
    }
  }

  handOver(): void {
    for (const floor of this.all) floor.handOver?.()
  }

  /** The last that was made first. */
  async cancel(): Promise<void> {
    for (const floor of this.all.toReversed()) await floor.cancel?.()
  }

  async release(): Promise<void> {
    for (const floor of this.all.toReversed()) await floor.release?.()
  }
}
