/**
 * A web stream under a stream: what `server.fetch` gives as the body of its response.
 */
import type { Pipe, StreamSink } from './sink.ts'

/** Bytes that a web stream holds before it calls its reader slow. */
const HIGH_WATER = 16 * 1024

/** A readable stream of bytes that is written from here. */
export class WebPipe implements Pipe {
  readonly stream: ReadableStream<Uint8Array>
  /** Bytes that were written. */
  bytes = 0
  /** What writes here; to be set as soon as it is there. */
  sink: StreamSink | undefined
  readonly #encoder = new TextEncoder()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #isOver = false

  /** `onCancel` is called when the reader wants no more. */
  constructor(onCancel: () => void) {
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => { this.#controller = controller },
      pull: () => { this.sink?.drained() },
      cancel: () => {
        this.#isOver = true
        this.sink?.gone()
        onCancel()
      },
    }, { highWaterMark: HIGH_WATER, size: (chunk) => chunk?.byteLength ?? 0 })
  }

  get waiting(): number {
    return this.#isOver ? 0 : HIGH_WATER - (this.#controller?.desiredSize ?? HIGH_WATER)
  }

  get taken(): number { return this.bytes - this.waiting }

  begin(text: string): void {
    this.push(text)
  }

  push(text: string): void {
    if (text === '' || this.#isOver) return
    const chunk = this.#encoder.encode(text)
    this.bytes += chunk.byteLength
    this.#controller?.enqueue(chunk)
  }

  /** Ends the stream. Also for a client that has left: an error would only tell its host what that knows. */
  finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.close()
    this.sink?.gone()
  }

  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.error(new DOMException('The reader did not keep up', 'AbortError'))
  }
}
