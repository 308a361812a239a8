/**
 * Questions to the client as MCP spells them: what it can be asked, the request, the answer's check. How
 * they travel is in `ask.ts` and `round-trips.ts`.
 */
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { formFault } from '../../define/form.ts'
import { encodeForm } from './forms.ts'
import { encodeSampling, samplingFault } from './sampling.ts'
import type { Ability, Question, Root } from '../../define/question.ts'
import type { PeerInfo } from './client.ts'

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

/** The client capability that a way of asking needs, as an object of the specification's shape. */
export function capabilityFor(what: Ability): Readonly<Record<string, unknown>> {
  if (what === 'sample') return { sampling: {} }
  if (what === 'roots') return { roots: {} }
  return { elicitation: what === 'elicit-url' ? { url: {} } : { form: {} } }
}

/** A question as a request without its envelope. */
export interface QuestionRequest {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** Spells a question. Throws `Fault('unsupported')` for what this client does not take. */
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

/**
 * What came back, as the handler gets it; a form is checked in `maxSteps`. Throws `Fault('invalid')` for what
 * is no answer to it.
 */
export function decodeAnswer(question: Question, result: unknown, peer: PeerInfo, maxSteps: number): unknown {
  if (!isRecord(result)) throw unfit('is not an object')
  if (question.what === 'roots') {
    const { roots } = result
    if (!Array.isArray(roots) || !roots.every(isRoot)) throw unfit('has no list of roots')
    // The specification allows nothing else, and a handler that opens files trusts in it.
    return roots.filter(({ uri }) => /^file:/i.test(uri))
  }
  if (question.what === 'sample') {
    const fault = samplingFault(result, peer)
    if (fault !== undefined) throw unfit(fault)
    return result
  }
  const { action, content } = result
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
    throw unfit('needs an action: accept, decline or cancel')
  }
  if (question.what === 'elicit-url' || action !== 'accept') return { action }
  const fault = formFault(question.schema, content ?? {}, maxSteps)
  if (fault !== undefined) throw unfit(`does not fit the form: ${fault}`)
  return { action, content: content ?? {} }
}

function isRoot(root: unknown): root is Root {
  if (!isRecord(root)) return false
  const { uri, name = '' } = root
  return typeof uri === 'string' && typeof name === 'string'
}

function unfit(why: string): Fault {
  return new Fault('invalid', `The client's answer ${why}`)
}
