/**
 * The server as an OAuth protected resource: the metadata of its paths, and the challenge that leads there.
 * `auth.resource` is the address of an endpoint, and stands for all that its part serves; or else for the
 * whole server. Each path of another part is a resource of its own. Spec: RFC 9728; RFC 6750 §3.
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

export class ProtectedResource {
  /** Those of the metadata. */
  readonly endpoints: readonly Endpoint[]
  readonly #auth: Authorization
  readonly #own: URL
  readonly #mountPath: string
  /** What stands before the server's paths for its clients. */
  readonly #prefix: string
  /** What `auth.resource` stands for; undefined: all. */
  readonly #covered: ReadonlySet<Endpoint> | undefined
  readonly #router: () => Routing

  /** `parts`: the endpoints of each part; `router`: of them all, once there is one. */
  constructor(
    auth: Authorization, parts: readonly (readonly Endpoint[])[], mountPath: string, router: () => Routing,
  ) {
    this.#auth = auth
    this.#own = new URL(auth.resource)
    this.#mountPath = mountPath
    this.#router = router
    const path = withoutSlash(this.#own.pathname)
    const entry = path === mountPath ? undefined : entryAt(path, parts.flat())
    this.#prefix = entry === undefined ? path : path.slice(0, -entry.path.length)
    this.#covered = entry && new Set(parts.find((part) => part.includes(entry)))
    const at = (path: string, more: Partial<Endpoint>): Endpoint => ({
      path, outsideMount: true, methods: ['GET'], open: 'public', refuse: problemReply,
      handle: (exchange) => this.#answer(exchange), ...more,
    })
    const { pathname } = new URL(this.#ownMetadata)
    const describe: Endpoint['describe'] = async () => ({ operations: { get: operation } })
    this.endpoints = [
      ...[...new Set([WELL_KNOWN, pathname])].map((path) => at(path, { describe })),
      // It would be one more of each path.
      at(`${WELL_KNOWN}/{path*}`, { isOffered: () => false }),
    ]
  }

  /** The resource at an address of this server, as a token would name it; undefined where there is none. */
  resourceAt(address: string): string | undefined {
    if (!URL.canParse(address)) return undefined
    const { origin, pathname } = new URL(address)
    const path = origin === this.#own.origin ? percentDecoded(pathname) : undefined
    return path && this.#resourceOf(path)
  }

  /**
   * The value of `WWW-Authenticate` for a path below the mount path: of who lacks `neededScopes`, or else of
   * who has no good credential. `isGiven`: there was one.
   */
  challenge(realm: string, path: string, isGiven: boolean, neededScopes?: readonly unknown[]): string {
    const beside = this.#besideAt(path)
    return formatChallenge({
      realm,
      error: neededScopes !== undefined ? 'insufficient_scope' : isGiven ? 'invalid_token' : undefined,
      scope: neededScopes ?? this.#auth.scopes,
      resource_metadata: beside === undefined ? this.#ownMetadata : this.#own.origin + WELL_KNOWN + beside,
    })
  }

  /** RFC 9728 §3.1: the well-known path goes between the host and the path of the resource. */
  get #ownMetadata(): string {
    const { origin, pathname, search } = this.#own
    return origin + WELL_KNOWN + (pathname === '/' ? '' : pathname) + search
  }

  #answer({ path, origin: { requestId } }: Exchange): Reply {
    const behind = path.slice(WELL_KNOWN.length)
    const resource = this.#resourceOf(behind) ?? (behind === '/' ? this.#auth.resource : undefined)
    if (resource === undefined) {
      return problemReply({ status: 404, detail: 'Nothing at this path needs a token', requestId })
    }
    const { authorizationServers, scopes, name, documentation } = this.#auth
    return {
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
  }

  /** The resource with a path at the host; '': where clients look that do not know the path. */
  #resourceOf(path: string): string | undefined {
    if (path === '' || withoutSlash(path) === withoutSlash(this.#own.pathname)) return this.#auth.resource
    const below = [this.#prefix, this.#mountPath, ''].filter((prefix) => path.startsWith(prefix))
      .map((prefix) => path.slice(prefix.length)).find((rest) => this.#protectedAt(rest) !== undefined)
    if (below === undefined) return undefined
    const beside = this.#besideAt(below)
    return beside === undefined ? this.#auth.resource : this.#own.origin + beside
  }

  /** The path at the host of one that is a resource of its own. */
  #besideAt(path: string): string | undefined {
    if (this.#covered === undefined) return undefined
    const endpoint = this.#protectedAt(path)
    if (endpoint === undefined || this.#covered.has(endpoint)) return undefined
    const encoded = this.#prefix + encodeURI(path).replace(/[?#]/g, encodeURIComponent)
    return encoded.length > MAX_PATH ? undefined : encoded
  }

  /** What needs a credential at a path below the mount path. */
  #protectedAt(path: string): Endpoint | undefined {
    const router = this.#router()
    const whole = this.#mountPath + path
    return router('OPTIONS', whole).allowed.map((method) => router(method, whole).endpoint)
      .find((endpoint) => endpoint !== undefined && (endpoint.open ?? false) === false)
  }
}

/** The endpoint for messages that has a path, behind whatever prefix a proxy takes away. */
function entryAt(path: string, endpoints: readonly Endpoint[]): Endpoint | undefined {
  const entries = endpoints.filter(({ path: own, methods, outsideMount = false }) => (
    !outsideMount && own !== '/' && methods.includes('POST') && path.endsWith(own)
  ))
  return entries.toSorted((a, b) => b.path.length - a.path.length)[0]
}
