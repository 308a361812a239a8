/**
 * Calls of tools that only other servers know, in the history of a client that has come from one: its agent
 * reads them as text. What such a server ran by itself is passed over: its answers tell what came of it.
 * Spec: https://platform.openai.com/docs/api-reference/responses, Items
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { resultMessage } from '../../../floors/chat/tool-exchange.ts'

type Members = Readonly<Record<string, unknown>>

const CALL = '_call'
const OUTPUT = '_call_output'
/** The members that a call may have its arguments in. */
const inputs = ['arguments', 'input', 'action', 'operation'] as const

/** Reads the items of one conversation, in order. */
export class OtherCalls {
  /** By the id of each call. */
  readonly #names = new Map<unknown, string>()

  /** Whether an output is of such a call: some clients write all outputs as those of functions. */
  has({ call_id: id }: Members): boolean { return this.#names.has(id) }

  /** Undefined for an item that says nothing to an agent. */
  messageOf(item: Members): Members | undefined {
    const { type, call_id: id, name: given, output } = item
    if (typeof type !== 'string' || typeof id !== 'string') return undefined
    if (type.endsWith(OUTPUT)) {
      const name = this.#names.get(id) ?? type.slice(0, -OUTPUT.length)
      return { ...resultMessage({ name, result: output === undefined ? '' : textOf(output) }) }
    }
    if (!type.endsWith(CALL)) return undefined
    const name = typeof given === 'string' ? given : type.slice(0, -CALL.length)
    this.#names.set(id, name)
    const asked = inputs.find((member) => item[member] !== undefined)
    return { role: 'assistant', content: `${name}(${asked === undefined ? '' : textOf(item[asked])})` }
  }
}

/** A history is text. */
function withoutFiles(_name: string, value: unknown): unknown {
  return typeof value === 'string' && /^data:/i.test(value) ? 'data:…' : value
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const texts = Array.isArray(value) ? value.map((part) => isRecord(part) ? part['text'] : undefined) : []
  const isText = texts.length > 0 && texts.every((text) => typeof text === 'string')
  return isText ? texts.join('\n') : formatJson(value, undefined, withoutFiles) ?? ''
}
