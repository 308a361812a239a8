/**
 * Schema documents taken apart into resources, and references looked up in them (2020-12 core §8.2, §9).
 *
 * A document is walked once, at the keywords that hold subschemas, so an `$id` inside an `enum` or an unknown
 * keyword is no identifier. Documents given beside the schema are walked when something refers to them.
 * Nothing is fetched.
 */
import { cut, step } from './error.ts'
import { dialect as newDialect, isObject } from './rule.ts'
import type { Key } from './error.ts'
import type { CompileLimits, JsonSchema } from './limits.ts'
import type { JsonObject, Rule, SchemaDialect, Vocabulary } from './rule.ts'
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
export interface Place {
  readonly schema: unknown
  readonly resource: SchemaResource
  readonly at: string
}

/** The tables that give `$schema` and `$vocabulary` their meaning. */
export interface SchemaDialects {
  readonly byName: ReadonlyMap<string, SchemaDialect>
  readonly vocabularies: ReadonlyMap<string, Vocabulary>
  /** Made when they are asked for, which hardly any schema does. */
  readonly metaschemas: () => ReadonlyMap<string, JsonSchema>
  /** The dialect of a schema that names none. */
  readonly usual: SchemaDialect
}

export interface Registry {
  /** The places of each `$dynamicAnchor`. */
  readonly dynamics: ReadonlyMap<string, readonly Place[]>
  /** Takes in a document that was found under a URI. */
  add(document: JsonSchema, uri: string): Place
  /** What a URI names, or nothing. */
  find(uri: string): Place | undefined
  /** The place of a subschema of a schema, to which the steps lead. */
  inside(place: Place, schema: unknown, steps: readonly Key[]): Place
}

/** The resources of one compilation, which knows the documents `given` by their URIs, and the metaschemas. */
export function register(
  dialects: SchemaDialects, given: ReadonlyMap<string, JsonSchema>, limits: CompileLimits,
): Registry {
  const places = new Map<string, Place>()
  const dynamics = new Map<string, Place[]>()
  const roots = new Map<unknown, SchemaResource>()
  let { usual } = dialects
  let subschemas = 0
  return { dynamics, add, find, inside }

  function add(document: JsonSchema, uri: string): Place {
    const place = walk(document, { uri, dialect: usual }, `${uri}#`, 0)
    // Documents that name no dialect follow the first one.
    if (uri === '') usual = place.resource.dialect ?? usual
    places.set(`${uri}#`, place)
    return place
  }

  function find(uri: string): Place | undefined {
    const [base, fragment] = split(uri)
    const document = given.get(base) ?? dialects.metaschemas().get(base)
    // What no document is called may be an `$id` deep inside one that nothing has referred to yet.
    const candidates = document === undefined ? given : [[base, document] as const]
    for (const [name, candidate] of places.has(`${base}#`) ? [] : candidates) {
      if (!places.has(`${name}#`)) add(candidate, name)
    }
    const [anchor, ...steps] = fragment.startsWith('/') ? fragment.split('/') : [fragment]
    return steps.reduce((place: Place | undefined, escaped) => {
      const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
      const inner: unknown = Object.getOwnPropertyDescriptor(Object(place?.schema), name)?.value
      return place === undefined || inner === undefined ? undefined : inside(place, inner, [name])
    }, places.get(`${base}#${anchor}`))
  }

  function inside({ resource, at }: Place, schema: unknown, steps: readonly Key[]): Place {
    return { schema, resource: roots.get(schema) ?? resource, at: at + steps.map(step).join('') }
  }

  function walk(schema: unknown, around: SchemaResource, at: string, depth: number): Place {
    if (depth > limits.maxSchemaDepth) throw broken(at, `is more than ${depth - 1} levels deep; use "$ref"`)
    if (++subschemas > limits.maxSubschemas) throw broken(at, 'is one subschema too many (maxSubschemas)')
    const fields = isObject(schema) ? schema : {}
    const place = enter(schema, fields, around, at, depth === 0)
    const { rules } = place.resource.dialect ?? usual
    for (const [keyword, value] of Object.entries(fields)) {
      const holds = rules.get(keyword)?.kind[3]
      const here = at + step(keyword)
      if (holds === 'schemas' && isObject(value)) walk(value, place.resource, here, depth + 1)
      else if (holds && typeof value === 'object') {
        for (const [key, inner] of Object.entries(value ?? {})) {
          if (isObject(inner)) walk(inner, place.resource, here + step(key), depth + 1)
        }
      }
    }
    return place
  }

  /** Finds out what resource a schema belongs to, a new one where it has a name, and what it is called. */
  function enter(
    schema: unknown, fields: JsonObject, around: SchemaResource, at: string, isRoot: boolean,
  ): Place {
    const id = text(fields, '$id')
    const dialect = isRoot || id ? dialectOf(fields, around.dialect, 0) : around.dialect
    const { lonelyRef = false } = dialect ?? {}
    const name = lonelyRef && Object.hasOwn(fields, '$ref') ? '' : id
    const isLocal = lonelyRef && name.startsWith('#')
    const isNew = isRoot || (name !== '' && !isLocal)
    const resource = isNew ? { uri: split(resolve(around.uri, name))[0], dialect } : around
    const place = { schema, resource, at }
    if (isNew) {
      places.set(`${resource.uri}#`, place)
      roots.set(fields, resource)
    }
    const dynamic = lonelyRef ? '' : text(fields, '$dynamicAnchor')
    const local = isLocal ? name.slice(1) : ''
    for (const anchor of [lonelyRef ? local : text(fields, '$anchor'), dynamic]) {
      if (anchor) places.set(`${resource.uri}#${anchor}`, place)
    }
    if (dynamic && !dynamics.get(dynamic)?.push(place)) dynamics.set(dynamic, [place])
    return place
  }

  function dialectOf(
    fields: JsonObject, outer: SchemaDialect | undefined, depth: number,
  ): SchemaDialect | undefined {
    const name = text(fields, '$schema').replace(/#$/, '')
    if (!name) return outer
    const metaschema = given.get(name)
    if (dialects.byName.has(name) || !isObject(metaschema) || depth > 8) return dialects.byName.get(name)
    const { $vocabulary } = metaschema
    if (!isObject($vocabulary)) return dialectOf(metaschema, undefined, depth + 1)
    const rules = Object.entries($vocabulary).flatMap(([uri, required]): [string, Rule][] => {
      const vocabulary = dialects.vocabularies.get(uri)
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
