/**
 * A client of the task operations, in the words of no dialect: it writes one of them by the codecs in
 * fixtures/a2a-client, whose spelling has tests of its own. No test itself.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { v03 } from '../../fixtures/a2a-client/v03.ts'
import { v1 } from '../../fixtures/a2a-client/v1.ts'
import { request, serve } from '../../fixtures/client.ts'
import type {
  ListRequest, Message, OperationName, Requests, Results, SendRequest, SendResult, StreamEvent, TaskPage,
  TaskView,
} from '../../../lib/parts/a2a/model/model.ts'
import type { Artifact } from '../../../lib/kernel/define/artifact.ts'
import type { Agent, Call, Content, ServerOptions } from '../../../lib/index.ts'
import type { RpcError } from '../../../lib/floors/jsonrpc/jsonrpc.ts'
import type { TriportServer } from '../../../lib/preset/create-server.ts'
import type { ClientCodec, ClientDialect } from '../../fixtures/a2a-client/client.ts'
import type { Scope } from '../../fixtures/client.ts'

/** What is answered with an error. `code` is its number on the wire. */
export class Refused extends Error {
  readonly code: number
  readonly detail: string
  readonly status: number

  constructor(code: number, detail: string, status: number) {
    super(`${code} ${detail}`)
    this.code = code
    this.detail = detail
    this.status = status
  }
}

/** What may stand beside the words of a message. */
export interface Beside {
  readonly id?: string
  readonly taskId?: string
  readonly contextId?: string
  readonly metadata?: SendRequest['metadata']
  readonly isBlocking?: boolean
  readonly outputModes?: SendRequest['outputModes']
  readonly historyLength?: number
  readonly tenant?: string
  /** The address of a webhook. */
  readonly push?: string
  /** Of the message itself, as `metadata` is of the request. */
  readonly message?: Partial<Message>
  readonly signal?: AbortSignal
}

/** How a client speaks, and to whom. */
export interface Speech {
  readonly dialect?: '0.3' | '1.0'
  readonly path?: string
  readonly headers?: Record<string, string>
}

/** The events of one stream. */
export class Events {
  readonly #events: AsyncGenerator<string>
  readonly #decode: (event: string) => StreamEvent

  constructor(response: Response, decode: (event: string) => StreamEvent) {
    this.#events = eventsOf(response)
    this.#decode = decode
  }

  /** The next one; undefined: the stream has ended. */
  async next(): Promise<StreamEvent | undefined> {
    const { value, done } = await this.#events.next()
    return done === true ? undefined : this.#decode(value)
  }

  /** All that follow, to the end. */
  async rest(): Promise<readonly StreamEvent[]> {
    const events: StreamEvent[] = []
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event)
    return events
  }

  async leave(): Promise<void> {
    await this.#events.return(undefined)
  }
}

/** One client. */
export class Caller {
  readonly #server: TriportServer
  readonly #dialect: ClientDialect
  readonly #path: string
  readonly #headers: Record<string, string>

  constructor(server: TriportServer, { dialect = '1.0', path = '/a2a', headers = {} }: Speech = {}) {
    this.#server = server
    this.#dialect = dialect === '1.0' ? v1 : v03
    this.#path = path
    this.#headers = headers
  }

  send(said: Said, beside: Beside = {}): Promise<SendResult> {
    return this.#answer('send', sendRequest(said, beside), beside.signal)
  }

  /** Sends what is answered with a task. */
  async task(said: Said, beside: Beside = {}): Promise<TaskView> {
    const result = await this.send(said, beside)
    assert.equal(result.what, 'task')
    return result.task
  }

  stream(said: Said, beside: Beside = {}): Promise<Events> {
    return this.#events('stream', sendRequest(said, beside), beside.signal)
  }

  subscribe(id: string, more: Partial<Requests['subscribe']> = {}): Promise<Events> {
    return this.#events('subscribe', { ...none, ...more, id })
  }

  get(id: string, more: Partial<Requests['get']> = {}): Promise<TaskView> {
    return this.#answer('get', { ...none, ...more, id })
  }

  cancel(id: string, more: Partial<Requests['cancel']> = {}): Promise<TaskView> {
    return this.#answer('cancel', { ...none, ...more, id })
  }

  list(more: Partial<ListRequest> = {}): Promise<TaskPage> {
    return this.#answer('list', {
      tenant: undefined, contextId: undefined, state: undefined, pageSize: 50, pageToken: '',
      historyLength: undefined, changedSince: undefined, withArtifacts: false, ...more,
    })
  }

  /** What is answered, as it stands in the body. */
  async raw(operation: OperationName, params: unknown): Promise<Response> {
    return this.#post(this.#codec(operation).method, params)
  }

  async #answer<name extends OperationName>(
    operation: name, said: Requests[name], signal?: AbortSignal,
  ): Promise<Results[name]> {
    const codec = this.#codec(operation)
    const response = await this.#post(codec.method, codec.encodeRequest(said), signal)
    return codec.decodeResult(this.#resultOf(await response.text(), response.status))
  }

  async #events(
    operation: 'stream' | 'subscribe', said: SendRequest | Requests['subscribe'], signal?: AbortSignal,
  ): Promise<Events> {
    const codec = this.#codec(operation) as ClientCodec<unknown, StreamEvent>
    const response = await this.#post(codec.method, codec.encodeRequest(said), signal)
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
      this.#resultOf(await response.text(), response.status)
      assert.fail('a stream is no plain result')
    }
    return new Events(response, (event) => codec.decodeResult(this.#resultOf(dataOf(event), 200)))
  }

  #codec<name extends OperationName>(operation: name): ClientCodec<Requests[name], Results[name]> {
    const codec = this.#dialect.operations[operation]
    assert.ok(codec, operation)
    return codec as ClientCodec<Requests[name], Results[name]>
  }

  #post(method: string, params: unknown, signal?: AbortSignal): Promise<Response> {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    return this.#server.fetch(request(this.#path, body, this.#headers, 'POST', signal))
  }

  #resultOf(text: string, status: number): unknown {
    const { result, error } = JSON.parse(text) as { result?: unknown; error?: RpcError }
    if (error !== undefined) {
      throw new Refused(error.code, this.#dialect.decodeFault(error).message, status)
    }
    return result
  }
}

/** What an agent does, as loosely as an author may write it. */
export type Run = (prompt: string, call: Call) => unknown

/** What is said of an agent besides what it does. */
export type AgentBeside = Pick<Partial<Agent>, 'replies' | 'inputModes' | 'timeoutMs' | 'recover'>

/** A server whose agents are reached over A2A. */
export function serveA2a(t: Scope, options: ServerOptions): TriportServer {
  return serve(t, { protocol: 'a2a', ...options })
}

/** The same with one agent. */
export function serveBot(
  t: Scope, run: Run, options: Partial<ServerOptions> = {}, beside: AgentBeside = {},
): TriportServer {
  // What a test writes as an answer the house checks, not the compiler.
  const agent = { name: 'Bot', description: 'Answers.', run: run as () => string, ...beside }
  return serveA2a(t, { agents: [agent], ...options })
}

/** A client of a server with one agent. */
export function callerOf(
  t: Scope, run: Run, options: Partial<ServerOptions> = {}, beside: AgentBeside = {},
): Caller {
  return new Caller(serveBot(t, run, options, beside))
}

/** A text, or the parts of a message. */
export type Said = string | readonly Content[]

const none = { tenant: undefined, historyLength: undefined, metadata: undefined }

function sendRequest(said: Said, beside: Beside): SendRequest {
  const { id = randomUUID(), taskId, contextId, metadata, isBlocking = true } = beside
  const { historyLength, tenant, outputModes } = beside
  const push = beside.push === undefined ? undefined
    : { id: undefined, taskId: undefined, url: beside.push, token: undefined, authentication: undefined }
  return {
    tenant, isBlocking, historyLength, metadata, outputModes, push,
    message: {
      id, taskId, contextId, role: 'user', metadata: undefined, extensions: undefined,
      referenceTaskIds: undefined,
      parts: typeof said === 'string' ? [{ type: 'text', text: said }] : said,
      ...beside.message,
    },
  }
}

/** What the parts of something say, one after the other. */
export function wordsOf(parts: readonly Content[] | undefined): string {
  return (parts ?? []).map((part) => (
    part.type === 'text' ? part.text : part.type === 'data' ? JSON.stringify(part.data) : part.type
  )).join('|')
}

/** State and words of a task: `completed: hello`; what it says of its state in brackets. */
export function sumOf({ status, artifacts }: TaskView): string {
  const said = status.message === undefined ? '' : ` (${wordsOf(status.message.parts)})`
  const made = (artifacts ?? []).map(({ parts }) => wordsOf(parts)).join(' + ')
  return `${status.state}${said}${made === '' ? '' : `: ${made}`}`
}

/** An event in a few words. */
export function tellOf(event: StreamEvent): string {
  if (event.what === 'message') return `message ${wordsOf(event.message.parts)}`
  if (event.what === 'task') return `task ${sumOf(event.task)}`
  if (event.what === 'artifact') {
    return `${event.append ? '+' : '='}${wordsOf(event.artifact.parts)}${event.last ? '.' : ''}`
  }
  const { state, message } = event.status
  const said = message === undefined ? '' : ` (${wordsOf(message.parts)})`
  return `${state}${said}`
}

/** A task as it must stand after events that follow it. */
export function replayed(task: TaskView, events: readonly StreamEvent[]): readonly Artifact[] {
  const artifacts = new Map((task.artifacts ?? []).map((artifact) => [artifact.id, artifact]))
  for (const event of events) {
    if (event.what !== 'artifact') continue
    const { artifact, append } = event
    const before = append ? artifacts.get(artifact.id)?.parts ?? [] : []
    artifacts.set(artifact.id, { ...artifact, parts: [...before, ...artifact.parts] })
  }
  return [...artifacts.values()]
}

async function * eventsOf(response: Response): AsyncGenerator<string> {
  let text = ''
  assert.ok(response.body)
  const decoder = new TextDecoder()
  for await (const chunk of response.body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    const frames = text.split('\n\n')
    text = frames.pop()!
    for (const frame of frames) if (/^data: /m.test(frame)) yield frame
  }
  assert.equal(text, '')
}

function dataOf(frame: string): string {
  return frame.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6)).join('\n')
}
