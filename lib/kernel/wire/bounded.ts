/** Text and lists of errors, within bounds: an error must not multiply what a client sent. */

/** Whether a text has at most so many bytes. A character takes one to three, so few texts are measured. */
export function isWithin(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || (text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes)
}

/** What a client names: an id, a cursor, an address. RFC 9110 §4.1 asks for 8,000 bytes of an address. */
export const MAX_NAME_BYTES = 8_192

/** Whether something may be a name. What is longer is not looked for, decoded or kept. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && isWithin(value, MAX_NAME_BYTES)
}

const MAX_SENTENCE_BYTES = 1_000

const MAX_FAULTS = 20

/** A sentence of an error, cut where it is too long. */
export function sentenceWithin(text: string): string {
  if (isWithin(text, MAX_SENTENCE_BYTES)) return text
  // A character that the cut goes through is left out.
  const kept = Buffer.from(text).subarray(0, MAX_SENTENCE_BYTES).toString().replace(/\ufffd+$/, '')
  return `${kept}…`
}

/** What is wrong with one input: the first 20 faults are kept. */
export class FaultList<T> {
  readonly items: T[] = []
  #isCut = false

  get isFull(): boolean { return this.items.length >= MAX_FAULTS }

  get isCut(): boolean { return this.#isCut }

  add(item: T): void {
    if (this.isFull) this.#isCut = true
    else this.items.push(item)
  }

  stop(): void {
    this.#isCut = true
  }
}
