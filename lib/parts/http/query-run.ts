/**
 * Queries over plain HTTP: a body is read, and its run is the reply, whole or as events. A query with an
 * `Idempotency-Key` runs once.
 */
import { conversationsOf } from '../../floors/conversations/conversation.ts'
import { isRecord } from '../../kernel/define/content.ts'
import { answerMessage, timeoutOf } from '../../floors/conversations/answer-message.ts'
import { andThen, isThenable } from '../../kernel/util/thenable.ts'
import { formatJson, quote } from '../../kernel/wire/json.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { problem, PROBLEM_JSON, problemReply } from '../../kernel/wire/problem.ts'
import { replyOnce } from '../../floors/reply/idempotent-reply.ts'
import { bounded, tokenCounts, valueIn, wantsEvents } from '../../floors/reply/reply.ts'
import { NativeRun } from './native-run.ts'
import { decodeQuery } from './query.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { CallFacts, ChatMessage, Origin } from '../../kernel/define/call.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { CallEvent } from '../../kernel/define/event.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { UserMessage } from '../../floors/conversations/answer-message.ts'
import type { GroupListener } from '../../floors/groups/group.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { KeyHold } from '../../floors/idempotency/idempotency.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Query } from './query.ts'

interface QueryInput extends CallFacts, UserMessage {
  readonly conversationId: string
  /** Undefined until the conversation has been read. */
  history: readonly ChatMessage[] | undefined
}

class QueryRun extends NativeRun<Answer> implements GroupListener {
  readonly #agent: Agent | Group
  readonly #input: QueryInput
  #hasText = false
  /** Which agent of a group has sent something last. */
  #speaker: Agent | undefined

  constructor(service: Service, agent: Agent | Group, input: QueryInput, origin: Origin, hold?: KeyHold) {
    super(service, origin, hold, agent, input)
    this.#agent = agent
    this.#input = input
  }

  /**
   * Reads the conversation, for a reply as events: where that fails, the query is refused before a stream has
   * begun. Rejects with a `Fault`.
   */
  recall(): MaybePromise<void> {
    const input = this.#input
    if (!input.isNamed || input.history !== undefined) return undefined
    const known = conversationsOf(this.service).history(this.call.principal.id, input.conversationId)
    if (isThenable(known) && this.hold === undefined) this.call.cancelOnDisconnect()
    return andThen(known, (history) => { input.history = history })
  }

  /** An agent of a group begins. */
  begin(agent: Agent): void {
    this.#speaker = agent
    this.send('step', `{"agent":${formatJson(agent.name)}}`)
  }

  /** A piece of an agent of a group. */
  say(agent: Agent, piece: Content): void | Promise<void> {
    // Where several answer at the same time, each delta belongs to the step before it.
    if (piece.type === 'text' && agent !== this.#speaker) this.begin(agent)
    return this.#emit(piece)
  }

  event(event: CallEvent, agent: string | undefined): void {
    if (this.sink === undefined) return
    if (event.type === 'reasoning') {
      this.send('reasoning', formatJson({ text: event.text, agent }))
    } else if (event.type === 'tool-call') {
      const { id, name, args } = event
      this.send('tool', formatJson({ id, name, state: 'running', args, agent }))
    } else if (event.type === 'tool-result') {
      const { id, name, result, isError } = event
      const state = isError === true ? 'failed' : 'done'
      this.send('tool', formatJson({ id, name, state, result, agent }))
    }
  }

  protected override execute(): MaybePromise<Answer> {
    if (this.sink === undefined) return answerMessage(this.service, this.#agent, this.#input, this.call)
    return answerMessage(this.service, this.#agent, this.#input, this.call, this.#emit.bind(this), this)
  }

  protected override finish(answer: Answer): void {
    // An answer that came whole is one piece.
    if (!this.#hasText && answer.text !== '') this.#delta(answer.text)
    this.done(this.encode(answer))
  }

  #emit(piece: Content): void | Promise<void> {
    if (piece.type === 'text' && !this.#delta(piece.text)) return this.sink!.ready()
  }

  #delta(text: string): boolean {
    this.#hasText = true
    return this.send('delta', `{"text":${quote(text)}}`)
  }

  protected override encode({ text, content, data, state, results, artifacts = [] }: Answer): string {
    const head = `{"response":${quote(text)},"agent":${quote(this.#agent.name)},`
      + `"query":${quote(this.#input.prompt)},"session_id":"${this.#input.conversationId}",`
      + `"request_id":"${this.call.requestId}"`
    // The text is `response`; everything else stands in `content`.
    const hasMore = artifacts.length > 0 || content.some(({ type }) => type !== 'text')
    const { usage } = this.call
    const isPlain = !hasMore && data === undefined && state === 'completed' && results === undefined
      && usage === undefined
    const more = isPlain ? '{}' : formatJson({
      data,
      content: hasMore ? [
        ...content.filter(({ type }) => type !== 'text'), ...artifacts.flatMap(({ parts }) => parts),
      ] : undefined,
      state: state === 'completed' ? undefined : state,
      results,
      final_response: results === undefined ? undefined : text,
      usage: usage && tokenCounts(usage),
    })
    return bounded(more === '{}' ? `${head}}` : `${head},${more.slice(1)}`, this.service.limits)
  }
}

/** An earlier reply as events. */
function replayedAnswer(reply: string): string {
  const answer: unknown = JSON.parse(reply)
  const text = isRecord(answer) ? answer['response'] : undefined
  if (text === undefined || text === '') return formatEvent(reply, 'done', '1')
  return formatEvent(`{"text":${formatJson(text)}}`, 'delta', '1') + formatEvent(reply, 'done', '2')
}

/** Answers a query to an agent or a group. Throws, or rejects with, a `Fault`. */
export function answerQuery(
  service: Service, agent: Agent | Group, exchange: Exchange,
): MaybePromise<Reply> {
  const { body, origin: { requestId } } = exchange
  const query = decodeQuery(valueIn(body, service), exchange.head.sessionId)
  if (!('query' in query)) {
    const { items: errors, isCut } = query
    const sentences = errors.map(({ path, message }) => `${path === '' ? 'The body' : path} ${message}`)
    const detail = isCut ? [`More than ${errors.length} members are wrong`, ...sentences] : sentences
    const document = problem(422, detail.join('; '), requestId, { errors })
    return { status: 422, type: PROBLEM_JSON, body: formatJson(document) }
  }
  const prefersEvents = wantsEvents(exchange.head.accept)
  const isStream = query.stream ?? prefersEvents
  const { idempotencyKey: key } = exchange.head
  if (key === undefined) return begin(service, agent, query, isStream, exchange)
  return replyOnce(service, key, exchange.origin, problemReply, {
    identity: formatJson([agent.id, exchange.head.sessionId, body]),
    timeoutMs: timeoutOf(service, agent),
    isStream,
    begin: (hold) => begin(service, agent, query, isStream, exchange, hold),
    replay: replayedAnswer,
  })
}

/** Runs a query, or lets its stream run it. Throws, or rejects with, a `Fault`. */
function begin(
  service: Service, agent: Agent | Group, query: Query, isStream: boolean, exchange: Exchange, hold?: KeyHold,
): MaybePromise<Reply> {
  const { query: prompt, history, metadata, sessionId } = query
  const conversationId = sessionId ?? conversationsOf(service).makeId()
  const run = new QueryRun(service, agent, {
    protocol: 'http', sessionId: conversationId, message: [{ type: 'text', text: prompt }], metadata,
    prompt, conversationId, isNamed: sessionId !== undefined, history,
  }, exchange.origin, hold)
  if (!isStream) return run.reply()
  const reply = run.events()
  return andThen(run.recall(), () => reply)
}
