/** A stream of which one text or reasoning at most is open: that ends before anything else begins. */
import { formatJson, quote } from '../../kernel/wire/json.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'

export type PartKind = 'text' | 'reasoning'

/** The events of a part in a protocol. */
export interface PartForm {
  begin(kind: PartKind, id: string): string
  /** `delta` is JSON. */
  grow(kind: PartKind, id: string, delta: string): string
  end(kind: PartKind, id: string): string
}

export class OpenPart {
  readonly #form: PartForm
  #kind: PartKind | undefined
  #id = ''

  constructor(form: PartForm) {
    this.#form = form
  }

  /** A piece of a kind, behind the begin of its part where that is not open. */
  say(kind: PartKind, delta: string): string {
    if (delta === '') return ''
    let before = ''
    if (this.#kind !== kind) {
      before = this.close()
      this.#kind = kind
      this.#id = randomUuid()
      before += this.#form.begin(kind, this.#id)
    }
    return before + this.#form.grow(kind, this.#id, quote(delta))
  }

  /** Any other event. */
  event(event: object): string {
    const json = formatJson(event)
    return this.close() + formatEvent(json)
  }

  close(): string {
    const kind = this.#kind
    this.#kind = undefined
    return kind === undefined ? '' : this.#form.end(kind, this.#id)
  }
}
