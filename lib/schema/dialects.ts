/**
 * The dialects: which keyword has which rule, by vocabulary for 2020-12 and in one table for draft-07. The order of a
 * table is the order in which keywords are asked, and so the order of errors.
 *
 * Rules know what the values of their keywords may be, so the tables give the metaschemas too.
 * Spec: https://json-schema.org/draft/2020-12/schema, http://json-schema.org/draft-07/schema
 */
import type { JsonSchema } from './limits.ts'
import type { Dialects } from './resource.ts'
import type { Dialect, JsonObject, Rule } from './rule.ts'
import * as array from './keywords/array.ts'
import * as bound from './keywords/bound.ts'
import * as logic from './keywords/logic.ts'
import * as note from './keywords/note.ts'
import * as object from './keywords/object.ts'
import * as reference from './keywords/reference.ts'
import * as string from './keywords/string.ts'
import * as value from './keywords/value.ts'

type Table = Readonly<Record<string, Rule>>

const rules: Table = { ...array, ...bound, ...logic, ...note, ...object, ...reference, ...string, ...value }
const objects = 'properties patternProperties additionalProperties propertyNames'
const logics = 'contains allOf anyOf oneOf not if then else'
const values = `type enum const pattern ${Object.keys(bound).join(' ')} uniqueItems required`
const notes = 'title description default readOnly writeOnly examples $comment'

/** 2020-12, by vocabulary. */
const vocabularies = new Map([
  ['applicator', table(`${objects} dependentSchemas prefixItems items ${logics}`)],
  ['validation', table(`${values} dependentRequired minContains maxContains`)],
  ['core', table('$id $schema $anchor $dynamicAnchor $vocabulary $ref $dynamicRef $defs')],
  ['meta-data', table(`${notes} deprecated`)],
  ['format-annotation', table('format')],
  ['content', table('contentSchema', { contentEncoding: note.title, contentMediaType: note.title })],
  ['unevaluated', table('unevaluatedItems unevaluatedProperties')],
])
const assertion = table('format', { format: string.formatAssertion })
/** What it keeps of the drafts before it. */
const former = table('definitions dependencies')

const draft07 = table(`${objects} dependencies items additionalItems ${logics} ${values} ${notes} $id $schema $ref `
  + 'definitions format contentEncoding contentMediaType', {
  items: array.itemsOrTuple, contains: array.containsOne, $id: reference.looseId,
})

const root = 'https://json-schema.org/draft/2020-12/'
const seventh = 'http://json-schema.org/draft-07/schema'
const usual: Dialect = { rules: new Map([...vocabularies.values(), former].flatMap((rules) => [...rules])), lonelyRef: false }
const named = [...vocabularies, ['format-assertion', assertion] as const]

export const dialects: Dialects = {
  byName: new Map([[`${root}schema`, usual], [seventh, { rules: draft07, lonelyRef: true }]]),
  vocabularies: new Map(named.map(([name, rules]) => [`${root}vocab/${name}`, rules])),
  metaschemas: new Map([
    [seventh, { $schema: `${seventh}#`, $id: `${seventh}#`, ...schemaOf(draft07, { $ref: '#' }) }],
    metaschema('schema', former, {
      $vocabulary: Object.fromEntries([...vocabularies.keys()].map((name) => [`${root}vocab/${name}`, true])),
      allOf: [...vocabularies.keys()].map((name) => ({ $ref: `meta/${name}` })),
    }),
    ...named.map(([name, rules]) => metaschema(`meta/${name}`, rules)),
  ]),
  usual,
}

function table(keywords: string, more: Table = {}): Dialect['rules'] {
  return new Map(keywords.split(' ').flatMap((keyword) => {
    const rule = more[keyword] ?? rules[keyword]
    return rule ? [[keyword, rule] as const] : []
  }))
}

function metaschema(name: string, rules: Dialect['rules'], more: JsonObject = {}): [string, JsonSchema] {
  const $id = root + name
  return [$id, { $schema: `${root}schema`, $id, $dynamicAnchor: 'meta', ...schemaOf(rules, { $dynamicRef: '#meta' }), ...more }]
}

function schemaOf(rules: Dialect['rules'], self: JsonObject): JsonObject {
  const properties = Object.fromEntries([...rules].map(([keyword, { kind }]) => [keyword, kind.schema(self)]))
  return { type: ['object', 'boolean'], properties }
}
