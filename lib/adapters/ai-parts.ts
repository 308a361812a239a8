/**
 * Reads what the AI SDK, and what is built on it, streams and returns: the parts of a stream, those for user
 * interfaces too, and whole results.
 */
import { fileBlock } from './shared/message.ts'
import { itemsIn, membersIn, readMember } from './shared/shape.ts'
import { sayThought, sayToolCall, sayToolResult, sayUsageOf } from './shared/work.ts'
import type { Call } from '../kernel/define/call.ts'
import type { ContentInput } from '../kernel/define/content.ts'
import type { ReadResult, Shown } from '../kernel/define/adapters.ts'
import type { PlainMembers } from './shared/shape.ts'

/** What a result has for machines: of one that is a text, nothing. */
export async function outputOf(result: object): Promise<unknown> {
  const output = await (readMember(result, 'output') ?? readMember(result, 'object'))
  return typeof output === 'object' ? output ?? undefined : undefined
}

/** Makes what reads the values of one run. */
export function partReader(): ReadResult {
  let hasText = false
  let isNew = false
  return (value, call) => {
    if (!('type' in value)) return readResult(value, call)
    const part: PlainMembers = { ...value }
    // Each step begins a text of its own.
    if (part['type'] === 'start-step') isNew = hasText
    const shown = readPart(part, call)
    if (typeof shown !== 'string' || shown === '') return shown
    hasText = true
    const text = isNew ? `\n\n${shown}` : shown
    isNew = false
    return text
  }
}

function readPart(part: PlainMembers, call: Call): Shown | undefined {
  const { toolCallId: id, toolName: name } = part
  switch (part['type']) {
    case 'text-delta':
      return stringIn(part, 'text', 'delta', 'textDelta')
    case 'reasoning': case 'reasoning-delta':
      sayThought(call, stringIn(part, 'text', 'delta'))
      return undefined
    case 'tool-call': case 'tool-input-available':
      sayToolCall(call, id, name, part['input'])
      return undefined
    case 'tool-result': case 'tool-output-available':
      if (part['preliminary'] !== true) sayToolResult(call, id, name, part['output'])
      return undefined
    case 'tool-error': case 'tool-output-error': case 'tool-output-denied': case 'tool-input-error':
      sayToolResult(call, id, name, undefined, true)
      return undefined
    case 'finish':
      readUsage(part['totalUsage'] ?? part['usage'], call)
      return undefined
    case 'file':
      return fileIn(part)
    case 'error':
      throw part['error'] ?? new Error(stringIn(part, 'errorText'))
    case 'abort':
      throw new Error('The stream of the model was aborted')
    case 'tool-approval-request':
      if (!isApproval(part)) return undefined
      throw new TypeError('A tool waits for an approval, which only an agent that is served as it is can ask '
        + 'for; write agents: [agent]')
  }
  return undefined
}

/** What waits for a person; some are decided by the author's code. */
export function isApproval(part: object): boolean {
  return readMember(part, 'type') === 'tool-approval-request' && readMember(part, 'isAutomatic') !== true
}

/** What `generateText` and `generateObject` resolve to. */
function readResult(result: object, call: Call): Shown {
  for (const step of itemsIn(readMember(result, 'steps'))) {
    for (const part of itemsIn(readMember(step, 'content'))) readPart(membersIn(part), call)
  }
  readUsage(readMember(result, 'totalUsage') ?? readMember(result, 'usage'), call)
  const data = ['object', 'output', 'experimental_output'].map((name) => readMember(result, name))
    .find((value) => typeof value === 'object' && value !== null)
  return {
    text: stringIn(result, 'text'), data,
    content: itemsIn(readMember(result, 'files')).flatMap((file) => fileIn({ file })?.content ?? []),
  }
}

function readUsage(usage: unknown, call: Call): void {
  sayUsageOf(call, usage, 'inputTokens', 'outputTokens',
    'inputTokenDetails.cacheReadTokens cachedInputTokens',
    'outputTokenDetails.reasoningTokens reasoningTokens')
}

/** A file that a model has made. */
function fileIn({ file }: PlainMembers): { readonly content: readonly ContentInput[] } | undefined {
  const data = stringIn(file, 'base64')
  const mediaType = stringIn(file, 'mediaType')
  if (data === undefined || mediaType === undefined) return undefined
  return { content: [fileBlock({ data, mediaType, name: 'answer' })] }
}

/** The first of some members that is a string. */
function stringIn(value: unknown, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const member = readMember(value, name)
    if (typeof member === 'string') return member
  }
  return undefined
}
