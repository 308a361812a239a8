/** Reads results and events of the OpenAI Agents SDK. */
import { Paragraphs } from '../paragraphs.ts'
import { readJson, readMember } from '../shape.ts'
import { countIn, sayThought, sayToolCall, sayToolResult, sayUsage } from '../work.ts'
import type { Call } from '../../define/call.ts'
import type { Read, Shown } from '../adapter.ts'
import type { PlainMembers } from '../shape.ts'

/** Reads a whole result, or the events of one and the result behind them: its text is shown once. */
export function makeAgentsReader(): Read {
  const paragraphs = new Paragraphs()
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
    if (what === 'model') readModel(event, call)
    return what === 'output_text_delta' ? paragraphs.next(answers, String(delta)) : undefined
  }
  const readResult = (result: object, call: Call): Shown | undefined => {
    const { interruptions } = result as PlainMembers
    if (Array.isArray(interruptions) && interruptions.length > 0) {
      throw new TypeError('A run waits for an approval, and only its agent can go on from there; '
        + 'give the agent as it is, in agents: [agent]')
    }
    const { finalOutput: output, newItems, runContext } = result as PlainMembers
    if (!hasEvents) {
      for (const one of newItems as readonly object[]) readItem(names.get(readMember(one, 'type')), one, call)
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
function readModel(event: unknown, call: Call): void {
  const isSummary = /^response\.reasoning\w*_text\.delta$/.test(String(readMember(event, 'type')))
  const choices = readMember(event, 'choices')
  const delta = Array.isArray(choices) ? readMember(choices[0], 'delta') : undefined
  sayThought(call, isSummary ? readMember(event, 'delta')
    : readMember(delta, 'reasoning_content') ?? readMember(delta, 'reasoning'))
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
