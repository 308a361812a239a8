/**
 * Schema documents taken apart into resources, and references looked up in them (2020-12 core §8.2, §9).
 *
 * A document is walked once, at the keywords that hold subschemas, so an `$id` inside an `enum` or an unknown
 * keyword is no identifier. Documents given beside the schema are walked when something refers to them.
 * Nothing is fetched.
 */
import { dialectsByUri, metaschemas, usualDialect, vocabulariesByUri } from './dialects.ts'
import { cut, step } from './error.ts'
import { dialect as newDialect, isObject } from './rule.ts'
import type { Key } from './error.ts'
import type { CompileLimits, JsonSchema } from './limits.ts'
import type { JsonObject, Rule, SchemaDialect } from './rule.ts'
import type { Scope } from './run.ts'

/**
 * The target of a reference, with its fragment (RFC 3986 §5.2), on text alone: any scheme, relative bases
 * too. Nothing is normalized but dot segments, since JSON Schema compares URIs as they are written.
 */
export function resolve(base: string, reference: string): string {
  const [, scheme = '', authority = '', path = '', query = ''] = partsOf(base)
  const [, ownScheme, ownAuthority, ownPath = '', ownQuery, fragment = ''] = partsOf(reference)
  if (ownScheme !== undefined || base === '') return reference
  if (ownAuthority !== undefined) return scheme + reference
  if (ownPath === '') return scheme + authority + path + (ownQuery ?? query) + fragment
  const folder = ownPath.startsWith('/') ? '' : path.slice(0, path.lastIndexOf('/') + 1) || (authority && '/')
  return scheme + authority + withoutDots(folder + ownPath) + (ownQuery ?? '') + fragment
}

/** A URI and its fragment, the latter without `#` and percent-encoding. */
export function split(uri: string): [uri: string, fragment: string] {
  const [base = '', fragment = ''] = uri.split('#', 2)
  try {
    return [base, decodeURIComponent(fragment)]
  } catch {
    return [base, fragment]
  }
}

/** RFC 3986 appendix B. */
function partsOf(uri: string): readonly (string | undefined)[] {
  return /^([^:/?#]+:)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(uri) ?? []
}

function withoutDots(path: string): string {
  const output: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..' && (output.length > 1 || output[0])) output.pop()
    if (!/^\.\.?$/.test(segment)) output.push(segment)
  }
  return output.join('/') + (/\/\.\.?$/.test(path) ? '/' : '')
}

/** A schema with a URI of its own. */
interface SchemaResource extends Scope {
  /** Undefined where `$schema` names a dialect that is not known. */
  readonly dialect: SchemaDialect | undefined
}

/** A schema, the resource it belongs to, and its address for messages. */
export interface SchemaLocation {
  readonly schema: unknown
  readonly resource: SchemaResource
  readonly at: string
}

export interface Registry {
  /** The locations of each `$dynamicAnchor`. */
  readonly dynamics: ReadonlyMap<string, readonly SchemaLocation[]>
  /** Takes in a document that was found under a URI. */
  add(document: JsonSchema, uri: string): SchemaLocation
  /** What a URI names, or nothing. */
  find(uri: string): SchemaLocation | undefined
  /** The location of a subschema of a schema, to which the steps lead. */
  inside(location: SchemaLocation, schema: unknown, steps: readonly Key[]): SchemaLocation
}

/** The resources of one compilation, which knows the documents `given` by their URIs, and the metaschemas. */
export function register(
  given: ReadonlyMap<string, JsonSchema>, limits: CompileLimits,
): Registry {
  const locations = new Map<string, SchemaLocation>()
  const dynamics = new Map<string, SchemaLocation[]>()
  const roots = new Map<unknown, SchemaResource>()
  let usual = usualDialect
  let subschemas = 0
  return { dynamics, add, find, inside }

  function add(document: JsonSchema, uri: string): SchemaLocation {
    const location = walk(document, { uri, dialect: usual }, `${uri}#`, 0)
    // Documents that name no dialect follow the first one.
    if (uri === '') usual = location.resource.dialect ?? usual
    locations.set(`${uri}#`, location)
    return location
  }

  function find(uri: string): SchemaLocation | undefined {
    const [base, fragment] = split(uri)
    const document = given.get(base) ?? metaschemas().get(base)
    // What no document is called may be an `$id` deep inside one that nothing has referred to yet.
    const candidates = document === undefined ? given : [[base, document] as const]
    for (const [name, candidate] of locations.has(`${base}#`) ? [] : candidates) {
      if (!locations.has(`${name}#`)) add(candidate, name)
    }
    const [anchor, ...steps] = fragment.startsWith('/') ? fragment.split('/') : [fragment]
    return steps.reduce((location: SchemaLocation | undefined, escaped) => {
      const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
      const inner: unknown = Object.getOwnPropertyDescriptor(Object(location?.schema), name)?.value
      return location === undefined || inner === undefined ? undefined : inside(location, inner, [name])
    }, locations.get(`${base}#${anchor}`))
  }

  function inside({ resource, at }: SchemaLocation, schema: unknown, steps: readonly Key[]): SchemaLocation {
    return { schema, resource: roots.get(schema) ?? resource, at: at + steps.map(step).join('') }
  }

  function walk(schema: unknown, around: SchemaResource, at: string, depth: number): SchemaLocation {
    if (depth > limits.maxSchemaDepth) throw broken(at, `is more than ${depth - 1} levels deep; use "$ref"`)
    if (++subschemas > limits.maxSubschemas) throw broken(at, 'is one subschema too many (maxSubschemas)')
    const fields = isObject(schema) ? schema : {}
    const location = enter(schema, fields, around, at, depth === 0)
    const { rules } = location.resource.dialect ?? usual
    for (const keyword of Object.keys(fields)) {
      const holds = rules.get(keyword)?.kind[3]
      const value = fields[keyword]
      if (holds === undefined || typeof value !== 'object' || value === null) continue
      const here = at + step(keyword)
      if (holds === 'schemas' && isObject(value)) walk(value, location.resource, here, depth + 1)
      else {
        for (const [key, inner] of Object.entries(value)) {
          if (isObject(inner)) walk(inner, location.resource, here + step(key), depth + 1)
        }
      }
    }
    return location
  }

  /** Finds out what resource a schema belongs to, a new one where it has a name, and what it is called. */
  function enter(
    schema: unknown, fields: JsonObject, around: SchemaResource, at: string, isRoot: boolean,
  ): SchemaLocation {
    const id = text(fields, '$id')
    const dialect = isRoot || id ? dialectOf(fields, around.dialect, 0) : around.dialect
    const { lonelyRef = false } = dialect ?? {}
    const name = lonelyRef && Object.hasOwn(fields, '$ref') ? '' : id
    const isLocal = lonelyRef && name.startsWith('#')
    const isNew = isRoot || (name !== '' && !isLocal)
    const uri = name === '' ? around.uri : split(resolve(around.uri, name))[0]
    const resource = isNew ? { uri, dialect } : around
    const location = { schema, resource, at }
    if (isNew) {
      locations.set(`${resource.uri}#`, location)
      roots.set(fields, resource)
    }
    const dynamic = lonelyRef ? '' : text(fields, '$dynamicAnchor')
    const local = isLocal ? name.slice(1) : ''
    for (const anchor of [lonelyRef ? local : text(fields, '$anchor'), dynamic]) {
      if (anchor) locations.set(`${resource.uri}#${anchor}`, location)
    }
    if (dynamic && !dynamics.get(dynamic)?.push(location)) dynamics.set(dynamic, [location])
    return location
  }

  function dialectOf(
    fields: JsonObject, outer: SchemaDialect | undefined, depth: number,
  ): SchemaDialect | undefined {
    const name = text(fields, '$schema').replace(/#$/, '')
    if (!name) return outer
    const metaschema = given.get(name)
    if (dialectsByUri.has(name) || !isObject(metaschema) || depth > 8) return dialectsByUri.get(name)
    const { $vocabulary } = metaschema
    if (!isObject($vocabulary)) return dialectOf(metaschema, undefined, depth + 1)
    const rules = Object.entries($vocabulary).flatMap(([uri, required]): [string, Rule][] => {
      const vocabulary = vocabulariesByUri.get(uri)
      if (vocabulary || required !== true) return [...vocabulary ?? []]
      throw new TypeError(`The metaschema ${name} requires the vocabulary ${uri}, which is not known here`)
    })
    return newDialect(new Map(rules))
  }
}

/** The mistake at an address in a schema, to throw. */
export function broken(at: string, why: string): TypeError {
  return new TypeError(`Invalid JSON Schema at ${cut(at.replace(/^#(?=.)/, ''), 256)}: ${cut(why, 700)}`)
}

/** A keyword's text, or none. What is no text is refused when the schema is compiled. */
function text(fields: JsonObject, keyword: string): string {
  const value = fields[keyword]
  return typeof value === 'string' ? value : ''
}
