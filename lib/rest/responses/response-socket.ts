/**
 * Responses over a WebSocket: each message begins one, whose events are messages. One runs at a time. What
 * was not stored is gone on with on the same connection alone, which keeps the last one.
 * Spec: Open Responses 2026-04-24, WebSocket Transport.
 */
import { callerOf } from '../../define/call.ts'
import { isRecord } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { timer } from '../../util/clock.ts'
import { PlainLease } from '../../util/quota.ts'
import { openaiFault, openaiRefusal, requireModel, wrongParam } from '../openai/openai-errors.ts'
import { valueIn } from '../reply/reply.ts'
import { decodeRequest } from './response-input.ts'
import { ResponseRun } from './response-run.ts'
import { itemsBefore } from './responses.ts'
import type { Dismissal, Exchange, MessageChannel, Reply, Sink } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { Quota } from '../../util/quota.ts'
import type { Seal } from '../../wire/seal.ts'
import type { ResponseItem, ResponseRequest } from './response-input.ts'
import type { EventForm } from './response-run.ts'

/** After that no response begins any more: the specification's 60 minutes. */
const MAX_MS = 60 * 60_000
/** A character takes two bytes in memory at most. */
const CHARACTER_BYTES = 2

/** One line is one message. */
const messages: EventForm = { format: (event) => `${event}\n`, last: undefined }

/** The last response of a connection, where it is not stored. */
interface Unstored {
  readonly id: string
  readonly items: readonly ResponseItem[]
}

export class ResponseSocket implements MessageChannel {
  readonly #service: Service
  readonly #seal: Seal
  readonly #quota: Quota
  /** Holds what `#last` takes. */
  readonly #lease: PlainLease
  #last: Unstored | undefined
  #sink: Sink | undefined
  /** Ends the run of the present response. */
  #abort: (() => void) | undefined
  #isRunning = false
  #isAged = false

  /** `quota`: of the bytes that all connections keep. */
  constructor(service: Service, seal: Seal, quota: Quota, { origin }: Exchange) {
    this.#service = service
    this.#seal = seal
    this.#quota = quota
    this.#lease = new PlainLease(callerOf(origin))
  }

  open(sink: Sink): () => void {
    this.#sink = sink
    const aging = timer(MAX_MS, () => {
      this.#isAged = true
      if (!this.#isRunning) this.#endAged()
    })?.unref()
    return () => {
      clearTimeout(aging)
      this.#last = undefined
      this.#lease.close()
      this.#abort?.()
    }
  }

  async answer(exchange: Exchange): Promise<void> {
    if (this.#isAged) return
    const { body, origin } = exchange
    this.#isRunning = true
    let previous: unknown
    try {
      const message = valueIn(body, this.#service)
      previous = isRecord(message) ? message['previous_response_id'] : undefined
      const overuse = await exchange.take('call', 1)
      if (overuse === undefined) {
        await this.#respond(decodeCreate(message), exchange, previous)
      } else {
        this.#forget(previous)
        this.refuse(openaiRefusal({ status: 429, detail: overuse.detail, requestId: origin.requestId }))
      }
    } catch (error) {
      this.#forget(previous)
      this.refuse(openaiFault(this.#service, error, origin.requestId))
    }
    this.#isRunning = false
    if (this.#isAged) this.#endAged()
  }

  /** The error of a message, in the form of this transport. */
  refuse({ status, body }: Reply): void {
    this.#refuse(status, errorOf(body))
  }

  dismissal({ kind, message }: Dismissal): string {
    const { status, body } = openaiFault(this.#service, new Fault(kind, message), '')
    return errorLine(status, errorOf(body))
  }

  #refuse(status: number, error: ResponseItem): void {
    this.#sink!.write(errorLine(status, error))
  }

  async #respond(request: ResponseRequest, { origin }: Exchange, previous: unknown): Promise<void> {
    const service = this.#service
    const agent = requireModel(service, request.model, origin)
    const last = this.#last
    const before = last !== undefined && last.id === request.previousId ? last.items
      : await itemsBefore(service, origin.principal.id, request)
    const run = new ResponseRun(service, this.#seal, agent, request, before, origin, undefined, messages)
    service.workload.check(origin)
    await this.#run(run)
    if (!run.isCompleted) this.#forget(previous)
    else this.#keep(request.isStored ? undefined : { id: run.id, items: run.itemsSoFar })
  }

  /** Resolves when the run has ended; its events are those of a stream over HTTP. */
  #run(run: ResponseRun): Promise<void> {
    const sink = this.#sink!
    return new Promise((resolve) => {
      let isEnded = false
      const leave = run.open({
        get closed() { return isEnded || sink.closed },
        write: (text) => sink.write(text),
        ready: () => sink.ready(),
        end: () => {
          isEnded = true
          this.#abort = undefined
          resolve()
        },
      })
      if (!isEnded) this.#abort = leave
      if (leave === undefined || sink.closed) resolve()
    })
  }

  #keep(last: Unstored | undefined): void {
    const { conversationBytes } = this.#service.limits
    const bytes = last === undefined ? 0 : JSON.stringify(last.items).length * CHARACTER_BYTES
    const isKept = bytes <= conversationBytes && this.#quota.take(this.#lease, bytes - this.#lease.amount)
    if (!isKept) this.#quota.add(this.#lease, -this.#lease.amount)
    this.#last = isKept ? last : undefined
  }

  /** What failed is not gone on with from the same place. */
  #forget(id: unknown): void {
    if (this.#last?.id === id) this.#keep(undefined)
  }

  #endAged(): void {
    this.#refuse(400, {
      type: 'invalid_request_error', code: 'websocket_connection_limit_reached', param: null,
      message: 'A connection lasts 60 minutes; open a new one',
    })
    this.#sink!.end()
  }
}

/** The error of a refusal over HTTP, as a message has it. */
function errorOf(body: Reply['body']): ResponseItem {
  const { error } = JSON.parse(String(body)) as { readonly error: ResponseItem }
  return { ...error, code: error['code'] ?? error['type'] }
}

function errorLine(status: number, error: ResponseItem): string {
  return `${JSON.stringify({ type: 'error', status, error })}\n`
}

/** Decodes a message. Throws `Fault('invalid')`. */
function decodeCreate(message: unknown): ResponseRequest {
  if (!isRecord(message) || message['type'] !== 'response.create') {
    throw wrongParam('type', 'must be response.create, beside the members of a response')
  }
  const { stream, background, generate } = message
  if (stream === false) throw wrongParam('stream', 'must be left out: events are all that is sent here')
  if (background === true) throw wrongParam('background', 'must be left out; POST to /v1/responses for that')
  // OpenAI's, for what a model can prepare.
  if (generate === false) throw wrongParam('generate', 'must be left out: an agent prepares nothing')
  return decodeRequest({ ...message, stream: true })
}
