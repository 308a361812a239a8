/**
 * A schema and all that it refers to, to one check.
 *
 * What a reference names is compiled once and shared, which is how recursion works: a node stands for it
 * until its check is there. All else is compiled where it stands, by `subschema.ts`.
 * Spec: https://json-schema.org/draft/2020-12/json-schema-core §8.2.3
 */
import { follow, inDocument, pass } from './check.ts'
import { broken } from './resource.ts'
import { checkOf } from './subschema.ts'
import { resolve, split } from './uri.ts'
import type { Node } from './check.ts'
import type { CompileLimits } from './limits.ts'
import type { Place, Registry } from './resource.ts'
import type { Check } from './run.ts'
import type { Linker, Use } from './subschema.ts'

/** Compiles a schema and all that it refers to. Throws the first mistake. */
export function link(root: Place, registry: Registry, limits: CompileLimits): Check {
  const nodes = new Map<string, Node>()
  const waiting: (() => void)[] = []
  const dynamics: (() => void)[] = []
  // Which schemas apply which others to the whole of the same value.
  const leads = new Map<string, Set<string>>()
  let subschemas = 0
  const linker: Linker = { limits, registry, count, define: (place) => void nodeOf(place, false), refer }

  const top = nodeOf(root, false)
  while (waiting.length > 0) {
    for (let work = waiting.pop(); work !== undefined; work = waiting.pop()) work()
    // Documents may have been taken in meanwhile, and dynamic anchors with them.
    for (const work of dynamics) work()
  }
  refuseLoops(leads)
  return top.check

  /** Compiled later, so that schemas may refer to each other. */
  function nodeOf(place: Place, reports: boolean): Node {
    const key = `${reports}${place.at}`
    const known = nodes.get(key)
    if (known !== undefined) return known
    const node: Node = { check: pass }
    nodes.set(key, node)
    waiting.push(() => {
      node.check = checkOf(place, { reports, depth: 1, whole: place.at }, linker)
    })
    return node
  }

  /** What is referred to is compiled again where it stands; references to every level make that a lot. */
  function count(at: string): void {
    subschemas++
    if (subschemas > 10 * limits.maxSubschemas) throw broken(at, 'is used in too many ways (maxSubschemas)')
  }

  function refer(
    reference: string, isDynamic: boolean, { resource }: Place, { reports, depth, whole }: Use,
  ): Check | undefined {
    const uri = resolve(resource.uri, reference)
    const found = registry.find(uri)
    if (found === undefined) return undefined
    const node = nodeOf(found, reports)
    const places = isDynamic ? registry.dynamics.get(split(uri)[1]) : undefined
    if (places?.includes(found)) {
      dynamics.push(() => places.forEach((place) => nodeOf(place, reports)))
      return inDocument(found.resource, follow(({ scope }) => {
        for (const document of scope) {
          const place = places.find((one) => one.resource === document)
          if (place !== undefined) return nodeOf(place, reports)
        }
        return node
      }, depth))
    }
    if (whole !== undefined) leads.set(whole, (leads.get(whole) ?? new Set()).add(found.at))
    const check = follow(() => node, depth)
    return found.resource === resource ? check : inDocument(found.resource, check)
  }
}

/** A schema that comes back to itself for the same value, over and over, would check none. */
function refuseLoops(leads: Map<string, Set<string>>): void {
  // What leads to an end is taken away until nothing else is left.
  for (let before = 0; before !== leads.size;) {
    before = leads.size
    for (const [at, targets] of [...leads].reverse()) {
      for (const target of targets) if (!leads.has(target)) targets.delete(target)
      if (targets.size === 0) leads.delete(at)
    }
  }
  let [at] = leads.keys()
  if (at === undefined) return
  // It may only lead to a loop; after so many steps it is in one.
  for (let steps = leads.size; steps > 0; steps--) [at = at] = leads.get(at) ?? []
  throw broken(at, 'leads back to itself by "$ref"; a schema can refer to itself for parts of a value only, '
    + 'as in "properties" or "items"')
}
