/**
 * The events that wait for one configuration: posted in order, one at a time, each until the receiver has it
 * or the tries are used up. Where a dialect posts the whole task, and where too much waits, one item without
 * a body stands for all that happened: then the task as it stands is posted. So nothing is lost.
 */
import { Fault } from '../../../kernel/define/fault.ts'
import { PlainLease } from '../../../kernel/util/quota.ts'
import { unlessAborted } from '../../../floors/outbound/host-lookups.ts'
import type { Log } from '../../../kernel/define/log.ts'
import type { Quota } from '../../../kernel/util/quota.ts'
import type { FairSlots } from '../../../floors/outbound/fair-slots.ts'
import type { Inquirer } from '../../../floors/outbound/host-lookups.ts'
import type { KeptPushConfig, OwnedTask } from './push-config.ts'
import type { KeptEvent } from './push-outbox.ts'
import type { PushAnswer } from './push-sender.ts'

export interface QueueContext {
  readonly log: Log
  readonly slots: FairSlots
  /** Of the bodies that wait. */
  readonly bytes: Quota
  readonly retryDelaysMs: readonly number[]
  /** Keeps an event for other processes. */
  keep(queue: PushQueue, body: string | undefined): KeptEvent | undefined
  post(config: KeptPushConfig, body: string, inquirer: Inquirer): Promise<PushAnswer>
  /** The body for the task as it stands; undefined where it is forgotten. */
  taskBody(task: OwnedTask, config: KeptPushConfig): Promise<string | undefined>
  /** Something is to be posted; nothing is any more. */
  began(queue: PushQueue): void
  ended(queue: PushQueue): void
  /** The receiver failed too often in a row. */
  gaveUp(queue: PushQueue): void
}

/** Without a body: the task as it stands. */
interface Item { readonly body: string | undefined; readonly kept: KeptEvent | undefined }

/** Why the receiver has not got an item, and when to try again, if at all. */
interface Lost { readonly why: string; readonly afterMs: number | undefined }

/** What waits for one configuration at most: of more, the task as it stands is posted. */
const MAX_EVENTS = 256
const MAX_BYTES = 1_048_576
/** The longest that a receiver's `Retry-After` is followed. */
const MAX_RETRY_AFTER_MS = 60_000
/** Events given up one after the other, before the configuration is. */
const MAX_FAILURES = 3

/** One queue. When it is over it holds nothing, aborts what is on its way, and takes nothing any more. */
export class PushQueue {
  readonly task: OwnedTask
  config: KeptPushConfig
  readonly #context: QueueContext
  readonly #lease: PlainLease
  readonly #ending = new AbortController()
  readonly #items: Item[] = []
  /** On its way. */
  #item: Item | undefined
  #failures = 0

  constructor(task: OwnedTask, config: KeptPushConfig, context: QueueContext) {
    this.task = task
    this.config = config
    this.#context = context
    this.#lease = new PlainLease(task.owner)
  }

  /** Of the bodies. */
  get bytes(): number { return this.#lease.amount }
  get isOver(): boolean { return this.#ending.signal.aborted }
  get isIdle(): boolean { return this.#item === undefined && this.#items.length === 0 }

  /** For a log. Of an address the host alone: the rest may be secret. */
  get fields(): Readonly<Record<string, unknown>> {
    return { task: this.task.id, config: this.config.id, host: new URL(this.config.url).host }
  }

  /** What waits is posted to this one from now on, which may be the same. */
  replacedBy(config: KeptPushConfig): void {
    if (this.config.stamp !== config.stamp) this.#failures = 0
    this.config = config
  }

  /** Whether the task as it stands is posted next: that covers all that happens before. */
  get isCovered(): boolean {
    const last = this.#items.at(-1)
    return last !== undefined && last.body === undefined
  }

  /** Adds the body for the task as it stands at its end, which covers what the task as it stands does. */
  end(body: string): void {
    if (this.isCovered) this.#release(this.#items.pop()!)
    this.add(body)
  }

  /** Adds a body, or without one the task as it stands. `left`: another process has kept it. */
  add(body: string | undefined, left?: KeptEvent): void {
    if (this.isOver) return
    if (this.isCovered) return left?.forget()
    const held = this.#hold(body)
    if (held !== body) this.#clear()
    this.#items.push({ body: held, kept: left ?? this.#context.keep(this, held) })
    if (this.#item === undefined) void this.#run()
  }

  /** What waits is not wanted any more. */
  drop(): void {
    for (const { kept } of this.leave()) kept?.forget()
  }

  /** The server closes. What is kept is for other processes. Returns what waited. */
  leave(): readonly Item[] {
    if (this.isOver) return []
    const items = [...this.#item === undefined ? [] : [this.#item], ...this.#items.splice(0)]
    this.#item = undefined
    this.#lease.close()
    this.#ending.abort(new Error('It is not wanted any more'))
    this.#context.ended(this)
    return items
  }

  /** Undefined where there is no room for a body. */
  #hold(body: string | undefined): string | undefined {
    if (body === undefined || this.#items.length >= MAX_EVENTS) return undefined
    const bytes = body.length * 2
    if (this.#items.length > 0 && this.bytes + bytes > MAX_BYTES) return undefined
    return this.#context.bytes.take(this.#lease, bytes) ? body : undefined
  }

  #release({ body = '', kept }: Item): void {
    this.#count(-body.length)
    kept?.forget()
  }

  #count(characters: number): void {
    if (!this.isOver) this.#context.bytes.add(this.#lease, characters * 2)
  }

  #clear(): void {
    for (const item of this.#items.splice(0)) this.#release(item)
  }

  async #run(): Promise<void> {
    this.#context.began(this)
    for (let item = this.#items.shift(); item !== undefined; item = this.#items.shift()) {
      this.#item = item
      const isDelivered = await this.#deliver(item)
      if (this.isOver) return
      this.#item = undefined
      this.#release(item)
      this.#failures = isDelivered ? 0 : this.#failures + 1
      if (this.#failures < MAX_FAILURES) continue
      this.drop()
      return this.#context.gaveUp(this)
    }
    this.#context.ended(this)
  }

  /** Tries until the receiver has it or the queue is over. False where it is given up. */
  async #deliver(item: Item): Promise<boolean> {
    const { log, retryDelaysMs } = this.#context
    const { signal } = this.#ending
    const { setTimeout: pause } = process.getBuiltinModule('node:timers/promises')
    for (let attempt = 0; ; attempt++) {
      const lost = await this.#attempt(item)
      if (lost === undefined || this.isOver) return true
      const { why, afterMs } = lost
      const delayMs = afterMs === undefined ? undefined : retryDelaysMs[attempt]
      if (delayMs === undefined) {
        log('warning', 'A webhook did not take an event', { ...this.fields, why })
        return false
      }
      await pause(Math.max(delayMs, afterMs ?? 0), undefined, { signal }).catch(() => {})
      if (this.isOver) return true
    }
  }

  async #attempt(item: Item): Promise<Lost | undefined> {
    const { slots, post } = this.#context
    const inquirer = { owner: this.task.owner, signal: this.#ending.signal }
    const leave = await slots.enter(inquirer.owner, inquirer.signal)
    let whole: string | undefined
    try {
      if (this.isOver) return undefined
      const body = item.body ?? (whole = await this.#wholeTask(inquirer))
      if (body === undefined || this.isOver) return undefined
      this.#count(whole?.length ?? 0)
      return lostBy(await post(this.config, body, inquirer))
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown'
      // An address that may not be posted to is refused the next time too.
      return { why, afterMs: error instanceof Fault && error.kind === 'invalid' ? undefined : 0 }
    } finally {
      this.#count(-(whole?.length ?? 0))
      leave?.()
    }
  }

  /** The task as it stands covers all that waits behind it. */
  #wholeTask({ signal }: Inquirer): Promise<string | undefined> {
    this.#clear()
    return unlessAborted(this.#context.taskBody(this.task, this.config), signal)
  }
}

function lostBy({ status, retryAfterMs = 0 }: PushAnswer): Lost | undefined {
  if (status >= 200 && status < 300) return undefined
  const isPassing = status === 408 || status === 429 || status >= 500
  const afterMs = isPassing ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : undefined
  return { why: `HTTP ${status}`, afterMs }
}
