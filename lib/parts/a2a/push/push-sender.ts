/**
 * Posts to webhooks: a configuration and a body go in, the status of the answer comes out. The address is
 * checked each time. RFC 9110 §10.2.3 (Retry-After).
 */
import { Agent as HttpAgent } from 'node:http'
import { Fault } from '../../../kernel/define/fault.ts'
import { guardedRequest, withinTime } from '../../../floors/outbound/guarded-request.ts'
import { hostNameOf } from '../../../floors/outbound/host.ts'
import { lookupBy, unanswered } from '../../../floors/outbound/host-lookups.ts'
import { ipKindOf } from '../../../floors/outbound/ip.ts'
import { checkPushUrl, requirePushKind } from '../model/push-address.ts'
import type { Agent as HttpsAgent } from 'node:https'
import type { HostLookups, Inquirer, KindCheck } from '../../../floors/outbound/host-lookups.ts'
import type { PushConfig } from '../model/model.ts'
import type { PushSettings } from '../model/push-settings.ts'

/** Headers of trace context. */
export type TraceHeaders = Readonly<Record<string, string>>

export interface PushAnswer {
  readonly status: number
  /** How long the receiver asks to wait. */
  readonly retryAfterMs: number | undefined
}

/** Bytes of an answer's body that are read for its connection's sake, and how long that may take. */
const REST = { maxBytes: 4_096, restMs: 1_000 }
/**
 * How many connections to one host are kept for the next event, and how long. Each post has one of its own:
 * one that waited for another's would not end when it is aborted.
 */
const connections = { keepAlive: true, maxFreeSockets: 2, timeout: 30_000 }
/** To all hosts together. */
const MAX_KEPT = 64

export class PushSender {
  readonly #settings: PushSettings
  readonly #lookups: HostLookups
  readonly #check: KindCheck
  readonly #http: HttpAgent = keepsFew(new HttpAgent(connections))
  #https: HttpsAgent | undefined
  #isClosed = false

  constructor(settings: PushSettings, lookups: HostLookups) {
    this.#settings = settings
    this.#lookups = lookups
    this.#check = (kind) => requirePushKind(kind, settings)
  }

  get lookups(): number { return this.#lookups.running }

  /**
   * Rejects with `Fault('invalid')` for an address that may not be posted to, `Fault('busy')` where too many
   * names are looked up, in all or for this owner, and `Fault('timeout')` where no name server answers.
   */
  async check(text: string, owner: string): Promise<void> {
    const name = hostNameOf(checkPushUrl(text, this.#settings))
    if (ipKindOf(name) !== undefined) return
    try {
      await withinTime(this.#settings.timeoutMs, (signal) => (
        this.#lookups.find(name, { owner, signal }, this.#check)
      ), unanswered)
    } catch (error) {
      // A name that is not found now may be found when there is something to post.
      if (error instanceof Fault) throw error
    }
  }

  /**
   * One try, until the inquirer's `signal` aborts; `trace` goes with it. Rejects with
   * `Fault('invalid')` for an address that may not be posted to, else with why it failed.
   */
  post(
    { url: text, token, authentication }: PushConfig, type: string, body: string, inquirer: Inquirer,
    trace: TraceHeaders = {},
  ): Promise<PushAnswer> {
    const { timeoutMs } = this.#settings
    const { schemes: [scheme] = [], credentials } = authentication ?? {}
    const headers = {
      ...trace, 'content-type': type, 'user-agent': 'triport', 'content-length': Buffer.byteLength(body),
      ...scheme !== undefined && credentials !== undefined && { authorization: `${scheme} ${credentials}` },
      ...token !== undefined && { 'x-a2a-notification-token': token },
    }
    return withinTime(timeoutMs, async (signal) => {
      const url = checkPushUrl(text, this.#settings)
      const lookup = lookupBy((name) => this.#lookups.find(name, { ...inquirer, signal }, this.#check))
      const agent = this.#agentFor(url)
      const asked = { method: 'POST', headers, body, agent, lookup, ...REST } as const
      const { status, headers: answered } = await guardedRequest(url, asked, signal)
      return { status, retryAfterMs: retryAfterMsOf(answered['retry-after']) }
    }, () => new Error(`No answer within ${timeoutMs} ms`), inquirer.signal)
  }

  close(): void {
    this.#isClosed = true
    this.#http.destroy()
    this.#https?.destroy()
  }

  #agentFor({ protocol }: URL): HttpAgent {
    if (this.#isClosed) throw new Error('The server is closing down')
    // Loaded here: TLS is a tenth of a start, and most servers post nothing.
    return protocol === 'http:' ? this.#http
      : this.#https ??= keepsFew(new (process.getBuiltinModule('node:https').Agent)(connections))
  }
}

/** Keeps at most `MAX_KEPT` connections, however many hosts there are. */
function keepsFew<A extends HttpAgent>(agent: A): A {
  const keep = agent.keepSocketAlive.bind(agent)
  agent.keepSocketAlive = (socket) => {
    return Object.values(agent.freeSockets).flat().length < MAX_KEPT && keep(socket)
  }
  return agent
}

/** Seconds or a date. Undefined for anything else, and for what is past. */
function retryAfterMsOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return ms > 0 ? ms : undefined
}
