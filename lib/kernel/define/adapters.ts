/**
 * How agents, tools, answers and schemas that are written for other frameworks are taken: the interface of
 * what knows them by their shape. The kernel knows none of them.
 */
import { isRecord } from './content.ts'
import { isPlain } from './validate.ts'
import type { SchemaForm } from '../schema/standard.ts'
import type { Later } from '../util/later.ts'
import type { Call } from './call.ts'
import type { ContentInput } from './content.ts'
import type { ToolUi, UiOwner } from './resource.ts'
import type { ServedKind } from './validate.ts'

/** Any function. */
type Fn = (...args: never[]) => unknown

/** An agent of another framework, as a compiler knows it; what it is in fact, its members decide. */
export type ForeignAgent =
  | { readonly generate: Fn; readonly stream: Fn }
  | { readonly invoke: Fn; readonly stream: Fn }
  | { readonly generateText: Fn; readonly streamText: Fn }
  | { readonly asTool: Fn; readonly getSystemPrompt: Fn }
  | { readonly runAsync: Fn }
  | { readonly chat: Fn; readonly start: Fn }
  | { readonly runStream: Fn; readonly getAgents: Fn }
  | { readonly withModel: Fn; readonly system: unknown }
  | { readonly availableAgents: Fn }
  | { readonly runAgent: Fn }
  | { readonly sendMessageStream: Fn; readonly getAgentCard: Fn }
  | { readonly __action: object }

type ToolOfOthers =
  | { readonly inputSchema: unknown; readonly execute?: Fn | undefined; readonly name?: undefined }
  | { readonly name: string; readonly parameters: unknown; readonly execute?: Fn | undefined }
  | { readonly name: string; readonly schema: unknown; readonly invoke: Fn }
  | { readonly type: 'function'; readonly parameters: unknown; readonly invoke: Fn }
  | { readonly toolSpec: unknown; readonly invoke: Fn }
  | { readonly name: string; readonly runAsync: Fn }
  | { readonly metadata: object; readonly call: Fn }
  | { readonly name: string; readonly parameters: unknown; readonly handler: Fn }
  | { readonly name: string; readonly inputSchema: object; readonly handler: Fn }
  | { readonly input_schema: unknown; readonly parse: Fn }
  | { readonly __action: object }

/** A tool of another framework, as a compiler knows it; what it is in fact, its members decide. */
export type ForeignTool = ToolOfOthers & {
  /** Ours have one, by which a compiler knows them apart. */
  readonly kind?: undefined
}

/** What a user sees of an answer. */
export type Shown = string | {
  readonly text?: string | undefined
  readonly data?: unknown
  readonly content?: readonly ContentInput[] | undefined
  /** It was not done, and the text says why. */
  readonly state?: 'rejected' | undefined
}

/**
 * Reads the values of one run, in order: returns what a user sees of each, undefined where that is nothing,
 * and sends what led to it as events of the call. Throws the error that a value holds.
 */
export type ReadResult = (value: object, call: Call) => Shown | undefined

/** What reads the results of one framework. */
export interface Reader {
  /** Made once for each run, so that it may remember what it has read. */
  makeReader(): ReadResult
}

/** What runs the agents of one framework. */
export interface Adapter {
  /** Yields what a user sees, as it comes. Throws what the agent throws. `agent` is of this framework. */
  run(agent: object, prompt: string, call: Call): AsyncIterable<Shown>
}

/** An agent of another framework, ready to be defined. */
export interface AdaptedAgent {
  /** What it is, as in `an agent of Mastra`. */
  readonly what: string
  /** Undefined where it has none. */
  readonly name: string | undefined
  readonly description: string | undefined
  run(prompt: string, call: Call): AsyncIterable<Shown>
}

/** A value of another framework that a run has returned or yielded. */
export interface ForeignResult {
  /** What it is, as in `a stream of LangChain`. */
  readonly what: string
  /** How it is read, or what to write instead. */
  readonly how: ResultReader | string
}

export interface ResultReader {
  readonly reader: Later<Reader>
  /** The pieces of a result that is a stream, where those that it iterates over are not all. */
  pieces?(result: object): unknown
}

/** What knows the values that runs return and yield. */
export interface ForeignResults {
  /** What a value is, behind another one of its stream; undefined for an author's own. */
  shapeOf(value: object, before?: ForeignResult): ForeignResult | undefined
  /**
   * What is wrong with a stream that was read to its end, and whose pieces are the author's own; undefined:
   * nothing. `isSilent`: it had no piece, and the answer fails; else the author is told.
   */
  streamFlaw(stream: object, isSilent: boolean): string | undefined
}

/** What knows other frameworks; nothing of theirs is imported, and no member is called to find out. */
export interface Adapters {
  /**
   * An agent of a framework; undefined for anything else. Throws `TypeError` for what cannot be taken, with
   * what to write instead.
   */
  agent(thing: unknown): AdaptedAgent | undefined
  /** What a tool of a framework is, as in `a tool of Mastra`; undefined for anything else. */
  toolKind(thing: unknown): string | undefined
  /** The definition of such a tool, with another `name` where one is given. Throws as `agent` does. */
  tool(thing: unknown, name?: string): object | undefined
  /** For an object of a class that is no agent: what it has, and how an agent is written that uses it. */
  describe(thing: object): string | undefined
  /** Loaded with the first value that may be theirs. Left out: all are an author's own. */
  readonly results?: Later<ForeignResults>
  /** What others call a member of such a definition, and what to write here. */
  words(kind: ServedKind): ReadonlyMap<string, string> | undefined
  /** The JSON Schema of a schema that is none itself, nor writes one that says all of it. */
  readonly schemaForm: SchemaForm
  /**
   * The page of a tool, of what its definition has as `ui`; what was made already stays as it is. `owner`
   * begins the sentences of the `TypeError`s. Left out: a part makes them, or no tool has one.
   */
  readonly toolUi?: (owner: string, tool: UiOwner, given: unknown) => ToolUi
}

/** Where an object of a class has nothing that runs it may be one of a framework. */
function describe(thing: object): string | undefined {
  if (typeof thing !== 'object' || isPlain(thing) || 'run' in thing || 'kind' in thing) return undefined
  const name = (thing.constructor as Function | undefined)?.name ?? ''
  const ofClass = name === '' ? '' : ` of the class ${name.slice(0, 60)}`
  return `This object${ofClass} has no 'run'. Where it is of a framework, write adapters: frameworks, of `
    + `import { frameworks } from 'triport/adapters'; where it is yours, give it a name and run`
}

/** For a server of definitions alone. */
export const noAdapters: Adapters = Object.freeze({
  agent: () => undefined, toolKind: () => undefined, words: () => undefined, describe,
  tool(thing: unknown) {
    const unknown = isRecord(thing) ? describe(thing) : undefined
    if (unknown !== undefined) throw new TypeError(unknown)
    return undefined
  },
  schemaForm: () => undefined,
})
