/** Reads schemas of valibot. Its pipelines are lists of schemas, checks, transformations and descriptions. */
import { about, keywordsOf, rawOf, together } from './library-part.ts'
import { itemsIn } from '../shared/shape.ts'
import type { JsonObject } from '../../kernel/schema/rule.ts'
import type { Side } from '../../kernel/schema/standard.ts'
import type { LibraryPart, Raw } from './library-part.ts'

const words: ReadonlyMap<unknown, string> = new Map(Object.entries({
  loose_object: 'object', strict_object: 'object', object_with_rest: 'object', picklist: 'enum',
  literal: 'enum', variant: 'union', intersect: 'intersection', undefinedable: 'wrapped',
  exact_optional: 'optional', nullish: 'nullable', non_optional: 'nonoptional', non_nullable: 'nonnullable',
  non_nullish: 'nonnullable', loose_tuple: 'tuple', strict_tuple: 'tuple', tuple_with_rest: 'tuple',
}))

/** What an object may lack. */
const omissible: ReadonlySet<unknown> = new Set(['exact_optional', 'nullish', 'optional'])

/** What is of the same type after it. */
const keeping: ReadonlySet<unknown> = new Set([
  'brand', 'filter_items', 'flavor', 'guard', 'normalize', 'readonly', 'sort_items', 'to_camel_case',
  'to_kebab_case', 'to_lower_case', 'to_max_value', 'to_min_value', 'to_pascal_case', 'to_snake_case',
  'to_upper_case', 'trim', 'trim_end', 'trim_start',
])

/** What a transformation makes, where it says so. */
const made: ReadonlyMap<unknown, string> = new Map(Object.entries({
  parse_boolean: 'boolean', parse_json: 'unknown', stringify_json: 'string', to_bigint: 'bigint',
  to_boolean: 'boolean', to_date: 'date', to_number: 'number', to_string: 'string',
}))

/** Whether a step of a pipeline makes something else of a value. */
export function isChange(step: Raw): boolean {
  return step['kind'] === 'schema' || (step['kind'] === 'transformation' && !keeping.has(step['type']))
}

/** Whether a step only refuses values. */
export function isCheck({ kind, type }: Raw): boolean {
  return kind === 'validation' || type === 'guard'
}

/** The type that a step makes, as valibot calls it. */
export function madeBy(step: Raw): string {
  return made.get(step['type']) ?? 'transform'
}

export function readValibot(schema: object, side: Side): LibraryPart | undefined {
  const { type: name, pipe } = rawOf(schema)
  if (typeof name !== 'string') return undefined
  const [first = rawOf(schema), ...steps] = flat(pipe)
  const cut = steps.findIndex(isChange)
  if (cut < 0) return readOne(first, steps, side)
  const last = steps.findLastIndex(isChange)
  const change = steps[last]!
  const target = change['kind'] === 'schema' ? change : { kind: 'schema', type: madeBy(change) }
  const options = first['type'] === 'string' ? wordsOfBoolean(steps[cut]!) : []
  const isFuller = options.length > 0
  const from = isFuller ? { kind: 'schema', type: 'picklist', options }
    : { ...first, pipe: [first, ...steps.slice(0, cut)] }
  return {
    type: 'pipe', from, isFuller,
    to: { ...target, pipe: [target, ...steps.slice(last + 1)] },
    more: descriptionOf(steps.slice(0, last)),
  }
}

/** The words that `v.parseBoolean()` takes, in quotation marks among what it expects. */
export function wordsOfBoolean({ type, expects }: Raw): readonly string[] {
  if (type !== 'parse_boolean' || typeof expects !== 'string') return []
  return [...expects.matchAll(/"([^"]+)"/g)].map(([, word]) => word!)
}

/** The steps of a pipeline, with those of the pipelines in it. */
function flat(pipe: unknown): readonly Raw[] {
  return itemsIn(pipe).flatMap((step) => {
    const raw = rawOf(step)
    const inner = itemsIn(raw['pipe'])
    return inner.length === 0 || inner[0] === step ? [raw] : flat(inner)
  })
}

function readOne(schema: Raw, steps: readonly Raw[], side: Side): LibraryPart {
  const { type: name, entries, wrapped, item, value, options, items, literal, key, rest, getter } = schema
  const type = words.get(name) ?? String(name)
  const more = together(...steps.map((step) => keywordsOfStep(type, step)), descriptionOf(steps))
  const { default: initial } = schema
  const isOpenTuple = name === 'tuple' || name === 'loose_tuple'
  return {
    type, more, properties: entries, key, rest,
    initial: typeof initial === 'function' ? undefined : initial,
    inner: getter ?? wrapped ?? item ?? value, several: options ?? items,
    choices: name === 'literal' ? [literal] : options,
    isClosed: name === 'strict_object' || (type === 'tuple' && !isOpenTuple),
    isNarrowed: steps.some(isCheck),
    isOptional: omissible.has(name) && (side === 'input' || initial === undefined),
  }
}

function keywordsOfStep(type: string, { type: kind, requirement, kind: what }: Raw): JsonObject {
  if (what !== 'validation') return {}
  if (kind === 'value') return { const: requirement }
  if (kind === 'values') return { enum: requirement }
  const limit = kind === 'non_empty' ? 1 : kind === 'empty' ? 0 : requirement
  return keywordsOf(type, kind, limit, { isExclusive: kind === 'gt_value' || kind === 'lt_value' })
}

function descriptionOf(steps: readonly Raw[]): JsonObject {
  const said = steps.filter(({ kind }) => kind === 'metadata').map((step) => {
    const { type } = step
    return type === 'metadata' ? about(step[type]) : about({ [String(type)]: step[String(type)] })
  })
  return together(...said)
}
