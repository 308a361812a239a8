/**
 * The normal form of what an agent has returned, which protocols encode.
 *
 * A string is answered at once, without a promise; an iterable is read piece by piece, and each piece is
 * emitted before the next is asked for.
 */
import {
  blockOf, contentOf, copyOfJson, isContent, isRecord, isTyped, text, textOf,
} from '../../kernel/define/content.ts'
import { mistake } from '../../kernel/define/fault.ts'
import {
  ContentBuilder, foreignTo, hasPromises, isAsyncIterable, isIterable, jsonOf, readPieces, tooLargeFault,
} from '../../kernel/define/output.ts'
import { isPlain, show } from '../../kernel/define/validate.ts'
import { ownText } from '../../kernel/util/own.ts'
import { andThen, isThenable } from '../../kernel/util/thenable.ts'
import { wellFormed } from '../../kernel/wire/characters.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { toolCallsOf } from './tool-calls.ts'
import type { Adapters, ForeignResult, Reader, ReadResult } from '../../kernel/define/adapters.ts'
import type { AnswerInput, AnswerState } from '../../kernel/define/answer.ts'
import type { Artifact } from '../../kernel/define/artifact.ts'
import type { Content, ContentInput } from '../../kernel/define/content.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { PieceTaker } from '../../kernel/define/output.ts'
import type { Later } from '../../kernel/util/later.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Emit } from './run-event.ts'
import type { MadeToolCall } from './tool-calls.ts'

/** One agent's part in the answer of a group: its answer, or why it failed. */
export interface AgentResult { readonly agent: string; readonly response?: string; readonly error?: string }

/** An answer in its normal form. `text` is the text of all `content` together. */
export interface Answer {
  readonly text: string
  /** Whether the text has memory of its own, so that who keeps it need not copy it. Left out: no. */
  readonly isOwn?: true
  readonly content: readonly Content[]
  readonly state: AnswerState
  /** Whether the agent wants it to be a plain message where a task is usual, or a task. */
  readonly reply?: NonNullable<AnswerInput['reply']>
  /** Undefined where the agent gave none. */
  readonly data: unknown
  /** Tools that the client is to run, left out where there are none. */
  readonly toolCalls?: readonly MadeToolCall[]
  /** Each agent's part, where a group answered. */
  readonly results?: readonly AgentResult[]
  /** What is probably a mistake in what was returned, for the log: with how to mend it. */
  readonly flaw?: string
  /** What was given as artifacts where the channel has none; no part of `content`. */
  readonly artifacts?: readonly Artifact[]
}

/** What was given as artifacts, which follows the content. */
export function artifactParts({ artifacts }: Answer): readonly Content[] {
  return artifacts?.flatMap(({ parts }) => parts) ?? []
}

/** What an answer of an author's own may have. */
const answerMembers: ReadonlySet<string> = new Set([
  'text', 'data', 'content', 'state', 'reply', 'toolCalls',
])

const states: ReadonlySet<unknown> = new Set<AnswerState>([
  'completed', 'input-required', 'auth-required', 'rejected', 'failed',
])

export function textAnswer(value: string): Answer {
  const whole = ownText(wellFormed(value))
  const content = whole === '' ? [] : [text(whole)]
  return { text: whole, isOwn: true, content, state: 'completed', data: undefined }
}

/** The answer of an agent that returned nothing at all, which is probably a mistake. */
export const noAnswer: Answer = Object.freeze(textAnswer(''))

/**
 * The normal form of what `run` returned. Synchronous where that was; otherwise a promise. Of undefined it is
 * `noAnswer`. Throws `Fault('too-large')` over `maxBytes`, `Fault('internal')` for what is no answer.
 */
export function answerOf(
  output: unknown, call: LiveCall, maxBytes: number, adapters: Adapters, emit?: Emit,
): Answer | Promise<Answer> {
  if (isThenable(output)) {
    return Promise.resolve(output).then((value) => answerOf(value, call, maxBytes, adapters, emit))
  }
  if (output === undefined) return noAnswer
  if (typeof output === 'string') {
    if (output.length > maxBytes) throw tooLargeFault('answer', maxBytes)
    return textAnswer(output)
  }
  const gathering = new AnswerBuilder(call, maxBytes, adapters, emit)
  return andThen(
    isGenerator(output) ? undefined : gathering.load(output), () => gathered(output, call, gathering),
  )
}

function gathered(output: unknown, call: LiveCall, gathering: AnswerBuilder): Answer | Promise<Answer> {
  const pieces = piecesIn(output, gathering)
  if (pieces !== undefined) {
    return readPieces(pieces, call, gathering).then(() => {
      const flaw = gathering.flawOf(output as object)
      if (flaw !== undefined && gathering.isSilent) throw mistake(`an agent returned ${flaw}`)
      if (flaw !== undefined) gathering.flaw = flaw
      return gathering.answer()
    })
  }
  const whole = gathering.read(output)
  return whole === undefined ? gathering.whole(output)
    : andThen(whole, (shown) => gathering.whole(shown))
}

/** The pieces of a generator, a stream, a set; undefined for what JSON writes in another way. */
function piecesIn(
  output: unknown, gathering: AnswerBuilder,
): Iterator<unknown> | AsyncIterator<unknown> | undefined {
  if (isGenerator(output)) return output[Symbol.asyncIterator]()
  const stream = gathering.streamIn(output)
  if (isAsyncIterable(stream)) return stream[Symbol.asyncIterator]()
  if (isAsyncIterable(output)) return output[Symbol.asyncIterator]()
  if (!isIterable(output)) return undefined
  const what = output instanceof Set || 'next' in output ? undefined : foreignTo(output)
  if (what !== undefined) throw mistake(`an agent returned ${what}`)
  return output[Symbol.iterator]()
}

/** Whether it is one of the language's own, which says nothing of its pieces. */
function isGenerator(output: unknown): output is AsyncIterable<unknown> {
  return isAsyncIterable(output) && Object.prototype.toString.call(output) === '[object AsyncGenerator]'
}

/** Whether it has to be looked at by who knows other frameworks: most answers of authors need not. */
function mayBeForeign(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (isAsyncIterable(value) || isIterable(value)) return true
  if (isContent(value)) return false
  const names = Object.keys(value)
  return names.length === 0 || !names.every((name) => answerMembers.has(name)) || !isPlain(value)
}

class AnswerBuilder extends ContentBuilder implements PieceTaker {
  readonly #call: LiveCall
  readonly #adapters: Adapters
  readonly #emit: Emit | undefined
  #data: unknown
  #state: AnswerState = 'completed'
  #reply: Answer['reply'] | undefined
  #toolCalls: MadeToolCall[] | undefined
  /** The names of the client's tools. */
  #offered: ReadonlySet<string> | undefined
  flaw: string | undefined
  /** Of another framework whose pieces come. */
  #shape: ForeignResult | undefined
  #reader: Later<Reader> | undefined
  #read: ReadResult | undefined

  constructor(call: LiveCall, maxBytes: number, adapters: Adapters, emit: Emit | undefined) {
    super('answer', maxBytes)
    this.#call = call
    this.#adapters = adapters
    this.#emit = emit
  }

  get isSilent(): boolean { return this.content.length === 0 }

  /** What has to be waited for, before it is known whether a value is of another framework. */
  load(value: unknown): Promise<void> | undefined {
    return mayBeForeign(value) ? this.#adapters.results?.load() : undefined
  }

  /** What is wrong with a stream that has come to its end. */
  flawOf(stream: object): string | undefined {
    if (this.#shape !== undefined || isGenerator(stream)) return undefined
    return this.#adapters.results?.loaded.streamFlaw(stream, this.isSilent)
  }

  /** Takes one piece of many, and emits its blocks. */
  take(piece: unknown, isEnd: boolean): void | Promise<void> {
    const taken = this.#take(piece)
    if (!isEnd) return taken
    return isThenable(taken) ? taken.then(() => this.#emitRest()) : this.#emitRest()
  }

  #emitRest(): void | Promise<void> {
    const rest = this.end()
    return rest && this.#show(rest)
  }

  #show(content: Content): void | Promise<void> {
    return this.#emit?.({ type: 'piece', content, state: this.#state, reply: this.#reply })
  }

  /** One after the other; waits only where the reader is behind. */
  #showAll(fresh: readonly Content[], from = 0): void | Promise<void> {
    for (let at = from; at < fresh.length; at++) {
      const wait = this.#show(fresh[at]!)
      if (wait !== undefined) return wait.then(() => this.#showAll(fresh, at + 1))
    }
  }

  #take(piece: unknown): void | Promise<void> {
    if (piece === '') return undefined
    const before = this.size
    if (typeof piece !== 'string') {
      const wait = this.load(piece)
      if (wait !== undefined) return wait.then(() => this.#take(piece))
      const shown = this.read(piece)
      if (shown !== undefined) return andThen(shown, (own) => this.#takeOwn(own))
      return this.#takeOwn(piece)
    }
    const block = this.addText(piece)
    this.#call.hold(this.size - before)
    if (block === undefined || this.#emit === undefined) return undefined
    this.#call.endReasoning()
    return this.#show(block)
  }

  #takeOwn(piece: unknown): void | Promise<void> {
    const before = this.size
    const fresh = this.add(piece)
    this.#call.hold(this.size - before)
    if (fresh.length > 0 && this.#emit !== undefined) this.#call.endReasoning()
    return this.#showAll(fresh)
  }

  /** The stream within a result of another framework. */
  streamIn(output: unknown): unknown {
    if (!mayBeForeign(output)) return undefined
    this.#shape = this.#adapters.results?.loaded.shapeOf(output)
    const how = this.#shape?.how
    return typeof how === 'object' ? how.pieces?.(output) : undefined
  }

  /** What a user sees of a piece of another framework; '' for nothing. Undefined: it is the author's own. */
  read(piece: unknown): MaybePromise<unknown> | undefined {
    if (!mayBeForeign(piece)) return undefined
    const shape = this.#adapters.results?.loaded.shapeOf(piece, this.#shape)
    if (shape === undefined) return undefined
    const { what, how } = shape
    if (typeof how === 'string') throw mistake(`an agent returned ${what}; write ${how}`)
    this.#shape = shape
    return andThen(how.reader.load(), () => {
      if (this.#reader !== how.reader) this.#read = how.reader.loaded.makeReader()
      this.#reader = how.reader
      return this.#read!(piece, this.#call) ?? ''
    })
  }

  /** The answer that one value is. */
  whole(output: unknown): Answer {
    this.add(output)
    this.end()
    return this.answer()
  }

  /** Takes one piece and returns what of it can be shown by now. */
  add(piece: unknown): readonly Content[] {
    if (piece === undefined || piece === null || piece === '') return []
    if (typeof piece === 'string') return this.addBlock(text(piece))
    if (isContent(piece)) return this.addBlock(contentOf(piece))
    if (Array.isArray(piece)) {
      if (hasPromises(piece)) throw mistake('an agent returned a promise within a list; await it first')
      // Among blocks, what names a type is meant as one.
      const isContentList = piece.some(isContent)
      return piece.flatMap((item) => isContentList && isTyped(item) ? this.#item(item) : this.add(item))
    }
    if (!isRecord(piece)) {
      const forms = 'strings, content blocks or { text, data, content, state }'
      throw mistake(`an agent answers with ${forms}, not ${typeof piece}`)
    }
    const what = foreignTo(piece)
    if (what !== undefined) throw mistake(`an agent returned ${what}`)
    if (!isAnswerInput(piece)) {
      this.#data = piece
      return this.addBlock(text(jsonOf('An agent', piece)))
    }
    if (piece.state !== undefined) this.#state = piece.state
    if (piece.reply !== undefined) this.#reply = piece.reply
    if (piece.data !== undefined) this.#data = jsonValue(piece.data)
    if (piece.toolCalls !== undefined) this.#callTools(piece.toolCalls)
    const unknown = Object.keys(piece).filter((name) => !answerMembers.has(name))
    if (unknown.length > 0) {
      const names = show(unknown.slice(0, 3).join(', '))
      this.flaw = `an answer with ${names}, which callers do not get; write it into data, as in { text, `
        + 'data: { sources } }'
    }
    const fresh = piece.text === undefined || piece.text === '' ? [] : [...this.addBlock(text(piece.text))]
    for (const item of piece.content ?? []) fresh.push(...this.#item(item))
    if (fresh.length === 0 && this.isEmpty && piece.data !== undefined) {
      fresh.push(...this.addBlock(text(jsonOf('An agent', piece.data))))
    }
    return fresh
  }

  #callTools(given: unknown): void {
    this.#offered ??= new Set(this.#call.clientTools.map(({ name }) => name))
    const calls = toolCallsOf(given, this.#offered)
    this.count(formatJson(calls).length)
    this.#toolCalls ??= []
    for (const one of calls) this.#toolCalls.push(one)
  }

  #item(item: string | ContentInput): readonly Content[] {
    return item === '' ? [] : this.addBlock(blockOf(item))
  }

  answer(): Answer {
    const answer = { text: this.text, content: this.content, state: this.#state, data: this.#data }
    const reply = this.#reply
    if (reply === undefined && this.#toolCalls === undefined && this.flaw === undefined) return answer
    return {
      ...answer, ...reply !== undefined && { reply },
      ...this.flaw !== undefined && { flaw: this.flaw },
      ...this.#toolCalls !== undefined && { toolCalls: this.#toolCalls },
    }
  }
}

/** Whether content is nothing but the text of data: then it has nothing that the content has not. */
export function isTextOfData(content: readonly Content[], data: unknown): boolean {
  return content.length === 1 && textOf(content) === formatJson(data)
}

/** An answer as an author would give it: what JSON makes of it is taken as the same answer. */
export function inputOf({ text, content, data, state, toolCalls, reply }: Answer): AnswerInput {
  const files = content.filter(({ type }) => type !== 'text')
  return {
    text,
    ...data !== undefined && { data },
    ...files.length > 0 && { content: files },
    ...state !== 'completed' && { state },
    ...toolCalls !== undefined && { toolCalls },
    ...reply !== undefined && { reply },
  }
}

function jsonValue(data: unknown): unknown {
  const what = foreignTo(data)
  if (what !== undefined) throw mistake(`the data of an answer is ${what}`)
  return copyOfJson(data, 'the data of an answer is')
}

function isAnswerInput(value: Readonly<Record<string, unknown>>): value is AnswerInput & typeof value {
  const { text, content, state, reply, toolCalls } = value
  const isNamed = text !== undefined || content !== undefined || state !== undefined
    || Array.isArray(toolCalls)
  if (!isNamed && !Object.hasOwn(value, 'data')) return false
  if (text !== undefined && typeof text !== 'string') return false
  if (content !== undefined && !Array.isArray(content)) return false
  if (reply !== undefined && reply !== 'message' && reply !== 'task') return false
  return state === undefined || states.has(state)
}
