/**
 * MCP as an OAuth resource server: its metadata, and the challenge. Tokens are checked by `verify`.
 * Spec: RFC 9728; RFC 6750 §3; MCP 2025-11-25, Authorization.
 */
import { formatChallenge } from '../../../kernel/wire/challenge.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { problemReply } from '../../../kernel/wire/problem.ts'
import { describer } from '../../../floors/openapi/describer.ts'
import type { Authorization } from '../../../kernel/http/access/auth.ts'
import type { Endpoint, Reply } from '../../../kernel/http/message/exchange.ts'

const describedBy = describer(async () => (await import('./openapi-operations.ts')).mcpOperations)

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** The value of `WWW-Authenticate`. One challenge names all scopes that are needed together. */
export function challenge(
  realm: string, auth: Authorization | undefined, error: 'invalid_token' | 'insufficient_scope' | undefined,
  scopes?: readonly unknown[],
): string {
  return formatChallenge({
    realm,
    error,
    scope: scopes,
    resource_metadata: auth === undefined ? undefined : metadataUrl(auth),
  })
}

/** RFC 9728 §3.1: the well-known path goes between the host and the path of the resource. */
function metadataUrl({ resource }: Authorization): string {
  const { origin, pathname, search } = new URL(resource)
  return origin + WELL_KNOWN + (pathname === '/' ? '' : pathname) + search
}

/** The metadata at the address in the challenge, and where clients look that have seen no challenge. */
export function metadataEndpoints(auth: Authorization): readonly Endpoint[] {
  const { resource, authorizationServers, scopes, name, documentation } = auth
  const reply: Reply = {
    status: 200,
    type: JSON_TYPE,
    headers: ['Cache-Control', 'public, max-age=3600'],
    body: formatJson({
      resource,
      authorization_servers: authorizationServers,
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
      resource_name: name,
      resource_documentation: documentation,
    }),
  }
  const { pathname } = new URL(metadataUrl(auth))
  return [...new Set([WELL_KNOWN, `${WELL_KNOWN}/mcp`, pathname])].map((path) => ({
    path,
    outsideMount: true,
    methods: ['GET'],
    open: 'public',
    describe: describedBy('GET', 'metadata'),
    refuse: problemReply,
    handle: () => reply,
  }))
}
