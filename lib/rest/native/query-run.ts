/**
 * One query on its way to its reply, whole or as events: what of a query and its answer is HTTP's own.
 */
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { LiveCall } from '../../define/live-call.ts'
import { answerMessage, PlainChannel, timeoutOf } from '../../run/answer-message.ts'
import { isThenable } from '../../util/thenable.ts'
import { isWithin } from '../../wire/bounded.ts'
import { parseJson, quote } from '../../wire/json.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import { EVENT_STREAM, formatEvent } from '../../wire/sse.ts'
import { replyOnce } from '../reply/idempotent-reply.ts'
import { faultText, notAcceptable, problemText, problemTextReply, wholeOrEvents } from '../reply/reply.ts'
import { decodeQuery } from './query.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Answer } from '../../define/answer.ts'
import type { ChatMessage } from '../../define/chat.ts'
import type { Content } from '../../define/content.ts'
import type { Exchange, Reply, Sink, Source } from '../../http/message/exchange.ts'
import type { UserMessage } from '../../run/answer-message.ts'
import type { GroupListener } from '../../run/group.ts'
import type { Service } from '../../run/service.ts'
import type { KeyHold } from '../../state/idempotency.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Query } from './query.ts'

/** A query that is about to run: once, by `reply` or by `open`. */
export class QueryRun implements Source, UserMessage, GroupListener {
  readonly prompt: string
  readonly conversationId: string
  readonly isNamed: boolean
  history: readonly ChatMessage[] | undefined
  readonly #service: Service
  readonly #who: Agent | Group
  readonly #call: LiveCall
  readonly #hold: KeyHold | undefined
  /** Where events go, how many did, and whether a text was among them. */
  #sink: Sink | undefined
  #count = 0
  #hasText = false
  /** Who of a group has said something last. */
  #speaker: Agent | undefined

  /** `hold` is of a query with a key: its run goes on when the client leaves, and `open` gives it back. */
  constructor(service: Service, who: Agent | Group, query: Query, { origin }: Exchange, hold?: KeyHold) {
    this.prompt = query.query
    this.conversationId = query.sessionId ?? service.conversations.makeId()
    this.isNamed = query.sessionId !== undefined
    this.history = query.history
    this.#service = service
    this.#who = who
    this.#hold = hold
    const message = [{ type: 'text' as const, text: query.query }]
    const channel = new PlainChannel(service, origin, 'http', this.conversationId, message, query.metadata)
    this.#call = new LiveCall(origin, channel, channel)
  }

  /** The whole reply at once. Throws, or rejects with, a `Fault`. */
  reply(): Reply | Promise<Reply> {
    const answer = answerMessage(this.#service, this.#who, this, this.#call)
    if (!isThenable(answer)) return this.#finished(answer)
    if (this.#hold === undefined) this.#call.cancelOnDisconnect()
    return answer.then(this.#finished.bind(this))
  }

  /**
   * Learns what was said before, for a reply as events: where that cannot be read, the query is refused
   * before a stream has begun. Rejects with a `Fault`.
   */
  recall(): MaybePromise<void> {
    if (!this.isNamed || this.history !== undefined) return undefined
    const known = this.#service.conversations.history(this.#call.principal.id, this.conversationId)
    if (!isThenable(known)) {
      this.history = known
      return undefined
    }
    if (this.#hold === undefined) this.#call.cancelOnDisconnect()
    return known.then((later) => { this.history = later })
  }

  /** The reply as events. */
  open(sink: Sink): (() => void) | undefined {
    // Nobody reads: there was no room for the stream, or the client has left.
    if (sink.closed) {
      void this.#hold?.release()
      return undefined
    }
    this.#sink = sink
    try {
      const answer = answerMessage(this.#service, this.#who, this, this.#call, this.#hear.bind(this), this)
      if (isThenable(answer)) void this.#finishLater(answer)
      else this.#finish(answer)
    } catch (error) {
      this.#fail(error)
    }
    return this.#hold === undefined ? this.#call.disconnect.bind(this.#call, undefined) : undefined
  }

  /** An agent of a group begins. */
  begin(agent: Agent): void {
    this.#speaker = agent
    this.#send('step', `{"agent":${JSON.stringify(agent.name)}}`)
  }

  /** An agent of a group says a piece. */
  say(agent: Agent, piece: Content): void | Promise<void> {
    // Where several speak at one time, each delta belongs to the step before it.
    if (piece.type === 'text' && agent !== this.#speaker) this.begin(agent)
    return this.#hear(piece)
  }

  #hear(piece: Content): void | Promise<void> {
    if (piece.type === 'text' && !this.#delta(piece.text)) return this.#sink!.ready()
  }

  async #finishLater(answer: Promise<Answer>): Promise<void> {
    try {
      this.#finish(await answer)
    } catch (error) {
      this.#fail(error)
    }
  }

  #finish(answer: Answer): void {
    // An answer that came whole is one piece.
    if (!this.#hasText && answer.text !== '') this.#delta(answer.text)
    const reply = this.#encode(answer)
    this.#end('done', reply, this.#hold?.keep(reply))
  }

  #fail(error: unknown): void {
    this.#end('error', faultText(this.#service, error, this.#call.requestId).text, this.#hold?.release())
  }

  /** Whoever asks again after the end is told of that end. */
  #end(event: string, data: string, settled: MaybePromise<void>): void {
    if (isThenable(settled)) void settled.then(() => this.#sendLast(event, data))
    else this.#sendLast(event, data)
  }

  #sendLast(event: string, data: string): void {
    this.#send(event, data)
    this.#sink!.end()
  }

  #delta(text: string): boolean {
    this.#hasText = true
    return this.#send('delta', `{"text":${quote(text)}}`)
  }

  #send(event: string, data: string): boolean {
    return this.#sink!.write(formatEvent(data, event, String(++this.#count)))
  }

  #finished(answer: Answer): Reply {
    return { status: 200, type: JSON_TYPE, body: this.#encode(answer) }
  }

  /** The reply as JSON text. */
  #encode({ text, content, data, state, results, artifacts = [] }: Answer): string {
    const said = `{"response":${quote(text)},"agent":${quote(this.#who.name)},"query":${quote(this.prompt)},`
      + `"session_id":"${this.conversationId}","request_id":"${this.#call.requestId}"`
    // The spoken text is `response`; what else there is stands in `content`.
    const hasMore = artifacts.length > 0 || content.some(({ type }) => type !== 'text')
    const isPlain = !hasMore && data === undefined && state === 'completed' && results === undefined
    const more = isPlain ? '{}' : JSON.stringify({
      data,
      content: hasMore ? [
        ...content.filter(({ type }) => type !== 'text'), ...artifacts.flatMap(({ parts }) => parts),
      ] : undefined,
      state: state === 'completed' ? undefined : state,
      results,
      final_response: results === undefined ? undefined : text,
    })
    const reply = more === '{}' ? `${said}}` : `${said},${more.slice(1)}`
    const { maxResultBytes } = this.#service.limits
    if (isWithin(reply, maxResultBytes)) return reply
    throw new Fault('too-large', `The reply is larger than ${maxResultBytes} bytes`)
  }
}

/** A reply of earlier as events. */
export function replayedAnswer(reply: string): string {
  const answer: unknown = JSON.parse(reply)
  const said = isRecord(answer) ? answer['response'] : undefined
  if (said === undefined || said === '') return formatEvent(reply, 'done', '1')
  return formatEvent(`{"text":${JSON.stringify(said)}}`, 'delta', '1') + formatEvent(reply, 'done', '2')
}

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
