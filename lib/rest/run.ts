/**
 * One query: its call, its place in the conversation, and its reply, whole or as events.
 */
import { LiveCall } from '../core/call.ts'
import { Fault } from '../core/fault.ts'
import { describe, logLevelOf } from '../core/log.ts'
import { answer } from '../core/operations.ts'
import { JSON_TYPE } from '../wire/media.ts'
import { formatEvent } from '../wire/sse.ts'
import { faultText, problemTextReply, problemText } from './reply.ts'
import type { Agent, Group } from '../core/agent.ts'
import type { CallChannel } from '../core/call.ts'
import type { Severity } from '../core/log.ts'
import type { Answer } from '../core/answer.ts'
import type { Content } from '../core/content.ts'
import type { ChatMessage } from '../core/conversation.ts'
import type { Service } from '../core/service.ts'
import type { Exchange, Reply, Sink, Source } from '../http/exchange.ts'
import type { Query } from './query.ts'
import type { ProblemText } from './reply.ts'

/** A query that is about to run: once, by `reply` or by `open`. It is its call's line too. */
export class QueryRun implements Source, CallChannel {
  readonly protocol = 'http'
  readonly sessionId: string
  readonly history: readonly ChatMessage[] | undefined
  readonly #service: Service
  readonly #who: Agent | Group
  readonly #query: Query
  readonly #exchange: Exchange
  readonly #call: LiveCall

  constructor(service: Service, who: Agent | Group, query: Query, exchange: Exchange) {
    const { conversations } = service
    const owner = exchange.origin.principal.id
    const kept = query.sessionId === undefined ? undefined : conversations.history(owner, query.sessionId)
    this.#service = service
    this.#who = who
    this.#query = query
    this.#exchange = exchange
    this.sessionId = query.sessionId ?? conversations.makeId()
    this.history = query.history ?? kept
    this.#call = new LiveCall(exchange.origin, this)
  }

  get message(): readonly Content[] { return [{ type: 'text', text: this.#query.query }] }
  get metadata(): Query['metadata'] { return this.#query.metadata }

  log(level: Severity, data: unknown, logger: string | undefined): void {
    this.#service.log(logLevelOf(level), describe(data), { request: this.#call.requestId, logger })
  }

  /** The whole reply at once. */
  reply(): Reply | Promise<Reply> {
    const outcome = answer(this.#service, this.#who, this.#query.query, this.#call)
    if (!(outcome instanceof Promise)) return this.#finished(outcome)
    this.#exchange.origin.onGone(() => this.#leave())
    return outcome.then((settled) => this.#finished(settled))
  }

  /** The reply as events. */
  open(sink: Sink): (() => void) | undefined {
    // Nobody reads: there was no room for the stream, or the client has left.
    if (sink.closed) return undefined
    let count = 0
    const send = (event: string, data: string): boolean =>
      sink.write(formatEvent(data, event, String(++count)))
    const finish = (outcome: Answer): void => {
      const wrong = this.#problem(outcome)
      if (wrong === undefined) send('done', this.#encode(outcome))
      else send('error', wrong.text)
      sink.end()
    }
    const failed = (error: unknown): void => {
      send('error', faultText(this.#service, error, this.#call.requestId).text)
      sink.end()
    }
    try {
      const outcome = answer(this.#service, this.#who, this.#query.query, this.#call, (piece) => {
        if (piece.type !== 'text') return undefined
        return send('delta', `{"text":${JSON.stringify(piece.text)}}`) ? undefined : sink.ready()
      })
      if (outcome instanceof Promise) outcome.then(finish).catch(failed)
      else finish(outcome)
    } catch (error) {
      failed(error)
    }
    return () => this.#leave()
  }

  /** The client is not there any more: a run that is still going is not wanted. */
  #leave(): void {
    if (!this.#call.over) this.#call.cancel(new Fault('cancelled', 'The client has left'))
  }

  #finished(outcome: Answer): Reply {
    const wrong = this.#problem(outcome)
    if (wrong !== undefined) return problemTextReply(wrong)
    return { status: 200, type: JSON_TYPE, body: this.#encode(outcome) }
  }

  /** An agent that says itself that it failed, or that it will not. */
  #problem({ state, text }: Answer): ProblemText | undefined {
    if (state !== 'failed' && state !== 'rejected') return undefined
    const detail = text === '' ? `The agent ${state === 'failed' ? 'failed' : 'rejected the query'}` : text
    const status = state === 'failed' ? 500 : 422
    return problemText(status, detail, this.#call.requestId, { state, agent: this.#who.name })
  }

  /** The reply as JSON text; what was said becomes part of the conversation. */
  #encode(outcome: Answer): string {
    const { text, content, data, state, results } = outcome
    const { query } = this.#query
    const { maxResultBytes } = this.#service.limits
    // What was left as an artifact is no part of the spoken text.
    const { artifactContent } = this.#call
    const more = content.filter((block) => block.type !== 'text' || artifactContent?.includes(block) === true)
    const reply = JSON.stringify({
      response: text,
      agent: this.#who.name,
      query,
      session_id: this.sessionId,
      request_id: this.#call.requestId,
      ...data !== undefined && { data },
      ...more.length > 0 && { content: more },
      ...state !== 'completed' && { state },
      ...results !== undefined && { results, final_response: text },
    })
    if (reply.length > maxResultBytes) {
      throw new Fault('too-large', `The reply is larger than ${maxResultBytes} bytes`)
    }
    const said: readonly ChatMessage[] = [{ role: 'user', content: query }, { role: 'assistant', content: text }]
    this.#service.conversations.record(this.#call.principal.id, this.sessionId, said)
    return reply
  }
}
