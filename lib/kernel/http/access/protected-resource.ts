/**
 * The server as an OAuth protected resource: the metadata of its paths, and the challenge that leads there.
 * `auth.resource` is the address of an endpoint, and stands for all that its part serves; or else for the
 * whole server. Each path of another part is a resource of its own, and so is one that names it. Spec: RFC
 * 9728; RFC 6750 §3.
 */
import { formatChallenge } from '../../wire/challenge.ts'
import { formatJson } from '../../wire/json.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { percentDecoded } from '../../wire/uri.ts'
import { withoutSlash } from '../message/router.ts'
import type { Endpoint, Exchange, Reply } from '../message/exchange.ts'
import type { Routing } from '../message/router.ts'
import type { Authorization } from './auth.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** Of a path in a challenge: clients refuse headers that are too large. */
const MAX_PATH = 2_048

const texts = { type: 'array', items: { type: 'string' } }
const operation = {
  tags: ['Service'], summary: 'Where tokens for this server come from', description: 'RFC 9728.',
  responses: {
    200: {
      description: 'The metadata',
      content: {
        [JSON_TYPE]: {
          schema: {
            type: 'object', required: ['resource', 'authorization_servers'],
            properties: {
              resource: { type: 'string' }, authorization_servers: texts, scopes_supported: texts,
              bearer_methods_supported: texts, resource_name: { type: 'string' },
              resource_documentation: { type: 'string' },
            },
          },
        },
      },
    },
    default: { $ref: '#/components/responses/Problem' },
  },
}

export interface ProtectedResource {
  /** Those of the metadata. */
  readonly endpoints: readonly Endpoint[]
  /** The resource at an address of this server, as a token would name it; undefined where there is none. */
  resourceAt(address: string): string | undefined
  /**
   * The value of `WWW-Authenticate` for a path below the mount path: of who lacks `neededScopes`, or else of
   * who has no good credential. `isGiven`: there was one.
   */
  challenge(realm: string, path: string, isGiven: boolean, neededScopes?: readonly unknown[]): string
}

/** `parts`: the endpoints of each part; `router`: of them all, once there is one. */
export function createProtectedResource(
  auth: Authorization, parts: readonly (readonly Endpoint[])[], mountPath: string, router: () => Routing,
): ProtectedResource {
  const { resource } = auth
  const { origin, pathname, search } = new URL(resource)
  const ownPath = withoutSlash(pathname)
  const entry = ownPath === mountPath ? undefined : entryAt(ownPath, parts.flat())
  /** What stands before the server's paths for its clients. */
  const before = entry === undefined ? ownPath : ownPath.slice(0, -entry.path.length)
  /** What `auth.resource` stands for; undefined: all. */
  const covered = entry && new Set(parts.find((part) => part.includes(entry)))
  // RFC 9728 §3.1: the well-known path goes between the host and the path of the resource.
  const metadataPath = WELL_KNOWN + (pathname === '/' ? '' : pathname)

  function answer({ path, origin: { requestId } }: Exchange): Reply {
    const behind = path.slice(WELL_KNOWN.length)
    const found = resourceOf(behind) ?? (behind === '/' ? resource : undefined)
    if (found === undefined) {
      return problemReply({ status: 404, detail: 'Nothing at this path needs a token', requestId })
    }
    return {
      status: 200,
      type: JSON_TYPE,
      headers: ['Cache-Control', 'public, max-age=3600'],
      body: formatJson({
        resource: found,
        authorization_servers: auth.authorizationServers,
        scopes_supported: auth.scopes,
        bearer_methods_supported: ['header'],
        resource_name: auth.name,
        resource_documentation: auth.documentation,
      }),
    }
  }

  /** The resource with a path at the host; '': where clients look that do not know the path. */
  function resourceOf(path: string): string | undefined {
    if (path === '' || withoutSlash(path) === ownPath) return resource
    const below = [before, mountPath, ''].filter((prefix) => path.startsWith(prefix))
      .map((prefix) => path.slice(prefix.length)).find((rest) => protectedAt(rest) !== undefined)
    if (below === undefined) return undefined
    const beside = besideAt(below)
    return beside === undefined ? resource : origin + beside
  }

  /** The path at the host of one that is a resource of its own. */
  function besideAt(path: string): string | undefined {
    if (covered === undefined) return undefined
    const endpoint = protectedAt(path)
    if (endpoint === undefined) return undefined
    const { resourcePath = covered.has(endpoint) ? undefined : path } = endpoint
    if (resourcePath === undefined) return undefined
    const encoded = before + encodeURI(resourcePath).replace(/[?#]/g, encodeURIComponent)
    return encoded.length > MAX_PATH ? undefined : encoded
  }

  /** What needs a credential at a path below the mount path. */
  function protectedAt(path: string): Endpoint | undefined {
    if (!path.startsWith('/')) return undefined
    const [route, whole] = [router(), mountPath + path]
    return route('OPTIONS', whole).allowed.map((method) => route(method, whole).endpoint)
      .find((endpoint) => endpoint !== undefined && (endpoint.open ?? false) === false)
  }

  const at = (path: string, more: Partial<Endpoint>): Endpoint => ({
    path, outsideMount: true, methods: ['GET'], open: 'public', refuse: problemReply, handle: answer, ...more,
  })
  const describe: Endpoint['describe'] = async () => ({ operations: { get: operation } })
  return {
    endpoints: [
      ...[...new Set([WELL_KNOWN, metadataPath])].map((path) => at(path, { describe })),
      // It would be one more of each path.
      at(`${WELL_KNOWN}/{path*}`, { isOffered: () => false }),
    ],
    resourceAt(address) {
      if (!URL.canParse(address)) return undefined
      const asked = new URL(address)
      const path = asked.origin === origin ? percentDecoded(asked.pathname) : undefined
      return path && resourceOf(path)
    },
    challenge(realm, path, isGiven, neededScopes) {
      const beside = besideAt(path)
      return formatChallenge({
        realm,
        error: neededScopes !== undefined ? 'insufficient_scope' : isGiven ? 'invalid_token' : undefined,
        scope: neededScopes ?? auth.scopes,
        resource_metadata: origin + (beside === undefined ? metadataPath + search : WELL_KNOWN + beside),
      })
    },
  }
}

/** The endpoint for messages that has a path, behind whatever prefix a proxy takes away. */
function entryAt(path: string, endpoints: readonly Endpoint[]): Endpoint | undefined {
  const entries = endpoints.filter(({ path: own, methods, outsideMount = false }) => (
    !outsideMount && own !== '/' && methods.includes('POST') && path.endsWith(own)
  ))
  return entries.toSorted((a, b) => b.path.length - a.path.length)[0]
}
