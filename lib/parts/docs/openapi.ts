/**
 * The OpenAPI 3.1 description, made from the endpoints that are really served.
 * Spec: https://spec.openapis.org/oas/v3.1.1
 */
import { isRecord } from '../../kernel/define/content.ts'
import { allowed } from '../../kernel/define/principal.ts'
import { sharedComponents } from '../../floors/openapi/components.ts'
import type { Principal } from '../../kernel/define/principal.ts'
import type { Service } from '../../kernel/run/service.ts'
import type {
  Components, Description, Endpoint, MethodOperations,
} from '../../kernel/http/message/exchange.ts'
import type { DocumentPart } from '../../floors/openapi/openapi.ts'

/** Who reads the description, where a server is reached, and which credentials it needs. */
export interface Access {
  readonly principal: Principal
  readonly baseUrl: string
  /** Whether a request needs a credential. */
  readonly isKeyed: boolean
  /** Whether that may be a key. */
  readonly takesKeys: boolean
  /** The issuers of the tokens that are accepted. */
  readonly authorizationServers: readonly string[]
}

/** Puts the description together. A `{agent}` in a path becomes one path per agent and group. */
export async function openapiDocument(
  service: Service, endpoints: readonly Endpoint[], access: Access,
): Promise<object> {
  const { baseUrl, isKeyed, principal } = access
  const descriptions = await Promise.all(endpoints.map((endpoint) => endpoint.describe?.(principal)))
  const { catalog, name, version, description } = service
  const ids = allowed(principal, [...catalog.groups, ...catalog.agents]).map(({ id }) => id)
  const paths = new Map<string, Record<string, unknown>>()
  const pools = new Set<Components>([sharedComponents])
  const operationIds = new Set<string>()
  const spellings = new Set(endpoints.map(({ path }) => path))
  for (const [at, endpoint] of endpoints.entries()) {
    if (endpoint.isOffered?.() === false) continue
    // Of two spellings of one path the shorter is enough.
    if (endpoint.path.endsWith('/') && spellings.has(endpoint.path.slice(0, -1))) continue
    const { components, ...described } = descriptions[at] ?? {}
    if (components !== undefined) pools.add(components)
    for (const [path, operations] of pathsOf(endpoint, described, ids)) {
      for (const [method, operation] of Object.entries(operations)) {
        const item = paths.get(path) ?? pathItemOf(endpoint, baseUrl)
        item[method] = {
          ...operation,
          operationId: newId(operation, method, path, operationIds),
          ...parametersOf(path, operation),
          responses: responsesOf(operation, endpoint, isKeyed),
          ...isKeyed && endpoint.open && { security: [] },
        }
        paths.set(path, item)
      }
    }
  }
  const schemes = isKeyed ? schemesOf(access) : {}
  return {
    openapi: '3.1.1',
    info: { title: name, version, ...description !== '' && { description } },
    servers: [{ url: baseUrl }],
    tags: tagsFor([...paths.values()], [...pools]),
    paths: Object.fromEntries(paths),
    components: {
      ...componentsFor([...paths.values()], [...pools]), ...isKeyed && { securitySchemes: schemes },
    },
    security: Object.keys(schemes).map((scheme) => ({ [scheme]: [] })),
  }
}

function schemesOf({ takesKeys, authorizationServers }: Access): DocumentPart {
  const issuers = authorizationServers.join(', ')
  const description = issuers === '' ? 'The key.'
    : `${takesKeys ? 'The key, or an' : 'An'} access token of ${issuers}.`
  return {
    ...takesKeys && { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The key.' } },
    bearer: { type: 'http', scheme: 'bearer', description },
  }
}

/** The paths that an endpoint has now, each with its operations. */
function* pathsOf(
  endpoint: Endpoint, { operations = {}, named }: Description, ids: readonly string[],
): Generator<readonly [path: string, operations: MethodOperations]> {
  // A name for the rest of a path is spelled like any other.
  const path = endpoint.path.replace('*}', '}')
  if (named !== undefined) {
    for (const [name, own] of named) yield [path.replace(/\{\w+\}/, name), own]
  } else if (path.includes('{agent}')) {
    for (const id of ids) yield [path.replace('{agent}', id), operations]
  } else {
    yield [path, operations]
  }
}

/** A path outside the mount has a server of its own. */
function pathItemOf({ outsideMount = false }: Endpoint, baseUrl: string): Record<string, unknown> {
  const { origin } = new URL(baseUrl)
  return outsideMount && origin !== baseUrl ? { servers: [{ url: origin }] } : {}
}

/** A unique id, made of method and path where the operation has none. */
function newId({ operationId }: DocumentPart, method: string, path: string, taken: Set<string>): string {
  const words = [method, ...path.split(/[^\w-]+/).filter((word) => word !== '')]
  const name = typeof operationId === 'string' ? operationId : words.join('.')
  let id = name
  for (let number = 2; taken.has(id); number++) id = `${name}.${number}`
  taken.add(id)
  return id
}

/** The refusals that are made before the endpoint, in its form, and its own responses. */
function responsesOf({ responses }: DocumentPart, { open }: Endpoint, isKeyed: boolean): unknown {
  if (!isRecord(responses) || !isRecord(responses['default'])) return responses
  const refused = (description: string): object => ({ ...Object(responses['default']), description })
  return {
    ...isKeyed && open === undefined && { 401: refused('No valid credential came with the request') },
    ...open !== 'public' && { 403: refused('The Host or the Origin is not let in, or a scope is lacking') },
    ...responses,
  }
}

/** The tags that operations have and that are described. */
function tagsFor(
  items: readonly Readonly<Record<string, unknown>>[], pools: readonly Components[],
): readonly object[] {
  const known = new Map(pools.flatMap(({ tags = {} }) => Object.entries(tags)))
  const used = [...known].filter(([name]) => items.some((item) => hasTag(item, name)))
  return used.toSorted(([, one], [, other]) => one.rank - other.rank)
    .map(([name, { description }]) => ({ name, description }))
}

function hasTag(item: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.values(item).some((operation) => isRecord(operation) && Array.isArray(operation['tags'])
    && operation['tags'].includes(name))
}

/** The parameters in the path, before those of the operation itself. */
function parametersOf(path: string, { parameters }: DocumentPart): object {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  if (names.length === 0) return {}
  const schema = { type: 'string' }
  const inPath = names.map((name) => ({ name, in: 'path', required: true, schema }))
  return { parameters: Array.isArray(parameters) ? [...inPath, ...parameters] : inPath }
}

const REFERENCE = /^#\/components\/(schemas|responses)\/([^/]+)/

/** The components that a part of a document refers to, and those to which these refer. */
function componentsFor(part: unknown, pools: readonly Components[]): Components {
  const picked = { schemas: {}, responses: {} }
  const pick = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name === '$ref' && typeof member === 'string') follow(member)
      else pick(member)
    }
  }
  const follow = (reference: string): void => {
    const [, kind, name = ''] = REFERENCE.exec(reference) ?? []
    if (kind !== 'schemas' && kind !== 'responses') return
    const known: Record<string, unknown> = picked[kind]
    if (Object.hasOwn(known, name)) return
    const pool = pools.find((one) => Object.hasOwn(one[kind] ?? {}, name))
    if (pool === undefined) return
    known[name] = pool[kind]?.[name]
    pick(known[name])
  }
  pick(part)
  return picked
}
