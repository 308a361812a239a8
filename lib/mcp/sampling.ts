/**
 * A request to a client's model as a revision spells it: a question in, params of `sampling/createMessage`
 * out. Before 2025-11-25 a message is one block, so what holds several becomes several of the same role. A
 * client that declares sampling with tools takes all that came with them, whichever revision it speaks.
 *
 * Spec: MCP 2024-11-05 to 2026-07-28, Sampling.
 */
import { isRecord, text } from '../core/content.ts'
import { show } from '../core/define.ts'
import { Fault } from '../core/fault.ts'
import type { SampleQuestion } from '../core/question.ts'
import type { Revision } from './revisions.ts'
import type { Peer } from './session.ts'

type Message = SampleQuestion['messages'][number]

/** Spells it. Throws `Fault('unsupported')` for what this client, or its revision, does not take. */
export function encodeSampling(question: SampleQuestion, peer: Peer): Readonly<Record<string, unknown>> {
  const { what: _what, key: _key, task: _task, messages, ...params } = question
  requireDeclared(question, peer)
  const encode = peer.abilities.samplingTools ? encodeMessage : encodeOlder
  return { ...params, messages: messages.flatMap((message) => encode(message, peer.revision)) }
}

function requireDeclared({ tools, includeContext }: SampleQuestion, { abilities, revision }: Peer): void {
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
