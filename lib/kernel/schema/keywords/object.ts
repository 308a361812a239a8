/**
 * Keywords for the properties of objects (2020-12 applicator §10.2.2.4, §10.3.2, validation §6.5).
 *
 * What every object inherits is none of its properties, whatever they are called. A property that is
 * `undefined` counts as absent, which it is in JSON.
 */
import { isRecord } from '../../util/record.ts'
import { list } from '../error.ts'
import { all, EVALUATED, LIGHT, namesOf, STEP } from '../evaluation.ts'
import * as kind from '../kind.ts'
import { patternAt } from '../pattern.ts'
import { isInherited, read, rule } from '../rule.ts'
import type { Matches } from '../pattern.ts'
import type { Failure } from '../error.ts'
import type { JsonObject, Rule, Site } from '../rule.ts'
import type { Check, Evaluation } from '../evaluation.ts'

/** A name in a schema, and the sentence about one that is missing. */
const NAMED = 2 * STEP
const FAILURE = 20 * STEP
/** Looking up one of more properties than these. */
const MANY_PARTS = 200
const FORGOTTEN = 30
/** Asking an object for its names once more. */
const NAMES = 20

type MembersCheck = (object: JsonObject, names: readonly string[], run: Evaluation) => boolean

/** Whether a property is one of those that a keyword is about. */
type IsMeant = (name: string, run: Evaluation) => boolean

/**
 * Applies `required` too, to the properties it looks up in any case, and `additionalProperties`, which has
 * nothing to do where every property is known.
 */
export const properties: Rule = rule(kind.schemaMap, (site, schemas) => {
  const { tracks } = site
  const failure = { ...site.failure('is required'), keyword: 'required' }
  const parts = partsOf(site, schemas)
  const rest = site.beside('additionalProperties') === undefined ? undefined : additional(site)
  // The runtime remembers where an object has its members, but not so many of them.
  const cost = parts.length * (parts.length > MANY_PARTS ? FORGOTTEN : LIGHT)
  return (object, run) => {
    if (!isRecord(object)) return true
    run.pay(cost)
    let found = 0
    for (const part of parts) {
      const value = read(object, part)
      if (value === undefined) {
        if (part.isRequired && !run.fails(failure, value, part.name)) return false
        continue
      }
      found++
      if (tracks) run.evaluated.push(part.name)
      // The busiest line of all: quiet runs are spared the detour.
      if (run.quiet ? !part.check(value, run) : !run.checkPart(part.check, value, part.name)) return false
    }
    if (rest === undefined) return true
    const names = namesOf(object, run)
    return found === names.length || rest(object, names, run)
  }
})

interface Part {
  readonly name: string
  readonly isInherited: boolean
  readonly check: Check
  readonly isRequired: boolean
}

function partsOf(site: Site, schemas: JsonObject): readonly Part[] {
  const required = new Set([site.beside('required')].flat())
  site.pay(required.size * NAMED)
  return site.namesOf(schemas).map((name) => ({
    name,
    isInherited: isInherited(name),
    check: site.part(schemas[name], 'properties', name),
    isRequired: required.has(name),
  }))
}

export const additionalProperties: Rule = rule(kind.schema, (site) =>
  site.beside('properties') ? undefined : members(additional(site)))

export const patternProperties: Rule = rule(kind.schemaMap, (site, schemas) =>
  all(site.namesOf(schemas).map((source) => {
    const check = site.part(schemas[source], site.keyword, source)
    return members(eachMember(patternAt(site, source, source), check, site.tracks))
  })))

export const unevaluatedProperties: Rule = rule(kind.schema, (site, schema) => {
  const check = remaining(site, schema, site.keyword, '')
  const { tracks } = site
  return members((object, names, run) => {
    run.pay(run.evaluated.length * EVALUATED)
    const known = new Set(run.evaluated)
    return eachMember((name) => !known.has(name), check, tracks)(object, names, run)
  })
}, 'last')

export const propertyNames: Rule = rule(kind.schema, (site, schema) => {
  const check = site.part(schema, site.keyword)
  return members((_, names, run) => names.every((name) => run.checkPart(check, name, name)))
})

export const required: Rule = rule(kind.stringArray, (site, names) => {
  site.pay(names.length * NAMED)
  const known = new Set(keysOf(site, 'properties'))
  const rest = names.filter((name) => !known.has(name))
  return rest.length > 0 ? demand(rest, site.failure('is required')) : undefined
})

export const dependentRequired: Rule = rule(kind.stringArrayMap, (site, map) =>
  dependent(site, map, () => true))
export const dependentSchemas: Rule = rule(kind.schemaMap, (site, map) =>
  dependent(site, map, () => false))
/** Up to draft-07: the two in one. */
export const dependencies: Rule = rule(kind.mixedMap, (site, map) => dependent(site, map, Array.isArray))

function keysOf(site: Site, neighbour: string): readonly string[] {
  const value = site.beside(neighbour)
  return isRecord(value) ? site.namesOf(value) : []
}

function members(check: MembersCheck): Check {
  return (object, run) => {
    if (!isRecord(object)) return true
    const names = namesOf(object, run)
    run.pay(NAMES + names.length * LIGHT)
    return check(object, names, run)
  }
}

function eachMember(isMeant: IsMeant, check: Check, tracks: boolean): MembersCheck {
  return (object, names, run) => {
    for (const name of names) {
      const value = object[name]
      if (value === undefined || !isMeant(name, run)) continue
      if (tracks) run.evaluated.push(name)
      if (!run.checkPart(check, value, name)) return false
    }
    return true
  }
}

/** The check of the properties that neither `properties` nor `patternProperties` beside it name. */
function additional(site: Site): MembersCheck {
  const known = new Set(keysOf(site, 'properties'))
  const tests = patternsOf(site)
  const hint = known.size > 0 ? `; known are ${list(known)}` : ''
  const check = remaining(site, site.beside('additionalProperties'), 'additionalProperties', hint)
  return eachMember(outside(known, tests), check, site.tracks)
}

function patternsOf(site: Site): readonly Matches[] {
  return keysOf(site, 'patternProperties').map((source) => patternAt(site, source))
}

function outside(known: ReadonlySet<string>, tests: readonly Matches[]): IsMeant {
  return (name, run) => !known.has(name) && !tests.some((matches) => matches(name, run))
}

/** The check of what is left over, with a better message for `false`. */
function remaining(site: Site, schema: unknown, keyword: string, hint: string): Check {
  const failure = { ...site.failure(`is not a known property${hint}`), keyword }
  return schema === false ? failing(failure) : site.part(schema, keyword)
}

function failing(failure: Failure): Check {
  return (value, run) => run.fails(failure, value)
}

/** Demands properties; what is missing is reported at the place where it should be. */
function demand(names: readonly string[], failure: Failure): Check {
  const properties = names.map((name) => ({ name, isInherited: isInherited(name) }))
  const cost = names.length * LIGHT
  return (object, run) => {
    if (!isRecord(object)) return true
    run.pay(cost)
    return properties.every((property) =>
      read(object, property) !== undefined || run.fails(failure, undefined, property.name))
  }
}

function dependent(site: Site, map: JsonObject, isNames: (value: unknown) => boolean): Check {
  return all(site.namesOf(map).map((name) => {
    const value = map[name]
    const check = isNames(value) ? demandBeside(site, name, value) : site.same(value, site.keyword, name)
    return where(name, check)
  }))
}

function where(name: string, check: Check): Check {
  const property = { name, isInherited: isInherited(name) }
  return (object, run) => !isRecord(object) || read(object, property) === undefined || check(object, run)
}

function demandBeside(site: Site, name: string, names: unknown): Check {
  const [is, phrase] = kind.stringArray
  if (!is(names)) throw site.broken(`must be ${phrase}`, name)
  site.pay(FAILURE + names.length * NAMED)
  return demand(names, site.failure(`is required where "${name}" is given`))
}
