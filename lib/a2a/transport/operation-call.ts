/**
 * What every binding does with a request: its params go to the operation; what comes of that, a result, a
 * stream or a fault, goes to the binding, which writes it down. The one catch of a request.
 *
 * Knows no envelope and no path. Every tenant that a request is for has been declared, or it ends here.
 * Spec: A2A 1.0 §3.1, §3.3.
 */
import { isPlainText } from '../../define/content.ts'
import { asFault, Fault, publicMessage, retryAfter } from '../../define/fault.ts'
import { isThenable } from '../../util/thenable.ts'
import { isWithin } from '../../wire/bounded.ts'
import { formatChallenge } from '../../wire/challenge.ts'
import { quote } from '../../wire/json.ts'
import { randomUuid } from '../../wire/random.ts'
import { EVENT_STREAM, formatEvent } from '../../wire/sse.ts'
import { wrongField } from '../model/fields.ts'
import { extensionHeaders, requestedExtensions } from '../tasks/extensions.ts'
import { operations } from '../tasks/operations.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Artifact } from '../../define/artifact.ts'
import type { Exchange, Reply, Sink, Source } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Dialect, OperationCodec } from '../model/dialect.ts'
import type { OperationName, StreamEvent } from '../model/model.ts'
import type { A2aOptions } from '../model/options.ts'
import type { A2aContext, A2aRequest, EventSink, EventStream } from '../tasks/request.ts'

/** An answer that is whole. */
export interface WholeReply extends Reply { readonly body: string }

/** One request as its binding carries it: where its params stand, and how its answer is written. */
export interface BoundRequest {
  /** What the codec of the operation reads; asked once. Throws a `Fault` where nothing could be read. */
  readParams(): unknown
  /** The answer with a result, which is JSON text. */
  writeResult(result: string, headers: readonly string[]): Reply
  /** The data of one event of a stream. */
  writeEvent(result: string): string
  /** The answer with an error; its body may be the data of an event. Throws where a detail is not JSON. */
  writeFault(fault: Fault, said: string): WholeReply
}

/** What every request of the protocol has. */
interface ForTenant { readonly tenant: string | undefined }

type Codec = OperationCodec<ForTenant, unknown>

/** A request as operations see it. */
export function visitOf(
  { service, options, seal, signer, push }: A2aContext, agent: Agent | Group, dialect: Dialect,
  exchange: Exchange,
): A2aRequest {
  const extensions = requestedExtensions(exchange.origin)
  return { service, options, seal, signer, push, agent, dialect, exchange, extensions }
}

/** The answer of one operation of the visit's dialect. */
export function perform(
  visit: A2aRequest, operation: OperationName, request: BoundRequest,
): MaybePromise<Reply> {
  return new OperationCall(visit, operation, request).reply()
}

/** One operation on its way to its answer; where that is a stream, its source, and how events are spelled. */
class OperationCall implements Source, EventSpelling {
  readonly #visit: A2aRequest
  readonly #operation: OperationName
  readonly #codec: Codec
  readonly #request: BoundRequest
  #events: EventStream | undefined

  constructor(visit: A2aRequest, operation: OperationName, request: BoundRequest) {
    this.#visit = visit
    this.#operation = operation
    // The table of operations and the codecs of a dialect have the same types under the same name.
    this.#codec = visit.dialect.operations[operation] as Codec
    this.#request = request
  }

  get #isStreamed(): boolean { return this.#operation === 'stream' || this.#operation === 'subscribe' }

  reply(): MaybePromise<Reply> {
    const visit = this.#visit
    const act = operations[this.#operation] as (visit: A2aRequest, request: ForTenant) => unknown
    try {
      const { maxNameBytes } = visit.service.limits
      const asked = this.#codec.decodeRequest(this.#request.readParams(), maxNameBytes)
      requireTenant(visit.options, asked)
      if (this.#isStreamed) requireStream(visit)
      const result = act(visit, asked)
      return isThenable(result) ? this.#replyLater(result) : this.#succeed(result)
    } catch (error) {
      return this.#fail(error)
    }
  }

  async #replyLater(result: PromiseLike<unknown>): Promise<Reply> {
    try {
      return this.#succeed(await result)
    } catch (error) {
      return this.#fail(error)
    }
  }

  #succeed(result: unknown): Reply {
    const headers = extensionHeaders(this.#visit)
    if (isStream(result)) {
      this.#events = result
      return { status: 200, type: EVENT_STREAM, headers, body: this }
    }
    const text = bounded(this.#visit.service, this.#format(result))
    return this.#request.writeResult(text, headers)
  }

  #fail(thrown: unknown): Reply {
    const reply = faultReply(this.#visit, this.#request, thrown)
    if (reply.status !== 200 || !this.#isStreamed || !this.#visit.dialect.streamsErrors) return reply
    return { status: 200, type: EVENT_STREAM, body: formatEvent(reply.body, 'error') }
  }

  #format(result: unknown): string {
    return this.#codec.formatResult?.(result) ?? JSON.stringify(this.#codec.encodeResult(result))
  }

  open(sink: Sink): (() => void) | undefined {
    return this.#events?.open(new EventWriter(sink, this))
  }

  spell(event: StreamEvent): string {
    return this.#request.writeEvent(this.#format(event))
  }

  spellFault(thrown: unknown): string {
    return faultReply(this.#visit, this.#request, thrown).body
  }
}

function requireTenant({ tenants = [] }: A2aOptions, { tenant }: ForTenant): void {
  if (tenant === undefined || tenants.includes(tenant)) return
  throw wrongField('params', 'tenant', 'must be left out, or be that of an interface in the agent card')
}

/** A task that nobody could be told of is not begun: its client would send the same message once more. */
function requireStream({ exchange: { streamObjection } }: A2aRequest): void {
  if (streamObjection !== undefined) throw new Fault('busy', streamObjection)
}

function isStream(result: unknown): result is EventStream {
  return typeof result === 'object' && result !== null && 'open' in result
}

function bounded({ limits: { maxResultBytes } }: Service, result: string): string {
  if (isWithin(result, maxResultBytes)) return result
  throw new Fault('too-large', `The reply is larger than ${maxResultBytes} bytes`)
}

/** The answer for what was thrown. */
function faultReply(
  { service, exchange: { origin: { requestId } } }: A2aRequest, request: BoundRequest, thrown: unknown,
): WholeReply {
  const fault = asFault(thrown)
  // A handler's defect was logged where it ran; what has no Fault yet came of saying what it returned.
  if (fault !== thrown) {
    service.log('error', 'A message could not be answered', { request: requestId, cause: thrown })
  }
  const said = publicMessage(fault, requestId, service.exposeErrors)
  try {
    return withHeaders(request.writeFault(fault, said), fault, service.name)
  } catch (cause) {
    service.log('error', 'The detail of a Fault is not JSON', { request: requestId, cause })
    return withHeaders(request.writeFault(new Fault(fault.kind, fault.message), said), fault, service.name)
  }
}

/** An error with what its status asks for besides its body. */
function withHeaders(reply: WholeReply, fault: Fault, realm: string): WholeReply {
  const { status, headers = [] } = reply
  if (status === 503) return { ...reply, headers: [...headers, 'Retry-After', retryAfter(fault)] }
  if (status !== 401) return reply
  return { ...reply, headers: [...headers, 'WWW-Authenticate', formatChallenge({ realm })] }
}

/** How the events of one stream are spelled, as the data of events. */
export interface EventSpelling {
  spell(event: StreamEvent): string
  spellFault(thrown: unknown): string
}

type ArtifactEvent = Extract<StreamEvent, { readonly what: 'artifact' }>

/** What stands around the text of pieces of one artifact. */
interface Frame { readonly artifactId: string; readonly before: string; readonly after: string }

/** Stands for a text; nobody can send it, because nobody knows it. */
const hole = randomUuid()

/** Writes events to a stream. */
export class EventWriter implements EventSink {
  readonly #sink: Sink
  readonly #spelling: EventSpelling
  #frame: Frame | undefined

  constructor(sink: Sink, spelling: EventSpelling) {
    this.#sink = sink
    this.#spelling = spelling
  }

  get closed(): boolean { return this.#sink.closed }

  send(event: StreamEvent): boolean {
    if (event.what === 'artifact' && event.append && !event.last) {
      const text = textIn(event.artifact)
      if (text !== undefined) return this.#sendText(event, text)
    }
    return this.#sink.write(formatEvent(this.#spelling.spell(event)))
  }

  ready(): Promise<void> {
    return this.#sink.ready()
  }

  end(thrown?: unknown): void {
    if (thrown === undefined) this.#sink.end()
    else this.#sink.end(formatEvent(this.#spelling.spellFault(thrown), 'error'))
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
    const spelled = formatEvent(this.#spelling.spell({ ...event, artifact }))
    const [before = '', after = ''] = spelled.split(`"${hole}"`)
    return { artifactId: id, before, after }
  }
}

/** The text of a piece that is nothing else. */
function textIn({ parts, name, description, metadata, extensions }: Artifact): string | undefined {
  const part = parts[0]
  if (part === undefined || parts.length > 1 || !isPlainText(part)) return undefined
  const isBare = name === undefined && description === undefined && metadata === undefined
  return isBare && extensions === undefined ? part.text : undefined
}
