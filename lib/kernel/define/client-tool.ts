/**
 * Tools that a client runs itself, and offers with its request. An agent calls one by ending its answer with
 * `toolCalls`; the client runs it, and asks again with the result.
 */
import type { JsonSchema } from '../schema/compile.ts'

/** A tool that a client offers. */
export interface ClientTool {
  readonly name: string
  readonly description?: string | undefined
  /** JSON Schema of its arguments. It is the client's, and was not checked. */
  readonly inputSchema: JsonSchema
}

/**
 * Whether an answer calls tools of the client: `auto`, as the agent likes; `none`; `required`, at least one;
 * `{ name }`, that one.
 */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string }

/** A call of a client's tool, as an agent writes it. */
export interface ClientToolCall {
  /** Left out: made. */
  readonly id?: string | undefined
  /** One of `call.clientTools`. */
  readonly name: string
  /** Any JSON object. Left out: none. */
  readonly args?: Readonly<Record<string, unknown>> | undefined
}

/** A call that the client has run since the present message, and what came of it. */
export interface ClientToolResult {
  readonly id: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly result: string
}
