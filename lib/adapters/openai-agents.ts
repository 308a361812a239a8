/** Runs agents of the OpenAI Agents SDK by what they are as a tool, and reads what its `run` gives. */
import { mainTypeOf } from '../kernel/wire/media.ts'
import { askApprovals } from './shared/approval.ts'
import { earlierMessages, withPresent } from './shared/message.ts'
import { itemsIn, readJson, readMember } from './shared/shape.ts'
import { runSteps } from './shared/steps.ts'
import {
  countIn, Paragraphs, ResponseThoughts, sayThought, sayToolCall, sayToolResult, sayUsage,
} from './shared/work.ts'
import type { Call } from '../kernel/define/call.ts'
import type { Adapter, ReadResult, Reader, Shown } from '../kernel/define/adapters.ts'
import type { Approvals, ShownCall } from './shared/approval.ts'
import type { AttachedFile } from './shared/message.ts'
import type { PlainMembers } from './shared/shape.ts'
import type { AgentStep } from './shared/steps.ts'

interface Theirs {
  readonly name: string
  readonly instructions?: unknown
  asTool(options: object): { invoke(context: undefined, input: string, details: object): Promise<unknown> }
}

/** A call of a tool that must be approved. */
interface Interruption {
  readonly name: string
  readonly arguments?: string
  readonly rawItem: { readonly callId?: string; readonly id?: string }
}

interface Result {
  readonly interruptions: readonly Interruption[]
  readonly state: {
    approve(one: Interruption): void
    reject(one: Interruption): void
    toString(): string
  }
}

/** A call of a tool that waits: of one tool they are told apart by `callId`. */
interface Waiting extends ShownCall { readonly callId: string }

/** What a run goes on from: its state, and what waits for an approval. */
interface Asked { readonly state: string; readonly waiting: readonly Waiting[] }

export const openaiAgents: Adapter & Reader = {
  run(theirs, prompt, call) {
    const agent = theirs as Theirs
    const read = makeReader()
    async function* step(asked?: Asked, approvals?: Approvals): AgentStep<Asked> {
      const input = itemsFor(agent, prompt, call)
      const state = asked && approvals && await decide(agent, asked.state, approvals, call)
      const result = yield* runOnce(agent, call, input, state, read)
      if (result.interruptions.length === 0) {
        const shown = read(result, call)
        if (shown !== undefined) yield shown
        return undefined
      }
      return { state: result.state.toString(), waiting: result.interruptions.map(waitingOf) }
    }
    return runSteps(call, `openai ${agent.name}`, step, ({ waiting }) => (
      askApprovals(call, waiting, ({ callId }) => `approve-${callId}`)
    ))
  },
  makeReader,
}

/** Runs it until it has an answer or asks for approvals. `state`: of an earlier run, to go on from. */
async function* runOnce(
  agent: Theirs, call: Call, input: readonly object[], state: string | undefined, read: ReadResult,
): AsyncGenerator<Shown, Result> {
  // A writer waits until its reader has caught up.
  const { readable, writable } = new TransformStream<object, object>()
  const writer = writable.getWriter()
  let result: Result | undefined
  let failure: unknown
  const policy = ({ error }: { readonly error: unknown }): boolean => {
    failure = error
    return false
  }
  const tool = agent.asTool({
    toolName: 'run', toolDescription: '', inputBuilder: () => input, onStreamMaxPendingEvents: null,
    onStream: ({ event }: { readonly event: object }) => writer.write(event),
    customOutputExtractor: (whole: Result) => {
      result = whole
      return ''
    },
    // A policy is asked for each error of the model, and never tries again; the agent's own comes before it.
    runConfig: { modelSettings: { retry: { maxRetries: 1, policy } } },
  })
  const ended = tool.invoke(undefined, '{"input":""}', { signal: call.signal, resumeState: state })
  const closed = ended.finally(() => writer.close().catch(() => {}))
  closed.catch(() => {})
  for await (const event of readable) {
    const shown = read(event, call)
    if (shown !== undefined) yield shown
  }
  await closed
  if (result !== undefined) return result
  // As a tool it says no more than that it has failed.
  throw failure ?? new Error(`The agent '${agent.name}' has failed; to see why, write `
    + 'run: (prompt, call) => run(agent, prompt, { stream: true, signal: call.signal })')
}

function waitingOf({ name: tool, arguments: args = '', rawItem }: Interruption): Waiting {
  const callId = rawItem.callId ?? rawItem.id ?? ''
  return { id: `${tool} ${callId}`, callId, tool, args }
}

/** The state with what the user has decided. Its model is not asked. */
async function decide(agent: Theirs, state: string, approvals: Approvals, call: Call): Promise<string> {
  const run = runOnce(agent, call, [], state, () => undefined)
  const { value: { state: open, interruptions } } = await run.next() as IteratorReturnResult<Result>
  const answers = approvals.take(interruptions.map(waitingOf))
  for (const [at, one] of interruptions.entries()) {
    if (answers[at] === true) open.approve(one)
    // What was not shown still waits, and is asked next.
    if (answers[at] === false) open.reject(one)
  }
  return open.toString()
}

function itemsFor(agent: Theirs, prompt: string, call: Call): readonly object[] {
  const earlier = earlierMessages(call, agent.instructions !== undefined && agent.instructions !== '')
  return withPresent(earlier.map(itemOf), prompt, call, itemOfFile, 'input_text')
}

function itemOf({ role, content }: Call['history'][number]): object {
  if (role !== 'assistant') return { role, content }
  return { role, status: 'completed', content: [{ type: 'output_text', text: content }] }
}

function itemOfFile({ mediaType, data, name = 'file' }: AttachedFile): object {
  const url = `data:${mediaType};base64,${data}`
  if (mainTypeOf(mediaType) === 'image') return { type: 'input_image', image: url }
  if (mainTypeOf(mediaType) !== 'audio') return { type: 'input_file', file: url, filename: name }
  return { type: 'audio', audio: data, format: /wav/i.test(mediaType) ? 'wav' : 'mp3' }
}

/** Reads a whole result, or the events of one and the result behind them: its text is shown once. */
function makeReader(): ReadResult {
  const paragraphs = new Paragraphs()
  const thoughts = new ResponseThoughts()
  let answers = 0
  let hasEvents = false
  let hasText = false
  const read = (value: object, call: Call): Shown | undefined => {
    const { type, data, name, item } = value as PlainMembers
    if (type === undefined) return readResult(value, call)
    hasEvents = true
    if (type === 'run_item_stream_event') readItem(name, item, call)
    if (type !== 'raw_model_stream_event') return undefined
    const { type: what, delta, event, response } = data as PlainMembers
    if (what === 'response_started') answers++
    if (what === 'response_done') readUsage(readMember(response, 'usage'), call)
    if (what === 'model') readModel(event, thoughts, call)
    return what === 'output_text_delta' ? paragraphs.next(answers, String(delta)) : undefined
  }
  const readResult = (result: object, call: Call): Shown | undefined => {
    const { finalOutput: output, newItems, runContext, interruptions } = result as PlainMembers
    if (itemsIn(interruptions).length > 0) {
      throw new TypeError('A run waits for an approval, and only its agent can go on from there; '
        + 'give the agent as it is, in agents: [agent]')
    }
    if (!hasEvents) {
      for (const one of itemsIn(newItems)) readItem(names.get(readMember(one, 'type')), one, call)
      readUsage(readMember(runContext, 'usage'), call)
    }
    if (typeof output !== 'string') return output === undefined ? undefined : { data: output }
    return hasText ? undefined : output
  }
  return (value, call) => {
    const shown = read(value, call)
    hasText ||= shown !== undefined && shown !== ''
    return shown
  }
}

/** The events that items of a whole result would have been. */
const names: ReadonlyMap<unknown, string> = new Map([
  ['tool_call_item', 'tool_called'], ['tool_call_output_item', 'tool_output'],
])

/** Calls of tools, and their ends. */
function readItem(event: unknown, item: unknown, call: Call): void {
  const raw = readMember(item, 'rawItem')
  const id = readMember(raw, 'callId') ?? readMember(raw, 'id')
  const name = readMember(raw, 'name')
  if (event === 'tool_called') {
    const args = readMember(raw, 'arguments')
    sayToolCall(call, id, name, readJson(String(args)) ?? args)
  }
  if (event === 'tool_output') sayToolResult(call, id, name ?? 'tool', readMember(item, 'output'))
}

/** The reasoning in what a model has sent, by its own API. */
function readModel(event: unknown, thoughts: ResponseThoughts, call: Call): void {
  thoughts.say(call, event)
  const delta = readMember(itemsIn(readMember(event, 'choices'))[0], 'delta')
  sayThought(call, readMember(delta, 'reasoning_content') ?? readMember(delta, 'reasoning'))
}

function readUsage(usage: unknown, call: Call): void {
  sayUsage(call, {
    inputTokens: sumOf(usage, 'inputTokens'), outputTokens: sumOf(usage, 'outputTokens'),
    cachedInputTokens: sumOf(readMember(usage, 'inputTokensDetails'), 'cached_tokens'),
    reasoningTokens: sumOf(readMember(usage, 'outputTokensDetails'), 'reasoning_tokens'),
  })
}

/** Details are an object, or one for each request. */
function sumOf(counts: unknown, name: string): number {
  return [counts].flat().reduce<number>((sum, one) => sum + countIn(readMember(one, name)), 0)
}
