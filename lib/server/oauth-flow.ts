/**
 * The authorization code flow of the proxy: a client registers, its user consents here and logs in at the
 * provider, and the client gets tokens. What travels through clients is sealed; codes and refresh tokens are
 * entries of the store, each good once.
 * Spec: OAuth 2.1; RFC 7591, RFC 7636, RFC 8414, RFC 8707, RFC 9207; MCP, Security Best Practices.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { bearerOf } from '../http/access/keys.ts'
import { randomUuid } from '../wire/random.ts'
import { askForObject, objectIn } from '../wire/remote-json.ts'
import { isLoopbackName } from '../wire/secure-address.ts'
import { consentPage, escaped, expired, NO_STORE, oauthPage, PAGE_HEADERS } from './oauth-pages.ts'
import type { TokenInfo } from '../http/access/keys.ts'
import type { Endpoint, Exchange, Reply } from '../http/message/exchange.ts'
import type { Service } from '../run/service.ts'
import type { StoreKey } from '../state/store.ts'
import type { Seal } from '../wire/seal.ts'

/** What the provider gave for a user. */
export interface ProviderTokens {
  readonly accessToken: string
  /** Of OpenID Connect. It came from the provider itself, so its signature need not be checked. */
  readonly idToken: string | undefined
  /** Separated by spaces. */
  readonly scope: string | undefined
}

/** What `oauthProxy` takes. */
export interface OauthProxyOptions {
  /** The URL that clients use, as in `https://agents.example.com/mcp`. Its origin is the issuer. */
  readonly resource: string
  /** Where the provider asks its users, and where it gives tokens for a code. */
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  /** As it is registered at the provider, with the redirect address `<origin of resource>/oauth/callback`. */
  readonly clientId: string
  readonly clientSecret?: string | undefined
  /** What is asked of the provider, as in `['openid', 'email']`. Left out: nothing by name. */
  readonly providerScopes?: readonly string[] | undefined
  /** More parameters for the provider, as in `{ access_type: 'offline' }`. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
  /** Who the user is, and what they may do here; nothing refuses them. Asks the provider, as it must. */
  identify(tokens: ProviderTokens): Promise<TokenInfo | undefined | null> | TokenInfo | undefined | null
  /** The scopes that a client should ask for first. */
  readonly scopes?: readonly string[] | undefined
  /** Of the server, for people who are asked. Left out: that of the server. */
  readonly name?: string | undefined
  /** How long a token is good, in seconds. Left out: 3600. */
  readonly tokenSeconds?: number | undefined
  /** How long a client may come back without its user, in seconds. Left out: 2592000, 30 days. */
  readonly refreshSeconds?: number | undefined
}

type Handle = Endpoint['handle']

/** A client as it has registered: what its id holds. */
interface Client { readonly name: string; readonly redirectUris: readonly string[] }

/** What a client asks for, from its authorization request to its code. */
interface Grant {
  /** The digest of its id, which is long, and the grant stands in addresses. */
  readonly client: string
  readonly redirectUri: string
  readonly challenge: string
  readonly state: string | undefined
  readonly scope: string | undefined
}

/** A grant on its way through the browser, which it is bound to. */
interface LoginAttempt extends Grant { readonly browser: string; readonly verifier: string }

/** A user who has logged in, and the client that they let in. */
interface Session {
  readonly grant: Grant
  readonly user: TokenInfo
  /** The provider's, with which the user is looked at again. */
  readonly refreshToken: string | undefined
}

const COLLECTION = 'oauth'
const COOKIE = 'triport_oauth'
const ATTEMPT_MS = 10 * 60_000
const CODE_MS = 60_000
/** Of a code or a refresh token: the digest of the user, and what cannot be guessed. */
const NAME = /^[\w-]{43}\.[\w-]{72}$/
const READ_TIMEOUT_MS = 10_000
const MAX_REDIRECTS = 20
const MAX_NAME = 100
/** Of what a client gets back, which stands in the address of the provider. */
const MAX_PARAMETER = 2_048
const TOKEN_S = 3_600
const REFRESH_S = 30 * 86_400
/** Schemes with which a page would run, and not open. */
const unsafe: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:'])

/** A refusal that the client reads; of `invalid_client` and before it is known the user does. */
class Refused extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export class OauthFlow {
  readonly #options: OauthProxyOptions
  readonly #issuer: string
  readonly #service: Service
  readonly #seal: Seal

  constructor(options: OauthProxyOptions, issuer: string, service: Service, seal: Seal) {
    this.#options = options
    this.#issuer = issuer
    this.#service = service
    this.#seal = seal
  }

  /** Who a token of this server's speaks for. */
  verify(token: string): TokenInfo | undefined {
    return this.#seal.open('oauth access', token, this.#options.resource) as TokenInfo | undefined
  }

  readonly metadata: Handle = () => jsonReply({
    issuer: this.#issuer,
    authorization_endpoint: `${this.#issuer}/oauth/authorize`,
    token_endpoint: `${this.#issuer}/oauth/token`,
    registration_endpoint: `${this.#issuer}/oauth/register`,
    scopes_supported: this.#options.scopes,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  })

  /** A client registers itself: its id holds what it has said, so that nothing is kept for it. */
  readonly register: Handle = ({ body }) => {
    const { redirect_uris: uris, client_name: name, scope } = objectIn(body) ?? {}
    const isFine = Array.isArray(uris) && uris.length > 0 && uris.length <= MAX_REDIRECTS
      && uris.every((uri) => typeof uri === 'string' && isRedirect(uri))
    if (!isFine) {
      return refusal('invalid_redirect_uri', `redirect_uris must be 1 to ${MAX_REDIRECTS} addresses: https, `
        + 'of this machine, or of a scheme of the application\'s own')
    }
    const client: Client = { name: nameIn(name), redirectUris: uris }
    const id = this.#seal.seal('oauth client', client, Infinity)
    return jsonReply({
      client_id: id, client_name: client.name, redirect_uris: uris,
      client_id_issued_at: Math.floor(Date.now() / 1_000), token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
      ...typeof scope === 'string' && { scope },
    }, 201)
  }

  /** Asks the user whether the client may come in: another client must not use the login of this one. */
  readonly authorize: Handle = (exchange) => {
    const asked = new URLSearchParams(exchange.query)
    const clientId = asked.get('client_id') ?? ''
    const client = this.#clientOf(clientId)
    const own = client?.redirectUris ?? []
    const named = asked.get('redirect_uri')
    if (named === null && own.length > 1) {
      const remedy = 'It has registered several addresses, and must name one of them as redirect_uri.'
      return oauthPage('The application does not say where to go back to', remedy, 400)
    }
    const redirectUri = named ?? own[0] ?? ''
    if (client === undefined || !own.some((uri) => isSameRedirect(uri, redirectUri))) {
      // Never sent on to an address that is not registered.
      return oauthPage('This application is not known here', 'It must register first: connect it again.', 400)
    }
    const challenge = asked.get('code_challenge') ?? ''
    const grant: Grant = {
      client: digest(clientId), redirectUri, challenge, state: asked.get('state') ?? undefined,
      scope: asked.get('scope') ?? undefined,
    }
    const objection = this.#objection(asked, challenge)
    if (objection !== undefined) {
      // Anyone may register: nobody is sent to another site before they have agreed (RFC 9700 §4.11.2).
      if (new URL(redirectUri).protocol === 'https:') {
        return oauthPage('The application asks for what is not given here', escaped(objection.message), 400)
      }
      return this.#sendBack(grant, { error: objection.code, error_description: objection.message })
    }
    // Several logins may be under way in one browser.
    const browser = this.#browserOf(exchange) ?? randomUuid()
    const verifier = randomUuid() + randomUuid()
    const attempt: LoginAttempt = { ...grant, browser: digest(browser), verifier }
    const request = this.#seal.seal('oauth consent', attempt, Date.now() + ATTEMPT_MS)
    return {
      ...consentPage(client.name, this.#options.name ?? this.#service.name, grant, request),
      headers: [...PAGE_HEADERS, 'Set-Cookie', this.#cookie(browser)],
    }
  }

  #objection(asked: URLSearchParams, challenge: string): Refused | undefined {
    if (asked.get('response_type') !== 'code') {
      return new Refused('unsupported_response_type', 'response_type must be code')
    }
    if (!/^[\w-]{43}$/.test(challenge) || asked.get('code_challenge_method') !== 'S256') {
      return new Refused('invalid_request', 'A code_challenge of the method S256 is needed')
    }
    const long = ['state', 'scope'].find((name) => (asked.get(name) ?? '').length > MAX_PARAMETER)
    if (long === undefined) return this.#resourceObjection(asked)
    return new Refused('invalid_request', `${long} has more than ${MAX_PARAMETER} characters`)
  }

  /** The user has decided; who agrees logs in at the provider. */
  readonly consent: Handle = (exchange) => {
    const form = new URLSearchParams(exchange.body)
    const attempt = this.#attemptOf('oauth consent', form.get('request'), exchange)
    if (attempt === undefined) return expired()
    if (form.get('decision') !== 'allow') return this.#sendBack(attempt, { error: 'access_denied' })
    const { authorizationEndpoint, clientId, providerScopes = [], parameters = {} } = this.#options
    const url = new URL(authorizationEndpoint)
    const members: Record<string, string> = {
      response_type: 'code', client_id: clientId, redirect_uri: `${this.#issuer}/oauth/callback`,
      state: this.#seal.seal('oauth login', attempt, Date.now() + ATTEMPT_MS),
      code_challenge: digest(attempt.verifier), code_challenge_method: 'S256',
      ...providerScopes.length > 0 && { scope: providerScopes.join(' ') }, ...parameters,
    }
    for (const [name, value] of Object.entries(members)) url.searchParams.set(name, value)
    return redirect(url.href)
  }

  /** The provider sends the user back. */
  readonly callback: Handle = (exchange) => {
    const asked = new URLSearchParams(exchange.query)
    const attempt = this.#attemptOf('oauth login', asked.get('state'), exchange)
    if (attempt === undefined) return expired()
    const code = asked.get('code')
    if (code === null) return this.#sendBack(attempt, { error: 'access_denied' })
    return this.#login(attempt, code).catch((error: unknown) => this.#failed(attempt, error))
  }

  async #login(attempt: LoginAttempt, code: string): Promise<Reply> {
    const { browser: _browser, verifier, ...grant } = attempt
    const [tokens, refreshToken] = await this.#ask({
      grant_type: 'authorization_code', code, redirect_uri: `${this.#issuer}/oauth/callback`,
      code_verifier: verifier,
    })
    const user = await this.#userOf(tokens)
    if (user === undefined) return this.#sendBack(attempt, { error: 'access_denied' })
    return this.#sendBack(attempt, { code: await this.#keep('code', { grant, user, refreshToken }, CODE_MS) })
  }

  /** Undefined for one who is not let in. Rejects for what tokens cannot be made of. */
  async #userOf(tokens: ProviderTokens): Promise<TokenInfo | undefined> {
    const user = await this.#options.identify(tokens)
    return user && bearerOf(user, this.#issuer) ? user : undefined
  }

  readonly token: Handle = ({ body }) => (
    this.#grantToken(new URLSearchParams(body)).catch((error: unknown) => {
      if (error instanceof Refused) return refusal(error.code, error.message)
      this.#service.log('warning', 'The provider of logins failed', { cause: error })
      return refusal('temporarily_unavailable', 'The provider of logins failed; try again later', 503)
    })
  )

  async #grantToken(form: URLSearchParams): Promise<Reply> {
    // Before a code or a token is used up.
    const objection = this.#resourceObjection(form)
    if (objection !== undefined) throw objection
    const type = form.get('grant_type')
    if (type === 'refresh_token') return this.#refresh(form)
    if (type !== 'authorization_code') throw new Refused('unsupported_grant_type', 'grant_type is not known')
    const session = await this.#take('code', form.get('code'))
    const { grant } = session
    const uri = form.get('redirect_uri')
    const isGood = grant.client === digest(form.get('client_id') ?? '')
      && (uri === null || uri === grant.redirectUri)
      && digest(form.get('code_verifier') ?? '') === grant.challenge
    if (!isGood) throw new Refused('invalid_grant', 'The code was given for another request')
    return this.#tokensFor(session)
  }

  /** The user is looked at again: who is no user of the provider's any more is none here. */
  async #refresh(form: URLSearchParams): Promise<Reply> {
    const id = form.get('refresh_token')
    let session = await this.#take('refresh', id)
    if (session.grant.client !== digest(form.get('client_id') ?? '')) {
      throw new Refused('invalid_grant', 'The token was given to another client')
    }
    try {
      const [tokens, next = session.refreshToken] = await this.#ask({
        grant_type: 'refresh_token', refresh_token: session.refreshToken ?? '',
      })
      session = { ...session, refreshToken: next }
      const user = await this.#userOf(tokens)
      if (user === undefined) throw new Refused('invalid_grant', 'The user is not let in any more')
      return await this.#tokensFor({ ...session, user })
    } catch (error) {
      // A provider that is away for a while must not log the user out.
      if (!(error instanceof Refused)) await this.#keep('refresh', session, this.#refreshMs, String(id))
      throw error
    }
  }

  get #refreshMs(): number { return (this.#options.refreshSeconds ?? REFRESH_S) * 1_000 }

  #resourceObjection(asked: URLSearchParams): Refused | undefined {
    const resource = asked.get('resource')
    if (resource === null || sameResource(resource, this.#options.resource)) return undefined
    return new Refused('invalid_target', `The resource here is ${this.#options.resource}`)
  }

  async #tokensFor(session: Session): Promise<Reply> {
    const { tokenSeconds = TOKEN_S, resource } = this.#options
    const { user, grant } = session
    const expiresAt = Math.min(Date.now() + tokenSeconds * 1_000, user.expiresAt ?? Infinity)
    const scopes = grantedTo(user, grant)
    const { issuer = this.#issuer } = user
    const info: TokenInfo = { ...user, scopes, scope: undefined, issuer, expiresAt }
    return jsonReply({
      access_token: this.#seal.seal('oauth access', info, expiresAt, resource), token_type: 'Bearer',
      expires_in: Math.max(1, Math.floor((expiresAt - Date.now()) / 1_000)),
      ...scopes !== undefined && { scope: scopes.join(' ') },
      // Without one of the provider's its user could not be looked at again.
      ...session.refreshToken !== undefined && {
        refresh_token: await this.#keep('refresh', session, this.#refreshMs),
      },
    })
  }

  /** Keeps a session under a name that cannot be guessed, and is good once. It is the user's, and says so. */
  async #keep(
    kind: 'code' | 'refresh', session: Session, keepMs: number,
    id: string = `${digest(session.user.subject)}.${randomUuid()}${randomUuid()}`,
  ): Promise<string> {
    const value = this.#seal.seal(`oauth ${kind}`, session, Date.now() + keepMs)
    await this.#service.store.write(keyOf(kind, id), value, keepMs, 0)
    return id
  }

  async #take(kind: 'code' | 'refresh', id: string | null): Promise<Session> {
    const session = id !== null && NAME.test(id) ? await this.#taken(kind, keyOf(kind, id)) : undefined
    if (session !== undefined) return session
    throw new Refused('invalid_grant', 'The code or token is not known, was used, or is too old')
  }

  async #taken(kind: 'code' | 'refresh', key: StoreKey): Promise<Session | undefined> {
    const { store } = this.#service
    const entry = await store.read(key)
    const session = entry && this.#seal.open(`oauth ${kind}`, entry.value)
    // Of two at the same time one removes it.
    return session !== undefined && await store.remove(key, entry!.version) ? session as Session : undefined
  }

  /** Asks the provider for tokens: those of the user, and the one to ask again with. */
  async #ask(members: Readonly<Record<string, string>>): Promise<[ProviderTokens, string | undefined]> {
    const { tokenEndpoint, clientId, clientSecret } = this.#options
    const form = new URLSearchParams({
      ...members, client_id: clientId, ...clientSecret !== undefined && { client_secret: clientSecret },
    })
    const { status, object = {} } = await askForObject(tokenEndpoint, READ_TIMEOUT_MS, {
      method: 'POST', body: form,
    })
    const { access_token: accessToken, id_token: idToken, scope, refresh_token: refreshToken, error } = object
    if (error === 'invalid_grant') throw new Refused('invalid_grant', 'The provider refused the user')
    if (typeof accessToken !== 'string') throw new Error(`The provider answered ${status}, ${String(error)}`)
    return [{ accessToken, idToken: stringIn(idToken), scope: stringIn(scope) }, stringIn(refreshToken)]
  }

  #failed(attempt: LoginAttempt, cause: unknown): Reply {
    if (cause instanceof Refused) return this.#sendBack(attempt, { error: 'access_denied' })
    this.#service.log('warning', 'The provider of logins failed', { cause })
    const error_description = 'The provider of logins failed'
    return this.#sendBack(attempt, { error: 'server_error', error_description })
  }

  #sendBack({ redirectUri, state }: Grant, members: Readonly<Record<string, string>>): Reply {
    const url = new URL(redirectUri)
    const all = { ...members, ...state !== undefined && { state }, iss: this.#issuer }
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value)
    return redirect(url.href)
  }

  #clientOf(id: string): Client | undefined {
    return this.#seal.open('oauth client', id) as Client | undefined
  }

  /** What came back with the browser that it began in. */
  #attemptOf(purpose: string, sealed: string | null, exchange: Exchange): LoginAttempt | undefined {
    const attempt = sealed === null ? undefined : this.#seal.open(purpose, sealed) as LoginAttempt | undefined
    const browser = this.#browserOf(exchange)
    if (attempt === undefined || browser === undefined) return undefined
    return isEqual(digest(browser), attempt.browser) ? attempt : undefined
  }

  /** With this prefix no other host of the domain can set it, but browsers want https for it. */
  get #cookieName(): string { return this.#issuer.startsWith('https:') ? `__Host-${COOKIE}` : COOKIE }

  #cookie(value: string): string {
    const secure = this.#issuer.startsWith('https:') ? '; Secure' : ''
    const age = ATTEMPT_MS / 1_000
    return `${this.#cookieName}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`
  }

  #browserOf(exchange: Exchange): string | undefined {
    const start = `${this.#cookieName}=`
    const all = exchange.header('cookie')?.split(/;\s*/)
    const value = all?.find((one) => one.startsWith(start))?.slice(start.length)
    return value !== undefined && /^[\w-]{36}$/.test(value) ? value : undefined
  }
}

/** The user owns it: one who logs in again and again pushes out nobody else's. */
function keyOf(kind: string, id: string): StoreKey {
  // Not the id itself: who can read the store cannot use it.
  return { collection: COLLECTION, owner: id.slice(0, id.indexOf('.')), key: `${kind}-${digest(id)}` }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

function isRedirect(uri: string): boolean {
  if (uri.length > 2_048 || !URL.canParse(uri)) return false
  // As a browser reads it, which passes over spaces and line ends.
  const { protocol, hostname, hash } = new URL(uri)
  return hash === '' && !unsafe.has(protocol) && (protocol !== 'http:' || isLoopbackName(hostname))
}

/** An application on a machine of its own may listen on any port (RFC 8252 §7.3). */
function isSameRedirect(registered: string, asked: string): boolean {
  if (registered === asked) return true
  if (!URL.canParse(asked)) return false
  const [one, other] = [new URL(registered), new URL(asked)]
  if (one.protocol !== 'http:' || !isLoopbackName(one.hostname)) return false
  one.port = other.port
  return one.href === other.href
}

function sameResource(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href.replace(/\/$/, '') === new URL(other).href.replace(/\/$/, '')
}

/** What a user may do, as far as the client has asked for it. */
function grantedTo({ scopes, scope }: TokenInfo, grant: Grant): readonly string[] | undefined {
  const has = scopes ?? scope?.split(' ')
  const asked = grant.scope?.split(' ').filter((one) => one !== '') ?? []
  return asked.length === 0 ? has : has?.filter((one) => asked.includes(one))
}

/** As people read it: nothing that is not seen, such as what turns the direction of a text. */
function nameIn(name: unknown): string {
  const shown = typeof name === 'string' ? name.slice(0, MAX_NAME).replace(/\p{C}/gu, '').trim() : ''
  return shown === '' ? 'An application' : shown
}

function stringIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function jsonReply(value: object, status = 200): Reply {
  return { status, type: 'application/json', headers: NO_STORE, body: JSON.stringify(value) }
}

function refusal(code: string, message: string, status = 400): Reply {
  return jsonReply({ error: code, error_description: message }, status)
}

function redirect(location: string): Reply {
  return { status: 303, headers: [...NO_STORE, 'Location', location] }
}
