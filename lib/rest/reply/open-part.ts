/** The text or the reasoning that a stream has open: it ends before anything else begins. */
import { randomUuid } from '../../wire/random.ts'

export type PartKind = 'text' | 'reasoning'

export class OpenPart {
  readonly #begin: (kind: PartKind, id: string) => void
  readonly #end: (kind: PartKind, id: string) => void
  #open: { readonly kind: PartKind; readonly id: string } | undefined

  constructor(begin: (kind: PartKind, id: string) => void, end: (kind: PartKind, id: string) => void) {
    this.#begin = begin
    this.#end = end
  }

  /** The id of the open part of a kind, which is begun where it is not open. */
  idOf(kind: PartKind): string {
    if (this.#open?.kind === kind) return this.#open.id
    this.close()
    const id = randomUuid()
    this.#open = { kind, id }
    this.#begin(kind, id)
    return id
  }

  close(): void {
    if (this.#open === undefined) return
    const { kind, id } = this.#open
    this.#open = undefined
    this.#end(kind, id)
  }
}
