/** Reads what Anthropic's client returns: messages, whole and in pieces. */
import { itemsIn, readMember } from './shared/shape.ts'
import { countIn, sayThought, sayToolCall, sayToolResult, sayUsage } from './shared/work.ts'
import type { Call } from '../kernel/define/call.ts'
import type { Reader, Shown } from '../kernel/define/adapters.ts'
import type { PlainMembers } from './shared/shape.ts'

export const anthropicClient: Reader = {
  makeReader() {
    /** Of the message that comes in pieces. */
    let usage: unknown
    return (value, call) => {
      const { type, message, delta, content_block: block, error, usage: tokens } = value as PlainMembers
      switch (type) {
        case 'message': return readMessage(value as PlainMembers, call)
        case 'message_start':
          usage = readMember(message, 'usage')
          return undefined
        case 'content_block_start': return readBlock(block, call)
        case 'content_block_delta': return readDelta(delta, call)
        case 'message_delta':
          readUsage({ ...Object(usage), ...Object(tokens) }, call)
          return undefined
        case 'error': throw errorOf(error)
        default: return undefined
      }
    }
  },
}

function readMessage({ content, usage, parsed_output: data }: PlainMembers, call: Call): Shown {
  readUsage(usage, call)
  const text = itemsIn(content).map((block) => readBlock(block, call) ?? '').join('')
  return data === undefined || data === null ? text : { ...text !== '' && { text }, data }
}

/** A block of a message, which may be only its beginning. */
function readBlock(block: unknown, call: Call): string | undefined {
  const { type, text, thinking, id, name, input, tool_use_id: toolId } = block as PlainMembers
  if (type === 'text') return String(text)
  if (type === 'thinking') sayThought(call, thinking)
  if (type === 'tool_use' || type === 'server_tool_use' || type === 'mcp_tool_use') {
    sayToolCall(call, id, name, input)
  }
  // Of a tool that runs at the provider.
  if (typeof toolId === 'string') sayToolResult(call, toolId, undefined)
  return undefined
}

function readDelta(delta: unknown, call: Call): string | undefined {
  const { type, text, thinking } = delta as PlainMembers
  if (type === 'thinking_delta') sayThought(call, thinking)
  return type === 'text_delta' ? String(text) : undefined
}

function readUsage(usage: unknown, call: Call): void {
  const count = (name: string): number => countIn(readMember(usage, name))
  const cachedInputTokens = count('cache_read_input_tokens')
  const inputTokens = count('input_tokens') + cachedInputTokens + count('cache_creation_input_tokens')
  sayUsage(call, { inputTokens, outputTokens: count('output_tokens'), cachedInputTokens })
}

const statuses: Readonly<Record<string, number>> = {
  rate_limit_error: 429, overloaded_error: 529, api_error: 500,
}

/** The error that is in a stream, with the status that the same would have as an answer. */
function errorOf(error: unknown): Error {
  const status = statuses[String(readMember(error, 'type'))]
  return Object.assign(new Error(String(readMember(error, 'message'))), { status })
}
