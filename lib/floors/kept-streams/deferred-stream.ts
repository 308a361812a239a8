/**
 * The one source that can be written before it is opened: it keeps what is written between the choice of a
 * reply and the opening of its stream.
 */
import type { Dismissal, Sink, Source } from '../../kernel/http/message/exchange.ts'

/** Writing after the end is refused, never an error. */
export class DeferredStream implements Source, Sink {
  #early = ''
  #isEnded = false
  #sink: Sink | undefined
  #isOver = false
  readonly dismissal: (why: Dismissal) => string
  readonly #onOver: (() => void) | undefined

  /** `onOver` is called once at the end of the stream. `dismissal`: as that of a source. */
  constructor(onOver?: () => void, dismissal: (why: Dismissal) => string = () => '') {
    this.#onOver = onOver
    this.dismissal = dismissal
  }

  get closed(): boolean { return this.#isOver || this.#isEnded }

  open(sink: Sink): () => void {
    this.#sink = sink
    if (this.#isEnded) sink.end(this.#early)
    else if (this.#early !== '') sink.write(this.#early)
    this.#early = ''
    return () => {
      this.#isOver = true
      this.#onOver?.()
    }
  }

  write(text: string): boolean {
    if (this.closed) return false
    if (this.#sink !== undefined) return this.#sink.write(text)
    this.#early += text
    return true
  }

  ready(): Promise<void> {
    return this.#sink === undefined || this.closed ? Promise.resolve() : this.#sink.ready()
  }

  end(text = ''): void {
    if (this.closed) return
    this.#isEnded = true
    if (this.#sink === undefined) this.#early += text
    else this.#sink.end(text)
  }
}
