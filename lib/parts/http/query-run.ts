/**
 * Queries over plain HTTP: a body is read, and its answer is the reply, whole or as events. A query with an
 * `Idempotency-Key` runs once.
 */
import { conversationsOf } from '../../floors/conversations/conversation.ts'
import { isRecord } from '../../kernel/define/content.ts'
import { andThen, isThenable } from '../../kernel/util/thenable.ts'
import { formatJson, quote } from '../../kernel/wire/json.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { bounded, problemText, tokenCounts, valueIn, wantsEvents } from '../../floors/reply/reply.ts'
import { answerOnce } from '../../floors/reply/agent-run.ts'
import { decodeQuery } from './query.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { CallFacts, ChatMessage } from '../../kernel/define/call.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { UserMessage } from '../../floors/conversations/answer-message.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { PublicFailure } from '../../floors/reply/reply.ts'
import type { RunEvent } from '../../floors/answers/run-event.ts'
import type { AgentFace } from '../../floors/reply/agent-run.ts'

interface QueryInput extends CallFacts, UserMessage {
  readonly conversationId: string
  /** Undefined until the conversation has been read. */
  history: readonly ChatMessage[] | undefined
}

/** Answers a query to an agent or a group. Throws, or rejects with, a `Fault`. */
export function answerQuery(
  service: Service, agent: Agent | Group, exchange: Exchange,
): MaybePromise<Reply> {
  const { body, head } = exchange
  const { query: prompt, history, metadata, sessionId, stream } = (
    decodeQuery(valueIn(body, service), head.sessionId)
  )
  const prefersEvents = wantsEvents(head.accept)
  const isStream = stream ?? prefersEvents
  const conversationId = sessionId ?? conversationsOf(service).makeId()
  const input: QueryInput = {
    protocol: 'http', sessionId: conversationId, message: [{ type: 'text', text: prompt }], metadata,
    prompt, conversationId, isNamed: sessionId !== undefined, history,
  }
  const face = new QueryFace(agent, input, service.limits)
  return answerOnce(service, exchange, agent, input, face, {
    identity: [agent.id, head.sessionId, body], isStream, replay: replayedAnswer,
  }, (run) => {
    if (!isStream) return run.reply()
    const reply = run.events()
    if (!input.isNamed || history !== undefined) return reply
    // Read before the stream begins: where that fails, the query is refused.
    const known = conversationsOf(service).history(run.call.principal.id, conversationId)
    if (isThenable(known)) run.waitWithClient()
    return andThen(known, (messages) => {
      input.history = messages
      return reply
    })
  })
}

/** An earlier reply as events. */
function replayedAnswer(reply: string): string {
  const answer: unknown = JSON.parse(reply)
  const text = isRecord(answer) ? answer['response'] : undefined
  if (text === undefined || text === '') return formatEvent(reply, 'done', '1')
  return formatEvent(`{"text":${formatJson(text)}}`, 'delta', '1') + formatEvent(reply, 'done', '2')
}

/** Its events end with `done`, which has the whole reply, or `error`. */
class QueryFace implements AgentFace {
  readonly takesSteps = true
  /** A request that is sent again may ask for the other form. */
  readonly keepsWhole = true
  readonly #agent: Agent | Group
  readonly #input: QueryInput
  readonly #limits: KernelLimits
  #hasText = false
  /** A piece that an end has which cannot be sent. */
  #unsent = ''
  /** Which agent of a group has sent something last. */
  #speaker: Agent | Group | undefined
  #count = 0

  constructor(agent: Agent | Group, input: QueryInput, limits: KernelLimits) {
    this.#agent = agent
    this.#input = input
    this.#limits = limits
  }

  event(event: RunEvent): string {
    switch (event.type) {
      case 'step': return this.#step(event.agent)
      case 'piece': {
        const { content, agent } = event
        if (content.type !== 'text') return ''
        return this.#say(content.text, agent)
      }
      case 'reasoning': {
        const { text, agent } = event
        return this.#event('reasoning', formatJson({ text, agent }))
      }
      case 'tool-call': {
        const { id, name, args, agent } = event
        return this.#event('tool', formatJson({ id, name, state: 'running', args, agent }))
      }
      case 'tool-result': {
        const { id, name, result, isError, agent } = event
        const state = isError === true ? 'failed' : 'done'
        return this.#event('tool', formatJson({ id, name, state, result, agent }))
      }
      default: return ''
    }
  }

  end(answer: Answer, call: LiveCall): string {
    // An answer that came whole is one piece.
    if (!this.#hasText && answer.text !== '') this.#unsent = this.#say(answer.text)
    const reply = this.whole(answer, call)
    return this.#unsent + this.#event('done', reply)
  }

  failed(failure: PublicFailure, { requestId }: LiveCall): string {
    return this.#unsent + this.#event('error', problemText(failure, requestId))
  }

  /** Throws `Fault('too-large')`. */
  whole(
    { text, content, data, state, results, artifacts = [] }: Answer, { requestId, usage }: LiveCall,
  ): string {
    const head = `{"response":${quote(text)},"agent":${quote(this.#agent.name)},`
      + `"query":${quote(this.#input.prompt)},"session_id":"${this.#input.conversationId}",`
      + `"request_id":"${requestId}"`
    // The text is `response`; everything else stands in `content`.
    const hasMore = artifacts.length > 0 || content.some(({ type }) => type !== 'text')
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
    return bounded(more === '{}' ? `${head}}` : `${head},${more.slice(1)}`, this.#limits)
  }

  /**
   * Where several answer at the same time, each delta belongs to the step before it: what the whole says
   * itself behind the steps of its agents is a step too.
   */
  #say(text: string, agent: Agent | Group | undefined = this.#speaker && this.#agent): string {
    const step = agent === undefined || agent === this.#speaker ? '' : this.#step(agent)
    return step + this.#delta(text)
  }

  #step(agent: Agent | Group): string {
    this.#speaker = agent
    return this.#event('step', `{"agent":${formatJson(agent.name)}}`)
  }

  #delta(text: string): string {
    this.#hasText = true
    return this.#event('delta', `{"text":${quote(text)}}`)
  }

  #event(event: string, data: string): string { return formatEvent(data, event, String(++this.#count)) }
}
