/**
 * The processes that share a store. Each has a name, a lease that it renews as long as it lives, and an
 * inbox, which is a topic of the store. Messages are sealed with the secret that the processes share, so that
 * others who can write to the store cannot send in their name.
 *
 * A process keeps its name for as long as it lives, whatever happens to its lease.
 */
import { randomBytes } from 'node:crypto'
import { MAX_TIMER_MS } from '../../kernel/util/clock.ts'
import { SYSTEM_OWNER } from '../../kernel/store/store.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { Seal } from '../../kernel/wire/seal.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { StoreKey } from '../../kernel/store/store.ts'

/** Takes over what a dead process has left. Resolves to whether there was anything. */
export type TakeOver = (node: string) => Promise<boolean>

/** Takes a message of another process. What it throws is logged. */
export type OnMessage = (body: unknown, from: string) => void

/** Messages are kept for a process that has lost its connection to the store. */
const KEEP = { events: 1_000, ms: 60_000 }
const ALL = 'all'
const PURPOSE = 'message'
export const LEASES = 'leases'
/** The collection of the names of all, until nothing of them can come any more. */
export const MEMBERS = 'members'
/** The value of the name of a process that has closed: others need not wait until they may judge. */
export const CLOSED = 'closed'
/** Senders whose last message number is remembered. */
const MAX_SENDERS = 10_000

export class ClusterMembership {
  /** Eight characters of `[A-Za-z0-9_-]`, new at each start. */
  readonly id: string = randomBytes(6).toString('base64url')
  readonly #store: GuardedStore
  readonly #seal: Seal
  readonly #limits: KernelLimits
  readonly #log: Log
  readonly #onMessage = new Map<string, OnMessage>()
  readonly #onLost: ((isFirst: boolean) => void)[] = []
  readonly #onBeat: (() => void)[] = []
  readonly #onLapse: (() => void)[] = []
  readonly #onForgotten: (() => void)[] = []
  readonly #onDead: TakeOver[] = []
  readonly #received = new Map<string, number>()
  readonly #stops = new Map<string, () => void>()
  /** The value of our lease: another value is the lease of another process of the same name. */
  readonly #token = randomBytes(12).toString('base64url')
  #sent = 0
  #version = 0
  #leasedUntil = 0
  #quietUntil = Infinity
  #hasStrangers = false
  #hasLeft = false
  #isClosed = false
  #isFollowing = false
  #starting: Promise<void> | undefined
  /** The beat that is going on. Never rejects. */
  #beating: Promise<void>
  #timer: NodeJS.Timeout | undefined

  constructor(store: GuardedStore, seal: Seal, limits: KernelLimits, log: Log) {
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

  /** Whether others know that this process lives. Counted from when the last renewal was sent. */
  get isLeased(): boolean { return performance.now() < this.#leasedUntil }

  get isOpen(): boolean { return !this.#isClosed }

  /** Whether it may decide who is dead: not before all others had the time to renew their leases. */
  get mayJudge(): boolean { return this.isLeased && performance.now() >= this.#quietUntil }

  /** The time between two beats, in milliseconds. */
  get beatMs(): number { return Math.min(Math.max(10, this.#limits.leaseMs / 4), MAX_TIMER_MS) }

  /** Resolves when others can reach this process. Rejects with `Fault('busy')` where they cannot now. */
  ready(): Promise<void> | undefined {
    if (this.#isFollowing && this.isLeased) return undefined
    return this.#starting ??= this.#begin().finally(() => { this.#starting = undefined })
  }

  on(kind: string, listener: OnMessage): void { this.#onMessage.set(kind, listener) }

  /** Calls where messages were lost for good; `isFirst`: broadcasts, before this process followed them. */
  onLost(listener: (isFirst: boolean) => void): void { this.#onLost.push(listener) }

  onBeat(listener: () => void): void { this.#onBeat.push(listener) }

  /** Calls when the lease has lapsed, so that others may have taken this process for dead, and is renewed. */
  onLapse(listener: () => void): void { this.#onLapse.push(listener) }

  /** Calls where its lease is gone from the store, and so perhaps everything else. */
  onForgotten(listener: () => void): void { this.#onForgotten.push(listener) }

  /** Calls for each dead process, again and again, until nothing of it was there any more. */
  onDead(takeOver: TakeOver): void { this.#onDead.push(takeOver) }

  get heirs(): number { return this.#onDead.length }

  /** Takes over what a dead process has left. Resolves to whether there was anything. */
  async takeOver(node: string): Promise<boolean> {
    const found = await Promise.all(this.#onDead.map((takeOver) => takeOver(node)))
    return found.includes(true)
  }

  /** Something of this process outlives it: its name stays known until others have taken that over. */
  keepName(): void { this.#hasLeft = true }

  /** Sends a message to one process. Rejects with `Fault('busy')` where the store cannot be reached. */
  async send(node: string, kind: string, body: unknown): Promise<void> {
    if (node === this.id) return this.#take(kind, body, node)
    await this.#publish(`node/${node}`, kind, body)
  }

  /** Sends a message to all other processes. Rejects in the same way. */
  async broadcast(kind: string, body: unknown): Promise<void> {
    await this.#publish(ALL, kind, body)
  }

  /** Rejects with `Fault('busy')` where that is not known now. */
  async isAlive(node: string): Promise<boolean> {
    return node === this.id || await this.#store.read(leaseOf(node)) !== undefined
  }

  /** Gives up the lease: others know at once that it has ended. `isEmpty`: it left nothing. */
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
    this.#sent += 1
    const text = this.#seal.seal(PURPOSE, [topic, this.id, this.#sent, kind, body], Infinity)
    await this.#store.publish(topic, text, KEEP)
  }

  /** Renews the lease, again and again. Never rejects. */
  async #beat(): Promise<void> {
    if (this.#isClosed) return
    try {
      await this.ready()
      await this.#renew()
      for (const listener of this.#onBeat) listener()
    } catch {
      // The store's guard has logged it; the next beat tries again.
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
    // Its inbox is new: what is kept there was sent before it followed.
    for (const [topic, from] of [[`node/${this.id}`, 'kept'], [ALL, 'now']] as const) {
      if (this.#stops.has(topic)) continue
      const listener = (text: string): void => this.#open(topic, text)
      const stop = await this.#store.follow(topic, from, listener, () => this.#lost())
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
      // The reaper looks for dead processes among the members, so the name is there before the lease.
      if (this.#version === 0) await this.#store.write(memberOf(this.id), '', Infinity, 'any')
      version = await this.#store.write(leaseOf(this.id), this.#token, leaseMs, this.#version)
      if (version !== undefined) break
      // It has expired, or a write has happened though its answer was lost.
      const entry = await this.#store.read(leaseOf(this.id))
      if (entry !== undefined && entry.value !== this.#token) throw new Error('Two processes have one name')
      if (entry === undefined) for (const listener of this.#onForgotten) listener()
      this.#version = entry?.version ?? 0
    }
    // While this process could not renew its lease, the others could not either.
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
      return this.#warnOfStranger()
    }
    if (from === this.id || to !== topic) return
    // Numbers rise: a lower one is a replay.
    const sender = `${topic} ${from}`
    if (number <= (this.#received.get(sender) ?? 0)) return
    this.#received.delete(sender)
    this.#received.set(sender, number)
    if (this.#received.size > MAX_SENDERS) this.#received.delete(this.#received.keys().next().value!)
    this.#take(kind, body, from)
  }

  #take(kind: string, body: unknown, from: string): void {
    try {
      this.#onMessage.get(kind)?.(body, from)
    } catch (cause) {
      // A message of another version of this library must not end this process.
      this.#log('error', 'What another process said could not be taken', { kind, from, cause })
    }
  }

  #warnOfStranger(): void {
    if (this.#hasStrangers) return
    this.#hasStrangers = true
    this.#log('warning', 'A process of this deployment has another secret or name; give all its processes '
      + `the same of both, and each other service a secret or a 'deployment' of its own`)
  }
}

function leaseOf(node: string): StoreKey {
  return { collection: LEASES, owner: SYSTEM_OWNER, key: node }
}

/** Where it is written that there is, or was, a process of that name. */
export function memberOf(node: string): StoreKey {
  return { collection: MEMBERS, owner: SYSTEM_OWNER, key: node }
}
