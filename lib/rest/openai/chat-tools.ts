/**
 * The tools that a client of chat completions runs itself: what it offers, and what came of calls since its
 * last user message. In earlier messages calls and results are text.
 * Spec: https://platform.openai.com/docs/guides/function-calling
 */
import { isGiven, isRecord } from '../../define/content.ts'
import { show } from '../../define/validate.ts'
import { isName } from '../../wire/bounded.ts'
import { InnerJson } from '../../wire/json.ts'
import { nameIn, wrongParam } from './openai-errors.ts'
import type { ChatMessage } from '../../define/chat.ts'
import type { JsonBounds } from '../../wire/json.ts'
import type { ClientTool, ClientToolResult, MadeToolCall } from '../../define/client-tool.ts'

type Members = Readonly<Record<string, unknown>>

const NAME = /^[\w.-]{1,128}$/
const CHOICE = 'an agent decides by itself which tools it calls'

/**
 * Throws a `Fault` for what can be read in no way, or not be obeyed. `isFlat`: the members of a function
 * stand beside its type, as in Responses.
 */
export function decodeTools(tools: unknown, choice: unknown, isFlat = false): readonly ClientTool[] {
  if (isGiven(choice) && choice !== 'auto' && choice !== 'none') {
    throw wrongParam('tool_choice', `must be "auto" or "none", or left out: ${CHOICE}`, 'unsupported_value')
  }
  if (!isGiven(tools)) return []
  if (!Array.isArray(tools)) throw wrongParam('tools', 'must be a list of objects with "type": "function"')
  const all = tools.map((tool: unknown, index) => {
    const at = `tools[${index}]`
    if (isRecord(tool) && tool['type'] === 'function') {
      return isFlat ? functionOf(tool, at) : functionOf(tool['function'], `${at}.function`)
    }
    throw wrongParam(`${at}.type`, 'must be function: no other tools are known here', 'unsupported_value')
  })
  return choice === 'none' ? [] : all
}

function functionOf(given: unknown, at: string): ClientTool {
  const name = isRecord(given) ? given['name'] : undefined
  if (typeof name === 'string' && NAME.test(name)) return clientToolOf(given, at)
  throw wrongParam(`${at}.name`, 'must be 1 to 128 letters, digits, dots, dashes or underscores')
}

/** Tools as the clients of AG-UI and of the AI SDK offer them. */
export function clientToolsIn(tools: unknown): readonly ClientTool[] {
  return listIn(tools, 'tools').map((tool, index) => clientToolOf(tool, `tools[${index}]`))
}

function clientToolOf(given: unknown, at: string): ClientTool {
  const { name, description, parameters } = isRecord(given) ? given : {}
  if (isGiven(parameters) && !isRecord(parameters)) {
    throw wrongParam(`${at}.parameters`, 'must be a JSON Schema, an object')
  }
  return {
    name: nameIn(name, `${at}.name`),
    ...typeof description === 'string' && { description },
    inputSchema: isRecord(parameters) ? parameters : { type: 'object', properties: {} },
  }
}

/** A list that may be left out. */
export function listIn(value: unknown, at: string): readonly unknown[] {
  if (!isGiven(value)) return []
  if (Array.isArray(value)) return value
  throw wrongParam(at, 'must be a list')
}

/** How a protocol spells calls and results. */
export interface CallSpelling {
  /** The member of an assistant's message that has its calls. */
  readonly calls: string
  /** The member of a result that names its call. */
  readonly callId: string
  /** Each call and each result is an item of its own, and its members stand beside its type. */
  readonly isFlat?: true
}

type MadeCall = MadeToolCall & { readonly at: string; isDone: boolean }

/** Reads the messages of a chat in which tools were called, in order. */
export class ToolExchange {
  readonly #spelling: CallSpelling
  readonly #inner: InnerJson
  #calls: Map<string, MadeCall> | undefined

  constructor(spelling: CallSpelling, bounds: JsonBounds) {
    this.#spelling = spelling
    this.#inner = new InnerJson(bounds)
  }

  /** An assistant's calls as text, one a line; '' where it has none. */
  calls(message: Members, at: string): string {
    const { calls: list, isFlat = false } = this.#spelling
    if (!isGiven(message[list])) return ''
    const known = this.#calls ??= new Map()
    return listIn(message[list], `${at}.${list}`).map((given, index) => {
      const call = callOf(given, isFlat ? at : `${at}.${list}[${index}]`, isFlat, this.#inner)
      known.set(call.id, call)
      return `${call.name}(${JSON.stringify(call.args)})`
    }).join('\n')
  }

  /** A message of the role `tool`. */
  result(message: Members, content: string, at: string): ClientToolResult {
    const { calls, callId, isFlat } = this.#spelling
    const id = message[callId]
    const call = isName(id) ? this.#calls?.get(id) : undefined
    if (call === undefined) {
      throw isFlat ? wrongParam(`${at}.call_id`, 'must be the call_id of a function_call before it')
        : wrongParam(`${at}.${callId}`, `must be the id of a call in the "${calls}" of a message before it`)
    }
    call.isDone = true
    return { id: call.id, name: call.name, args: call.args, result: content }
  }

  /** Calls of before need no result any more. */
  forget(): void { this.#calls = undefined }

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

function callOf(call: unknown, at: string, isFlat: boolean, inner: InnerJson): MadeCall {
  const { id: given, function: called } = isRecord(call) ? call : {}
  const within = isFlat ? at : `${at}.function`
  const id = nameIn(given, `${at}.${isFlat ? 'call_id' : 'id'}`)
  const { name: asked, arguments: written } = isRecord(called) ? called : {}
  const name = nameIn(asked, `${within}.name`)
  const parsed = typeof written === 'string' ? inner.parse(written || '{}') : undefined
  if (parsed?.ok !== true || !isRecord(parsed.value)) {
    const why = parsed?.ok === false ? `: ${parsed.why}` : ''
    throw wrongParam(`${within}.arguments`, `must be the text of a JSON object${why}`)
  }
  return { id, name, args: parsed.value, isDone: false, at }
}
