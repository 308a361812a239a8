/**
 * The calls of a client's tools among the messages of a chat, and what came of those since its last user
 * message. In earlier messages calls and results are text.
 */
import { isGiven, isRecord } from '../../kernel/define/content.ts'
import { show } from '../../kernel/define/validate.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { InnerJson } from '../bounds/parse-json.ts'
import { listIn, nameIn, wrongMember } from './members.ts'
import type { ChatMessage } from '../../kernel/define/call.ts'
import type { ClientToolResult } from '../../kernel/define/client-tool.ts'
import type { MadeToolCall } from '../answers/tool-calls.ts'
import type { JsonBounds } from '../bounds/parse-json.ts'
import type { PassedOver } from './passed-over.ts'

type Members = Readonly<Record<string, unknown>>

/** How a protocol spells calls and results. */
export interface CallSpelling {
  /** The member of an assistant's message that has its calls. */
  readonly calls: string
  /** The member of a result that names its call. */
  readonly callId: string
  /**
   * Where each call and result was an item of its own, with its members beside its type: the one that had
   * its id, for errors.
   */
  readonly flatId?: string
  /** Messages, parts and calls that are none are passed over: a thread that has one goes on. */
  readonly isLenient?: true
}

interface MadeCall extends MadeToolCall {
  readonly at: string
  /** As a message of a history has it. */
  readonly text: string
}

/** The calls that have one id. */
interface SameId {
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
    const { calls: list, flatId, isLenient = false } = this.#spelling
    const given = message[list]
    if (!isGiven(given)) return ''
    if (isLenient && !Array.isArray(given)) {
      this.#passed.add(`${at}.${list}`, 'is no list')
      return ''
    }
    const known = this.#calls ??= new Map()
    return listIn(given, `${at}.${list}`).flatMap((one, index) => {
      const call = this.#callOf(one, flatId === undefined ? `${at}.${list}[${index}]` : at)
      if (call === undefined) return []
      const { calls, done } = sameId(known, call.id)
      // One that still waits is told again, beside a reference to it for one.
      if (done === calls.length || calls.at(-1)?.text !== call.text) calls.push(call)
      return call.text
    }).join('\n')
  }

  /** A message of the role `tool`; undefined where it is of no call before it. */
  result(message: Members, content: string, at: string): CalledResult | undefined {
    const { callId, flatId = callId } = this.#spelling
    const id = message[callId]
    const same = isCalled(id) ? this.#calls?.get(nameIn(id, `${at}.${flatId}`)) : undefined
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
  end(demand: (id: string) => string): void {
    for (const { calls, done } of this.#calls?.values() ?? []) {
      const call = calls[done]
      if (call !== undefined) throw wrongMember(call.at, demand(show(call.id)))
    }
  }

  /** Undefined for one that is passed over. */
  #callOf(given: unknown, at: string): MadeCall | undefined {
    const { id: asked, type, function: called, custom } = isRecord(given) ? given : {}
    if (typeof type === 'string' && type !== 'function' && ![called, custom].some(isRecord)) {
      return void this.#passed.add(at, 'is a call of a tool of another type')
    }
    // One of a tool without a schema, which only other servers call.
    const free = isRecord(custom) ? { name: custom['name'], arguments: { input: custom['input'] } } : {}
    const { name: wanted, arguments: written } = isRecord(called) ? called : free
    const { flatId, isLenient = false } = this.#spelling
    if (isLenient && !(isCalled(asked) && isCalled(wanted))) {
      return void this.#passed.add(at, 'is a call without an id or a name')
    }
    const within = flatId === undefined ? `${at}.function` : at
    const id = nameIn(asked, `${at}.${flatId ?? 'id'}`)
    const name = nameIn(wanted, `${within}.name`)
    const call = (args: MadeToolCall['args'], shown = formatJson(args)): MadeCall => (
      { id, name, at, args, text: `${name}(${shown})` }
    )
    if (isRecord(written)) return call(written)
    const text = typeof written === 'string' ? written : formatJson(written) ?? ''
    const parsed = this.#inner.parse(text.trim() === '' ? '{}' : text)
    const value = parsed.ok ? parsed.value ?? {} : undefined
    if (isRecord(value)) return call(value)
    const place = `${within}.arguments`
    if (!parsed.ok && parsed.isOverBounds) throw wrongMember(place, `must be smaller: ${parsed.why}`)
    this.#passed.add(place, 'is not the text of a JSON object, and stays text')
    return call({}, text)
  }
}

function sameId(known: Map<string, SameId>, id: string): SameId {
  const same = known.get(id) ?? { calls: [], done: 0 }
  known.set(id, same)
  return same
}

function isCalled(name: unknown): boolean { return name !== '' && typeof name === 'string' }

/** A result as a message of a history. */
export function resultMessage({ name, result }: Pick<ClientToolResult, 'name' | 'result'>): ChatMessage {
  return { role: 'assistant', content: `${name} returned: ${result}` }
}
