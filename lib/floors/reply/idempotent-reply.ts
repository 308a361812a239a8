/**
 * A request with an `Idempotency-Key`: run once, and replied with the same when it is sent again. Its run
 * goes on when the client leaves. An error is not kept.
 * Spec: draft-ietf-httpapi-idempotency-key-header-07
 */
import { IDEMPOTENCY_KEY, idempotencyOf } from '../idempotency/idempotency.ts'
import { andThen, caught } from '../../kernel/util/thenable.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { problemReply } from '../../kernel/wire/problem.ts'
import { EVENT_STREAM } from '../../kernel/wire/sse.ts'
import type { Exchange, Refusal, Reply, Source } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { KeyClaim, KeyHold } from '../idempotency/idempotency.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'

/** What is run once. */
export interface Repeatable {
  /** All that makes two requests the same one, besides their sender: JSON. */
  readonly identity: object
  /** Whether the reply is events. */
  readonly isStream: boolean
  /** The events of an earlier reply that was kept whole. Left out: the events are kept. */
  replay?(reply: string): string
  /** Makes a refusal in the protocol's form. Left out: a problem document. */
  refuse?(refusal: Refusal): Reply
  /** The headers of events. */
  readonly headers?: readonly string[]
}

const REPLAYED: readonly string[] = Object.freeze(['Idempotent-Replayed', 'true'])

/** What pages may read of a reply that comes again. */
export const replayHeaders: readonly string[] = Object.freeze(['idempotent-replayed'])

/** The refusal of a key in each state in which it neither runs nor replays. */
const refusals: Readonly<Record<
  Exclude<KeyClaim['state'], 'held' | 'done'>, readonly [status: number, detail: string]
>> = {
  running: [409, 'The request of this Idempotency-Key is running; ask again later'],
  died: [409, 'The process that ran the request of this Idempotency-Key has ended, and whether it took '
    + 'effect is not known; find that out, and use a new key'],
  lost: [409, 'The request of this Idempotency-Key has run, but its reply could not be kept'],
  other: [422, 'This Idempotency-Key belongs to another request; make a new key for each'],
}

/** Begins a run. A stream keeps or releases the key itself, if there is one. */
export type Begin = (hold?: KeyHold) => MaybePromise<Reply>

/**
 * A request without a key simply runs. `timeoutMs`: how long it may take. Throws, or rejects with, a `Fault`.
 */
export function replyOnce(
  service: Service, { head, origin }: Exchange, work: Repeatable, timeoutMs: number, begin: Begin,
): MaybePromise<Reply> {
  const { idempotencyKey: key } = head
  if (key === undefined) return begin()
  const { principal, requestId } = origin
  const { refuse = problemReply } = work
  if (!IDEMPOTENCY_KEY.test(key)) {
    const detail = 'The Idempotency-Key must be 1 to 255 visible ASCII characters'
    return refuse({ status: 400, detail, requestId })
  }
  const claim = idempotencyOf(service).claim(principal.id, key, formatJson(work.identity), timeoutMs)
  return andThen(claim, (known) => {
    if (known.state === 'held') return runHolding(known.hold, begin)
    if (known.state === 'done' && isWhole(known.reply, work)) return replayed(known.reply, work)
    const [status, detail] = refusals[known.state === 'done' ? 'lost' : known.state]
    const headers = known.state === 'running' ? { headers: ['Retry-After', '1'] } : {}
    return refuse({ status, detail, requestId, ...headers })
  })
}

/** Whether a reply is as it was kept, where that can be seen: it is JSON, or events. */
function isWhole(reply: string, { isStream, replay }: Repeatable): boolean {
  if (isStream && replay === undefined) return reply.endsWith('\n\n')
  try {
    JSON.parse(reply)
    return true
  } catch {
    return false
  }
}

function replayed(reply: string, work: Repeatable): Reply {
  if (!work.isStream) return { status: 200, type: JSON_TYPE, headers: REPLAYED, body: reply }
  const events: Source = { open: (sink) => void sink.end(work.replay?.(reply) ?? reply) }
  return { status: 200, type: EVENT_STREAM, headers: [...work.headers ?? [], ...REPLAYED], body: events }
}

function runHolding(hold: KeyHold, begin: Begin): MaybePromise<Reply> {
  const keep = (reply: Reply): MaybePromise<Reply> => (
    typeof reply.body === 'string' ? andThen(hold.keep(reply.body), () => reply) : reply
  )
  return caught(() => andThen(begin(hold), keep), (error) => (
    andThen(hold.release(), () => { throw error })
  ))
}
