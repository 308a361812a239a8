/** What an agent may return, in all its forms. */
import type { ClientToolCall } from './client-tool.ts'
import type { ContentInput } from './content.ts'

/**
 * `input-required`: the agent needs another message before it can finish; `auth-required`: its caller has to
 * allow something first, which the text explains.
 */
export type AnswerState = 'completed' | 'input-required' | 'auth-required' | 'rejected' | 'failed'

/** A whole answer, as an author may give it. `data` is any JSON value for machines. */
export interface AnswerInput {
  readonly text?: string | undefined
  readonly data?: unknown
  /** Blocks, behind the text. */
  readonly content?: readonly (string | ContentInput)[] | undefined
  /** Left out: `completed`. */
  readonly state?: AnswerState | undefined
  /** Calls of the client's own tools, at the end of an answer; see `call.clientTools`. */
  readonly toolCalls?: readonly ClientToolCall[] | undefined
  /** `message`: a plain message and no task, from an agent whose `replies` are `either`. */
  readonly reply?: 'message' | 'task' | undefined
}

export type Piece = string | ContentInput | AnswerInput

/** A compiler takes no data for an iterable, a promise, a function, an error or a response by these. */
type Foreign = typeof Symbol.iterator | typeof Symbol.asyncIterator | 'then' | 'bind' | 'stack' | 'bodyUsed'

/** An object that is `data`, of an interface or a class too. */
type DataOutput = Readonly<Record<string, unknown>> | (object & { readonly [member in Foreign]?: undefined })

/** Streams of other frameworks have pieces of their own: objects and lists. */
type Pieces = AsyncIterable<Piece | DataOutput | readonly unknown[]> | Iterable<Piece>

type OutputNow = Piece | undefined | void | null | DataOutput | Pieces

/** What an agent's `run` may return. Any other object is taken as `data`. */
export type AgentOutput = OutputNow | PromiseLike<OutputNow>
