/**
 * The OpenAPI 3.1 description, made from the endpoints that are really served.
 * Spec: https://spec.openapis.org/oas/v3.1.1
 */
import { isRecord } from '../core/content.ts'
import { chatSchemas } from './chat-operations.ts'
import { schemas } from './openapi-operations.ts'
import type { Service } from '../core/service.ts'
import type { Description, Endpoint, MethodOperations } from '../http/exchange.ts'

/** The groups of operations, in the order in which a reader wants them. */
const tags = [
  { name: 'HTTP', description: 'Queries to agents and groups.' },
  { name: 'OpenAI', description: 'The same agents, for clients of OpenAI.' },
  { name: 'Tools', description: 'Tools, resources and prompts, one call each.' },
  { name: 'MCP', description: 'The Model Context Protocol.' },
  { name: 'A2A', description: 'The Agent2Agent protocol.' },
  { name: 'Service', description: 'The server itself.' },
]

/** Puts the description together. A `{agent}` in a path becomes one path per agent and group. */
export function openapiDocument(
  service: Service, endpoints: readonly Endpoint[], baseUrl: string, keyed: boolean,
): object {
  const { catalog, name, version, description } = service
  const ids = [...catalog.groups, ...catalog.agents].map(({ id }) => id)
  const paths = new Map<string, Record<string, unknown>>()
  const own: Record<string, unknown> = {}
  for (const endpoint of endpoints) {
    if (endpoint.isOffered?.() === false) continue
    const described = endpoint.describe?.()
    if (described !== undefined) Object.assign(own, described.schemas)
    for (const [path, operations] of pathsOf(endpoint, described, ids)) {
      for (const [method, operation] of Object.entries(operations)) {
        const item = paths.get(path) ?? {}
        const security = keyed && endpoint.open && { security: [] }
        item[method] = { ...operation, ...parametersOf(path, operation), ...security }
        paths.set(path, item)
      }
    }
  }
  return {
    openapi: '3.1.1',
    info: { title: name, version, ...description !== '' && { description } },
    servers: [{ url: baseUrl }],
    tags: tags.filter((tag) => [...paths.values()].some((item) => hasTag(item, tag.name))),
    paths: Object.fromEntries(paths),
    components: {
      schemas: { ...schemas, ...chatSchemas, ...own },
      ...keyed && {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          bearer: { type: 'http', scheme: 'bearer' },
        },
      },
    },
    ...keyed && { security: [{ apiKey: [] }, { bearer: [] }] },
  }
}

/** The paths that an endpoint has now, each with what is said of it. */
function* pathsOf(
  { path, operations = {} }: Endpoint, described: Description | undefined, ids: readonly string[],
): Generator<readonly [path: string, operations: MethodOperations]> {
  if (described !== undefined) {
    for (const [name, own] of described.operations) yield [path.replace(/\{\w+\}/, name), own]
  } else if (path.includes('{agent}')) {
    for (const id of ids) yield [path.replace('{agent}', id), operations]
  } else {
    yield [path, operations]
  }
}

function hasTag(item: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.values(item).some((operation) => isRecord(operation) && Array.isArray(operation['tags'])
    && operation['tags'].includes(name))
}

/** What stands in the path, before what the operation itself takes besides. */
function parametersOf(path: string, { parameters }: Readonly<Record<string, unknown>>): object {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  if (names.length === 0) return {}
  const schema = { type: 'string' }
  const inPath = names.map((name) => ({ name, in: 'path', required: true, schema }))
  return { parameters: Array.isArray(parameters) ? [...inPath, ...parameters] : inPath }
}
