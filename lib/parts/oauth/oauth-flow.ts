/**
 * The authorization code flow of the OAuth proxy: a user consents here to what a client asks for, logs in at
 * the provider, and the client gets a code. What travels through browsers is sealed.
 * Spec: OAuth 2.1 §4.1; RFC 7636, RFC 8414, RFC 8707, RFC 9207; MCP, Security Best Practices.
 */
import { storeOf } from '../../floors/memory/store-of.ts'
import { callerOf } from '../../kernel/define/call.ts'
import { isScope, parseScope } from '../../kernel/wire/challenge.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { OauthClients } from './oauth-clients.ts'
import { OauthDocuments } from './oauth-documents.ts'
import { OauthFamilies } from './oauth-families.ts'
import { isSameRedirect } from './oauth-metadata.ts'
import { consentPage, PAGE_HEADERS, ShownRefusal, shownRefusal } from './oauth-pages.ts'
import { OauthParameters } from './oauth-parameters.ts'
import { OauthProvider } from './oauth-provider.ts'
import { NO_STORE, oauthJson, OauthRefusal, refusalReply } from './oauth-refusal.ts'
import { requireResource } from './oauth-resource.ts'
import { digest, isSameSecret } from './oauth-secrets.ts'
import { OauthTokenEndpoint } from './oauth-token.ts'
import type { TokenInfo } from '../../kernel/http/access/keys.ts'
import type { Endpoint, Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Kernel } from '../../kernel/server/part.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Seal } from '../../kernel/wire/seal.ts'
import type { OauthGrant } from './oauth-families.ts'
import type { OauthProxyOptions } from './oauth-provider.ts'
import type { OauthErrorCode } from './oauth-refusal.ts'

type Handle = Endpoint['handle']

/** A grant on its way through the browser, which it is bound to. */
interface LoginAttempt {
  readonly grant: OauthGrant
  /** The client's. */
  readonly state: string | undefined
  readonly browser: string
  readonly verifier: string
}

const COOKIE = 'triport_oauth'
const ATTEMPT_MS = 10 * 60_000
/** Of what a client gets back, which stands in the address of the provider. */
const MAX_PARAMETER = 2_048
/** Of logins that are over: whoever makes many of them pushes out no user's. */
const LOGINS = 'logins'
/** Of a provider; all else denies the user. */
const failures: readonly OauthErrorCode[] = ['server_error', 'temporarily_unavailable']

export class OauthFlow {
  readonly #options: OauthProxyOptions
  readonly #issuer: string
  readonly #service: Kernel
  readonly #seal: Seal
  readonly #clients: OauthClients
  readonly #provider: OauthProvider
  readonly #families: OauthFamilies
  readonly #tokens: OauthTokenEndpoint

  constructor(options: OauthProxyOptions, issuer: string, service: Kernel) {
    const { credentials, seal } = service
    this.#options = options
    this.#issuer = issuer
    this.#service = service
    this.#seal = seal
    const { clientIdMetadataDocuments: documents } = options
    this.#clients = new OauthClients(seal, documents === false ? undefined : new OauthDocuments(documents))
    this.#provider = new OauthProvider(options, issuer, service.limits.authTimeoutMs)
    this.#families = new OauthFamilies(options, this.#provider, service, seal)
    this.#tokens = new OauthTokenEndpoint(options.resource, credentials, this.#clients, this.#families)
  }

  /** Who a token of this server's speaks for. Throws, or rejects, where the store cannot be asked. */
  verify(token: string): MaybePromise<TokenInfo | undefined> {
    return this.#families.verify(token)
  }

  readonly metadata: Handle = () => oauthJson({
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
    client_id_metadata_document_supported: this.#options.clientIdMetadataDocuments !== false,
  })

  readonly register: Handle = ({ body }) => {
    try {
      return this.#clients.register(body)
    } catch (error) {
      return refusalReply(this.#refusalFor(error))
    }
  }

  readonly token: Handle = (exchange) => (
    this.#tokens.answer(exchange).catch((error: unknown) => refusalReply(this.#refusalFor(error)))
  )

  /** Asks the user whether the client may come in: another client must not use the login of this one. */
  readonly authorize: Handle = (exchange) => this.#shown(exchange, async () => {
    await requireRate(exchange)
    if (exchange.method === 'HEAD') return LOOKED
    const asked = new OauthParameters(exchange.query)
    const clientId = asked.get('client_id') ?? ''
    if (asked.isRepeated('client_id') || asked.isRepeated('redirect_uri')) asked.requireOnce()
    const client = await this.#clients.find(clientId, callerOf(exchange.origin))
    if (client === undefined) {
      // Never sent on to an address that is not registered.
      throw new ShownRefusal('invalid_client', UNKNOWN_CLIENT, 'It must register first: connect it again.')
    }
    const [first = '', ...others] = client.redirectUris
    const redirectUri = asked.get('redirect_uri') ?? first
    if (asked.get('redirect_uri') === undefined && others.length > 0) {
      throw new ShownRefusal('invalid_request', 'The application does not say where to go back to',
        'It has registered several addresses, and must name one of them as redirect_uri.')
    }
    if (!client.redirectUris.some((uri) => isSameRedirect(uri, redirectUri))) {
      throw new ShownRefusal('invalid_request', UNKNOWN_CLIENT,
        'It wants to go back to an address that it has not registered: connect it again.')
    }
    const state = asked.isRepeated('state') ? undefined : asked.get('state')
    const challenge = asked.get('code_challenge') ?? ''
    try {
      this.#requireGood(asked, challenge)
    } catch (error) {
      // Anyone may register: nobody is sent to another site before they have agreed (RFC 9700 §4.11.2).
      const { code, message } = this.#refusalFor(error)
      if (new URL(redirectUri).protocol === 'https:') {
        throw new ShownRefusal(code, 'The application asks for what is not given here', message)
      }
      return this.#sendBack({ redirectUri, state }, { error: code, error_description: message })
    }
    const scope = parseScope(asked.get('scope') ?? '').join(' ') || undefined
    const grant: OauthGrant = { client: digest(clientId), redirectUri, challenge, scope }
    // Several logins may be under way in one browser.
    const browser = this.#browserOf(exchange) ?? randomUuid()
    const attempt: LoginAttempt = {
      grant, state, browser: digest(browser), verifier: randomUuid() + randomUuid(),
    }
    const request = this.#seal.seal('oauth consent', attempt, Date.now() + ATTEMPT_MS)
    return {
      ...consentPage(client, this.#options.name ?? this.#service.name, grant, request),
      headers: [...PAGE_HEADERS, 'Set-Cookie', this.#cookie(browser)],
    }
  })

  /** Throws `OauthRefusal` for a request that cannot be granted. */
  #requireGood(asked: OauthParameters, challenge: string): void {
    asked.requireOnce()
    if (asked.get('response_type') === undefined) {
      throw new OauthRefusal('invalid_request', 'response_type is missing')
    }
    if (asked.get('response_type') !== 'code') {
      throw new OauthRefusal('unsupported_response_type', 'response_type must be code')
    }
    if (!/^[\w-]{43}$/.test(challenge) || asked.get('code_challenge_method') !== 'S256') {
      throw new OauthRefusal('invalid_request', 'A code_challenge of the method S256 is needed')
    }
    const long = ['state', 'scope'].find((name) => (asked.get(name) ?? '').length > MAX_PARAMETER)
    if (long !== undefined) {
      throw new OauthRefusal('invalid_request', `${long} has more than ${MAX_PARAMETER} characters`)
    }
    requireResource(this.#options.resource, this.#service.credentials, asked)
    const known = [...this.#options.scopes ?? [], ...this.#service.catalog.scopes]
    const isKnown = (scope: string): boolean => known.length === 0 || known.includes(scope)
    if (parseScope(asked.get('scope') ?? '').every((one) => isScope(one) && isKnown(one))) return
    throw new OauthRefusal('invalid_scope', 'A scope that was asked for is not known here')
  }

  /** The user has decided; who agrees logs in at the provider. */
  readonly consent: Handle = (exchange) => this.#shown(exchange, async () => {
    const form = new OauthParameters(exchange.body)
    form.requireOnce()
    const attempt = this.#attemptOf('oauth consent', form.get('request'), exchange)
    const decision = form.get('decision')
    if (decision === 'deny') return this.#sendBackFrom(attempt, { error: 'access_denied' })
    if (decision !== 'allow') throw new OauthRefusal('invalid_request', 'The decision must be allow or deny')
    const state = this.#seal.seal('oauth login', attempt, Date.now() + ATTEMPT_MS)
    return redirect(this.#provider.loginUrl(state, attempt.verifier))
  })

  /** The provider sends the user back, once. */
  readonly callback: Handle = (exchange) => this.#shown(exchange, async () => {
    await requireRate(exchange)
    if (exchange.method === 'HEAD') return LOOKED
    const asked = new OauthParameters(exchange.query)
    asked.requireOnce()
    const attempt = this.#attemptOf('oauth login', asked.get('state'), exchange)
    const [code, error] = [asked.get('code'), asked.get('error')]
    if (code === undefined && error === undefined) {
      throw new OauthRefusal('invalid_request', 'The provider has sent neither a code nor an error')
    }
    const key = { collection: 'oauth', owner: LOGINS, key: digest(attempt.verifier) }
    if (await storeOf(this.#service).write(key, '1', ATTEMPT_MS, 0) === undefined) throw expired()
    if (code === undefined || error !== undefined) {
      return this.#sendBackFrom(attempt, { error: failures.find((one) => one === error) ?? 'access_denied' })
    }
    return this.#login(attempt, code).catch((cause: unknown) => {
      const refusal = cause instanceof OauthRefusal ? cause : this.#failed(cause, 'server_error')
      const { code: name, message } = refusal
      // What the provider refuses is denied to the client.
      return this.#sendBackFrom(attempt, name === 'invalid_grant' ? { error: 'access_denied' }
        : { error: name, error_description: message })
    })
  })

  async #login(attempt: LoginAttempt, code: string): Promise<Reply> {
    const { tokens, refreshToken } = await this.#provider.loggedIn(code, attempt.verifier)
    const user = await this.#provider.userOf(tokens)
    if (user === undefined) return this.#sendBackFrom(attempt, { error: 'access_denied' })
    const ownCode = await this.#families.begin(attempt.grant, user, refreshToken)
    return this.#sendBackFrom(attempt, { code: ownCode })
  }

  #refusalFor(error: unknown): OauthRefusal {
    return error instanceof OauthRefusal ? error : this.#failed(error, 'temporarily_unavailable')
  }

  /** What has failed is for the log. */
  #failed(cause: unknown, code: 'server_error' | 'temporarily_unavailable'): OauthRefusal {
    this.#service.log('warning', 'A login could not be checked', { cause })
    const sentence = 'The login could not be checked; try again later'
    return new OauthRefusal(code, sentence, 503, ['Retry-After', '1'])
  }

  async #shown({ head }: Exchange, answer: () => Promise<Reply>): Promise<Reply> {
    try {
      return await answer()
    } catch (error) {
      const refusal = error instanceof OauthRefusal ? error : this.#failed(error, 'server_error')
      return shownRefusal(head.accept, refusal)
    }
  }

  #sendBackFrom({ grant, state }: LoginAttempt, members: Readonly<Record<string, string>>): Reply {
    return this.#sendBack({ redirectUri: grant.redirectUri, state }, members)
  }

  #sendBack(
    { redirectUri, state }: { readonly redirectUri: string; readonly state: string | undefined },
    members: Readonly<Record<string, string>>,
  ): Reply {
    const url = new URL(redirectUri)
    const all = { ...members, ...state !== undefined && { state }, iss: this.#issuer }
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value)
    return redirect(url.href)
  }

  /** What came back in time, with the browser that it began in. Throws `OauthRefusal` for all else. */
  #attemptOf(purpose: string, sealed: string | undefined, exchange: Exchange): LoginAttempt {
    const attempt = this.#seal.open(purpose, sealed ?? '') as LoginAttempt | undefined
    const browser = this.#browserOf(exchange)
    if (attempt === undefined || browser === undefined) throw expired()
    if (!isSameSecret(digest(browser), attempt.browser)) throw expired()
    return attempt
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
    return /^[\w-]{36}$/.exec(value ?? '')?.[0]
  }
}

/** Nothing is begun for one who only looks at the head. */
const LOOKED: Reply = { status: 200, headers: PAGE_HEADERS }
const UNKNOWN_CLIENT = 'This application is not known here'

function expired(): OauthRefusal {
  const what = 'This login is too old, was used, or began in another browser'
  return new ShownRefusal('invalid_request', what, 'Connect the application again.')
}

/** A GET that does work counts as a call, as each POST does. */
async function requireRate(exchange: Exchange): Promise<void> {
  const overuse = await exchange.take('call', 1)
  if (overuse === undefined) return
  throw new OauthRefusal('temporarily_unavailable', overuse.detail, 429, overuse.headers)
}

function redirect(location: string): Reply {
  return { status: 303, headers: [...NO_STORE, 'Location', location] }
}
