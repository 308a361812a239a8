/** A stream of server-sent events, as its messages come. No test itself. */

/** One stream. */
export class EventStream {
  /** All messages so far. */
  heard = []
  /** By message, the id of the last event until then. */
  ids = new Map()
  #lastId = undefined
  #waiting = []
  #over
  #abort
  #isOver = false
  #taken = 0

  constructor(body, abort) {
    this.#abort = abort
    this.#over = this.#read(body)
  }

  /** The body of a response. */
  static async of(response, abort = new AbortController()) {
    const type = response.headers.get('content-type') ?? ''
    if (!response.ok || !type.startsWith('text/event-stream')) {
      throw new Error(`No stream: ${response.status} ${await response.text()}`)
    }
    return new EventStream(response.body, abort)
  }

  static async open(url, { headers } = {}) {
    const abort = new AbortController()
    const { signal } = abort
    const response = await fetch(url, { headers: { Accept: 'text/event-stream', ...headers }, signal })
    return EventStream.of(response, abort)
  }

  /**
   * The next message that is so; `event` names its kind. Rejects at the end of the stream, and after 30 s.
   */
  next(isSo, event = 'message') {
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`Nothing came after ${JSON.stringify(this.heard)}`))
      const timer = setTimeout(late, 30_000)
      const settling = (settle) => (value) => {
        clearTimeout(timer)
        settle(value)
      }
      this.#waiting.push({ isSo, event, resolve: settling(resolve), reject: settling(reject) })
      this.#look()
    })
  }

  /** Resolves when the stream has ended. */
  ended() { return this.#over }

  close() {
    this.#abort.abort()
  }

  #look() {
    while (this.#waiting.length > 0 && this.#taken < this.heard.length) {
      const message = this.heard[this.#taken++]
      const [{ isSo, event, resolve }] = this.#waiting
      if ((message.event ?? 'message') !== event || !isSo(message)) continue
      this.#waiting.shift()
      resolve(message.event === undefined ? message : message.data)
    }
    if (!this.#isOver) return
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('The stream has ended'))
  }

  async #read(body) {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for await (const chunk of body) {
        rest += decoder.decode(chunk, { stream: true })
        const blocks = rest.split('\n\n')
        rest = blocks.pop()
        for (const block of blocks) this.#take(block.split('\n'))
      }
    } catch {
      // It was cut, or closed here.
    }
    this.#isOver = true
    this.#look()
  }

  #take(lines) {
    const field = (name) => (
      lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1).trimStart()
    )
    this.#lastId = field('id') ?? this.#lastId
    const [data, event] = [field('data'), field('event')]
    if (data === undefined || data === '') return
    const message = event === undefined || event === 'message' ? JSON.parse(data) : { event, data }
    this.heard.push(message)
    this.ids.set(message, this.#lastId)
    this.#look()
  }
}
