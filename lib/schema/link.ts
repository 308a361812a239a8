/**
 * A schema and all that it refers to, to one check.
 *
 * What a reference names is compiled once and shared, which is how recursion works: a node stands for it
 * until its check is there. All else is compiled where it stands, by `subschema.ts`.
 * Spec: https://json-schema.org/draft/2020-12/json-schema-core §8.2.3
 */
import { follow, pass } from './check.ts'
import { broken } from './resource.ts'
import { checkOf } from './subschema.ts'
import { resolve, split } from './uri.ts'
import type { Node } from './check.ts'
import type { Limits } from './limits.ts'
import type { Place, Registry } from './resource.ts'
import type { Check, Scope } from './run.ts'
import type { Linker, Use } from './subschema.ts'

/** What a `$dynamicRef` may lead to: the schemas of one `$dynamicAnchor`, by the document they are in. */
interface Dynamic {
  readonly anchor: string
  readonly reports: boolean
  readonly targets: Map<Scope, Node>
}

/** Compiles a schema and all that it refers to. Throws the first mistake. */
export function link(root: Place, registry: Registry, limits: Limits): Check {
  const nodes = new Map<string, Node>()
  const dynamics = new Map<string, Dynamic>()
  const waiting: (() => void)[] = []
  // Which schemas apply which others to the whole of the same value.
  const leads = new Map<string, Set<string>>()
  let subschemas = 0
  const linker: Linker = { limits, registry, count, define: (place) => void nodeOf(place, false), refer }

  const top = nodeOf(root, false)
  while (waiting.length > 0) {
    for (let work = waiting.pop(); work !== undefined; work = waiting.pop()) work()
    // Documents may have been taken in meanwhile, and anchors with them.
    for (const dynamic of dynamics.values()) complete(dynamic)
  }
  refuseLoops(leads)
  return top.check

  /** Compiled later, so that schemas may refer to each other. */
  function nodeOf(place: Place, reports: boolean): Node {
    const key = `${reports}${place.at}`
    let node = nodes.get(key)
    if (node === undefined) {
      const made: Node = node = { check: pass }
      nodes.set(key, made)
      waiting.push(() => {
        made.check = checkOf(place, { reports, depth: 1, whole: place.at }, linker)
      })
    }
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
    const [, anchor] = split(uri)
    if (!isDynamic || !registry.dynamics.get(anchor)?.includes(found)) {
      if (whole !== undefined) leads.set(whole, (leads.get(whole) ?? new Set()).add(found.at))
      return follow(() => node, depth, found.resource)
    }
    const { targets } = dynamicOf(anchor, reports)
    return follow(({ scope }) => {
      const outermost = scope.find((one) => targets.has(one)) ?? resource
      return targets.get(outermost) ?? node
    }, depth, found.resource)
  }

  function dynamicOf(anchor: string, reports: boolean): Dynamic {
    const key = `${reports}#${anchor}`
    let dynamic = dynamics.get(key)
    if (dynamic === undefined) dynamics.set(key, dynamic = { anchor, reports, targets: new Map() })
    complete(dynamic)
    return dynamic
  }

  function complete({ anchor, reports, targets }: Dynamic): void {
    for (const place of registry.dynamics.get(anchor) ?? []) {
      targets.set(place.resource, nodeOf(place, reports))
    }
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
