/**
 * The paths that every server has, whatever protocols it serves: welcome, health, readiness, the docs
 * page and the OpenAPI description.
 */
import { acceptance, JSON_TYPE } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { PackedReply } from '../reply/reply.ts'
import { json } from '../reply/reply.ts'
import type { Service } from '../../run/service.ts'
import type { Endpoint, Reply } from '../../http/message/exchange.ts'

/** What the paths tell about the server around them. */
export interface ServerFacts {
  readonly endpoints: () => readonly Endpoint[]
  /** Whether anything must be sent to be let in, and whether that may be a key. */
  readonly isKeyed: () => boolean
  readonly takesKeys: () => boolean
  /** Of the tokens that may be sent. */
  readonly authorizationServers: readonly string[]
  readonly isDraining: () => boolean
}

type Said = typeof import('../openapi/openapi-operations.ts')
type Page = typeof import('./docs.ts')

/** Makes them. `facts.endpoints` is asked only when a request comes. */
export function serviceEndpoints(service: Service, facts: ServerFacts): readonly Endpoint[] {
  // Put together at the first request, when all endpoints are known, and sent as it is until something else
  // is served.
  const fixedPaths = (basePath: string): readonly string[] => {
    const fixed = facts.endpoints().filter(({ path, isOffered }) => (
      !path.includes('{') && isOffered?.() !== false
    ))
    return [...new Set(fixed.map(({ path, outsideMount }) => outsideMount === true ? path : basePath + path))]
  }
  let health: { readonly basePath: string; readonly reply: Reply } | undefined
  let welcome: { readonly basePath: string; readonly reply: Reply } | undefined
  let openapi: { readonly baseUrl: string; readonly reply: PackedReply } | undefined
  let changes = 0
  service.catalog.onChange(() => {
    changes++
    health = welcome = openapi = undefined
  })

  const at = (path: string, name: keyof Said['httpOperations'], handle: Endpoint['handle']): Endpoint => ({
    path, methods: ['GET'], open: true, always: true, refuse: problemReply, handle,
    describe: async () => ({
      operations: { get: (await import('../openapi/openapi-operations.ts')).httpOperations[name] },
    }),
  })
  // Neither is loaded before somebody reads it.
  let page: Page | undefined
  const describe = async (baseUrl: string): Promise<PackedReply> => {
    const { openapiDocument } = await import('../openapi/openapi.ts')
    const { authorizationServers, isKeyed, takesKeys } = facts
    const changesBefore = changes
    const document = await openapiDocument(service, facts.endpoints(), {
      baseUrl, authorizationServers, isKeyed: isKeyed(), takesKeys: takesKeys(),
    })
    const headers = ['Cache-Control', 'private, no-cache', 'Vary', 'Host, Accept-Encoding']
    const reply = new PackedReply({ status: 200, type: JSON_TYPE, headers }, JSON.stringify(document))
    if (changes === changesBefore) openapi = { baseUrl, reply }
    return reply
  }
  // What a store that others share is like; nothing where there is none.
  const store = (): object => (
    service.shared === undefined ? {} : { store: service.shared.store.isUnavailable ? 'away' : 'reached' }
  )
  const healthy: Endpoint['handle'] = ({ basePath, query }) => {
    if (query !== '' && new URLSearchParams(query).has('verbose')) {
      const { name, version } = service
      return json({ status: 'ok', endpoints: fixedPaths(basePath), name, version, ...store() })
    }
    if (health?.basePath !== basePath) {
      const endpoints = fixedPaths(basePath)
      const { name, version } = service
      health = { basePath, reply: json({ status: 'ok', endpoints, name, version }) }
    }
    return health.reply
  }

  return [
    at('/', 'welcome', ({ head, basePath }) => {
      const docs = `${basePath}/docs`
      if (acceptance(head.accept, 'text/html') > acceptance(head.accept, JSON_TYPE)) {
        return { status: 303, headers: ['Location', docs, 'Vary', 'Accept'] }
      }
      if (welcome?.basePath !== basePath) {
        const message = `Welcome to ${service.name}. See ${docs} for usage.`
        const reply = json({ message, endpoints: fixedPaths(basePath), docs }, 200, ['Vary', 'Accept'])
        welcome = { basePath, reply }
      }
      return welcome.reply
    }),
    at('/health', 'health', healthy),
    at('/healthz', 'health', healthy),
    at('/ready', 'ready', ({ origin: { requestId } }) => {
      // Without its store a process still serves most; if it left, all others would leave with it.
      if (!facts.isDraining()) return json({ status: 'ready', ...store() })
      const headers = ['Retry-After', '1']
      return problemReply({ status: 503, detail: 'The server is closing down', requestId, headers })
    }),
    at('/docs', 'docs', (exchange) => (
      page?.readDocs(exchange) ?? import('./docs.ts').then((loaded) => (page = loaded).readDocs(exchange))
    )),
    {
      ...at('/openapi.json', 'openapi', (exchange) => {
        const { baseUrl } = exchange
        if (openapi?.baseUrl === baseUrl) return openapi.reply.for(exchange)
        return describe(baseUrl).then((reply) => reply.for(exchange))
      }),
      open: false,
    },
  ]
}
