/**
 * Runs agents of Strands, and reads what they return. An agent holds one conversation: its runs come one
 * after the other, and each begins with what the author has given it.
 */
import { askEach, askFreely } from './shared/approval.ts'
import { earlierMessages, presentMessage } from './shared/message.ts'
import { itemsIn, readMember } from './shared/shape.ts'
import { runSteps } from './shared/steps.ts'
import { Paragraphs, sayThought, sayToolCall, sayToolResult, sayUsageOf } from './shared/work.ts'
import type { Call } from '../kernel/define/call.ts'
import type { Adapter, ReadResult, Reader, Shown } from '../kernel/define/adapters.ts'
import type { AttachedFile } from './shared/message.ts'
import type { PlainMembers } from './shared/shape.ts'
import type { AgentStep } from './shared/steps.ts'

/** All that changes in an agent while it runs, as JSON. */
interface Snapshot {
  readonly data: { readonly messages: readonly object[]; readonly systemPrompt?: unknown }
}

interface Theirs {
  readonly name: string
  takeSnapshot(options: object): Snapshot
  loadSnapshot(snapshot: object): void
  stream(input: readonly object[], options: object): AsyncGenerator<object, Result>
}

interface Result { readonly stopReason: string; readonly interrupts?: readonly AgentInterrupt[] }

/** What an agent or a tool of it asks. */
interface AgentInterrupt { readonly id: string; readonly name: string; readonly reason?: unknown }

/** What a run goes on from. */
interface Asked { readonly snapshot: Snapshot; readonly interrupts: readonly AgentInterrupt[] }

export const strands: Adapter & Reader = {
  run(theirs, prompt, call) {
    const agent = theirs as Theirs
    const read = makeReader()
    async function* step(asked?: Asked, responses: readonly unknown[] = []): AgentStep<Asked> {
      const endTurn = await waitForTurn(agent)
      let stream: AsyncGenerator<object, Result> | undefined
      try {
        call.signal.throwIfAborted()
        const { snapshot, input } = asked === undefined ? startOf(agent, prompt, call) : {
          snapshot: asked.snapshot,
          input: asked.interrupts.map(({ id }, at) => (
            { interruptResponse: { interruptId: id, response: responses[at] } }
          )),
        }
        agent.loadSnapshot(snapshot)
        stream = agent.stream(input, { cancelSignal: call.signal })
        for (;;) {
          const { done, value } = await stream.next()
          if (done === true && value.stopReason === 'interrupt') {
            return { snapshot: agent.takeSnapshot(WHOLE), interrupts: value.interrupts ?? [] }
          }
          // The result itself comes behind it.
          const isRead = readMember(value, 'type') !== 'agentResultEvent'
          const shown = isRead ? read(value, call) : undefined
          if (shown !== undefined) yield shown
          if (done === true) return undefined
        }
      } finally {
        await stream?.return(undefined as never)
        endTurn()
      }
    }
    return runSteps(call, `strands ${agent.name}`, step, ({ interrupts }) => (
      askEach(interrupts, ({ id, name, reason = name }) => askFreely(call, id, reason))
    ))
  },
  makeReader,
}

const WHOLE = { preset: 'session' }

/** The end of the last run of each agent, which may still be waited for. */
const turns = new WeakMap<Theirs, Promise<void>>()

/** Waits until no other run of the agent goes on; returns what ends this one. */
async function waitForTurn(agent: Theirs): Promise<() => void> {
  const before = turns.get(agent)
  let end = (): void => {}
  turns.set(agent, new Promise((resolve) => { end = resolve }))
  await before
  return end
}

/** Each agent as its author has made it. */
const originals = new WeakMap<Theirs, Snapshot>()

/** The agent as it was made, with a conversation's earlier messages behind its own; and the present one. */
function startOf(agent: Theirs, prompt: string, call: Call): {
  readonly snapshot: Snapshot
  readonly input: readonly object[]
} {
  const original = originals.get(agent) ?? agent.takeSnapshot(WHOLE)
  originals.set(agent, original)
  const { messages, systemPrompt } = original.data
  const hasInstructions = systemPrompt !== undefined && systemPrompt !== null
  const earlier = earlierMessages(call, hasInstructions)
  const system = earlier.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n\n')
  const { text: present, files } = presentMessage(prompt, call)
  const input = [...present === '' ? [] : [{ text: present }], ...files.map(blockOfFile)]
  const history: { readonly role: string; readonly content: object[] }[] = []
  for (const { role, content: text } of earlier) {
    if (role === 'system' || text === '') continue
    // Some models take no two messages of one role.
    if (history.at(-1)?.role === role) history.at(-1)?.content.push({ text })
    else history.push({ role, content: [{ text }] })
  }
  if (history.at(-1)?.role === 'user') input.unshift(...history.pop()?.content ?? [])
  const data = { ...original.data, messages: [...messages, ...history] }
  return { snapshot: { ...original, data: system === '' ? data : { ...data, systemPrompt: system } }, input }
}

function blockOfFile({ mediaType, data, name }: AttachedFile): object {
  const type = mediaType.toLowerCase()
  const [, kind = '', subtype = ''] = /^(\w+)\/(?:x-)?([\w.+-]+)/.exec(type) ?? []
  const source = { bytes: new Uint8Array(Buffer.from(data, 'base64')) }
  const format = formats.get(type) ?? subtype
  if (/^(?:image|audio|video)$/.test(kind)) return { [kind]: { format, source } }
  // A name is letters, digits, single spaces, hyphens and brackets (Bedrock).
  const plain = name?.replace(/\.\w+$/, '').replace(/ {2,}|[^a-z\d ()[\]-]+/gi, '-')
  return { document: { name: plain || 'file', format, source } }
}

/** Formats whose name is not in their media type. */
const formats: ReadonlyMap<string, string> = new Map([
  ['text/plain', 'txt'], ['text/markdown', 'md'], ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['video/quicktime', 'mov'], ['video/x-matroska', 'mkv'], ['video/3gpp', '3gp'],
])

/** A tool that only gives an answer its form. */
const FORM = 'strands_structured_output'

/** Reads a whole result, or the events of a run and the result behind them, each text once. */
function makeReader(): ReadResult {
  const paragraphs = new Paragraphs()
  const calls = new Set<unknown>()
  let answers = 0
  let [hasEvents, hasText] = [false, false]

  const readModel = (event: unknown, call: Call): string | undefined => {
    const { type, delta, usage } = event as PlainMembers
    if (type === 'modelMessageStartEvent') answers++
    readUsage(usage, call)
    const kind = readMember(delta, 'type')
    const text = readMember(delta, 'text')
    if (typeof text !== 'string' || text === '') return undefined
    if (kind === 'reasoningContentDelta') sayThought(call, text)
    if (kind !== 'textDelta') return undefined
    hasText = true
    return paragraphs.next(answers, text)
  }

  const beginTool = (tool: unknown, call: Call): void => {
    const { toolUseId: id, name, input } = tool as PlainMembers
    // One that was asked for begins again with its answer.
    if (calls.has(id) || name === FORM) return
    calls.add(id)
    sayToolCall(call, id, name, input)
  }

  const endTool = (tool: unknown, result: unknown, call: Call): void => {
    const { toolUseId: id, name } = tool as PlainMembers
    if (name === FORM) return
    const isError = readMember(result, 'status') === 'error'
    sayToolResult(call, id, name, resultIn(readMember(result, 'content')), isError)
  }

  const readResult = (result: object, call: Call): Shown | undefined => {
    const { stopReason, structuredOutput: data, metrics } = result as PlainMembers
    if (stopReason === 'cancelled') throw new Error('The run of an agent was cancelled')
    if (stopReason === 'interrupt') {
      throw new TypeError('An agent has asked something, and only itself can go on from there; '
        + 'give it as it is, in agents: [agent]')
    }
    if (!hasEvents) readUsage(readMember(readMember(metrics, 'latestAgentInvocation'), 'usage'), call)
    hasEvents = true
    if (data !== undefined) return { data }
    // Its class writes the text of its last message.
    const text = hasText ? '' : String(result)
    hasText = true
    return text
  }

  /** Of a graph or a swarm: what its last agent has said. */
  const readGroup = (group: object, call: Call): Shown | undefined => {
    const { status, content, results, usage, error } = group as PlainMembers
    if (status !== 'COMPLETED') {
      const errors = [error, ...itemsIn(results).map((one) => readMember(one, 'error'))]
      throw errors.find((one) => one !== undefined) ?? new Error(`A group of agents has ended as ${status}`)
    }
    if (!hasEvents) readUsage(usage, call)
    hasEvents = true
    const text = hasText ? '' : String(resultIn(content))
    hasText = true
    return text
  }

  const read: ReadResult = (value, call) => {
    const { type, event, toolUse, result, inner } = value as PlainMembers
    if (type === 'agentResult') return readResult(value, call)
    if (type === 'agentResultEvent') return readResult(Object(result), call)
    if (type === 'multiAgentResult') return readGroup(value, call)
    if (type === 'multiAgentResultEvent') return readGroup(Object(result), call)
    hasEvents = true
    if (type === 'nodeStreamUpdateEvent') {
      const said = readMember(inner, 'event')
      if (readMember(said, 'type') !== 'agentResultEvent') read(Object(said), call)
      // Which agent is the last is known at the end.
      hasText = false
    }
    if (type === 'modelStreamUpdateEvent') return readModel(event, call)
    if (type === 'beforeToolCallEvent') beginTool(toolUse, call)
    if (type === 'afterToolCallEvent') endTool(toolUse, result, call)
    return undefined
  }
  return read
}

/** What a tool has returned: its texts, or its data where there is one alone. */
function resultIn(content: unknown): unknown {
  const blocks = itemsIn(content)
  const [only] = blocks
  if (blocks.length === 1 && readMember(only, 'json') !== undefined) return readMember(only, 'json')
  return blocks.map((block) => readMember(block, 'text') ?? '').join('')
}

function readUsage(usage: unknown, call: Call): void {
  sayUsageOf(call, usage, 'inputTokens', 'outputTokens', 'cacheReadInputTokens')
}
