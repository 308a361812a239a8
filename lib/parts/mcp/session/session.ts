/**
 * Legacy sessions: owner, what was negotiated, calls, questions, subscriptions and streams; and the table of
 * them, bounded by idle time and by number. For other principals a session does not exist.
 * Spec: MCP 2025-11-25, Transports, Session Management; Resources, Subscriptions.
 */
import { MAX_TIMER_MS } from '../../../kernel/util/clock.ts'
import { isName, MAX_NAME_BYTES } from '../../../kernel/wire/bounded.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { Workload } from '../../../kernel/run/workload.ts'
import { randomId } from '../../../kernel/wire/random.ts'
import { unable } from '../protocol/client.ts'
import { Lease, Quota } from '../../../kernel/util/quota.ts'
import { KeptStreams, streamMark } from './replay.ts'
import { total } from '../../../kernel/util/memory.ts'
import { Bounded, KEPT } from '../../../floors/bounds/bounded.ts'
import type { ClientInfo } from '../../../kernel/define/call.ts'
import type { LiveCall } from '../../../kernel/define/live-call.ts'
import type { Severity } from '../../../kernel/define/log.ts'
import type { Principal } from '../../../kernel/define/principal.ts'
import type { Id } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { Reply } from '../../../kernel/http/message/exchange.ts'
import type { ClientAbilities, PeerInfo } from '../protocol/client.ts'
import type { Slotted } from '../../../floors/bounds/slots.ts'
import type { ReplayBudget } from '../../../floors/kept-streams/replay-budget.ts'
import type { StreamReader, ReplayStream } from './replay.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { McpLimits } from '../options.ts'

/** Takes messages of a session that belong to no request. */
export interface Outlet {
  /** Whether its client is connected. Left out: as long as the session. */
  readonly isConnected?: boolean
  /** Who reads it now. Left out: nobody, or who cannot lose a scope. */
  readonly reader?: StreamReader | undefined
  /** Sends a message that is no answer: a notification, or a request of ours. */
  send(message: string): void
  /** Ends it. Set where the session lives as long as this does. */
  end?(): void
}

/** What the head of a reply says besides its status. */
export type AnswerHead = Pick<Reply, 'headers' | 'neededScopes'>

/** What a transport gives one request: the way to its client. */
export interface ResponseChannel extends Pick<Outlet, 'isConnected' | 'send'> {
  /** Whether messages can go out before the answer. */
  readonly sends: boolean
  /** Sends the answer, once. `status` and `more` count only where HTTP has not begun to answer. */
  finish(message: string, status?: number, more?: AnswerHead): void
  /** Ends without an answer: the client has cancelled. */
  abandon(): void
  /** Lets the client disconnect and resume; nothing where it cannot. */
  detach?(retryMs: number | undefined): void
}

/** Resources that one client may watch: how many, and the bytes of all addresses. */
export const MAX_SUBSCRIPTIONS = 1_000
export const MAX_ADDRESSES_BYTES: number = 256 * 1024

/** An address besides its text, in bytes. */
const ENTRY_BYTES = 64

/** Takes room for addresses. Throws `Fault('busy')` where there is not enough for all of them. */
export function watch(watched: Quota, lease: Lease, uris: Iterable<string>): void {
  let bytes = 0
  for (const uri of uris) bytes += ENTRY_BYTES + Buffer.byteLength(uri)
  if (watched.take(lease, bytes)) return
  throw new Fault('busy', 'The clients of this server watch too many resources; try again later')
}

/** The addresses that one session watches, and the lease of their bytes. */
class Subscriptions extends Lease {
  readonly caller: string
  readonly uris: Set<string> = new Set()
  readonly #watched: Quota
  /** The client's scopes when it was last heard of. */
  scopes: readonly string[] = nothing

  constructor(owner: string, watched: Quota) {
    super()
    this.caller = owner
    this.#watched = watched
  }

  /** Adds an address. Throws `Fault('too-large')` or `Fault('busy')` where there is no room for it. */
  add(uri: string): void {
    if (this.uris.has(uri)) return
    if (!isName(uri)) throw new Fault('too-large', `An address may have ${MAX_NAME_BYTES} bytes`)
    const bytes = Buffer.byteLength(uri)
    const { size } = this.uris
    if (size >= MAX_SUBSCRIPTIONS || this.amount - size * ENTRY_BYTES + bytes > MAX_ADDRESSES_BYTES) {
      throw new Fault('busy', `A session may have ${MAX_SUBSCRIPTIONS} subscriptions of `
        + `${MAX_ADDRESSES_BYTES} bytes together; unsubscribe from one`)
    }
    watch(this.#watched, this, [uri])
    this.uris.add(uri)
  }

  remove(uri: string): void {
    if (this.uris.delete(uri)) this.#watched.add(this, -ENTRY_BYTES - Buffer.byteLength(uri))
  }

  override close(): void {
    this.uris.clear()
    super.close()
  }
}

/** What `initialize` settles. */
export interface Handshake extends PeerInfo { readonly client: ClientInfo | undefined }

export interface Peer extends Handshake {
  /** The least severity of logs that it wants; undefined: no logs. */
  readonly logLevel: Severity | undefined
  readonly session: Session | undefined
}

export interface Asked {
  readonly resolve: (result: unknown) => void
  readonly reject: (reason: Fault) => void
}

export interface SessionTerms {
  readonly limits: McpLimits
  readonly budget: ReplayBudget
  readonly watched: Quota
  /** The suffix of the ids of questions and events, which names this process. */
  readonly mark: string
}

const none: ReadonlySet<string> = new Set()
const nothing: readonly never[] = Object.freeze([])

/**
 * One session. Ten thousand of them may be open, and the garbage collector reads every member of each: so
 * what most sessions never need is made when it is needed.
 */
export class Session implements Peer, Slotted {
  readonly id: string
  slot = 0
  readonly owner: string
  revision: Revision
  abilities: ClientAbilities = unable
  client: ClientInfo | undefined
  logLevel: Severity | undefined = 'info'
  #workload: Workload | undefined
  #running: Map<Id, LiveCall> | undefined
  #asked: Map<Id, Asked> | undefined
  #subscriptions: Subscriptions | undefined
  #streams: KeptStreams | undefined
  outlet: Outlet | undefined
  /** The stream of GET. */
  standalone: ReplayStream | undefined
  isOver = false
  #questions = 0
  readonly #terms: SessionTerms

  constructor(owner: string, revision: Revision, terms: SessionTerms, id: string = randomId(24)) {
    this.id = id
    this.owner = owner
    this.revision = revision
    this.#terms = terms
  }

  get session(): Session { return this }

  get workload(): Workload {
    return this.#workload ??= new Workload(this.#terms.limits.maxCallsPerSession, 'in this session')
  }

  /** Calls by the id of their request. */
  get running(): Map<Id, LiveCall> { return this.#running ??= new Map() }

  get asked(): Map<Id, Asked> { return this.#asked ??= new Map() }

  get subscriptions(): ReadonlySet<string> { return this.#subscriptions?.uris ?? none }

  /** The scopes of a client that subscribes, when it was last heard of. */
  get scopes(): readonly string[] { return this.#subscriptions?.scopes ?? nothing }

  isRunning(id: Id): boolean {
    return this.#running?.has(id) === true
  }

  /** Whether it lives as long as one connection. */
  get isBound(): boolean { return this.outlet?.end !== undefined }

  /** Whether it must not be closed as idle. */
  get isBusy(): boolean {
    // A request that waits for a task is no call.
    if ((this.#workload?.running ?? 0) > 0 || (this.#running?.size ?? 0) > 0) return true
    return this.isBound || this.#streams?.isBusy === true
  }

  /**
   * Takes what `initialize` settled. Where a connection is the session, on stdio and HTTP+SSE, `initialize`
   * may be repeated, as with the official servers: a bridge may have put another client behind it. Streamable
   * HTTP refuses that: the id carries what was settled.
   */
  settle({ revision, abilities, client }: Handshake): void {
    this.revision = revision
    this.abilities = abilities
    this.client = client
  }

  /** Adds an address. Throws `Fault('too-large')` or `Fault('busy')` where there is no room for it. */
  subscribe(uri: string, scopes: readonly string[]): void {
    // After the end nothing gives it back.
    if (this.isOver) return
    this.#subscriptions ??= new Subscriptions(this.owner, this.#terms.watched)
    this.#subscriptions.scopes = scopes
    this.#subscriptions.add(uri)
  }

  /** The client was heard of. */
  renew({ scopes }: Principal): void {
    if (this.#subscriptions !== undefined) this.#subscriptions.scopes = scopes
  }

  unsubscribe(uri: string): void {
    this.#subscriptions?.remove(uri)
  }

  streamOf(id: string): ReplayStream | undefined {
    return this.#streams?.find(id)
  }

  /** A new stream, on which `owed` requests are answered. Those that ended first are dropped for it. */
  openStream(owed: readonly Id[] = nothing): ReplayStream {
    const { limits, budget, mark } = this.#terms
    this.#streams ??= new KeptStreams(this.owner, limits, budget)
    const stream = this.#streams.open(streamMark(mark, owed))
    // After the end nothing drops it.
    if (this.isOver) this.#streams.close()
    return stream
  }

  get streams(): Iterable<ReplayStream> { return this.#streams?.all ?? nothing }

  nextQuestion(): string {
    return `ask-${++this.#questions}${this.#terms.mark}`
  }

  /** Cancels calls and questions. Their requests are answered, so the streams stay. */
  cancel(why: Fault): void {
    for (const call of [...this.#running?.values() ?? nothing]) call.cancel(why)
    this.#refuseAsked(why)
  }

  /** Ends everything that belongs to the session, without answers. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    const calls = [...this.#running?.values() ?? nothing]
    // Most have neither, and making a fault costs more than the rest of this.
    if (calls.length + (this.#asked?.size ?? 0) > 0) {
      const reason = new Fault('cancelled', 'The session has ended')
      for (const call of calls) call.disconnect(reason.message)
      this.#refuseAsked(reason)
    }
    this.#streams?.close()
    this.#subscriptions?.close()
    this.standalone = undefined
    const { outlet } = this
    this.outlet = undefined
    outlet?.end?.()
  }

  #refuseAsked(why: Fault): void {
    const asked = [...this.#asked?.values() ?? nothing]
    this.#asked?.clear()
    for (const { reject } of asked) reject(why)
  }
}

export class Sessions {
  /** Addresses that clients watch, with and without a session. */
  readonly watched: Quota = new Quota('bytes of watched addresses', total(64 * 1024 * 1024))
  readonly #limits: McpLimits
  readonly #terms: SessionTerms
  /** The owner with the most sessions loses one first: the one that was idle for longest. */
  readonly #all: Bounded<Session>
  #timer: NodeJS.Timeout | undefined

  /** `node`: the id of this process, where others can adopt its sessions. */
  constructor(limits: McpLimits, budget: ReplayBudget, node?: string) {
    this.#limits = limits
    this.#terms = { limits, budget, watched: this.watched, mark: node === undefined ? '' : `@${node}` }
    this.#all = new Bounded({ maxCount: limits.maxSessions, maxBytes: Infinity }, {
      onEvict: (session) => this.#end(session),
      mayGo: (session) => !session.isBusy,
    })
  }

  get count(): number { return this.#all.count }

  /** Begins a session. An idle one is closed for it; where none is idle, throws `Fault('busy')`. */
  open(owner: string, revision: Revision, id?: string): Session {
    const session = new Session(owner, revision, this.#terms, id)
    if (!this.#all.add(owner, session, 0)) {
      throw new Fault('busy', `${this.#limits.maxSessions} sessions are in use; try again later`)
    }
    this.#watch()
    return session
  }

  /** Whether there is one of that id, of any owner. */
  has(id: string): boolean { return this.#all.get(id) !== undefined }

  /** The owner's session of that id. Finding it counts as use. */
  find(id: string, owner: string): Session | undefined {
    const session = this.#all.get(id)
    if (session === undefined || session.owner !== owner) return undefined
    this.#all.use(session, KEPT)
    return session
  }

  close(session: Session): void {
    this.#all.remove(session)
    this.#end(session)
  }

  cancelAll(why: Fault): void {
    for (const session of [...this.all()]) session.cancel(why)
  }

  closeAll(): void {
    for (const session of [...this.all()]) this.close(session)
  }

  all(): Iterable<Session> { return this.#all.values() }

  #end(session: Session): void {
    session.end()
    if (this.#all.count > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #watch(): void {
    const { sessionIdleMs } = this.#limits
    if (this.#timer !== undefined || sessionIdleMs > MAX_TIMER_MS) return
    this.#timer = setInterval(() => {
      const oldest = performance.now() - sessionIdleMs
      for (const session of this.all()) {
        if (session.isBusy) this.#all.renew(session)
        else if (this.#all.usedAt(session) < oldest) this.close(session)
      }
    }, Math.max(10, sessionIdleMs / 4))
    this.#timer.unref()
  }
}
