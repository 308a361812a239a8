/**
 * Sessions beyond this process: one that began in another process, or before a restart, is adopted here, and
 * what belongs to a request of another process is passed there. The id of a session carries what `initialize`
 * settled, sealed and bound to the principal; the store keeps what has changed since.
 */
import { randomBytes } from 'node:crypto'
import { storeOf } from '../../../floors/memory/store-of.ts'
import { sharedOf } from '../../../floors/shared/shared-of.ts'
import { originOf, requestOf } from '../../../floors/tasks/task.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { noLegacySse, unavailable } from '../protocol/replies.ts'
import { isRecord } from '../../../kernel/define/content.ts'
import { keyOf } from '../../../kernel/store/store.ts'
import { decoded, optional, readStored, recordOf } from '../../../floors/shared/stored-value.ts'
import { formatJson, isStrings } from '../../../kernel/wire/json.ts'
import { andThen } from '../../../kernel/util/thenable.ts'
import { abilitiesOf, bitsOf, decodeClient, isSeverity, unable } from '../protocol/client.ts'
import { revisionByName } from '../protocol/revisions.ts'
import { cancelledBy, cancelRequest, takeAnswer } from './messages.ts'
import type { Id } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { TurnRequest } from '../../../floors/tasks/task.ts'
import type { Origin, ClientInfo } from '../../../kernel/define/call.ts'
import type { CatalogChange } from '../../../kernel/define/catalog.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { SharedProcesses } from '../../../floors/shared/shared.ts'
import type { Exchange, Reply } from '../../../kernel/http/message/exchange.ts'
import type { Seal } from '../../../kernel/wire/seal.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Severity } from '../../../kernel/define/log.ts'
import type { Entry, StoreKey } from '../../../kernel/store/store.ts'
import type { McpMessage } from './messages.ts'
import type { Notifications } from './notifications.ts'
import type { Handshake, Session, Sessions } from './session.ts'

/** How long another process may go on with a session, from its beginning. */
const SESSION_MS = 24 * 60 * 60_000
const PURPOSE = 'session'
/** Characters of the longest id: clients put them into a header. */
const MAX_LENGTH = 256

/** What an id carries; undefined where it is invalid, is not the owner's, or is too old. */
function openSessionId(seal: Seal, owner: string, id: string): Handshake | undefined {
  if (id.length > MAX_LENGTH) return undefined
  const opened = seal.open(PURPOSE, id, owner)
  const [name, bits, client, extensions]: readonly unknown[] = Array.isArray(opened) ? opened : []
  const revision = typeof name === 'string' ? revisionByName.get(name) : undefined
  if (revision?.opening !== 'initialize' || typeof bits !== 'number') return undefined
  const abilities = abilitiesOf(bits, isRecord(extensions) ? extensions : unable.extensions)
  return { revision, abilities, client: decodeClient(client, abilities) }
}

/** A client as it names itself, then with less and less of it. */
function * shorter(client: ClientInfo | undefined): Generator<readonly unknown[]> {
  if (client === undefined) return
  const { extensions, ...named } = client
  if (extensions !== undefined) yield [named, extensions]
  yield [named]
  const { name, version } = named
  yield [{ name, version }]
  yield [{ name: Array.from(name).slice(0, 24).join(''), version: Array.from(version).slice(0, 12).join('') }]
}

export interface SessionState {
  readonly logLevel: Severity | undefined
  readonly subscriptions: readonly string[]
  /** The client's scopes when it last subscribed. */
  readonly scopes: readonly string[]
  readonly isOver: boolean
}

export type StateChange = (state: SessionState) => Partial<SessionState>

const initial: SessionState = { logLevel: undefined, subscriptions: [], scopes: [], isOver: false }
/** How often a change is tried after another process was first. */
const MAX_ATTEMPTS = 32

/** A subscription to a resource; `scopes` undefined: its end. */
export function subscribed(uri: string, scopes: readonly string[] | undefined): StateChange {
  return ({ subscriptions }) => {
    const others = subscriptions.filter((one) => one !== uri)
    return scopes === undefined ? { subscriptions: others } : { subscriptions: [...others, uri], scopes }
  }
}

const COLLECTION = 'sessions'

function storeKeyOf(owner: string, id: string): StoreKey {
  return { collection: COLLECTION, owner: keyOf(owner), key: keyOf(id) }
}

const isState = recordOf<SessionState>({
  logLevel: optional(isSeverity), subscriptions: isStrings, scopes: isStrings,
  isOver: (value) => typeof value === 'boolean',
})

export class SessionMigration {
  readonly #service: Service
  readonly #seal: Seal
  readonly #sessions: Sessions
  readonly #notifications: Notifications
  readonly #updated = new Set<string>()
  #hasFailed = false

  constructor(service: Service, seal: Seal, sessions: Sessions, notifications: Notifications) {
    this.#service = service
    this.#seal = seal
    this.#sessions = sessions
    this.#notifications = notifications
    const shared = sharedOf(service)
    if (shared !== undefined) this.#listen(shared)
  }

  /** The id of a session that begins now. The client's own members are shortened until the id fits. */
  sessionId(owner: string, { revision, abilities, client }: Handshake): string {
    const bits = bitsOf(abilities)
    const until = Date.now() + SESSION_MS
    for (const shown of shorter(client)) {
      const id = this.#seal.seal(PURPOSE, [revision.name, bits, ...shown], until, owner)
      if (id.length <= MAX_LENGTH) return id
    }
    return this.#seal.seal(PURPOSE, [revision.name, bits], until, owner)
  }

  /** The id of a session that lives as long as its stream, so in this process; undefined without others. */
  get legacySseId(): string | undefined {
    const shared = sharedOf(this.#service)
    return shared && `${shared.cluster.id}.${randomBytes(24).toString('base64url')}`
  }

  /**
   * Begins the session of a request here where it is known only beyond; undefined where nothing has to be
   * waited for. Rejects with `Fault('busy')` where there is no room.
   */
  adopt(id: string | undefined, { origin, method }: Exchange): Promise<void> | undefined {
    if (id === undefined || this.#sessions.has(id)) return undefined
    // Without other processes the subscriptions of before a restart are lost: who listens begins again.
    if (sharedOf(this.#service) === undefined && method !== 'POST') return undefined
    const owner = origin.principal.id
    const handshake = openSessionId(this.#seal, owner, id)
    return handshake && this.#restore(owner, id, handshake)
  }

  async #restore(owner: string, id: string, handshake: Handshake): Promise<void> {
    let state: SessionState | undefined
    try {
      state = await this.#read(owner, id)
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
    await this.#change(owner, id, change)
    await sharedOf(this.#service)?.cluster.broadcast('session', [id, owner])
  }

  /** The state of a session; undefined where nothing has changed. */
  #read(owner: string, id: string): MaybePromise<SessionState | undefined> {
    return andThen(storeOf(this.#service).read(storeKeyOf(owner, id)), (entry) => this.#stateIn(entry))
  }

  #stateIn(entry: Entry | undefined): SessionState | undefined {
    return readStored(COLLECTION, entry, decoded(isState), this.#service.log)
  }

  async #change(owner: string, id: string, change: StateChange): Promise<void> {
    const store = storeOf(this.#service)
    const key = storeKeyOf(owner, id)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const entry = await store.read(key)
      const before = this.#stateIn(entry) ?? initial
      if (before.isOver) return
      const text = formatJson({ ...before, ...change(before) })
      if (await store.write(key, text, SESSION_MS, entry?.version ?? 0) !== undefined) return
    }
    throw new Fault('busy', 'This session changes all the time; try again later')
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
  pass(session: Session, message: McpMessage): Promise<void> | undefined {
    const shared = sharedOf(this.#service)
    if (shared === undefined) return undefined
    const { cluster } = shared
    const { id, owner } = session
    const cancelled = cancelledBy(message)
    // The request may have ended long ago, so the client is promised nothing.
    if (cancelled !== undefined) return cluster.broadcast('cancel', [id, owner, cancelled]).catch(() => {})
    if (message.kind !== 'response') return undefined
    // The process that an id of ours names at its end.
    const node = typeof message.id === 'string' ? /^ask-\d+@([\w-]{8})$/.exec(message.id)?.[1] : undefined
    if (node === undefined || node === cluster.id) return undefined
    const answer = [id, owner, message.id, message.result ?? null, message.error ?? null]
    return cluster.send(node, 'answer', answer)
  }

  /** Sends on the stream of a session, in whichever process that is open. Best effort. */
  send(id: string, owner: string, text: string): void {
    const outlet = this.#sessions.find(id, owner)?.outlet
    // Where the client is not connected here, it may have come back in another process.
    outlet?.send(text)
    if (outlet?.isConnected === true) return
    sharedOf(this.#service)?.cluster.broadcast('session-message', [id, owner, text]).catch(() => {})
  }

  /** Passes a POST to the process of its stream; undefined where that is this one. */
  passToLegacySse(
    id: string, body: string, origin: Origin, requestId: Id | undefined,
  ): Promise<Reply> | undefined {
    const { limits } = this.#service
    const shared = sharedOf(this.#service)
    const node = /^([\w-]{8})\./.exec(id)?.[1]
    if (shared === undefined || node === undefined || node === shared.cluster.id) return undefined
    return shared.channels.ask(node, 'pair', requestOf(origin, [id, body]), limits.storeTimeoutMs).then(
      // It was made by the same code.
      (reply) => reply as Reply,
      (error: unknown) => error instanceof Fault && error.kind === 'not-found' ? noLegacySse(requestId)
        : unavailable(error, requestId),
    )
  }

  /** Takes the POSTs that other processes pass to the streams of this one. */
  onLegacySsePost(take: (id: string, origin: Origin, body: string) => Reply): void {
    sharedOf(this.#service)?.channels.on('pair', (question, line) => {
      // Sealed by another process of ours.
      const request = question as TurnRequest
      const [id, body] = request.said as readonly [string, string]
      line.send(take(id, originOf(request), body))
      return {}
    })
  }

  #listen({ cluster }: SharedProcesses): void {
    // All of it was sealed by another process of ours.
    const on = <Rest extends readonly unknown[]>(
      kind: string, act: (session: Session, ...rest: Rest) => void,
    ): void => {
      cluster.on(kind, (body) => {
        const [id, owner, ...rest] = body as readonly [id: string, owner: string, ...rest: Rest]
        const session = this.#sessions.find(id, owner)
        if (session !== undefined) act(session, ...rest)
      })
    }
    on('session', (session) => void this.#refresh(session))
    on('cancel', cancelRequest)
    on('session-message', ({ outlet }, text: string) => {
      if (outlet?.isConnected === true) outlet.send(text)
    })
    on('answer', takeAnswer)
    cluster.on('updated', (uris) => {
      for (const uri of uris as readonly string[]) this.#notifications.updated(uri)
    })
    cluster.onLost((isFirst) => {
      if (!isFirst) this.#notifications.everything()
      for (const session of this.#sessions.all()) void this.#refresh(session)
    })
    this.#service.catalog.onChange((change) => this.#noteUpdate(change, cluster))
  }

  async #refresh(session: Session): Promise<void> {
    try {
      const state = await this.#read(session.owner, session.id)
      if (state?.isOver === true) this.#sessions.close(session)
      else if (state !== undefined) apply(session, state)
    } catch {
      // It goes on as it was; the guard of the store has logged why.
    }
  }

  /** Updates in one iteration of the event loop are one message. */
  #noteUpdate({ change, name }: CatalogChange, cluster: SharedProcesses['cluster']): void {
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

function apply(session: Session, { logLevel, subscriptions, scopes }: SessionState): void {
  if (logLevel !== undefined) session.logLevel = logLevel
  const wanted = new Set(subscriptions)
  for (const uri of [...session.subscriptions]) if (!wanted.has(uri)) session.unsubscribe(uri)
  for (const uri of wanted) session.subscribe(uri, scopes)
}
