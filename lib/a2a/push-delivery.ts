/**
 * Webhooks: watches the tasks that have push configurations, and posts each of their events to each of them,
 * in order and at least once, in the dialect that the configuration was registered in. The first thing that
 * is posted is the task as it stood when it was registered.
 *
 * Where processes share the store, whichever runs a task posts its events, whoever registered them, and what
 * a process that is gone has left is posted by another. Spec: A2A 1.0 §4.3.
 */
import { isRecord } from '../core/content.ts'
import { isFinished } from '../core/task.ts'
import { dialectNamed } from './dialects.ts'
import { lookupHost } from './push-address.ts'
import { pushBodyOf } from './push-body.ts'
import { PushConfigs } from './push-config.ts'
import { PushCourier } from './push-courier.ts'
import { PushLines } from './push-lines.ts'
import { PushOutbox, UNDELIVERED_KEEP_MS } from './push-outbox.ts'
import { PushSlots } from './push-slots.ts'
import type { Service } from '../core/service.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Task, TaskEvent } from '../core/task.ts'
import type { Dialect, DialectName } from './dialect.ts'
import type { PushConfig } from './model.ts'
import type { Lookup } from './push-address.ts'
import type { KeptPushConfig, OwnedTask } from './push-config.ts'
import type { PushLine } from './push-line.ts'
import type { TakenOver } from './push-outbox.ts'
import type { PushSettings } from './push-options.ts'
import type { ToldEvent } from './task-view.ts'

/** What deliveries are made with; what is left out is as the house has it. */
export interface PushMeans {
  readonly lookup?: Lookup
  readonly dialectOf?: (name: DialectName) => Dialect
  /** How long after its end what a process has left is posted by another. */
  readonly leaseMs?: number
}

interface Watched {
  readonly place: OwnedTask
  configs: readonly KeptPushConfig[]
  readonly stop: () => void
}

const TOPIC = 'push-configs'
/** Posts that are on their way: in all, for one owner. */
const MAX_POSTS = 32
const MAX_POSTS_PER_OWNER = 8
const SWEEP_MS = 30_000
const IDLE_CHECK_MS = 20

/** All webhooks of one server. */
export class PushDeliveries {
  readonly #service: Service
  readonly #configs: PushConfigs
  readonly #courier: PushCourier
  readonly #dialectOf: (name: DialectName) => Dialect
  readonly #outbox: PushOutbox
  readonly #closing = new AbortController()
  readonly #watched = new Map<string, Watched>()
  readonly #lines: PushLines
  #sweep: NodeJS.Timeout | undefined
  #unfollow: MaybePromise<() => void> | undefined

  constructor(service: Service, settings: PushSettings, means: PushMeans = {}) {
    const { log, store } = service
    const { lookup = lookupHost, dialectOf = dialectNamed, leaseMs } = means
    this.#service = service
    this.#configs = new PushConfigs(store)
    this.#courier = new PushCourier(settings, lookup)
    this.#dialectOf = dialectOf
    this.#outbox = new PushOutbox(store, log, leaseMs)
    this.#lines = new PushLines({
      log,
      outbox: this.#outbox,
      slots: new PushSlots(MAX_POSTS, MAX_POSTS_PER_OWNER),
      retryDelaysMs: settings.retryDelaysMs,
      closing: this.#closing.signal,
      post: (config, body) => this.#courier.post(config, dialectOf(config.dialect).pushType, body),
      taskBody: (place, config) => this.#taskBody(place, config),
      gaveUp: (line) => this.#gaveUp(line),
    })
    if (store.isShared) this.#share(leaseMs ?? SWEEP_MS)
  }

  get configs(): PushConfigs { return this.#configs }
  /** Configurations for which something waits. */
  get waiting(): number { return this.#lines.count }

  /** Rejects with `Fault('invalid')` for an address that may not be posted to. */
  checkUrl(text: string): Promise<void> {
    return this.#courier.check(text)
  }

  /** Keeps a configuration, posts the task as it stands to it, and from then on each of its events. */
  register(task: Task, config: PushConfig, dialect: DialectName): MaybePromise<KeptPushConfig> {
    const kept = this.#configs.put(task, config, dialect, this.#keepMs(task))
    const added = (one: KeptPushConfig): KeptPushConfig => {
      this.#begin(task, one)
      return one
    }
    return kept instanceof Promise ? kept.then(added) : added(kept)
  }

  /** Forgets a configuration, or the first, and what waits for it. */
  remove(task: Task, id: string | undefined): MaybePromise<undefined> {
    const gone = this.#configs.remove(task, id, this.#keepMs(task))
    const removed = (config: KeptPushConfig | undefined): undefined => {
      if (config === undefined) return
      this.#forget(task, config)
      this.#tell(task)
    }
    return gone instanceof Promise ? gone.then(removed) : removed(gone)
  }

  /**
   * Posts from now on what happens to a task, if it runs here, to all its configurations: for those that were
   * registered elsewhere, or before it ran here.
   */
  async watch(place: OwnedTask): Promise<void> {
    const here = this.#service.tasks.watch(place.owner, place.id, () => {})
    if (here === undefined) return
    here.stop()
    const configs = await this.#configs.of(place)
    const known = this.#watched.get(place.id)
    const gone = known?.configs.filter(({ id }) => !configs.some((config) => config.id === id))
    for (const config of gone ?? []) this.#forget(place, config)
    for (const config of configs) {
      if (known?.configs.some(({ stamp }) => stamp === config.stamp)) continue
      const task = await this.#service.tasks.get(place.owner, place.id)
      if (task !== undefined) this.#begin(task, config)
    }
  }

  /** Resolves when nothing waits any more, at the latest after so long. */
  async idle(ms: number): Promise<void> {
    const end = performance.now() + ms
    while (this.#lines.count > 0 && performance.now() < end) {
      await new Promise((resolve) => { setTimeout(resolve, IDLE_CHECK_MS) })
    }
  }

  /** Ends everything. What is kept in a shared store is left to other processes. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The server is closing down'))
    clearInterval(this.#sweep)
    for (const { stop } of this.#watched.values()) stop()
    this.#watched.clear()
    this.#courier.close()
    const unfollow = await this.#unfollow
    unfollow?.()
    await this.#outbox.close()
  }

  #begin(task: Task, config: KeptPushConfig): void {
    const known = this.#watched.get(task.id)
    const watched = known ?? this.#watch(task)
    if (watched === undefined) {
      const begun = this.#beginElsewhere(task, config)
      begun.catch((cause: unknown) => this.#warn('A task could not be read for its webhook', cause))
      return
    }
    watched.configs = [...watched.configs.filter(({ id }) => id !== config.id), config]
    this.#say(task, config)
  }

  /** It has ended, perhaps just now, or it runs in another process. */
  async #beginElsewhere(place: OwnedTask, config: KeptPushConfig): Promise<void> {
    const task = await this.#service.tasks.get(place.owner, place.id)
    if (task === undefined || !isFinished(task.status.state)) return this.#tell(place)
    this.#say(task, config)
    await this.#configs.keepFor(task, this.#keepMs(task))
  }

  #watch(place: OwnedTask): Watched | undefined {
    const { tasks } = this.#service
    const watching = tasks.watch(place.owner, place.id, (event, { task }) => this.#happened(event, task))
    if (watching === undefined) return undefined
    const watched = { place: { owner: place.owner, id: place.id }, configs: [], stop: watching.stop }
    this.#watched.set(place.id, watched)
    return watched
  }

  #happened(event: TaskEvent, task: Task): void {
    const watched = this.#watched.get(task.id)
    if (watched === undefined) return
    if (event.what === 'forgotten') return this.#forgotten(watched)
    for (const config of watched.configs) this.#say(task, config, event)
    if (!isFinished(task.status.state)) return
    this.#watched.delete(task.id)
    const kept = (async () => this.#configs.keepFor(task, this.#keepMs(task)))()
    kept.catch((cause: unknown) => this.#warn('Push configurations could not be kept', cause))
  }

  /** A task that waited has made room for others: nobody will hear of it again. */
  #forgotten({ place, configs }: Watched): void {
    this.#watched.delete(place.id)
    for (const config of configs) this.#lines.drop(place, config)
    const removed = (async () => this.#configs.removeAll(place))()
    removed.catch((cause: unknown) => this.#warn('Push configurations could not be removed', cause))
  }

  /** One event, or the task as it stands, for one configuration. */
  #say(task: Task, config: KeptPushConfig, event?: ToldEvent): void {
    const line = this.#lines.of(task, config)
    const dialect = this.#dialectOf(config.dialect)
    if (dialect.pushesTasks) return line.add(undefined)
    const body = pushBodyOf(dialect, task, event)
    line.add(body, this.#lines.hasRoom(body.length))
  }

  #forget(place: OwnedTask, config: KeptPushConfig): void {
    const watched = this.#watched.get(place.id)
    if (watched !== undefined) watched.configs = watched.configs.filter(({ id }) => id !== config.id)
    this.#lines.drop(place, config)
  }

  #gaveUp(line: PushLine): void {
    const { place, config } = line
    const fields = { task: place.id, config: config.id }
    this.#service.log('warning', 'A webhook does not take its events: it is forgotten', fields)
    this.#forget(place, config)
    const removed = (async () => this.#configs.remove(place, config.id, UNDELIVERED_KEEP_MS))()
    removed.catch((cause: unknown) => this.#warn('A push configuration could not be removed', cause))
  }

  async #taskBody(place: OwnedTask, { dialect }: KeptPushConfig): Promise<string | undefined> {
    const task = await this.#service.tasks.get(place.owner, place.id)
    return task === undefined ? undefined : pushBodyOf(this.#dialectOf(dialect), task, undefined)
  }

  #keepMs({ status }: Task): number {
    if (!isFinished(status.state)) return Infinity
    return Math.max(this.#service.limits.taskKeepMs, UNDELIVERED_KEEP_MS)
  }

  /** Other processes may run the task that was registered here, and the other way round. */
  #share(sweepMs: number): void {
    const { store } = this.#service
    const heard = (text: string): void => {
      const place: unknown = JSON.parse(text)
      if (!isPlace(place)) return
      this.watch(place).catch((cause: unknown) => this.#warn('A push configuration could not be read', cause))
    }
    this.#unfollow = (async () => store.follow(TOPIC, 'now', heard))().catch((cause: unknown) => {
      this.#warn('Push configurations of other processes are not heard of', cause)
      return () => {}
    })
    const takeOver = (): void => {
      const taken = this.#takeOver()
      taken.catch((cause: unknown) => this.#warn('Events of webhooks could not be taken over', cause))
    }
    takeOver()
    this.#sweep = setInterval(takeOver, sweepMs).unref()
  }

  #tell({ owner, id }: OwnedTask): void {
    if (!this.#outbox.isKept) return
    const told = (async () => this.#service.store.publish(TOPIC, JSON.stringify({ owner, id })))()
    told.catch((cause: unknown) => this.#warn('Other processes were not told of a push configuration', cause))
  }

  async #takeOver(): Promise<void> {
    const byLine = new Map<string, TakenOver[]>()
    for (const event of await this.#outbox.takeOver()) {
      const name = `${event.taskId}/${event.configId}`
      byLine.set(name, [...byLine.get(name) ?? [], event])
    }
    for (const events of byLine.values()) {
      const { owner, taskId, configId } = events[0]!
      const place = { owner, id: taskId }
      const config = (await this.#configs.of(place)).find(({ id }) => id === configId)
      if (config !== undefined) this.#lines.of(place, config).adopt(events)
      else for (const { kept } of events) this.#outbox.forget(kept)
    }
  }

  #warn(sentence: string, cause: unknown): void {
    this.#service.log('warning', sentence, { cause })
  }
}

function isPlace(value: unknown): value is OwnedTask {
  return isRecord(value) && typeof value['owner'] === 'string' && typeof value['id'] === 'string'
}
