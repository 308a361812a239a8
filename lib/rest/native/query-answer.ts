/**
 * What a query is answered with: its body is read, and its run is the reply, whole or as events. A query with
 * a key runs once.
 */
import { timeoutOf } from '../../run/answer-message.ts'
import { isThenable } from '../../util/thenable.ts'
import { parseJson } from '../../wire/json.ts'
import { EVENT_STREAM } from '../../wire/sse.ts'
import { replyOnce } from '../reply/idempotent-reply.ts'
import { decodeQuery } from './query.ts'
import { notAcceptable, problemText, problemTextReply, wholeOrEvents } from '../reply/reply.ts'
import { QueryRun, replayedAnswer } from './run.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { KeyHold } from '../../state/idempotency.ts'
import type { Service } from '../../run/service.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'
import type { Query } from './query.ts'

/** Answers a query to an agent or a group. Throws, or rejects with, a `Fault`. */
export function answerQuery(
  service: Service, who: Agent | Group, exchange: Exchange,
): Reply | Promise<Reply> {
  const { body, origin: { requestId } } = exchange
  const parsed = parseJson(body, service.limits.maxDepth, service.limits.maxObjects)
  if (!parsed.ok) return problemTextReply(problemText(400, parsed.why, requestId))
  const query = decodeQuery(parsed.value, exchange.head.sessionId)
  if (!('query' in query)) {
    const { items: errors, isCut } = query
    const sentences = errors.map(({ path, message }) => `${path === '' ? 'The body' : path} ${message}`)
    const detail = isCut ? [`More than ${errors.length} members are wrong`, ...sentences] : sentences
    return problemTextReply(problemText(422, detail.join('; '), requestId, { errors }))
  }
  const wanted = wholeOrEvents(exchange.head.accept)
  if (wanted === undefined) return notAcceptable(requestId)
  const isStream = query.stream ?? wanted === EVENT_STREAM
  const { idempotencyKey: key } = exchange.head
  if (key === undefined) return begin(service, who, query, isStream, exchange)
  return replyOnce(service, key, exchange.origin, {
    identity: JSON.stringify([who.id, exchange.head.sessionId, body]),
    timeoutMs: timeoutOf(service, who),
    isStream,
    begin: (hold) => begin(service, who, query, isStream, exchange, hold),
    replay: replayedAnswer,
  })
}

/** Runs a query, or lets its stream run it. Throws, or rejects with, a `Fault`. */
function begin(
  service: Service, who: Agent | Group, query: Query, isStream: boolean, exchange: Exchange, hold?: KeyHold,
): Reply | Promise<Reply> {
  const run = new QueryRun(service, who, query, exchange, hold)
  if (isStream) {
    service.workload.check(exchange.origin)
    const reply = { status: 200, type: EVENT_STREAM, body: run }
    const recalled = run.recall()
    return isThenable(recalled) ? recalled.then(() => reply) : reply
  }
  return run.reply()
}
