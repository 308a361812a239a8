/**
 * Questions to the client as MCP has them: what it can be asked, the request, the check of its answer.
 * Spec: MCP 2024-11-05 to 2026-07-28, Elicitation, Sampling, Roots.
 */
import { filledIn, formFault } from '../../../floors/questions/form.ts'
import { givenMembers, isRecord, text } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { show } from '../../../kernel/define/validate.ts'
import type { Ability, FormSchema, Question, Root, SampleQuestion } from '../../../kernel/define/question.ts'
import type { PeerInfo } from './client.ts'
import type { Revision } from './revisions.ts'

/** Whether the client of a request can be asked in this way. */
export function canAsk(peer: PeerInfo, what: Ability): boolean {
  if (!peer.revision.asks.has(what)) return false
  const { abilities } = peer
  switch (what) {
    case 'elicit': return abilities.forms
    case 'elicit-url': return abilities.urls
    case 'sample': return abilities.sampling
    case 'roots': return abilities.roots
  }
}

export function capabilityFor(what: Ability): Readonly<Record<string, unknown>> {
  if (what === 'sample') return { sampling: {} }
  if (what === 'roots') return { roots: {} }
  return { elicitation: what === 'elicit-url' ? { url: {} } : { form: {} } }
}

export interface QuestionRequest {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** Encodes a question. Throws `Fault('unsupported')` for what this client does not take. */
export function encodeQuestion(question: Question, peer: PeerInfo): QuestionRequest {
  if (question.what === 'roots') return { method: 'roots/list' }
  if (question.what === 'elicit') {
    const requestedSchema = encodeForm(question.schema, peer.revision)
    return { method: 'elicitation/create', params: { message: question.message, requestedSchema } }
  }
  if (question.what === 'elicit-url') {
    const { message, url, elicitationId } = question
    const hasIds = peer.revision.ask === 'request'
    const params = { mode: 'url', message, url, ...hasIds && { elicitationId } }
    return { method: 'elicitation/create', params }
  }
  return { method: 'sampling/createMessage', params: encodeSampling(question, peer) }
}

/** The answer as the handler gets it; a form is checked in `maxSteps`. Throws `Fault('invalid')`. */
export function decodeAnswer(question: Question, given: unknown, peer: PeerInfo, maxSteps: number): unknown {
  if (!isRecord(given)) throw unfit('is not an object')
  const result = givenMembers(given)
  if (question.what === 'roots') {
    const { roots } = result
    const list = Array.isArray(roots) ? roots.map((root) => isRecord(root) ? givenMembers(root) : root) : []
    if (!Array.isArray(roots) || !list.every(isRoot)) throw unfit('has no list of roots')
    // The specification allows nothing else, and handlers that open files rely on it.
    return list.filter(({ uri }) => /^file:/i.test(uri))
  }
  if (question.what === 'sample') {
    const fault = samplingFault(result, peer)
    if (fault !== undefined) throw unfit(fault)
    return result
  }
  const { action, content = {} } = result
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
    throw unfit('needs an action: accept, decline or cancel')
  }
  if (question.what === 'elicit-url' || action !== 'accept') return { action }
  const filled = filledIn(content)
  const fault = formFault(question.schema, filled, maxSteps)
  if (fault !== undefined) throw unfit(`does not fit the form: ${fault}`)
  return { action, content: filled }
}

function isRoot(root: unknown): root is Root {
  if (!isRecord(root)) return false
  const { uri, name = '' } = root
  return typeof uri === 'string' && typeof name === 'string'
}

function unfit(why: string): Fault {
  return new Fault('invalid', `The client's answer ${why}`)
}

type Schema = Readonly<Record<string, unknown>>

/**
 * A form. Before 2025-11-25 a field has one value, the titles of its choices beside them, and only a boolean
 * has a default. Throws `Fault('unsupported')` for a field that the revision does not have.
 */
function encodeForm(schema: FormSchema, revision: Revision): Schema {
  const { properties } = schema
  if (revision.choices || !isRecord(properties)) return schema
  const fields = Object.entries(properties).map(([name, field]) => [name, olderField(name, field, revision)])
  return { ...schema, properties: Object.fromEntries(fields) }
}

function olderField(name: string, field: unknown, revision: Revision): unknown {
  if (!isRecord(field)) return field
  if (field['type'] === 'array') {
    throw new Fault('unsupported', `A client of MCP ${revision.name} takes one choice in a field, and `
      + `'${name}' has several; ask for each by a boolean of its own`)
  }
  if (field['type'] === 'boolean') return field
  const { default: _default, ...bare } = field
  const { oneOf, ...rest } = bare
  if (!Array.isArray(oneOf) || !oneOf.every(isChoice)) return bare
  const enumNames = oneOf.map(({ const: value, title }) => typeof title === 'string' ? title : value)
  return { ...rest, enum: oneOf.map(({ const: value }) => value), enumNames }
}

interface Choice { readonly const: string; readonly title?: unknown }

function isChoice(choice: unknown): choice is Choice {
  return isRecord(choice) && typeof choice['const'] === 'string'
}

type Message = SampleQuestion['messages'][number]

/**
 * The params of `sampling/createMessage`. Before 2025-11-25 a message is one block, so one that holds several
 * becomes several; a client that declares sampling with tools takes all that came with them, in any revision.
 * Throws `Fault('unsupported')` for what the client does not take.
 */
function encodeSampling(question: SampleQuestion, peer: PeerInfo): Readonly<Record<string, unknown>> {
  const { what: _what, key: _key, task: _task, messages, ...params } = question
  requireDeclared(question, peer)
  return { ...params, messages: messages.flatMap((message) => encodeMessage(message, peer)) }
}

function requireDeclared({ tools, includeContext }: SampleQuestion, { abilities, revision }: PeerInfo): void {
  if (tools !== undefined && !abilities.samplingTools) {
    throw lacking('This client samples without tools: it has not declared sampling.tools', { tools: {} })
  }
  const wantsContext = includeContext !== undefined && includeContext !== 'none'
  if (wantsContext && revision.sampled === 'any' && !abilities.samplingContext) {
    throw lacking('This client adds no context: it has not declared sampling.context', { context: {} })
  }
}

function lacking(sentence: string, sampling: object): Fault {
  return new Fault('unsupported', sentence, { ability: 'sample', requiredCapabilities: { sampling } })
}

function encodeMessage({ content, ...rest }: Message, peer: PeerInfo): readonly Message[] {
  const { name } = peer.revision
  const kinds = sampledKinds(peer)
  const whole = typeof content === 'string' ? text(content) : content
  const blocks = [whole].flat()
  for (const block of blocks) {
    const type = isRecord(block) ? block['type'] : block
    if (typeof type === 'string' && isRecord(block) && kinds.has(type)) continue
    throw new Fault('unsupported', `A client of MCP ${name} takes no ${show(type)} in a message to `
      + `its model; write it in what it takes (${[...kinds.keys()].join(', ')}), or leave it out`)
  }
  if (kinds === texts) return [{ ...rest, content: whole }]
  return blocks.map((block) => ({ ...rest, content: block }))
}

/** The kinds of blocks in messages to and from a client's model; `texts`: a message has several. */
function sampledKinds({ abilities, revision: { sampled } }: PeerInfo): typeof texts | ReadonlySet<string> {
  return sampled === 'any' || abilities.samplingTools ? texts : sampled
}

/** Of all kinds, the members that are texts. */
const texts: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']], ['image', ['data', 'mimeType']], ['audio', ['data', 'mimeType']],
  ['tool_use', ['id', 'name']], ['tool_result', ['toolUseId']],
])

/** What is wrong with a client's sampling; undefined where it is as its revision has it. */
function samplingFault(result: Readonly<Record<string, unknown>>, peer: PeerInfo): string | undefined {
  const { role, content, model, stopReason = '' } = result
  if ((role !== 'user' && role !== 'assistant') || content === undefined || typeof model !== 'string') {
    return 'needs role, content and model'
  }
  if (typeof stopReason !== 'string') return `has the stopReason ${show(stopReason)}, which is no string`
  const { name } = peer.revision
  const kinds = sampledKinds(peer)
  if (kinds !== texts && Array.isArray(content)) {
    return `has a list as content, which is one block in MCP ${name}`
  }
  for (const block of [content].flat()) {
    const { type, ...members } = isRecord(block) ? block : {}
    const needed = typeof type === 'string' && kinds.has(type) ? texts.get(type) : undefined
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
