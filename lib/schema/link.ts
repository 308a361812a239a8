/**
 * A schema and all that it refers to, to one check: of each subschema the checks of its keywords, in the
 * order of its dialect. Knows keywords only as rules.
 *
 * What a reference names is compiled once and shared, which is how recursion works: a node stands for it
 * until its check is there. All else is compiled where it stands.
 * Spec: https://json-schema.org/draft/2020-12/json-schema-core §8.2.3
 */
import { failureOf, step } from './error.ts'
import { broken, resolve, split } from './resource.ts'
import { isSchema, rulesOf } from './rule.ts'
import { EVALUATED, pass } from './run.ts'
import type { Failure, Key } from './error.ts'
import type { CompileLimits } from './limits.ts'
import type { SchemaLocation, Registry } from './resource.ts'
import type { JsonObject, RuleEntry, Site } from './rule.ts'
import type { Check, Scope, ValidationRun } from './run.ts'

/** A schema that is referred to; its check is put in later, when it has been compiled. */
interface Node { check: Check }

interface Use {
  /** Whether the schema around it reads what is evaluated here. */
  readonly reports: boolean
  /** Levels below the schema that a reference names. */
  readonly depth: number
  /** The address of that schema, where this one is still about the whole of the same value. */
  readonly whole: string | undefined
}

const KNOWN = 'write "https://json-schema.org/draft/2020-12/schema" or '
  + '"http://json-schema.org/draft-07/schema#", or give its metaschema in the option "schemas"'

/** Compiles a schema and all that it refers to. Throws the first mistake. */
export function link(
  root: SchemaLocation, registry: Registry, limits: CompileLimits,
): { readonly check: Check; readonly hasDefaults: boolean } {
  const linker = new Linker(registry, limits)
  return { check: linker.link(root), hasDefaults: linker.hasDefaults }
}

/** Knows what references name, and compiles that once for all of them. */
class Linker {
  readonly registry: Registry
  readonly limits: CompileLimits
  /** Whether a subschema was met that has a default. */
  hasDefaults = false
  readonly #nodes = new Map<string, Node>()
  readonly #waiting: (() => void)[] = []
  readonly #dynamics: (() => void)[] = []
  /** Which schemas apply which others to the whole of the same value. */
  readonly #leads = new Map<string, Set<string>>()
  #subschemas = 0

  constructor(registry: Registry, limits: CompileLimits) {
    this.registry = registry
    this.limits = limits
  }

  link(root: SchemaLocation): Check {
    const top = this.nodeOf(root, false)
    while (this.#waiting.length > 0) {
      for (let work = this.#waiting.pop(); work !== undefined; work = this.#waiting.pop()) work()
      // Documents may have been taken in meanwhile, and dynamic anchors with them.
      for (const work of this.#dynamics) work()
    }
    refuseLoops(this.#leads)
    return top.check
  }

  /** Compiled later, so that schemas may refer to each other. */
  nodeOf(location: SchemaLocation, reports: boolean): Node {
    const key = `${reports}${location.at}`
    const known = this.#nodes.get(key)
    if (known !== undefined) return known
    const node: Node = { check: pass }
    this.#nodes.set(key, node)
    this.#waiting.push(() => {
      node.check = checkOf(location, { reports, depth: 1, whole: location.at }, this)
    })
    return node
  }

  /** What is referred to is compiled again where it stands; references to every level make that a lot. */
  count(at: string): void {
    if (++this.#subschemas <= 10 * this.limits.maxSubschemas) return
    throw broken(at, 'is used in too many ways (maxSubschemas)')
  }

  /** The check of what a reference in a schema names; undefined where it names nothing. */
  refer(
    reference: string, isDynamic: boolean, { resource }: SchemaLocation, { reports, depth, whole }: Use,
  ): Check | undefined {
    const uri = resolve(resource.uri, reference)
    const found = this.registry.find(uri)
    if (found === undefined) return undefined
    const locations = isDynamic ? this.registry.dynamics.get(split(uri)[1]) : undefined
    if (locations?.includes(found)) {
      this.#dynamics.push(() => locations.forEach((location) => this.nodeOf(location, reports)))
      return inDocument(found.resource, follow(({ scope }) => {
        const outermost = scope.find((document) => locations.some(({ resource }) => resource === document))
        return this.nodeOf(locations.find(({ resource }) => resource === outermost) ?? found, reports)
      }, depth))
    }
    if (whole !== undefined) this.#leads.set(whole, (this.#leads.get(whole) ?? new Set()).add(found.at))
    const check = followNode(this.nodeOf(found, reports), depth)
    return found.resource === resource ? check : inDocument(found.resource, check)
  }
}

function followNode(node: Node, levels: number): Check {
  return follow(() => node, levels)
}

/** Compiles a subschema, and those inside it. Throws the first mistake. */
function checkOf(location: SchemaLocation, { reports, depth, whole }: Use, linker: Linker): Check {
  const { schema, resource: { dialect }, at } = location
  if (!isSchema(schema)) throw broken(at, 'a schema must be an object or a boolean; write {} for anything')
  if (typeof schema === 'boolean') return schema ? pass : refuse
  if ('~standard' in schema) throw broken(at, 'is a schema of a library; write its JSON Schema form')
  if (dialect === undefined) {
    throw broken(`${at}/$schema`, `the dialect ${schema['$schema']} is not known; ${KNOWN}`)
  }
  linker.count(at)
  if (schema['default'] !== undefined) linker.hasDefaults = true
  const entries = rulesOf(schema, dialect)
  const use: Use = { reports: reports || entries.some((entry) => entry[1].phase === 'last'), depth, whole }

  const checkAt = (entry: RuleEntry, others: Check): Check => {
    const keyword = entry[0]
    const { kind, compile } = entry[1]
    const site = new KeywordSite(keyword, schema, location, use, linker)
    const value = schema[keyword]
    if (!kind[0](value)) throw site.broken(`"${keyword}" must be ${kind[1]}`)
    return compile?.(site, value, others) ?? pass
  }
  let gate: RuleEntry | undefined
  let middle: Check = pass
  let last: Check = pass
  for (const entry of entries) {
    const { phase } = entry[1]
    if (phase === 'gate') gate ??= entry
    else if (phase === undefined) middle = both(middle, checkAt(entry, pass))
  }
  for (const entry of entries) if (entry[1].phase === 'last') last = both(last, checkAt(entry, pass))
  const others = unlessFailed(middle, last)
  const check = gate === undefined ? others : checkAt(gate, others)
  return use.reports ? evaluating(check, reports) : check
}

/** A server has thousands of these: methods, and no closures. */
class KeywordSite implements Site {
  readonly keyword: string
  readonly limits: CompileLimits
  readonly tracks: boolean
  readonly #schema: JsonObject
  readonly #location: SchemaLocation
  readonly #use: Use
  readonly #linker: Linker

  constructor(keyword: string, schema: JsonObject, location: SchemaLocation, use: Use, linker: Linker) {
    this.keyword = keyword
    this.limits = linker.limits
    this.tracks = use.reports
    this.#schema = schema
    this.#location = location
    this.#use = use
    this.#linker = linker
  }

  beside(neighbour: string): unknown {
    return this.#location.resource.dialect?.rules.has(neighbour) ? this.#schema[neighbour] : undefined
  }

  part(inner: unknown, ...steps: Key[]): Check {
    return this.#check(inner, steps, { reports: false, depth: this.#use.depth + 1, whole: undefined })
  }

  same(inner: unknown, ...steps: Key[]): Check {
    return this.#check(inner, steps, { ...this.#use, depth: this.#use.depth + 1 })
  }

  define(inner: unknown, name: string): void {
    this.#linker.nodeOf(this.#linker.registry.inside(this.#location, inner, [this.keyword, name]), false)
  }

  refer(reference: string, isDynamic: boolean = false): Check {
    const found = this.#linker.refer(reference, isDynamic, this.#location, this.#use)
    if (found !== undefined) return found
    throw this.broken(reference.startsWith('#')
      ? `nothing here is called ${reference}; write "#/$defs/name"`
      : `${resolve(this.#location.resource.uri, reference)} is not known, and nothing is fetched; `
        + 'give it in the option "schemas"')
  }

  failure(message: string, expected?: unknown): Failure {
    return failureOf(this.keyword, message, expected)
  }

  broken(why: string, ...steps: Key[]): TypeError {
    return broken(this.#location.at + [this.keyword, ...steps].map(step).join(''), why)
  }

  #check(value: unknown, steps: readonly Key[], inside: Use): Check {
    const found = this.#linker.registry.inside(this.#location, value, steps)
    const inner = checkOf(found, inside, this.#linker)
    return found.resource === this.#location.resource ? inner : inDocument(found.resource, inner)
  }
}

function refuse(value: unknown, run: ValidationRun): boolean {
  return run.fails({ keyword: 'false', message: 'is not allowed' }, value)
}

/** Throws where a schema leads back to itself for the same value: checking one would never end. */
function refuseLoops(leads: Map<string, Set<string>>): void {
  // What leads to an end is removed until nothing else is left.
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

/** The check that both pass. */
function both(first: Check, second: Check): Check {
  if (first === pass) return second
  if (second === pass) return first
  return (value, run) => first(value, run) && second(value, run)
}

/** The second only where the first has left no error. */
function unlessFailed(first: Check, second: Check): Check {
  if (second === pass) return first
  return (value, run) => {
    const { length } = run.errors
    return first(value, run) && (run.errors.length > length || second(value, run))
  }
}

/** Keeps what is evaluated apart from what the schema around evaluates, and reports it there if it holds. */
function evaluating(check: Check, reports: boolean): Check {
  return (value, run) => {
    const around = run.evaluated
    run.evaluated = []
    const goesOn = check(value, run)
    if (goesOn && reports) {
      run.pay(run.evaluated.length * EVALUATED)
      for (const key of run.evaluated) around.push(key)
    }
    run.evaluated = around
    return goesOn
  }
}

/** Goes to a node that is referred to from `levels` below another one. */
function follow(target: (run: ValidationRun) => Node, levels: number): Check {
  return (value, run) => {
    run.enter(levels)
    const goesOn = target(run).check(value, run)
    run.leave(levels)
    return goesOn
  }
}

/** Goes into a document, which is part of the dynamic scope then. */
function inDocument(document: Scope, check: Check): Check {
  return (value, run) => {
    run.scope.push(document)
    const goesOn = check(value, run)
    run.scope.pop()
    return goesOn
  }
}
