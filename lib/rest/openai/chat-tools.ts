/**
 * The tools that a client of chat completions runs itself: what it offers, and what came of calls since its
 * last user message. In earlier messages calls and results are text.
 * Spec: https://platform.openai.com/docs/guides/function-calling
 */
import { isRecord } from '../../define/content.ts'
import { show } from '../../define/validate.ts'
import { parseJson } from '../../wire/json.ts'
import { wrongParam } from './openai-errors.ts'
import type { ChatMessage } from '../../define/chat.ts'
import type { ClientTool, ClientToolResult, MadeToolCall } from '../../define/client-tool.ts'

const MAX_ARGUMENTS_DEPTH = 64
const NAME = /^[\w.-]{1,128}$/
const CHOICE = 'an agent decides by itself which tools it calls'

/** Throws a `Fault` for what can be read in no way, or not be obeyed. */
export function decodeTools(tools: unknown, choice: unknown): readonly ClientTool[] {
  return toolsIn(tools, choice, (tool, at) => functionOf(tool['function'], `${at}.function`))
}

/** The same where the members of a function stand beside its type, as in Responses. */
export function decodeFlatTools(tools: unknown, choice: unknown): readonly ClientTool[] {
  return toolsIn(tools, choice, functionOf)
}

type ReadTool = (tool: Readonly<Record<string, unknown>>, at: string) => ClientTool

function toolsIn(tools: unknown, choice: unknown, read: ReadTool): readonly ClientTool[] {
  if (choice !== undefined && choice !== null && choice !== 'auto' && choice !== 'none') {
    throw wrongParam('tool_choice', `must be "auto" or "none", or left out: ${CHOICE}`, 'unsupported_value')
  }
  if (tools === undefined || tools === null) return []
  if (!Array.isArray(tools)) throw wrongParam('tools', 'must be a list of objects with "type": "function"')
  const all = tools.map((tool: unknown, index) => {
    const at = `tools[${index}]`
    if (isRecord(tool) && tool['type'] === 'function') return read(tool, at)
    throw wrongParam(`${at}.type`, 'must be function: no other tools are known here', 'unsupported_value')
  })
  return choice === 'none' ? [] : all
}

function functionOf(given: unknown, at: string): ClientTool {
  const { name, description, parameters } = isRecord(given) ? given : {}
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw wrongParam(`${at}.name`, 'must be 1 to 128 letters, digits, dots, dashes or underscores')
  }
  if (parameters !== undefined && parameters !== null && !isRecord(parameters)) {
    throw wrongParam(`${at}.parameters`, 'must be a JSON Schema, an object')
  }
  return {
    name,
    ...typeof description === 'string' && { description },
    inputSchema: isRecord(parameters) ? parameters : { type: 'object', properties: {} },
  }
}

/** Reads the messages of a chat in which tools were called, in order. */
export class ToolExchange {
  #calls: Map<string, MadeToolCall & { isDone: boolean; readonly at: string }> | undefined

  /** An assistant's calls as text, one a line; '' where it has none. */
  calls(calls: unknown, at: string): string {
    if (calls === undefined || calls === null) return ''
    if (!Array.isArray(calls)) throw wrongParam(at, 'must be a list')
    const known = this.#calls ??= new Map()
    return calls.map((call: unknown, index) => {
      const { id, name, args } = callOf(call, `${at}[${index}]`)
      known.set(id, { id, name, args, isDone: false, at: `${at}[${index}]` })
      return `${name}(${JSON.stringify(args)})`
    }).join('\n')
  }

  /** A message of the role `tool`. */
  result(message: Readonly<Record<string, unknown>>, content: string, at: string): ClientToolResult {
    const id = message['tool_call_id']
    const call = typeof id === 'string' ? this.#calls?.get(id) : undefined
    if (call === undefined) {
      const demand = 'must be the id of a call in the "tool_calls" of a message before it'
      throw wrongParam(`${at}.tool_call_id`, demand)
    }
    call.isDone = true
    return { id: call.id, name: call.name, args: call.args, result: content }
  }

  /** Throws a `Fault` where a call has no result, and the agent is to go on with it. */
  end(): void {
    for (const { isDone, at, id } of this.#calls?.values() ?? []) {
      if (isDone) continue
      throw wrongParam(at, `has no result; add { "role": "tool", "tool_call_id": ${show(id)} }`)
    }
  }
}

/** A result as a message of a history. */
export function resultMessage({ name, result }: ClientToolResult): ChatMessage {
  return { role: 'assistant', content: `${name} returned: ${result}` }
}

function callOf(call: unknown, at: string): MadeToolCall {
  const { id, function: called } = isRecord(call) ? call : {}
  if (typeof id !== 'string' || id === '') throw wrongParam(`${at}.id`, 'must be a string')
  const { name, arguments: written } = isRecord(called) ? called : {}
  if (typeof name !== 'string') throw wrongParam(`${at}.function.name`, 'must be a string')
  const parsed = typeof written === 'string' ? parseJson(written || '{}', MAX_ARGUMENTS_DEPTH) : undefined
  if (parsed?.ok !== true || !isRecord(parsed.value)) {
    throw wrongParam(`${at}.function.arguments`, 'must be the text of a JSON object')
  }
  return { id, name, args: parsed.value }
}
