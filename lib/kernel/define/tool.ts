/**
 * A tool, as an author defines it: a name, a schema for its arguments, a function. Checked once, then
 * frozen. How it is called is in `call-tool.ts`, what comes of what it returns in `tool-result.ts`.
 */
import { isWritten } from '../schema/rule.ts'
import { contract, isStandard } from '../schema/standard.ts'
import { noAdapters } from './adapters.ts'
import { isRecord } from './content.ts'
import {
  checkDefinition, describedChecks, isOfKind, knownMembers, mustBeFlag, mustBeOneOf, mustBeRecover,
  mustBeText, mustBeTimeout, mustHave, rejectMore, rejectPromise, requireDefinition, requireName,
  requireString, scopesOf, show,
} from './validate.ts'
import { formatJson } from '../wire/json.ts'
import type { Infer, InferGiven } from '../schema/infer.ts'
import type { Findings } from '../schema/compile.ts'
import type { JsonSchema } from '../schema/limits.ts'
import type { Contract, Schema, SchemaForm, Side, StandardSchema } from '../schema/standard.ts'
import type { Adapters, ForeignTool } from './adapters.ts'
import type { Call } from './call.ts'
import type { Content, ContentInput } from './content.ts'
import type { ToolUi, ToolUiDefinition, UiOwner } from './resource.ts'
import type { Checks, Described, Members } from './validate.ts'

/** Hints about what a tool does, which hosts are told and may ask their users by. None is a promise. */
export interface ToolAnnotations {
  /** Its name, for people. */
  readonly title?: string | undefined
  /** It changes nothing. Left out, clients take it for false. */
  readonly readOnlyHint?: boolean | undefined
  /** What it changes may be lost. Left out, clients take it for true. */
  readonly destructiveHint?: boolean | undefined
  /** Calling it again with the same arguments changes nothing more. Left out, clients take it for false. */
  readonly idempotentHint?: boolean | undefined
  /** It reaches what is not this server's own, as a search of the web does. Left out: taken for true. */
  readonly openWorldHint?: boolean | undefined
}

export const annotationChecks: Checks<ToolAnnotations> = {
  title: mustBeText, readOnlyHint: mustBeFlag, destructiveHint: mustBeFlag, idempotentHint: mustBeFlag,
  openWorldHint: mustBeFlag,
}

/** A whole result, as an author may give it. */
export interface ToolResultInput {
  /** Text and blocks, for a model and for people. */
  readonly content?: readonly (string | ContentInput)[] | undefined
  /** Any JSON value, for machines. Its text is added where `content` is left out. */
  readonly structuredContent?: unknown
  /** It did not work; the content explains why, for a model to read. Left out: false. */
  readonly isError?: boolean | undefined
  /** Anything for the client's program, which no model reads. */
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

export const resultMembers: Members<ToolResultInput> = {
  content: true, structuredContent: true, isError: true, _meta: true,
}

/** Whether an object has nothing but the members of a result. */
export function isBareResult(output: object): boolean {
  return Object.keys(output).every((name) => Object.hasOwn(resultMembers, name))
}

/** A result in its normal form. `structuredContent` is undefined where there is none. */
export interface ToolResult {
  readonly content: readonly Content[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Readonly<Record<string, unknown>>
  /** What is wrong with the arguments, where the tool was not run for that. */
  readonly invalid?: Findings
}

/** A schema as it is given: a JSON Schema of a library's own interface is no record to a compiler. */
export type SchemaInput = Schema | object

/** What `run` gets: the arguments as `validate` gives them, or else as the input schema spells them. */
export type ToolArguments<S, V> = unknown extends V ? Infer<S> : Infer<V>

type Returned<O> = unknown extends InferGiven<O> ? unknown
  : InferGiven<O> | string | ContentInput | readonly ContentInput[] | ToolResultInput

/** What a generator returns may be nothing: then its pieces are the result. */
type Generated<O> = Generator<unknown, Returned<O> | void> | AsyncGenerator<unknown, Returned<O> | void>

/** What `run` may return, now or later: what the output schema spells, text, blocks, a whole result. */
export type ToolOutput<O> = Returned<O> | PromiseLike<Returned<O>> | Generated<O>

/**
 * What `defineTool` takes. `S`, `V` and `O` are the types of its schemas, unknown where there is none: they
 * type what `run` gets and what it returns. Each is inferred in an intersection, and checked without one:
 * methods that return `this` make the schemas of some libraries no part of it.
 */
export interface ToolDefinition<S = unknown, V = unknown, O = unknown, R = ToolOutput<O>> extends Described {
  /** Left out; a tool that is made already has one. */
  readonly kind?: 'tool' | undefined
  /** 1 to 128 of `A-Z a-z 0-9 _ . -`. */
  readonly name: string
  /** What it does and when to use it, for a model. */
  readonly description?: string | undefined
  /** JSON Schema of an object, or a Standard Schema. Left out: no arguments. */
  readonly inputSchema?: (S & Schema) | SchemaInput | undefined
  /**
   * A Standard Schema that checks the arguments, and may change them, where `inputSchema` is a JSON Schema
   * for clients only.
   */
  readonly validate?: (V & StandardSchema) | StandardSchema | undefined
  /** What `structuredContent` looks like; checked before it is sent. */
  readonly outputSchema?: (O & Schema) | SchemaInput | undefined
  /** Hints for clients, which may ask their users before some tools. */
  readonly annotations?: ToolAnnotations | undefined
  /** Milliseconds for one run; left out, the server's `toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined
  /** What the caller's principal must have, all of it. */
  readonly scopes?: readonly string[] | undefined
  /** Whether clients may, or must, run it as a task, which outlives their request. Left out: `forbidden`. */
  readonly task?: 'forbidden' | 'optional' | 'required' | undefined
  /**
   * `rerun`: where processes share a store and the one that runs its task dies, another runs it again from
   * the top; `maxRuns` in all. Left out: it runs at most once, and its task has failed.
   */
  readonly recover?: 'rerun' | undefined
  /** A page that hosts show with its results, where something that serves pages is there. */
  readonly ui?: ToolUiDefinition | undefined
  /**
   * Gets checked arguments. Returns a string, any JSON value, content blocks, or a whole result.
   *
   * A generator's pieces are sent as progress, 1, 2, 3 and so on, each text as its text. The result is what
   * it returns; where it returns nothing, the last piece that is no text and no block; else all texts,
   * joined, and blocks together.
   */
  run(args: ToolArguments<S, V>, call: Call): R
}

/** A tool, ready to be served. */
export interface Tool extends Described {
  readonly kind: 'tool'
  readonly name: string
  readonly description: string
  readonly input: Contract
  readonly output: Contract | undefined
  readonly annotations?: ToolAnnotations | undefined
  readonly timeoutMs?: number | undefined
  readonly scopes: readonly string[]
  readonly task: 'forbidden' | 'optional' | 'required'
  readonly recover?: 'rerun' | undefined
  /** As it was written, until it is served. */
  readonly ui?: ToolUi | undefined
  readonly run: (args: unknown, call: Call) => unknown
}

export const toolChecks: Checks<ToolDefinition> = {
  name: true, ...describedChecks, inputSchema: true, validate: true, outputSchema: true,
  annotations: mustHave(annotationChecks, '{ readOnlyHint: true }'), timeoutMs: mustBeTimeout, scopes: true,
  task: mustBeOneOf('forbidden', 'optional', 'required'), recover: mustBeRecover, ui: true, run: true,
  kind: true,
}

/** A copy of a tool has the checks of its schemas instead of the schemas. */
const copyChecks: Checks<Tool> & Checks<ToolDefinition> = { ...toolChecks, input: true, output: true }

export const TOOL_EXAMPLE: string = `{ name: 'add', description: 'Adds.', inputSchema: { type: 'object', `
  + `properties: { a: { type: 'number' } }, required: ['a'] }, run: ({ a }) => a + 1 }`

/** What a tool without arguments takes: an object with nothing in it. */
const noArguments = { type: 'object', additionalProperties: false } as const

/** Checks and freezes a tool, one of another framework too. Throws `TypeError` for a mistake in it. */
export function toolFrom(definition: ToolDefinition | Tool | ForeignTool, adapters: Adapters): Tool {
  const agent = adapters.agent(definition)
  if (agent !== undefined) throw new TypeError(`This is ${agent.what}, and no tool; put it into 'agents'`)
  const own = adapters.tool(definition) as ToolDefinition | undefined ?? definition as ToolDefinition
  return frozenTool(own, adapters)
}

/** Checks and freezes a tool in our own form. Throws `TypeError` for a mistake in it. */
export function ownTool<const S, V, const O, const R extends ToolOutput<O> = ToolOutput<O>>(
  definition: ToolDefinition<S, V, O, R>,
): Tool
export function ownTool(definition: ToolDefinition): Tool {
  rejectMore('defineTool', arguments, `write defineTool(${TOOL_EXAMPLE})`)
  return frozenTool(definition, keeping)
}

/** What makes pages is known when a tool is served: until then it has its own as it is written. */
const keeping: Adapters = Object.freeze({
  ...noAdapters, toolUi: (_owner: string, _tool: UiOwner, given: unknown) => given as ToolUi,
})

/** `adapters` tell what is published of its schemas, what others call a member, and what its page is. */
function frozenTool(definition: ToolDefinition, { schemaForm, words, toolUi }: Adapters): Tool {
  requireDefinition('defineTool', definition, TOOL_EXAMPLE)
  const copied = isCopy(definition) ? definition : undefined
  const isMade = copied !== undefined && Object.isFrozen(copied)
  if (isMade && copied.ui === undefined) return copied
  const given = definition as ToolDefinition<Schema, StandardSchema>
  const name = requireString('A tool', 'name', given)
  const owner = `The tool '${name}'`
  requireName(owner, name)
  const checks = copied === undefined ? toolChecks : copyChecks
  checkDefinition(owner, 'tool', given, 'run', checks, TOOL_EXAMPLE, words('tool'))
  const { inputSchema, validate, outputSchema, ui: givenUi, ...rest } = knownMembers(given, toolChecks)
  const input = validate !== undefined ? besideOf(owner, inputSchema, validate, schemaForm)
    : copied !== undefined && inputSchema === undefined ? copied.input
    : schemaOf(owner, inputSchema === undefined ? noArguments : inputSchema, 'input', schemaForm)
  const scopes = scopesOf(owner, given.scopes)
  if (givenUi !== undefined && toolUi === undefined) {
    throw new TypeError(`${owner} has ui, and no part that serves pages is here; add apps() to parts, or `
      + 'leave it out')
  }
  const ui = givenUi === undefined ? undefined : toolUi?.(owner, { ...rest, scopes }, givenUi)
  if (isMade && ui === copied.ui) return copied
  return Object.freeze<Tool>({
    ...rest,
    ...ui !== undefined && { ui },
    kind: 'tool',
    name,
    description: given.description ?? '',
    input: rooted(owner, input),
    output: outputSchema === undefined ? copied?.output
      : schemaOf(owner, outputSchema, 'output', schemaForm),
    scopes,
    task: given.task ?? 'forbidden',
    run: given.run.bind(given),
  })
}

/** A tool that stands in a dictionary: its name is the key. */
export function namedTool(name: string, tool: ToolDefinition | Tool | ForeignTool, adapters: Adapters): Tool {
  const theirs = adapters.tool(tool, name)
  if (theirs !== undefined) return frozenTool(theirs as ToolDefinition, adapters)
  rejectPromise(tool)
  if (isRecord(tool) && !('name' in tool)) return frozenTool(named(name, tool), adapters)
  const made = toolFrom(tool, adapters)
  return made.name === name ? made : frozenTool({ ...made, name }, adapters)
}

/** A definition that has no name by itself; its function is still a method of the object that was given. */
function named(name: string, definition: object): ToolDefinition {
  const run: unknown = Reflect.get(definition, 'run')
  const bound = typeof run === 'function' ? { run: run.bind(definition) as ToolDefinition['run'] } : {}
  return { ...knownMembers(definition, toolChecks), ...bound, name } as ToolDefinition
}

function isCopy(definition: object): definition is Tool {
  return isOfKind(definition, 'tool')
    && 'input' in definition && isRecord(definition.input) && typeof definition.input['check'] === 'function'
}

/**
 * Arguments are an object, and clients want that as the type of the schema's root, which a union of objects,
 * as libraries write it, does not have.
 */
function rooted(owner: string, input: Contract): Contract {
  const { json } = input
  if (json['type'] === 'object') return input
  if (isOfObjects(json, json['$defs'])) return { ...input, json: { type: 'object', ...json } }
  const remedy = `write { type: 'object', properties: { … } }`
  throw new TypeError(`${owner} has an inputSchema whose root is not an object; ${remedy}`)
}

function isOfObjects(schema: unknown, definitions: unknown): boolean {
  if (!isRecord(schema)) return false
  const { type, anyOf, oneOf, allOf, $ref } = schema
  if (type !== undefined) return type === 'object'
  const isObjects = (one: unknown): boolean => isOfObjects(one, definitions)
  if (Array.isArray(allOf) && allOf.some(isObjects)) return true
  if (typeof $ref === 'string' && isRecord(definitions)) {
    // A definition that refers to another one may be a part of itself.
    return isOfObjects(definitions[$ref.replace('#/$defs/', '')], undefined)
  }
  const branches: unknown = anyOf ?? oneOf
  return Array.isArray(branches) && branches.every(isObjects)
}

/** A JSON Schema for clients, beside a Standard Schema that checks. */
function besideOf(
  owner: string, inputSchema: SchemaInput | undefined, validate: unknown, schemaForm: SchemaForm,
): Contract {
  if (!isStandard(validate)) {
    const remedy = 'write a Standard Schema, such as one of zod, valibot or arktype'
    throw new TypeError(`${owner} has validate ${show(validate)}; ${remedy}`)
  }
  if (inputSchema === undefined || (isStandard(inputSchema) && !isWritten(inputSchema))) {
    const remedy = 'write the JSON Schema of the arguments as inputSchema, or leave validate out'
    throw new TypeError(`${owner} has validate, but no JSON Schema beside it for clients; ${remedy}`)
  }
  return schemaOf(owner, validate, 'input', schemaForm, inputSchema)
}

function schemaOf(
  owner: string, schema: SchemaInput, side: Side, schemaForm: SchemaForm, beside?: SchemaInput,
): Contract {
  try {
    const made = contract(schema as Schema, {
      formats: true, defaults: side === 'input', side, schemaForm, beside: beside as JsonSchema | undefined,
    })
    // What JSON cannot represent here would break the list of all tools.
    formatJson(made.json)
    return made
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new TypeError(`${owner}: ${side}Schema: ${why}`, { cause: error })
  }
}
