/** The provider behind the OAuth proxy: where its users log in, and what it and its author say of them. */
import { bearerOf } from '../../kernel/http/access/keys.ts'
import { withDeadline } from '../../kernel/util/clock.ts'
import { askForObject } from '../../floors/outbound/remote-json.ts'
import { OauthRefusal } from './oauth-refusal.ts'
import { digest } from './oauth-secrets.ts'
import type { TokenInfo } from '../../kernel/http/access/keys.ts'

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
  /** As that of `Authorization`: `https://agents.example.com/mcp`. Its origin is the issuer. */
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
  /**
   * Who the user is, and what they may do here; nothing refuses them. Asks the provider, as it must, within
   * `authTimeoutMs`.
   */
  identify(tokens: ProviderTokens): Promise<TokenInfo | undefined | null> | TokenInfo | undefined | null
  /**
   * The scopes that a client should ask for first. With those that something served needs, they are all that
   * a client may ask for; where there are none, it may ask for any.
   */
  readonly scopes?: readonly string[] | undefined
  /**
   * Whether the address of a client's own metadata document may be its id, and is read then
   * (draft-ietf-oauth-client-id-metadata-document). False: clients must register. Left out: true, for
   * documents on the internet.
   */
  readonly clientIdMetadataDocuments?: boolean | {
    /** The only hosts of such documents: `app.example.com`, `*.example.com`. Left out: all. */
    readonly allowedHosts?: readonly string[] | undefined
    /** Documents may be on this machine and in private networks too. Left out: false. */
    readonly allowPrivate?: boolean | undefined
  } | undefined
  /** Of the server, for people who are asked. Left out: that of the server. */
  readonly name?: string | undefined
  /** How long a token is good, in seconds. Left out: 3600. */
  readonly tokenSeconds?: number | undefined
  /** How long a client may come back without its user, in seconds. Left out: 2592000, 30 days. */
  readonly refreshSeconds?: number | undefined
}

const ANSWER_MS = 10_000
/** Also where nothing else limits how long `identify` takes. */
const MAX_IDENTIFY_MS = 60_000
/** Of what a provider says in an error, for the log. */
const MAX_LOGGED = 100

/** Tokens for `identify`, and the one with which the user is looked at again. */
export interface ProviderAnswer { readonly tokens: ProviderTokens; readonly refreshToken: string | undefined }

export class OauthProvider {
  /** The longest that `refreshed` and `userOf` take together. */
  readonly maxMs: number
  readonly #options: OauthProxyOptions
  readonly #issuer: string
  readonly #identifyMs: number

  constructor(options: OauthProxyOptions, issuer: string, authTimeoutMs: number) {
    this.#options = options
    this.#issuer = issuer
    this.#identifyMs = Math.min(authTimeoutMs, MAX_IDENTIFY_MS)
    this.maxMs = ANSWER_MS + this.#identifyMs
  }

  get #callback(): string { return `${this.#issuer}/oauth/callback` }

  /** Where a user logs in, and comes back with `state`. */
  loginUrl(state: string, verifier: string): string {
    const { authorizationEndpoint, clientId, providerScopes = [], parameters } = this.#options
    const url = new URL(authorizationEndpoint)
    const members: Record<string, string> = {
      response_type: 'code', client_id: clientId, redirect_uri: this.#callback, state,
      code_challenge: digest(verifier), code_challenge_method: 'S256',
      ...providerScopes.length > 0 && { scope: providerScopes.join(' ') }, ...parameters,
    }
    for (const [name, value] of Object.entries(members)) url.searchParams.set(name, value)
    return url.href
  }

  /** For the code of a login. Rejects with `OauthRefusal` where the provider refuses the user. */
  loggedIn(code: string, verifier: string): Promise<ProviderAnswer> {
    return this.#ask({
      grant_type: 'authorization_code', code, redirect_uri: this.#callback, code_verifier: verifier,
    })
  }

  refreshed(refreshToken: string): Promise<ProviderAnswer> {
    return this.#ask({ grant_type: 'refresh_token', refresh_token: refreshToken })
  }

  /** Undefined for one who is not let in. Rejects for what tokens cannot be made of. */
  async userOf(tokens: ProviderTokens): Promise<TokenInfo | undefined> {
    const identified = Promise.resolve(this.#options.identify(tokens))
    const user = await withDeadline(identified, this.#identifyMs, () => (
      new Error(`identify took longer than ${this.#identifyMs} ms`)
    ))
    if (!user || !bearerOf(user, this.#issuer)) return undefined
    const { subject, issuer = this.#issuer, scopes, scope, expiresAt, claims } = user
    return { subject, issuer, scopes, scope, expiresAt, claims }
  }

  async #ask(members: Readonly<Record<string, string>>): Promise<ProviderAnswer> {
    const { tokenEndpoint, clientId, clientSecret } = this.#options
    const form = new URLSearchParams({
      ...members, client_id: clientId, ...clientSecret !== undefined && { client_secret: clientSecret },
    })
    const asked = { method: 'POST', body: form }
    const { status, object = {} } = await askForObject(tokenEndpoint, ANSWER_MS, asked)
    const { access_token: accessToken, id_token: idToken, scope, refresh_token: refreshToken, error } = object
    if (error === 'invalid_grant') throw new OauthRefusal('invalid_grant', 'The provider refused the user')
    if (typeof accessToken !== 'string') {
      throw new Error(`The provider answered ${status}, ${stringIn(error)?.slice(0, MAX_LOGGED)}`)
    }
    return {
      tokens: { accessToken, idToken: stringIn(idToken), scope: stringIn(scope) },
      refreshToken: stringIn(refreshToken),
    }
  }
}

function stringIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
