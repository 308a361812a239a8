/**
 * Which keyword has which rule, by vocabulary for 2020-12 and in one table for draft-07. Rules know what the
 * values of their keywords may be, so the tables give the metaschemas too.
 * Spec: https://json-schema.org/draft/2020-12/schema, http://json-schema.org/draft-07/schema
 */
import * as array from './keywords/array.ts'
import * as logic from './keywords/logic.ts'
import * as object from './keywords/object.ts'
import * as value from './keywords/value.ts'
import * as kind from './kind.ts'
import { dialect, rule } from './rule.ts'
import type { JsonSchema } from './limits.ts'
import type { JsonObject, Rule, SchemaDialect, Vocabulary } from './rule.ts'

type Rules = Readonly<Record<string, Rule>>

const rules: Rules = { ...array, ...logic, ...object, ...value }

const values = 'type enum const pattern exclusiveMaximum exclusiveMinimum maxItems maxLength maxProperties '
  + 'maximum minItems minLength minProperties minimum multipleOf uniqueItems required'
const objects = 'patternProperties properties additionalProperties propertyNames'
const logics = 'contains allOf anyOf oneOf not if then else'
const notes = 'title description default readOnly writeOnly examples $comment'

/** 2020-12. */
const vocabularies = new Map([
  ['applicator', table(`${objects} dependentSchemas prefixItems items ${logics}`)],
  ['validation', table(`${values} dependentRequired minContains maxContains`)],
  ['core', table('$id $schema $anchor $dynamicAnchor $vocabulary $ref $dynamicRef $defs')],
  ['meta-data', table(`${notes} deprecated`)],
  ['format-annotation', table('format')],
  ['content', table('contentEncoding contentMediaType contentSchema')],
  ['unevaluated', table('unevaluatedItems unevaluatedProperties')],
])
/** What it keeps of the drafts before it. */
const former = table('definitions dependencies')
const assertion = table('format', { format: value.formatAssertion })
const named = [...vocabularies, ['format-assertion', assertion] as const]

/** The dialect of a schema that names none. */
export const usualDialect: SchemaDialect =
  dialect(new Map([...vocabularies.values(), former].flatMap((rules) => [...rules])))

const draft07 = table(
  `${objects} dependencies items additionalItems ${logics} ${values} ${notes} $id $schema $ref definitions `
  + 'format contentEncoding contentMediaType',
  { items: array.itemsOrTuple, $id: logic.looseId },
)

const seventh = 'http://json-schema.org/draft-07/schema'
const root = 'https://json-schema.org/draft/2020-12/'

/** What `$schema` may name. */
export const dialectsByUri: ReadonlyMap<string, SchemaDialect> =
  new Map([[`${root}schema`, usualDialect], [seventh, dialect(draft07, true)]])
/** What `$vocabulary` may name. */
export const vocabulariesByUri: ReadonlyMap<string, Vocabulary> =
  new Map(named.map(([name, rules]) => [`${root}vocab/${name}`, rules]))

let made: ReadonlyMap<string, JsonSchema> | undefined

/** Made when they are asked for, which hardly any schema does. */
export function metaschemas(): ReadonlyMap<string, JsonSchema> {
  return made ??= new Map([
    [seventh, { $schema: `${seventh}#`, $id: `${seventh}#`, ...schemaOf(draft07, { $ref: '#' }) }],
    metaschema('schema', former, {
      $vocabulary: Object.fromEntries([...vocabularies.keys()].map((name) => [`${root}vocab/${name}`, true])),
      allOf: [...vocabularies.keys()].map((name) => ({ $ref: `meta/${name}` })),
    }),
    ...named.map(([name, rules]) => metaschema(`meta/${name}`, rules, {})),
  ])
}

/** What is in no file of rules asserts nothing and may be anything, like `default`. */
function table(names: string, others: Rules = {}): Vocabulary {
  return new Map(names.split(' ').map((keyword) =>
    [keyword, others[keyword] ?? rules[keyword] ?? rule(kind.anything)]))
}

function metaschema(name: string, rules: Vocabulary, more: JsonObject): [string, JsonSchema] {
  const $id = root + name
  const schema = schemaOf(rules, { $dynamicRef: '#meta' })
  return [$id, { $schema: `${root}schema`, $id, $dynamicAnchor: 'meta', ...schema, ...more }]
}

function schemaOf(rules: Vocabulary, self: JsonObject): JsonObject {
  const properties = Object.fromEntries([...rules].map(([keyword, { kind: [, , schema] }]) =>
    [keyword, typeof schema === 'function' ? schema(self) : schema]))
  return { type: ['object', 'boolean'], properties }
}
