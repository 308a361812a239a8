/**
 * Schemas to nodes: one check for each subschema, put together from the checks of its keywords.
 *
 * A subschema is compiled where it stands; what a reference names is compiled once and shared, which is how
 * recursion works. Knows keywords only as rules.
 */
import type { Fault } from './error.ts'
import type { Limits } from './limits.ts'
import type { Place, Registry, Resource } from './resource.ts'
import type { JsonObject, Site, Step } from './rule.ts'
import type { Check, Run } from './run.ts'
import { step } from './error.ts'
import { broken } from './resource.ts'
import { isObject } from './rule.ts'
import { resolve, split } from './uri.ts'

/** A schema that has a name; `check` is put in when it has been compiled. */
export interface Node {
  check: Check
}

const pass: Check = () => true
const nothing: Fault = { keyword: 'false', message: 'is not allowed' }
const refuse: Check = (value, run) => run.fails(nothing, value)

/** Compiles a schema and all that it refers to. */
export function assemble(root: Place, registry: Registry, limits: Limits): Node {
  const nodes = new Map<string, Node>()
  const dynamics = new Map<string, Map<Resource, Node>>()
  const queue: (() => void)[] = []
  let built = 0
  const top = nodeOf(root, false)
  while (queue.length > 0) {
    for (let next = queue.pop(); next; next = queue.pop()) next()
    for (const key of dynamics.keys()) targetsOf(key)
  }
  return top

  /** Compiled later, so that schemas may refer to each other. */
  function nodeOf(place: Place, tells: boolean): Node {
    const key = `${tells}${place.at}`
    const known = nodes.get(key)
    const node = known ?? { check: pass }
    if (!known) queue.push(() => void (node.check = build(place, tells, 1)))
    nodes.set(key, node)
    return node
  }

  /** What a dynamic anchor means, by the resource that decides it; completed when all resources are known. */
  function targetsOf(key: string): Map<Resource, Node> {
    const [tells, anchor = ''] = key.split('#')
    const targets = dynamics.get(key) ?? new Map<Resource, Node>()
    for (const place of registry.dynamics.get(anchor) ?? []) {
      targets.set(place.resource, nodeOf(place, tells === 'true'))
    }
    dynamics.set(key, targets)
    return targets
  }

  /** The check of a schema where it stands, `depth` levels below one with a name. */
  function build(place: Place, tells: boolean, depth: number): Check {
    const { schema, resource: { dialect }, at } = place
    if (typeof schema === 'boolean') return schema ? pass : refuse
    if (!isObject(schema)) throw broken(at, 'a schema must be an object or a boolean; write {} for anything')
    if (!dialect) {
      throw broken(`${at}/$schema`, `the dialect ${schema['$schema']} is not known; write `
        + '"https://json-schema.org/draft/2020-12/schema" or "http://json-schema.org/draft-07/schema#", or '
        + 'give its metaschema in the option "schemas"')
    }
    // What is referred to is compiled again where it stands; references to every level would make that a lot.
    if (++built > 10 * limits.maxSubschemas) throw broken(at, 'is used in too many ways (maxSubschemas)')
    const { rules, order, lonelyRef } = dialect
    const keywords = lonelyRef && Object.hasOwn(schema, '$ref') ? ['$ref'] : Object.keys(schema)
    const known = keywords.flatMap((keyword) => {
      const rule = rules.get(keyword)
      return rule ? { keyword, rule, place: order.get(keyword) ?? 0 } : []
    }).sort((a, b) => a.place - b.place)
    const tracks = tells || known.some(({ rule }) => rule.turn === 'last')
    let [rest, last] = [pass, pass]
    let gate = (others: Check | undefined): Check => others ?? pass
    for (const { keyword, rule: { kind: [is, phrase], compile, turn } } of known) {
      const value = schema[keyword]
      const site = siteOf(keyword, schema, place, tracks, depth)
      if (!is(value)) throw site.broken(`"${keyword}" must be ${phrase}`)
      if (turn === 'gate') gate = (others) => compile?.(site, value, others) ?? pass
      else if (turn === 'last') last = both(last, compile?.(site, value) ?? pass)
      else rest = both(rest, compile?.(site, value) ?? pass)
    }
    const others = then(rest, last)
    const whole = gate(others === pass ? undefined : others)
    return tracks ? tracked(whole, tells) : whole
  }

  function siteOf(keyword: string, schema: JsonObject, around: Place, tracks: boolean, depth: number): Site {
    const { resource, at } = around
    const place = (inner: unknown, ...steps: Step[]): Place =>
      ({ schema: inner, resource: registry.rootedAt(inner) ?? resource, at: at + steps.map(step).join('') })
    const entered = (found: Place): Resource | undefined =>
      found.resource === resource ? undefined : found.resource
    const check = (found: Place, tells: boolean): Check => {
      const node = { check: build(found, tells, depth + 1) }
      return entered(found) ? follow(() => node, 1, found.resource) : node.check
    }
    const site: Site = {
      keyword,
      limits,
      tracks,
      beside: (neighbour) => resource.dialect?.rules.has(neighbour) ? schema[neighbour] : undefined,
      part: (inner, ...steps) => check(place(inner, ...steps), false),
      same: (inner, ...steps) => check(place(inner, ...steps), tracks),
      define: (inner, name) => void nodeOf(place(inner, keyword, name), false),
      refer(reference, dynamic) {
        const uri = resolve(resource.uri, reference)
        const [, anchor] = split(uri)
        const found = registry.find(uri)
        if (!found) {
          throw site.broken(reference.startsWith('#')
            ? `nothing here is called ${reference}; write "#/$defs/name"`
            : `${uri} is not known, and nothing is fetched from the network; give it in the option "schemas"`)
        }
        const node = nodeOf(found, tracks)
        const isDynamic = dynamic && registry.dynamics.get(anchor)?.includes(found)
        const targets = isDynamic ? targetsOf(`${tracks}#${anchor}`) : new Map<Resource, Node>()
        const outermost = ({ scope }: Run): Node =>
          targets.get(scope.find((one) => targets.has(one)) ?? resource) ?? node
        return follow(isDynamic ? outermost : () => node, depth, entered(found))
      },
      fault: (message, expected) => ({ keyword, message, expected }),
      broken: (why, ...steps) => broken(place(schema, keyword, ...steps).at, why),
    }
    return site
  }
}

function both(a: Check, b: Check): Check {
  if (a === pass || b === pass) return a === pass ? b : a
  return (value, run) => a(value, run) && b(value, run)
}

/** The second where the first has left no error. */
function then(a: Check, b: Check): Check {
  if (a === pass || b === pass) return a === pass ? b : a
  return (value, run) => {
    if (run.quiet) return a(value, run) && b(value, run)
    const { length } = run.errors
    return a(value, run) && (run.errors.length > length || b(value, run))
  }
}

/** A node that knows what it has evaluated, and tells the node around it when it holds. */
const tracked = (check: Check, tells: boolean): Check => (value, run) => {
  const { seen } = run
  run.seen = []
  const goesOn = check(value, run)
  for (const key of goesOn && tells ? run.seen : []) seen.push(key)
  run.seen = seen
  return goesOn
}

type Target = (run: Run) => Node

/** Follows a reference that stands `levels` deep, and pays for it. */
const follow = (target: Target, levels: number, entered: Resource | undefined): Check => (value, run) => {
  const { maxDepth, maxSteps } = run.limits
  if (++run.steps > maxSteps) return run.giveUp(`takes too long to check (maxSteps ${maxSteps})`)
  if (run.depth + levels > maxDepth) return run.giveUp(`is nested too deeply to check (maxDepth ${maxDepth})`)
  run.depth += levels
  if (entered) run.scope.push(entered)
  const goesOn = target(run).check(value, run)
  if (entered) run.scope.pop()
  run.depth -= levels
  return goesOn
}
