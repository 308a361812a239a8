/**
 * One kept connection of the load: HTTP/1.1 on a raw socket, one request at a time, so cheap that the server
 * is what is measured. It reads as much of an answer as tells where it ends; whoever wants the whole answer
 * says so before.
 */
import { connect } from 'node:net'

const HEAD_END = '\r\n\r\n'

/** The last chunk of a chunked body. No body of the benchmark holds it otherwise. */
const LAST_CHUNK = '0\r\n\r\n'

/** The bytes of a request. */
export function encode({ method, path, headers, body }, port, more = {}) {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`]
  for (const [name, value] of Object.entries({ ...headers, ...more })) lines.push(`${name}: ${value}`)
  if (body !== undefined) lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
  return Buffer.from(`${lines.join('\r\n')}${HEAD_END}${body ?? ''}`)
}

/** Opens a connection to a port of this machine. */
export function open(port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(new Connection(socket))
    })
  })
}

export class Connection {
  /** The answer: its status, the length of its body as it travels, and its head, up to the next request. */
  status = 0
  length = 0
  head = ''
  #socket
  #onAnswer
  #onError
  #begun
  #expected = 0
  #tail = ''
  #parts
  #isWaiting = false

  constructor(socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      try {
        this.#read(chunk)
      } catch (error) {
        socket.destroy(error)
      }
    })
    socket.on('error', (error) => this.#onError?.(error))
    socket.on('close', () => {
      if (this.#isWaiting) this.#onError?.(new Error('The server hung up on a request'))
    })
  }

  get isChunked() { return this.#expected < 0 }

  /** Sends a request. `onAnswer` gets this connection when the answer is over, `onError` what went wrong. */
  ask(bytes, isWhole, onAnswer, onError) {
    this.#onAnswer = onAnswer
    this.#onError = onError
    this.#isWaiting = true
    this.head = ''
    this.length = 0
    this.#begun = undefined
    this.#tail = ''
    this.#parts = isWhole ? [] : undefined
    this.#socket.write(bytes)
  }

  /** The same as a promise of the whole answer: `{ status, head, body, chunks }`. */
  whole(bytes) {
    return new Promise((resolve, reject) => this.ask(bytes, true, () => resolve(this.answer()), reject))
  }

  /** The whole answer, where it was asked for. `chunks` are the pieces of a chunked body. */
  answer() {
    const raw = Buffer.concat(this.#parts)
    const chunks = this.isChunked ? chunksOf(raw) : [raw.toString()]
    return { status: this.status, head: this.head, body: chunks.join(''), chunks }
  }

  /** Closes the connection; resolves when both sides have. */
  close() {
    return new Promise((resolve) => {
      if (this.#socket.destroyed) return resolve()
      this.#socket.once('close', resolve)
      this.#socket.end()
    })
  }

  #read(chunk) {
    if (!this.#isWaiting) throw new Error(`More came than was asked for: ${chunk.latin1Slice(0, 200)}`)
    let body = chunk
    if (this.head === '') {
      const all = this.#begun === undefined ? chunk : Buffer.concat([this.#begun, chunk])
      const end = all.indexOf(HEAD_END)
      if (end < 0) {
        this.#begun = all
        return
      }
      this.head = all.latin1Slice(0, end)
      this.status = Number(this.head.slice(9, 12))
      this.#expected = expectedLength(this.status, this.head)
      body = all.subarray(end + HEAD_END.length)
    }
    this.length += body.length
    this.#parts?.push(body)
    if (this.isChunked ? !this.#hasLastChunk(body) : this.length < this.#expected) return
    if (!this.isChunked && this.length > this.#expected) throw new Error('A body is too long')
    this.#isWaiting = false
    this.#onAnswer(this)
  }

  #hasLastChunk(body) {
    const end = body.latin1Slice(Math.max(0, body.length - LAST_CHUNK.length - 2), body.length)
    this.#tail = (this.#tail + end).slice(-LAST_CHUNK.length - 2)
    return this.#tail === `\r\n${LAST_CHUNK}` || this.#tail === LAST_CHUNK
  }
}

/** The length of a body, or -1 where it is chunked. */
function expectedLength(status, head) {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (length !== null) return Number(length[1])
  if (status === 204 || status === 304) return 0
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return -1
  throw new Error(`An answer does not say where it ends:\n${head}`)
}

function chunksOf(raw) {
  const chunks = []
  for (let at = 0; ;) {
    const end = raw.indexOf('\r\n', at)
    const size = Number.parseInt(raw.latin1Slice(at, end), 16)
    if (!(size >= 0)) throw new Error('A chunk has no size')
    if (size === 0) return chunks
    chunks.push(raw.toString('utf8', end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}
