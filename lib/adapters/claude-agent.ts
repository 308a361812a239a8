/** Reads the messages that `query` of the Claude Agent SDK gives. */
import { itemsIn, readMember, wordIn } from './shared/shape.ts'
import { Paragraphs, sayThought, sayToolCall, sayToolResult, sayUsageOf } from './shared/work.ts'
import type { Call } from '../kernel/define/call.ts'
import type { ReadResult, Reader, Shown } from '../kernel/define/adapters.ts'

export const claudeAgent: Reader = { makeReader }

function makeReader(): ReadResult {
  /** Whether the text of the present message has come in pieces. */
  let isShown = false
  /** Whether any text has come. */
  let hasText = false
  const paragraphs = new Paragraphs()
  let id: unknown
  return (message, call): Shown | undefined => {
    const type = readMember(message, 'type')
    if (type === 'stream_event') {
      const event = readMember(message, 'event')
      id = readMember(readMember(event, 'message'), 'id') ?? id
      const delta = readMember(event, 'delta')
      const text = readMember(delta, 'text')
      if (readMember(delta, 'type') !== 'text_delta' || typeof text !== 'string') return undefined
      isShown = hasText = true
      return paragraphs.next(id, text)
    }
    if (type === 'result') return resultOf(message, hasText, call)
    const said = readMember(message, 'message')
    const blocks = itemsIn(readMember(said, 'content'))
    for (const block of blocks) emitEvents(block, call)
    if (type !== 'assistant') return undefined
    const text = isShown ? '' : blocks.map((block) => textIn(block)).join('')
    isShown = false
    hasText ||= text !== ''
    return paragraphs.next(readMember(said, 'id'), text) || undefined
  }
}

function textIn(block: unknown): string {
  const text = readMember(block, 'type') === 'text' ? readMember(block, 'text') : undefined
  return typeof text === 'string' ? text : ''
}

/** Sends what a block of a message says of the work. */
function emitEvents(block: unknown, call: Call): void {
  const type = readMember(block, 'type')
  if (type === 'thinking') sayThought(call, readMember(block, 'thinking'))
  if (type === 'tool_use') {
    sayToolCall(call, readMember(block, 'id'), readMember(block, 'name'), readMember(block, 'input'))
  }
  if (type === 'tool_result') {
    const isError = readMember(block, 'is_error') === true
    sayToolResult(call, readMember(block, 'tool_use_id'), undefined, readMember(block, 'content'), isError)
  }
}

/** The end of a run: mostly its text has come before. */
function resultOf(message: object, hasText: boolean, call: Call): Shown | undefined {
  sayUsageOf(call, readMember(message, 'usage'), 'input_tokens', 'output_tokens')
  const subtype = readMember(message, 'subtype')
  if (subtype !== 'success' || readMember(message, 'is_error') === true) {
    throw new Error(`The agent has ended with ${String(subtype)}`)
  }
  const data = readMember(message, 'structured_output')
  if (data !== undefined) return { data }
  return hasText ? undefined : wordIn(readMember(message, 'result'))
}
