/**
 * How a caller may prove who it is, in the words of no dialect: exactly what the server lets in.
 * Spec: A2A 1.0 §4.5; RFC 8414 §3.
 */
import type { Authorization } from '../../http/access/auth.ts'
import type { Card, SecurityScheme } from '../model/model.ts'
import type { A2aOptions } from '../model/options.ts'

/** The members of a card that say how to get in: schemes by name, and any one of `security` is enough. */
export type Security = Pick<Card, 'schemes' | 'security'>

const keySchemes: readonly (readonly [name: string, scheme: SecurityScheme])[] = [
  ['apiKey', { kind: 'apiKey', location: 'header', name: 'X-API-Key' }],
  ['bearer', { kind: 'http', scheme: 'bearer', bearerFormat: undefined }],
]

/** What this server asks for at this moment; nothing where everybody is let in. */
export function securityOf({ takesKeys, auth }: A2aOptions): Security {
  const schemes = new Map<string, SecurityScheme>(takesKeys() ? keySchemes : [])
  const security = [...schemes.keys()].map((name) => new Map<string, readonly string[]>([[name, []]]))
  for (const [index, issuer] of (auth?.authorizationServers ?? []).entries()) {
    const name = index === 0 ? 'oauth' : `oauth-${index + 1}`
    // Which flows there are, its own metadata says.
    schemes.set(name, { kind: 'oauth2', flows: {}, metadataUrl: metadataUrl(issuer) })
    security.push(new Map([[name, scopesOf(auth)]]))
  }
  return { schemes, security }
}

function scopesOf(auth: Authorization | undefined): readonly string[] {
  return auth?.scopes ?? []
}

/** The well-known path goes between the host and the path of the issuer. */
function metadataUrl(issuer: string): string {
  const { origin, pathname } = new URL(issuer)
  return `${origin}/.well-known/oauth-authorization-server${pathname === '/' ? '' : pathname}`
}
