/** The calls of a client's own tools that an agent ends its answer with. */
import { copyOfJson, isRecord } from '../../kernel/define/content.ts'
import { mistake } from '../../kernel/define/fault.ts'
import { show } from '../../kernel/define/validate.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import type { ClientToolCall, ClientToolResult } from '../../kernel/define/client-tool.ts'

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
