/**
 * One operation on its way to its answer: params are decoded, the operation runs, and its result, stream or
 * fault is encoded. The one catch of a request. A binding extends it with where params stand and how answers
 * are written. Spec: A2A 1.0 §3.1, §3.3.
 */
import { isPlainText } from '../../../kernel/define/content.ts'
import { Fault, publicMessage, retryAfter } from '../../../kernel/define/fault.ts'
import { scopesIn } from '../../../kernel/define/principal.ts'
import { shownFault } from '../../../kernel/run/shown-fault.ts'
import { isPromised } from '../../../kernel/util/thenable.ts'
import { isWithin } from '../../../kernel/wire/bounded.ts'
import { quote } from '../../../kernel/wire/json.ts'
import { randomUuid } from '../../../kernel/wire/random.ts'
import { EVENT_STREAM, formatEvent } from '../../../kernel/wire/sse.ts'
import { wrongField } from '../model/fields.ts'
import { extensionHeaders } from '../tasks/request.ts'
import { operations } from '../tasks/operations.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { Artifact } from '../../../kernel/define/artifact.ts'
import type { Dismissal, Exchange, Reply, Sink, Source } from '../../../kernel/http/message/exchange.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Dialect, OperationCodec } from '../model/dialect.ts'
import type { OperationName, StreamEvent, TenantRequest, Whole } from '../model/model.ts'
import type { A2aOptions } from '../model/options.ts'
import type { A2aContext, A2aRequest, EventSink, EventStream } from '../tasks/request.ts'

export interface WholeReply extends Reply { readonly body: string }

const none: readonly string[] = Object.freeze([])

type Codec = OperationCodec<TenantRequest, unknown>

export abstract class OperationCall implements A2aRequest, Source {
  readonly context: A2aContext
  readonly agent: Agent | Group
  readonly dialect: Dialect
  readonly exchange: Exchange
  readonly #operation: OperationName
  readonly #codec: Codec
  #events: EventStream | undefined

  constructor(
    context: A2aContext, agent: Agent | Group, dialect: Dialect, exchange: Exchange, operation: OperationName,
  ) {
    this.context = context
    this.agent = agent
    this.dialect = dialect
    this.exchange = exchange
    this.#operation = operation
    // The table of operations and the codecs of a dialect have the same types under the same name.
    this.#codec = dialect.operations[operation] as Codec
  }

  /** What the codec decodes; called once. Throws a `Fault` where nothing could be read. */
  abstract readParams(): unknown
  /** The answer with a result, which is JSON text. */
  abstract writeResult(result: string, headers: readonly string[]): Reply
  /** The data of one event of a stream. */
  abstract writeEvent(result: string): string
  /** The answer with an error; its body may be the data of an event. */
  abstract writeFault(fault: Fault, message: string): WholeReply

  reply(): MaybePromise<Reply> {
    const act = operations[this.#operation] as (request: A2aRequest, params: TenantRequest) => unknown
    const { service, options } = this.context
    try {
      const params = this.#codec.decodeRequest(this.readParams(), service.limits.maxNameBytes)
      requireTenant(options, params)
      // Refused before the task is created; otherwise the retry would duplicate it.
      const objection = this.#isStreamed ? this.exchange.streamObjection : undefined
      if (objection !== undefined) throw new Fault('busy', objection)
      const result = act(this, params)
      if (!isPromised(result)) return this.#succeed(result)
      return result.then((later) => this.#succeed(later)).catch((error: unknown) => this.#fail(error))
    } catch (error) {
      return this.#fail(error)
    }
  }

  get #isStreamed(): boolean { return this.#operation === 'stream' || this.#operation === 'subscribe' }

  #succeed(result: unknown): Reply {
    const { service: { limits: { maxResultBytes } }, options } = this.context
    const headers = options.extensions === undefined ? none : extensionHeaders(this)
    if (this.#isStreamed) {
      this.#events = result as EventStream
      return { status: 200, type: EVENT_STREAM, headers, body: this }
    }
    const text = this.#codec.formatResult(result)
    if (isWithin(text, maxResultBytes)) return this.writeResult(text, headers)
    throw new Fault('too-large', `The reply is larger than ${maxResultBytes} bytes`)
  }

  #fail(thrown: unknown): Reply {
    const reply = this.#faultReply(thrown)
    if (reply.status !== 200 || !this.#isStreamed || !this.dialect.streamsErrors) return reply
    return { status: 200, type: EVENT_STREAM, body: formatEvent(reply.body, 'error') }
  }

  #faultReply(thrown: unknown): WholeReply {
    const { context: { service }, exchange: { origin: { requestId } } } = this
    // What has no Fault yet came of encoding what a handler returned.
    const fault = shownFault(service, thrown, requestId, 'A message could not be answered')
    const message = publicMessage(fault, requestId, service.exposeErrors)
    return withHeaders(this.writeFault(fault, message), fault)
  }

  open(sink: Sink): (() => void) | undefined {
    return this.#events?.open(new EventWriter(sink, this))
  }

  dismissal({ kind, message }: Dismissal): string {
    return formatEvent(this.encodeFault(new Fault(kind, message)), 'error')
  }

  encodeEvent(event: StreamEvent): string {
    return this.writeEvent(this.#codec.formatResult(event))
  }

  encodeFault(thrown: unknown): string {
    return this.#faultReply(thrown).body
  }
}

function requireTenant({ tenants = [] }: A2aOptions, { tenant }: TenantRequest): void {
  if (tenant === undefined || tenants.includes(tenant)) return
  throw wrongField('params', 'tenant', 'must be left out, or be that of an interface in the agent card')
}

function withHeaders(reply: WholeReply, fault: Fault): WholeReply {
  const { status, headers = [] } = reply
  if (status === 503) return { ...reply, headers: [...headers, 'Retry-After', retryAfter(fault)] }
  return status === 403 ? { ...reply, neededScopes: scopesIn(fault) } : reply
}

type ArtifactEvent = Extract<StreamEvent, { readonly what: 'artifact' }>

/** What stands around the text of pieces of one artifact. */
interface Frame { readonly artifactId: string; readonly before: string; readonly after: string }

/** Stands for a text. It cannot be sent by a client, which does not know it. */
const hole = randomUuid()

/** Writes events to a stream. Pieces of one text differ in the text alone: the rest is encoded once. */
export class EventWriter implements EventSink {
  readonly #sink: Sink
  readonly #call: Pick<OperationCall, 'encodeEvent' | 'encodeFault'>
  #frame: Frame | undefined

  constructor(sink: Sink, call: Pick<OperationCall, 'encodeEvent' | 'encodeFault'>) {
    this.#sink = sink
    this.#call = call
  }

  get closed(): boolean { return this.#sink.closed }

  send(event: StreamEvent): boolean {
    if (event.what === 'artifact' && event.append && !event.last) {
      const text = textIn(event.artifact)
      if (text !== undefined) return this.#sendText(event, text)
    }
    return this.#sink.write(formatEvent(this.#call.encodeEvent(event)))
  }

  ready(): Promise<void> {
    return this.#sink.ready()
  }

  end(thrown?: unknown): void {
    if (thrown === undefined) this.#sink.end()
    else this.#sink.end(formatEvent(this.#call.encodeFault(thrown), 'error'))
  }

  #sendText(event: ArtifactEvent, text: string): boolean {
    const { id } = event.artifact
    if (this.#frame?.artifactId !== id) this.#frame = this.#frameOf(event)
    const { before, after } = this.#frame
    return this.#sink.write(before + quote(text) + after)
  }

  #frameOf(event: ArtifactEvent): Frame {
    const { id } = event.artifact
    const artifact: Artifact = { id, parts: [{ type: 'text', text: hole }] }
    const encoded = formatEvent(this.#call.encodeEvent({ ...event, artifact }))
    const [before = '', after = ''] = encoded.split(`"${hole}"`)
    return { artifactId: id, before, after }
  }
}

/** The text of a piece that is nothing else. */
function textIn(
  { parts, name, description, metadata, extensions }: Whole<
    Artifact, 'id' | 'parts' | 'name' | 'description' | 'metadata' | 'extensions'
  >,
): string | undefined {
  const part = parts[0]
  if (part === undefined || parts.length > 1 || !isPlainText(part)) return undefined
  const isBare = name === undefined && description === undefined && metadata === undefined
  return isBare && extensions === undefined ? part.text : undefined
}
