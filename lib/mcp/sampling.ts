/**
 * A request to a client's model as a revision spells it: a question in, params of `sampling/createMessage`
 * out. Before 2025-11-25 a message is one block, so what holds several becomes several of the same role.
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
  return { ...params, messages: messages.flatMap((message) => encodeMessage(message, peer.revision)) }
}

function requireDeclared({ tools, includeContext }: SampleQuestion, { abilities, revision }: Peer): void {
  const { declaresSampling } = revision
  if (tools !== undefined && !declaresSampling) {
    throw lacking(`MCP ${revision.name}, which this client speaks, has no sampling with tools; `
      + 'ask without them', { tools: {} })
  }
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

function encodeMessage({ role, content }: Message, revision: Revision): readonly Message[] {
  const whole = typeof content === 'string' ? text(content) : content
  const { sampled } = revision
  if (sampled === 'any') return [{ role, content: whole }]
  return [whole].flat().map((block) => {
    const type = isRecord(block) ? block['type'] : block
    if (typeof type === 'string' && isRecord(block) && sampled.has(type)) return { role, content: block }
    throw new Fault('unsupported', `A client of MCP ${revision.name} takes no ${show(type)} in a message to `
      + `its model; say it in what it takes (${[...sampled].join(', ')}), or leave it out`)
  })
}
