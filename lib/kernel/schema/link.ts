/**
 * A schema and all that it refers to, to one check: of each subschema the checks of its keywords, in the
 * order of its dialect. Knows keywords only as rules.
 *
 * What a reference names is compiled once and shared, which is how recursion works: a node stands for it
 * until its check is there. All else is compiled where it stands.
 * Spec: https://json-schema.org/draft/2020-12/json-schema-core §8.2.3
 */
import { failureOf } from './error.ts'
import { broken, resolve } from './resource.ts'
import { isSchema, isWritten, rulesOf } from './rule.ts'
import { EVALUATED, LIGHT, namesOf, pass, STEP } from './evaluation.ts'
import type { Failure, Key } from './error.ts'
import type { CompileLimits } from './limits.ts'
import type { Place, SchemaLocation, Registry } from './resource.ts'
import type { JsonObject, RuleEntry, Site } from './rule.ts'
import type { Check, Evaluation, Scope } from './evaluation.ts'

/** A schema that is referred to; its check is put in later, when it has been compiled. */
interface Node { check: Check }

interface Use {
  /** Whether the schema around it reads what is evaluated here. */
  readonly reports: boolean
  /** Levels below the schema that a reference names. */
  readonly depth: number
  /** That schema, where this one is still about the whole of the same value. */
  readonly whole: Node | undefined
  /** Of the schema around it, where this one is about the same value. */
  readonly load: Load | undefined
}

/** How many checks one value meets, of those that nobody pays for one by one. */
interface Load { checks: number }

/** Coming to a value pays for so many. */
const FREE_CHECKS = 6

/** Compiling a subschema, and each of its keywords. */
const SUBSCHEMA = 8 * STEP
const KEYWORD = 8 * STEP
/** Asking whether a document has a dynamic anchor. */
const LOOK_UP = 8

/** Where a dynamic reference leads, by the outermost document that has its anchor. */
interface Dynamic {
  readonly anchor: string
  readonly reports: boolean
  readonly targets: Map<Scope, Node>
}

/** Which schemas one applies to the whole of the same value. */
interface Lead { readonly at: Place; readonly to: Set<Node> }

const KNOWN = 'write "https://json-schema.org/draft/2020-12/schema" or '
  + '"http://json-schema.org/draft-07/schema#", or give its metaschema in the option "schemas"'

/** Compiles schemas and all that they refer to: what references name, once for all of them. */
export class Linker {
  readonly registry: Registry
  readonly limits: CompileLimits
  /** Whether a subschema was met that has a default. */
  hasDefaults = false
  readonly #nodes = new Map<string, Map<Scope, Map<unknown, Node>>>()
  readonly #waiting: (() => void)[] = []
  readonly #dynamics = new Map<string, Dynamic>()
  readonly #leads = new Map<Node, Lead>()
  #subschemas = 0

  constructor(registry: Registry, limits: CompileLimits) {
    this.registry = registry
    this.limits = limits
  }

  /** The checks of schemas. Throws the first mistake. */
  link(roots: readonly SchemaLocation[]): readonly Check[] {
    const tops = roots.map((root) => this.nodeOf(root, false))
    while (this.#waiting.length > 0) {
      for (let work = this.#waiting.pop(); work !== undefined; work = this.#waiting.pop()) work()
      // Documents may have been taken in meanwhile, and dynamic anchors with them.
      for (const dynamic of this.#dynamics.values()) this.#complete(dynamic)
    }
    refuseLoops(this.#leads)
    return tops.map(({ check }) => check)
  }

  /** Compiled later, so that schemas may refer to each other. */
  nodeOf(location: SchemaLocation, reports: boolean): Node {
    const { resource, schema } = location
    const nodes = within(within(this.#nodes, String(reports)), resource)
    const known = nodes.get(schema)
    if (known !== undefined) return known
    const node: Node = { check: pass }
    nodes.set(schema, node)
    this.#waiting.push(() => {
      node.check = checkOf(location, { reports, depth: 1, whole: node, load: undefined }, this)
    })
    return node
  }

  /** What is referred to is compiled again where it stands; references to every level make that a lot. */
  count(at: Place): void {
    if (++this.#subschemas <= 10 * this.limits.maxSubschemas) return
    throw broken(at, 'is used in too many ways (maxSubschemas)')
  }

  /** The check of what a reference in a schema names; undefined where it names nothing. */
  refer(
    reference: string, isDynamic: boolean, from: SchemaLocation, { reports, depth, whole }: Use,
  ): Check | undefined {
    const found = this.registry.find(reference, from)
    if (found === undefined) return undefined
    const { location, anchor } = found
    const node = this.nodeOf(location, reports)
    if (isDynamic && this.registry.dynamics.get(anchor)?.get(location.resource) === location) {
      return inDocument(location.resource, followDynamic(node, this.#targetsOf(anchor, reports), depth))
    }
    if (whole !== undefined) {
      const lead = this.#leads.get(whole) ?? { at: from.at, to: new Set() }
      this.#leads.set(whole, lead)
      lead.to.add(node)
    }
    const check = followNode(node, depth)
    return location.resource === from.resource ? check : inDocument(location.resource, check)
  }

  #targetsOf(anchor: string, reports: boolean): ReadonlyMap<Scope, Node> {
    const key = `${reports}${anchor}`
    const known = this.#dynamics.get(key)
    if (known !== undefined) return known.targets
    const targets = new Map<Scope, Node>()
    this.#dynamics.set(key, { anchor, reports, targets })
    return targets
  }

  #complete({ anchor, reports, targets }: Dynamic): void {
    const locations = this.registry.dynamics.get(anchor) ?? new Map<Scope, SchemaLocation>()
    if (locations.size === targets.size) return
    for (const [resource, location] of locations) {
      if (!targets.has(resource)) targets.set(resource, this.nodeOf(location, reports))
    }
  }
}

function within<Key, Inner, Value>(maps: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
  const known = maps.get(key) ?? new Map<Inner, Value>()
  maps.set(key, known)
  return known
}

/** Whether it checks by itself, or has functions: JSON has none. A default is looked at where it is used. */
function isOfLibrary(schema: JsonObject): boolean {
  return ('~standard' in schema && !isWritten(schema))
    || Object.keys(schema).some((name) => typeof schema[name] === 'function' && name !== 'default')
}

/** Compiles a subschema, and those inside it. Throws the first mistake. */
function checkOf(location: SchemaLocation, { reports, depth, whole, load }: Use, linker: Linker): Check {
  const { schema, resource: { dialect }, at } = location
  const { registry: { work }, limits: { maxSchemaDepth } } = linker
  work.pay(SUBSCHEMA, at)
  if (!isSchema(schema)) throw broken(at, 'a schema must be an object or a boolean; write {} for anything')
  if (typeof schema === 'boolean') return schema ? pass : refuse
  if (depth > maxSchemaDepth + 1) throw broken(at, `is more than ${maxSchemaDepth} levels deep; use "$ref"`)
  if (isOfLibrary(schema)) throw broken(at, 'is a schema of a library; write its JSON Schema form')
  if (dialect === undefined) {
    throw broken({ from: at, keys: ['$schema'] }, `the dialect ${schema['$schema']} is not known; ${KNOWN}`)
  }
  linker.count(at)
  if (schema['default'] !== undefined) linker.hasDefaults = true
  const entries = rulesOf(schema, dialect, { pay: (parts) => work.pay(parts, at) })
  work.pay(entries.length * KEYWORD, at)
  const own: Load = { checks: entries.length }
  const use: Use = {
    reports: reports || entries.some((entry) => entry[1].phase === 'last'), depth, whole, load: own,
  }

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
  const check = loaded(gate === undefined ? others : checkAt(gate, others), own, load)
  return use.reports ? evaluating(check, reports) : check
}

/** Pays for the checks of a schema where they are many; few are left to the schema around it. */
function loaded(check: Check, { checks }: Load, around: Load | undefined): Check {
  if (checks <= FREE_CHECKS) {
    if (around !== undefined) around.checks += checks
    return check
  }
  const cost = checks * LIGHT
  return (value, run) => {
    run.pay(cost)
    return check(value, run)
  }
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
    const depth = this.#use.depth + 1
    return this.#check(inner, steps, { reports: false, depth, whole: undefined, load: undefined })
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
    return failureOf(this.keyword, message, expected, (object) => this.namesOf(object))
  }

  namesOf(object: object): readonly string[] {
    return namesOf(object, this)
  }

  pay(parts: number): void {
    this.#linker.registry.work.pay(parts, { from: this.#location.at, keys: [this.keyword] })
  }

  broken(why: string, ...steps: Key[]): TypeError {
    return broken({ from: this.#location.at, keys: [this.keyword, ...steps] }, why)
  }

  #check(value: unknown, steps: readonly Key[], inside: Use): Check {
    const found = this.#linker.registry.inside(this.#location, value, steps)
    const inner = checkOf(found, inside, this.#linker)
    return found.resource === this.#location.resource ? inner : inDocument(found.resource, inner)
  }
}

function refuse(value: unknown, run: Evaluation): boolean {
  return run.fails({ keyword: 'false', message: 'is not allowed' }, value)
}

/** Throws where a schema leads back to itself for the same value: checking one would never end. */
function refuseLoops(leads: ReadonlyMap<Node, Lead>): void {
  const ended = new Set<Node>()
  const path = new Set<Node>()
  for (const first of leads.keys()) {
    const stack = [first]
    for (let node = stack.at(-1); node !== undefined; node = stack.at(-1)) {
      // Seen for the second time, all that it leads to has come to an end.
      if (ended.has(node) || path.delete(node)) {
        ended.add(node)
        stack.pop()
        continue
      }
      path.add(node)
      for (const target of leads.get(node)?.to ?? []) {
        const at = path.has(target) ? leads.get(target)?.at : undefined
        if (at !== undefined) {
          throw broken(at, 'leads back to itself by "$ref"; a schema can refer to itself for parts of a '
            + 'value only, as in "properties" or "items"')
        }
        if (!ended.has(target)) stack.push(target)
      }
    }
  }
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
function followNode(node: Node, levels: number): Check {
  return (value, run) => {
    run.enter(levels)
    const goesOn = node.check(value, run)
    run.leave(levels)
    return goesOn
  }
}

/** The same, to the node of the outermost document that has one. */
function followDynamic(node: Node, targets: ReadonlyMap<Scope, Node>, levels: number): Check {
  return (value, run) => {
    run.enter(levels)
    const outermost = run.scope.findIndex((document) => targets.has(document))
    run.pay(outermost * LOOK_UP)
    const target = run.scope[outermost]
    const goesOn = (target && targets.get(target) || node).check(value, run)
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
