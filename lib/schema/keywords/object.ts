/**
 * Keywords for the properties of objects (2020-12 applicator §10.2.2.4, §10.3.2, validation §6.5.3, §6.5.4).
 *
 * Only an object's own properties count, whatever they are called. One that is `undefined` counts as absent, which it
 * is in JSON.
 */
import type { Fault } from '../error.ts'
import type { JsonObject, Rule, Site } from '../rule.ts'
import type { Check } from '../run.ts'
import { list } from '../error.ts'
import * as kind from '../kind.ts'
import { patternAt } from '../pattern.ts'
import { all, BRANCH, isObject, PART, PROBE, rule } from '../rule.ts'

export const properties: Rule = rule(kind.schemaMap, (site, schemas) => {
  const { limits, certain, tracks } = site
  const parts = Object.entries(schemas).map(([name, schema]) =>
    ({ ...partOf(name), check: site.check(PART, schema, 'properties', name) }))
  const fill = limits.defaults && certain ? filling(schemas) : undefined
  return (object, run) => {
    if (!isObject(object)) return true
    fill?.(object)
    for (const part of parts) {
      const value = read(object, part)
      if (value === undefined) continue
      if (tracks) run.seen.push(part.name)
      if (!run.visit(part.check, value, part.name)) return false
    }
    return true
  }
})

export const patternProperties: Rule = rule(kind.schemaMap, (site, schemas) =>
  all(Object.entries(schemas).map(([source, schema]) =>
    members(site, site.check(PART, schema, site.keyword, source), patternAt(site, source, source)))))

export const additionalProperties: Rule = rule(kind.schema, (site, schema) => {
  const { properties = {}, patternProperties = {} } = site.schema
  const known = new Set(Object.keys(Object(properties)))
  const tests = Object.keys(Object(patternProperties)).map((source) => patternAt(site, source))
  const check = remaining(site, schema, `; known are ${list([...known])}`)
  return members(site, check, (name) => !known.has(name) && !tests.some((matches) => matches(name)))
})

export const unevaluatedProperties: Rule = rule(kind.schema, (site, schema) =>
  members(site, remaining(site, schema, ''), (name, seen) => !seen?.has(name), true), 'last')

export const propertyNames: Rule = rule(kind.schema, (site, schema) => {
  const check = site.check(PROBE, schema, site.keyword)
  return (object, run) => !isObject(object) || Object.keys(object).every((name) => run.visit(check, name, name))
})

export const required: Rule = rule(kind.names, (site, names) => demand(names, site.fault('is required')))
export const dependentRequired: Rule = rule(kind.namesMap, (site, map) => dependent(site, map, () => true))
export const dependentSchemas: Rule = rule(kind.schemaMap, (site, map) => dependent(site, map, () => false))
/** Up to draft-07: the two in one. */
export const dependencies: Rule = rule(kind.mixedMap, (site, map) => dependent(site, map, Array.isArray))

interface Part {
  readonly name: string
  /** Whether objects inherit something of that name. */
  readonly inherited: boolean
}

function partOf(name: string): Part {
  return { name, inherited: name in Object.prototype }
}

function read(object: JsonObject, { name, inherited }: Part): unknown {
  return inherited && !Object.hasOwn(object, name) ? undefined : object[name]
}

/** Checks the properties that are picked by name, or by what has been evaluated. */
function members(
  site: Site, check: Check, picks: (name: string, seen?: ReadonlySet<unknown>) => boolean, reads = false,
): Check {
  const { tracks } = site
  return (object, run) => {
    if (!isObject(object)) return true
    const seen = reads ? new Set(run.seen) : undefined
    // The quickest loop goes over inherited names too; they are sorted out where it matters.
    for (const name in object) {
      if (!picks(name, seen) || !Object.hasOwn(object, name) || object[name] === undefined) continue
      if (tracks) run.seen.push(name)
      if (!run.visit(check, object[name], name)) return false
    }
    return true
  }
}

/** The check of what is left over, with a better word for `false`. */
function remaining(site: Site, schema: unknown, hint: string): Check {
  const fault = site.fault(`is not a known property${hint}`)
  return schema === false ? (value, run) => run.fails(fault, value) : site.check(PART, schema, site.keyword)
}

/** Demands properties; what is missing is reported at the place where it should be. */
function demand(names: readonly string[], fault: Fault): Check {
  const parts = names.map(partOf)
  const fail: Check = (value, run) => run.fails(fault, value)
  return (object, run) => !isObject(object)
    || parts.every((part) => read(object, part) !== undefined || run.visit(fail, undefined, part.name))
}

/** Checks objects for each of the properties that they have. */
function dependent(site: Site, map: JsonObject, isNames: (value: unknown) => boolean): Check {
  const parts = Object.entries(map).map(([name, value]) => {
    if (!isNames(value)) return { ...partOf(name), check: site.check(BRANCH, value, site.keyword, name) }
    if (!kind.names.is(value)) throw site.broken(`must be ${kind.names.phrase}`, name)
    return { ...partOf(name), check: demand(value, site.fault(`is required where "${name}" is given`)) }
  })
  return (object, run) => !isObject(object)
    || parts.every((part) => read(object, part) === undefined || part.check(object, run))
}

/** Puts defaults in, in place. */
function filling(schemas: JsonObject): (object: JsonObject) => void {
  const parts = Object.entries(schemas).flatMap(([name, schema]) =>
    isObject(schema) && Object.hasOwn(schema, 'default') ? [{ ...partOf(name), value: schema['default'] }] : [])
  return (object) => {
    for (const part of parts) {
      if (read(object, part) !== undefined) continue
      const value = structuredClone(part.value)
      // Defined, not assigned, for names like "__proto__"; a frozen object stays as it is.
      Reflect.defineProperty(object, part.name, { value, writable: true, enumerable: true, configurable: true })
    }
  }
}
