/**
 * Forms as a revision spells them. Before 2025-11-25 a field has one value, and says the titles of its
 * choices beside them; only a boolean has a default.
 *
 * Spec: MCP 2025-06-18 and 2025-11-25, Elicitation, Requested Schema.
 */
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import type { FormQuestion } from '../../define/question.ts'
import type { Revision } from './revisions.ts'

type Schema = Readonly<Record<string, unknown>>

/** Spells a form. Throws `Fault('unsupported')` for a field that this revision has not. */
export function encodeForm(schema: FormQuestion['schema'], revision: Revision): Schema {
  const { properties } = schema
  if (revision.choices || !isRecord(properties)) return schema
  const fields = Object.entries(properties).map(([name, field]) => [name, olderField(name, field, revision)])
  return { ...schema, properties: Object.fromEntries(fields) }
}

function olderField(name: string, field: unknown, revision: Revision): unknown {
  if (!isRecord(field)) return field
  if (field['type'] === 'array') {
    throw new Fault('unsupported', `A client of MCP ${revision.name} takes one choice in a field, and `
      + `'${name}' has several; ask for each by a boolean of its own`)
  }
  if (field['type'] === 'boolean') return field
  const { default: _default, ...bare } = field
  const { oneOf, ...rest } = bare
  const titled = titledIn(oneOf)
  if (titled === undefined) return bare
  const enumNames = titled.map(({ const: value, title }) => typeof title === 'string' ? title : value)
  return { ...rest, enum: titled.map(({ const: value }) => value), enumNames }
}

interface Choice { readonly const: string; readonly title?: unknown }

/** Choices that have titles; undefined where these are none. */
function titledIn(oneOf: unknown): readonly Choice[] | undefined {
  return Array.isArray(oneOf) && oneOf.every(isChoice) ? oneOf : undefined
}

function isChoice(choice: unknown): choice is Choice {
  return isRecord(choice) && typeof choice['const'] === 'string'
}
