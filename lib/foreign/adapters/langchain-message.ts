/** What is in a message of LangChain. */
import { readMember } from '../shape.ts'
import { sayUsage } from '../work.ts'
import type { Call } from '../../define/call.ts'

/** Whether it is an object of theirs, and none that says its role. */
export function isOfLangchain(value: unknown): boolean {
  return readMember(value, 'lc_kwargs') !== undefined
}

const roles: Readonly<Record<string, string>> = { assistant: 'ai', user: 'human' }

/** `human`, `ai`, `tool` or another; of plain objects too. */
export function typeOfMessage(message: unknown): unknown {
  const role = readMember(message, 'role')
  if (typeof role === 'string') return roles[role] ?? role
  const type = readMember(message, 'type') ?? readMember(message, '_getType')
  return typeof type === 'function' ? type.call(message) as unknown : type
}

export function textOfMessage(message: unknown): string {
  const text = readMember(message, 'text')
  if (typeof text === 'string') return text
  const content = readMember(message, 'content')
  if (!Array.isArray(content)) return typeof content === 'string' ? content : ''
  return content.map((block) => readMember(block, 'text') ?? '').join('')
}

export function reasoningIn(message: unknown): string {
  const content = readMember(message, 'content')
  const thought = readMember(readMember(message, 'additional_kwargs'), 'reasoning_content')
  if (!Array.isArray(content)) return typeof thought === 'string' ? thought : ''
  const texts = content.map((block) => readMember(block, 'reasoning') ?? readMember(block, 'thinking'))
  return texts.map((one) => one ?? '').join('')
}

export function readUsage(usage: unknown, call: Call): void {
  sayUsage(call, {
    inputTokens: readMember(usage, 'input_tokens'), outputTokens: readMember(usage, 'output_tokens'),
    cachedInputTokens: readMember(readMember(usage, 'input_token_details'), 'cache_read'),
    reasoningTokens: readMember(readMember(usage, 'output_token_details'), 'reasoning'),
  })
}
