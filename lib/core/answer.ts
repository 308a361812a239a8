/**
 * What an agent may say, in all its loose forms, and the one normal form that doors encode.
 *
 * A string is answered at once, without a promise; an iterable is read piece by piece, and each piece is
 * emitted before the next is asked for.
 */
import { contentOf, isContent, isRecord, text } from './content.ts'
import { Fault } from './fault.ts'
import { isThenable } from './thenable.ts'
import type { Artifact } from './artifact.ts'
import type { LiveCall } from './live-call.ts'
import type { Content, ContentInput, TextContent } from './content.ts'

/** How an answer is meant. `input-required`: the agent wants to hear more before it can finish. */
export type AnswerState = 'completed' | 'input-required' | 'rejected' | 'failed'

/** A whole answer, as an author may give it. `data` is any JSON value for machines. */
export interface AnswerInput {
  readonly text?: string
  readonly data?: unknown
  readonly content?: readonly (string | ContentInput)[]
  readonly state?: AnswerState
}

/** What an iterable may yield. */
export type Piece = string | ContentInput | AnswerInput

/** What an agent's `run` may return. Any other object is taken as `data`. */
export type AgentOutput =
  | Piece | undefined | void | null | Readonly<Record<string, unknown>>
  | PromiseLike<Piece | undefined | void | null | Readonly<Record<string, unknown>> | AsyncIterable<Piece>>
  | AsyncIterable<Piece> | Iterable<Piece>

/** One agent's part in the answer of a group: what it said, or why it failed. */
export interface AgentResult { readonly agent: string; readonly response?: string; readonly error?: string }

/** An answer in its normal form. `text` is the text of all `content` together. */
export interface Answer {
  readonly text: string
  readonly content: readonly Content[]
  readonly state: AnswerState
  /** Undefined where the agent gave none. */
  readonly data: unknown
  /** Each agent's part, where a group answered. */
  readonly results?: readonly AgentResult[]
  /** What was given as artifacts where the channel has none; no part of `content`. */
  readonly artifacts?: readonly Artifact[]
}

/** Takes each piece as it comes. A promise holds the agent back until the reader has caught up. */
export type Emit = (piece: Content) => void | Promise<void>

const states: ReadonlySet<unknown> = new Set<AnswerState>([
  'completed', 'input-required', 'rejected', 'failed',
])

/** Text without anything else: the answer of most agents. */
export function textAnswer(said: string): Answer {
  return { text: said, content: said === '' ? [] : [text(said)], state: 'completed', data: undefined }
}

/**
 * The normal form of what `run` returned. Synchronous where that was; otherwise a promise.
 * Throws `Fault('too-large')` over `maxBytes`, `Fault('internal')` for what is no answer.
 */
export function answerOf(
  output: unknown, call: LiveCall, maxBytes: number, emit?: Emit,
): Answer | Promise<Answer> {
  if (isThenable(output)) {
    return Promise.resolve(output).then((value) => answerOf(value, call, maxBytes, emit))
  }
  if (typeof output === 'string' && emit === undefined) {
    if (output.length > maxBytes) throw tooLarge(maxBytes)
    return textAnswer(output)
  }
  const gathering = new AnswerBuilder(maxBytes)
  if (isAsyncIterable(output)) return drain(output[Symbol.asyncIterator](), call, gathering, emit)
  if (isIterable(output)) return drain(output[Symbol.iterator](), call, gathering, emit)
  const fresh = gathering.add(output)
  if (emit === undefined) return gathering.answer()
  return tell(fresh, emit).then(() => gathering.answer())
}

async function tell(fresh: readonly Content[], emit: Emit): Promise<void> {
  for (const block of fresh) await emit(block)
}

async function drain(
  iterator: Iterator<unknown> | AsyncIterator<unknown>,
  call: LiveCall,
  gathering: AnswerBuilder,
  emit: Emit | undefined,
): Promise<Answer> {
  let thrown: unknown
  try {
    for (;;) {
      const step = await iterator.next()
      if (call.over) break
      const fresh = gathering.add(step.value)
      if (emit !== undefined) {
        for (const block of fresh) {
          const wait = emit(block)
          if (wait !== undefined) await wait
        }
      }
      if (step.done === true) return gathering.answer()
      if (call.over) break
    }
  } catch (error) {
    thrown = error
  }
  const reason = call.over ? call.reason ?? new Fault('cancelled', 'Cancelled') : thrown
  // A generator that is suspended gets the chance to clean up; it is not waited for.
  new Promise((resolve) => resolve(iterator.return?.())).catch(() => {})
  throw reason
}

/** Puts pieces together. */
class AnswerBuilder {
  readonly #maxBytes: number
  #size = 0
  #text = ''
  readonly #content: Content[] = []
  /** The last block, while plain text may still be added to it. */
  #growing: { readonly type: 'text'; text: string } | undefined
  #data: unknown
  #state: AnswerState = 'completed'

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Takes one piece and says which blocks it brought. */
  add(piece: unknown): readonly Content[] {
    if (piece === undefined || piece === null || piece === '') return []
    if (typeof piece === 'string') return [this.#block(text(piece))]
    if (isContent(piece)) return [this.#block(contentOf(piece))]
    if (Array.isArray(piece)) return piece.flatMap((item) => this.add(item))
    if (!isRecord(piece)) {
      const forms = 'strings, content blocks or { text, data, content, state }'
      throw mistake(`an agent answers with ${forms}, not ${typeof piece}`)
    }
    if (!isAnswerInput(piece)) {
      this.#data = piece
      return [this.#block(text(JSON.stringify(piece)))]
    }
    if (piece.state !== undefined) this.#state = piece.state
    if (piece.data !== undefined) this.#data = piece.data
    const fresh = piece.text === undefined || piece.text === '' ? [] : [this.#block(text(piece.text))]
    for (const item of piece.content ?? []) fresh.push(...this.add(item))
    if (fresh.length === 0 && this.#content.length === 0 && piece.data !== undefined) {
      fresh.push(this.#block(text(JSON.stringify(piece.data))))
    }
    return fresh
  }

  answer(): Answer {
    return { text: this.#text, content: this.#content, state: this.#state, data: this.#data }
  }

  #block(block: Content): Content {
    if (block.type !== 'text') {
      this.#size += JSON.stringify(block).length
      this.#growing = undefined
      this.#content.push(block)
    } else {
      this.#size += block.text.length
      this.#text += block.text
      this.#addText(block)
    }
    if (this.#size > this.#maxBytes) throw tooLarge(this.#maxBytes)
    return block
  }

  /** A streamed text is one text: the pieces are how it travelled, not what it is. */
  #addText(block: TextContent): void {
    if (block.annotations !== undefined || block._meta !== undefined) {
      this.#growing = undefined
      this.#content.push(block)
    } else if (this.#growing !== undefined) {
      this.#growing.text += block.text
    } else {
      this.#growing = { type: 'text', text: block.text }
      this.#content.push(this.#growing)
    }
  }
}

type Members = Readonly<Record<string, unknown>>

function isAnswerInput(value: Members): value is AnswerInput & Members {
  const { text: said, content, state } = value
  const isNamed = said !== undefined || content !== undefined || state !== undefined
  if (!isNamed && !Object.hasOwn(value, 'data')) return false
  if (said !== undefined && typeof said !== 'string') return false
  if (content !== undefined && !Array.isArray(content)) return false
  return state === undefined || states.has(state)
}

function tooLarge(maxBytes: number): Fault {
  return new Fault('too-large', `The answer is larger than ${maxBytes} bytes`)
}

function mistake(sentence: string): Fault {
  return new Fault('internal', 'Internal error', undefined, { cause: new TypeError(sentence) })
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Whether a value is read piece by piece. A list is one piece, and so is what has a JSON form of its own. */
function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    && Symbol.iterator in value && !('toJSON' in value)
}
