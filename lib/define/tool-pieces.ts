/**
 * A tool that is a generator: its pieces are told as progress while it runs, and the result is made of what
 * it returned or, where it returned nothing, of its pieces.
 */
import { contentOf, isContent, isPlainText, text, textOf } from './content.ts'
import { Fault } from './fault.ts'
import { isAsyncIterable, isIterable, readPieces } from './pieces.ts'
import type { Content } from './content.ts'
import type { LiveCall } from './live-call.ts'

/**
 * What a tool said, where that comes piece by piece: its result as if it had returned it whole. Undefined
 * for any other output. Of what is not asynchronous only generators and their like count: a list or a set
 * is a value. Rejects with `Fault('too-large')` where texts and blocks exceed `maxBytes`.
 */
export function outputOfPieces(
  output: unknown, call: LiveCall, maxBytes: number,
): Promise<unknown> | undefined {
  const pieces = isAsyncIterable(output) ? output[Symbol.asyncIterator]()
    : isIterable(output) && 'next' in output ? output[Symbol.iterator]() : undefined
  if (pieces === undefined) return undefined
  const gathering = new ToolPieces(call, maxBytes)
  return readPieces(pieces, call, gathering).then(() => gathering.output)
}

class ToolPieces {
  readonly #call: LiveCall
  readonly #maxBytes: number
  #count = 0
  #size = 0
  #said = ''
  readonly #content: Content[] = []
  /** What was returned, or else the last piece that is neither text nor a block. */
  #value: unknown

  constructor(call: LiveCall, maxBytes: number) {
    this.#call = call
    this.#maxBytes = maxBytes
  }

  take(piece: unknown, isEnd: boolean): void {
    if (isEnd && piece !== undefined) this.#value = piece
    if (isEnd || piece === undefined || piece === '') return
    const block = typeof piece === 'string' ? text(piece) : isContent(piece) ? contentOf(piece) : undefined
    if (block === undefined) this.#value = piece
    else this.#add(block)
    const said = block === undefined ? '' : textOf([block])
    this.#call.progress(++this.#count, undefined, said || undefined)
  }

  /** As a tool without pieces would return it. */
  get output(): unknown {
    if (this.#value !== undefined) return this.#value
    if (this.#content.length === 0) return this.#said === '' ? undefined : this.#said
    this.#flush()
    return this.#content
  }

  #add(block: Content): void {
    const size = block.type === 'text' ? block.text.length : JSON.stringify(block).length
    this.#size += size
    if (this.#size > this.#maxBytes) {
      throw new Fault('too-large', `The result is larger than ${this.#maxBytes} bytes`)
    }
    this.#call.hold(size)
    if (isPlainText(block)) {
      this.#said += block.text
      return
    }
    this.#flush()
    this.#content.push(block)
  }

  /** A text that came in pieces is one text. */
  #flush(): void {
    if (this.#said !== '') this.#content.push(text(this.#said))
    this.#said = ''
  }
}
