/**
 * Sessions beyond this process: one that another process began, or this one before a restart, is gone on with
 * here, and what belongs to a request that runs elsewhere is brought there.
 *
 * A session's id says what `initialize` settled (`session-id.ts`); what changed later is in the store
 * (`session-words.ts`). Nothing here is called for a request of a session that is here.
 */
import { randomBytes } from 'node:crypto'
import { Fault } from '../../define/fault.ts'
import { cancelledBy, cancelRequest } from './messages.ts'
import { takeAnswer } from './ask.ts'
import { invalid, unavailable } from '../protocol/replies.ts'
import { openSessionId, sealSessionId, AllSessionWords } from './session-state.ts'
import type { Origin } from '../../define/call.ts'
import type { CatalogChange } from '../../define/catalog.ts'
import type { Principal } from '../../define/principal.ts'
import type { Service, Shared } from '../../run/service.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'
import type { RpcMessage } from '../../wire/jsonrpc.ts'
import type { Seal } from '../../wire/seal.ts'
import type { Notifications } from './notifications.ts'
import type { Handshake, Session } from './session.ts'
import type { Sessions } from './sessions.ts'
import type { SessionState, WordChange } from './session-state.ts'

/** Handles one request, of which the body is let go of as soon as something is waited for. */
type Handle = (exchange: Exchange, body?: string) => Reply | Promise<Reply>

/** What another process is told of a POST. */
interface PairPost {
  readonly id: string
  readonly body: string
  readonly principal: Principal
  readonly requestId: string
  /** Without credentials. */
  readonly headers: readonly (readonly [string, string])[]
}

/** The sessions of one server, as far as they are known beyond it. */
export class SessionMigration {
  readonly #service: Service
  readonly #seal: Seal
  readonly #sessions: Sessions
  readonly #notifications: Notifications
  readonly #words: AllSessionWords
  readonly #updated = new Set<string>()
  #hasFailed = false

  constructor(service: Service, seal: Seal, sessions: Sessions, notifications: Notifications) {
    this.#service = service
    this.#seal = seal
    this.#sessions = sessions
    this.#notifications = notifications
    this.#words = new AllSessionWords(service.store)
    if (service.shared !== undefined) this.#hear(service.shared)
  }

  /** Whether there are other processes. */
  get shared(): Shared | undefined { return this.#service.shared }

  /** The id of a session that begins now. */
  sessionId(owner: string, handshake: Handshake): string {
    return sealSessionId(this.#seal, owner, handshake)
  }

  /** The id of one that lives as long as its stream, and so stays here; undefined where nobody else asks. */
  get pairId(): string | undefined {
    return this.shared && `${this.shared.cluster.id}.${randomBytes(24).toString('base64url')}`
  }

  /** The same as `handle`, after the request's session was brought here where it is elsewhere. */
  adopting(handle: Handle): (exchange: Exchange) => Reply | Promise<Reply> {
    return (exchange) => {
      const adopted = this.#adopt(exchange)
      if (adopted === undefined) return handle(exchange)
      const { body } = exchange
      return adopted.then(() => handle(exchange, body), unavailable)
    }
  }

  /** Undefined where nothing has to be waited for. Rejects with `Fault('busy')` where there is no room. */
  #adopt({ head: { mcpSessionId: id }, origin, method }: Exchange): Promise<void> | undefined {
    if (id === undefined || this.#sessions.has(id)) return undefined
    // Without others, what was watched before a restart is not known any more: who listens begins again.
    if (this.shared === undefined && method !== 'POST') return undefined
    const owner = origin.principal.id
    const handshake = openSessionId(this.#seal, owner, id)
    return handshake && this.#goOn(owner, id, handshake)
  }

  async #goOn(owner: string, id: string, handshake: Handshake): Promise<void> {
    let words: SessionState | undefined
    try {
      words = await this.#words.read(owner, id)
    } catch (error) {
      // Without its store a session goes on with what its id says.
      if (!(error instanceof Fault)) throw error
    }
    if (words?.isOver === true || this.#sessions.has(id)) return
    const session = this.#sessions.open(owner, handshake.revision, id)
    session.settle(handshake)
    if (words !== undefined) apply(session, words)
  }

  /**
   * Keeps a change of a session for whoever goes on with it, and tells those who have it. Rejects with
   * `Fault('busy')` where that cannot be done now.
   */
  async keep(session: Session, change: WordChange): Promise<void> {
    const { id, owner } = session
    // The session of a pair goes nowhere.
    if (session.isBound) return
    await this.#words.change(owner, id, change)
    await this.shared?.cluster.broadcast('session', [id, owner])
  }

  /** Ends a session everywhere. Rejects in the same way, and then it has not ended. */
  async end(session: Session): Promise<void> {
    await this.keep(session, () => ({ isOver: true, subscriptions: [], scopes: [] }))
    this.#sessions.close(session)
  }

  /**
   * Brings a message to where it is taken, if that is not here. Rejects with `Fault('busy')` where an answer
   * cannot be brought to who asked.
   */
  pass(session: Session, message: RpcMessage): Promise<void> | undefined {
    if (this.shared === undefined) return undefined
    const { cluster } = this.shared
    const { id, owner } = session
    const cancelled = cancelledBy(message)
    // It may have come to its end long ago: nobody is promised anything.
    if (cancelled !== undefined) return cluster.broadcast('cancel', [id, owner, cancelled]).catch(() => {})
    if (message.kind !== 'response') return undefined
    const node = nodeIn(message.id)
    if (node === undefined || node === cluster.id) return undefined
    const answer = [id, owner, message.id, message.result ?? null, message.error ?? null]
    return cluster.send(node, 'answer', answer)
  }

  /**
   * Says something on the stream of a session, wherever that is open. Nobody is promised it: what cannot be
   * brought there is lost, as it is where no stream is open.
   */
  say(id: string, owner: string, text: string): void {
    const outlet = this.#sessions.has(id) ? this.#sessions.find(id, owner)?.outlet : undefined
    // It may be kept here for a client that comes back, and be heard where it has come back.
    outlet?.send(text)
    if (outlet?.isHeard === true) return
    this.shared?.cluster.broadcast('session-say', [id, owner, text]).catch(() => {})
  }

  /** Brings a message to the stream of a pair, where that is elsewhere; undefined where it is not. */
  passToPair(id: string, { body, origin }: Pick<Exchange, 'body' | 'origin'>): Promise<Reply> | undefined {
    const node = /^([\w-]{8})\./.exec(id)?.[1]
    if (this.shared === undefined || node === undefined || node === this.shared.cluster.id) return undefined
    const { principal, requestId, headers } = origin
    const said: PairPost = { id, body, principal, requestId, headers: [...headers] }
    const { storeTimeoutMs } = this.#service.limits
    return this.shared.channels.ask(node, 'pair', said, storeTimeoutMs).then(
      // It was made by the same code.
      (reply) => reply as Reply,
      (error: unknown) => error instanceof Fault && error.kind === 'not-found'
        ? invalid(404, 'There is no such session, or it has ended; open /sse again') : unavailable(error),
    )
  }

  /** Takes what other processes get for the pairs of this one. */
  onPair(take: (id: string, origin: Origin, body: string) => Reply): void {
    this.shared?.channels.on('pair', (question, line) => {
      // Sealed by another process of ours.
      const { id, body, principal, requestId, headers } = question as PairPost
      const map = new Map(headers)
      line.send(take(id, {
        requestId, principal, headers: map, header: (name) => map.get(name), onDisconnect: () => {},
      }, body))
      return {}
    })
  }

  #hear({ cluster }: Shared): void {
    const on = (kind: string, act: (session: Session, rest: readonly unknown[]) => void): void => {
      cluster.on(kind, (body) => {
        const [id, owner, ...rest]: readonly unknown[] = Array.isArray(body) ? body : []
        if (typeof id !== 'string' || typeof owner !== 'string' || !this.#sessions.has(id)) return
        const session = this.#sessions.find(id, owner)
        if (session !== undefined) act(session, rest)
      })
    }
    on('session', (session) => void this.#refresh(session))
    on('cancel', (session, [requestId]) => {
      if (typeof requestId === 'string' || typeof requestId === 'number') cancelRequest(session, requestId)
    })
    on('session-say', ({ outlet }, [text]) => {
      if (typeof text === 'string' && outlet?.isHeard === true) outlet.send(text)
    })
    on('answer', (session, [id, result, error]) => {
      takeAnswer(session, id, result, error)
    })
    cluster.on('updated', (uris) => {
      if (!Array.isArray(uris)) return
      for (const uri of uris) if (typeof uri === 'string') this.#notifications.updated(uri)
    })
    cluster.onLost((isFirst) => {
      if (!isFirst) this.#notifications.everything()
      for (const session of this.#sessions.all) void this.#refresh(session)
    })
    this.#service.catalog.onChange((change) => this.#tellUpdated(change, cluster))
  }

  async #refresh(session: Session): Promise<void> {
    try {
      const words = await this.#words.read(session.owner, session.id)
      if (words?.isOver === true) this.#sessions.close(session)
      else if (words !== undefined) apply(session, words)
    } catch {
      // It goes on as it was; the guard of the store has said why.
    }
  }

  /** What changes in one turn of the event loop is one message. */
  #tellUpdated({ change, name }: CatalogChange, cluster: Shared['cluster']): void {
    if (change !== 'updated') return
    this.#updated.add(name)
    if (this.#updated.size > 1) return
    setImmediate(() => {
      const uris = [...this.#updated]
      this.#updated.clear()
      cluster.broadcast('updated', uris).then(() => { this.#hasFailed = false }, (cause: unknown) => {
        if (this.#hasFailed) return
        this.#hasFailed = true
        this.#service.log('warning', 'Updates of resources reach the clients of this process only', { cause })
      })
    })
  }
}

/** The process that an id of ours names at its end. */
function nodeIn(id: unknown): string | undefined {
  return typeof id === 'string' ? /^ask-\d+@([\w-]{8})$/.exec(id)?.[1] : undefined
}

/** A session as its words have it. */
function apply(session: Session, { logLevel, subscriptions, scopes }: SessionState): void {
  if (logLevel !== undefined) session.logLevel = logLevel
  const wanted = new Set(subscriptions)
  for (const uri of [...session.subscriptions]) if (!wanted.has(uri)) session.unsubscribe(uri)
  for (const uri of wanted) session.subscribe(uri, scopes)
}
