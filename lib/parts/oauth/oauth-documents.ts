/**
 * Clients of the OAuth proxy that describe themselves: the id of one is an address of https, at which it says
 * its name and where its users may be sent back to. It is a stranger's choice what is asked for there: no
 * more than a small document on the internet, rarely, and kept for as long as its host says, within bounds.
 * Spec: draft-ietf-oauth-client-id-metadata-document-03; MCP 2026-07-28, Client Registration.
 */
import { Buckets } from '../../kernel/util/buckets.ts'
import { guardedRequest, withinTime } from '../../floors/outbound/guarded-request.ts'
import { hostLookups, lookupBy } from '../../floors/outbound/host-lookups.ts'
import { utf8Of } from '../../kernel/wire/base64.ts'
import { BoundedMap } from '../../kernel/util/bounded-map.ts'
import { FairSlots } from '../../floors/outbound/fair-slots.ts'
import { ownText } from '../../kernel/util/own.ts'
import { hostKindOf, hostNameOf, isListedHost, mayLeadTo } from '../../floors/outbound/host.ts'
import { JSON_TYPE, parseMediaType } from '../../kernel/wire/media.ts'
import { asciiHost, percentDecoded } from '../../kernel/wire/uri.ts'
import { freshMsOf } from './freshness.ts'
import { clientInDocument } from './oauth-metadata.ts'
import { ShownRefusal } from './oauth-pages.ts'
import { OauthRefusal } from './oauth-refusal.ts'
import type { GuardedAnswer } from '../../floors/outbound/guarded-request.ts'
import type { BucketSize } from '../../kernel/util/buckets.ts'
import type { SlotLimits } from '../../floors/outbound/fair-slots.ts'
import type { OauthClient } from './oauth-metadata.ts'
import type { OauthProxyOptions } from './oauth-provider.ts'

/** What a document said when it was read, or why it could not be used. */
interface Known {
  readonly client: OauthClient | OauthRefusal
  /** Monotonic milliseconds: until then it is not read again, and until then it counts where it cannot be. */
  readonly freshUntil: number
  readonly usableUntil: number
}

const MAX_ID = 2_048
const MAX_BYTES = 16_384
/** From the look-up of its name to the last byte. */
const TIMEOUT_MS = 5_000
/** Whatever the headers say, and where they say nothing. */
const MIN_FRESH_MS = 60_000
const USUAL_FRESH_MS = 10 * 60_000
const MAX_FRESH_MS = 24 * 3_600_000
/** One that could not be used is not asked for again before. */
const RETRY_MS = 10_000
/** Documents on their way: in all, and for one caller. */
const READING: SlotLimits = { max: 16, maxPerOwner: 4, maxWaiting: 64, maxWaitingPerOwner: 8 }
/** What is not known here yet: for one caller, and of one host, by its name and by its address. */
const PER_CALLER: BucketSize = { burst: 20, perMinute: 20 }
const PER_HOST: BucketSize = { burst: 30, perMinute: 30 }
/** Of all that is known, and of all who are counted. */
const MAX_KNOWN_BYTES = 4 * 1024 * 1024
const MAX_COUNTED_BYTES = 1024 * 1024
/** Besides its texts, roughly. */
const OWN_BYTES = 2_048
/** RFC 3986: all else is escaped, or is read as something else by one or the other. */
const URI = /^https:\/\/[\w.~:/?[\]@!$&'()*+,;=%-]+$/i
const TOO_MANY = 429

export class OauthDocuments {
  readonly #allowedHosts: readonly string[] | undefined
  readonly #allowPrivate: boolean
  readonly #known = new BoundedMap<Known>(MAX_KNOWN_BYTES, bytesOf)
  readonly #reading = new Map<string, Promise<OauthClient>>()
  /** What waits to be read, by id and caller: others join what is being read, but wait in no other's line. */
  readonly #waiting = new Map<string, Promise<OauthClient>>()
  readonly #slots = new FairSlots('look-ups of clients', READING)
  readonly #callers = new Buckets(PER_CALLER, MAX_COUNTED_BYTES)
  readonly #hosts = new Buckets(PER_HOST, MAX_COUNTED_BYTES)

  constructor(options: OauthProxyOptions['clientIdMetadataDocuments'] = true) {
    const { allowedHosts, allowPrivate = false } = typeof options === 'object' ? options : {}
    this.#allowedHosts = allowedHosts?.map(asciiHost)
    this.#allowPrivate = allowPrivate
  }

  /** Whether an id is an address that may be read from, as far as its text shows. */
  mayRead(id: string): boolean {
    try {
      return this.#addressOf(id) !== undefined
    } catch {
      return false
    }
  }

  /** Undefined for an id that is no address. Rejects with `OauthRefusal` where there is no client. */
  async find(id: string, caller: string): Promise<OauthClient | undefined> {
    const url = this.#addressOf(id)
    if (url === undefined) return undefined
    const known = this.#known.get(id)
    const fresh = this.#fresh(id)
    if (fresh !== undefined) return fresh
    try {
      const key = `${id} ${caller}`
      let reading = this.#reading.get(id) ?? this.#waiting.get(key)
      if (reading === undefined) {
        // Cut from a request, of which nothing is kept.
        reading = this.#begin(ownText(id), url, caller).finally(() => this.#waiting.delete(key))
        this.#waiting.set(key, reading)
      }
      return await reading
    } catch (error) {
      // Whoever uses up the rate of a host does not lock out its clients.
      const isBusy = error instanceof OauthRefusal && error.status === TOO_MANY
      if (known !== undefined && isBusy && performance.now() < known.usableUntil) return clientOf(known)
      throw error
    }
  }

  #fresh(id: string): OauthClient | undefined {
    const known = this.#known.get(id)
    return known !== undefined && performance.now() < known.freshUntil ? clientOf(known) : undefined
  }

  /** Undefined where it begins as no address of https does. Throws `OauthRefusal` for one that cannot be. */
  #addressOf(id: string): URL | undefined {
    if (!/^https:/i.test(id)) return undefined
    const url = id.length <= MAX_ID && URI.test(id) && URL.canParse(id) ? new URL(id) : undefined
    if (url === undefined || !isClientAddress(id, url)) {
      throw unknown('A client_id that is an address must be https, with a path, and without a user, a '
        + `fragment, '.' or '..' as a part of its path, or more than ${MAX_ID} characters.`)
    }
    if (!isListedHost(url, this.#allowedHosts)) {
      throw unknown(`The operator of this server lists the hosts of applications; ${url.host} is none.`)
    }
    if (!mayLeadTo(hostKindOf(hostNameOf(url)) ?? 'reserved', this.#allowPrivate)) throw unreachable(url)
    return url
  }

  async #begin(id: string, url: URL, caller: string): Promise<OauthClient> {
    const leave = await inTime((signal) => this.#slots.enter(caller, signal))
    if (leave === undefined) throw tooMany(1)
    try {
      return await (this.#fresh(id) ?? this.#reading.get(id) ?? this.#read(id, url, caller))
    } finally {
      leave()
    }
  }

  #read(id: string, url: URL, caller: string): Promise<OauthClient> {
    const reading = inTime(async (signal) => {
      try {
        requireRate(this.#callers, caller)
        requireRate(this.#hosts, ownText(hostNameOf(url)))
        const answer = await this.#get(url, caller, signal)
        const client = clientInDocument(id, jsonOf(url, answer))
        this.#keep(id, client, freshMsOf(answer.headers) ?? USUAL_FRESH_MS)
        return client
      } catch (error) {
        const refusal = refusalFor(url, error)
        if (refusal.status !== TOO_MANY) this.#keep(id, refusal, RETRY_MS)
        throw refusal
      }
    }).finally(() => this.#reading.delete(id))
    this.#reading.set(id, reading)
    return reading
  }

  #get(url: URL, owner: string, signal: AbortSignal): Promise<GuardedAnswer> {
    const lookup = lookupBy(async (name) => {
      const found = await hostLookups.find(name, { owner, signal }, (kind) => {
        if (!mayLeadTo(kind, this.#allowPrivate)) throw unreachable(url)
      }).catch(() => { throw unreachable(url) })
      // A host has as many names as it likes.
      requireRate(this.#hosts, found[0]!.address)
      return found
    })
    const headers = { accept: JSON_TYPE, 'accept-encoding': 'identity', 'user-agent': 'triport' }
    // A connection that is kept was not made to what was checked now.
    return guardedRequest(url, { headers, agent: false, lookup, maxBytes: MAX_BYTES }, signal)
  }

  #keep(id: string, client: OauthClient | OauthRefusal, freshMs: number | 'no-store'): void {
    this.#known.delete(id)
    if (freshMs === 'no-store') return
    const isGood = !(client instanceof OauthRefusal)
    const now = performance.now()
    const keepMs = isGood ? Math.min(Math.max(freshMs, MIN_FRESH_MS), MAX_FRESH_MS) : freshMs
    const usableMs = isGood ? MAX_FRESH_MS : freshMs
    this.#known.set(id, { client, freshUntil: now + keepMs, usableUntil: now + usableMs })
  }
}

function inTime<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withinTime(TIMEOUT_MS, act, () => new Error(`Not within ${TIMEOUT_MS} ms`))
}

function clientOf({ client }: Known): OauthClient {
  if (client instanceof OauthRefusal) throw client
  return client
}

function bytesOf({ client }: Known, id: string): number {
  const texts = client instanceof OauthRefusal ? [client.message] : [client.name, ...client.redirectUris]
  return texts.reduce((sum, text) => sum + text.length * 2, OWN_BYTES + id.length * 2)
}

/** The rules for the text of an id: what a parser makes of it must be what is written. */
function isClientAddress(id: string, { pathname }: URL): boolean {
  const [, authority = '', path = ''] = /^https:\/\/([^/?]*)([^?]*)/i.exec(id) ?? []
  const parts = path.split('/').map((part) => percentDecoded(part))
  return authority !== '' && !authority.includes('@') && pathname !== '/'
    && !parts.some((part) => part === undefined || part === '.' || part === '..')
}

/** The text of a document. Throws `OauthRefusal` for what is none. */
function jsonOf(url: URL, { status, headers, body, isWhole }: GuardedAnswer): string {
  if (status >= 300 && status < 400) throw unread(url, 'redirects, which is not followed')
  if (status !== 200) throw unread(url, `was answered with status ${status}`)
  const { type = '' } = parseMediaType(headers['content-type'] ?? '') ?? {}
  if (!/^application\/(?:[^/]+\+)?json$/.test(type)) throw unread(url, `is not of the type ${JSON_TYPE}`)
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw unread(url, 'is compressed')
  if (isWhole === undefined) throw unread(url, `has more than ${MAX_BYTES} bytes`)
  if (!isWhole) throw unread(url, 'could not be read')
  const text = utf8Of(body)
  if (text === undefined) throw unread(url, 'is no UTF-8')
  return text
}

function requireRate(buckets: Buckets, key: string): void {
  const { allowed, resetMs } = buckets.take(key, 1, performance.now())
  if (!allowed) throw tooMany(Math.ceil(resetMs / 1_000))
}

function tooMany(seconds: number): OauthRefusal {
  const sentence = `Too many applications are looked up; try again in ${seconds} s`
  return new OauthRefusal('temporarily_unavailable', sentence, TOO_MANY, ['Retry-After', String(seconds)])
}

function unknown(remedy: string): OauthRefusal {
  return new ShownRefusal('invalid_client', 'This application is not known here', remedy)
}

/** The same for what is not found and what must not be asked: nobody learns which names there are. */
function unreachable({ host }: URL): OauthRefusal {
  return unknown(`Its client_id leads to ${host}, which is not reached on the internet.`)
}

function unread({ host }: URL, why: string): OauthRefusal {
  const title = 'This application cannot be looked up'
  return new ShownRefusal('invalid_client', title, `What its client_id leads to on ${host} ${why}.`)
}

function refusalFor(url: URL, error: unknown): OauthRefusal {
  if (error instanceof OauthRefusal) {
    const { code, message, status } = error
    if (code === 'invalid_client' || status === TOO_MANY) return error
    // A document is no request.
    const named = code === 'invalid_request' ? 'invalid_client_metadata' : code
    const title = 'The description of this application is not right'
    return new ShownRefusal(named, title, `On ${url.host}: ${message}.`)
  }
  return unread(url, 'could not be read')
}
