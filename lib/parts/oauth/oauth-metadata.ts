/**
 * What clients of the OAuth proxy say of themselves, when they register or in a document of their own.
 * Spec: RFC 7591 §2; RFC 8252 §7; draft-ietf-oauth-client-id-metadata-document-03.
 */
import { ownText } from '../../kernel/util/own.ts'
import { isStrings } from '../../kernel/wire/json.ts'
import { objectIn } from '../../floors/outbound/remote-json.ts'
import { isLoopbackName } from '../../floors/outbound/secure-address.ts'
import { repeatsMember } from './oauth-parameters.ts'
import { OauthRefusal } from './oauth-refusal.ts'

export interface OauthClient {
  /** As it calls itself. */
  readonly name: string
  readonly redirectUris: readonly string[]
  /** Of the address where it describes itself. Undefined for one that has registered. */
  readonly host?: string
}

type Metadata = Readonly<Record<string, unknown>>

/** Of one address as it stands in a query. */
export const MAX_REDIRECT = 2_048
const MAX_NAME = 100
/** Schemes with which a page would run, and not open, or that open no application of the client's. */
const unsafe: ReadonlySet<string> = new Set([
  'javascript:', 'data:', 'vbscript:', 'file:', 'filesystem:', 'blob:', 'about:', 'view-source:', 'ws:',
  'wss:', 'ftp:', 'intent:',
])
/** Members of what no document may have: everyone may read it. */
const secrets = ['client_secret', 'client_secret_expires_at']

export function wrongMetadata(what: string, status?: number): OauthRefusal {
  return new OauthRefusal('invalid_client_metadata', `The metadata has ${what}`, status)
}

export function wrongRedirects(what: string): OauthRefusal {
  return new OauthRefusal('invalid_redirect_uri', `redirect_uris ${what}`)
}

/** Throws `OauthRefusal` for what is no metadata. */
export function metadataIn(json: string): Metadata {
  const metadata = objectIn(json)
  if (metadata === undefined) throw wrongMetadata('no object of JSON')
  if (!repeatsMember(json)) return metadata
  throw new OauthRefusal('invalid_request', 'A member of the metadata stands twice; send each once')
}

/** Throws `OauthRefusal` for a client that does without what is given here: it would wait for it in vain. */
export function requireFlow(metadata: Metadata): void {
  for (const [name, needed] of [['grant_types', 'authorization_code'], ['response_types', 'code']] as const) {
    const listed = metadata[name] ?? [needed]
    if (isStrings(listed) && listed.includes(needed)) continue
    throw wrongMetadata(`${name} without ${needed}, which is all that is given here`)
  }
}

/** The client of a document, which is at its `id`. Throws `OauthRefusal` with the member that is wrong. */
export function clientInDocument(id: string, json: string): OauthClient {
  const metadata = metadataIn(json)
  const { client_id: said, client_name: name, redirect_uris: uris } = metadata
  if (said !== id) throw wrongMetadata('a client_id that is not its own address, letter by letter')
  if (typeof name !== 'string' || name.trim() === '') throw wrongMetadata('no client_name')
  const secret = secrets.find((one) => metadata[one] !== undefined)
  if (secret !== undefined) throw wrongMetadata(`the member ${secret}, which a document cannot have`)
  if (!isPublic(metadata)) {
    throw wrongMetadata(`no token_endpoint_auth_method or token_endpoint_auth_methods_supported with none, `
      + 'which is all that is taken here')
  }
  requireFlow(metadata)
  // A document is for all servers: what cannot be used here is not used.
  const redirectUris = isStrings(uris) ? uris.filter(isRedirect) : []
  if (redirectUris.length === 0) {
    throw wrongRedirects(`must have an address of https, of this machine, or of the application's own scheme`)
  }
  return { name: ownText(shownName(name)), redirectUris, host: ownText(new URL(id).host) }
}

/**
 * Whether a client can do without authentication: the method that it prefers, or one of all that it knows
 * (OpenID Connect RP Metadata Choices 1.0 §3). Never one with a shared secret, which it cannot keep.
 */
function isPublic(metadata: Metadata): boolean {
  const { token_endpoint_auth_method: method, token_endpoint_auth_methods_supported: known } = metadata
  if (typeof method === 'string' && method.startsWith('client_secret')) return false
  return isStrings(known) ? known.includes('none') : (method ?? 'none') === 'none'
}

export function isRedirect(uri: string): boolean {
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
export function shownName(name: unknown): string {
  const text = typeof name === 'string' ? name.slice(0, MAX_NAME) : ''
  const shown = text.replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, '').trim()
  return shown === '' ? 'An application' : shown
}
