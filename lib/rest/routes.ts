/**
 * The HTTP door: a query to one agent or to a group, the lists, and the streamed reply.
 */
import { isRecord } from '../core/content.ts'
import { LiveCall, logLevelOf } from '../core/call.ts'
import { asFault, Fault } from '../core/fault.ts'
import { answer } from '../core/operations.ts'
import { acceptance } from '../wire/media.ts'
import { parseJson } from '../wire/json.ts'
import { EVENT_STREAM, formatEvent } from '../wire/sse.ts'
import { problem } from '../wire/problem.ts'
import { queryOperation, listOperation, describeOperation } from './operations.ts'
import { decodeQuery } from './query.ts'
import { json, JSON_TYPE, problemOf, problemReply, refuse } from './reply.ts'
import type { Agent, Group } from '../core/agent.ts'
import type { Line } from '../core/call.ts'
import type { Turn } from '../core/conversation.ts'
import type { Outcome } from '../core/operations.ts'
import type { Service } from '../core/service.ts'
import type { Endpoint, Exchange, Reply, Sink, Source } from '../http/exchange.ts'
import type { Query } from './query.ts'

/** The paths of this door. `path` is where the main query goes besides `/` and `/agents`. */
export function queryEndpoints(service: Service, path: string | undefined): readonly Endpoint[] {
  const paths = [...new Set(['/', '/agents', ...path === undefined ? [] : [path]])]
  const bases = paths.filter((one) => one !== '/')
  const root = (): Agent | Group => service.catalog.root ?? missing('agent')
  const list = listEndpoint(service)
  return [
    ...paths.map((at) => queryEndpoint(service, at, root)),
    { ...list, path: '/agents' },
    ...bases.map((base) => ({ ...list, path: `${base}/list` })),
    ...bases.flatMap((base) => agentEndpoints(service, `${base}/{agent}`)),
  ]
}

function listEndpoint(service: Service): Endpoint {
  return {
    path: '/agents',
    methods: ['GET'],
    operations: { get: listOperation },
    refuse,
    handle: () => json({ agents: [...service.catalog.groups, ...service.catalog.agents].map(summary) }),
  }
}

function agentEndpoints(service: Service, path: string): readonly Endpoint[] {
  const named = (exchange: Exchange): Agent | Group => {
    const id = exchange.params.get('agent') ?? ''
    return service.catalog.runnable(id) ?? missing(`agent '${id}'`)
  }
  return [queryEndpoint(service, path, named), {
    path,
    methods: ['GET'],
    operations: { get: describeOperation },
    refuse,
    handle: (exchange) => caught(service, exchange, () => {
      const who = named(exchange)
      return json({ ...summary(who), ...who.kind === 'agent' && who.skills !== undefined && { skills: who.skills } })
    }),
  }]
}

function summary({ id, name, description }: Agent | Group): object {
  return { id, name, description }
}

function missing(what: string): never {
  throw new Fault('not-found', `There is no ${what} here; GET /agents lists those there are`)
}

function queryEndpoint(service: Service, path: string, whoOf: (exchange: Exchange) => Agent | Group): Endpoint {
  return {
    path,
    methods: ['POST'],
    accepts: [JSON_TYPE],
    operations: { post: queryOperation },
    refuse,
    handle: (exchange) => caught(service, exchange, () => ask(service, whoOf(exchange), exchange)),
  }
}

/** The one catch of this door. */
function caught(service: Service, exchange: Exchange, work: () => Reply | Promise<Reply>): Reply | Promise<Reply> {
  const failed = (error: unknown): Reply => problemReply(faultDocument(service, error, exchange.origin.requestId))
  try {
    const reply = work()
    return reply instanceof Promise ? reply.catch(failed) : reply
  } catch (error) {
    return failed(error)
  }
}

function faultDocument(service: Service, error: unknown, requestId: string): ReturnType<typeof problemOf> {
  const fault = asFault(error)
  // A handler's defect was logged where it ran; what has no Fault yet is a defect of this door.
  if (fault !== error) service.log('error', 'A query could not be answered', { request: requestId, cause: error })
  return problemOf(service, fault, requestId)
}

function ask(service: Service, who: Agent | Group, exchange: Exchange): Reply | Promise<Reply> {
  const { requestId } = exchange.origin
  const parsed = parseJson(exchange.body, service.limits.maxDepth)
  if (!parsed.ok) return problemReply(problem(400, parsed.why, requestId))
  const query = decodeQuery(parsed.value, exchange.head.sessionId)
  if (!('query' in query)) {
    const detail = query.map(({ path, message }) => `${path === '' ? 'The body' : path} ${message}`).join('; ')
    return problemReply(problem(422, detail, requestId, { errors: query }))
  }
  const { accept } = exchange.head
  const wantsEvents = acceptance(accept, EVENT_STREAM)
  const wantsJson = acceptance(accept, JSON_TYPE)
  if (wantsEvents === 0 && wantsJson === 0) {
    return problemReply(problem(406, `This path answers ${JSON_TYPE} or ${EVENT_STREAM}`, requestId))
  }
  const turn = new QueryRun(service, who, query, exchange)
  if (query.stream ?? wantsEvents > wantsJson) {
    service.workload.check()
    return { status: 200, type: EVENT_STREAM, body: turn }
  }
  return turn.reply()
}

/** One query: the call, its place in the conversation, and its reply in either form. */
class QueryRun implements Source {
  readonly #service: Service
  readonly #who: Agent | Group
  readonly #query: Query
  readonly #exchange: Exchange
  readonly #sessionId: string
  readonly #call: LiveCall

  constructor(service: Service, who: Agent | Group, query: Query, exchange: Exchange) {
    const { conversations } = service
    const owner = exchange.origin.principal.id
    this.#service = service
    this.#who = who
    this.#query = query
    this.#exchange = exchange
    this.#sessionId = query.sessionId ?? conversations.makeId()
    const kept = query.sessionId === undefined ? undefined : conversations.history(owner, query.sessionId)
    this.#call = new LiveCall(exchange.origin, lineOf(service, exchange, query, this.#sessionId, query.history ?? kept))
  }

  /** The whole reply at once. */
  reply(): Reply | Promise<Reply> {
    const outcome = answer(this.#service, this.#who, this.#query.query, this.#call)
    if (!(outcome instanceof Promise)) return this.#finished(outcome)
    this.#exchange.origin.onGone(() => this.#leave())
    return outcome.then((settled) => this.#finished(settled))
  }

  /** The reply as events. */
  open(sink: Sink): () => void {
    let count = 0
    const send = (event: string, data: string): boolean => sink.write(formatEvent(data, event, String(++count)))
    const finish = (outcome: Outcome): void => {
      const document = this.#problem(outcome)
      if (document === undefined) send('done', this.#encode(outcome))
      else send('error', JSON.stringify(document))
      sink.end()
    }
    const failed = (error: unknown): void => {
      send('error', JSON.stringify(faultDocument(this.#service, error, this.#call.requestId)))
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
    this.#call.cancel(new Fault('cancelled', 'The client has left'))
  }

  #finished(outcome: Outcome): Reply {
    const document = this.#problem(outcome)
    return document === undefined
      ? { status: 200, type: JSON_TYPE, body: this.#encode(outcome) }
      : problemReply(document)
  }

  /** An agent that says itself that it failed, or that it will not. */
  #problem(outcome: Outcome): ReturnType<typeof problem> | undefined {
    const { state, text } = outcome
    if (state !== 'failed' && state !== 'rejected') return undefined
    const detail = text === '' ? `The agent ${state === 'failed' ? 'failed' : 'rejected the query'}` : text
    return problem(state === 'failed' ? 500 : 422, detail, this.#call.requestId, { state, agent: this.#who.name })
  }

  /** The reply as JSON text; what was said becomes part of the conversation. */
  #encode(outcome: Outcome): string {
    const { text, content, data, state, results } = outcome
    const { query } = this.#query
    const files = content.filter((block) => block.type !== 'text')
    const reply = JSON.stringify({
      response: text,
      agent: this.#who.name,
      query,
      session_id: this.#sessionId,
      request_id: this.#call.requestId,
      ...data !== undefined && { data },
      ...files.length > 0 && { content: files },
      ...state !== 'completed' && { state },
      ...results !== undefined && { results, final_response: text },
    })
    if (reply.length > this.#service.limits.maxResultBytes) {
      throw new Fault('too-large', `The reply is larger than ${this.#service.limits.maxResultBytes} bytes`)
    }
    const said: readonly Turn[] = [{ role: 'user', content: query }, { role: 'assistant', content: text }]
    this.#service.conversations.record(this.#call.principal.id, this.#sessionId, said)
    return reply
  }
}

function lineOf(
  service: Service, exchange: Exchange, query: Query, sessionId: string, history: readonly Turn[] | undefined,
): Line {
  return {
    protocol: 'http',
    sessionId,
    history: history ?? [],
    metadata: query.metadata,
    get message() { return [{ type: 'text' as const, text: query.query }] },
    log(level, data, logger) {
      const said = isRecord(data) || Array.isArray(data) ? JSON.stringify(data) : String(data)
      service.log(logLevelOf(level), said, { request: exchange.origin.requestId, logger })
    },
  }
}
