/**
 * ACP on standard input and output, for editors: one client, one message a line.
 * Spec: Agent Client Protocol, version 1.
 */
import { conversationsOf } from '../../floors/conversations/conversation.ts'
import { isRecord } from '../../kernel/define/content.ts'
import { Fault, publicMessage } from '../../kernel/define/fault.ts'
import { anonymous } from '../../kernel/define/principal.ts'
import { serveLines } from '../../floors/lines/line-server.ts'
import { shownFault } from '../../kernel/run/shown-fault.ts'
import { CONVERSATION_ID } from '../../floors/conversations/conversation-page.ts'
import { BoundedMap } from '../../kernel/util/bounded-map.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import {
  decodeMessage, formatError, formatNotification, formatResult, INTERNAL_ERROR, INVALID_PARAMS,
  INVALID_REQUEST, METHOD_NOT_FOUND,
} from '../../floors/jsonrpc/jsonrpc.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { agentsOf, reads } from './agents.ts'
import { AskedQuestions } from './asked-questions.ts'
import { commandsOf } from './commands.ts'
import { decodePrompt, wrong } from './content.ts'
import { forgetSession, keepSession, listSessions, readSession } from './kept-sessions.ts'
import { PromptTurn } from './prompt-turn.ts'
import { abilitiesIn, noAbilities } from './questions.ts'
import { AcpSession, agentOf, choiceOf, chooseAgent, setOption, setupIn } from './session.ts'
import type { Readable, Writable } from 'node:stream'
import type { ClientInfo } from '../../kernel/define/call.ts'
import type { FaultKind } from '../../kernel/define/fault.ts'
import type { Question } from '../../kernel/define/question.ts'
import type { LineClient, LineProtocol } from '../../floors/lines/line-server.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { LineServer } from '../../kernel/server/part.ts'
import type { Id, RpcError, RpcMessage } from '../../floors/jsonrpc/jsonrpc.ts'
import type { AcpClient } from './prompt-turn.ts'
import type { AcpAbilities } from './questions.ts'
import type { SessionSetup } from './session.ts'

const PROTOCOL_VERSION = 1

/** What all sessions of a client may take; over it, those that were not used for longest are forgotten. */
const MAX_SESSIONS_BYTES = 16 * 1024 * 1024

type Params = Readonly<Record<string, unknown>>
type RequestMessage = RpcMessage & { readonly kind: 'request' }

/** Serves the agents of a service. */
export function serveAcp(service: Service, input: Readable, output: Writable): LineServer {
  return serveLines(service, input, output, (client) => new AcpLines(service, client))
}

class AcpLines implements LineProtocol, AcpClient {
  info: ClientInfo | undefined
  abilities: AcpAbilities = noAbilities
  readonly #service: Service
  readonly #client: LineClient
  readonly #sessions = new BoundedMap<AcpSession>(MAX_SESSIONS_BYTES, ({ bytes }) => bytes)
  /** Requests without an answer so far, by id; those that can be cancelled with their run. */
  readonly #running = new Map<Id, PromptTurn | undefined>()
  readonly #questions: AskedQuestions
  #lastOpened: Promise<unknown> = Promise.resolve()
  #isInitialized = false

  constructor(service: Service, client: LineClient) {
    this.#service = service
    this.#client = client
    this.#questions = new AskedQuestions(service.limits, (message) => client.send(message))
  }

  get isBusy(): boolean { return this.#running.size > 0 }

  refuse(why: string, code: number): void {
    this.#client.send(formatError(null, { code, message: why }))
  }

  receive(value: unknown, length: number): void {
    const message = decodeMessage(value, this.#service.limits.maxNameBytes)
    switch (message.kind) {
      case 'request': return this.#accept(message, length)
      case 'notification': return this.#takeNotice(message.method, message.params)
      case 'response': return this.#questions.take(message.id, message.result, message.error)
      case 'malformed':
        if (message.isNoRequest === true) return
        this.#client.send(formatError(message.id ?? null, { code: INVALID_REQUEST, message: message.why }))
    }
  }

  endInput(): void {
    this.#questions.close()
  }

  update(sessionId: string, update: object): void {
    this.notify('session/update', { sessionId, update })
  }

  notify(method: string, params: object): void {
    this.#client.send(formatNotification(method, formatJson(params)))
  }

  ready(): Promise<void> | undefined { return this.#client.ready() }

  ask(run: PromptTurn, question: Question): Promise<unknown> {
    return this.#questions.ask(run, question, this.abilities)
  }

  #takeNotice(method: string, params: unknown): void {
    const { sessionId, requestId } = isRecord(params) ? params : {}
    if (method === 'session/cancel' && typeof sessionId === 'string') {
      this.#runOf(sessionId)?.cancel()
    } else if (method === '$/cancel_request') {
      this.#running.get(requestId as Id)?.cancel()
    }
  }

  #accept({ id, method, params }: RequestMessage, length: number): void {
    const { maxCalls } = this.#service.limits
    const refuse = (code: number, message: string): void => (
      this.#client.send(formatError(id, { code, message }))
    )
    if (this.#client.isEnding) return refuse(INTERNAL_ERROR, 'The server is closing down')
    if (this.#running.has(id)) return refuse(INVALID_REQUEST, 'A request with this id is running already')
    if (this.#running.size >= maxCalls) {
      return refuse(INTERNAL_ERROR, `${maxCalls} requests are open already; try again later`)
    }
    const serve = methods.get(method)
    if (serve === undefined) return refuse(METHOD_NOT_FOUND, remedyFor(method))
    if (params !== undefined && params !== null && !isRecord(params)) {
      return refuse(INVALID_REQUEST, '"params" must be an object')
    }
    if (!this.#isInitialized && method !== 'initialize') {
      return refuse(INVALID_REQUEST, `'initialize' comes before '${method}'`)
    }
    this.#running.set(id, undefined)
    void this.#answer(id, serve, params ?? {}, length)
  }

  async #answer(id: Id, serve: Method, params: Params, length: number): Promise<void> {
    let text: string
    let opened: string | undefined
    try {
      const result = await serve(this, params, id, length)
      if (openers.has(serve)) opened = { ...params, ...result }['sessionId'] as string
      text = formatResult(id, formatJson(result))
    } catch (error) {
      const requestId = this.#running.get(id)?.call.requestId ?? randomUuid()
      text = formatError(id, errorOf(this.#service, error, requestId))
    }
    this.#running.delete(id)
    this.#client.send(text)
    if (opened !== undefined) this.#showCommands(opened)
  }

  #showCommands(sessionId: string): void {
    const availableCommands = commandsOf(this.#service.catalog)
    if (availableCommands.length === 0) return
    this.update(sessionId, { sessionUpdate: 'available_commands_update', availableCommands })
  }

  initialize({ protocolVersion, clientCapabilities, clientInfo }: Params): object {
    if (!Number.isSafeInteger(protocolVersion)) {
      const remedy = 'as 1; for a host of MCP, start triport serve --stdio'
      throw wrong('protocolVersion', `must be a whole number, ${remedy}`)
    }
    this.#isInitialized = true
    this.abilities = abilitiesIn(clientCapabilities)
    const { name, title, version } = isRecord(clientInfo) ? clientInfo : {}
    this.info = typeof name !== 'string' ? undefined : {
      name, version: typeof version === 'string' ? version : '', ...typeof title === 'string' && { title },
    }
    const { name: ourName, version: ourVersion, catalog } = this.#service
    const agents = agentsOf(catalog)
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: ourName, version: ourVersion },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: {
          image: reads(agents, 'image'), audio: reads(agents, 'audio'), embeddedContext: true,
        },
        sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
      },
      authMethods: [],
    }
  }

  newSession(params: Params): object {
    const session = new AcpSession(conversationsOf(this.#service).makeId(), setupIn(params))
    return { sessionId: session.id, ...this.#begin(session) }
  }

  /** Opens a session of before. With `isShown` its client gets what was said in it. */
  openSession(params: Params, isShown: boolean): Promise<object> {
    const { sessionId } = params
    if (typeof sessionId !== 'string' || !CONVERSATION_ID.test(sessionId)) throw unknown(sessionId)
    const setup = setupIn(params)
    // One at a time: each reads a whole history, and may wait for the client with it.
    const opened = this.#lastOpened.then(() => this.#open(sessionId, setup, isShown))
    this.#lastOpened = opened.catch(() => {})
    return opened
  }

  async #open(sessionId: string, setup: SessionSetup, isShown: boolean): Promise<object> {
    const service = this.#service
    const history = await conversationsOf(service).history(anonymous.id, sessionId)
    const kept = await readSession(service, sessionId)
    let session = this.#sessions.get(sessionId)
    if (session === undefined && history.length === 0) {
      if (kept !== undefined) await forgetSession(service, sessionId)
      throw unknown(sessionId)
    }
    if (session === undefined) {
      session = new AcpSession(sessionId, setup)
      session.title = kept?.title
      if (agentsOf(service.catalog).some(({ id }) => id === kept?.agentId)) session.agentId = kept?.agentId
    }
    // Taken out first: it is counted by its setup.
    this.#sessions.delete(sessionId)
    session.setup = setup
    const result = this.#begin(session)
    for (const { role, content } of isShown ? history : []) {
      if (role === 'system' || content === '') continue
      const sessionUpdate = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk'
      this.update(sessionId, { sessionUpdate, content: { type: 'text', text: content } })
      await this.ready()
    }
    return result
  }

  #begin(session: AcpSession): object {
    this.#sessions.set(session.id, session)
    const choice = choiceOf(this.#service.catalog, session)
    return choice.modes === undefined ? {} : choice
  }

  listSessions(params: Params): Promise<object> { return listSessions(this.#service, params) }

  closeSession({ sessionId }: Params): object {
    const session = this.#sessionOf(sessionId)
    this.#runOf(session.id)?.cancel()
    this.#sessions.delete(session.id)
    return {}
  }

  /** Forgets a session and its conversation; one that is not there is forgotten already. */
  async deleteSession({ sessionId }: Params): Promise<object> {
    if (typeof sessionId !== 'string') throw unknown(sessionId)
    if (!CONVERSATION_ID.test(sessionId)) return {}
    this.#runOf(sessionId)?.cancel()
    this.#sessions.delete(sessionId)
    await forgetSession(this.#service, sessionId)
    await conversationsOf(this.#service).remove(anonymous.id, sessionId)
    return {}
  }

  setConfigOption(params: Params): object {
    const session = this.#sessionOf(params['sessionId'])
    const { catalog } = this.#service
    setOption(catalog, session, params)
    return { configOptions: choiceOf(catalog, session).configOptions }
  }

  setMode({ sessionId, modeId }: Params): object {
    chooseAgent(this.#service.catalog, this.#sessionOf(sessionId), modeId, 'modeId')
    return {}
  }

  async prompt({ sessionId, prompt, _meta: meta }: Params, id: Id, length: number): Promise<object> {
    const session = this.#sessionOf(sessionId)
    if (this.#runOf(session.id) !== undefined) {
      throw new Fault('conflict', 'This session answers a prompt already; send session/cancel first')
    }
    const agent = agentOf(this.#service.catalog, session)
    const decoded = decodePrompt(prompt)
    const { mcpServers } = session.setup
    const metadata = {
      ...isRecord(meta) && meta, ...mcpServers.length > 0 && { 'triport/mcpServers': mcpServers },
    }
    const run = new PromptTurn(this.#service, agent, session, this, decoded, metadata, length)
    // It is the one that was used last.
    this.#sessions.set(session.id, session)
    this.#running.set(id, run)
    const answer = await run.answer()
    const isKept = answer.stopReason === 'end_turn' && this.#sessions.get(session.id) === session
    if (isKept) await keepSession(this.#service, session, decoded.prompt)
    return answer
  }

  /** The prompt that a session answers. */
  #runOf(sessionId: string): PromptTurn | undefined {
    for (const run of this.#running.values()) if (run?.session.id === sessionId) return run
    return undefined
  }

  #sessionOf(sessionId: unknown): AcpSession {
    const session = typeof sessionId === 'string' ? this.#sessions.get(sessionId) : undefined
    if (session === undefined) throw unknown(sessionId)
    return session
  }
}

function unknown(sessionId: unknown): Fault {
  if (typeof sessionId !== 'string') return wrong('sessionId', 'must be a string')
  return new Fault('not-found', 'There is no such session; begin one with session/new, or load it')
}

/** `length`: of the line with the request, in characters. */
type Method = (lines: AcpLines, params: Params, id: Id, length: number) => object | Promise<object>

const newSession: Method = (lines, params) => lines.newSession(params)
const loadSession: Method = (lines, params) => lines.openSession(params, true)
const resumeSession: Method = (lines, params) => lines.openSession(params, false)

/** After which a client can be told of a session. */
const openers: ReadonlySet<Method> = new Set([newSession, loadSession, resumeSession])

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['initialize', (lines, params) => lines.initialize(params)],
  ['authenticate', () => {
    throw new Fault('invalid', 'There is nothing to authenticate with: authMethods is empty')
  }],
  ['session/new', newSession], ['session/load', loadSession], ['session/resume', resumeSession],
  ['session/list', (lines, params) => lines.listSessions(params)],
  ['session/close', (lines, params) => lines.closeSession(params)],
  ['session/delete', (lines, params) => lines.deleteSession(params)],
  ['session/set_mode', (lines, params) => lines.setMode(params)],
  ['session/set_config_option', (lines, params) => lines.setConfigOption(params)],
  ['session/prompt', (lines, params, id, length) => lines.prompt(params, id, length)],
])

const notices: ReadonlySet<string> = new Set(['session/cancel', '$/cancel_request'])

/** What to call instead of a method that is not here. */
function remedyFor(method: string): string {
  if (notices.has(method)) return `'${method}' is a notification; send it without an id`
  return `There is no method '${method}' here; there are ${[...methods.keys()].join(', ')}`
}

const AUTHENTICATION_REQUIRED = -32000
const RESOURCE_NOT_FOUND = -32002
const REQUEST_CANCELLED = -32800

/** Spec: ACP 1, ErrorCode. */
const codes: Readonly<Record<FaultKind, number>> = {
  'invalid': INVALID_PARAMS,
  'unauthenticated': AUTHENTICATION_REQUIRED,
  'forbidden': INTERNAL_ERROR,
  'not-found': RESOURCE_NOT_FOUND,
  'conflict': INVALID_REQUEST,
  'unsupported': INTERNAL_ERROR,
  'too-large': INTERNAL_ERROR,
  'busy': INTERNAL_ERROR,
  'timeout': INTERNAL_ERROR,
  'cancelled': REQUEST_CANCELLED,
  'failed': INTERNAL_ERROR,
  'upstream': INTERNAL_ERROR,
  'internal': INTERNAL_ERROR,
}

/** Anything thrown, as an error. */
function errorOf(service: Service, thrown: unknown, requestId: string): RpcError {
  const fault = shownFault(service, thrown, requestId)
  const { kind, detail } = fault
  const error = { code: codes[kind], message: publicMessage(fault, requestId, service.exposeErrors) }
  return detail === undefined ? error : { ...error, data: detail }
}
