/**
 * Which parts an agent reads: a part that states another media type than those of its `inputModes` is
 * refused. Without that option everything is read, and so is what states none.
 * Spec: A2A 1.0 §3.3.2, §4.1.6.
 */
import { A2aFault } from './faults.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Content } from '../../define/content.ts'

/** Throws `CONTENT_TYPE_NOT_SUPPORTED` for a part that the agent does not read. */
export function checkMediaTypes(who: Agent | Group, parts: readonly Content[]): void {
  const modes = who.kind === 'agent' ? who.inputModes : undefined
  if (modes === undefined) return
  for (const part of parts) {
    const type = mediaTypeOf(part)
    if (type === undefined || modes.some((mode) => covers(mode, type))) continue
    const remedy = `send ${modes.join(', ')}`
    throw new A2aFault('CONTENT_TYPE_NOT_SUPPORTED', `${who.name} does not read ${type}; ${remedy}`)
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
