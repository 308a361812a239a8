/** What an adapter of a framework does: it runs the framework's agents, and reads what they return. */
import type { Call } from '../../kernel/define/call.ts'
import type { ContentInput } from '../../kernel/define/content.ts'

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
export type Read = (value: object, call: Call) => Shown | undefined

/** What reads the results of one framework. */
export interface Reader {
  /** Made once for each run, so that it may remember what it has read. */
  makeReader(): Read
}

/** What runs the agents of one framework. */
export interface Adapter {
  /** Yields what a user sees, as it comes. Throws what the agent throws. `agent` is of this framework. */
  run(agent: object, prompt: string, call: Call): AsyncIterable<Shown>
}
