/** What a server says of itself: welcome, the docs page, the OpenAPI description; and of its health. */
import { describeRoot } from '../../kernel/define/agent.ts'
import { fixedPaths, healthEndpoints } from '../../kernel/server/health.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { BoundedMap } from '../../kernel/util/bounded-map.ts'
import { problemReply } from '../../kernel/wire/problem.ts'
import { describer } from '../../floors/openapi/describer.ts'
import { acceptance } from '../../floors/reply/acceptance.ts'
import { json } from '../../floors/reply/reply.ts'
import { PackedReply } from './packed-reply.ts'
import type { Principal } from '../../kernel/define/principal.ts'
import type { Endpoint, Reply } from '../../kernel/http/message/exchange.ts'
import type { Kernel } from '../../kernel/server/part.ts'

type Page = typeof import('./docs.ts')

const describedBy = describer(async () => (await import('./openapi-operations.ts')).serviceOperations)

/** Descriptions that are kept: each set of scopes has one of its own, at each address. */
const MAX_DESCRIPTIONS = 8

export function serviceEndpoints(kernel: Kernel): readonly Endpoint[] {
  const { name, catalog, credentials } = kernel
  // Made at the first request, when all endpoints are known, and kept until something else is served.
  let welcome: { readonly basePath: string; readonly reply: Reply } | undefined
  const descriptions = new BoundedMap<PackedReply>(MAX_DESCRIPTIONS)
  let page: Page | undefined
  let changes = 0
  catalog.onChange(() => {
    changes++
    welcome = undefined
    descriptions.clear()
  })

  const describe = async (baseUrl: string, principal: Principal, key: string): Promise<PackedReply> => {
    const { openapiDocument } = await import('./openapi.ts')
    const { auth, isNeeded, takesKeys } = credentials
    const changesBefore = changes
    const document = await openapiDocument(kernel, kernel.endpoints(), {
      principal, baseUrl, authorizationServers: auth?.authorizationServers ?? [], isKeyed: isNeeded(),
      takesKeys: takesKeys(),
    })
    const headers = ['Cache-Control', 'private, no-cache', 'Vary', 'Host, Accept-Encoding']
    const reply = new PackedReply({ status: 200, type: JSON_TYPE, headers }, formatJson(document))
    if (changes === changesBefore) descriptions.set(key, reply)
    return reply
  }
  /** What a query to the root runs, where it is served. */
  const asked = (basePath: string): { readonly query?: string } => {
    const { root, agents, groups } = catalog
    const isServed = kernel.endpoints().some(({ path, methods }) => path === '/' && methods.includes('POST'))
    if (root === undefined || !isServed) return {}
    return { query: `POST ${basePath}/ ${describeRoot(root, agents.length + groups.length)}` }
  }
  const welcomed: Endpoint['handle'] = ({ head, basePath }) => {
    const docs = `${basePath}/docs`
    if (acceptance(head.accept, 'text/html') > acceptance(head.accept, JSON_TYPE)) {
      return { status: 303, headers: ['Location', docs, 'Vary', 'Accept'] }
    }
    if (welcome?.basePath !== basePath) {
      const message = `Welcome to ${name}. See ${docs} for usage.`
      const endpoints = fixedPaths(kernel, basePath)
      const reply = json({ message, endpoints, docs, ...asked(basePath) }, 200, ['Vary', 'Accept'])
      welcome = { basePath, reply }
    }
    return welcome.reply
  }
  const at = (
    path: string, operation: Parameters<typeof describedBy>[1], handle: Endpoint['handle'],
    open: Endpoint['open'] = true,
  ): Endpoint => ({
    path, methods: ['GET'], open, always: true, refuse: problemReply, handle,
    describe: describedBy('GET', operation),
  })
  return [
    at('/', 'welcome', welcomed),
    ...healthEndpoints(kernel).map((endpoint) => ({
      ...endpoint, describe: describedBy('GET', endpoint.path === '/ready' ? 'ready' : 'health'),
    })),
    at('/docs', 'docs', (exchange) => (
      page?.readDocs(exchange) ?? import('./docs.ts').then((loaded) => (page = loaded).readDocs(exchange))
    )),
    at('/llms.txt', 'llms', (exchange) => (
      import('./llms.ts').then(({ readLlms }) => readLlms(kernel, exchange))
    ), false),
    at('/openapi.json', 'openapi', (exchange) => {
      const { baseUrl, origin: { principal } } = exchange
      const key = `${baseUrl} ${catalog.viewOf(principal)}`
      const known = descriptions.get(key)
      if (known !== undefined) return known.for(exchange)
      return describe(baseUrl, principal, key).then((reply) => reply.for(exchange))
    }, false),
  ]
}
