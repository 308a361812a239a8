/**
 * Keywords for the properties of objects (2020-12 applicator §10.2.2.4, §10.3.2, validation §6.5).
 *
 * What every object inherits is none of its properties, whatever they are called. A property that is
 * `undefined` counts as absent, which it is in JSON.
 */
import type { Fault } from '../error.ts'
import type { JsonObject, Rule, Site } from '../rule.ts'
import type { Check, Run } from '../run.ts'
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
  const required = new Set([site.beside('required')].flat())
  const fault = { ...site.fault('is required'), keyword: 'required' }
  const parts = Object.entries(schemas).map(([name, schema]) => ({
    name,
    isInherited: name in Object.prototype,
    check: site.part(schema, 'properties', name),
    fallback: limits.defaults && isObject(schema) ? schema['default'] : undefined,
    isRequired: required.has(name),
  }))
  const rest = site.beside('additionalProperties') === undefined ? undefined : additional(site)
  return (object, run) => {
    if (!isObject(object)) return true
    let found = 0
    for (const part of parts) {
      let value = part.isInherited ? read(object, part.name) : object[part.name]
      if (value === undefined && part.fallback !== undefined && !run.trial) value = fill(object, part)
      if (value === undefined) {
        if (part.isRequired && !run.fails(fault, value, part.name)) return false
        continue
      }
      found++
      if (tracks) run.seen.push(part.name)
      // The busiest line of all: quiet runs are spared the detour.
      if (run.quiet ? !part.check(value, run) : !run.visit(part.check, value, part.name)) return false
    }
    return !rest || found === Object.keys(object).length || rest(object, run)
  }
})

export const additionalProperties: Rule = rule(kind.schema, (site) =>
  site.beside('properties') ? undefined : additional(site))

export const patternProperties: Rule = rule(kind.schemaMap, (site, schemas) =>
  all(Object.entries(schemas).map(([source, schema]) => {
    const matches = patternAt(site, source, source)
    return members(site, site.part(schema, site.keyword, source), () => matches)
  })))

export const unevaluatedProperties: Rule = rule(kind.schema, (site, schema) =>
  members(site, remaining(site, schema, site.keyword, ''), ({ seen }) => {
    const known = new Set(seen)
    return (name) => !known.has(name)
  }), 'last')

export const propertyNames: Rule = rule(kind.schema, (site, schema) => {
  const check = site.part(schema, site.keyword)
  return (object, run) => keysOf(object).every((name) => run.visit(check, name, name))
})

export const required: Rule = rule(kind.names, (site, names) => {
  const known = new Set(keysOf(site.beside('properties')))
  const rest = names.filter((name) => !known.has(name))
  return rest.length > 0 ? demand(rest, site.fault('is required')) : undefined
})
export const dependentRequired: Rule = rule(kind.namesMap, (site, map) => dependent(site, map, () => true))
export const dependentSchemas: Rule = rule(kind.schemaMap, (site, map) => dependent(site, map, () => false))
/** Up to draft-07: the two in one. */
export const dependencies: Rule = rule(kind.mixedMap, (site, map) => dependent(site, map, Array.isArray))

/** Makes the test which properties of an object are meant. */
type Picks = (run: Run) => (name: string) => boolean

const keysOf = (value: unknown): string[] => isObject(value) ? Object.keys(value) : []

function read(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Checks the properties that are picked by name, or by what has been evaluated. */
function members(site: Site, check: Check, picks: Picks): Check {
  return (object, run) => {
    if (!isObject(object)) return true
    const isMeant = picks(run)
    return Object.keys(object).every((name) => {
      if (object[name] === undefined || !isMeant(name)) return true
      if (site.tracks) run.seen.push(name)
      return run.visit(check, object[name], name)
    })
  }
}

function additional(site: Site): Check {
  const known = new Set(keysOf(site.beside('properties')))
  const tests = keysOf(site.beside('patternProperties')).map((source) => patternAt(site, source))
  const hint = known.size > 0 ? `; known are ${list([...known])}` : ''
  const check = remaining(site, site.beside('additionalProperties'), 'additionalProperties', hint)
  const isMeant = (name: string): boolean => !known.has(name) && !tests.some((matches) => matches(name))
  return members(site, check, () => isMeant)
}

/** The check of what is left over, with a better word for `false`. */
function remaining(site: Site, schema: unknown, keyword: string, hint: string): Check {
  const fault = { ...site.fault(`is not a known property${hint}`), keyword }
  return schema === false ? (value, run) => run.fails(fault, value) : site.part(schema, keyword)
}

/** Demands properties; what is missing is reported at the place where it should be. */
function demand(names: readonly string[], fault: Fault): Check {
  return (object, run) => !isObject(object) || names.every((name) =>
    read(object, name) !== undefined || run.fails(fault, undefined, name))
}

/** Checks objects for each of the properties that they have. */
function dependent(site: Site, map: JsonObject, isNames: (value: unknown) => boolean): Check {
  const [is, phrase] = kind.names
  const checkOf = (name: string, value: unknown): Check => {
    if (!isNames(value)) return site.same(value, site.keyword, name)
    if (!is(value)) throw site.broken(`must be ${phrase}`, name)
    return demand(value, site.fault(`is required where "${name}" is given`))
  }
  return all(Object.entries(map).map(([name, value]): Check => {
    const check = checkOf(name, value)
    return (object, run) => !isObject(object) || read(object, name) === undefined || check(object, run)
  }))
}

/** Defines a property rather than assigns it, for names like "__proto__"; a frozen object stays as it is. */
function fill(object: JsonObject, { name, fallback }: { name: string, fallback: unknown }): unknown {
  const value = structuredClone(fallback)
  const property = { value, writable: true, enumerable: true, configurable: true }
  return Reflect.defineProperty(object, name, property) ? value : undefined
}
