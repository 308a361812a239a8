/**
 * Questions to the client as MCP spells them: what it can be asked, the request, the answer's check; and
 * the older way of asking, by a request on the running stream. The newer way is in `round-trips.ts`.
 */
import { MAX_TIMER_MS } from '../core/clock.ts'
import { isRecord, text } from '../core/content.ts'
import { Fault } from '../core/fault.ts'
import { formFault } from '../core/form.ts'
import { formatNotification, formatRequest } from '../wire/jsonrpc.ts'
import type { LiveCall } from '../core/call.ts'
import type { Ability, Question } from '../core/question.ts'
import type { Limits } from '../core/defaults.ts'
import type { ResponseChannel } from './channel.ts'
import type { Peer, Session } from './session.ts'

/** Whether the client of a request can be asked in this way. */
export function canAsk(peer: Peer, what: Ability): boolean {
  if (!peer.revision.asks.has(what)) return false
  const { elicitation, sampling, roots } = peer.capabilities
  if (what === 'sample') return isRecord(sampling)
  if (what === 'roots') return isRecord(roots)
  if (!isRecord(elicitation)) return false
  if (what === 'elicit-url') return isRecord(elicitation['url'])
  // An empty object means forms, as it did before there was anything else.
  return isRecord(elicitation['form']) || elicitation['url'] === undefined
}

/** The client capability that a way of asking needs, as an object of the specification's shape. */
export function capabilityFor(what: Ability): Readonly<Record<string, unknown>> {
  if (what === 'sample') return { sampling: {} }
  if (what === 'roots') return { roots: {} }
  return { elicitation: what === 'elicit-url' ? { url: {} } : { form: {} } }
}

/** A question as a request without its envelope. */
export function encodeQuestion(
  question: Question, peer: Peer,
): { readonly method: string; readonly params?: object } {
  if (question.what === 'roots') return { method: 'roots/list' }
  const { what, key: _key, ...rest } = question
  if (what === 'elicit') {
    const { schema, message } = question
    return { method: 'elicitation/create', params: { message, requestedSchema: schema } }
  }
  if (what === 'elicit-url') {
    const { message, url } = question
    const params = { mode: 'url', message, url }
    if (peer.revision.ask === 'round') return { method: 'elicitation/create', params }
    const elicitationId = `url-${peer.session?.nextQuestion() ?? '1'}`
    return { method: 'elicitation/create', params: { ...params, elicitationId } }
  }
  if (question['tools'] !== undefined && !hasSamplingTools(peer)) {
    throw new Fault('unsupported', 'This client samples without tools: it has not declared sampling.tools', {
      ability: 'sample', requiredCapabilities: { sampling: { tools: {} } },
    })
  }
  const messages = question.messages.map(({ role, content }) => ({
    role, content: typeof content === 'string' ? text(content) : content,
  }))
  return { method: 'sampling/createMessage', params: { ...rest, messages } }
}

function hasSamplingTools({ capabilities }: Peer): boolean {
  const { sampling } = capabilities
  return isRecord(sampling) && isRecord(sampling['tools'])
}

/** What came back, as the handler gets it. Throws `Fault('invalid')` for what is no answer to it. */
export function decodeAnswer(question: Question, result: unknown): unknown {
  if (!isRecord(result)) throw unfit('is not an object')
  if (question.what === 'roots') {
    const { roots } = result
    if (!Array.isArray(roots) || !roots.every(isRoot)) throw unfit('has no list of roots')
    return roots
  }
  if (question.what === 'sample') {
    const { role, content, model } = result
    if ((role !== 'user' && role !== 'assistant') || content === undefined || typeof model !== 'string') {
      throw unfit('needs role, content and model')
    }
    return result
  }
  const { action, content } = result
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
    throw unfit('needs an action: accept, decline or cancel')
  }
  if (question.what === 'elicit-url' || action !== 'accept') return { action }
  const fault = formFault(question.schema, content ?? {})
  if (fault !== undefined) throw unfit(`does not fit the form: ${fault}`)
  return { action, content: content ?? {} }
}

function isRoot(root: unknown): boolean {
  return isRecord(root) && typeof root['uri'] === 'string'
}

function unfit(why: string): Fault {
  return new Fault('invalid', `The client's answer ${why}`)
}

/** Questions that have no answer yet, each as the way to take it back. */
export type OpenQuestions = Set<(reason: Fault) => void>

/** Asks by a request on the channel, and waits for its answer, which comes by another message of the session. */
export function askOnStream(
  question: Question, session: Session, channel: ResponseChannel, call: LiveCall, limits: Limits, peer: Peer,
  open: OpenQuestions,
): Promise<unknown> {
  const { method, params } = encodeQuestion(question, peer)
  const id = session.nextQuestion()
  const request = formatRequest(id, method, params === undefined ? undefined : JSON.stringify(params))
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const settle = (): void => {
      clearTimeout(timer)
      open.delete(giveUp)
      session.asked.delete(id)
      call.signal.removeEventListener('abort', withdraw)
    }
    const giveUp = (reason: Fault): void => {
      settle()
      // The client should stop bothering its user with it.
      const params = JSON.stringify({ requestId: id, reason: reason.message })
      channel.send(formatNotification('notifications/cancelled', params))
      reject(reason)
    }
    const withdraw = (): void => giveUp(call.reason ?? new Fault('cancelled', 'The call has ended'))
    session.asked.set(id, {
      resolve(result) {
        settle()
        try {
          resolve(decodeAnswer(question, result))
        } catch (error) {
          reject(error)
        }
      },
      reject(reason) {
        settle()
        reject(reason)
      },
    })
    if (limits.askTimeoutMs <= MAX_TIMER_MS) {
      const late = `The client did not answer within ${limits.askTimeoutMs} ms`
      timer = setTimeout(() => giveUp(new Fault('timeout', late)), limits.askTimeoutMs)
    }
    call.signal.addEventListener('abort', withdraw)
    open.add(giveUp)
    channel.send(request)
  })
}

/** Hands an answer of the client to whoever asked. An answer to nothing is passed over. */
export function takeAnswer(session: Session, id: unknown, result: unknown, error: unknown): void {
  const asked = typeof id === 'string' || typeof id === 'number' ? session.asked.get(id) : undefined
  if (asked === undefined) return
  if (error === undefined) return asked.resolve(result)
  const { code, message } = isRecord(error) ? error : {}
  const why = typeof message === 'string' ? message : 'no reason given'
  asked.reject(new Fault('failed', `The client refused to answer: ${why}`, { code }))
}
