/** Forms of other libraries' schemas: what clients get of one, and the check of what comes back. */
import { contract } from '../schema/standard.ts'
import { summarize } from '../schema/compile.ts'
import { isStrings } from '../wire/json.ts'
import { isRecord } from './content.ts'
import { Fault } from './fault.ts'
import type { Contract, StandardSchema } from '../schema/standard.ts'

/** A JSON Schema of a flat object. */
export type FormSchema = Readonly<Record<string, unknown>>

/** Formats of a text that clients ask for (MCP `StringSchema`). */
export const clientFormats: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time'])

// Handlers ask with the same schema again and again.
const known = new WeakMap<object, { readonly json: FormSchema; readonly contract: Contract }>()

function read(schema: StandardSchema): { readonly json: FormSchema; readonly contract: Contract } {
  let form = known.get(schema)
  if (form === undefined) {
    const made = contract(schema, { member: 'schema' })
    form = { json: formIn(made.json), contract: made }
    known.set(schema, form)
  }
  return form
}

/** The form of a Standard Schema. Throws `TypeError` where that has no JSON Schema. */
export function formOf(schema: StandardSchema): FormSchema {
  try {
    return read(schema).json
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TypeError(`call.elicit: schema: ${why}`, { cause })
  }
}

/** What the library makes of an answer that fits the form. Throws `Fault('invalid')` for what it refuses. */
export async function checkedAnswer(
  schema: StandardSchema, content: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const checked = await read(schema).contract.check(content)
  if (checked.errors.length === 0) return checked.value as Readonly<Record<string, unknown>>
  throw new Fault('invalid', `The client's answer does not fit the form: ${summarize(checked)}`)
}

/** What clients know of an object's schema: their forms have no more keywords. */
function formIn({ type, properties, required }: FormSchema): FormSchema {
  const fields = isRecord(properties) ? Object.entries(properties) : []
  return {
    type, properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldIn(field)])),
    ...Array.isArray(required) && required.length > 0 && { required },
  }
}

/**
 * Libraries leave out that choices are texts, write patterns beside formats, and have formats that clients do
 * not know, and which they check themselves.
 */
function fieldIn(field: unknown): unknown {
  if (!isRecord(field)) return field
  const { format, pattern, ...rest } = field
  const type = rest['type'] ?? (isStrings(rest['enum']) ? 'string' : undefined)
  if (clientFormats.has(format)) return { ...rest, type, format }
  return { ...rest, ...type !== undefined && { type }, ...pattern !== undefined && { pattern } }
}
