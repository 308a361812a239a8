/**
 * Schemas to nodes: one check for each subschema, put together from the checks of its keywords.
 *
 * A subschema is compiled where it stands; what a reference names is compiled once and shared, which is how
 * recursion works. Knows keywords only as rules.
 */
import type { Limits } from './limits.ts'
import type { Place, Registry, Resource } from './resource.ts'
import type { JsonObject, Rule, Site, Step } from './rule.ts'
import type { Check, Run, Scope } from './run.ts'
import { step } from './error.ts'
import { broken } from './resource.ts'
import { isSchema } from './rule.ts'
import { resolve, split } from './uri.ts'

/** A schema that has a name; `check` is put in when it has been compiled. */
export interface Node {
  check: Check
}

const pass: Check = () => true
const refuse: Check = (value, run) => run.fails({ keyword: 'false', message: 'is not allowed' }, value)
const KNOWN = 'write "https://json-schema.org/draft/2020-12/schema" or '
  + '"http://json-schema.org/draft-07/schema#", or give its metaschema in the option "schemas"'

/** Compiles a schema and all that it refers to. */
export function assemble(root: Place, registry: Registry, limits: Limits): Node {
  const nodes = new Map<string, Node>()
  const dynamics = new Map<string, Map<Scope, Node>>()
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
    if (known) return known
    const node = { check: pass }
    nodes.set(key, node)
    queue.push(() => void (node.check = build(place, tells, 1)))
    return node
  }

  /** What a dynamic anchor means, by the resource that decides it; completed when all resources are known. */
  function targetsOf(key: string): Map<Scope, Node> {
    const [tells, anchor = ''] = key.split('#')
    const places = registry.dynamics.get(anchor) ?? []
    const targets = dynamics.get(key) ?? new Map<Scope, Node>()
    for (const place of places) targets.set(place.resource, nodeOf(place, tells === 'true'))
    dynamics.set(key, targets)
    return targets
  }

  /** The check of a schema where it stands, `depth` levels below one with a name. */
  function build(place: Place, tells: boolean, depth: number): Check {
    const { schema, resource: { dialect }, at } = place
    if (!isSchema(schema)) throw broken(at, 'a schema must be an object or a boolean; write {} for anything')
    if (typeof schema === 'boolean') return schema ? pass : refuse
    if (!dialect) throw broken(`${at}/$schema`, `the dialect ${schema['$schema']} is not known; ${KNOWN}`)
    // What is referred to is compiled again where it stands; references to every level would make that a lot.
    if (++built > 10 * limits.maxSubschemas) throw broken(at, 'is used in too many ways (maxSubschemas)')
    const isAlone = dialect.lonelyRef && Object.hasOwn(schema, '$ref')
    const known = dialect.entries.filter(([keyword]) =>
      isAlone ? keyword === '$ref' : Object.hasOwn(schema, keyword))
    const tracks = tells || known.some(([, { turn }]) => turn === 'last')
    const checkOf = (when: Rule['turn'], others = pass): Check => {
      const checks = known.filter(([, { turn }]) => turn === when).map(([keyword, rule]) => {
        const { kind: [is, phrase], compile } = rule
        const site = siteOf(keyword, schema, place, tracks, depth)
        if (!is(schema[keyword])) throw site.broken(`"${keyword}" must be ${phrase}`)
        return compile?.(site, schema[keyword], others) ?? pass
      })
      return checks.reduce(both, pass)
    }
    const others = then(checkOf(undefined), checkOf('last'))
    const gate = checkOf('gate', others)
    const whole = gate === pass ? others : gate
    return tracks ? tracked(whole, tells) : whole
  }

  function siteOf(
    keyword: string, schema: JsonObject, { resource, at }: Place, tracks: boolean, depth: number,
  ): Site {
    const place = (inner: unknown, ...steps: Step[]): Place =>
      ({ schema: inner, resource: registry.rootedAt(inner) ?? resource, at: at + steps.map(step).join('') })
    const check = (tells: boolean) => (inner: unknown, ...steps: Step[]): Check => {
      const found = place(inner, ...steps)
      const node = { check: build(found, tells, depth + 1) }
      return found.resource === resource ? node.check : follow(() => node, 1, found.resource)
    }
    const mistake: Site['broken'] = (why, ...steps) => broken(place(schema, keyword, ...steps).at, why)
    return {
      keyword,
      limits,
      tracks,
      beside: (neighbour) => resource.dialect?.rules.has(neighbour) ? schema[neighbour] : undefined,
      part: check(false),
      same: check(tracks),
      define: (inner, name) => void nodeOf(place(inner, keyword, name), false),
      refer(reference, dynamic) {
        const uri = resolve(resource.uri, reference)
        const found = registry.find(uri)
        if (!found) {
          throw mistake(reference.startsWith('#')
            ? `nothing here is called ${reference}; write "#/$defs/name"`
            : `${uri} is not known, and nothing is fetched; give it in the option "schemas"`)
        }
        const node = nodeOf(found, tracks)
        const [, anchor] = split(uri)
        if (!dynamic || !registry.dynamics.get(anchor)?.includes(found)) {
          return follow(() => node, depth, found.resource)
        }
        const targets = targetsOf(`${tracks}#${anchor}`)
        return follow(({ scope }) =>
          targets.get(scope.find((one) => targets.has(one)) ?? resource) ?? node, depth, found.resource)
      },
      fault: (message, expected) => ({ keyword, message, expected }),
      broken: mistake,
    }
  }
}

const both = (a: Check, b: Check): Check =>
  a === pass ? b : b === pass ? a : (value, run) => a(value, run) && b(value, run)

/** The second where the first has left no error. */
const then = (a: Check, b: Check): Check => b === pass ? a : (value, run) => {
  const { length } = run.errors
  return a(value, run) && (run.errors.length > length || b(value, run))
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

/** Follows a reference into a resource, which stands `levels` deep, and pays for it. */
const follow = (target: (run: Run) => Node, levels: number, resource: Resource): Check => (value, run) => {
  const { limits: { maxDepth, maxSteps }, scope } = run
  if (++run.steps > maxSteps) return run.giveUp(`takes too long to check (maxSteps ${maxSteps})`)
  if (run.depth + levels > maxDepth) return run.giveUp(`is nested too deeply to check (maxDepth ${maxDepth})`)
  const enters = scope.at(-1) !== resource
  if (enters) scope.push(resource)
  run.depth += levels
  const goesOn = target(run).check(value, run)
  run.depth -= levels
  if (enters) scope.pop()
  return goesOn
}
