/**
 * The tools that a client of chat completions runs itself: what it offers, and what came of calls since its
 * last user message. In earlier messages calls and results are text.
 * Spec: https://platform.openai.com/docs/guides/function-calling
 */
import { isGiven, isRecord } from '../../kernel/define/content.ts'
import { show } from '../../kernel/define/validate.ts'
import { formatJson, InnerJson } from '../../kernel/wire/json.ts'
import { nameIn, wrongParam } from './openai-errors.ts'
import type { ChatMessage } from '../../kernel/define/chat.ts'
import type { ClientTool, ClientToolResult, MadeToolCall } from '../../kernel/define/client-tool.ts'
import type { JsonBounds } from '../../kernel/wire/json.ts'
import type { PassedOver } from '../../floors/reply/passed-over.ts'

type Members = Readonly<Record<string, unknown>>

const NAME = /^[\w.-]{1,128}$/

/**
 * Throws a `Fault` for what can be read in no way, or not be obeyed. `isFlat`: the members of a function
 * stand beside its type, as in Responses.
 */
export function decodeTools(tools: unknown, isFlat = false): readonly ClientTool[] {
  if (!isGiven(tools)) return []
  const all: ClientTool[] = []
  listIn(tools, 'tools').forEach((tool, index) => addTools(all, tool, `tools[${index}]`, isFlat))
  return lastOfEach(all)
}

/** Those of other types are for servers that have them, beside the functions. */
function addTools(all: ClientTool[], tool: unknown, at: string, isFlat: boolean): void {
  const { type, name, tools, function: called } = isRecord(tool) ? tool : {}
  // Clients write a function in the form of either face.
  const isNested = isRecord(called) || (!isFlat && !isGiven(name))
  if (type === 'function') {
    all.push(isNested ? functionOf(called, `${at}.function`) : functionOf(tool, at))
  } else if (type === 'namespace' && isFlat) {
    listIn(tools, `${at}.tools`).forEach((one, index) => {
      if (!isRecord(one) || one['type'] !== 'function') return
      const made = functionOf(one, `${at}.tools[${index}]`)
      all.push({ ...made, name: nameWithin(name, made.name) })
    })
  } else if (typeof type !== 'string') {
    const demand = 'must be a string: "function" for a tool that can be called'
    throw wrongParam(`${at}.type`, demand, 'unsupported_value')
  }
}

/** The name by which an agent knows a function of a namespace. */
export function nameWithin<T>(namespace: unknown, name: T): T | string {
  return typeof namespace === 'string' && typeof name === 'string' ? `${namespace}__${name}` : name
}

/** How the client knows a function that an agent calls: by its name, of a namespace or of none. */
export function nameOutside(tools: unknown, called: string): { readonly name: string; namespace?: string } {
  for (const tool of listIn(tools, 'tools')) {
    const { type, name: namespace, tools: functions } = isRecord(tool) ? tool : {}
    if (type !== 'namespace' || typeof namespace !== 'string') continue
    for (const one of listIn(functions, 'tools')) {
      const name = isRecord(one) ? one['name'] : undefined
      if (typeof name === 'string' && nameWithin(namespace, name) === called) return { name, namespace }
    }
  }
  return { name: called }
}

function functionOf(given: unknown, at: string): ClientTool {
  const name = isRecord(given) ? given['name'] : undefined
  if (typeof name === 'string' && NAME.test(name)) return clientToolOf(given, at)
  throw wrongParam(`${at}.name`, 'must be 1 to 128 letters, digits, dots, dashes or underscores')
}

/** Tools as the clients of AG-UI and of the AI SDK offer them. */
export function clientToolsIn(tools: unknown): readonly ClientTool[] {
  return lastOfEach(listIn(tools, 'tools').map((tool, index) => clientToolOf(tool, `tools[${index}]`)))
}

/** Of two with one name the last counts: models refuse both. */
function lastOfEach(tools: readonly ClientTool[]): readonly ClientTool[] {
  return tools.length < 2 ? tools : [...new Map(tools.map((tool) => [tool.name, tool])).values()]
}

function clientToolOf(given: unknown, at: string): ClientTool {
  const { name, description, parameters } = isRecord(given) ? given : {}
  return {
    name: nameIn(name, `${at}.name`),
    ...typeof description === 'string' && { description },
    inputSchema: argumentsSchema(parameters, `${at}.parameters`),
  }
}

/** A schema of arguments; what allows any is one of an object, which is all that models know. */
function argumentsSchema(given: unknown, at: string): ClientTool['inputSchema'] {
  if (given === false) return { type: 'object', properties: {}, additionalProperties: false }
  if (!isGiven(given) || given === true) return { type: 'object', properties: {} }
  if (!isRecord(given)) throw wrongParam(at, 'must be a JSON Schema: an object, true or false')
  return Object.keys(given).length === 0 ? { type: 'object', properties: {} } : given
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
  /** Messages, parts and calls that are none are passed over: a thread that has one goes on. */
  readonly isLenient?: true
}

interface MadeCall extends MadeToolCall {
  readonly at: string
  /** Its arguments, where they are no JSON object. */
  readonly broken: string | undefined
}

/** The calls that have one id. */
interface SameId {
  /** As text, each. */
  readonly texts: string[]
  readonly calls: MadeCall[]
  /** How many of them have their results, which come in their order. */
  done: number
}

/** A result, and the call that it is of. */
export interface CalledResult { readonly call: object; readonly result: ClientToolResult }

/**
 * Reads the messages of a chat in which tools were called, in order. What is cut or broken in them was so
 * before this request, and nobody can mend it: arguments that are no JSON stay text, and so does a result
 * without a call.
 */
export class ToolExchange {
  readonly #spelling: CallSpelling
  readonly #passed: PassedOver
  readonly #inner: InnerJson
  #calls: Map<string, SameId> | undefined

  constructor(spelling: CallSpelling, bounds: JsonBounds, passed: PassedOver) {
    this.#spelling = spelling
    this.#passed = passed
    this.#inner = new InnerJson(bounds)
  }

  /** An assistant's calls as text, one a line; '' where it has none. */
  calls(message: Members, at: string): string {
    const { calls: list, isFlat = false, isLenient = false } = this.#spelling
    const given = message[list]
    if (!isGiven(given)) return ''
    if (isLenient && !Array.isArray(given)) {
      this.#passed.add(`${at}.${list}`, 'is no list')
      return ''
    }
    const known = this.#calls ??= new Map()
    return listIn(given, `${at}.${list}`).flatMap((one, index) => {
      const call = this.#callOf(one, isFlat ? at : `${at}.${list}[${index}]`, isFlat)
      if (call === undefined) return []
      const text = `${call.name}(${call.broken ?? formatJson(call.args)})`
      const { texts, calls, done } = sameId(known, call.id)
      // One that still waits is told again, beside a reference to it for one.
      if (done === calls.length || texts.at(-1) !== text) {
        texts.push(text)
        calls.push(call)
      }
      return text
    }).join('\n')
  }

  /** A message of the role `tool`; undefined where it is of no call before it. */
  result(message: Members, content: string, at: string): CalledResult | undefined {
    const { callId } = this.#spelling
    const id = message[callId]
    const same = isCalled(id) ? this.#calls?.get(nameIn(id, `${at}.${callId}`)) : undefined
    if (same === undefined) {
      this.#passed.add(at, 'is the result of no call before it, and is only text')
      return undefined
    }
    const { calls, done } = same
    if (done < calls.length) same.done = done + 1
    else this.#passed.add(at, 'is one more result of its call, of which the last counts')
    const call = calls[same.done - 1]!
    return { call, result: { id: call.id, name: call.name, args: call.args, result: content } }
  }

  /** Calls of before need no result any more. */
  forget(): void { this.#calls = undefined }

  /** Throws a `Fault` where a call has no result, and the agent is to go on with it. */
  end(): void {
    for (const { calls, done } of this.#calls?.values() ?? []) {
      const call = calls[done]
      if (call === undefined) continue
      const id = show(call.id)
      throw wrongParam(call.at, this.#spelling.isFlat ? 'has a function_call without an output; add '
        + `{ "type": "function_call_output", "call_id": ${id}, "output": "…" } to the input, behind it`
        : `has no result; add { "role": "tool", "tool_call_id": ${id} }`)
    }
  }

  /** Undefined for one that is passed over. */
  #callOf(given: unknown, at: string, isFlat: boolean): MadeCall | undefined {
    const { id: asked, type, function: called, custom } = isRecord(given) ? given : {}
    if (typeof type === 'string' && type !== 'function' && ![called, custom].some(isRecord)) {
      return void this.#passed.add(at, 'is a call of a tool of another type')
    }
    // A tool without a schema, which only other servers call.
    const free = isRecord(custom) ? { name: custom['name'], arguments: { input: custom['input'] } } : {}
    const { name: wanted, arguments: written } = isRecord(called) ? called : free
    if (this.#spelling.isLenient && !(isCalled(asked) && isCalled(wanted))) {
      return void this.#passed.add(at, 'is a call without an id or a name')
    }
    const within = isFlat ? at : `${at}.function`
    const id = nameIn(asked, `${at}.${isFlat ? 'call_id' : 'id'}`)
    const name = nameIn(wanted, `${within}.name`)
    const call = { id, name, at, broken: undefined }
    if (isRecord(written)) return { ...call, args: written }
    const text = typeof written === 'string' ? written : formatJson(written) ?? ''
    const parsed = this.#inner.parse(text.trim() === '' ? '{}' : text)
    const value = parsed.ok ? parsed.value ?? {} : undefined
    if (isRecord(value)) return { ...call, args: value }
    const place = `${within}.arguments`
    if (!parsed.ok && parsed.isOverBounds) throw wrongParam(place, `must be smaller: ${parsed.why}`)
    this.#passed.add(place, 'is not the text of a JSON object, and stays text')
    return { ...call, args: {}, broken: text }
  }
}

function sameId(known: Map<string, SameId>, id: string): SameId {
  const same = known.get(id) ?? { texts: [], calls: [], done: 0 }
  known.set(id, same)
  return same
}

function isCalled(name: unknown): boolean { return name !== '' && typeof name === 'string' }

/** A result as a message of a history. */
export function resultMessage({ name, result }: Pick<ClientToolResult, 'name' | 'result'>): ChatMessage {
  return { role: 'assistant', content: `${name} returned: ${result}` }
}
