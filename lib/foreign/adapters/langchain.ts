/** Runs agents of LangChain and graphs of LangGraph, versions 1, and reads what they return. */
import { randomUUID } from 'node:crypto'
import { askApproval, askFreely } from '../approval.ts'
import { GraphReader } from './graph-reader.ts'
import { earlierMessages, presentMessage } from '../message.ts'
import { readMember } from '../shape.ts'
import { runSteps } from '../steps.ts'
import { letEnd } from '../../util/thenable.ts'
import type { Call } from '../../define/call.ts'
import type { Adapter, Reader, Shown } from '../adapter.ts'
import type { GraphInterrupt } from './graph-reader.ts'
import type { AttachedFile } from '../message.ts'
import type { AgentStep } from '../steps.ts'

/** A graph, or an agent that has one. */
interface Theirs {
  readonly name?: unknown
  readonly graph?: Theirs
  readonly options?: { readonly name?: unknown; readonly systemPrompt?: unknown }
  readonly channels?: object
  /** `true` where it is part of another graph. */
  readonly checkpointer?: { deleteThread?(id: string): unknown } | boolean
  stream(input: object, config: object): Promise<AsyncIterable<object>>
}

/** What a run goes on from: its thread, and what its graph has asked. */
interface Asked { readonly thread: string; readonly interrupts: readonly GraphInterrupt[] }

/** By the ids of what was asked. */
type Answers = Readonly<Record<string, unknown>>

export const langchain: Adapter & Reader = {
  async* run(theirs, prompt, call) {
    const agent = theirs as Theirs
    const graph = agent.graph ?? agent
    const reader = new GraphReader(true)
    let thread = ''
    let [isAsking, hasShown] = [false, false]
    const isFunction = isEntrypoint(graph)
    async function* step(asked?: Asked, answers?: Answers): AgentStep<Asked> {
      // The history is the server's, so that each run has a thread of its own.
      thread = asked?.thread ?? randomUUID()
      isAsking = false
      const config = {
        streamMode: ['messages', 'updates', ...isFunction ? ['values'] : []],
        subgraphs: true, signal: call.signal,
        ...graph.checkpointer && { configurable: { thread_id: thread } },
      }
      const stream = answers === undefined
        ? await agent.stream({ messages: messagesFor(agent, prompt, call) }, config)
        : await graph.stream(Object.assign(new Command(), { resume: answers }), config)
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
      yield* runSteps(call, `langgraph ${name}`, step, async (asked): Promise<Answers> => {
        thread = asked.thread
        isAsking = true
        keepThread(graph, thread)
        const answers = asked.interrupts.map(async (one) => [one.id, await answerTo(one, call)])
        return Object.fromEntries(await Promise.all(answers)) as Answers
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
  const { text, files } = presentMessage(prompt, call)
  const content = files.length === 0 ? text : [{ type: 'text', text }, ...files.map(blockOfFile)]
  // Nobody knows what a graph by hand tells its models.
  const hasInstructions = agent.options === undefined || agent.options.systemPrompt !== undefined
  return [...earlierMessages(call, hasInstructions), { role: 'user', content }]
}

function blockOfFile({ mediaType, data, name = 'file' }: AttachedFile): object {
  if (mediaType.startsWith('image/')) {
    return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }
  }
  const type = mediaType.startsWith('audio/') ? 'audio' : 'file'
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
    const approvals = await askEach(id, actions, 'name', call)
    return { decisions: approvals.map((isApproved) => ({ type: isApproved ? 'approve' : 'reject' })) }
  }
  const requests = [value].flat().map((one) => readMember(one, 'action_request'))
  if (requests.includes(undefined)) return askFreely(call, id, value)
  const approvals = await askEach(id, requests, 'action', call)
  return approvals.map((isApproved) => ({ type: isApproved ? 'accept' : 'ignore', args: null }))
}

/** Whether each tool may run. `member` has its name. */
function askEach(
  id: string, actions: readonly unknown[], member: string, call: Call,
): Promise<readonly boolean[]> {
  return Promise.all(actions.map((action, at) => (
    askApproval(call, `${id}-${at}`, String(readMember(action, member)), readMember(action, 'args'))
  )))
}
