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
import type { MaybePromise } from '../core/store.ts'
import type { Exchange, Reply, Sink, Source } from '../http/exchange.ts'
import type { Query } from './query.ts'
import type { ProblemText } from './reply.ts'

/** A query that is about to run: once, by `reply` or by `open`. It is its call's line too. */
export class QueryRun implements Source, CallChannel {
  readonly protocol = 'http'
  readonly sessionId: string
  history: readonly ChatMessage[] | undefined
  /** The conversation as it was before. */
  #known: readonly ChatMessage[] | undefined
  readonly #service: Service
  readonly #who: Agent | Group
  readonly #query: Query
  readonly #exchange: Exchange
  readonly #call: LiveCall

  constructor(service: Service, who: Agent | Group, query: Query, exchange: Exchange) {
    this.#service = service
    this.#who = who
    this.#query = query
    this.#exchange = exchange
    this.sessionId = query.sessionId ?? service.conversations.makeId()
    this.history = query.history
    this.#call = new LiveCall(exchange.origin, this)
  }

  get message(): readonly Content[] { return [{ type: 'text', text: this.#query.query }] }
  get metadata(): Query['metadata'] { return this.#query.metadata }

  log(level: Severity, data: unknown, logger: string | undefined): void {
    this.#service.log(logLevelOf(level), describe(data), { request: this.#call.requestId, logger })
  }

  /** Learns what was said before. To be called, and waited for, before one of the next two. */
  recall(): MaybePromise<void> {
    const { sessionId } = this.#query
    if (sessionId === undefined) return undefined
    const known = this.#service.conversations.history(this.#call.principal.id, sessionId)
    if (!(known instanceof Promise)) return this.#remember(known)
    this.#exchange.origin.onGone(() => this.#leave())
    return known.then((messages) => this.#remember(messages))
  }

  /** The whole reply at once. */
  reply(): MaybePromise<Reply> {
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
    const end = (event: string, data: string): void => {
      send(event, data)
      sink.end()
    }
    const finish = (outcome: Answer): MaybePromise<void> => {
      const wrong = this.#problem(outcome)
      if (wrong !== undefined) return end('error', wrong.text)
      const done = this.#encode(outcome)
      const recorded = this.#record(outcome)
      return recorded instanceof Promise ? recorded.then(() => end('done', done)) : end('done', done)
    }
    const failed = (error: unknown): void => {
      end('error', faultText(this.#service, error, this.#call.requestId).text)
    }
    try {
      const outcome = answer(this.#service, this.#who, this.#query.query, this.#call, (piece) => {
        if (piece.type !== 'text') return undefined
        return send('delta', `{"text":${JSON.stringify(piece.text)}}`) ? undefined : sink.ready()
      })
      const over = outcome instanceof Promise ? outcome.then(finish) : finish(outcome)
      if (over instanceof Promise) over.catch(failed)
    } catch (error) {
      failed(error)
    }
    return () => this.#leave()
  }

  /** The client is not there any more: a run that is still going is not wanted. */
  #leave(): void {
    if (!this.#call.over) this.#call.cancel(new Fault('cancelled', 'The client has left'))
  }

  #remember(known: readonly ChatMessage[]): void {
    this.#known = known
    this.history ??= known
  }

  #finished(outcome: Answer): MaybePromise<Reply> {
    const wrong = this.#problem(outcome)
    if (wrong !== undefined) return problemTextReply(wrong)
    const reply = { status: 200, type: JSON_TYPE, body: this.#encode(outcome) }
    const recorded = this.#record(outcome)
    return recorded instanceof Promise ? recorded.then(() => reply) : reply
  }

  /** An agent that says itself that it failed, or that it will not. */
  #problem({ state, text }: Answer): ProblemText | undefined {
    if (state !== 'failed' && state !== 'rejected') return undefined
    const detail = text === '' ? `The agent ${state === 'failed' ? 'failed' : 'rejected the query'}` : text
    const status = state === 'failed' ? 500 : 422
    return problemText(status, detail, this.#call.requestId, { state, agent: this.#who.name })
  }

  /** The reply as JSON text. */
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
    return reply
  }

  /** What was said becomes part of the conversation. */
  #record({ text }: Answer): MaybePromise<void> {
    const { query } = this.#query
    return this.#service.conversations.record(this.#call.principal.id, this.sessionId, [
      { role: 'user', content: query }, { role: 'assistant', content: text },
    ], this.#known)
  }
}
