/**
 * The lines on which something waits, by task and configuration, within one bound for all of a server: where
 * there is no room, the owner who has most waiting makes it.
 */
import { FairPool } from '../core/fair-pool.ts'
import { PushLine } from './push-line.ts'
import type { Slot } from '../core/fair-pool.ts'
import type { KeptPushConfig, OwnedTask } from './push-config.ts'
import type { LineMeans } from './push-line.ts'

const MAX_LINES = 10_000
/** Bodies that wait, in all: of what is more, the task as it stands is posted later. */
const MAX_BYTES = 67_108_864

/** All lines of one server. */
export class PushLines {
  readonly #means: LineMeans
  readonly #slots = new Map<string, Slot<PushLine>>()
  readonly #pool: FairPool<PushLine>

  constructor(means: Omit<LineMeans, 'resized'>) {
    this.#means = { ...means, resized: (line) => this.#resized(line) }
    this.#pool = new FairPool({ maxCount: MAX_LINES, maxBytes: Infinity }, (line) => {
      this.#slots.delete(nameOf(line.place, line.config))
      line.drop()
      const fields = { task: line.place.id, config: line.config.id }
      means.log('warning', 'Too much waits for webhooks: what waited for one is dropped', fields)
    })
  }

  get count(): number { return this.#slots.size }

  /** Whether bodies of so many characters may wait besides. */
  hasRoom(length: number): boolean {
    return this.#pool.bytes + length <= MAX_BYTES
  }

  /** The line of a configuration, which is what is posted by from now on. */
  of({ owner, id }: OwnedTask, config: KeptPushConfig): PushLine {
    const name = nameOf({ owner, id }, config)
    const known = this.#slots.get(name)?.value
    if (known !== undefined) {
      if (known.config.stamp !== config.stamp) known.replace(config)
      return known
    }
    const line = new PushLine({ owner, id }, config, this.#means)
    const slot = this.#pool.add(owner, line, line.bytes)
    if (slot !== undefined) this.#slots.set(name, slot)
    return line
  }

  /** Nobody wants what waits for it. */
  drop(place: OwnedTask, config: KeptPushConfig): void {
    const name = nameOf(place, config)
    const slot = this.#slots.get(name)
    if (slot === undefined) return
    this.#pool.remove(slot)
    this.#slots.delete(name)
    slot.value.drop()
  }

  #resized(line: PushLine): void {
    const name = nameOf(line.place, line.config)
    const slot = this.#slots.get(name)
    if (slot?.value !== line) return
    if (!line.isIdle) return this.#pool.resize(slot, line.bytes)
    this.#pool.remove(slot)
    this.#slots.delete(name)
  }
}

function nameOf({ id }: OwnedTask, config: KeptPushConfig): string {
  return `${id}/${config.id}`
}
