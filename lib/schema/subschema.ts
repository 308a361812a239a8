/**
 * One subschema to one check: the checks of its keywords, in the order of its dialect.
 *
 * Knows keywords only as rules, and leaves what a reference names to the linker.
 */
import { both, evaluating, inDocument, pass, unlessFailed } from './check.ts'
import { failureOf, step } from './error.ts'
import { broken } from './resource.ts'
import { isSchema, rulesOf } from './rule.ts'
import { resolve } from './uri.ts'
import type { Key } from './error.ts'
import type { CompileLimits } from './limits.ts'
import type { Place, Registry } from './resource.ts'
import type { JsonObject, Rule, RuleEntry, Site } from './rule.ts'
import type { Check, ValidationRun } from './run.ts'

/** How a subschema is used. */
export interface Use {
  /** Whether the schema around it reads what is evaluated here. */
  readonly reports: boolean
  /** Levels below the schema that a reference names. */
  readonly depth: number
  /** The address of that schema, where this one is still about the whole of the same value. */
  readonly whole: string | undefined
}

/** Who knows what references name, and compiles that once for all of them. */
export interface Linker {
  readonly limits: CompileLimits
  readonly registry: Registry
  /** Counts a subschema; throws where they are too many. */
  count(at: string): void
  /** Has a schema compiled for those who refer to it. */
  define(place: Place): void
  /** The check of what a reference in a place names; undefined where it names nothing. */
  refer(reference: string, isDynamic: boolean, from: Place, use: Use): Check | undefined
}

const KNOWN = 'write "https://json-schema.org/draft/2020-12/schema" or '
  + '"http://json-schema.org/draft-07/schema#", or give its metaschema in the option "schemas"'

/** Compiles a subschema, and those inside it. Throws the first mistake. */
export function checkOf(place: Place, { reports, depth, whole }: Use, linker: Linker): Check {
  const { schema, resource: { dialect }, at } = place
  if (!isSchema(schema)) throw broken(at, 'a schema must be an object or a boolean; write {} for anything')
  if (typeof schema === 'boolean') return schema ? pass : refuse
  if ('~standard' in schema) throw broken(at, 'is a schema of a library; write its JSON Schema form')
  if (dialect === undefined) {
    throw broken(`${at}/$schema`, `the dialect ${schema['$schema']} is not known; ${KNOWN}`)
  }
  linker.count(at)
  const entries = rulesOf(schema, dialect)
  const use: Use = { reports: reports || entries.some(([, { turn }]) => turn === 'last'), depth, whole }

  const checkAt = ([keyword, { kind: [is, phrase], compile }]: RuleEntry, others: Check): Check => {
    const site = siteOf(keyword, schema, place, use, linker)
    const value = schema[keyword]
    if (!is(value)) throw site.broken(`"${keyword}" must be ${phrase}`)
    return compile?.(site, value, others) ?? pass
  }
  const turn = (when: Rule['turn']): Check => entries
    .filter(([, rule]) => rule.turn === when)
    .map((entry) => checkAt(entry, pass))
    .reduce(both, pass)

  const others = unlessFailed(turn(undefined), turn('last'))
  const gate = entries.find(([, rule]) => rule.turn === 'gate')
  const check = gate === undefined ? others : checkAt(gate, others)
  return use.reports ? evaluating(check, reports) : check
}

function siteOf(keyword: string, schema: JsonObject, place: Place, use: Use, linker: Linker): Site {
  const { registry, limits } = linker
  const { resource } = place
  const depth = use.depth + 1
  const check = (value: unknown, steps: readonly Key[], inside: Use): Check => {
    const found = registry.inside(place, value, steps)
    const inner = checkOf(found, inside, linker)
    return found.resource === resource ? inner : inDocument(found.resource, inner)
  }
  const mistake = (why: string, ...steps: Key[]): TypeError =>
    broken(place.at + [keyword, ...steps].map(step).join(''), why)
  return {
    keyword,
    limits,
    tracks: use.reports,
    beside: (neighbour) => resource.dialect?.rules.has(neighbour) ? schema[neighbour] : undefined,
    part: (inner, ...steps) => check(inner, steps, { reports: false, depth, whole: undefined }),
    same: (inner, ...steps) => check(inner, steps, { ...use, depth }),
    define: (inner, name) => linker.define(registry.inside(place, inner, [keyword, name])),
    refer(reference, isDynamic = false) {
      const found = linker.refer(reference, isDynamic, place, use)
      if (found !== undefined) return found
      throw mistake(reference.startsWith('#')
        ? `nothing here is called ${reference}; write "#/$defs/name"`
        : `${resolve(resource.uri, reference)} is not known, and nothing is fetched; `
          + 'give it in the option "schemas"')
    },
    failure: (message, expected) => failureOf(keyword, message, expected),
    broken: mistake,
  }
}

function refuse(value: unknown, run: ValidationRun): boolean {
  return run.fails({ keyword: 'false', message: 'is not allowed' }, value)
}
