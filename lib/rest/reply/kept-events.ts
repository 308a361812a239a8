/** Events on their way to a client that are kept for an `Idempotency-Key`, up to their end. */
import { andThen } from '../../util/thenable.ts'
import type { LiveCall } from '../../define/live-call.ts'
import type { Sink } from '../../http/message/exchange.ts'
import type { KeyHold } from '../../state/idempotency.ts'

export class KeptEvents implements Sink {
  readonly #sink: Sink
  readonly #hold: KeyHold
  readonly #call: LiveCall
  /** Undefined: they are more than can be kept. */
  #events: string | undefined = ''
  #isEnded = false

  /** Until its end the events count as what `call` holds. */
  constructor(sink: Sink, hold: KeyHold, call: LiveCall) {
    this.#sink = sink
    this.#hold = hold
    this.#call = call
  }

  get closed(): boolean { return this.#isEnded || this.#sink.closed }

  write(text: string): boolean {
    if (this.#isEnded) return false
    this.#add(text)
    return this.#sink.write(text)
  }

  ready(): Promise<void> { return this.#sink.ready() }

  /** A client that asks again after the end gets it, so the key is settled first. */
  end(text = ''): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#add(text)
    const settled = this.#events === undefined ? this.#hold.lose() : this.#hold.keep(this.#events)
    this.#events = undefined
    void andThen(settled, () => this.#sink.end(text))
  }

  #add(text: string): void {
    if (this.#events === undefined) return
    try {
      this.#call.hold(text.length)
      this.#events += text
      if (this.#events.length > this.#call.limits.maxResultBytes) this.#events = undefined
    } catch {
      // There is no room for it. The client that is here gets it all the same.
      this.#events = undefined
    }
  }
}
