/**
 * Webhooks: watches the tasks that have push configurations, and posts each of their events to each of them,
 * in order and at least once, in the dialect that the configuration was registered in. First comes the task
 * as it stood when it was registered. Where processes share the store, the one that runs a task posts its
 * events, and what a dead one has left is posted by another. Spec: A2A 1.0 §4.3.
 */
import { storeOf } from '../../../floors/memory/store-of.ts'
import { sharedOf } from '../../../floors/shared/shared-of.ts'
import { recoveryOf, tasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { isRecord } from '../../../kernel/define/content.ts'
import { HostLookups, hostLookups } from '../../../floors/outbound/host-lookups.ts'
import { isTerminal } from '../../../floors/tasks/task.ts'
import { IdleWaiters } from '../../../kernel/util/clock.ts'
import { Bounded } from '../../../floors/bounds/bounded.ts'
import { FairSlots } from '../../../floors/outbound/fair-slots.ts'
import { total } from '../../../kernel/util/memory.ts'
import { BEYOND, Quota } from '../../../kernel/util/quota.ts'
import { andThen } from '../../../kernel/util/thenable.ts'
import { dialectNamed } from '../codec/dialects.ts'
import { pushBodyOf } from '../model/task-view.ts'
import { pushConfigBytes, PushConfigs } from './push-config.ts'
import { PushOutbox, UNDELIVERED_KEEP_MS } from './push-outbox.ts'
import { PushQueue } from './push-queue.ts'
import { PushSender } from './push-sender.ts'
import type { Slotted } from '../../../floors/bounds/slots.ts'
import type { Lookup } from '../../../floors/outbound/host-lookups.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { SharedProcesses } from '../../../floors/shared/shared.ts'
import type { Task } from '../../../floors/tasks/task.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Dialect, DialectName } from '../model/dialect.ts'
import type { PushConfig } from '../model/model.ts'
import type { PushSettings } from '../model/push-settings.ts'
import type { TaskUpdate } from '../model/task-view.ts'
import type { KeptPushConfig, OwnedTask } from './push-config.ts'
import type { KeptEvent, TakenOver } from './push-outbox.ts'
import type { QueueContext } from './push-queue.ts'
import type { PushAnswer, TraceHeaders } from './push-sender.ts'

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

/** The message between processes: the configurations of a task have changed. */
const CHANGED = 'push-configs'
/** Posts on their way: in all, for one owner. */
const POSTS = { max: 32, maxPerOwner: 8 }
/** What waits, in all. Instead of a body that is more, the task as it stands is posted later. */
const MAX_BYTES = total(67_108_864)
/** Tasks, and their configurations; of more, the owner of most of them loses those of the oldest task. */
const HOOKED = { maxCount: 10_000, maxBytes: total(33_554_432) }
const HOOKED_BYTES = 512

/** A task of which something is posted: it runs here, or something waits for one of its configurations. */
class HookedTask implements Slotted {
  slot = 0
  readonly task: OwnedTask
  /** By the ids of their configurations. */
  readonly queues: Map<string, PushQueue> = new Map()
  /** Ends its watch; undefined: it does not run here. */
  stop: (() => void) | undefined
  /** Its end, as it is kept for others from before the task ends until its last event is kept itself. */
  marks: readonly (KeptEvent | undefined)[] = []

  constructor({ owner, id }: OwnedTask) {
    this.task = { owner, id }
  }

  get id(): string { return this.task.id }

  get size(): number {
    let size = HOOKED_BYTES
    for (const { config } of this.queues.values()) size += pushConfigBytes(config)
    return size
  }
}

export class Push {
  readonly configs: PushConfigs
  readonly #service: Service
  readonly #sender: PushSender
  readonly #outbox: PushOutbox | undefined
  readonly #dialectOf: (name: DialectName) => Dialect
  readonly #hooked: Bounded<HookedTask>
  readonly #bytes = new Quota('what waits for webhooks', MAX_BYTES / (1 + BEYOND))
  readonly #slots = new FairSlots('posts to webhooks', POSTS)
  readonly #context: QueueContext
  /** What reads the configurations of tasks, by the ids of these. */
  readonly #attaching = new Map<string, Promise<void>>()
  readonly #busy = new Set<PushQueue>()
  readonly #idle = new IdleWaiters()
  #isClosed = false

  constructor(service: Service, settings: PushSettings, means: PushMeans = {}) {
    const { log } = service
    const store = storeOf(service)
    const shared = sharedOf(service)
    const { lookup, dialectOf = dialectNamed } = means
    this.#service = service
    this.configs = new PushConfigs(store, log)
    this.#sender = new PushSender(settings, lookup ? new HostLookups(lookup) : hostLookups)
    this.#outbox = shared && new PushOutbox(store, log, shared.cluster, this.#bytes)
    this.#dialectOf = dialectOf
    this.#hooked = new Bounded(HOOKED, { onEvict: (hooked) => this.#evicted(hooked) })
    this.#context = {
      log, slots: this.#slots, bytes: this.#bytes, retryDelaysMs: settings.retryDelaysMs,
      keep: ({ task: { owner, id: taskId }, config: { id: configId } }, body) => (
        this.#outbox?.keep({ owner, taskId, configId, body })
      ),
      post: (config, body, inquirer) => {
        const { url, traceparent } = config
        const { pushType } = dialectOf(config.dialect)
        const trace: TraceHeaders = traceparent === undefined ? {} : { traceparent }
        const post = (own: TraceHeaders): Promise<PushAnswer> => (
          this.#sender.post(config, pushType, body, inquirer, own)
        )
        return service.traced?.({ url, trace }, post) ?? post(trace)
      },
      taskBody: async ({ owner, id }, { dialect }) => {
        const task = await tasksOf(service).get(owner, id)
        return task && pushBodyOf(dialectOf(dialect), task)
      },
      began: (queue) => { this.#busy.add(queue) },
      ended: (queue) => this.#ended(queue),
      gaveUp: (queue) => this.#gaveUp(queue),
    }
    if (shared !== undefined) this.#share(shared)
  }

  get status(): PushStatus {
    return {
      waiting: this.#busy.size, posting: this.#slots.taken, lookups: this.#sender.lookups,
      bytes: this.#bytes.used + this.#hooked.bytes,
    }
  }

  /** As `PushSender.check`. */
  checkUrl(text: string, owner: string): Promise<void> {
    return this.#sender.check(text, owner)
  }

  /**
   * Keeps a configuration, posts the task as it stands to it, and from then on each of its events, all in the
   * trace of the request that it came with.
   */
  register(
    task: Task, config: PushConfig, dialect: DialectName, traceparent?: string,
  ): MaybePromise<KeptPushConfig> {
    const kept = this.configs.put(task, config, dialect, this.#keepMs(task), traceparent)
    return andThen(kept, (one) => {
      this.#begin(task, one)
      return one
    })
  }

  /** Removes a configuration, or the first, and what waits for it. */
  async remove(task: Task, id: string | undefined): Promise<void> {
    const gone = await this.configs.remove(task, id, this.#keepMs(task))
    if (gone === undefined) return
    this.#forget(task, gone.id)
    if (this.#notifyRunner(task)) return
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

  /** Resolves when nothing waits any more, at the latest after so long. */
  async idle(ms: number): Promise<void> {
    if (this.#busy.size > 0) await this.#idle.wait(ms)
  }

  /** Ends everything. What is kept in a shared store is left to other processes. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const hooked of this.#hooked.values()) {
      this.#hooked.remove(hooked)
      // Its end is for another process to post.
      hooked.stop?.()
      for (const queue of hooked.queues.values()) queue.leave()
    }
    this.#sender.close()
    await this.#outbox?.close()
  }

  /** One after the other for each task: of two reads the one that began first may end last. */
  #attach(task: OwnedTask): Promise<void> {
    const { id } = task
    const attached = (this.#attaching.get(id) ?? Promise.resolve()).then(() => this.#attachNow(task))
    // Whoever began hears of its failure.
    const ended = attached.catch(() => {}).then(() => {
      if (this.#attaching.get(id) === ended) this.#attaching.delete(id)
    })
    this.#attaching.set(id, ended)
    return attached
  }

  async #attachNow(task: OwnedTask): Promise<void> {
    let known: readonly KeptPushConfig[]
    let configs: readonly KeptPushConfig[]
    do {
      if (this.#running(task) === undefined) return
      known = this.#followed(task)
      configs = await this.configs.of(task)
      // What was registered or removed here meanwhile is perhaps not in what was read.
    } while (stampsOf(known) !== stampsOf(this.#followed(task)))
    for (const { id } of known) if (!configs.some((one) => one.id === id)) this.#forget(task, id)
    for (const one of configs) if (!known.some(({ stamp }) => stamp === one.stamp)) this.#begin(task, one)
  }

  /** The configurations to which a task that runs here is posted. */
  #followed({ id }: OwnedTask): readonly KeptPushConfig[] {
    const hooked = this.#hooked.get(id)
    return hooked?.stop === undefined ? [] : Array.from(hooked.queues.values(), ({ config }) => config)
  }

  /** A task that runs here, as it stands. */
  #running({ owner, id }: OwnedTask): Task | undefined {
    const here = tasksOf(this.#service).watch(owner, id, () => {})
    here?.stop()
    return here?.task
  }

  #begin({ owner, id }: OwnedTask, config: KeptPushConfig): void {
    const task = { owner, id }
    const running = this.#running(task)
    if (running !== undefined) return this.#start(running, config)
    // It has ended, perhaps just now, or it runs in another process.
    this.#try('A task could not be read for its webhook', async () => {
      const last = await tasksOf(this.#service).get(owner, id)
      // It was forgotten while its configuration was being kept.
      if (last === undefined) return this.configs.removeAll(task)
      if (!isTerminal(last.status.state)) return void this.#notifyRunner(last)
      const configs = await this.configs.keepFor(last, this.#keepMs(last))
      // It may have been removed or replaced meanwhile.
      if (configs.some(({ stamp }) => stamp === config.stamp)) this.#start(last, config)
    })
  }

  /** Posts a task as it stands, and from now on each of its events. */
  #start(task: Task, config: KeptPushConfig): void {
    const queue = this.#queueOf(task, config)
    if (queue === undefined) return
    this.#watch(this.#hooked.get(task.id)!)
    this.#enqueue(queue, task)
  }

  /** The queue of a configuration, with that from now on. Undefined: nothing is posted. */
  #queueOf(task: OwnedTask, config: KeptPushConfig): PushQueue | undefined {
    if (this.#isClosed) return undefined
    let hooked = this.#hooked.get(task.id)
    if (hooked === undefined) {
      hooked = new HookedTask(task)
      if (!this.#hooked.add(task.owner, hooked, HOOKED_BYTES)) return undefined
    }
    const queue = hooked.queues.get(config.id) ?? new PushQueue(hooked.task, config, this.#context)
    queue.replacedBy(config)
    hooked.queues.set(config.id, queue)
    this.#hooked.resize(hooked, hooked.size)
    return queue
  }

  /** Adds one event, or the task as it stands. */
  #enqueue(queue: PushQueue, task: Task, event?: TaskUpdate): void {
    const dialect = this.#dialectOf(queue.config.dialect)
    const isWhole = dialect.pushesTasks || queue.isCovered
    // What has ended may have made room for others before it is posted, where only this process has it.
    const mayGo = isTerminal(task.status.state) && this.#outbox === undefined
    if (isWhole && mayGo) queue.end(pushBodyOf(dialect, task))
    else queue.add(isWhole ? undefined : pushBodyOf(dialect, task, event))
  }

  #watch(hooked: HookedTask): void {
    const { owner, id } = hooked.task
    hooked.stop ??= tasksOf(this.#service).watch(owner, id, (event, { task }) => {
      if (event.what === 'forgotten') return this.#forgotten(hooked)
      for (const queue of hooked.queues.values()) this.#enqueue(queue, task, event)
      if (!isTerminal(task.status.state)) return
      this.#unwatch(hooked)
      this.#try('Push configurations could not be kept', () => (
        this.configs.keepFor(task, this.#keepMs(task))
      ))
    })?.stop
  }

  #unwatch(hooked: HookedTask): void {
    const { marks } = hooked
    hooked.stop?.()
    hooked.stop = undefined
    // Only when the last event of the task is kept.
    void this.#outbox?.written().then(() => { for (const mark of marks) mark?.forget() })
    this.#settle(hooked)
  }

  /** Holds no more of a task than what is to be posted of it. */
  #settle(hooked: HookedTask): void {
    const { queues, stop } = hooked
    if (stop === undefined) for (const [id, queue] of queues) if (queue.isIdle) queues.delete(id)
    if (queues.size > 0) return void this.#hooked.resize(hooked, hooked.size)
    this.#hooked.remove(hooked)
    if (stop !== undefined) this.#unwatch(hooked)
  }

  #ended(queue: PushQueue): void {
    this.#busy.delete(queue)
    const hooked = this.#hooked.get(queue.task.id)
    if (hooked !== undefined && hooked.stop === undefined) this.#settle(hooked)
    if (this.#busy.size === 0) this.#idle.notify()
  }

  /** Posts nothing of a task to that configuration any more. */
  #forget({ id }: OwnedTask, configId: string): void {
    const hooked = this.#hooked.get(id)
    const queue = hooked?.queues.get(configId)
    if (hooked === undefined || queue === undefined) return
    hooked.queues.delete(configId)
    queue.drop()
    this.#settle(hooked)
  }

  /** A task was taken by another process, or was evicted. */
  #forgotten(hooked: HookedTask): void {
    const { task } = hooked
    const ids = [...hooked.queues.keys()]
    this.#unwatch(hooked)
    this.#try('Push configurations could not be removed', async () => {
      const last = await tasksOf(this.#service).get(task.owner, task.id)
      // The process that has it posts it as it stands first, and what waits here must not come behind that.
      if (last !== undefined && !this.#isRemote(last.node)) return
      for (const id of ids) this.#forget(task, id)
      if (last === undefined) await this.configs.removeAll(task)
    })
  }

  #evicted(hooked: HookedTask): void {
    const { task, queues } = hooked
    this.#unwatch(hooked)
    for (const queue of queues.values()) queue.drop()
    const sentence = 'There are too many push configurations: those of a task are forgotten'
    this.#service.log('warning', sentence, { task: task.id })
    this.#try('Push configurations could not be removed', () => this.configs.removeAll(task))
  }

  #gaveUp({ task: owned, config, fields }: PushQueue): void {
    this.#service.log('warning', 'A webhook does not take its events: it is forgotten', fields)
    this.#forget(owned, config.id)
    this.#try('A push configuration could not be removed', async () => {
      const task = await tasksOf(this.#service).get(owned.owner, owned.id)
      // The others of a task that runs are kept for as long as it does.
      await this.configs.remove(owned, config.id, task ? this.#keepMs(task) : UNDELIVERED_KEEP_MS)
    })
  }

  #isRemote(node: string = ''): boolean {
    return node !== '' && node !== sharedOf(this.#service)?.cluster.id
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
    cluster.onDead((node) => (
      this.#outbox!.takeOver(node, MAX_BYTES - this.#bytes.used, (events) => this.#adopt(events))
    ))
    recoveryOf(this.#service)?.onTaken((task) => this.#attach(task))
    tasksOf(this.#service).stored?.onBeforeEnd((task) => this.#mark(task))
  }

  /** A task is about to end. Resolves when that and what was before it is kept; never rejects. */
  #mark({ owner, id: taskId }: OwnedTask): Promise<void> | undefined {
    const hooked = this.#hooked.get(taskId)
    if (hooked?.stop === undefined) return undefined
    if (hooked.marks.length === 0) {
      hooked.marks = Array.from(hooked.queues.keys(), (configId) => (
        this.#outbox?.keep({ owner, taskId, configId, body: undefined })
      ))
    }
    return this.#outbox?.written()
  }

  /** Whether another process runs a task; that one reads its configurations again. */
  #notifyRunner({ owner, id, node = '' }: Task): boolean {
    if (!this.#isRemote(node)) return false
    this.#try('Another process could not be notified of a push configuration', async () => (
      sharedOf(this.#service)?.cluster.send(node, CHANGED, { owner, id })
    ))
    return true
  }

  /** Posts what a dead process has left. Rejects where the store fails. */
  async #adopt(events: readonly TakenOver[]): Promise<void> {
    const tasks = new Map(events.map(({ owner, taskId: id }) => [id, { owner, id }]))
    const found = await Promise.all(Array.from(tasks.values(), (task) => this.configs.of(task)))
    const configs = new Map(found.flat().map((one) => [`${one.taskId}/${one.id}`, one]))
    // What is kept stays kept.
    if (this.#isClosed) return
    for (const { owner, taskId: id, configId, body, kept } of events) {
      const config = configs.get(`${id}/${configId}`)
      const queue = config && this.#queueOf({ owner, id }, config)
      if (queue === undefined) kept.forget()
      else queue.add(body, kept)
    }
  }

  /** Runs what nothing waits for. */
  #try(sentence: string, act: () => Promise<unknown>): void {
    act().catch((cause: unknown) => this.#service.log('warning', sentence, { cause }))
  }
}

function stampsOf(configs: readonly KeptPushConfig[]): string {
  return configs.map(({ stamp }) => stamp).join()
}
