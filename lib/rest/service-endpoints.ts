/**
 * The paths that every server has, whatever protocols it serves: welcome, health, readiness, the docs
 * page and the OpenAPI description.
 */
import { acceptance, JSON_TYPE } from '../wire/media.ts'
import { problemReply } from '../wire/problem.ts'
import { readDocs } from './docs.ts'
import { openapiDocument } from './openapi.ts'
import { plainOperation } from './openapi-operations.ts'
import { json } from './reply.ts'
import type { Service } from '../core/service.ts'
import type { Endpoint, Reply } from '../http/exchange.ts'

/** What the paths tell about the server around them. */
export interface ServerFacts {
  readonly endpoints: () => readonly Endpoint[]
  readonly mountPath: string
  readonly isKeyed: () => boolean
  readonly isDraining: () => boolean
}

/** Makes them. `facts.endpoints` is asked only when a request comes. */
export function serviceEndpoints(service: Service, facts: ServerFacts): readonly Endpoint[] {
  const { mountPath } = facts
  // Put together at the first request, when all endpoints are known, and sent as it is ever after.
  let paths: readonly string[] | undefined
  const fixedPaths = (): readonly string[] => paths ??= [...new Set(facts.endpoints()
    .filter(({ path }) => !path.includes('{'))
    .map(({ path, outsideMount }) => outsideMount === true ? path : mountPath + path))]
  let health: Reply | undefined
  let welcome: Reply | undefined
  let openapi: { readonly baseUrl: string; readonly reply: Reply } | undefined
  service.catalog.onChange(() => { openapi = undefined })

  const at = (path: string, summary: string, handle: Endpoint['handle']): Endpoint => ({
    path, methods: ['GET'], open: true, always: true, refuse: problemReply, handle,
    operations: { get: plainOperation('Service', summary) },
  })
  const healthy: Endpoint['handle'] = () => health ??= json({
    status: 'ok', endpoints: fixedPaths(), name: service.name, version: service.version,
  })

  return [
    at('/', 'Welcome', ({ head }) => {
      if (acceptance(head.accept, 'text/html') > acceptance(head.accept, JSON_TYPE)) {
        return { status: 303, headers: ['Location', `${mountPath}/docs`, 'Vary', 'Accept'] }
      }
      return welcome ??= json({
        message: `Welcome to ${service.name}. See ${mountPath}/docs for usage.`,
        endpoints: fixedPaths(),
        docs: `${mountPath}/docs`,
      }, 200, ['Vary', 'Accept'])
    }),
    at('/health', 'Whether the server is up', healthy),
    at('/healthz', 'Whether the server is up', healthy),
    at('/ready', 'Whether the server takes work', ({ origin: { requestId } }) => {
      if (!facts.isDraining()) return json({ status: 'ready' })
      const headers = ['Retry-After', '1']
      return problemReply({ status: 503, detail: 'The server is closing down', requestId, headers })
    }),
    { ...at('/docs', 'Interactive documentation', () => readDocs()), operations: {} },
    {
      ...at('/openapi.json', 'This description', ({ baseUrl }) => {
        if (openapi?.baseUrl !== baseUrl) {
          const document = openapiDocument(service, facts.endpoints(), baseUrl, facts.isKeyed())
          const headers = ['Cache-Control', 'private, no-cache', 'Vary', 'Host']
          openapi = { baseUrl, reply: json(document, 200, headers) }
        }
        return openapi.reply
      }),
      open: false,
    },
  ]
}
