/** Runs agents of LangChain and graphs of LangGraph, versions 1, and reads what they return. */
import { randomUUID } from 'node:crypto'
import { askApproval, askEach, askFreely } from './shared/approval.ts'
import { earlierMessages, withPresent } from './shared/message.ts'
import { itemsIn, readJson, readMember } from './shared/shape.ts'
import { runSteps } from './shared/steps.ts'
import { Paragraphs, sayThought, sayToolCall, sayToolResult, sayUsageOf } from './shared/work.ts'
import { letEnd } from '../kernel/util/thenable.ts'
import { formatJson } from '../kernel/wire/json.ts'
import { mainTypeOf } from '../kernel/wire/media.ts'
import type { Call } from '../kernel/define/call.ts'
import type { Adapter, Reader, Shown } from '../kernel/define/adapters.ts'
import type { AttachedFile } from './shared/message.ts'
import type { PlainMembers } from './shared/shape.ts'
import type { AgentStep } from './shared/steps.ts'

/** A graph, or an agent that has one. */
interface Theirs {
  readonly name?: unknown
  readonly graph?: Theirs
  readonly options?: { readonly name?: unknown; readonly systemPrompt?: unknown }
  readonly channels?: object
  /** `true` where it is part of another graph. */
  readonly checkpointer?: { deleteThread?(id: string): unknown } | boolean
  stream(input: object, config: object): Promise<AsyncIterable<object>>
  getState?(config: object): Promise<object>
}

/** What a run goes on from: its thread, and what its graph has asked. */
interface Asked { readonly thread: string; readonly interrupts: readonly GraphInterrupt[] }

export const langchain: Adapter & Reader = {
  async* run(theirs, prompt, call) {
    const agent = theirs as Theirs
    const graph = agent.graph ?? agent
    const reader = new GraphReader(true)
    let thread = ''
    let [isAsking, hasShown] = [false, false]
    const isFunction = isEntrypoint(graph)
    async function* step(asked?: Asked, answers: readonly unknown[] = []): AgentStep<Asked> {
      // The history is the server's, so that each run has a thread of its own.
      thread = asked?.thread ?? randomUUID()
      isAsking = false
      const config = {
        streamMode: ['messages', 'updates', ...isFunction ? ['values'] : []],
        subgraphs: true, signal: call.signal,
        ...graph.checkpointer && { configurable: { thread_id: thread } },
      }
      const pending = asked && await pendingIn(graph, config)
      const resume = asked && answersTo(pending ?? asked.interrupts, asked.interrupts, answers)
      // Another run of the thread has gone on: what it waits for now has not been asked here.
      if (pending !== undefined && resume?.length === 0) return { thread, interrupts: pending }
      const stream = resume === undefined
        ? await agent.stream({ messages: messagesFor(agent, prompt, call) }, config)
        : await graph.stream(Object.assign(new Command(), { resume: Object.fromEntries(resume) }), config)
      for await (const piece of stream) {
        const returned = isFunction ? returnedIn(piece) : undefined
        // It may return the text that came before, piece by piece.
        if (typeof returned === 'string' && hasShown) continue
        const shown = returned ?? reader.read(piece, call)
        if (shown === undefined) continue
        hasShown = true
        yield shown
      }
      const interrupts = reader.takeInterrupts()
      // A tool whose result is the answer.
      if (interrupts.length === 0 && !hasShown) yield reader.lastText
      return interrupts.length === 0 ? undefined : { thread, interrupts }
    }
    try {
      const name = String(agent.options?.name ?? graph.name)
      yield* runSteps(call, `langgraph ${name}`, step, (asked) => {
        thread = asked.thread
        isAsking = true
        keepThread(graph, thread)
        return askEach(asked.interrupts, (one) => answerTo(one, call))
      })
    } finally {
      // What is still asked may be answered after this run.
      if (!isAsking || !call.signal.aborted) endThread(graph, thread)
    }
  },
  makeReader() {
    const reader = new GraphReader()
    return (value, call) => {
      const shown = reader.read(value, call)
      if (reader.takeInterrupts().length === 0) return shown
      throw new TypeError('A graph has asked something, and only the graph itself can go on from there; '
        + 'give it as it is, in agents: [graph]')
    }
  },
}

/** What a thread waits for; undefined where its graph cannot tell, or finds nothing. */
async function pendingIn(graph: Theirs, config: object): Promise<readonly GraphInterrupt[] | undefined> {
  const state = await graph.getState?.(config)
  if (state === undefined) return undefined
  const tasks = itemsIn(readMember(state, 'tasks'))
  const all = tasks.flatMap((task) => itemsIn(readMember(task, 'interrupts'))) as readonly GraphInterrupt[]
  return all.length === 0 ? undefined : all.map(({ id, value }) => ({ id, value }))
}

/** The answers to what waits, by its ids: an id may stand for another question by now. */
function answersTo(
  pending: readonly GraphInterrupt[], asked: readonly GraphInterrupt[], answers: readonly unknown[],
): readonly (readonly [id: string, answer: unknown])[] {
  const places = new Map<string, number>()
  for (const [at, one] of asked.entries()) {
    const text = textOfInterrupt(one)
    if (!places.has(text)) places.set(text, at)
  }
  return pending.flatMap((one) => {
    const at = places.get(textOfInterrupt(one))
    return at === undefined ? [] : [[one.id, answers[at]] as const]
  })
}

function textOfInterrupt({ id, value }: GraphInterrupt): string {
  return formatJson([id, value])
}

/** What a graph goes on from; it knows one by `lg_name`, and by a class of any kind. */
class Command { readonly lg_name = 'Command' }

/** Where nobody ever answers, a checkpointer would grow without end. */
const MAX_WAITING = 1_000

/** The threads of each graph that wait for an answer; of too many the oldest ends. */
const waiting = new WeakMap<Theirs, Set<string>>()

function keepThread(graph: Theirs, thread: string): void {
  const threads = waiting.get(graph) ?? new Set()
  waiting.set(graph, threads)
  threads.delete(thread)
  threads.add(thread)
  const [oldest] = threads
  if (threads.size > MAX_WAITING && oldest !== undefined) endThread(graph, oldest)
}

function endThread(graph: Theirs, thread: string): void {
  waiting.get(graph)?.delete(thread)
  const { checkpointer } = graph
  if (typeof checkpointer !== 'object' || thread === '') return
  letEnd(() => checkpointer.deleteThread?.(thread))
}

function messagesFor(agent: Theirs, prompt: string, call: Call): readonly object[] {
  // Nobody knows what a graph by hand tells its models.
  const hasInstructions = agent.options === undefined || agent.options.systemPrompt !== undefined
  return withPresent(earlierMessages(call, hasInstructions), prompt, call, blockOfFile)
}

function blockOfFile({ mediaType, data, name = 'file' }: AttachedFile): object {
  if (mainTypeOf(mediaType) === 'image') {
    return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }
  }
  const type = mainTypeOf(mediaType) === 'audio' ? 'audio' : 'file'
  return { type, source_type: 'base64', mime_type: mediaType, data, metadata: { filename: name } }
}

/** Whether it is a function that is run as a graph (`entrypoint`): it may return anything. */
function isEntrypoint({ channels }: Theirs): boolean {
  return readMember(channels, '__previous__') !== undefined
}

/** What an `entrypoint` returned, where that is no message: a text, or data. */
function returnedIn(piece: object): Shown | undefined {
  const [place, mode, value] = piece as readonly unknown[]
  if (mode !== 'values' || !Array.isArray(place) || place.length > 0) return undefined
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return undefined
  return 'messages' in value || 'lc_kwargs' in value ? undefined : { data: value }
}

/** The answer to what a graph asks: as LangChain's middleware, LangGraph's inbox or the author expects it. */
async function answerTo({ id, value }: GraphInterrupt, call: Call): Promise<unknown> {
  const actions = readMember(value, 'actionRequests')
  if (Array.isArray(actions)) {
    const approvals = await askActions(id, actions, 'name', call)
    return { decisions: approvals.map((isApproved) => ({ type: isApproved ? 'approve' : 'reject' })) }
  }
  const requests = [value].flat().map((one) => readMember(one, 'action_request'))
  if (requests.includes(undefined)) return askFreely(call, id, value)
  const approvals = await askActions(id, requests, 'action', call)
  return approvals.map((isApproved) => ({ type: isApproved ? 'accept' : 'ignore', args: null }))
}

/** Whether each tool may run. `member` has its name. */
function askActions(
  id: string, actions: readonly unknown[], member: string, call: Call,
): Promise<readonly boolean[]> {
  return Promise.all(actions.map((action, at) => (
    askApproval(call, `${id}-${at}`, String(readMember(action, member)), readMember(action, 'args'))
  )))
}

/** A tool that only gives an answer its form. */
const FORMS = /^extract-\d+$/

/** What a graph asks: `interrupt(value)`. */
interface GraphInterrupt { readonly id: string; readonly value: unknown }

/**
 * Reads what agents of LangChain and graphs of LangGraph return and stream: messages, pieces of them, states,
 * updates, events, in every mode and in several at once. The text of a message is shown once.
 */
class GraphReader {
  /** Whether messages come in pieces: then their texts and tokens are not read from states and updates. */
  #hasPieces: boolean
  #hasStates = false
  readonly #paragraphs = new Paragraphs()
  readonly #tools = new GraphTools()
  /** Messages that were read whole. */
  readonly #seen = new Set<unknown>()
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
    const { messages, event, lc_kwargs: isMessage } = value as PlainMembers
    if (isMessage !== undefined) return this.#readPiece(value, undefined, call)
    if (Array.isArray(messages)) return this.#readState(value, call)
    if (typeof event === 'string') return this.#readEvent(event, value as PlainMembers, call)
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
    if (type === 'tool') this.#isNextNotice = this.#tools.end(message, call) ?? this.#isNextNotice
    if (type !== 'ai') return
    sayUsageOf(call, readMember(message, 'usage_metadata'), 'input_tokens', 'output_tokens',
      'input_token_details.cache_read', 'output_token_details.reasoning')
    sayThought(call, reasoningIn(message))
    if (!this.#hasPieces || !this.#tools.addPieces(message)) this.#tools.begin(message, call)
  }

  #readState(state: object, call: Call): Shown | undefined {
    this.#addInterrupts(readMember(state, '__interrupt__'))
    const fresh = freshIn(itemsIn(readMember(state, 'messages')))
    for (const one of fresh.slice(0, -1)) this.#readNew(one, call, () => this.#readWork(one, call))
    // Its answer is its last message; a tool has the last word only in one that is no step of a stream.
    const text = this.#readAll(fresh.slice(-1), call)
    const isWhole = !this.#hasPieces && !this.#hasStates
    this.#hasStates = true
    const isLastWord = isWhole && typeOfMessage(fresh.at(-1)) === 'tool' && !this.#isNextNotice
    return shownOf(isLastWord ? this.lastText : text, state)
  }

  /** What the nodes of a graph have changed, by their names. */
  #readUpdates(updates: object, call: Call): Shown | undefined {
    let text = ''
    let state: unknown
    for (const [node, update] of Object.entries(updates) as [string, unknown][]) {
      if (node === '__interrupt__') this.#addInterrupts(update)
      for (const change of [update].flat()) {
        const messages = readMember(change, 'messages') ?? (isOfLangchain(change) ? change : [])
        text += this.#readAll(freshIn([messages].flat()), call)
        if (readMember(change, 'structuredResponse') !== undefined) state = change
      }
    }
    return shownOf(text, state)
  }

  /** The text of messages that have not been read yet. */
  #readAll(messages: readonly unknown[], call: Call): string {
    return messages.map((one) => this.#readNew(one, call, () => this.#readMessage(one, call)) ?? '').join('')
  }

  #readNew<T>(message: unknown, call: Call, read: () => T): T | undefined {
    this.lastText = textOfMessage(message)
    if (this.#hasPieces && typeOfMessage(message) === 'ai' && isOfLangchain(message)) {
      this.#tools.begin(message, call)
      return undefined
    }
    const key = readMember(message, 'id') ?? message
    if (this.#seen.has(key)) return undefined
    this.#seen.add(key)
    return read()
  }

  /** Events of a run (`streamEvents`). */
  #readEvent(event: string, { run_id: id, data, metadata }: PlainMembers, call: Call): Shown | undefined {
    if (event === 'on_chat_model_stream') {
      this.#seen.add(id)
      return this.#readPiece(readMember(data, 'chunk'), metadata ?? {}, call)
    }
    const output = readMember(data, 'output')
    if (event === 'on_chat_model_end' && !this.#seen.has(id)) {
      return this.#readPiece(output, metadata ?? {}, call)
    }
    if (event === 'on_chat_model_end') this.#tools.begin(output, call)
    if (event === 'on_tool_end' && typeOfMessage(output) === 'tool') this.#tools.end(output, call)
    return event === 'on_chain_end' ? shownOf(undefined, output) : undefined
  }

  #addInterrupts(interrupts: unknown): void {
    for (const { id, value } of itemsIn(interrupts) as readonly GraphInterrupt[]) {
      // A graph within a graph says it too.
      this.#interrupts.set(textOfInterrupt({ id, value }), { id, value })
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

/** The calls of tools in messages, whole or in pieces: each begins once and ends once. */
class GraphTools {
  readonly #begun = new Set<string>()
  readonly #ended = new Set<unknown>()
  /** Calls that come in pieces. */
  readonly #pieces = new Map<string, { readonly id: string; readonly name: string; args: string }>()

  /** The calls in a whole message. */
  begin(message: unknown, call: Call): void {
    for (const { id, name, args } of itemsIn(readMember(message, 'tool_calls')) as readonly PlainMembers[]) {
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

/** Whether it is an object of theirs, and none that says its role. */
function isOfLangchain(value: unknown): boolean {
  return readMember(value, 'lc_kwargs') !== undefined
}

const roles: Readonly<Record<string, string>> = { assistant: 'ai', user: 'human' }

/** `human`, `ai`, `tool` or another; of plain objects too. */
function typeOfMessage(message: unknown): unknown {
  const role = readMember(message, 'role')
  if (typeof role === 'string') return roles[role] ?? role
  const type = readMember(message, 'type') ?? readMember(message, '_getType')
  return typeof type === 'function' ? type.call(message) as unknown : type
}

function textOfMessage(message: unknown): string {
  const text = readMember(message, 'text')
  if (typeof text === 'string') return text
  const content = readMember(message, 'content')
  if (!Array.isArray(content)) return typeof content === 'string' ? content : ''
  return content.map((block) => readMember(block, 'text') ?? '').join('')
}

function reasoningIn(message: unknown): string {
  const content = readMember(message, 'content')
  const thought = readMember(readMember(message, 'additional_kwargs'), 'reasoning_content')
  if (!Array.isArray(content)) return typeof thought === 'string' ? thought : ''
  const texts = content.map((block) => readMember(block, 'reasoning') ?? readMember(block, 'thinking'))
  return texts.map((one) => one ?? '').join('')
}
