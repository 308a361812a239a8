/**
 * Tools that a client runs itself, and offers with its request. An agent calls one by ending its answer with
 * `toolCalls`; the client runs it, and asks again with the result.
 */
import { randomUuid } from '../wire/random.ts'
import { copyOfJson, isRecord } from './content.ts'
import { mistake } from './fault.ts'
import { show } from './validate.ts'
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

/** A call, with everything that may be left out. */
export type MadeToolCall = Pick<ClientToolResult, 'id' | 'name' | 'args'>

const callMembers: ReadonlySet<string> = new Set(['id', 'name', 'args'] satisfies (keyof ClientToolCall)[])

/** More names of tools are not shown in an error. */
const MAX_SHOWN = 10

/**
 * The calls of an answer, checked. `offered`: the names of the client's tools. Throws `Fault('internal')` for
 * one that the client cannot run.
 */
export function toolCallsOf(calls: unknown, offered: ReadonlySet<string>): readonly MadeToolCall[] {
  if (!Array.isArray(calls)) throw mistake(`an agent answers with toolCalls ${show(calls)}; write a list`)
  return calls.map((call: unknown) => {
    const { id = randomUuid(), name, args = {} } = isRecord(call) ? call : {}
    if (typeof name !== 'string' || typeof id !== 'string' || !isRecord(args)) {
      throw mistake(`an agent answers with a call that is none; write toolCalls: [{ name: 'search', `
        + `args: { words: 'tea' } }]`)
    }
    const other = Object.keys(call as object).find((member) => !callMembers.has(member))
    if (other !== undefined) {
      throw mistake(`an agent calls ${show(name)} with the member ${show(other)}; a call has id, name and `
        + 'args, which is an object')
    }
    if (!offered.has(name)) {
      const names = show([...offered].slice(0, MAX_SHOWN).join(', ') || 'none')
      throw mistake(`an agent calls ${show(name)}, a tool that the client does not offer; `
        + `call.clientTools has ${names}`)
    }
    return { id, name, args: copyOfJson(args, 'the arguments of a tool call are') as MadeToolCall['args'] }
  })
}
