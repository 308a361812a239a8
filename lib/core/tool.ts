/**
 * A tool, as an author defines it: a name, a schema for its arguments, a function. Checked once, then
 * frozen. How it is called is in `operations.ts`.
 */
import { contract, isStandard } from '../schema/standard.ts'
import { blockOf, contentOf, isContent, isRecord, text } from './content.ts'
import {
  requireDefinition, requireFunction, requireString, requireText, requireTimeout, scopesOf, show,
} from './define.ts'
import type { Infer, InferGiven } from '../schema/infer.ts'
import type { JsonSchema } from '../schema/limits.ts'
import type { Contract, Schema, StandardSchema } from '../schema/standard.ts'
import type { Call } from './call.ts'
import type { Content, ContentInput } from './content.ts'
import type { Icon } from './define.ts'

/** Hints about what a tool does, for the client's judgement (MCP `ToolAnnotations`). */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** A whole result, as an author may give it. */
export interface ToolResultInput {
  readonly content?: readonly (string | ContentInput)[]
  /** Any JSON value, for machines. Its text is added where `content` is left out. */
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** A result in its normal form. `structuredContent` is undefined where there is none. */
export interface ToolResult {
  readonly content: readonly Content[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** What `run` gets: the arguments as `validate` gives them, or else as the input schema spells them. */
export type ToolArguments<S, V> = [V] extends [never] ? Infer<S> : Infer<V>

type Output<O> = unknown extends InferGiven<O> ? unknown
  : InferGiven<O> | string | ContentInput | readonly ContentInput[] | ToolResultInput

/** What `run` may return, now or later: what the output schema spells, text, blocks, a whole result. */
export type ToolOutput<O> = Output<O> | PromiseLike<Output<O>>

/** What `defineTool` takes. */
export interface ToolDefinition<
  S extends Schema = Schema,
  V extends StandardSchema = StandardSchema,
  O extends Schema = Schema,
  R = ToolOutput<O>,
> {
  /** Left out; a tool that is made already has one. */
  readonly kind?: undefined
  /** 1 to 64 of `A-Z a-z 0-9 _ . -`. */
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** JSON Schema of an object, or a Standard Schema. Left out: no arguments. */
  readonly inputSchema?: S
  /**
   * A Standard Schema that checks the arguments, and may change them, where `inputSchema` is a JSON Schema
   * that only tells clients what to send.
   */
  readonly validate?: V
  /** What `structuredContent` looks like; checked before it is sent. */
  readonly outputSchema?: O
  readonly annotations?: ToolAnnotations
  readonly icons?: readonly Icon[]
  /** Milliseconds for one run; left out, the server's `toolTimeoutMs`. */
  readonly timeoutMs?: number
  /** What the caller's principal must have, all of it. */
  readonly scopes?: readonly string[]
  /** Whether it may run as a task (MCP tasks extension). Left out: `forbidden`. */
  readonly task?: 'forbidden' | 'optional' | 'required'
  readonly _meta?: Readonly<Record<string, unknown>>
  /** Gets checked arguments. Returns a string, any JSON value, content blocks, or a whole result. */
  run(args: ToolArguments<S, V>, call: Call): R
}

/** A tool, ready to be served. */
export interface Tool {
  readonly kind: 'tool'
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly input: Contract
  readonly output: Contract | undefined
  readonly annotations?: ToolAnnotations
  readonly icons?: readonly Icon[]
  readonly timeoutMs?: number
  readonly scopes: readonly string[]
  readonly task: 'forbidden' | 'optional' | 'required'
  readonly _meta?: Readonly<Record<string, unknown>>
  readonly run: (args: unknown, call: Call) => unknown
}

const EXAMPLE = `{ name: 'add', description: 'Adds.', inputSchema: { type: 'object', properties: `
  + `{ a: { type: 'number' } }, required: ['a'] }, run: ({ a }) => a + 1 }`

const NAME = /^[A-Za-z0-9_.-]{1,64}$/

/** What a tool without arguments takes: an object with nothing in it. */
const noArguments = { type: 'object', additionalProperties: false } as const

/** Checks and freezes a tool. Throws `TypeError` with a sentence that says what to write instead. */
export function defineTool<
  const S extends Schema = typeof noArguments,
  V extends StandardSchema = never,
  const O extends Schema = Schema,
  const R extends ToolOutput<O> = ToolOutput<O>,
>(definition: ToolDefinition<S, V, O, R> | Tool): Tool {
  requireDefinition('defineTool', definition, EXAMPLE)
  if (definition.kind === 'tool' && Object.isFrozen(definition)) return definition
  const given = definition as ToolDefinition
  const name = requireString('A tool', 'name', given.name)
  const owner = `The tool '${name}'`
  if (!NAME.test(name)) {
    throw new TypeError(`${owner} has a name that clients refuse; use 1 to 64 of A-Z a-z 0-9 _ . -`)
  }
  requireFunction(owner, 'run', given.run, EXAMPLE)
  requireText(owner, 'title', given.title)
  requireText(owner, 'description', given.description)
  requireTimeout(owner, given.timeoutMs)
  const { inputSchema, validate, outputSchema, task = 'forbidden', ...rest } = given
  if (task !== 'forbidden' && task !== 'optional' && task !== 'required') {
    throw new TypeError(`${owner} has task ${show(task)}; write 'forbidden', 'optional' or 'required'`)
  }
  const input = validate === undefined ? schemaOf(owner, 'inputSchema', inputSchema ?? noArguments, 'input')
    : besideOf(owner, inputSchema, validate)
  if (input.json['type'] !== 'object') {
    const remedy = `write { type: 'object', properties: { … } }`
    throw new TypeError(`${owner} has an inputSchema whose root is not an object; ${remedy}`)
  }
  return Object.freeze<Tool>({
    ...rest,
    kind: 'tool',
    name,
    description: given.description ?? '',
    input,
    output: outputSchema === undefined ? undefined : schemaOf(owner, 'outputSchema', outputSchema, 'output'),
    scopes: scopesOf(owner, given.scopes),
    task,
    run: (args, call) => given.run(args, call),
  })
}

/** A JSON Schema for clients, beside a Standard Schema that checks. */
function besideOf(owner: string, inputSchema: Schema | undefined, validate: unknown): Contract {
  if (!isStandard(validate)) {
    const remedy = 'write a Standard Schema, such as one of zod, valibot or arktype'
    throw new TypeError(`${owner} has validate ${show(validate)}; ${remedy}`)
  }
  if (inputSchema === undefined || isStandard(inputSchema)) {
    const remedy = 'write the JSON Schema of the arguments as inputSchema, or leave validate out'
    throw new TypeError(`${owner} has validate, but no JSON Schema beside it for clients; ${remedy}`)
  }
  return schemaOf(owner, 'inputSchema', validate, 'input', inputSchema)
}

function schemaOf(
  owner: string, member: string, schema: Schema, side: 'input' | 'output', beside?: JsonSchema,
): Contract {
  try {
    return contract(schema, { formats: true, defaults: side === 'input', side, beside })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new TypeError(`${owner}: ${member}: ${why}`, { cause: error })
  }
}

/** The normal form of what `run` returned. Throws for what JSON cannot say. */
export function toolResultOf(output: unknown): ToolResult {
  if (typeof output === 'string') return { content: [text(output)] }
  if (output === undefined) return { content: [] }
  if (isContent(output)) return { content: [contentOf(output)] }
  if (Array.isArray(output) && output.length > 0 && output.every(isContent)) {
    return { content: output.map(contentOf) }
  }
  if (isWhole(output)) {
    const { content, structuredContent, isError, _meta } = output
    return {
      content: content === undefined ? [text(jsonOf(structuredContent))] : content.map(blockOf),
      ...structuredContent !== undefined && { structuredContent },
      ...isError !== undefined && { isError },
      ..._meta !== undefined && { _meta },
    }
  }
  return { content: [text(jsonOf(output))], structuredContent: output }
}

function isWhole(output: unknown): output is ToolResultInput {
  if (!isRecord(output)) return false
  const { content } = output
  if (content === undefined) return Object.hasOwn(output, 'structuredContent')
  return Array.isArray(content) && content.every((item) => typeof item === 'string' || isContent(item))
}

function jsonOf(value: unknown): string {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`A tool returned ${show(value)}, which JSON cannot say`)
  return json
}
