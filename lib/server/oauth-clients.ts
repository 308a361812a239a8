/**
 * The clients of the OAuth proxy: how they register, and where one is looked up by its id. The id of a client
 * that has registered holds what it has said, so that nothing is kept for it.
 * Spec: RFC 7591; RFC 8252 §7; MCP, Client Registration.
 */
import { isScope, parseScope } from '../wire/challenge.ts'
import { isStrings } from '../wire/json.ts'
import { objectIn } from '../wire/remote-json.ts'
import { isLoopbackName } from '../wire/secure-address.ts'
import { repeatsMember } from './oauth-parameters.ts'
import { oauthJson, OauthRefusal } from './oauth-refusal.ts'
import type { Reply } from '../http/message/exchange.ts'
import type { Seal } from '../wire/seal.ts'

export interface OauthClient { readonly name: string; readonly redirectUris: readonly string[] }

const MAX_METADATA = 32 * 1024
const MAX_REDIRECTS = 20
/** Of one address as it stands in a query. */
const MAX_REDIRECT = 2_048
/** An authorization request, which has the id in its first line, must stay below 16 KiB with its headers. */
const MAX_ID = 7_000
const MAX_NAME = 100
const MAX_SCOPE = 2_048
/** Schemes with which a page would run, and not open, or that open no application of the client's. */
const unsafe: ReadonlySet<string> = new Set([
  'javascript:', 'data:', 'vbscript:', 'file:', 'filesystem:', 'blob:', 'about:', 'view-source:', 'ws:',
  'wss:', 'ftp:', 'intent:',
])

export class OauthClients {
  readonly #seal: Seal

  constructor(seal: Seal) {
    this.#seal = seal
  }

  /** Undefined for one that is not known. A promise, as there may be ids that others must be asked about. */
  async find(id: string): Promise<OauthClient | undefined> {
    return this.#seal.open('oauth client', id) as OauthClient | undefined
  }

  /** Throws `OauthRefusal` with the member that is wrong. */
  register(body: string): Reply {
    if (body.length > MAX_METADATA) throw wrongMetadata(`more than ${MAX_METADATA} characters`, 413)
    const metadata = objectIn(body)
    if (metadata === undefined) throw wrongMetadata('no object of JSON')
    if (repeatsMember(body)) {
      throw new OauthRefusal('invalid_request', 'A member of the metadata stands twice; send each once')
    }
    const { redirect_uris: uris, client_name: name } = metadata
    if (!isStrings(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS || !uris.every(isRedirect)) {
      throw wrongRedirects(`must be 1 to ${MAX_REDIRECTS} addresses of at most ${MAX_REDIRECT} characters: `
        + `https, http of this machine, or of a scheme of the application's own; without a fragment`)
    }
    requireListed(metadata, 'grant_types', 'authorization_code')
    requireListed(metadata, 'response_types', 'code')
    const scope = metadata['scope'] ?? undefined
    if (scope !== undefined && !isScopes(scope)) throw wrongMetadata('a scope that is no list of scopes')
    const client: OauthClient = { name: nameIn(name), redirectUris: uris }
    const id = this.#seal.seal('oauth client', client, Infinity)
    if (id.length > MAX_ID) throw wrongRedirects('are too long together')
    return oauthJson({
      client_id: id, client_name: client.name, redirect_uris: uris,
      client_id_issued_at: Math.floor(Date.now() / 1_000), token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], scope,
    }, 201)
  }
}

function wrongMetadata(what: string, status?: number): OauthRefusal {
  return new OauthRefusal('invalid_client_metadata', `The metadata has ${what}`, status)
}

function wrongRedirects(what: string): OauthRefusal {
  return new OauthRefusal('invalid_redirect_uri', `redirect_uris ${what}`)
}

/** A client that does without what is given here would wait for it in vain. */
function requireListed(metadata: Readonly<Record<string, unknown>>, name: string, needed: string): void {
  const listed = metadata[name] ?? [needed]
  if (!isStrings(listed) || !listed.includes(needed)) {
    throw wrongMetadata(`${name} without ${needed}, which is all that is given here`)
  }
}

function isScopes(scope: unknown): scope is string {
  return typeof scope === 'string' && scope.length <= MAX_SCOPE && parseScope(scope).every(isScope)
}

function isRedirect(uri: string): boolean {
  if (!URL.canParse(uri) || /\p{Surrogate}/u.test(uri)) return false
  if (encodeURIComponent(uri).length > MAX_REDIRECT) return false
  // As a browser reads it, which passes over spaces and line ends.
  const { protocol, hostname, username, password, href } = new URL(uri)
  if (href.includes('#') || username !== '' || password !== '') return false
  return !unsafe.has(protocol) && (protocol !== 'http:' || isLoopbackName(hostname))
}

/** An application on a machine of its own may listen on any port (RFC 8252 §7.3). */
export function isSameRedirect(registered: string, asked: string): boolean {
  if (registered === asked) return true
  if (!URL.canParse(asked)) return false
  const [one, other] = [new URL(registered), new URL(asked)]
  if (one.protocol !== 'http:' || !isLoopbackName(one.hostname)) return false
  one.port = other.port
  return one.href === other.href
}

/** As people read it: nothing that is not seen, such as what turns the direction of a text. */
function nameIn(name: unknown): string {
  const text = typeof name === 'string' ? name.slice(0, MAX_NAME) : ''
  const shown = text.replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, '').trim()
  return shown === '' ? 'An application' : shown
}
