/** The calls of tools in messages of LangChain, whole or in pieces: each begins once and ends once. */
import { textOfMessage } from './langchain-message.ts'
import { readJson, readMember } from '../shape.ts'
import { sayToolCall, sayToolResult } from '../work.ts'
import type { Call } from '../../define/call.ts'
import type { PlainMembers } from '../shape.ts'

/** A tool that only gives an answer its form. */
const FORMS = /^extract-\d+$/

export class GraphTools {
  readonly #begun = new Set<string>()
  readonly #ended = new Set<unknown>()
  /** Calls that come in pieces. */
  readonly #pieces = new Map<string, { readonly id: string; readonly name: string; args: string }>()

  /** The calls in a whole message. */
  begin(message: unknown, call: Call): void {
    const calls = readMember(message, 'tool_calls')
    if (!Array.isArray(calls)) return
    for (const { id, name, args } of calls as readonly PlainMembers[]) {
      this.#beginOne(String(id || name), String(name), args, call)
    }
  }

  /** Adds what is in a piece of a message. Whether it is one. */
  addPieces(message: unknown): boolean {
    const pieces = readMember(message, 'tool_call_chunks')
    if (!Array.isArray(pieces)) return false
    for (const { id, name, args = '', index } of pieces as readonly PlainMembers[]) {
      // Only the first has the id of the call.
      const key = `${readMember(message, 'id')} ${index}`
      const known = this.#pieces.get(key)
      if (typeof id === 'string' && known?.id !== id) {
        this.#pieces.set(key, { id, name: String(name), args: String(args) })
      } else if (known !== undefined) {
        known.args += String(args)
      }
    }
    return true
  }

  /**
   * The end of a call, by the message of the tool: whether that only gives the answer its form. Undefined: it
   * has ended before.
   */
  end(message: unknown, call: Call): boolean | undefined {
    const { tool_call_id: id, name, status } = message as PlainMembers
    for (const one of this.#pieces.values()) {
      if (one.id === id) this.#beginOne(one.id, one.name, readJson(one.args) ?? one.args, call)
    }
    if (this.#ended.has(id)) return undefined
    this.#ended.add(id)
    if (FORMS.test(String(name))) return true
    sayToolResult(call, id || name, name, textOfMessage(message), status === 'error')
    return false
  }

  #beginOne(id: string, name: string, args: unknown, call: Call): void {
    if (this.#begun.has(id)) return
    this.#begun.add(id)
    if (!FORMS.test(name)) sayToolCall(call, id, name, args)
  }
}
