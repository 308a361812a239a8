/**
 * Keywords for the properties of objects (2020-12 applicator §10.2.2.4, §10.3.2, validation §6.5).
 *
 * What every object inherits is none of its properties, whatever they are called. A property that is
 * `undefined` counts as absent, which it is in JSON.
 */
import type { Fault } from '../error.ts'
import type { JsonObject, Rule, Site } from '../rule.ts'
import type { Check } from '../run.ts'
import { list } from '../error.ts'
import * as kind from '../kind.ts'
import { patternAt } from '../pattern.ts'
import { all, isObject, rule } from '../rule.ts'

/**
 * Applies `required` too, to the properties it looks up in any case, and `additionalProperties`, which has
 * nothing to do where every property is known.
 */
export const properties: Rule = rule(kind.schemaMap, (site, schemas) => {
  const { limits, tracks } = site
  const required = new Set(listOf(site.beside('required')))
  const fault = { ...site.fault('is required'), keyword: 'required' }
  const fail: Check = (value, run) => run.fails(fault, value)
  const parts = Object.entries(schemas).map(([name, schema]) => ({
    ...partOf(name),
    check: site.part(schema, 'properties', name),
    fallback: limits.defaults && isObject(schema) ? schema['default'] : undefined,
    absent: required.has(name) ? fail : undefined,
  }))
  const rest = site.beside('additionalProperties') === undefined ? undefined : additional(site)
  return (object, run) => {
    if (!isObject(object)) return true
    let found = 0
    for (const part of parts) {
      let value = read(object, part)
      if (value === undefined && part.fallback !== undefined && !run.trial) value = fill(object, part)
      if (value === undefined) {
        if (part.absent && !run.visit(part.absent, value, part.name)) return false
        continue
      }
      found++
      if (tracks) run.seen.push(part.name)
      // The busiest line of all: quiet runs are spared the detour.
      if (run.quiet ? !part.check(value, run) : !run.visit(part.check, value, part.name)) return false
    }
    return !rest || found === size(object) || rest(object, run)
  }
})

export const additionalProperties: Rule = rule(kind.schema, (site) =>
  site.beside('properties') ? undefined : additional(site))

export const patternProperties: Rule = rule(kind.schemaMap, (site, schemas) =>
  all(Object.entries(schemas).map(([source, schema]) =>
    members(site, site.part(schema, site.keyword, source), patternAt(site, source, source)))))

export const unevaluatedProperties: Rule = rule(kind.schema, (site, schema) =>
  members(site, remaining(site, schema, site.keyword, ''), (name, seen) => !seen.has(name), true), 'last')

export const propertyNames: Rule = rule(kind.schema, (site, schema) => {
  const check = site.part(schema, site.keyword)
  return (object, run) => keysOf(object).every((name) => run.visit(check, name, name))
})

export const required: Rule = rule(kind.names, (site, names) => {
  const known = site.beside('properties')
  const rest = names.filter((name) => !isObject(known) || !Object.hasOwn(known, name))
  return rest.length > 0 ? demand(rest, site.fault('is required')) : undefined
})
export const dependentRequired: Rule = rule(kind.namesMap, (site, map) => dependent(site, map, () => true))
export const dependentSchemas: Rule = rule(kind.schemaMap, (site, map) => dependent(site, map, () => false))
/** Up to draft-07: the two in one. */
export const dependencies: Rule = rule(kind.mixedMap, (site, map) => dependent(site, map, Array.isArray))

interface Part {
  readonly name: string
  /** Whether objects inherit something of that name. */
  readonly inherited: boolean
}

type Picks = (name: string, seen: ReadonlySet<unknown>) => boolean

const nothing: ReadonlySet<unknown> = new Set()
const partOf = (name: string): Part => ({ name, inherited: name in Object.prototype })
const listOf = (value: unknown): readonly unknown[] => Array.isArray(value) ? value : []
const keysOf = (value: unknown): string[] => isObject(value) ? Object.keys(value) : []

function read(object: JsonObject, { name, inherited }: Part): unknown {
  return inherited && !Object.hasOwn(object, name) ? undefined : object[name]
}

function size(object: JsonObject): number {
  let count = 0
  for (const _ in object) count++
  return count
}

/** Checks the properties that are picked by name, or by what has been evaluated. */
function members(site: Site, check: Check, picks: Picks, reads = false): Check {
  const { tracks } = site
  return (object, run) => {
    if (!isObject(object)) return true
    const seen = reads ? new Set(run.seen) : nothing
    for (const name of Object.keys(object)) {
      if (object[name] === undefined || !picks(name, seen)) continue
      if (tracks) run.seen.push(name)
      if (!run.visit(check, object[name], name)) return false
    }
    return true
  }
}

function additional(site: Site): Check {
  const known = new Set(keysOf(site.beside('properties')))
  const tests = keysOf(site.beside('patternProperties')).map((source) => patternAt(site, source))
  const hint = known.size > 0 ? `; known are ${list([...known])}` : ''
  const check = remaining(site, site.beside('additionalProperties'), 'additionalProperties', hint)
  return members(site, check, (name) => !known.has(name) && !tests.some((matches) => matches(name)))
}

/** The check of what is left over, with a better word for `false`. */
function remaining(site: Site, schema: unknown, keyword: string, hint: string): Check {
  const fault = { ...site.fault(`is not a known property${hint}`), keyword }
  return schema === false ? (value, run) => run.fails(fault, value) : site.part(schema, keyword)
}

/** Demands properties; what is missing is reported at the place where it should be. */
function demand(names: readonly string[], fault: Fault): Check {
  const parts = names.map(partOf)
  const fail: Check = (value, run) => run.fails(fault, value)
  return (object, run) => {
    if (!isObject(object)) return true
    for (const part of parts) {
      if (read(object, part) === undefined && !run.visit(fail, undefined, part.name)) return false
    }
    return true
  }
}

/** Checks objects for each of the properties that they have. */
function dependent(site: Site, map: JsonObject, isNames: (value: unknown) => boolean): Check {
  const [is, phrase] = kind.names
  return all(Object.entries(map).map(([name, value]): Check => {
    const part = partOf(name)
    if (isNames(value) && !is(value)) throw site.broken(`must be ${phrase}`, name)
    const check = isNames(value) && is(value)
      ? demand(value, site.fault(`is required where "${name}" is given`))
      : site.same(value, site.keyword, name)
    return (object, run) => !isObject(object) || read(object, part) === undefined || check(object, run)
  }))
}

/** Defines a property rather than assigns it, for names like "__proto__"; a frozen object stays as it is. */
function fill(object: JsonObject, { name, fallback }: { name: string, fallback: unknown }): unknown {
  const value = structuredClone(fallback)
  const property = { value, writable: true, enumerable: true, configurable: true }
  return Reflect.defineProperty(object, name, property) ? value : undefined
}
