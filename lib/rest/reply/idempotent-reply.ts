/**
 * A query, or a call of a tool, with an `Idempotency-Key`: run once, and replied again to whoever sends it
 * again. A run goes on when its client has left, since it is to come back for the reply. A reply is replayed
 * in the form that is asked for then, as a document or as events; an error is not kept.
 * Spec: draft-ietf-httpapi-idempotency-key-header-07
 */
import { IDEMPOTENCY_KEY } from '../../state/idempotency.ts'
import { isThenable } from '../../util/thenable.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import { problemText, problemTextReply } from './reply.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Origin } from '../../define/call.ts'
import type { KeyClaim, KeyHold } from '../../state/idempotency.ts'
import type { Service } from '../../run/service.ts'
import type { Reply, Source } from '../../http/message/exchange.ts'

/** What is run once. */
export interface Repeatable {
  /** All that makes two requests the same one, besides who sends them. */
  readonly identity: string
  /** How long its run may take. */
  readonly timeoutMs: number
  /** Whether the reply is wanted as events. */
  readonly isStream: boolean
  /** Begins the run. A stream keeps or releases the key by itself. */
  begin(hold: KeyHold): MaybePromise<Reply>
  /** What the events of an earlier reply are, up to its end. */
  replay(reply: string): string
}

const REPLAYED: readonly string[] = Object.freeze(['Idempotent-Replayed', 'true'])

/** Replies to a request with a key. Throws, or rejects with, a `Fault`. */
export function replyOnce(
  service: Service, key: string, { principal, requestId }: Origin, work: Repeatable,
): MaybePromise<Reply> {
  if (!IDEMPOTENCY_KEY.test(key)) {
    return refusal(400, 'The Idempotency-Key must be 1 to 255 visible ASCII characters', requestId)
  }
  const claim = service.idempotency.claim(principal.id, key, work.identity, work.timeoutMs)
  return isThenable(claim) ? claim.then((later) => replyTo(later, requestId, work))
    : replyTo(claim, requestId, work)
}

function replyTo(claim: KeyClaim, requestId: string, work: Repeatable): MaybePromise<Reply> {
  switch (claim.state) {
    case 'held': return runHolding(claim.hold, work)
    case 'done': {
      const { reply } = claim
      const events: Source = { open: (sink) => void sink.end(work.replay(reply)) }
      return work.isStream ? { status: 200, type: EVENT_STREAM, headers: REPLAYED, body: events }
        : { status: 200, type: JSON_TYPE, headers: REPLAYED, body: reply }
    }
    case 'running': {
      const sentence = 'The request of this Idempotency-Key is running; ask again later'
      return { ...refusal(409, sentence, requestId), headers: ['Retry-After', '1'] }
    }
    case 'died': return refusal(
      409, 'The process that ran the request of this Idempotency-Key has ended, and whether it took effect '
        + 'is not known; find that out, and use a new key', requestId,
    )
    case 'lost': return refusal(
      409, 'The request of this Idempotency-Key has run, but its reply could not be kept', requestId,
    )
    case 'other': return refusal(
      422, 'This Idempotency-Key belongs to another request; make a new key for each', requestId,
    )
  }
}

function runHolding(hold: KeyHold, work: Repeatable): MaybePromise<Reply> {
  const kept = (reply: Reply): MaybePromise<Reply> => {
    const keeping = typeof reply.body === 'string' ? hold.keep(reply.body) : undefined
    return isThenable(keeping) ? keeping.then(() => reply) : reply
  }
  const released = (error: unknown): MaybePromise<never> => {
    const releasing = hold.release()
    if (isThenable(releasing)) return releasing.then(() => { throw error })
    throw error
  }
  try {
    const reply = work.begin(hold)
    return isThenable(reply) ? reply.then(kept, released) : kept(reply)
  } catch (error) {
    return released(error)
  }
}

function refusal(status: number, sentence: string, requestId: string): Reply {
  return problemTextReply(problemText(status, sentence, requestId))
}
