/**
 * Posts to webhooks: a configuration and a body go in, the status of the answer comes out. The address is
 * checked each time, its name looked up once, and the address found is the one connected to. Follows no
 * redirect, and reads of an answer no more than what keeps its connection usable.
 * RFC 9110 §10.2.3 (Retry-After).
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Fault } from '../../../kernel/define/fault.ts'
import { HostLookups, unanswered } from '../../../floors/outbound/host-lookups.ts'
import { pinnedTo } from '../../../floors/outbound/host.ts'
import { checkPushUrl, resolvePushHost } from '../model/push-address.ts'
import type { IncomingMessage, RequestOptions } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import type { Inquirer, Lookup } from '../../../floors/outbound/host-lookups.ts'
import type { HostAddress } from '../../../floors/outbound/host.ts'
import type { PushConfig } from '../model/model.ts'
import type { PushSettings } from '../model/push-settings.ts'

export interface PushAnswer {
  readonly status: number
  /** How long the receiver asks to wait. */
  readonly retryAfterMs: number | undefined
}

/** Bytes of an answer's body that are read. */
const MAX_ANSWER_BYTES = 4_096
const MAX_HEAD_BYTES = 8_192
const CLOSING = 'The server is closing down'
/** How long the rest of an answer may take after its head, so that its connection can be used again. */
const MAX_REST_MS = 1_000
/**
 * How many connections to one host are kept for the next event, and how long. Each post has one of its own:
 * one that waited for another's would not end when it is aborted.
 */
const connections = { keepAlive: true, maxFreeSockets: 2, timeout: 30_000 }
/** To all hosts together. */
const MAX_KEPT = 64

export class PushCourier {
  readonly #settings: PushSettings
  readonly #lookups: HostLookups
  readonly #http: HttpAgent = keepsFew(new HttpAgent(connections))
  #https: HttpsAgent | undefined
  readonly #open = new Set<AbortController>()
  #isClosed = false

  constructor(settings: PushSettings, lookup: Lookup) {
    this.#settings = settings
    this.#lookups = new HostLookups('look-ups of webhooks', lookup)
  }

  get lookups(): number { return this.#lookups.running }

  /**
   * Rejects with `Fault('invalid')` for an address that may not be posted to, `Fault('busy')` where too many
   * names are looked up, in all or for this owner, and `Fault('timeout')` where no name server answers.
   */
  async check(text: string, owner: string): Promise<void> {
    const url = checkPushUrl(text, this.#settings)
    try {
      await this.#within(undefined, (signal) => this.#resolve(url, { owner, signal }))
    } catch (error) {
      // A name that is not found now may be found when there is something to post.
      if (error instanceof LateError) throw unanswered()
      if (error instanceof Fault || this.#isClosed) throw error
    }
  }

  /**
   * One try, until the inquirer's `signal` aborts; `trace` are headers of its trace. Rejects with
   * `Fault('invalid')` for an address that may not be posted to, else with why it failed.
   */
  post(
    { url: text, token, authentication }: PushConfig, type: string, body: string, inquirer: Inquirer,
    trace: Readonly<Record<string, string>> = {},
  ): Promise<PushAnswer> {
    const headers: Record<string, string | number> = {
      ...trace, 'content-type': type, 'user-agent': 'triport', 'content-length': Buffer.byteLength(body),
    }
    const { schemes: [scheme] = [], credentials } = authentication ?? {}
    if (scheme !== undefined && credentials !== undefined) {
      headers['authorization'] = `${scheme} ${credentials}`
    }
    if (token !== undefined) headers['x-a2a-notification-token'] = token
    return this.#within(inquirer.signal, async (signal) => {
      const url = checkPushUrl(text, this.#settings)
      const lookup = pinnedTo(await this.#resolve(url, { ...inquirer, signal }))
      const options = { method: 'POST', headers, lookup, maxHeaderSize: MAX_HEAD_BYTES }
      try {
        return await this.#once(url, options, body, signal)
      } catch (error) {
        // The receiver had closed the kept connection meanwhile.
        if (!(error instanceof StaleConnection)) throw error
        return this.#once(url, options, body, signal)
      }
    })
  }

  close(): void {
    this.#isClosed = true
    for (const ending of this.#open) ending.abort(new Error(CLOSING))
    this.#http.destroy()
    this.#https?.destroy()
  }

  #resolve(url: URL, inquirer: Inquirer): Promise<readonly HostAddress[]> {
    return resolvePushHost(url, this.#settings, (name) => this.#lookups.find(name, inquirer))
  }

  /** Aborts `act` when `signal` does, when its time is over, and when all is closed. */
  async #within<T>(
    signal: AbortSignal | undefined, act: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw new Error(CLOSING)
    signal?.throwIfAborted()
    const { timeoutMs } = this.#settings
    const ending = new AbortController()
    const late = (): void => ending.abort(new LateError(`No answer within ${timeoutMs} ms`))
    const leave = (): void => ending.abort(signal?.reason)
    const timer = setTimeout(late, timeoutMs)
    signal?.addEventListener('abort', leave)
    this.#open.add(ending)
    try {
      return await act(ending.signal)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
      this.#open.delete(ending)
    }
  }

  /** Resolves with any answer; rejects where there was none. */
  #once(url: URL, options: RequestOptions, body: string, signal: AbortSignal): Promise<PushAnswer> {
    const isSecure = url.protocol === 'https:'
    const agent = isSecure ? this.#https ??= keepsFew(new (https().Agent)(connections)) : this.#http
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      let answer: PushAnswer | undefined
      let failure: unknown
      let rest: NodeJS.Timeout | undefined
      const request = (isSecure ? https().request : httpRequest)(url, { ...options, agent })
      const leave = (): void => { request.destroy(signal.reason) }
      signal.addEventListener('abort', leave)
      request.on('error', (error) => {
        const isStale = request.reusedSocket && 'code' in error && error.code === 'ECONNRESET'
        failure = isStale ? new StaleConnection(error.message) : error
      })
      request.on('response', (response) => {
        answer = {
          status: response.statusCode ?? 0,
          retryAfterMs: retryAfterMsOf(response.headers['retry-after']),
        }
        rest = setTimeout(() => request.destroy(), MAX_REST_MS)
        passOver(response)
      })
      request.on('close', () => {
        signal.removeEventListener('abort', leave)
        clearTimeout(rest)
        if (answer === undefined) reject(failure ?? new Error('No answer'))
        else resolve(answer)
      })
      request.end(body)
    })
  }
}

class StaleConnection extends Error {}
class LateError extends Error {}

/** Keeps at most `MAX_KEPT` connections, however many hosts there are. */
function keepsFew<A extends HttpAgent>(agent: A): A {
  const keep = agent.keepSocketAlive.bind(agent)
  agent.keepSocketAlive = (socket) => {
    return Object.values(agent.freeSockets).flat().length < MAX_KEPT && keep(socket)
  }
  return agent
}

/** Loaded here: TLS is a tenth of a start, and most servers post nothing. */
function https(): typeof import('node:https') {
  return process.getBuiltinModule('node:https')
}

/** Reads a short answer, so that its connection can be used again, and leaves a long one. */
function passOver(response: IncomingMessage): void {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) response.destroy()
  })
  response.on('error', () => {})
}

/** Seconds or a date. Undefined for anything else, and for what is past. */
function retryAfterMsOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return ms > 0 ? ms : undefined
}
