/**
 * Sessions beyond this process: one that began in another process, or before a restart, is adopted here, and
 * what belongs to a request of another process is passed there. A request of a session that is here calls
 * nothing of it.
 */
import { randomBytes } from 'node:crypto'
import { Fault } from '../../define/fault.ts'
import { cancelledBy, cancelRequest } from './messages.ts'
import { takeAnswer } from './ask.ts'
import { noLegacySse, unavailable } from '../protocol/replies.ts'
import { openSessionId, sealSessionId, SessionStates } from './session-state.ts'
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
import type { SessionState, StateChange } from './session-state.ts'

/** A POST for the stream of another process. */
interface PassedPost {
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
  readonly #states: SessionStates
  readonly #updated = new Set<string>()
  #hasFailed = false

  constructor(service: Service, seal: Seal, sessions: Sessions, notifications: Notifications) {
    this.#service = service
    this.#seal = seal
    this.#sessions = sessions
    this.#notifications = notifications
    this.#states = new SessionStates(service.store)
    if (service.shared !== undefined) this.#listen(service.shared)
  }

  /** The id of a session that begins now. */
  sessionId(owner: string, handshake: Handshake): string {
    return sealSessionId(this.#seal, owner, handshake)
  }

  /** The id of a session that lives as long as its stream, so in this process; undefined without others. */
  get legacySseId(): string | undefined {
    const { shared } = this.#service
    return shared && `${shared.cluster.id}.${randomBytes(24).toString('base64url')}`
  }

  /**
   * Begins the session of a request here where it is known only beyond; undefined where nothing has to be
   * waited for. Rejects with `Fault('busy')` where there is no room.
   */
  adopt({ head: { mcpSessionId: id }, origin, method }: Exchange): Promise<void> | undefined {
    if (id === undefined || this.#sessions.has(id)) return undefined
    // Without other processes the subscriptions of before a restart are lost: who listens begins again.
    if (this.#service.shared === undefined && method !== 'POST') return undefined
    const owner = origin.principal.id
    const handshake = openSessionId(this.#seal, owner, id)
    return handshake && this.#restore(owner, id, handshake)
  }

  async #restore(owner: string, id: string, handshake: Handshake): Promise<void> {
    let state: SessionState | undefined
    try {
      state = await this.#states.read(owner, id)
    } catch (error) {
      // Without its store a session goes on with what its id carries.
      if (!(error instanceof Fault)) throw error
    }
    if (state?.isOver === true || this.#sessions.has(id)) return
    const session = this.#sessions.open(owner, handshake.revision, id)
    session.settle(handshake)
    if (state !== undefined) apply(session, state)
  }

  /**
   * Writes a change of a session, and passes it to the processes that have the session. Rejects with
   * `Fault('busy')` where that cannot be done now.
   */
  async keep(session: Session, change: StateChange): Promise<void> {
    const { id, owner } = session
    if (session.isBound) return
    await this.#states.change(owner, id, change)
    await this.#service.shared?.cluster.broadcast('session', [id, owner])
  }

  /** Ends a session everywhere. Where it rejects, with `Fault('busy')`, the session has not ended. */
  async end(session: Session): Promise<void> {
    await this.keep(session, () => ({ isOver: true, subscriptions: [], scopes: [] }))
    this.#sessions.close(session)
  }

  /**
   * Passes a message to the process that it is for, if that is another. Rejects with `Fault('busy')` where an
   * answer cannot be passed on.
   */
  pass(session: Session, message: RpcMessage): Promise<void> | undefined {
    const { shared } = this.#service
    if (shared === undefined) return undefined
    const { cluster } = shared
    const { id, owner } = session
    const cancelled = cancelledBy(message)
    // The request may have ended long ago, so the client is promised nothing.
    if (cancelled !== undefined) return cluster.broadcast('cancel', [id, owner, cancelled]).catch(() => {})
    if (message.kind !== 'response') return undefined
    const node = nodeIn(message.id)
    if (node === undefined || node === cluster.id) return undefined
    const answer = [id, owner, message.id, message.result ?? null, message.error ?? null]
    return cluster.send(node, 'answer', answer)
  }

  /** Sends on the stream of a session, in whichever process that is open. Best effort. */
  send(id: string, owner: string, text: string): void {
    const outlet = this.#sessions.has(id) ? this.#sessions.find(id, owner)?.outlet : undefined
    // Where the client is not connected here, it may have come back in another process.
    outlet?.send(text)
    if (outlet?.isConnected === true) return
    this.#service.shared?.cluster.broadcast('session-say', [id, owner, text]).catch(() => {})
  }

  /** Passes a POST to the process of its stream; undefined where that is this one. */
  passToLegacySse(id: string, body: string, origin: Origin): Promise<Reply> | undefined {
    const { shared, limits } = this.#service
    const node = /^([\w-]{8})\./.exec(id)?.[1]
    if (shared === undefined || node === undefined || node === shared.cluster.id) return undefined
    const { principal, requestId, headers } = origin
    const post: PassedPost = { id, body, principal, requestId, headers: [...headers] }
    return shared.channels.ask(node, 'pair', post, limits.storeTimeoutMs).then(
      // It was made by the same code.
      (reply) => reply as Reply,
      (error: unknown) => error instanceof Fault && error.kind === 'not-found' ? noLegacySse()
        : unavailable(error),
    )
  }

  /** Takes the POSTs that other processes pass to the streams of this one. */
  onLegacySsePost(take: (id: string, origin: Origin, body: string) => Reply): void {
    this.#service.shared?.channels.on('pair', (question, line) => {
      // Sealed by another process of ours.
      const { id, body, principal, requestId, headers } = question as PassedPost
      const map = new Map(headers)
      line.send(take(id, {
        requestId, principal, headers: map, header: (name) => map.get(name), onDisconnect: () => {},
      }, body))
      return {}
    })
  }

  #listen({ cluster }: Shared): void {
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
      if (typeof text === 'string' && outlet?.isConnected === true) outlet.send(text)
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
    this.#service.catalog.onChange((change) => this.#noteUpdate(change, cluster))
  }

  async #refresh(session: Session): Promise<void> {
    try {
      const state = await this.#states.read(session.owner, session.id)
      if (state?.isOver === true) this.#sessions.close(session)
      else if (state !== undefined) apply(session, state)
    } catch {
      // It goes on as it was; the guard of the store has logged why.
    }
  }

  /** Updates in one iteration of the event loop are one message. */
  #noteUpdate({ change, name }: CatalogChange, cluster: Shared['cluster']): void {
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

function apply(session: Session, { logLevel, subscriptions, scopes }: SessionState): void {
  if (logLevel !== undefined) session.logLevel = logLevel
  const wanted = new Set(subscriptions)
  for (const uri of [...session.subscriptions]) if (!wanted.has(uri)) session.unsubscribe(uri)
  for (const uri of wanted) session.subscribe(uri, scopes)
}
