/**
 * Webhooks: watches the tasks that have push configurations, and posts each of their events to each of them,
 * in order and at least once, in the dialect that the configuration was registered in. The first thing that
 * is posted is the task as it stood when it was registered.
 *
 * A configuration has a line while something waits for it. Where processes share the store, whichever runs a
 * task posts its events, whoever registered them, and what a process that is gone has left is posted by
 * another. Spec: A2A 1.0 §4.3.
 */
import { FairPool } from '../core/fair-pool.ts'
import { isFinished } from '../core/task.ts'
import { isThenable } from '../util/thenable.ts'
import { dialectNamed } from './dialects.ts'
import { PushCourier } from './push.ts'
import { lookupHost } from './push-address.ts'
import { PushConfigs } from './push-config.ts'
import { PushLine } from './push-line.ts'
import { PushMarks } from './push-marks.ts'
import { PushNews } from './push-news.ts'
import { PushOutbox, UNDELIVERED_KEEP_MS } from './push-outbox.ts'
import { PushSlots } from './push-slots.ts'
import { pushBodyOf } from './task-view.ts'
import type { Slot } from '../core/fair-pool.ts'
import type { Service } from '../core/service.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Task } from '../core/task.ts'
import type { Dialect, DialectName } from './dialect.ts'
import type { PushConfig } from './model.ts'
import type { Lookup, PushSettings } from './push-address.ts'
import type { KeptPushConfig, OwnedTask } from './push-config.ts'
import type { LineMeans } from './push-line.ts'
import type { ToldEvent } from './task-view.ts'

/** What deliveries are made with; what is left out is as the house has it. */
export interface PushMeans {
  readonly lookup?: Lookup
  readonly dialectOf?: (name: DialectName) => Dialect
  /** How long after its end what a process has left is posted by another. */
  readonly leaseMs?: number
}

interface Watched { configs: readonly KeptPushConfig[]; readonly stop: () => void }

/** Posts that are on their way: in all, for one owner. */
const MAX_POSTS = 32
const MAX_POSTS_PER_OWNER = 8
/** Configurations for which something waits; of more, the owner who has most of them loses what waits. */
const MAX_LINES = 10_000
/** Bodies that wait, in all: of what is more, the task as it stands is posted later. */
const MAX_BYTES = 67_108_864
const SWEEP_MS = 30_000
const IDLE_CHECK_MS = 20

/** All webhooks of one server. */
export class PushDeliveries {
  readonly #service: Service
  /** Those of all tasks. */
  readonly configs: PushConfigs
  readonly #courier: PushCourier
  readonly #dialectOf: (name: DialectName) => Dialect
  readonly #outbox: PushOutbox
  readonly #closing = new AbortController()
  /** Tasks that run here, by their ids. */
  readonly #watched = new Map<string, Watched>()
  readonly #marks: PushMarks
  readonly #news: PushNews
  readonly #means: LineMeans
  readonly #lines = new Map<string, Slot<PushLine>>()
  readonly #pool: FairPool<PushLine>
  #sweep: NodeJS.Timeout | undefined

  constructor(service: Service, settings: PushSettings, means: PushMeans = {}) {
    const { log, store } = service
    const { lookup = lookupHost, dialectOf = dialectNamed, leaseMs } = means
    this.#service = service
    this.configs = new PushConfigs(store)
    this.#courier = new PushCourier(settings, lookup)
    this.#dialectOf = dialectOf
    this.#outbox = new PushOutbox(store, log, leaseMs)
    this.#marks = new PushMarks(this.#outbox)
    this.#news = new PushNews(store, log)
    this.#pool = new FairPool({ maxCount: MAX_LINES, maxBytes: Infinity }, (line) => {
      this.#lines.delete(line.name)
      line.drop()
      log('warning', 'Too much waits for webhooks: what waited for one is dropped', line.fields)
    })
    this.#means = {
      log, outbox: this.#outbox,
      slots: new PushSlots(MAX_POSTS, MAX_POSTS_PER_OWNER),
      retryDelaysMs: settings.retryDelaysMs,
      closing: this.#closing.signal,
      post: (config, body) => this.#courier.post(config, dialectOf(config.dialect).pushType, body),
      taskBody: async (place, { dialect }) => {
        const task = await service.tasks.get(place.owner, place.id)
        return task && pushBodyOf(dialectOf(dialect), task)
      },
      resized: (line) => this.#resized(line),
      gaveUp: (line) => this.#gaveUp(line),
    }
    if (store.isShared) this.#share(leaseMs ?? SWEEP_MS)
  }

  /** Configurations for which something waits. */
  get waiting(): number { return this.#lines.size }

  /** Rejects with `Fault('invalid')` for an address that may not be posted to. */
  checkUrl(text: string): Promise<void> {
    return this.#courier.check(text)
  }

  /** Keeps a configuration, posts the task as it stands to it, and from then on each of its events. */
  register(task: Task, config: PushConfig, dialect: DialectName): MaybePromise<KeptPushConfig> {
    const kept = this.configs.put(task, config, dialect, this.#keepMs(task))
    if (isThenable(kept)) return kept.then((one) => this.#begin(task, one))
    return this.#begin(task, kept)
  }

  /** Forgets a configuration, or the first, and what waits for it. */
  async remove(task: Task, id: string | undefined): Promise<void> {
    const gone = await this.configs.remove(task, id, this.#keepMs(task))
    if (gone === undefined) return
    this.#forget(task, gone)
    this.#news.tell(task)
  }

  /**
   * Posts from now on what happens to a task, if it runs here, to all its configurations: for those that were
   * registered elsewhere, or before it ran here.
   */
  follow(task: OwnedTask): void {
    this.#try('A push configuration could not be read', () => this.#attach(task))
  }

  async #attach(task: OwnedTask): Promise<void> {
    if (this.#standing(task) === undefined) return
    const configs = await this.configs.of(task)
    const known = this.#watched.get(task.id)?.configs ?? []
    for (const one of known) if (!configs.some(({ id }) => id === one.id)) this.#forget(task, one)
    for (const one of configs) if (!known.some(({ stamp }) => stamp === one.stamp)) this.#begin(task, one)
  }

  /** Resolves when nothing waits any more, at the latest after so long. */
  async idle(ms: number): Promise<void> {
    const { setTimeout: pause } = process.getBuiltinModule('node:timers/promises')
    const end = performance.now() + ms
    while (this.#lines.size > 0 && performance.now() < end) await pause(IDLE_CHECK_MS)
  }

  /** Ends everything. What is kept in a shared store is left to other processes. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The server is closing down'))
    clearInterval(this.#sweep)
    for (const { stop } of this.#watched.values()) stop()
    this.#watched.clear()
    this.#courier.close()
    await this.#news.close()
    await this.#outbox.close()
  }

  #begin({ owner, id }: OwnedTask, config: KeptPushConfig): KeptPushConfig {
    const place = { owner, id }
    const task = this.#standing(place)
    const watched = task && (this.#watched.get(id) ?? this.#watch(place))
    if (task !== undefined && watched !== undefined) {
      watched.configs = [...watched.configs.filter((one) => one.id !== config.id), config]
      this.#say(task, config)
      return config
    }
    // It has ended, perhaps just now, or it runs in another process.
    this.#try('A task could not be read for its webhook', async () => {
      const last = await this.#service.tasks.get(owner, id)
      if (last === undefined || !isFinished(last.status.state)) return this.#news.tell(place)
      this.#say(last, config)
      await this.configs.keepFor(last, this.#keepMs(last))
    })
    return config
  }

  /** A task that runs here, as it stands. */
  #standing({ owner, id }: OwnedTask): Task | undefined {
    const here = this.#service.tasks.watch(owner, id, () => {})
    here?.stop()
    return here?.task
  }

  #watch(place: OwnedTask): Watched | undefined {
    const watching = this.#service.tasks.watch(place.owner, place.id, (event, after) => {
      if (event.what === 'forgotten') this.#forgotten(place)
      else this.#happened(event, after.task)
    })
    const watched = watching && { configs: [], stop: watching.stop }
    if (watched !== undefined) this.#watched.set(place.id, watched)
    return watched
  }

  #happened(event: ToldEvent, task: Task): void {
    for (const config of this.#watched.get(task.id)?.configs ?? []) this.#say(task, config, event)
    if (!isFinished(task.status.state)) return
    this.#marks.release(task.id)
    this.#watched.delete(task.id)
    this.#try('Push configurations could not be kept', () => this.configs.keepFor(task, this.#keepMs(task)))
  }

  /** It was taken by another process, or has made room for others: then nobody will hear of it again. */
  #forgotten(place: OwnedTask): void {
    const configs = this.#watched.get(place.id)?.configs ?? []
    this.#watched.delete(place.id)
    this.#marks.release(place.id)
    this.#try('Push configurations could not be removed', async () => {
      const task = await this.#service.tasks.get(place.owner, place.id)
      const node = this.#service.shared?.nodes.id
      // Whoever has it posts it as it stands first, and what waits here must not come behind that.
      const isTaken = task?.node !== undefined && task.node !== node
      if (task !== undefined && !isTaken) return
      for (const config of configs) this.#forget(place, config)
      if (task === undefined) await this.configs.removeAll(place)
    })
  }

  /** One event, or the task as it stands, for one configuration. */
  #say(task: Task, config: KeptPushConfig, event?: ToldEvent): void {
    const line = this.#lineOf(task, config)
    const dialect = this.#dialectOf(config.dialect)
    if (dialect.pushesTasks) return line.add(undefined)
    const body = pushBodyOf(dialect, task, event)
    line.add(body, this.#pool.bytes + body.length <= MAX_BYTES)
  }

  /** The line of a configuration, which is what is posted by from now on. */
  #lineOf({ owner, id }: OwnedTask, config: KeptPushConfig): PushLine {
    const line = new PushLine({ owner, id }, config, this.#means)
    const known = this.#lines.get(line.name)?.value
    if (known !== undefined) return known.replacedBy(config)
    const slot = this.#pool.add(owner, line, line.bytes)
    if (slot !== undefined) this.#lines.set(line.name, slot)
    return line
  }

  #resized(line: PushLine): void {
    const slot = this.#lines.get(line.name)
    if (slot?.value !== line) return
    if (line.isIdle) this.#close(slot)
    else this.#pool.resize(slot, line.bytes)
  }

  #close(slot: Slot<PushLine>): void {
    this.#pool.remove(slot)
    this.#lines.delete(slot.value.name)
  }

  /** Nobody wants what happens to a task, or what waits, at that configuration. */
  #forget({ id }: OwnedTask, config: KeptPushConfig): void {
    const watched = this.#watched.get(id)
    if (watched !== undefined) watched.configs = watched.configs.filter((one) => one.id !== config.id)
    const slot = this.#lines.get(`${id}/${config.id}`)
    if (slot === undefined) return
    this.#close(slot)
    slot.value.drop()
  }

  #gaveUp({ place, config, fields }: PushLine): void {
    this.#service.log('warning', 'A webhook does not take its events: it is forgotten', fields)
    this.#forget(place, config)
    this.#try('A push configuration could not be removed', () => (
      this.configs.remove(place, config.id, UNDELIVERED_KEEP_MS)
    ))
  }

  #keepMs({ status }: Task): number {
    if (!isFinished(status.state)) return Infinity
    return Math.max(this.#service.limits.taskKeepMs, UNDELIVERED_KEEP_MS)
  }

  /** Other processes may run the task that was registered here, and the other way round. */
  #share(sweepMs: number): void {
    this.#news.hear((task) => this.follow(task))
    const takeOver = (): void => (
      this.#try('Events of webhooks could not be taken over', () => this.#takeOver())
    )
    takeOver()
    this.#sweep = setInterval(takeOver, sweepMs).unref()
    const { shared, tasks } = this.#service
    shared?.recovery.onTaken((task) => this.#attach(task))
    tasks.custody?.onBeforeEnd((task) => this.#marks.set(task, this.#watched.get(task.id)?.configs ?? []))
  }

  async #takeOver(): Promise<void> {
    for (const events of await this.#outbox.takeOver()) {
      const { owner, taskId, configId } = events[0]!
      const place = { owner, id: taskId }
      const config = (await this.configs.of(place)).find(({ id }) => id === configId)
      if (config !== undefined) this.#lineOf(place, config).adopt(events)
      else for (const { kept } of events) this.#outbox.forget(kept)
    }
  }

  /** What nobody waits for. */
  #try(sentence: string, act: () => Promise<unknown>): void {
    act().catch((cause: unknown) => this.#service.log('warning', sentence, { cause }))
  }
}
