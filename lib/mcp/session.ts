/**
 * What a legacy session keeps: who it belongs to, what was negotiated, what runs in it, what it was
 * asked, and its streams. Knows nothing of other sessions.
 *
 * Spec: MCP 2025-11-25, Transports, Session Management.
 */
import { Fault } from '../core/fault.ts'
import { Workload } from '../core/workload.ts'
import { randomId } from '../wire/random.ts'
import { unable } from './client.ts'
import { KeptStreams } from './kept-streams.ts'
import { streamMark } from './replay.ts'
import type { ClientInfo } from '../core/call.ts'
import type { LiveCall } from '../core/live-call.ts'
import type { Severity } from '../core/log.ts'
import type { Limits } from '../core/defaults.ts'
import type { Id } from '../wire/jsonrpc.ts'
import type { Outlet } from './channel.ts'
import type { ClientAbilities } from './client.ts'
import type { ReplayBudget, ReplayStream } from './replay.ts'
import type { Revision } from './revisions.ts'

/** Addresses that one client may watch: how many, the bytes of one, and of all together. */
export const MAX_SUBSCRIPTIONS = 1_000
export const MAX_ADDRESS_BYTES: number = 8 * 1024
export const MAX_ADDRESSES_BYTES: number = 256 * 1024

const none: ReadonlySet<string> = new Set()

/** What is known of the client of one request. */
export interface Peer {
  readonly revision: Revision
  readonly abilities: ClientAbilities
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

const nothing: readonly never[] = Object.freeze([])

/** One session. */
export class Session implements Peer {
  readonly session: Session = this
  readonly id: string
  readonly owner: string
  revision: Revision
  abilities: ClientAbilities = unable
  client: ClientInfo | undefined
  logLevel: Severity | undefined = 'info'
  #workload: Workload | undefined
  #running: Map<Id, LiveCall> | undefined
  #asked: Map<Id, Asked> | undefined
  #subscriptions: Set<string> | undefined
  /** The bytes of their addresses. */
  #subscribedBytes = 0
  /** What the client might do when it last subscribed. */
  scopes: readonly string[] = nothing
  #streams: KeptStreams | undefined
  /** Undefined while the client has opened none. */
  outlet: Outlet | undefined
  /** The stream that GET opened. */
  standalone: ReplayStream | undefined
  usedAt: number = performance.now()
  isOver = false
  #questions = 0
  readonly #limits: Limits
  readonly #budget: ReplayBudget
  /** What the ids of its questions and events end with: where they are known. */
  readonly #mark: string

  constructor(
    owner: string, revision: Revision, limits: Limits, budget: ReplayBudget,
    id: string = randomId(24), mark = '',
  ) {
    this.id = id
    this.#mark = mark
    this.owner = owner
    this.revision = revision
    this.#limits = limits
    this.#budget = budget
  }

  // Most sessions need none of these, and ten thousand of them may be open.

  /** Calls that run, and how many may. */
  get workload(): Workload {
    return this.#workload ??= new Workload(this.#limits.maxCallsPerSession, 'in this session')
  }

  /** Calls that run, by the id of their request. */
  get running(): Map<Id, LiveCall> { return this.#running ??= new Map() }

  /** Questions that wait for their answer. */
  get asked(): Map<Id, Asked> { return this.#asked ??= new Map() }

  /** Resources whose changes the client wants to hear of. */
  get subscriptions(): ReadonlySet<string> { return this.#subscriptions ?? none }

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

  settle({ revision, abilities, client }: Handshake): void {
    this.revision = revision
    this.abilities = abilities
    this.client = client
  }

  /** Adds an address. Throws `Fault('too-large')` or `Fault('busy')` where there is no room for it. */
  subscribe(uri: string, scopes: readonly string[]): void {
    this.scopes = scopes
    if (this.subscriptions.has(uri)) return
    const bytes = Buffer.byteLength(uri)
    if (bytes > MAX_ADDRESS_BYTES) {
      throw new Fault('too-large', `An address may have ${MAX_ADDRESS_BYTES} bytes`)
    }
    this.#subscriptions ??= new Set()
    const isFull = this.#subscriptions.size >= MAX_SUBSCRIPTIONS
    if (isFull || this.#subscribedBytes + bytes > MAX_ADDRESSES_BYTES) {
      throw new Fault('busy', `A session may have ${MAX_SUBSCRIPTIONS} subscriptions of `
        + `${MAX_ADDRESSES_BYTES} bytes together; unsubscribe from one`)
    }
    this.#subscriptions.add(uri)
    this.#subscribedBytes += bytes
  }

  unsubscribe(uri: string): void {
    if (this.#subscriptions?.delete(uri) === true) this.#subscribedBytes -= Buffer.byteLength(uri)
  }

  /** The stream of that id, while it is kept. */
  streamOf(id: string): ReplayStream | undefined {
    return this.#streams?.find(id)
  }

  /** A new stream, on which `owed` requests are answered. Those that ended first make room for it. */
  openStream(owed: readonly Id[] = nothing): ReplayStream {
    this.#streams ??= new KeptStreams(this.owner, this.#limits, this.#budget)
    return this.#streams.open(streamMark(this.#mark, owed))
  }

  get streams(): Iterable<ReplayStream> { return this.#streams?.all ?? nothing }

  /** An id for a question of ours. */
  nextQuestion(): string {
    return `ask-${++this.#questions}${this.#mark}`
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
      for (const call of calls) call.leave(reason.message)
      this.#refuseAsked(reason)
    }
    this.#streams?.drop()
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
