/**
 * A request to a client's model as a revision spells it: a question in, params of `sampling/createMessage`
 * out; and whether what came back is what the revision has. Before 2025-11-25 a message is one block, so what
 * holds several becomes several of the same role. A client that declares sampling with tools takes, and says,
 * all that came with them, whichever revision it speaks.
 *
 * Spec: MCP 2024-11-05 to 2026-07-28, Sampling.
 */
import { isRecord, text } from '../../define/content.ts'
import { show } from '../../define/validate.ts'
import { Fault } from '../../define/fault.ts'
import type { SampleQuestion } from '../../define/question.ts'
import type { Revision } from './revisions.ts'
import type { PeerInfo } from './client.ts'

type Message = SampleQuestion['messages'][number]

/** Spells it. Throws `Fault('unsupported')` for what this client, or its revision, does not take. */
export function encodeSampling(question: SampleQuestion, peer: PeerInfo): Readonly<Record<string, unknown>> {
  const { what: _what, key: _key, task: _task, messages, ...params } = question
  requireDeclared(question, peer)
  const encode = peer.abilities.samplingTools ? encodeMessage : encodeOlder
  return { ...params, messages: messages.flatMap((message) => encode(message, peer.revision)) }
}

function requireDeclared({ tools, includeContext }: SampleQuestion, { abilities, revision }: PeerInfo): void {
  const { declaresSampling } = revision
  if (tools !== undefined && !abilities.samplingTools) {
    throw lacking('This client samples without tools: it has not declared sampling.tools', { tools: {} })
  }
  const wantsContext = includeContext !== undefined && includeContext !== 'none'
  if (wantsContext && declaresSampling && !abilities.samplingContext) {
    throw lacking('This client adds no context: it has not declared sampling.context', { context: {} })
  }
}

function lacking(sentence: string, sampling: object): Fault {
  return new Fault('unsupported', sentence, { ability: 'sample', requiredCapabilities: { sampling } })
}

function encodeMessage({ role, content }: Message): readonly Message[] {
  return [{ role, content: typeof content === 'string' ? text(content) : content }]
}

function encodeOlder(message: Message, { name, sampled }: Revision): readonly Message[] {
  if (sampled === 'any') return encodeMessage(message)
  return encodeMessage(message).flatMap(({ role, content }) => [content].flat().map((block) => {
    const type = isRecord(block) ? block['type'] : block
    if (typeof type === 'string' && isRecord(block) && sampled.has(type)) return { role, content: block }
    throw new Fault('unsupported', `A client of MCP ${name} takes no ${show(type)} in a message to `
      + `its model; say it in what it takes (${[...sampled].join(', ')}), or leave it out`)
  }))
}

/** What no block of a kind can do without, as texts. */
const texts: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['text']], ['image', ['data', 'mimeType']], ['audio', ['data', 'mimeType']],
  ['tool_use', ['id', 'name']], ['tool_result', ['toolUseId']],
])

/** What is wrong with what a client's model said; undefined where it is as the client's revision has it. */
export function samplingFault(result: Readonly<Record<string, unknown>>, peer: PeerInfo): string | undefined {
  const { role, content, model, stopReason = '' } = result
  if ((role !== 'user' && role !== 'assistant') || content === undefined || typeof model !== 'string') {
    return 'needs role, content and model'
  }
  if (typeof stopReason !== 'string') return `has the stopReason ${show(stopReason)}, which is no string`
  const { name, sampled } = peer.revision
  const saysAll = sampled === 'any' || peer.abilities.samplingTools
  if (!saysAll && Array.isArray(content)) return `has a list as content, which is one block in MCP ${name}`
  for (const block of [content].flat()) {
    const { type, ...members } = isRecord(block) ? block : {}
    const needed = saysAll || sampled.has(String(type)) ? texts.get(type) : undefined
    if (needed === undefined) {
      const what = isRecord(block) ? `a block of type ${show(type)}` : show(block)
      return `has ${what} as content, which MCP ${name} does not know`
    }
    const missing = needed.find((member) => typeof members[member] !== 'string')
      ?? (type === 'tool_use' && !isRecord(members['input']) ? 'input' : undefined)
    if (missing !== undefined) return `has a block of type ${show(type)} that needs '${missing}'`
  }
  return undefined
}
