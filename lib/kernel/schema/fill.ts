/**
 * Defaults: a schema to a plan of what is to be filled in where, and a value to one that has it. A plan holds
 * what applies in any case: `properties`, from the root on and wherever `properties`, `items`, `allOf` and
 * `$ref` lead; not what is in branches. What was given is left as it is: what changes is a copy.
 * Spec: https://json-schema.org/draft/2020-12/json-schema-validation §9.2
 */
import { isRecord } from '../util/record.ts'
import { broken } from './resource.ts'
import { isInherited, read, rulesOf } from './rule.ts'
import { CHARACTER, LIGHT, STEP } from './evaluation.ts'
import type { Key } from './error.ts'
import type { SchemaLocation, Registry } from './resource.ts'
import type { JsonObject, Property } from './rule.ts'
import type { Scope, Evaluation } from './evaluation.ts'

/** What is to be filled in, in the values of one schema. */
export interface Plan {
  readonly parts: PropertyPlan[]
  /** In each item from an index on. */
  items?: { readonly from: number; readonly plan: Plan }
  /** In the same value. */
  readonly also: Plan[]
}

/** A property that has a default, or something inside that has. */
export interface PropertyPlan extends Property {
  readonly location: SchemaLocation
  /** As text, so that each value gets a copy of its own. */
  readonly json: string | undefined
  readonly plan: Plan
}

/**
 * Plans the defaults of a schema that has been compiled, and finds the properties that have one. Throws the
 * mistake where one is no JSON value.
 */
export function planOf(
  root: SchemaLocation, registry: Registry,
): { readonly plan: Plan; readonly found: readonly PropertyPlan[] } {
  const plans = new Map<Scope, Map<unknown, Plan>>()
  const waiting: (() => void)[] = []
  const found: PropertyPlan[] = []
  const plan = named(root)
  for (let work = waiting.pop(); work !== undefined; work = waiting.pop()) work()
  return { plan, found }

  /** The plan of a schema that is referred to; completed later, since schemas may refer to each other. */
  function named(location: SchemaLocation): Plan {
    const { schema, resource } = location
    const others = plans.get(resource) ?? new Map<unknown, Plan>()
    const known = others.get(schema)
    if (known !== undefined) return known
    const plan: Plan = { parts: [], also: [] }
    plans.set(resource, others.set(schema, plan))
    waiting.push(() => complete(plan, location))
    return plan
  }

  function complete(plan: Plan, location: SchemaLocation): Plan {
    const { schema, resource: { dialect }, at } = location
    if (!isRecord(schema) || dialect === undefined) return plan
    for (const [keyword] of rulesOf(schema, dialect, { pay: (parts) => registry.work.pay(parts, at) })) {
      const value = schema[keyword]
      const inside = (inner: unknown, ...steps: Key[]): SchemaLocation =>
        registry.inside(location, inner, [keyword, ...steps])
      if (keyword === 'properties' && isRecord(value)) {
        for (const [name, inner] of Object.entries(value)) addPart(plan, name, inside(inner, name))
      } else if (keyword === 'items' && isRecord(value)) {
        const { prefixItems } = schema
        const ofItems = fresh(inside(value))
        const from = Array.isArray(prefixItems) ? prefixItems.length : 0
        if (!isEmpty(ofItems)) plan.items = { from, plan: ofItems }
      } else if (keyword === 'allOf' && Array.isArray(value)) {
        const branches = value.map((inner, index) => fresh(inside(inner, index)))
        plan.also.push(...branches.filter((branch) => !isEmpty(branch)))
      } else if (keyword === '$ref') {
        const target = registry.find(String(value), location)
        if (target !== undefined) plan.also.push(named(target.location))
      }
    }
    return plan
  }

  function fresh(location: SchemaLocation): Plan {
    return complete({ parts: [], also: [] }, location)
  }

  function addPart(plan: Plan, name: string, location: SchemaLocation): void {
    const json = defaultOf(location)
    const part = { name, isInherited: isInherited(name), location, json, plan: fresh(location) }
    if (json !== undefined) found.push(part)
    else if (isEmpty(part.plan)) return
    plan.parts.push(part)
  }
}

function isEmpty({ parts, items, also }: Plan): boolean {
  return parts.length === 0 && items === undefined && also.length === 0
}

function defaultOf({ schema, at }: SchemaLocation): string | undefined {
  const value = isRecord(schema) ? schema['default'] : undefined
  if (value === undefined) return undefined
  try {
    const json: string | undefined = JSON.stringify(value)
    if (json !== undefined) return json
  } catch {
    // It is in a circle, or has a number that JSON does not have.
  }
  throw broken({ from: at, keys: ['default'] }, '"default" must be a JSON value')
}

/** A value with its defaults: the same one where it lacks none. */
export function fillIn(value: unknown, { parts, items, also }: Plan, run: Evaluation): unknown {
  run.enter(1)
  let filled = value
  if (isRecord(value)) filled = fillObject(value, parts, run)
  else if (Array.isArray(value) && items !== undefined) filled = fillItems(value, items.from, items.plan, run)
  for (const plan of also) filled = fillIn(filled, plan, run)
  run.leave(1)
  return filled
}

export function newDefault({ json, plan }: PropertyPlan, run: Evaluation): unknown {
  if (json === undefined) return undefined
  run.pay(STEP + json.length * CHARACTER)
  return fillIn(JSON.parse(json), plan, run)
}

function fillObject(object: JsonObject, parts: readonly PropertyPlan[], run: Evaluation): JsonObject {
  let copy: JsonObject | undefined
  run.pay(parts.length * LIGHT)
  for (const part of parts) {
    const given = read(object, part)
    const value = given === undefined ? newDefault(part, run) : fillIn(given, part.plan, run)
    if (value === given) continue
    if (copy === undefined) {
      run.pay(Object.keys(object).length * STEP)
      copy = { ...object }
    }
    // To assign means something else for names like "__proto__".
    const descriptor = { value, writable: true, enumerable: true, configurable: true }
    Object.defineProperty(copy, part.name, descriptor)
  }
  return copy ?? object
}

function fillItems(
  items: readonly unknown[], from: number, plan: Plan, run: Evaluation,
): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = from; index < items.length; index++) {
    run.pay(LIGHT)
    const value = fillIn(items[index], plan, run)
    if (value === items[index]) continue
    copy ??= [...items]
    copy[index] = value
  }
  return copy ?? items
}
