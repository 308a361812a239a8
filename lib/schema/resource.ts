/**
 * Schema documents taken apart into resources, and references looked up in them (2020-12 core §8.2, §9).
 *
 * A document is walked once, at the keywords that hold subschemas, so an `$id` inside an `enum` or an unknown keyword
 * is no identifier. Documents given beside the schema are walked when something refers to them. Nothing is fetched.
 */
import type { JsonSchema, Limits } from './limits.ts'
import { step } from './error.ts'
import { type Dialect, isObject, type JsonObject, type Rule, type Vocabulary } from './rule.ts'
import { resolve, split } from './uri.ts'

/** A schema with a URI of its own. */
export interface Resource {
  readonly uri: string
  readonly schema: unknown
  /** Undefined where `$schema` names a dialect that is not known. */
  readonly dialect: Dialect | undefined
  readonly anchors: Map<string, Place>
  /** Which anchors are dynamic. */
  readonly dynamic: Set<string>
}

/** A schema, the resource it belongs to, and its address for messages. */
export interface Place {
  readonly schema: unknown
  readonly resource: Resource
  readonly at: string
}

/** The tables that give `$schema` and `$vocabulary` their meaning. */
export interface Dialects {
  readonly byName: ReadonlyMap<string, Dialect>
  readonly vocabularies: ReadonlyMap<string, Vocabulary>
  readonly metaschemas: ReadonlyMap<string, JsonSchema>
  /** The dialect of a schema that names none. */
  readonly usual: Dialect
}

/** The resources of one compilation. */
export interface Registry {
  /** By URI, without fragment. */
  readonly resources: ReadonlyMap<string, Resource>
  /** Takes in a document that was found under a URI. */
  add(document: JsonSchema, uri: string): Resource
  /** What a URI names, or nothing. */
  find(uri: string): Place | undefined
  /** The resource that a schema is the root of, if it is one. */
  rootedAt(schema: unknown): Resource | undefined
}

/** Makes a registry that knows the documents `given` by their URIs, and the metaschemas. */
export function register(dialects: Dialects, given: ReadonlyMap<string, JsonSchema>, limits: Limits): Registry {
  const resources = new Map<string, Resource>()
  const roots = new Map<unknown, Resource>()
  let { usual } = dialects
  let subschemas = 0
  return { resources, add, find, rootedAt: (schema) => roots.get(schema) }

  function add(document: JsonSchema, uri: string): Resource {
    const resource = walk(document, undefined, uri, `${uri}#`, 0)
    // Documents that name no dialect follow the first one.
    if (resources.size === 1) usual = resource.dialect ?? usual
    resources.set(uri, resource)
    return resource
  }

  function find(uri: string): Place | undefined {
    const [base, fragment] = split(uri)
    const start = resourceAt(base)
    if (!start || !/^(?:\/|$)/.test(fragment)) return start?.anchors.get(fragment)
    let place: Place = { schema: start.schema, resource: start, at: `${start.uri}#` }
    for (const escaped of fragment.split('/').slice(1)) {
      const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
      const { schema, resource, at } = place
      if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, name)) return undefined
      const inner: unknown = Reflect.get(schema, name)
      place = { schema: inner, resource: roots.get(inner) ?? resource, at: at + step(name) }
    }
    return place
  }

  function resourceAt(uri: string): Resource | undefined {
    const document = given.get(uri) ?? dialects.metaschemas.get(uri)
    if (!resources.has(uri) && document !== undefined) add(document, uri)
    // It may be an `$id` deep inside a document that nothing has referred to yet.
    for (const [name, other] of resources.has(uri) ? [] : given) if (!resources.has(name)) add(other, name)
    return resources.get(uri)
  }

  function walk(schema: unknown, around: Resource | undefined, base: string, at: string, depth: number): Resource {
    const resource = enter(schema, around, base, at)
    if (depth > limits.maxSchemaDepth) throw broken(at, `is more than ${depth - 1} levels deep; use "$ref"`)
    if (++subschemas > limits.maxSubschemas) throw broken(at, 'is one subschema too many; raise maxSubschemas')
    const { rules } = resource.dialect ?? usual
    for (const [keyword, value] of isObject(schema) ? Object.entries(schema) : []) {
      const holds = rules.get(keyword)?.kind.holds
      if (!holds || typeof value !== 'object' || value === null) continue
      const whole = holds === 'schemas' && !Array.isArray(value)
      for (const [key, held] of whole ? [['', value]] as const : Object.entries(value)) {
        if (isObject(held)) walk(held, resource, '', at + step(keyword) + (whole ? '' : step(key)), depth + 1)
      }
    }
    return resource
  }

  /** The resource that a schema belongs to: a new one where it has a name, else the one around it. */
  function enter(schema: unknown, around: Resource | undefined, base: string, at: string): Resource {
    const fields = isObject(schema) ? schema : {}
    const [id, anchor, dynamic] = ['$id', '$anchor', '$dynamicAnchor'].map((keyword) => text(fields, keyword))
    const outer = around ? around.dialect : usual
    const dialect = around && id === undefined ? outer : dialectOf(fields, outer, 0)
    const { lonelyRef = false } = dialect ?? {}
    const named = lonelyRef && Object.hasOwn(fields, '$ref') ? undefined : id
    const local = lonelyRef && named?.startsWith('#')
    let resource = around
    if (!resource || (named !== undefined && !local)) {
      const [uri] = split(resolve(around?.uri ?? base, named ?? ''))
      resource = { uri, schema, dialect, anchors: new Map(), dynamic: new Set(dynamic && [dynamic]) }
      resources.set(uri, resource)
      if (isObject(schema)) roots.set(schema, resource)
    }
    for (const name of lonelyRef ? [local ? named?.slice(1) : undefined] : [anchor, dynamic]) {
      if (name !== undefined) resource.anchors.set(name, { schema, resource, at })
    }
    if (dynamic !== undefined) resource.dynamic.add(dynamic)
    return resource
  }

  /** The dialect that a root or a metaschema is written in. */
  function dialectOf(fields: JsonObject, outer: Dialect | undefined, depth: number): Dialect | undefined {
    const name = text(fields, '$schema')?.replace(/#$/, '')
    if (name === undefined) return outer
    const metaschema = given.get(name)
    if (dialects.byName.has(name) || !isObject(metaschema) || depth > 8) return dialects.byName.get(name)
    const { $vocabulary } = metaschema
    if (!isObject($vocabulary)) return dialectOf(metaschema, undefined, depth + 1)
    const chosen = new Map<string, Rule>()
    for (const [uri, required] of Object.entries($vocabulary)) {
      const vocabulary = dialects.vocabularies.get(uri)
      if (!vocabulary && required === true) {
        throw new TypeError(`The metaschema ${name} requires the vocabulary ${uri}, which is not known here`)
      }
      for (const [keyword, rule] of vocabulary ?? []) chosen.set(keyword, rule)
    }
    const order = [...dialects.usual.rules.keys()]
    return { rules: new Map([...chosen].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))), lonelyRef: false }
  }
}

/** The mistake at an address in a schema, to throw. */
export function broken(at: string, why: string): TypeError {
  return new TypeError(`Invalid JSON Schema at ${at.replace(/^#(?=.)/, '')}: ${why}`)
}

/** A keyword's text. What is no text is refused when the schema is compiled. */
function text(fields: JsonObject, keyword: string): string | undefined {
  const value = Object.hasOwn(fields, keyword) ? fields[keyword] : undefined
  return typeof value === 'string' ? value : undefined
}
