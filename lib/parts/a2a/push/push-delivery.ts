/**
 * Webhooks: watches the tasks that have push configurations, and posts each of their events to each of them,
 * in order and at least once, in the dialect that the configuration was registered in. First comes the task
 * as it stood when it was registered. Where processes share the store, the one that runs a task posts its
 * events, and what a dead one has left is posted by another. Spec: A2A 1.0 §4.3.
 */
import { storeOf } from '../../../floors/memory/store-of.ts'
import { sharedOf } from '../../../floors/shared/shared.ts'
import { recoveryOf, tasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { isRecord } from '../../../kernel/define/content.ts'
import { HostLookups, hostLookups } from '../../../floors/outbound/host-lookups.ts'
import { isTerminal } from '../../../floors/tasks/task.ts'
import { IdleWaiters } from '../../../kernel/util/clock.ts'
import { FairPool } from '../../../floors/bounds/fair-pool.ts'
import { FairSlots } from '../../../floors/outbound/fair-slots.ts'
import { total } from '../../../kernel/util/memory.ts'
import { andThen } from '../../../kernel/util/thenable.ts'
import { dialectNamed } from '../codec/dialects.ts'
import { pushBodyOf } from '../model/task-view.ts'
import { pushConfigBytes, PushConfigs } from './push-config.ts'
import { lineName, PushLine } from './push-line.ts'
import { PushOutbox, UNDELIVERED_KEEP_MS } from './push-outbox.ts'
import { PushCourier } from './push.ts'
import type { Lookup } from '../../../floors/outbound/host-lookups.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { SharedProcesses } from '../../../floors/shared/shared.ts'
import type { StoreKey } from '../../../kernel/store/store.ts'
import type { Task } from '../../../floors/tasks/task.ts'
import type { PoolLimits, Slot } from '../../../floors/bounds/fair-pool.ts'
import type { SlotLimits } from '../../../floors/outbound/fair-slots.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Dialect, DialectName } from '../model/dialect.ts'
import type { PushConfig } from '../model/model.ts'
import type { PushSettings } from '../model/push-settings.ts'
import type { TaskUpdate } from '../model/task-view.ts'
import type { KeptPushConfig, OwnedTask } from './push-config.ts'
import type { LineContext } from './push-line.ts'
import type { TakenOver } from './push-outbox.ts'
import type { PushAnswer } from './push.ts'

/** Replaced by tests. */
export interface PushMeans {
  readonly lookup?: Lookup
  readonly dialectOf?: (name: DialectName) => Dialect
}

/** What is done for webhooks now. */
export interface PushStatus {
  /** Webhooks with undelivered events. */
  readonly waiting: number
  /** Posts in progress. */
  readonly posting: number
  /** Look-ups of names in progress, also of callers that have left. */
  readonly lookups: number
  /** What waits, what is on its way to the store, and the configurations of running tasks. */
  readonly bytes: number
}

/** A task that runs here, and its configurations. */
interface Watched {
  readonly task: OwnedTask
  readonly stop: () => void
  configs: readonly KeptPushConfig[]
  /** Its end, as it is kept for others from before the task ends until its last event is kept itself. */
  marks: readonly (Promise<StoreKey | undefined> | undefined)[]
}

/** The message between processes: the configurations of a task have changed. */
const CHANGED = 'push-configs'
/** Posts on their way: in all, for one owner. */
const POSTS: SlotLimits = { max: 32, maxPerOwner: 8 }
/** Of more configurations for which something waits, the owner of most of them loses what waits. */
const MAX_LINES = 10_000
/**
 * What waits, in all; one owner's no more than what is left by all. Instead of a body that is more, the task
 * as it stands is posted later.
 */
const MAX_BYTES = total(67_108_864)
/** Running tasks with configurations, and those; of more, the owner of most of them loses the oldest. */
const WATCHED: PoolLimits = { maxCount: 10_000, maxBytes: total(33_554_432) }
const WATCHED_BYTES = 512
const none: readonly never[] = []

export class PushDeliveries {
  readonly configs: PushConfigs
  readonly #service: Service
  readonly #courier: PushCourier
  readonly #outbox: PushOutbox
  readonly #dialectOf: (name: DialectName) => Dialect
  /** Tasks that run here, by their ids. */
  readonly #watched = new Map<string, Slot<Watched>>()
  readonly #watchedPool: FairPool<Watched>
  /** What reads the configurations of tasks, by the ids of these. */
  readonly #attaching = new Map<string, Promise<void>>()
  readonly #lines = new Map<string, Slot<PushLine>>()
  readonly #linePool: FairPool<PushLine>
  readonly #lineContext: LineContext
  readonly #idle = new IdleWaiters()
  #isClosed = false

  constructor(service: Service, settings: PushSettings, means: PushMeans = {}) {
    const { log } = service
    const store = storeOf(service)
    const shared = sharedOf(service)
    const { lookup, dialectOf = dialectNamed } = means
    this.#service = service
    this.configs = new PushConfigs(store, log)
    this.#courier = new PushCourier(settings, lookup ? new HostLookups(lookup) : hostLookups)
    this.#outbox = new PushOutbox(store, log, shared?.cluster)
    this.#dialectOf = dialectOf
    this.#watchedPool = new FairPool(WATCHED, (watched) => this.#evicted(watched))
    this.#linePool = new FairPool({ maxCount: MAX_LINES, maxBytes: Infinity }, (line) => {
      this.#lines.delete(line.name)
      line.drop()
      log('warning', 'Too much waits for webhooks: what waited for one is dropped', line.fields)
    })
    this.#lineContext = {
      log, outbox: this.#outbox,
      slots: new FairSlots('posts to webhooks', POSTS),
      retryDelaysMs: settings.retryDelaysMs,
      post: (config, body, inquirer) => {
        const { url, traceparent } = config
        const { pushType } = dialectOf(config.dialect)
        const post = (trace: Readonly<Record<string, string>>): Promise<PushAnswer> => (
          this.#courier.post(config, pushType, body, inquirer, trace)
        )
        const trace: Readonly<Record<string, string>> = traceparent === undefined ? {} : { traceparent }
        return service.traced?.({ url, trace }, post) ?? post(trace)
      },
      taskBody: async ({ owner, id }, { dialect }) => {
        const task = await tasksOf(service).get(owner, id)
        return task && pushBodyOf(dialectOf(dialect), task)
      },
      resized: (line) => this.#resized(line),
      gaveUp: (line) => this.#gaveUp(line),
    }
    if (shared !== undefined) this.#share(shared)
  }

  get status(): PushStatus {
    return {
      waiting: this.#lines.size, posting: this.#lineContext.slots.taken, lookups: this.#courier.lookups,
      bytes: this.#waitingBytes + this.#watchedPool.bytes,
    }
  }

  get #waitingBytes(): number { return this.#linePool.bytes + this.#outbox.bytes }

  /** As `PushCourier.check`. */
  checkUrl(text: string, owner: string): Promise<void> {
    return this.#courier.check(text, owner)
  }

  /**
   * Keeps a configuration, posts the task as it stands to it, and from then on each of its events, all in the
   * trace of the request that it came with.
   */
  register(
    task: Task, config: PushConfig, dialect: DialectName, traceparent?: string,
  ): MaybePromise<KeptPushConfig> {
    const kept = this.configs.put(task, config, dialect, this.#keepMs(task), traceparent)
    return andThen(kept, (one) => this.#begin(task, one))
  }

  /** Removes a configuration, or the first, and what waits for it. */
  async remove(task: Task, id: string | undefined): Promise<void> {
    const gone = await this.configs.remove(task, id, this.#keepMs(task))
    if (gone === undefined) return
    this.#forget(task, gone)
    if (this.#runnerOf(task) !== undefined) return this.#notifyRunner(task)
    // Another process has registered it, perhaps: it may be on its way into this one from an earlier read.
    this.follow(task)
  }

  /**
   * Posts a task that runs here to all its configurations from now on: for those that were registered in
   * another process, or before it ran here.
   */
  follow(task: OwnedTask): void {
    this.#try('A push configuration could not be read', () => this.#attach(task))
  }

  /** One after the other for each task: of two reads the one that began first may end last. */
  async #attach(task: OwnedTask): Promise<void> {
    const before = this.#attaching.get(task.id)
    const attached = (async () => {
      // Whoever began that hears of its failure.
      await before?.catch(() => {})
      await this.#attachNow(task)
    })()
    this.#attaching.set(task.id, attached)
    try {
      await attached
    } finally {
      if (this.#attaching.get(task.id) === attached) this.#attaching.delete(task.id)
    }
  }

  async #attachNow(task: OwnedTask): Promise<void> {
    let known: readonly KeptPushConfig[]
    let configs: readonly KeptPushConfig[]
    do {
      if (this.#running(task) === undefined) return
      known = this.#configsOf(task.id)
      configs = await this.configs.of(task)
      // What was registered or removed here meanwhile is perhaps not in what was read.
    } while (known !== this.#configsOf(task.id))
    for (const one of known) if (!configs.some(({ id }) => id === one.id)) this.#forget(task, one)
    for (const one of configs) if (!known.some(({ stamp }) => stamp === one.stamp)) this.#begin(task, one)
  }

  /** Resolves when nothing waits any more, at the latest after so long. */
  async idle(ms: number): Promise<void> {
    if (this.#lines.size > 0) await this.#idle.wait(ms)
  }

  /** Ends everything. What is kept in a shared store is left to other processes. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const slot of [...this.#watched.values()]) this.#unwatch(slot, true)
    for (const slot of [...this.#lines.values()]) {
      this.#close(slot)
      slot.value.leave()
    }
    this.#courier.close()
    await this.#outbox.close()
  }

  #begin({ owner, id }: OwnedTask, config: KeptPushConfig): KeptPushConfig {
    if (this.#isClosed) return config
    const owned = { owner, id }
    const task = this.#running(owned)
    const watched = task && (this.#watched.get(id) ?? this.#watch(owned))
    if (task !== undefined && watched !== undefined) {
      const { configs } = watched.value
      this.#watchFor(watched, [...configs.filter((one) => one.id !== config.id), config])
      this.#enqueue(task, config)
      return config
    }
    // It has ended, perhaps just now, or it runs in another process.
    this.#try('A task could not be read for its webhook', async () => {
      const last = await tasksOf(this.#service).get(owner, id)
      // It was forgotten while its configuration was being kept.
      if (last === undefined) return this.configs.removeAll(owned)
      if (!isTerminal(last.status.state)) return this.#notifyRunner(last)
      const configs = await this.configs.keepFor(last, this.#keepMs(last))
      // It may have been removed or replaced meanwhile.
      if (configs.some(({ stamp }) => stamp === config.stamp)) this.#enqueue(last, config)
    })
    return config
  }

  /** A task that runs here, as it stands. */
  #running({ owner, id }: OwnedTask): Task | undefined {
    const here = tasksOf(this.#service).watch(owner, id, () => {})
    here?.stop()
    return here?.task
  }

  #configsOf(taskId: string): readonly KeptPushConfig[] {
    return this.#watched.get(taskId)?.value.configs ?? none
  }

  #watch(task: OwnedTask): Slot<Watched> | undefined {
    const watching = tasksOf(this.#service).watch(task.owner, task.id, (event, after) => {
      if (event.what === 'forgotten') this.#forgotten(task)
      else this.#updated(event, after.task)
    })
    if (watching === undefined) return undefined
    const { stop } = watching
    const slot = this.#watchedPool.add(task.owner, { task, stop, configs: none, marks: none }, WATCHED_BYTES)
    if (slot === undefined) stop()
    else this.#watched.set(task.id, slot)
    return slot
  }

  #watchFor(slot: Slot<Watched>, configs: readonly KeptPushConfig[]): void {
    slot.value.configs = configs
    const bytes = configs.reduce((sum, config) => sum + pushConfigBytes(config), WATCHED_BYTES)
    this.#watchedPool.resize(slot, bytes)
  }

  /** `isLeft`: its end is for another process to post. */
  #unwatch(slot: Slot<Watched>, isLeft = false): void {
    this.#watchedPool.remove(slot)
    this.#unwatched(slot.value, isLeft)
  }

  #unwatched(watched: Watched, isLeft = false): void {
    this.#watched.delete(watched.task.id)
    watched.stop()
    if (!isLeft) this.#unmark(watched)
  }

  /** A task is about to end. Resolves when that is kept; never rejects. */
  #mark({ owner, id: taskId }: OwnedTask): Promise<void> | undefined {
    const watched = this.#watched.get(taskId)?.value
    if (watched === undefined) return undefined
    if (watched.marks.length === 0) {
      watched.marks = watched.configs.map(({ id: configId }) => (
        this.#outbox.keep({ owner, taskId, configId, body: undefined })
      ))
    }
    return Promise.all(watched.marks).then(() => {})
  }

  /** Only when the last event of the task is kept. */
  #unmark({ marks }: Watched): void {
    void this.#outbox.written().then(() => { for (const mark of marks) this.#outbox.forget(mark) })
  }

  #evicted(watched: Watched): void {
    const { task, configs } = watched
    this.#unwatched(watched)
    for (const config of configs) this.#forget(task, config)
    const sentence = 'There are too many push configurations: those of a task are forgotten'
    this.#service.log('warning', sentence, { task: task.id })
    this.#try('Push configurations could not be removed', () => this.configs.removeAll(task))
  }

  #updated(event: TaskUpdate, task: Task): void {
    const watched = this.#watched.get(task.id)
    for (const config of watched?.value.configs ?? none) this.#enqueue(task, config, event)
    if (!isTerminal(task.status.state)) return
    if (watched !== undefined) this.#unwatch(watched)
    this.#try('Push configurations could not be kept', async () => {
      await this.configs.keepFor(task, this.#keepMs(task))
    })
  }

  /** A task was taken by another process, or was evicted. */
  #forgotten(owned: OwnedTask): void {
    const watched = this.#watched.get(owned.id)
    const configs = watched?.value.configs ?? none
    if (watched !== undefined) this.#unwatch(watched)
    this.#try('Push configurations could not be removed', async () => {
      const task = await tasksOf(this.#service).get(owned.owner, owned.id)
      // The process that has it posts it as it stands first, and what waits here must not come behind that.
      if (task !== undefined && this.#runnerOf(task) === undefined) return
      for (const config of configs) this.#forget(owned, config)
      if (task === undefined) await this.configs.removeAll(owned)
    })
  }

  /** Adds one event, or the task as it stands, to the line of a configuration. */
  #enqueue(task: Task, config: KeptPushConfig, event?: TaskUpdate): void {
    const line = this.#lineOf(task, config)
    const dialect = this.#dialectOf(config.dialect)
    if (line === undefined || dialect.pushesTasks) return line?.add(undefined)
    const body = pushBodyOf(dialect, task, event)
    line.add(body, this.#hasRoomFor(body.length, line))
  }

  /** Whether the owner of a line may hold a text of that length more: others keep their part. */
  #hasRoomFor(length: number, line: PushLine): boolean {
    const held = this.#lines.get(line.name)?.holding.share.bytes ?? 0
    return held + length * 2 <= MAX_BYTES - this.#waitingBytes
  }

  /** The line of a configuration, with that from now on. Undefined: nothing is posted. */
  #lineOf({ owner, id }: OwnedTask, config: KeptPushConfig): PushLine | undefined {
    if (this.#isClosed) return undefined
    const task = { owner, id }
    const known = this.#lines.get(lineName(task, config))?.value
    if (known !== undefined) return known.replacedBy(config)
    const line = new PushLine(task, config, this.#lineContext)
    const slot = this.#linePool.add(owner, line, line.bytes)
    if (slot === undefined) return undefined
    this.#lines.set(line.name, slot)
    return line
  }

  #resized(line: PushLine): void {
    const slot = this.#lines.get(line.name)
    if (slot?.value !== line) return
    if (line.isIdle) this.#close(slot)
    else this.#linePool.resize(slot, line.bytes)
  }

  #close(slot: Slot<PushLine>): void {
    this.#linePool.remove(slot)
    this.#lines.delete(slot.value.name)
    if (this.#lines.size === 0) this.#idle.notify()
  }

  /** Posts nothing of a task to that configuration any more. */
  #forget(task: OwnedTask, config: KeptPushConfig): void {
    const watched = this.#watched.get(task.id)
    if (watched !== undefined) {
      const left = watched.value.configs.filter((one) => one.id !== config.id)
      this.#watchFor(watched, left)
      if (left.length === 0) this.#unwatch(watched)
    }
    const slot = this.#lines.get(lineName(task, config))
    if (slot === undefined) return
    this.#close(slot)
    slot.value.drop()
  }

  #gaveUp({ task: owned, config, fields }: PushLine): void {
    this.#service.log('warning', 'A webhook does not take its events: it is forgotten', fields)
    this.#forget(owned, config)
    this.#try('A push configuration could not be removed', async () => {
      const task = await tasksOf(this.#service).get(owned.owner, owned.id)
      // The others of a task that runs are kept for as long as it does.
      await this.configs.remove(owned, config.id, task ? this.#keepMs(task) : UNDELIVERED_KEEP_MS)
    })
  }

  #keepMs({ status }: Task): number {
    if (!isTerminal(status.state)) return Infinity
    return Math.max(this.#service.limits.taskKeepMs, UNDELIVERED_KEEP_MS)
  }

  /** Other processes may run the task that was registered here, and the other way round. */
  #share({ cluster }: SharedProcesses): void {
    cluster.on(CHANGED, (task) => {
      if (!isRecord(task)) return
      const { owner, id } = task
      if (typeof owner === 'string' && typeof id === 'string') this.follow({ owner, id })
    })
    cluster.onDead((node) => this.#takeOver(node))
    recoveryOf(this.#service)?.onTaken((task) => this.#attach(task))
    tasksOf(this.#service).stored?.onBeforeEnd((task) => this.#mark(task))
  }

  /** The other process that runs a task. */
  #runnerOf({ node }: Task): string | undefined {
    return node === sharedOf(this.#service)?.cluster.id ? undefined : node
  }

  /** The process that runs a task reads its configurations again. */
  #notifyRunner(task: Task): void {
    const node = this.#runnerOf(task)
    if (node === undefined) return
    const { owner, id } = task
    this.#try('Another process could not be notified of a push configuration', async () => (
      sharedOf(this.#service)?.cluster.send(node, CHANGED, { owner, id })
    ))
  }

  /** Posts what a dead process has left. Resolves to whether there may be more of it. */
  async #takeOver(node: string): Promise<boolean> {
    try {
      const maxBytes = MAX_BYTES - this.#waitingBytes
      const { isEmpty, lines } = await this.#outbox.takeOver(node, maxBytes)
      const adopted = await Promise.allSettled(lines.map((events) => this.#adopt(events)))
      for (const one of adopted) if (one.status === 'rejected') throw one.reason
      return !isEmpty
    } catch (cause) {
      this.#service.log('warning', 'Events of webhooks could not be taken over', { cause })
      return true
    }
  }

  async #adopt(events: readonly TakenOver[]): Promise<void> {
    const { owner, taskId, configId } = events[0]!
    const task = { owner, id: taskId }
    const configs = await this.configs.of(task).catch((error: unknown) => {
      this.#outbox.putBack(events)
      throw error
    })
    // What is kept stays kept.
    if (this.#isClosed) return
    const config = configs.find(({ id }) => id === configId)
    const line = config && this.#lineOf(task, config)
    if (line === undefined) {
      for (const { kept } of events) this.#outbox.forget(kept)
      return
    }
    const length = events.reduce((sum, { body = '' }) => sum + body.length, 0)
    line.adopt(events, this.#hasRoomFor(length, line))
  }

  /** Runs what nothing waits for. */
  #try(sentence: string, act: () => Promise<unknown>): void {
    act().catch((cause: unknown) => this.#service.log('warning', sentence, { cause }))
  }
}
