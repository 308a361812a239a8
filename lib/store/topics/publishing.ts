/**
 * What one process says on topics of a store that lies across a network: one batch of each topic on its way
 * at a time, and what is said meanwhile in the next, so that it arrives in the order in which it was said.
 */
import { Fault } from '../../define/fault.ts'
import type { Keep } from '../../state/store.ts'
import { total } from '../../util/memory.ts'

/** Something to be said. */
export interface Saying { readonly text: string; readonly keep: Keep | undefined }

/** Says some things on a topic, in their order, all or none. */
export type Say = (topic: string, batch: readonly Saying[]) => Promise<void>

interface Waiting extends Saying {
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** So much goes in one batch, or one event. */
const BATCH_EVENTS = 256
const BATCH_BYTES = 1024 * 1024
/** So much waits for its turn, in all. */
const MAX_WAITING_BYTES = total(256 * 1024 * 1024)

/** All that is being said. */
export class Publishing {
  readonly #say: Say
  /** What waits, by topic. There is one for each topic of which a batch is on its way. */
  readonly #waiting = new Map<string, Waiting[]>()
  #waitingBytes = 0

  constructor(say: Say) {
    this.#say = say
  }

  /** Says something of so many bytes. Rejects with `Fault('busy')` where too much waits. */
  publish(topic: string, text: string, keep: Keep | undefined, bytes: number): Promise<void> {
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      return Promise.reject(new Fault('busy', 'Too much waits to be said; try again later'))
    }
    this.#waitingBytes += bytes
    return new Promise((resolve, reject) => {
      const one = { text, keep, bytes, resolve, reject }
      const waiting = this.#waiting.get(topic)
      if (waiting !== undefined) return void waiting.push(one)
      this.#waiting.set(topic, [])
      void this.#send(topic, [one])
    })
  }

  async #send(topic: string, batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#say(topic, batch)
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    for (const { bytes } of batch) this.#waitingBytes -= bytes
    const waiting = this.#waiting.get(topic) ?? []
    if (waiting.length === 0) this.#waiting.delete(topic)
    else void this.#send(topic, cut(waiting))
  }
}

/** Takes the next batch away from what waits. */
function cut(waiting: Waiting[]): readonly Waiting[] {
  let count = 0
  for (let bytes = 0; count < Math.min(waiting.length, BATCH_EVENTS); count++) {
    bytes += waiting[count]!.bytes
    if (count > 0 && bytes > BATCH_BYTES) break
  }
  return waiting.splice(0, count)
}
