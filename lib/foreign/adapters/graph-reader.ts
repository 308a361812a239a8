/**
 * Reads what agents of LangChain and graphs of LangGraph return and stream: messages, pieces of them, states,
 * updates, events, in every mode and in several at once. The text of a message is shown once.
 */
import {
  isOfLangchain, jsonIn, reasoningIn, textOfMessage, typeOfMessage, usageIn,
} from './langchain-message.ts'
import { Paragraphs } from '../paragraphs.ts'
import { readMember } from '../shape.ts'
import type { Call } from '../../define/call.ts'
import type { Shown } from '../adapter.ts'

/** What a graph asks: `interrupt(value)`. */
export interface GraphInterrupt { readonly id: string; readonly value: unknown }

type Members = Readonly<Record<string, unknown>>

/** A call of a tool, as it comes in pieces. */
interface Fragment { readonly id: string; readonly name: string; args: string }

/** A tool that only gives an answer its form. */
const FORMS = /^extract-\d+$/

export class GraphReader {
  /** Whether messages come in pieces: then their texts and tokens are not read from states and updates. */
  #hasPieces: boolean
  readonly #paragraphs = new Paragraphs()
  /** Messages that were read whole, and the ends of calls of tools. */
  readonly #seen = new Set<unknown>()
  /** Calls of tools that have begun. */
  readonly #calls = new Set<string>()
  readonly #fragments = new Map<string, Fragment>()
  readonly #interrupts = new Map<string, GraphInterrupt>()
  /** The text of the last message of an agent or a tool. */
  lastText = ''
  /** The next message only says that the answer has its form. */
  #isNextNotice = false

  constructor(hasPieces = false) {
    this.#hasPieces = hasPieces
  }

  read(value: object, call: Call): Shown | undefined {
    if (!Array.isArray(value)) return this.#readObject(value, call)
    const [first, second, third] = value as readonly unknown[]
    // Those of graphs within the graph begin with their place.
    if (Array.isArray(first)) {
      return value.length === 3 ? this.#readMode(second, third, call) : this.read(Object(second), call)
    }
    if (typeof first === 'string') return this.#readMode(first, second, call)
    return this.#readPiece(first, second, call)
  }

  /** What was asked and is not answered yet. */
  takeInterrupts(): readonly GraphInterrupt[] {
    const all = [...this.#interrupts.values()]
    this.#interrupts.clear()
    return all
  }

  #readMode(mode: unknown, chunk: unknown, call: Call): Shown | undefined {
    if (typeof chunk !== 'object' || chunk === null) return undefined
    if (mode === 'messages' && Array.isArray(chunk)) return this.#readPiece(chunk[0], chunk[1], call)
    if (mode === 'updates') return this.#readUpdates(chunk, call)
    return mode === 'values' ? this.#readState(chunk, call) : undefined
  }

  #readObject(value: object, call: Call): Shown | undefined {
    const { messages, event, lc_kwargs: isMessage } = value as Members
    if (isMessage !== undefined) return this.#readPiece(value, undefined, call)
    if (Array.isArray(messages)) return this.#readState(value, call)
    if (typeof event === 'string') return this.#readEvent(event, value as Members, call)
    return this.#readUpdates(value, call)
  }

  /** A message, or a piece of one. */
  #readPiece(message: unknown, meta: unknown, call: Call): string | undefined {
    this.#hasPieces ||= meta !== undefined
    return this.#readMessage(message, call, readMember(meta, 'langgraph_checkpoint_ns'))
  }

  /** `place` is that of the graph's node which it comes from. */
  #readMessage(message: unknown, call: Call, place?: unknown): string | undefined {
    this.#readWork(message, call)
    if (typeOfMessage(message) !== 'ai') return undefined
    const isNotice = this.#isNextNotice
    this.#isNextNotice = false
    // What an agent says to a tool, it does not say to the user.
    if (isNotice || /^tools:/.test(String(place))) return undefined
    return this.#paragraphs.next(readMember(message, 'id') ?? message, textOfMessage(message)) || undefined
  }

  /** Tokens, reasoning, calls of tools and their ends. */
  #readWork(message: unknown, call: Call): void {
    const type = typeOfMessage(message)
    if (type === 'tool') this.#endCall(message, call)
    if (type !== 'ai') return
    const usage = readMember(message, 'usage_metadata')
    if (usage !== undefined) call.event({ type: 'usage', ...usageIn(usage) })
    const text = reasoningIn(message)
    if (text !== '') call.event({ type: 'reasoning', text })
    const pieces = readMember(message, 'tool_call_chunks')
    if (Array.isArray(pieces) && this.#hasPieces) {
      for (const piece of pieces) this.#addFragment(readMember(message, 'id'), piece as Members)
    } else {
      this.#beginCalls(message, call)
    }
  }

  #beginCalls(message: unknown, call: Call): void {
    const calls = readMember(message, 'tool_calls')
    if (!Array.isArray(calls)) return
    for (const one of calls) {
      const { id, name, args } = one as Members
      this.#beginCall(String(id ?? name), String(name), args, call)
    }
  }

  #beginCall(id: string, name: string, args: unknown, call: Call): void {
    if (this.#calls.has(id)) return
    this.#calls.add(id)
    if (!FORMS.test(name)) call.event({ type: 'tool-call', id, name, args })
  }

  #addFragment(message: unknown, { id, name, args = '', index }: Members): void {
    const key = `${message} ${index}`
    const known = this.#fragments.get(key)
    if (typeof id === 'string' && known?.id !== id) {
      this.#fragments.set(key, { id, name: String(name), args: String(args) })
    } else if (known !== undefined) {
      known.args += String(args)
    }
  }

  #endCall(message: unknown, call: Call): void {
    const { tool_call_id: id, name, status } = message as Members
    for (const one of this.#fragments.values()) {
      if (one.id === id) this.#beginCall(one.id, one.name, jsonIn(one.args), call)
    }
    if (this.#seen.has(id)) return
    this.#seen.add(id)
    this.#isNextNotice = FORMS.test(String(name))
    if (this.#isNextNotice) return
    call.event({
      type: 'tool-result', id: String(id), name: typeof name === 'string' && name !== '' ? name : undefined,
      result: textOfMessage(message), isError: status === 'error',
    })
  }

  #readState(state: object, call: Call): Shown | undefined {
    this.#addInterrupts(readMember(state, '__interrupt__'))
    const messages = readMember(state, 'messages')
    const fresh = freshIn(Array.isArray(messages) ? messages : [])
    for (const one of fresh.slice(0, -1)) this.#readNew(one, call, () => this.#readWork(one, call))
    // Its answer is its last message.
    return shownOf(this.#readAll(fresh.slice(-1), call), state)
  }

  /** What the nodes of a graph have changed, by their names. */
  #readUpdates(updates: object, call: Call): Shown | undefined {
    let shown: Shown | undefined
    for (const [node, update] of Object.entries(updates) as [string, unknown][]) {
      if (node === '__interrupt__') this.#addInterrupts(update)
      for (const change of [update].flat()) {
        const messages = readMember(change, 'messages') ?? (isOfLangchain(change) ? change : [])
        shown = shownOf(this.#readAll(freshIn([messages].flat()), call), change) ?? shown
      }
    }
    return shown
  }

  /** The text of messages that have not been read yet. */
  #readAll(messages: readonly unknown[], call: Call): string {
    return messages.map((one) => this.#readNew(one, call, () => this.#readMessage(one, call)) ?? '').join('')
  }

  #readNew<T>(message: unknown, call: Call, read: () => T): T | undefined {
    this.lastText = textOfMessage(message)
    if (this.#hasPieces && typeOfMessage(message) === 'ai' && isOfLangchain(message)) {
      this.#beginCalls(message, call)
      return undefined
    }
    const key = readMember(message, 'id') ?? message
    if (this.#seen.has(key)) return undefined
    this.#seen.add(key)
    return read()
  }

  /** Events of a run (`streamEvents`). */
  #readEvent(event: string, { run_id: id, data, metadata }: Members, call: Call): Shown | undefined {
    if (event === 'on_chat_model_stream') {
      this.#seen.add(id)
      return this.#readPiece(readMember(data, 'chunk'), metadata ?? {}, call)
    }
    const output = readMember(data, 'output')
    if (event === 'on_chat_model_end' && !this.#seen.has(id)) {
      return this.#readPiece(output, metadata ?? {}, call)
    }
    if (event === 'on_chat_model_end') this.#beginCalls(output, call)
    if (event === 'on_tool_end' && typeOfMessage(output) === 'tool') this.#endCall(output, call)
    return event === 'on_chain_end' ? shownOf(undefined, output) : undefined
  }

  #addInterrupts(interrupts: unknown): void {
    if (!Array.isArray(interrupts)) return
    for (const one of interrupts) {
      const { id, value } = one as GraphInterrupt
      this.#interrupts.set(id, { id, value })
    }
  }
}

/** The messages behind the last one of a user: those before are the history. */
function freshIn(messages: readonly unknown[]): readonly unknown[] {
  return messages.slice(messages.findLastIndex((one) => typeOfMessage(one) === 'human') + 1)
}

/** A text, and the answer for machines that a state has. */
function shownOf(text: string | undefined, state: unknown): Shown | undefined {
  const data = readMember(state, 'structuredResponse')
  if (data === undefined) return text || undefined
  return { ...text !== '' && { text }, data }
}
