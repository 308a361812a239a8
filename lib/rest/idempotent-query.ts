/**
 * A query with an `Idempotency-Key`: run once, and replied again to whoever sends it again. A run goes on
 * when its client has left, since it is to come back for the reply. A reply is replayed in the form that is
 * asked for then, as a document or as events; an error is not kept.
 * Spec: draft-ietf-httpapi-idempotency-key-header-07
 */
import { isRecord } from '../core/content.ts'
import { timeoutOf } from '../core/converse.ts'
import { IDEMPOTENCY_KEY } from '../core/idempotency.ts'
import { JSON_TYPE } from '../wire/media.ts'
import { EVENT_STREAM, formatEvent } from '../wire/sse.ts'
import { problemText, problemTextReply } from './reply.ts'
import type { Agent, Group } from '../core/agent.ts'
import type { KeyClaim, KeyHold } from '../core/idempotency.ts'
import type { Service } from '../core/service.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Exchange, Reply, Sink, Source } from '../http/exchange.ts'

/** Begins the run of a query whose key is held; a stream keeps or releases it by itself. */
export type Begin = (hold: KeyHold) => MaybePromise<Reply>

const REPLAYED: readonly string[] = Object.freeze(['Idempotent-Replayed', 'true'])

/** Replies to a query with a key. Throws, or rejects with, a `Fault`. */
export function replyOnce(
  service: Service, who: Agent | Group, key: string, isStream: boolean, exchange: Exchange, begin: Begin,
): MaybePromise<Reply> {
  const { body, head, origin: { principal, requestId } } = exchange
  if (!IDEMPOTENCY_KEY.test(key)) {
    return refusal(400, 'The Idempotency-Key must be 1 to 255 visible ASCII characters', requestId)
  }
  const request = JSON.stringify([who.id, head.sessionId, body])
  const claim = service.idempotency.claim(principal.id, key, request, timeoutOf(service, who))
  return claim instanceof Promise ? claim.then((later) => replyTo(later, isStream, requestId, begin))
    : replyTo(claim, isStream, requestId, begin)
}

function replyTo(
  claim: KeyClaim, isStream: boolean, requestId: string, begin: Begin,
): MaybePromise<Reply> {
  switch (claim.state) {
    case 'held': return runHolding(claim.hold, begin)
    case 'done': {
      const { reply } = claim
      return isStream ? { status: 200, type: EVENT_STREAM, headers: REPLAYED, body: new Replay(reply) }
        : { status: 200, type: JSON_TYPE, headers: REPLAYED, body: reply }
    }
    case 'running': {
      const sentence = 'The query of this Idempotency-Key is running, or its process has ended and whether '
        + 'it took effect is not known; ask again later, or use a new key'
      return { ...refusal(409, sentence, requestId), headers: ['Retry-After', '1'] }
    }
    case 'lost': return refusal(
      409, 'The query of this Idempotency-Key has run, but its reply was too large to be kept', requestId,
    )
    case 'other': return refusal(
      422, 'This Idempotency-Key belongs to another query; make a new key for each', requestId,
    )
  }
}

function runHolding(hold: KeyHold, begin: Begin): MaybePromise<Reply> {
  const kept = (reply: Reply): MaybePromise<Reply> => {
    const keeping = typeof reply.body === 'string' ? hold.keep(reply.body) : undefined
    return keeping instanceof Promise ? keeping.then(() => reply) : reply
  }
  const released = (error: unknown): MaybePromise<never> => {
    const releasing = hold.release()
    if (releasing instanceof Promise) return releasing.then(() => { throw error })
    throw error
  }
  try {
    const reply = begin(hold)
    return reply instanceof Promise ? reply.then(kept, released) : kept(reply)
  } catch (error) {
    return released(error)
  }
}

function refusal(status: number, sentence: string, requestId: string): Reply {
  return problemTextReply(problemText(status, sentence, requestId))
}

/** A reply of earlier as events. */
class Replay implements Source {
  readonly #reply: string

  constructor(reply: string) {
    this.#reply = reply
  }

  open(sink: Sink): undefined {
    const reply: unknown = JSON.parse(this.#reply)
    const said = isRecord(reply) ? reply['response'] : undefined
    const isSilent = said === undefined || said === ''
    if (!isSilent) sink.write(formatEvent(`{"text":${JSON.stringify(said)}}`, 'delta', '1'))
    sink.end(formatEvent(this.#reply, 'done', isSilent ? '1' : '2'))
  }
}
