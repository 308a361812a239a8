/** The text or the reasoning of a stream that is open: it ends before anything else begins. */
import { randomUuid } from '../../kernel/wire/random.ts'

export type PartKind = 'text' | 'reasoning'

/** Makes the text of a begin or of an end. */
export type PartText = (kind: PartKind, id: string) => string

export class OpenPart {
  /** Of the one that is open. */
  id = ''
  readonly #begin: PartText
  readonly #end: PartText
  #kind: PartKind | undefined

  constructor(begin: PartText, end: PartText) {
    this.#begin = begin
    this.#end = end
  }

  /** What comes before a piece of a kind: nothing where that is open. */
  open(kind: PartKind): string {
    if (this.#kind === kind) return ''
    const ended = this.close()
    this.#kind = kind
    this.id = randomUuid()
    return ended + this.#begin(kind, this.id)
  }

  close(): string {
    const kind = this.#kind
    this.#kind = undefined
    return kind === undefined ? '' : this.#end(kind, this.id)
  }
}
