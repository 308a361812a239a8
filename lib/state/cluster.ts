/**
 * The processes that share a store, as one of them sees them: each has a name, a lease that says that it
 * lives, and an inbox, which is a topic of the store. What they say to each other is sealed with the secret
 * that they share, so that whoever can write to the store cannot speak as one of them.
 *
 * A process keeps its name for as long as it lives, whatever happens to its lease: what names it stays
 * reachable. Knows nothing of what is said.
 */
import { randomBytes } from 'node:crypto'
import { MAX_TIMER_MS } from '../util/clock.ts'
import { SYSTEM_OWNER } from './store.ts'
import type { Limits } from '../define/limits.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { Log } from '../define/log.ts'
import type { StoreKey } from './store.ts'
import type { Seal } from '../wire/seal.ts'

/** Takes over what a dead process has left. Resolves to whether there was anything. */
export type TakeOver = (node: string) => Promise<boolean>

/** Takes what another process says. What it throws is logged. */
export type OnMessage = (body: unknown, from: string) => void

/** What is said stays in an inbox for whoever was cut off from the store: so many events, for so long. */
const KEEP = { events: 1_000, ms: 60_000 }
const ALL = 'all'
const PURPOSE = 'message'
/** The collection of the leases of those that live. */
export const LEASES = 'leases'
/** The collection of the names of all, until nothing of them can come any more. */
export const MEMBERS = 'members'
/** The value of the name of a process that has closed: others need not wait until they may judge. */
const CLOSED = 'closed'
/** Processes whose last message is remembered. */
const MAX_SENDERS = 10_000

/** This process among all that share its store. */
export class ClusterMembership {
  /** Eight characters of `[A-Za-z0-9_-]`, new at each start. */
  readonly id: string = randomBytes(6).toString('base64url')
  readonly #store: GuardedStore
  readonly #seal: Seal
  readonly #limits: Limits
  readonly #log: Log
  readonly #hear = new Map<string, OnMessage>()
  readonly #onLost: ((isFirst: boolean) => void)[] = []
  readonly #onBeat: (() => void)[] = []
  readonly #onLapse: (() => void)[] = []
  readonly #onForgotten: (() => void)[] = []
  readonly #onDead: TakeOver[] = []
  /** The number of the last message of each process, on each topic. */
  readonly #heard = new Map<string, number>()
  /** What ends the following of each topic. */
  readonly #stops = new Map<string, () => void>()
  /** The value of our lease, by which it is known from one of somebody else. */
  readonly #token = randomBytes(12).toString('base64url')
  #said = 0
  #version = 0
  #leasedUntil = 0
  #quietUntil = Infinity
  #hasStrangers = false
  #hasLeft = false
  #isClosed = false
  #isFollowing = false
  #starting: Promise<void> | undefined
  /** The sign of life that is on its way. Never rejects. */
  #beating: Promise<void>
  #timer: NodeJS.Timeout | undefined

  constructor(store: GuardedStore, seal: Seal, limits: Limits, log: Log) {
    this.#store = store
    this.#seal = seal
    this.#limits = limits
    this.#log = log
    store.onReturn(() => {
      clearTimeout(this.#timer)
      this.#beating = this.#beating.then(() => this.#beat())
    })
    this.#beating = this.#beat()
  }

  /** Whether others know that this process lives. Counted from when that was last said. */
  get isLeased(): boolean { return performance.now() < this.#leasedUntil }

  /** Whether it has not been closed. */
  get isOpen(): boolean { return !this.#isClosed }

  /** Whether it may tell who is dead: not before all others had the time to say that they live. */
  get mayJudge(): boolean { return this.isLeased && performance.now() >= this.#quietUntil }

  /** How often lives are looked at, in milliseconds. */
  get beatMs(): number { return Math.min(Math.max(10, this.#limits.leaseMs / 4), MAX_TIMER_MS) }

  /** Resolves when others can reach this process. Rejects with `Fault('busy')` where they cannot now. */
  ready(): Promise<void> | undefined {
    if (this.#isFollowing && this.isLeased) return undefined
    return this.#starting ??= this.#begin().finally(() => { this.#starting = undefined })
  }

  /** What is done with messages of one kind. */
  on(kind: string, hear: OnMessage): void { this.#hear.set(kind, hear) }

  /** Calls where messages were lost for good; `isFirst`: those to all, before this process could hear. */
  onLost(listener: (isFirst: boolean) => void): void { this.#onLost.push(listener) }

  /** Calls after each sign of life that was taken. */
  onBeat(listener: () => void): void { this.#onBeat.push(listener) }

  /** Calls when others may have taken this process for dead, and know again that it lives. */
  onLapse(listener: () => void): void { this.#onLapse.push(listener) }

  /** Calls where its lease is gone from the store, and so perhaps all else. */
  onForgotten(listener: () => void): void { this.#onForgotten.push(listener) }

  /** Calls for each dead process, again and again, until nothing of it was there any more. */
  onDead(takeOver: TakeOver): void { this.#onDead.push(takeOver) }

  /** How many take over what dead processes leave. */
  get heirs(): number { return this.#onDead.length }

  /** Takes over what a dead process has left. Resolves to whether there was anything. */
  async takeOver(node: string): Promise<boolean> {
    const found = await Promise.all(this.#onDead.map((takeOver) => takeOver(node)))
    return found.includes(true)
  }

  /** Something of this process outlives it: its name stays known until others have taken that over. */
  keepName(): void { this.#hasLeft = true }

  /** Says something to one process. Rejects with `Fault('busy')` where that cannot be said. */
  async send(node: string, kind: string, body: unknown): Promise<void> {
    if (node === this.id) return this.#take(kind, body, node)
    await this.#publish(`node/${node}`, kind, body)
  }

  /** Says something to all other processes. Rejects in the same way. */
  async broadcast(kind: string, body: unknown): Promise<void> {
    await this.#publish(ALL, kind, body)
  }

  /** Whether a process lives. Rejects with `Fault('busy')` where that cannot be told. */
  async isAlive(node: string): Promise<boolean> {
    return node === this.id || await this.#store.read(leaseOf(node)) !== undefined
  }

  /** Says and hears nothing more. Others learn at once that it has ended. `isEmpty`: it left nothing. */
  async close(isEmpty: boolean): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    try {
      for (const stop of this.#stops.values()) stop()
      await this.#beating
      await this.#starting
      if (this.#version === 0) return
      await this.#store.remove(leaseOf(this.id), this.#version)
      if (isEmpty && !this.#hasLeft) await this.#store.remove(memberOf(this.id), 'any')
      else await this.#store.write(memberOf(this.id), CLOSED, Infinity, 'any')
    } catch {
      // The lease runs out by itself.
    }
  }

  async #publish(topic: string, kind: string, body: unknown): Promise<void> {
    this.#said += 1
    const text = this.#seal.seal(PURPOSE, [topic, this.id, this.#said, kind, body], Infinity)
    await this.#store.publish(topic, text, KEEP)
  }

  /** A sign of life, again and again. Never rejects. */
  async #beat(): Promise<void> {
    if (this.#isClosed) return
    try {
      await this.ready()
      await this.#renew()
      for (const listener of this.#onBeat) listener()
    } catch {
      // The guard of the store has said so; the next beat is another try.
    }
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => { this.#beating = this.#beat() }, this.beatMs)
    this.#timer.unref()
  }

  async #begin(): Promise<void> {
    await this.#follow()
    await this.#renew()
  }

  async #follow(): Promise<void> {
    if (this.#isFollowing) return
    // Its name is new: whatever is kept for it was said before it could hear.
    for (const [topic, from] of [[`node/${this.id}`, 'kept'], [ALL, 'now']] as const) {
      if (this.#stops.has(topic)) continue
      const hear = (text: string): void => this.#open(topic, text)
      const stop = await this.#store.follow(topic, from, hear, () => this.#lost())
      if (this.#isClosed) return stop()
      this.#stops.set(topic, stop)
    }
    this.#isFollowing = true
    this.#lost(true)
  }

  #lost(isFirst = false): void {
    for (const listener of this.#onLost) listener(isFirst)
  }

  async #renew(): Promise<void> {
    if (this.#isClosed) return
    const { leaseMs } = this.#limits
    const sentAt = performance.now()
    let version: number | undefined
    while (version === undefined) {
      // Members are looked at when somebody may have died, so there is one before there is a lease.
      if (this.#version === 0) await this.#store.write(memberOf(this.id), '', Infinity, 'any')
      version = await this.#store.write(leaseOf(this.id), this.#token, leaseMs, this.#version)
      if (version !== undefined) break
      // It has run out, or a write was taken though its answer did not come.
      const entry = await this.#store.read(leaseOf(this.id))
      if (entry !== undefined && entry.value !== this.#token) throw new Error('Two processes have one name')
      if (entry === undefined) for (const listener of this.#onForgotten) listener()
      this.#version = entry?.version ?? 0
    }
    // Where this process could not say that it lives, others could not either.
    const hasLapsed = !this.isLeased && this.#leasedUntil > 0
    if (!this.isLeased) this.#quietUntil = performance.now() + leaseMs
    this.#version = version
    this.#leasedUntil = sentAt + leaseMs
    if (hasLapsed) for (const listener of this.#onLapse) listener()
  }

  #open(topic: string, text: string): void {
    const opened = this.#seal.open(PURPOSE, text)
    const [to, from, number, kind, body]: readonly unknown[] = Array.isArray(opened) ? opened : []
    if (typeof from !== 'string' || typeof number !== 'number' || typeof kind !== 'string') {
      return this.#noteStranger()
    }
    if (from === this.id || to !== topic) return
    // Numbers rise: what was heard already is somebody's copy of it.
    const sender = `${topic} ${from}`
    if (number <= (this.#heard.get(sender) ?? 0)) return
    this.#heard.delete(sender)
    this.#heard.set(sender, number)
    if (this.#heard.size > MAX_SENDERS) this.#heard.delete(this.#heard.keys().next().value!)
    this.#take(kind, body, from)
  }

  #take(kind: string, body: unknown, from: string): void {
    try {
      this.#hear.get(kind)?.(body, from)
    } catch (cause) {
      // What another process says must not end this one, whatever version of the house it runs.
      this.#log('error', 'What another process said could not be taken', { kind, from, cause })
    }
  }

  #noteStranger(): void {
    if (this.#hasStrangers) return
    this.#hasStrangers = true
    this.#log('warning', 'Somebody speaks in this deployment with another secret or name; give all its '
      + `processes the same of both, and each other service a secret or a 'deployment' of its own`)
  }
}

function leaseOf(node: string): StoreKey {
  return { collection: LEASES, owner: SYSTEM_OWNER, key: node }
}

/** Where it is written down that there is, or was, a process of that name. */
export function memberOf(node: string): StoreKey {
  return { collection: MEMBERS, owner: SYSTEM_OWNER, key: node }
}
