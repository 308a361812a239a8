/**
 * What a legacy session keeps: who it belongs to, what was negotiated, what runs in it, what it was
 * asked, and its streams. Knows nothing of other sessions.
 *
 * Spec: MCP 2025-11-25, Transports, Session Management.
 */
import { monotonic } from '../../util/clock.ts'
import { Fault } from '../../define/fault.ts'
import { Workload } from '../../run/workload.ts'
import { randomId } from '../../wire/random.ts'
import { unable } from '../protocol/client.ts'
import { KeptStreams, streamMark } from './replay.ts'
import { total } from '../../util/memory.ts'
import type { ClientInfo } from '../../define/call.ts'
import type { LiveCall } from '../../define/live-call.ts'
import type { Severity } from '../../define/log.ts'
import type { Limits } from '../../define/limits.ts'
import type { Id } from '../../wire/jsonrpc.ts'
import type { ClientAbilities, PeerInfo } from '../protocol/client.ts'
import type { ReplayBudget, ReplayStream } from './replay.ts'
import type { Revision } from '../protocol/revisions.ts'

/** Where messages of a session go that belong to no request. */
export interface Outlet {
  /** Whether its client is there. Left out: as long as the session. */
  readonly isConnected?: boolean
  send(message: string): void
  /** Set where the session lives as long as this does: ends it. */
  end?(): void
}

/** The way back of one request. */
export interface ResponseChannel {
  /** Whether messages can go out before the answer. */
  readonly sends: boolean
  /** Whether its client is there. Left out: as long as the session. */
  readonly isConnected?: boolean
  /** Sends a message that is not the answer: a notification, or a request of ours. */
  send(message: string): void
  /** Sends the answer, once. `status` and `headers` count only where HTTP has not begun to answer. */
  finish(message: string, status?: number, headers?: readonly string[]): void
  /** Ends without an answer: the client has cancelled. */
  abandon(): void
  /** Lets the client hang up and come back; nothing where it cannot. */
  detach?(retryMs: number | undefined): void
}

/** Addresses that one client may watch: how many, the bytes of one, and of all together. */
export const MAX_SUBSCRIPTIONS = 1_000
export const MAX_ADDRESS_BYTES: number = 8 * 1024
export const MAX_ADDRESSES_BYTES: number = 256 * 1024

/** What all clients of one server may watch together, in bytes. */
const MAX_WATCHED_BYTES = total(64 * 1024 * 1024)
/** An address besides its text. */
const ENTRY_BYTES = 64

/** The memory that all watched addresses of one server share. */
export class WatchedBytes {
  #held = 0

  /** Bytes that are held now. */
  get held(): number { return this.#held }

  /** Takes room for addresses. Throws `Fault('busy')` where there is not enough for all of them. */
  take(uris: Iterable<string>): void {
    const bytes = bytesOf(uris)
    if (this.#held + bytes > MAX_WATCHED_BYTES) {
      throw new Fault('busy', 'The clients of this server watch too many resources; try again later')
    }
    this.#held += bytes
  }

  give(uris: Iterable<string>): void {
    this.#held -= bytesOf(uris)
  }
}

function bytesOf(uris: Iterable<string>): number {
  let bytes = 0
  for (const uri of uris) bytes += ENTRY_BYTES + Buffer.byteLength(uri)
  return bytes
}

/** One client's. */
export class Subscriptions {
  readonly #uris = new Set<string>()
  readonly #watched: WatchedBytes
  #bytes = 0
  /** What the client might do when it last subscribed. */
  scopes: readonly string[]

  constructor(scopes: readonly string[], watched: WatchedBytes) {
    this.scopes = scopes
    this.#watched = watched
  }

  get uris(): ReadonlySet<string> { return this.#uris }

  /** Adds an address. Throws `Fault('too-large')` or `Fault('busy')` where there is no room for it. */
  add(uri: string): void {
    if (this.#uris.has(uri)) return
    const bytes = Buffer.byteLength(uri)
    if (bytes > MAX_ADDRESS_BYTES) {
      throw new Fault('too-large', `An address may have ${MAX_ADDRESS_BYTES} bytes`)
    }
    if (this.#uris.size >= MAX_SUBSCRIPTIONS || this.#bytes + bytes > MAX_ADDRESSES_BYTES) {
      throw new Fault('busy', `A session may have ${MAX_SUBSCRIPTIONS} subscriptions of `
        + `${MAX_ADDRESSES_BYTES} bytes together; unsubscribe from one`)
    }
    this.#watched.take([uri])
    this.#uris.add(uri)
    this.#bytes += bytes
  }

  remove(uri: string): void {
    if (!this.#uris.delete(uri)) return
    this.#bytes -= Buffer.byteLength(uri)
    this.#watched.give([uri])
  }

  /** Removes all of them. */
  clear(): void {
    this.#watched.give(this.#uris)
    this.#uris.clear()
    this.#bytes = 0
  }
}

/** What is known of the client of one request. */
export interface Peer extends PeerInfo {
  readonly client: ClientInfo | undefined
  /** What it wants to hear of logs; undefined: nothing. */
  readonly logLevel: Severity | undefined
  readonly session: Session | undefined
}

/** What `initialize` settled. */
export interface Handshake {
  readonly revision: Revision
  readonly abilities: ClientAbilities
  readonly client: ClientInfo | undefined
}

/** A question to the client that waits for its answer. */
export interface Asked {
  readonly resolve: (result: unknown) => void
  readonly reject: (reason: Fault) => void
}

/** What all sessions of one server have in common. */
export interface SessionTerms {
  readonly limits: Limits
  readonly budget: ReplayBudget
  readonly watched: WatchedBytes
  /** What the ids of their questions and events end with: where they are known. */
  readonly mark: string
}

const none: ReadonlySet<string> = new Set()
const nothing: readonly never[] = Object.freeze([])

/**
 * One session. Ten thousand of them may be open, and the garbage collector reads every member of each: so
 * what most sessions never need is made when it is needed.
 */
export class Session implements Peer {
  readonly id: string
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
  /** Undefined while the client has opened none. */
  outlet: Outlet | undefined
  /** The stream that GET opened. */
  standalone: ReplayStream | undefined
  /** Monotonic milliseconds. */
  usedAt: number = monotonic()
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

  /** Calls that run, and how many may. */
  get workload(): Workload {
    return this.#workload ??= new Workload(this.#terms.limits.maxCallsPerSession, 'in this session')
  }

  /** Calls that run, by the id of their request. */
  get running(): Map<Id, LiveCall> { return this.#running ??= new Map() }

  /** Questions that wait for their answer. */
  get asked(): Map<Id, Asked> { return this.#asked ??= new Map() }

  /** Resources whose changes the client wants to hear of. */
  get subscriptions(): ReadonlySet<string> { return this.#subscriptions?.uris ?? none }

  /** What the client might do when it last subscribed. */
  get scopes(): readonly string[] { return this.#subscriptions?.scopes ?? nothing }

  /** Whether a request of that id runs. */
  isRunning(id: Id): boolean {
    return this.#running?.has(id) === true
  }

  /** It lives as long as one connection, and goes nowhere else. */
  get isBound(): boolean { return this.outlet?.end !== undefined }

  /** Something is going on that must not be cut off. */
  get isBusy(): boolean {
    // Whoever waits for a task runs nothing here.
    if ((this.#workload?.running ?? 0) > 0 || (this.#running?.size ?? 0) > 0) return true
    return this.isBound || this.#streams?.isBusy === true
  }

  /**
   * Takes what `initialize` settled. Where a connection is the session, on stdio and the SSE pair, it may be
   * said again and holds from then on, as with the official servers: a bridge may have put another client
   * behind it. What runs goes on and keeps its id. Streamable HTTP refuses it: processes that share sessions
   * read in the id what was settled, and who begins again gets another by leaving the id out.
   */
  settle({ revision, abilities, client }: Handshake): void {
    this.revision = revision
    this.abilities = abilities
    this.client = client
  }

  /** Adds an address. Throws `Fault('too-large')` or `Fault('busy')` where there is no room for it. */
  subscribe(uri: string, scopes: readonly string[]): void {
    // Nobody would give back what one takes that has ended meanwhile.
    if (this.isOver) return
    this.#subscriptions ??= new Subscriptions(scopes, this.#terms.watched)
    this.#subscriptions.scopes = scopes
    this.#subscriptions.add(uri)
  }

  unsubscribe(uri: string): void {
    this.#subscriptions?.remove(uri)
  }

  /** The stream of that id, while it is kept. */
  streamOf(id: string): ReplayStream | undefined {
    return this.#streams?.find(id)
  }

  /** A new stream, on which `owed` requests are answered. Those that ended first make room for it. */
  openStream(owed: readonly Id[] = nothing): ReplayStream {
    const { limits, budget, mark } = this.#terms
    this.#streams ??= new KeptStreams(this.owner, limits, budget)
    const stream = this.#streams.open(streamMark(mark, owed))
    // Nobody would drop what one opens that has ended meanwhile.
    if (this.isOver) this.#streams.drop()
    return stream
  }

  get streams(): Iterable<ReplayStream> { return this.#streams?.all ?? nothing }

  /** An id for a question of ours. */
  nextQuestion(): string {
    return `ask-${++this.#questions}${this.#terms.mark}`
  }

  /** Ends what runs. Whoever waits for an answer gets one, on the streams of the session too: they stay. */
  cancel(why: Fault): void {
    for (const call of [...this.#running?.values() ?? nothing]) call.cancel(why)
    this.#refuseAsked(why)
  }

  /** Ends everything that belongs to the session. Its client wants no answer any more. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    const calls = [...this.#running?.values() ?? nothing]
    // Most have neither, and to make a fault costs more than the rest of an end.
    if (calls.length + (this.#asked?.size ?? 0) > 0) {
      const reason = new Fault('cancelled', 'The session has ended')
      for (const call of calls) call.disconnect(reason.message)
      this.#refuseAsked(reason)
    }
    this.#streams?.drop()
    this.#subscriptions?.clear()
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
