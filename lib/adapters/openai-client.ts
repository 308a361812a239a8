/** Reads what OpenAI's client returns: chat completions and responses, whole and in pieces. */
import { itemsIn, readMember, wordIn } from './shared/shape.ts'
import {
  Paragraphs, ResponseThoughts, sayThought, sayToolCall, sayToolResult, sayUsageOf,
} from './shared/work.ts'
import type { Call } from '../kernel/define/call.ts'
import type { ContentInput } from '../kernel/define/content.ts'
import type { Reader, Shown } from '../kernel/define/adapters.ts'
import type { PlainMembers } from './shared/shape.ts'

export const openaiClient: Reader = {
  makeReader() {
    const paragraphs = new Paragraphs()
    const thoughts = new ResponseThoughts()
    let completions = 0
    return (value, call) => {
      const { object, type, choices, sequence_number: number } = value as PlainMembers
      if (typeof number === 'number') {
        thoughts.say(call, value)
        return readEvent(value as PlainMembers, paragraphs, call)
      }
      if (object === 'response') return readResponse(value as PlainMembers, call)
      const [choice] = itemsIn(choices) as readonly PlainMembers[]
      if (object === 'chat.completion') return readChat(value as PlainMembers, choice, call)
      if (type === 'error') throw errorOf(value)
      const text = paragraphs.next(completions, readChunk(value as PlainMembers, choice?.['delta'], call))
      if (wordIn(choice?.['finish_reason']) !== undefined) completions++
      return text || undefined
    }
  },
}

function readChat({ usage }: PlainMembers, choice: unknown, call: Call): Shown {
  const message = readMember(choice, 'message')
  readUsage(usage, call)
  sayThought(call, readMember(message, 'reasoning_content') ?? readMember(message, 'reasoning'))
  const text = textIn(readMember(message, 'content')) || textIn(readMember(message, 'refusal'))
  const [waiting] = itemsIn(readMember(message, 'tool_calls'))
  if (text === '' && waiting !== undefined) {
    throw unanswered(readMember(readMember(waiting, 'function'), 'name'))
  }
  return shownOf(text, readMember(message, 'parsed'))
}

function readChunk({ usage, error }: PlainMembers, delta: unknown, call: Call): string {
  if (error !== undefined && error !== null) throw errorOf(error)
  readUsage(usage, call)
  sayThought(call, readMember(delta, 'reasoning_content') ?? readMember(delta, 'reasoning'))
  return textIn(readMember(delta, 'content')) || textIn(readMember(delta, 'refusal'))
}

function readResponse(response: PlainMembers, call: Call): Shown {
  const { usage, output, status, error, output_parsed: data } = response
  if (status === 'failed') throw errorOf(error)
  readUsage(usage, call)
  const items = itemsIn(output) as readonly PlainMembers[]
  for (const { type, summary, content } of items) {
    if (type !== 'reasoning') continue
    const parts = [summary, content].map(itemsIn).find((list) => list.length > 0) ?? []
    sayThought(call, parts.map((part) => textIn(readMember(part, 'text'))).join('\n\n'))
  }
  const parts = items.flatMap(({ content }) => itemsIn(content)) as readonly PlainMembers[]
  const text = parts.map(({ type, text, refusal }) => (
    type === 'output_text' ? textIn(text) : type === 'refusal' ? textIn(refusal) : ''
  )).join('')
  const content = items.flatMap((item) => imageIn(item) ?? [])
  const waiting = items.find(({ type }) => type === 'function_call')
  if (waiting !== undefined && text === '') throw unanswered(waiting['name'])
  const shown = shownOf(text, data)
  return content.length === 0 ? shown : { ...typeof shown === 'string' ? { text: shown } : shown, content }
}

function readEvent(event: PlainMembers, paragraphs: Paragraphs, call: Call): Shown | undefined {
  const { type, delta, item, item_id: id, response } = event
  switch (type) {
    case 'response.output_text.delta': case 'response.refusal.delta':
      return paragraphs.next(id, textIn(delta))
    case 'response.output_item.added':
      beginTool(item, call)
      return undefined
    case 'response.output_item.done': return endTool(item, call)
    case 'response.completed': case 'response.incomplete':
      readUsage(readMember(response, 'usage'), call)
      return undefined
    case 'response.failed': throw errorOf(readMember(response, 'error'))
    case 'error': throw errorOf(event)
    default: return undefined
  }
}

/** A tool that runs at the provider. What the author's own code would have to run is none. */
function hostedTool(item: unknown): { readonly id: string; readonly name: string } | undefined {
  const type = String(readMember(item, 'type'))
  if (!type.endsWith('_call') || type === 'function_call') return undefined
  const name = readMember(item, 'name') ?? type.slice(0, -'_call'.length)
  return { id: String(readMember(item, 'id')), name: String(name) }
}

function beginTool(item: unknown, call: Call): void {
  const tool = hostedTool(item)
  if (tool !== undefined) sayToolCall(call, tool.id, tool.name, readMember(item, 'action'))
}

function endTool(item: unknown, call: Call): Shown | undefined {
  const tool = hostedTool(item)
  if (tool === undefined) return undefined
  const isError = readMember(item, 'status') === 'failed'
  sayToolResult(call, tool.id, tool.name, readMember(item, 'output'), isError)
  const image = imageIn(item as PlainMembers)
  return image && { content: [image] }
}

function imageIn({ type, result, output_format: format = 'png' }: PlainMembers): ContentInput | undefined {
  if (type !== 'image_generation_call' || typeof result !== 'string') return undefined
  return { type: 'image', data: result, mimeType: `image/${String(format)}` }
}

/** Tokens, by the words of either API. */
function readUsage(usage: unknown, call: Call): void {
  sayUsageOf(call, usage, 'prompt_tokens input_tokens', 'completion_tokens output_tokens',
    'prompt_tokens_details.cached_tokens input_tokens_details.cached_tokens',
    'completion_tokens_details.reasoning_tokens output_tokens_details.reasoning_tokens')
}

function shownOf(text: string, data: unknown): Shown {
  if (data === undefined || data === null) return text
  return { ...text !== '' && { text }, data }
}

function textIn(value: unknown): string {
  return wordIn(value) ?? ''
}

const statuses: Readonly<Record<string, number>> = { rate_limit_exceeded: 429, server_error: 500 }

/** The error that is in an answer, with the status that the same would have as an answer of its own. */
function errorOf(error: unknown): Error {
  const code = String(readMember(error, 'code') ?? readMember(error, 'type'))
  const message = readMember(error, 'message') ?? code
  return Object.assign(new Error(String(message)), { status: statuses[code] })
}

function unanswered(tool: unknown): TypeError {
  return new TypeError(`A model has called the tool '${String(tool)}', and nothing runs it; serve an agent `
    + 'that does, as in openaiAgent({ model, tools })')
}
