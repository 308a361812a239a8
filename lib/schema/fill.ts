/**
 * The defaults of a schema, to a function that fills them in before the value is checked.
 *
 * Read where a schema applies in any case: in `properties`, at the root and wherever `properties`, `items`,
 * `allOf` and `$ref` lead from there; not in branches, which may not apply. What was given is left as it is:
 * what changes is a copy.
 * Spec: https://json-schema.org/draft/2020-12/json-schema-validation §9.2
 */
import { CHARACTER, GLANCE, LIGHT, namesOf } from './fuel.ts'
import { broken } from './resource.ts'
import { isObject, propertyOf, read, rulesOf } from './rule.ts'
import { resolve } from './uri.ts'
import type { Place, Registry } from './resource.ts'
import type { Property } from './rule.ts'
import type { Run } from './run.ts'

/** The value with its defaults; the same one where it lacks none. */
export type Fill = (value: unknown, run: Run) => unknown

/** A default, and the schema that it is for. */
export interface Default {
  readonly place: Place
  readonly make: Fill
}

/** What is known of the defaults of a schema. */
export interface Defaults {
  readonly fill: Fill
  readonly found: readonly Default[]
}

/** A schema that is referred to; what fills in its defaults is put in later. */
interface Node {
  fill: Fill
}

/** A property that has a default, or something inside that has. */
interface Part {
  readonly property: Property
  readonly absent: Fill | undefined
  readonly present: Fill
}

/** Finds the defaults of a schema that has been compiled. Throws the mistake where one is no JSON value. */
export function defaultsOf(root: Place, registry: Registry): Defaults {
  const nodes = new Map<string, Node>()
  const waiting: (() => void)[] = []
  const found: Default[] = []
  const top = nodeOf(root)
  for (let work = waiting.pop(); work !== undefined; work = waiting.pop()) work()
  return { fill: top.fill, found }

  /** Made later, so that schemas may refer to each other. */
  function nodeOf(place: Place): Node {
    let node = nodes.get(place.at)
    if (node === undefined) {
      const made: Node = node = { fill: nothing }
      nodes.set(place.at, made)
      waiting.push(() => {
        made.fill = fillOf(place, 1)
      })
    }
    return node
  }

  /** `depth`: levels below the schema that a reference names. */
  function fillOf(place: Place, depth: number): Fill {
    const { schema, resource: { uri, dialect } } = place
    if (!isObject(schema) || dialect === undefined) return nothing
    let whole: Fill = nothing
    for (const [keyword] of rulesOf(schema, dialect)) {
      const value = schema[keyword]
      const inside = (inner: unknown, step?: string | number): Place =>
        registry.inside(place, inner, step === undefined ? [keyword] : [keyword, step])
      if (keyword === 'properties' && isObject(value)) {
        const parts = Object.entries(value)
        whole = inTurn(whole, fillProperties(parts.map(([name, inner]) =>
          partOf(name, inside(inner, name), depth + 1))))
      } else if (keyword === 'items' && isObject(value)) {
        whole = inTurn(whole, fillItems(fillOf(inside(value), depth + 1), schema['prefixItems']))
      } else if (keyword === 'allOf' && Array.isArray(value)) {
        for (const [index, inner] of value.entries()) {
          whole = inTurn(whole, fillOf(inside(inner, index), depth + 1))
        }
      } else if (keyword === '$ref') {
        const target = registry.find(resolve(uri, String(value)))
        if (target !== undefined) whole = inTurn(whole, follow(nodeOf(target), depth))
      }
    }
    return whole
  }

  function partOf(name: string, place: Place, depth: number): Part {
    const present = fillOf(place, depth)
    const fallback = isObject(place.schema) ? place.schema['default'] : undefined
    if (fallback === undefined) return { property: propertyOf(name), absent: undefined, present }
    const absent = inTurn(copying(fallback, place), present)
    found.push({ place, make: absent })
    return { property: propertyOf(name), absent, present }
  }
}

function nothing(value: unknown): unknown {
  return value
}

function inTurn(first: Fill, second: Fill): Fill {
  if (first === nothing) return second
  return second === nothing ? first : (value, run) => second(first(value, run), run)
}

function follow(node: Node, levels: number): Fill {
  return (value, run) => {
    if (!run.enter(levels)) return value
    const filled = node.fill(value, run)
    run.leave(levels)
    return filled
  }
}

/** Makes copies of a default, so that whoever gets one may change it. */
function copying(value: unknown, { at }: Place): Fill {
  const json = jsonOf(value)
  if (json === undefined) throw broken(`${at}/default`, '"default" must be a JSON value')
  const cost = 1 + json.length * CHARACTER
  return (_, run) => run.pays(cost) ? JSON.parse(json) : undefined
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // It is in a circle, or has a number that JSON does not have.
    return undefined
  }
}

function fillProperties(parts: readonly Part[]): Fill {
  const busy = parts.filter(({ absent, present }) => absent !== undefined || present !== nothing)
  if (busy.length === 0) return nothing
  return (object, run) => {
    if (!isObject(object) || !run.pays(busy.length * LIGHT)) return object
    let filled: Record<string, unknown> | undefined
    for (const { property, absent, present } of busy) {
      const given = read(object, property)
      const value = given === undefined ? absent?.(given, run) : present(given, run)
      if (value === given) continue
      if (filled === undefined) {
        namesOf(object, run)
        if (run.over !== undefined) return object
        filled = { ...object }
      }
      // To assign means something else for names like "__proto__".
      const descriptor = { value, writable: true, enumerable: true, configurable: true }
      Object.defineProperty(filled, property.name, descriptor)
    }
    return filled ?? object
  }
}

function fillItems(fill: Fill, before: unknown): Fill {
  if (fill === nothing) return nothing
  const start = Array.isArray(before) ? before.length : 0
  return (items, run) => {
    if (!Array.isArray(items)) return items
    let filled: unknown[] | undefined
    for (let index = start; index < items.length && run.pays(LIGHT); index++) {
      const value = fill(items[index], run)
      if (value === items[index]) continue
      if (filled === undefined) {
        if (!run.pays(items.length * GLANCE)) return items
        filled = [...items]
      }
      filled[index] = value
    }
    return filled ?? items
  }
}
