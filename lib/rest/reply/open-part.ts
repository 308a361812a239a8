/** The text or the reasoning that a stream has open: it ends before anything else begins. */
import { randomUuid } from '../../wire/random.ts'

export type PartKind = 'text' | 'reasoning'

/** What writes the begin and the end of a part. */
export interface PartWriter {
  beginPart(kind: PartKind, id: string): void
  endPart(kind: PartKind, id: string): void
}

export class OpenPart {
  readonly #writer: PartWriter
  #kind: PartKind | undefined
  #id = ''

  constructor(writer: PartWriter) {
    this.#writer = writer
  }

  /** The id of the open part of a kind, which is begun where it is not open. */
  idOf(kind: PartKind): string {
    if (this.#kind === kind) return this.#id
    this.close()
    this.#kind = kind
    this.#id = randomUuid()
    this.#writer.beginPart(kind, this.#id)
    return this.#id
  }

  close(): void {
    const kind = this.#kind
    if (kind === undefined) return
    this.#kind = undefined
    this.#writer.endPart(kind, this.#id)
  }
}
