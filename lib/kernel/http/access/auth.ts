/**
 * A key or token from the request's headers to a principal.
 *
 * A key on the list is decided there, expired or not. Others go to the `apiKey` function, and a bearer that
 * this does not know to `auth.verify`. A wrong credential is final: there is no other scheme and no anonymous
 * caller after it. RFC 6750, RFC 9110 §11.
 */
import { timer } from '../../util/clock.ts'
import { PlainLease, Quota } from '../../util/quota.ts'
import { isThenable, whenSettled } from '../../util/thenable.ts'
import { isScope } from '../../wire/challenge.ts'
import { formatJson, isStrings } from '../../wire/json.ts'
import { bearerOf, createKeys, principalOf } from './keys.ts'
import type { KernelLimits } from '../../define/limits.ts'
import type { Principal } from '../../define/principal.ts'
import type { KnownHeaders } from '../message/headers.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { NamedKey, TokenInfo } from './keys.ts'

/** What a verifying function gets besides the credential. */
export interface AuthRequest {
  readonly method: string
  /** Below the mount path, without the query. */
  readonly path: string
  /** A header's value by its name in lower case. */
  header(name: string): string | undefined
}

/** A principal, or nothing for a bad credential. */
export type Verified = Principal | undefined | null

/**
 * Finds the owner of a credential; nothing means that it is bad. With `auth`, a bearer that this does not
 * know goes to `auth.verify`; a value of `X-API-Key` never does.
 */
export type Verify = (credential: string, request: AuthRequest) => MaybePromise<Verified>

/** A key, several keys, or a function that knows them. */
export type ApiKey = string | readonly (string | NamedKey)[] | Verify

/**
 * Tokens of an OAuth authorization server (RFC 6750, RFC 9728). `verify` must check signature, issuer, time
 * and, above all, that the token's audience is a resource of this server: one for another must be refused.
 */
export interface Authorization {
  /**
   * What tokens are made for: the address of the server, as in `https://agents.example.com`, or of an
   * endpoint, which stands for all paths of its protocol; then each path of another protocol is a resource of
   * its own.
   */
  readonly resource: string
  /** Addresses of the issuers. */
  readonly authorizationServers: readonly string[]
  /** The scopes that a client should ask for first. */
  readonly scopes?: readonly string[] | undefined
  /** Of the resource, for people (`resource_name`). */
  readonly name?: string | undefined
  /** A URL of documentation for developers (`resource_documentation`). */
  readonly documentation?: string | undefined
  /** The name of the part that serves its issuer, where this server is one itself. */
  readonly part?: string | undefined
  /** Reads a token; nothing means that it is bad. */
  verify(token: string, request: AuthRequest): MaybePromise<TokenInfo | undefined | null>
}

/** A request whose caller is looked for. */
export interface AskingRequest extends AuthRequest {
  readonly head: KnownHeaders
  readonly query: string
  /** Where it comes from. */
  readonly network: string | undefined
}

type Found = MaybePromise<Principal | undefined>

export interface Authenticator {
  /**
   * Finds the principal of a request; undefined means 401. `mayAsk` is called before a function of the
   * operator's and may throw. Throws, or rejects with, `Unavailable` and whatever such a function throws.
   */
  find(request: AskingRequest, mayAsk?: () => void): Found
  /** Why the credentials of a request name no principal. */
  objection(request: AskingRequest): string
  /** Whether a key may be the credential. */
  readonly takesKeys: boolean
  /** Whether functions of the operator's are asked, which may say something else later. */
  readonly asks: boolean
}

export interface AuthOptions {
  readonly apiKey?: ApiKey | undefined
  readonly auth?: Authorization | undefined
  readonly limits: Pick<KernelLimits, 'authTimeoutMs' | 'maxCalls'>
}

/** Makes the check. Throws `TypeError` for bad keys and options. */
export function createAuthenticator({ apiKey, auth, limits }: AuthOptions): Authenticator {
  if (auth !== undefined) requireAuthorization(auth)
  const askKey = typeof apiKey === 'function' ? apiKey : undefined
  const listed = typeof apiKey === 'function' || apiKey === undefined ? undefined
    : createKeys([apiKey].flat())
  const [issuer, ...others] = auth?.authorizationServers ?? []
  const soleIssuer = others.length === 0 ? issuer : undefined
  const pending = new Pending(limits.maxCalls, limits.authTimeoutMs)
  const takesKeys = apiKey !== undefined
  const asks = askKey !== undefined || auth !== undefined

  function ofKey(credential: string, asking: AskingRequest): Found {
    if (askKey === undefined) return ofToken(credential, asking)
    return whenSettled(askKey(credential, shown(asking)), (found) => (
      found === undefined || found === null ? ofToken(credential, asking) : principalOf(found)
    ))
  }

  function ofToken(credential: string, asking: AskingRequest): Found {
    if (auth === undefined || asking.head.authorization === undefined) return undefined
    return whenSettled(auth.verify(credential, shown(asking)), (info) => (
      info === undefined || info === null ? undefined : bearerOf(info, soleIssuer)
    ))
  }

  return {
    takesKeys,
    asks,
    find(asking, mayAsk) {
      const credential = credentialOf(asking)
      if (credential === undefined) return undefined
      const known = listed?.(credential)
      if (known !== undefined) return isOver(known) ? undefined : known
      if (!asks) return undefined
      mayAsk?.()
      const { network = '' } = asking
      pending.check(network)
      const found = ofKey(credential, asking)
      return isThenable(found) ? pending.wait(found, network) : found
    },
    objection(asking) {
      const what = takesKeys ? 'key' : 'token'
      const way = `send it as ${takesKeys ? 'X-API-Key, or as ' : ''}Authorization: Bearer`
      switch (flawOf(asking, bearerIn(asking.head.authorization))) {
        case 'in the address': return `A ${what} must not stand in the address, which is logged: ${way}`
        case 'no bearer': return takesKeys
          ? 'Authorization must be Bearer and one key or token; a key may be sent as X-API-Key instead'
          : 'Authorization must be Bearer and one token'
        case 'two': return 'X-API-Key and Authorization say two different things: send one of them'
        default: return `A valid ${what} is needed: ${way}`
      }
    },
  }
}

/** The operator's function sees no more of a request than this. */
function shown(request: AuthRequest): AuthRequest {
  const { method, path } = request
  return { method, path, header: (name) => request.header(name) }
}

function isOver({ expiresAt }: Principal): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now()
}

function requireAuthorization({ resource, authorizationServers, scopes = [], verify }: Authorization): void {
  const url = URL.canParse(resource) ? new URL(resource) : undefined
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.hash === ''
  // The path of its metadata ends in the resource's path.
  if (!isPlain || !/^(?:\/[\w.~!$&'()*+,;=:@-]*)+$/.test(url.pathname)) {
    throw new TypeError(`auth.resource is ${formatJson(resource)}; write the address that clients dial, `
      + `as in 'https://agents.example.com'`)
  }
  const isListed = isStrings(authorizationServers) && authorizationServers.length > 0
  if (!isListed || !authorizationServers.every((server) => URL.canParse(server))) {
    throw new TypeError(`auth.authorizationServers has no issuer, or what is none; write a list of `
      + `addresses, as in ['https://login.example.com']`)
  }
  if (!isStrings(scopes) || !scopes.every(isScope)) {
    throw new TypeError(`auth.scopes is no list of scopes; write a list of names, as in ['orders:read']`)
  }
  if (typeof verify !== 'function') {
    throw new TypeError('auth.verify is missing; write (token, request) => ({ subject, scopes, expiresAt })')
  }
}

const BEARER = /^bearer +([^\s].*)$/i
const KEY_NAMES: ReadonlySet<string> = new Set(['api_key', 'apikey', 'x-api-key', 'access_token'])

function bearerIn(authorization = ''): string | undefined {
  // The scheme has no case: two lines of one token may differ in it.
  const [first, ...others] = authorization.split(',').map((one) => BEARER.exec(one.trim())?.[1])
  const isOne = others.length === 0 || first !== undefined && others.every((other) => other === first)
  return isOne ? first : BEARER.exec(authorization)?.[1]
}

/** The one credential; undefined where there is none, or where it is brought in a way that is not taken. */
function credentialOf(asking: AskingRequest): string | undefined {
  const { authorization, apiKey } = asking.head
  const bearer = bearerIn(authorization)
  return flawOf(asking, bearer) === undefined ? apiKey ?? bearer : undefined
}

/** What is wrong with the way in which a request says who it is. */
function flawOf(
  { head: { authorization, apiKey }, query }: AskingRequest, bearer: string | undefined,
): 'in the address' | 'no bearer' | 'two' | undefined {
  if (query !== '' && hasKey(query)) return 'in the address'
  if (authorization !== undefined && bearer === undefined) return 'no bearer'
  return apiKey !== undefined && bearer !== undefined && apiKey !== bearer ? 'two' : undefined
}

/** Whether a query string, without its `?`, has a member with a key's name. */
function hasKey(query: string): boolean {
  return query.split('&').some((member) => {
    const name = member.slice(0, Math.max(member.indexOf('='), 0))
    // Each name alone: a broken escape elsewhere must not hide it.
    return KEY_NAMES.has(name.replace(/%([\da-f]{2})/gi, character).toLowerCase())
  })
}

function character(_escape: string, code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16))
}

/** The caller cannot be identified at the moment: 503, or 429 after too many guesses. */
export class Unavailable extends Error {
  readonly retryAfterSeconds: number
  /** A crowd is normal; a function that hangs must be mended by the operator. Undefined: not logged. */
  readonly level: 'debug' | 'warning' | undefined
  readonly status: number

  /** `message`: for the caller. */
  constructor(
    message: string, retryAfterSeconds: number, level: 'debug' | 'warning' | undefined, status = 503,
  ) {
    super(message)
    this.name = 'Unavailable'
    this.retryAfterSeconds = retryAfterSeconds
    this.level = level
    this.status = status
  }
}

/** Pending promises, with a ceiling and a time limit. */
export class Pending {
  readonly #slots: Quota
  readonly #maxMs: number

  constructor(max: number, maxMs: number) {
    this.#slots = new Quota('identifications', max)
    this.#maxMs = maxMs
  }

  /** Throws `Unavailable` where `caller` may wait for no more. */
  check(caller: string): void {
    if (this.#slots.hasRoom({ caller }, 1)) return
    throw new Unavailable('Too many callers are being identified; try again later', 1, 'debug')
  }

  /**
   * Waits for a promise. Rejects with `Unavailable` when that takes too long; its slot is taken until it
   * settles, and for at most the same time again.
   */
  wait<T>(promised: Promise<T>, caller: string): Promise<T> {
    const slot = new PlainLease(caller)
    this.#slots.add(slot, 1)
    let running: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      running = timer(this.#maxMs, () => {
        reject(new Unavailable('Finding out who calls took too long; try again later', 5, 'warning'))
        running = timer(this.#maxMs, () => slot.close())?.unref()
      })
    })
    const end = (): void => {
      clearTimeout(running)
      slot.close()
    }
    promised.then(end, end)
    return Promise.race([promised, late])
  }
}
