/**
 * What a handler may ask a client, and what comes back: of its user, of its model, of its folders. The
 * protocol's channel sends the question (`call.ts`), which `check-question.ts` has checked.
 */
import { compileForeign } from '../schema/foreign.ts'
import { BoundedMap } from '../util/bounded-map.ts'
import { formatJson } from '../wire/json.ts'
import type { ValidateWithin } from '../schema/compile.ts'
import type { StandardSchema } from '../schema/standard.ts'

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
