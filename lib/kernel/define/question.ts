/**
 * What a handler may ask a client, and what comes back: of its user, of its model, of its folders; and
 * whether what the user filled in fits the form. The protocol's channel sends the question (`call.ts`).
 */
import { compileForeign, summarize } from '../schema/compile.ts'
import { contract } from '../schema/standard.ts'
import { BoundedMap } from '../util/bounded-map.ts'
import { formatJson, isStrings } from '../wire/json.ts'
import { isRecord, isTyped } from './content.ts'
import { Fault } from './fault.ts'
import { checkMembers, must, mustBeText, show } from './validate.ts'
import type { ValidateWithin } from '../schema/compile.ts'
import type { Contract, SchemaForm, StandardSchema } from '../schema/standard.ts'
import type { Checks } from './validate.ts'

/** What a client may be able to do when it is asked. `elicit-url` is an elicitation that opens an address. */
export type Ability = 'elicit' | 'elicit-url' | 'sample' | 'roots'

/** Lets a client answer as a task of its own, where it can. */
interface AnswerTask {
  /** How long the client should keep its answer, in milliseconds. */
  readonly task?: { readonly ttlMs?: number }
}

/** What questions of every kind may have. */
export interface Keyed {
  /**
   * Finds its answer where the handler runs again from the top: different for each question of a call, the
   * same in each run. Left out: made of what is asked, and where the same is asked twice, of its number among
   * these.
   */
  readonly key?: string
}

/** A JSON Schema of a flat object. */
export type FormSchema = Readonly<Record<string, unknown>>

/** A form to fill in. `S` is the type of its schema. */
export interface FormQuestion<S = unknown> extends Keyed, AnswerTask {
  /** What the user is asked, in words. */
  readonly message: string
  /**
   * A JSON Schema of a flat object, or a Standard Schema: each of its `properties` is a string, a number, an
   * integer, a boolean or a list of choices. `elicit` throws `TypeError` for any other.
   */
  readonly schema: (S & AnySchema) | AnySchema
}

/** Not by the name of the type: a schema that bears it would be inferred to be that, and not `S`. */
type AnySchema = FormSchema | Pick<StandardSchema, '~standard'>

/** An address to open, for what must not pass through the client. */
export interface UrlQuestion extends Keyed, AnswerTask {
  /** What the user is to do there, in words. */
  readonly message: string
  /** An absolute address, http or https; `elicit` throws `TypeError` for any other. */
  readonly url: string
  /** Identifies this interaction for client and server. Left out: made. */
  readonly elicitationId?: string
}

/**
 * What came of a form: `content` holds what was filled in, and fits the schema; of a Standard Schema it is
 * what that makes of it.
 */
export type ElicitAnswer<Filled = Readonly<Record<string, unknown>>> =
  | { readonly action: 'accept'; readonly content: Filled }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined }

/** What came of an address to open. What was done there, the client does not know. */
export interface UrlAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: undefined
  /** What `call.completeElicitation` takes when it is done, where the client is notified of that. */
  readonly elicitationId?: string
}

/** A request to the client's model. Further members are passed on. */
export interface SampleQuestion extends Keyed, AnswerTask {
  /** The conversation to go on with, oldest first. `content` is a text, a block with a type or several. */
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: unknown }[]
  /** How long the answer may be, in tokens. */
  readonly maxTokens: number
  /** As the client's protocol has it: `systemPrompt`, `temperature`, `modelPreferences`, `tools` … */
  readonly [parameter: string]: unknown
}

/** The answer of the client's model. */
export interface SampleAnswer {
  readonly role: 'user' | 'assistant'
  /** A block with a type, or a list of them. */
  readonly content: unknown
  readonly model: string
  /** Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a word of the client's. */
  readonly stopReason?: string
}

/** A folder or a file that the client opens to the server. */
export interface Root {
  /** Begins with `file:`. */
  readonly uri: string
  /** For people. */
  readonly name?: string
}

/** A form as a protocol sends it. */
export interface Form extends FormQuestion { readonly schema: FormSchema }

export type Question =
  | ({ readonly what: 'elicit' } & Form)
  | ({ readonly what: 'elicit-url' } & UrlQuestion)
  | ({ readonly what: 'sample' } & SampleQuestion)
  | ({ readonly what: 'roots' } & Keyed)

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
    const { type, items, format, enum: choices, anyOf: either, oneOf } = isRecord(property) ? property : {}
    const { type: itemType, enum: itemChoices, anyOf } = type === 'array' && isRecord(items) ? items : {}
    requireTextChoices(name, type, type === undefined ? choices ?? either ?? oneOf : choices)
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

// Handlers ask with the same few forms again and again.
const MAX_REMEMBERED_CHARS = 8 * 1024
const remembered = new BoundedMap<ValidateWithin>(64)

/** The check of a form. Throws `TypeError` where its schema is broken. */
export function compileForm(schema: FormSchema): ValidateWithin {
  // By its text: an author may change a form between two questions.
  const text = formatJson(schema)
  let validate = remembered.get(text)
  if (validate === undefined) {
    validate = compileForeign(schema, { formats: true })
    if (text.length <= MAX_REMEMBERED_CHARS) remembered.set(text, validate)
  }
  return validate
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
