/**
 * Schema documents taken apart into resources, and references looked up in them (2020-12 core §8.2, §9).
 *
 * A document is walked once, at the keywords that hold subschemas, so an `$id` inside an `enum` or an unknown
 * keyword is no identifier. Documents given beside the schema are walked when something refers to them.
 * Nothing is fetched.
 */
import { isRecord } from '../util/record.ts'
import { dialectsByUri, metaschemas, usualDialect, vocabulariesByUri } from './dialects.ts'
import { cut, pointerOf } from './error.ts'
import { dialect as newDialect } from './rule.ts'
import { CHARACTER, namesOf, STEP } from './evaluation.ts'
import type { Key } from './error.ts'
import type { CompileLimits, JsonSchema } from './limits.ts'
import type { JsonObject, Rule, SchemaDialect } from './rule.ts'
import type { Fuel, Scope } from './evaluation.ts'

/** Of an address in a message, in bytes. */
const MAX_ADDRESS = 256

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
  readonly at: Place
}

/** An address, of which text is made only where it is wanted: there are many, and names may be long. */
export interface Place {
  /** What the keys start from: another place, or the URI of a document. */
  readonly from: Place | string
  readonly keys: readonly Key[]
}

export interface Registry {
  /** The locations of each `$dynamicAnchor`, by the resource that has it. */
  readonly dynamics: ReadonlyMap<string, ReadonlyMap<Scope, SchemaLocation>>
  /** What this compilation may still do. */
  readonly work: Work
  /** Takes in a document that was found under a URI. */
  add(document: JsonSchema, uri: string): SchemaLocation
  /** What a reference in a schema names, and by which anchor; or nothing. */
  find(reference: string, from: SchemaLocation): Found | undefined
  /** The location of a subschema of a schema, to which the steps lead. */
  inside(location: SchemaLocation, schema: unknown, steps: readonly Key[]): SchemaLocation
}

export interface Found { readonly location: SchemaLocation; readonly anchor: string }

/** The work of one compilation, which has a bound as that of a check has. */
export class Work {
  readonly #maxSteps: number
  #left: number

  constructor({ maxCompileSteps }: CompileLimits) {
    this.#maxSteps = maxCompileSteps
    this.#left = maxCompileSteps * STEP
  }

  /** Pays, before it is done, for what stands at a place. Throws the mistake where too little is left. */
  pay(parts: number, at: Place): void {
    this.#left -= parts
    if (this.#left >= 0) return
    throw broken(at, 'from here on the schema takes too much work to read (maxCompileSteps '
      + `${this.#maxSteps}); write fewer subschemas, references and values, and shorter patterns`)
  }
}

/** Looking at a subschema, resolving a URI, and going one step of a pointer. */
const WALK = 8 * STEP
const RESOLVED = 30 * STEP
const POINTER = 8 * STEP

/** The resources of one compilation, which knows the documents `given` by their URIs, and the metaschemas. */
export function register(
  given: ReadonlyMap<string, JsonSchema>, limits: CompileLimits,
): Registry {
  const work = new Work(limits)
  /** By URI, and in each by its anchors. */
  const documents = new Map<string, SchemaLocation>()
  const anchors = new Map<Scope, Map<string, SchemaLocation>>()
  const dynamics = new Map<string, Map<Scope, SchemaLocation>>()
  const roots = new Map<unknown, SchemaResource>()
  let usual = usualDialect
  let subschemas = 0
  return { dynamics, work, add, find, inside }

  function add(document: JsonSchema, uri: string): SchemaLocation {
    const location = walk(document, { uri, dialect: usual }, { from: uri, keys: [] }, 0)
    // Documents that name no dialect follow the first one.
    if (uri === '') usual = location.resource.dialect ?? usual
    documents.set(uri, location)
    return location
  }

  function find(reference: string, from: SchemaLocation): Found | undefined {
    work.pay(reference.length * CHARACTER, from.at)
    // A resource knows what it calls its own, however long its URI is.
    const [base, fragment] = reference.startsWith('#') ? [undefined, split(reference)[1]]
      : split(resolved(reference, from))
    const resource = base === undefined ? from.resource : documentOf(base)?.resource
    const anchor = fragment.startsWith('/') ? '' : fragment
    let location = resource && anchors.get(resource)?.get(anchor)
    for (let start = anchor === '' ? 1 : Infinity; location !== undefined && start <= fragment.length;) {
      work.pay(POINTER, from.at)
      const slash = fragment.indexOf('/', start)
      const end = slash < 0 ? fragment.length : slash
      const name = fragment.slice(start, end).replaceAll('~1', '/').replaceAll('~0', '~')
      const inner: unknown = Object.getOwnPropertyDescriptor(Object(location.schema), name)?.value
      location = inner === undefined ? undefined : inside(location, inner, [name])
      start = end + 1
    }
    return location && { location, anchor }
  }

  /** A reference to somewhere else, against the URI of the schema that has it. */
  function resolved(reference: string, { resource: { uri }, at }: SchemaLocation): string {
    work.pay(RESOLVED + uri.length * CHARACTER, at)
    return resolve(uri, reference)
  }

  function documentOf(base: string): SchemaLocation | undefined {
    const document = given.get(base) ?? metaschemas().get(base)
    // What no document is called may be an `$id` deep inside one that nothing has referred to yet.
    const candidates = document === undefined ? given : [[base, document] as const]
    for (const [name, candidate] of documents.has(base) ? [] : candidates) {
      if (!documents.has(name)) add(candidate, name)
    }
    return documents.get(base)
  }

  function inside({ resource, at }: SchemaLocation, schema: unknown, keys: readonly Key[]): SchemaLocation {
    return { schema, resource: roots.get(schema) ?? resource, at: { from: at, keys } }
  }

  function walk(schema: unknown, around: SchemaResource, at: Place, depth: number): SchemaLocation {
    if (depth > limits.maxSchemaDepth) throw broken(at, `is more than ${depth - 1} levels deep; use "$ref"`)
    if (++subschemas > limits.maxSubschemas) throw broken(at, 'is one subschema too many (maxSubschemas)')
    const fuel: Fuel = { pay: (parts) => work.pay(parts, at) }
    fuel.pay(WALK)
    const fields = isRecord(schema) ? schema : {}
    const location = enter(schema, fields, around, at, depth === 0)
    const { rules } = location.resource.dialect ?? usual
    for (const keyword of namesOf(fields, fuel)) {
      const holds = rules.get(keyword)?.kind[3]
      const value = fields[keyword]
      if (holds === undefined || typeof value !== 'object' || value === null) continue
      if (holds === 'schemas' && isRecord(value)) {
        walk(value, location.resource, { from: at, keys: [keyword] }, depth + 1)
        continue
      }
      for (const key of namesOf(value, fuel)) {
        const inner: unknown = Reflect.get(value, key)
        if (isRecord(inner)) walk(inner, location.resource, { from: at, keys: [keyword, key] }, depth + 1)
      }
    }
    return location
  }

  /** Finds out what resource a schema belongs to, a new one where it has a name, and what it is called. */
  function enter(
    schema: unknown, fields: JsonObject, around: SchemaResource, at: Place, isRoot: boolean,
  ): SchemaLocation {
    const id = text(fields, '$id')
    const dialect = isRoot || id ? dialectOf(fields, around.dialect, 0) : around.dialect
    const { lonelyRef = false } = dialect ?? {}
    const name = lonelyRef && Object.hasOwn(fields, '$ref') ? '' : id
    const isLocal = lonelyRef && name.startsWith('#')
    const isNew = isRoot || (name !== '' && !isLocal)
    work.pay(name.length * CHARACTER, at)
    const uri = name === '' ? around.uri : split(resolved(name, { schema, resource: around, at }))[0]
    const resource = isNew ? { uri, dialect } : around
    const location = { schema, resource, at }
    if (isNew) {
      documents.set(uri, location)
      anchors.set(resource, new Map([['', location]]))
      roots.set(fields, resource)
    }
    const dynamic = lonelyRef ? '' : text(fields, '$dynamicAnchor')
    const local = isLocal ? name.slice(1) : ''
    for (const anchor of [lonelyRef ? local : text(fields, '$anchor'), dynamic]) {
      if (anchor) anchors.get(resource)?.set(anchor, location)
    }
    if (dynamic && !dynamics.get(dynamic)?.set(resource, location)) {
      dynamics.set(dynamic, new Map([[resource, location]]))
    }
    return location
  }

  function dialectOf(
    fields: JsonObject, outer: SchemaDialect | undefined, depth: number,
  ): SchemaDialect | undefined {
    const name = text(fields, '$schema').replace(/#$/, '')
    if (!name) return outer
    const metaschema = given.get(name)
    if (dialectsByUri.has(name) || !isRecord(metaschema) || depth > 8) return dialectsByUri.get(name)
    const { $vocabulary } = metaschema
    if (!isRecord($vocabulary)) return dialectOf(metaschema, undefined, depth + 1)
    const rules = Object.entries($vocabulary).flatMap(([uri, required]): [string, Rule][] => {
      const vocabulary = vocabulariesByUri.get(uri)
      if (vocabulary || required !== true) return [...vocabulary ?? []]
      throw new TypeError(`The metaschema ${name} requires the vocabulary ${uri}, which is not known here`)
    })
    return newDialect(new Map(rules))
  }
}

/** The mistake at an address in a schema, to throw. */
export function broken(at: Place, why: string): TypeError {
  const keys: Key[] = []
  let from: Place | string = at
  for (; typeof from !== 'string'; from = from.from) keys.push(...from.keys.toReversed())
  const pointer = cut(pointerOf(keys.reverse()), MAX_ADDRESS)
  const address = from === '' ? pointer : `${cut(from, MAX_ADDRESS)}#${pointer}`
  return new TypeError(`Invalid JSON Schema at ${address}: ${cut(why, 700)}`)
}

/** A keyword's text, or none. What is no text is refused when the schema is compiled. */
function text(fields: JsonObject, keyword: string): string {
  const value = fields[keyword]
  return typeof value === 'string' ? value : ''
}
