/**
 * The parts of messages: which of them an agent reads, and how an answer becomes parts. A part that states
 * another media type than those of the agent's `inputModes` is refused.
 * Spec: A2A 1.0 §3.3.2, §4.1.6.
 */
import { textOf } from '../../define/content.ts'
import { A2aFault } from './faults.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Answer } from '../../define/answer.ts'
import type { Content } from '../../define/content.ts'

/** Throws `CONTENT_TYPE_NOT_SUPPORTED` for a part that the agent does not read. */
export function checkMediaTypes(agent: Agent | Group, parts: readonly Content[]): void {
  const modes = agent.kind === 'agent' ? agent.inputModes : undefined
  if (modes === undefined) return
  for (const part of parts) {
    const type = mediaTypeOf(part)
    if (type === undefined || modes.some((mode) => covers(mode, type))) continue
    const remedy = `send ${modes.join(', ')}`
    throw new A2aFault('CONTENT_TYPE_NOT_SUPPORTED', `${agent.name} does not read ${type}; ${remedy}`)
  }
}

/** The media type that a part states. */
function mediaTypeOf(part: Content): string | undefined {
  if (part.type === 'resource') return part.resource.mimeType
  if (part.type !== 'text') return part.mimeType
  const stated: unknown = part._meta?.['mediaType']
  return typeof stated === 'string' ? stated : undefined
}

/** Whether a media type, or a range of them, covers another. */
function covers(mode: string, type: string): boolean {
  const plain = type.split(';', 1)[0]!.trim().toLowerCase()
  const range = mode.toLowerCase()
  return range === plain || range === '*/*' || (range.endsWith('/*') && plain.startsWith(range.slice(0, -1)))
}

/** What an answer says, as parts: its content, and its data where the content is not that data's text. */
export function saidParts(answer: Answer): readonly Content[] {
  const { content, data } = answer
  if (data === undefined) return content
  const isItsText = content.length === 1 && textOf(content) === JSON.stringify(data)
  return isItsText ? [dataPart(answer)] : [...content, dataPart(answer)]
}

/** The same, and its artifacts behind it. */
export function answerParts(answer: Answer): readonly Content[] {
  const said = saidParts(answer)
  const more = answer.artifacts?.flatMap(({ parts }) => parts) ?? []
  return more.length === 0 ? said : [...said, ...more]
}

/** The data of an answer, as a part. */
export function dataPart({ data }: Answer): Content {
  return { type: 'data', data }
}
