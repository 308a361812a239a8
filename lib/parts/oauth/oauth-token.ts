/**
 * The token endpoint of the OAuth proxy. All that can be wrong with a request is looked for before its code
 * or refresh token is used up. Spec: OAuth 2.1 §3.2, §4.1.3, §4.3; RFC 6749 §2.3.1, §5.2; RFC 8707 §2.2.
 */
import { decodeBase64, utf8Of } from '../../kernel/wire/base64.ts'
import { parseScope } from '../../kernel/wire/challenge.ts'
import { percentDecoded } from '../../kernel/wire/uri.ts'
import { OauthParameters } from './oauth-parameters.ts'
import { oauthJson, OauthRefusal } from './oauth-refusal.ts'
import { requireResource } from './oauth-resource.ts'
import { digest } from './oauth-secrets.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Credentials } from '../../kernel/server/part.ts'
import type { OauthClients } from './oauth-clients.ts'
import type { OauthFamilies, OauthTokens, OauthUse } from './oauth-families.ts'

/** RFC 7636 §4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/

export class OauthTokenEndpoint {
  readonly #resource: string
  readonly #credentials: Credentials
  readonly #clients: OauthClients
  readonly #families: OauthFamilies

  constructor(
    resource: string, credentials: Credentials, clients: OauthClients, families: OauthFamilies,
  ) {
    this.#resource = resource
    this.#credentials = credentials
    this.#clients = clients
    this.#families = families
  }

  /** Rejects with `OauthRefusal`, or what else has failed. */
  async answer({ body, head }: Pick<Exchange, 'body' | 'head'>): Promise<Reply> {
    const form = new OauthParameters(body)
    form.requireOnce()
    const clientId = clientIdOf(head.authorization, form)
    if (clientId === undefined || !this.#clients.isKnown(clientId)) {
      throw refusedClient(head.authorization, 'The client is not known here; it must register again')
    }
    const use = useOf(form, digest(clientId))
    requireResource(this.#resource, this.#credentials, form)
    return tokenReply(await this.#families.use(use))
  }
}

function useOf(form: OauthParameters, client: string): OauthUse {
  const type = required(form, 'grant_type')
  const scopes = parseScope(form.get('scope') ?? '')
  if (type === 'refresh_token') {
    const secret = required(form, 'refresh_token')
    return { kind: 'refresh', secret, scopes, isFor: (grant) => grant.client === client }
  }
  if (type !== 'authorization_code') {
    throw new OauthRefusal('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token')
  }
  const secret = required(form, 'code')
  const verifier = required(form, 'code_verifier')
  const uri = form.get('redirect_uri')
  return {
    kind: 'code', secret, scopes,
    isFor: (grant) => grant.client === client && (uri === undefined || uri === grant.redirectUri)
      && VERIFIER.test(verifier) && digest(verifier) === grant.challenge,
  }
}

function required(form: OauthParameters, name: string): string {
  const value = form.get(name)
  if (value === undefined) throw new OauthRefusal('invalid_request', `${name} is missing`)
  return value
}

/** From HTTP Basic, or from the form. No client has a secret, so that one which is sent is wrong. */
function clientIdOf(authorization: string | undefined, form: OauthParameters): string | undefined {
  const named = form.get('client_id')
  if (form.get('client_secret') !== undefined) {
    throw refusedClient(authorization, 'Clients have no secret here; send client_id alone')
  }
  if (authorization === undefined) return named
  const id = basicId(authorization)
  if (id === undefined) {
    throw refusedClient(authorization, 'Authorization must be Basic with the client_id and no secret, if any')
  }
  if (named === undefined || named === id) return id
  throw new OauthRefusal('invalid_request', 'Authorization and client_id name two clients; send one of them')
}

/** Both parts are encoded as in a form (RFC 6749 §2.3.1); undefined for what is none, or has a secret. */
function basicId(authorization: string): string | undefined {
  const bytes = decodeBase64(/^basic +(\S+) *$/i.exec(authorization)?.[1] ?? '')
  const [, id] = /^([^:]+):$/.exec(bytes && utf8Of(bytes) || '') ?? []
  return id === undefined ? undefined : percentDecoded(id.replaceAll('+', ' '))
}

/** RFC 6749 §5.2: 401 and the scheme where the client used one. */
function refusedClient(authorization: string | undefined, message: string): OauthRefusal {
  return authorization === undefined ? new OauthRefusal('invalid_client', message)
    : new OauthRefusal('invalid_client', message, 401, ['WWW-Authenticate', 'Basic realm="oauth"'])
}

function tokenReply({ accessToken, refreshToken, scopes, expiresAt }: OauthTokens): Reply {
  return oauthJson({
    access_token: accessToken, token_type: 'Bearer',
    expires_in: Math.max(1, Math.floor((expiresAt - Date.now()) / 1_000)),
    scope: scopes.length === 0 ? undefined : scopes.join(' '), refresh_token: refreshToken,
  })
}
