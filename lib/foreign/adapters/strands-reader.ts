/** Reads results and events of Strands. */
import { Paragraphs } from '../paragraphs.ts'
import { readMember } from '../shape.ts'
import { sayThought, sayToolCall, sayToolResult, sayUsage } from '../work.ts'
import type { Call } from '../../define/call.ts'
import type { Read, Shown } from '../adapter.ts'
import type { PlainMembers } from '../shape.ts'

/** A tool that only gives an answer its form. */
const FORM = 'strands_structured_output'

/** Reads a whole result, or the events of a run and the result behind them, each text once. */
export function makeStrandsReader(): Read {
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
      const errors = [error, ...Array.isArray(results) ? results.map((one) => readMember(one, 'error')) : []]
      throw errors.find((one) => one !== undefined) ?? new Error(`A group of agents has ended as ${status}`)
    }
    if (!hasEvents) readUsage(usage, call)
    hasEvents = true
    const text = hasText ? '' : String(resultIn(content))
    hasText = true
    return text
  }

  const read: Read = (value, call) => {
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
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  const [only] = blocks
  if (blocks.length === 1 && readMember(only, 'json') !== undefined) return readMember(only, 'json')
  return blocks.map((block) => readMember(block, 'text') ?? '').join('')
}

function readUsage(usage: unknown, call: Call): void {
  sayUsage(call, {
    inputTokens: readMember(usage, 'inputTokens'), outputTokens: readMember(usage, 'outputTokens'),
    cachedInputTokens: readMember(usage, 'cacheReadInputTokens'),
  })
}
