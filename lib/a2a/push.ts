/**
 * Posts to webhooks, the one place of the house that calls out: a configuration and a body go in, the status
 * of the answer comes out. The address is checked each time, its name looked up once, and what was found is
 * connected to. Knows what the operator allows, and nothing of tasks and order.
 *
 * Follows no redirect, and reads of an answer no more than what keeps its connection usable.
 * RFC 9110 §10.2.3 (Retry-After).
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Fault } from '../core/fault.ts'
import { checkPushUrl, resolvePushHost } from './push-address.ts'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { PushConfig } from './model.ts'
import type { HostAddress, Lookup, PushSettings } from './push-address.ts'

/** What came of one post. */
export interface PushAnswer {
  readonly status: number
  /** How long the receiver asks to wait. */
  readonly retryAfterMs: number | undefined
}

/** One post. */
interface PushPost {
  readonly url: URL
  /** What its host stands for; at least one. */
  readonly addresses: readonly HostAddress[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Until the head of the answer has come. */
  readonly timeoutMs: number
}

/** Bytes of an answer's body that are read; nobody needs them. */
const MAX_ANSWER_BYTES = 4_096
const MAX_HEAD_BYTES = 8_192
const CLOSING = 'The server is closing down'
/** Connections to one host, and how long one is kept for the next event. */
const connections = { keepAlive: true, maxSockets: 8, maxFreeSockets: 2, timeout: 30_000 }

/** All that is posted by one server. */
export class PushCourier {
  readonly #settings: PushSettings
  readonly #lookup: Lookup
  readonly #client = new PushClient()

  constructor(settings: PushSettings, lookup: Lookup) {
    this.#settings = settings
    this.#lookup = lookup
  }

  /** Rejects with `Fault('invalid')` for an address that may not be posted to, as far as is known now. */
  async check(text: string): Promise<void> {
    const url = checkPushUrl(text, this.#settings)
    try {
      await within(this.#settings.timeoutMs, resolvePushHost(url, this.#settings, this.#lookup))
    } catch (error) {
      // A name that is not found now may be found when there is something to post.
      if (error instanceof Fault) throw error
    }
  }

  /** One try. Rejects with `Fault('invalid')` where nothing may be posted to, else with why it failed. */
  async post(
    { url: text, token, authentication }: PushConfig, type: string, body: string,
  ): Promise<PushAnswer> {
    const { timeoutMs } = this.#settings
    const url = checkPushUrl(text, this.#settings)
    const begunAt = performance.now()
    const addresses = await within(timeoutMs, resolvePushHost(url, this.#settings, this.#lookup))
    const leftMs = Math.max(1, Math.ceil(timeoutMs - (performance.now() - begunAt)))
    const headers: Record<string, string> = { 'content-type': type, 'user-agent': 'triport' }
    const { schemes: [scheme] = [], credentials } = authentication ?? {}
    if (scheme !== undefined && credentials !== undefined) {
      headers['authorization'] = `${scheme} ${credentials}`
    }
    if (token !== undefined) headers['x-a2a-notification-token'] = token
    return this.#client.post({ url, addresses, headers, body, timeoutMs: leftMs })
  }

  /** Breaks off what is on its way, and closes all connections. */
  close(): void {
    this.#client.close()
  }
}

/** The connections to all webhooks of one server. */
class PushClient {
  readonly #http: HttpAgent = new HttpAgent(connections)
  #https: HttpsAgent | undefined
  readonly #open = new Set<ClientRequest>()
  #isClosed = false

  /** Resolves with whatever was answered; rejects where nothing was. */
  async post(post: PushPost): Promise<PushAnswer> {
    try {
      return await this.#once(post)
    } catch (error) {
      // A kept connection that the receiver had given up meanwhile says nothing of the receiver.
      if (!(error instanceof StaleConnection)) throw error
      return this.#once(post)
    }
  }

  /** Breaks off what is on its way, and closes what is open. */
  close(): void {
    this.#isClosed = true
    for (const request of this.#open) request.destroy(new Error(CLOSING))
    this.#http.destroy()
    this.#https?.destroy()
  }

  #once({ url, addresses, headers, body, timeoutMs }: PushPost): Promise<PushAnswer> {
    const isSecure = url.protocol === 'https:'
    const options: RequestOptions = {
      method: 'POST',
      agent: isSecure ? this.#https ??= new (https().Agent)(connections) : this.#http,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      lookup: pinned(addresses),
      maxHeaderSize: MAX_HEAD_BYTES,
    }
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new Error(CLOSING))
      const request = (isSecure ? https().request : httpRequest)(url, options)
      const late = (): void => { request.destroy(new Error(`No answer within ${timeoutMs} ms`)) }
      const timer = setTimeout(late, timeoutMs)
      timer.unref()
      this.#open.add(request)
      request.on('close', () => {
        clearTimeout(timer)
        this.#open.delete(request)
      })
      request.on('error', (error) => {
        const isStale = request.reusedSocket && 'code' in error && error.code === 'ECONNRESET'
        reject(isStale ? new StaleConnection(error.message) : error)
      })
      request.on('response', (response) => {
        passOver(response)
        resolve({
          status: response.statusCode ?? 0,
          retryAfterMs: retryAfterMsOf(response.headers['retry-after']),
        })
      })
      request.end(body)
    })
  }
}

class StaleConnection extends Error {}

/** Loaded here: TLS is a tenth of a start, and most servers post nothing. */
function https(): typeof import('node:https') {
  return process.getBuiltinModule('node:https')
}

/** The look-up of a name that was looked up already. */
function pinned(addresses: readonly HostAddress[]): LookupFunction {
  return (_name, { all }, callback) => {
    if (all === true) return callback(null, addresses.map((one) => ({ ...one })))
    const [{ address, family } = { address: '', family: 0 }] = addresses
    callback(null, address, family)
  }
}

/** Reads a short answer, so that its connection can be used again, and leaves a long one. */
function passOver(response: IncomingMessage): void {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) response.destroy()
  })
  // It has been answered; how its body ends is nobody's business.
  response.on('error', () => {})
}

/** Seconds or a date. Undefined for anything else, and for what is past. */
function retryAfterMsOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return ms > 0 ? ms : undefined
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The name was not found within ${ms} ms`)), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
