/** Whether a question is one that a client may be asked; and a Standard Schema as a form, and its answer. */
import { summarize } from '../schema/compile.ts'
import { contract } from '../schema/standard.ts'
import { isStrings } from '../wire/json.ts'
import { isRecord, isTyped } from './content.ts'
import { Fault } from './fault.ts'
import { compileForm } from './question.ts'
import { checkMembers, must, mustBeText, show } from './validate.ts'
import type { Contract, SchemaForm, StandardSchema } from '../schema/standard.ts'
import type { FormQuestion, FormSchema, Question, SampleQuestion, UrlQuestion } from './question.ts'
import type { Checks } from './validate.ts'

const mustBeKey = must((value) => typeof value === 'string', `write a string, as in key: 'name'`)
const mustBeMessage = must((message) => typeof message === 'string', 'write a string, as in '
  + `call.elicit({ message: 'Your name?', schema: { type: 'object', properties: { … } } })`)

const mustBeTask = must(isRecord, 'write { ttlMs: 60_000 }, or leave it out')

const formChecks: Checks<FormQuestion> = { key: mustBeKey, message: true, schema: true, task: mustBeTask }
const urlChecks: Checks<UrlQuestion> = {
  key: mustBeKey, message: true, url: true, elicitationId: mustBeText, task: mustBeTask,
}

/** Of a question to a model, further members are passed on. */
const questionChecks = { 'elicit': formChecks, 'elicit-url': urlChecks, 'roots': { key: mustBeKey } }

/** Formats of a text that the forms of clients know. */
const clientFormats: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time'])

const primitives: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean'])

/**
 * Throws `TypeError` for a question that no client may be asked: a form that is not flat, or no JSON Schema,
 * an address that is none, a tool use without its result, a member that is not known.
 */
export function checkQuestion(question: Question): void {
  const { what, ...members } = question
  const method = `call.${what === 'elicit-url' ? 'elicit' : what}`
  if (question.what === 'sample') return checkSample(question)
  checkMembers(method, members, questionChecks[question.what])
  if (question.what === 'roots') return
  mustBeMessage(method, question.message, 'message')
  if (question.what === 'elicit') checkForm(question.schema)
  else checkAddress(question.url)
}

function checkSample({ messages, maxTokens, key }: SampleQuestion): void {
  if (key !== undefined) mustBeKey('call.sample', key, 'key')
  const isList = Array.isArray(messages) && messages.every((one: unknown) => (
    isRecord(one) && (one['role'] === 'user' || one['role'] === 'assistant')
    && (typeof one['content'] === 'string' || [one['content']].flat().every(isTyped))
  ))
  if (!isList) {
    throw new TypeError('call.sample needs messages, each with a role and content, a text or blocks that '
      + `have a type; write messages: [{ role: 'user', content: 'Hello' }], and instructions as systemPrompt`)
  }
  if (!Number.isFinite(maxTokens)) {
    throw new TypeError(`call.sample has maxTokens ${show(maxTokens)}; write a number, as in 500`)
  }
  checkToolUses(messages)
}

function checkForm(schema: FormSchema): void {
  const properties = isRecord(schema) && schema['type'] === 'object' ? schema['properties'] : undefined
  if (!isRecord(properties)) {
    throw new TypeError(`call.elicit needs a schema of a flat object; write `
      + `{ type: 'object', properties: { name: { type: 'string' } } }`)
  }
  for (const [name, property] of Object.entries(properties)) {
    const { type, items, format, enum: choices } = isRecord(property) ? property : {}
    const { type: itemType, enum: itemChoices, anyOf } = type === 'array' && isRecord(items) ? items : {}
    requireTextChoices(name, type, choices)
    requireTextChoices(name, itemType, itemChoices)
    if (!primitives.has(type) && !Array.isArray(itemChoices ?? anyOf)) {
      throw new TypeError(`call.elicit has a form whose '${name}' is no string, number, integer, boolean or `
        + 'list of choices; a form cannot be nested, so ask for each value by a property of its own')
    }
    if (type === 'string' && format !== undefined && !clientFormats.has(format)) {
      throw new TypeError(`call.elicit has a form whose '${name}' has the format ${show(format)}, which `
        + 'clients do not know; write email, uri, date or date-time, or leave it out')
    }
  }
  try {
    compileForm(schema)
  } catch (cause) {
    throw brokenSchema(cause)
  }
}

function brokenSchema(cause: unknown): TypeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new TypeError(`call.elicit: schema: ${why}`, { cause })
}

/** Clients show choices that are texts and declared so; others become a line to write in, or nothing. */
function requireTextChoices(name: string, type: unknown, choices: unknown): void {
  if (!Array.isArray(choices) || (type !== undefined && type !== 'string')) return
  if (type === 'string' && isStrings(choices)) return
  throw new TypeError(`call.elicit has a form whose '${name}' has choices that are not said to be texts, `
    + `which clients do not know; write { type: 'string', enum: ['small', 'large'] }`)
}

function checkAddress(url: unknown): void {
  const isAddress = typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  if (isAddress) return
  throw new TypeError(`call.elicit has a url that is no http or https address; `
    + `write one, as in 'https://example.com/connect'`)
}

/** Models take it so: the message after one with tool uses holds their results, and nothing else. */
function checkToolUses(messages: SampleQuestion['messages']): void {
  for (const [index, { content }] of messages.entries()) {
    const answers = blocksOf(content, 'tool_result').length
    if (answers > 0 && answers < [content].flat().length) {
      throw new TypeError('call.sample has a message with a tool_result and something else; '
        + 'write the rest as a message of its own')
    }
    const uses = blocksOf(content, 'tool_use').map((block) => block['id'])
    if (uses.length === 0) continue
    const results = blocksOf(messages[index + 1]?.content, 'tool_result').map((block) => block['toolUseId'])
    if (uses.every((id) => results.includes(id))) continue
    throw new TypeError('call.sample has a tool_use whose tool_result is not in the next message; '
      + 'add it there')
  }
}

function blocksOf(content: unknown, type: string): readonly Readonly<Record<string, unknown>>[] {
  return [content].flat().filter(isRecord).filter((block) => block['type'] === type)
}

/** A Standard Schema as a form, `json`, and its check. Throws `TypeError` where it has no JSON Schema. */
export function formOf(schema: StandardSchema, schemaForm: SchemaForm): Contract {
  try {
    const made = contract(schema, { member: 'schema', schemaForm })
    return { ...made, json: formIn(made.json) }
  } catch (cause) {
    throw brokenSchema(cause)
  }
}

/** What the library makes of an answer that fits the form. Throws `Fault('invalid')` for what it refuses. */
export async function checkedAnswer(
  form: Contract, content: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const checked = await form.check(content)
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
