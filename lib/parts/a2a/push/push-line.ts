/**
 * The events that wait for one configuration: posted in order, one at a time, each until the receiver has it
 * or the tries are used up. Where a dialect posts the whole task, and where too much waits, one item without
 * a body stands for all that happened: then the task as it stands is posted. So nothing is lost.
 */
import { Fault } from '../../../kernel/define/fault.ts'
import { unlessAborted } from '../../../floors/outbound/host-lookups.ts'
import { pushConfigBytes } from './push-config.ts'
import type { Log } from '../../../kernel/define/log.ts'
import type { Inquirer } from '../../../floors/outbound/host-lookups.ts'
import type { StoreKey } from '../../../kernel/store/store.ts'
import type { FairSlots } from '../../../floors/outbound/fair-slots.ts'
import type { KeptPushConfig, OwnedTask } from './push-config.ts'
import type { PushOutbox, TakenOver } from './push-outbox.ts'
import type { PushAnswer } from './push.ts'

export interface LineContext {
  readonly log: Log
  readonly outbox: PushOutbox
  readonly slots: FairSlots
  readonly retryDelaysMs: readonly number[]
  post(config: KeptPushConfig, body: string, inquirer: Inquirer): Promise<PushAnswer>
  /** The body for the task as it stands; undefined where it is forgotten. */
  taskBody(task: OwnedTask, config: KeptPushConfig): Promise<string | undefined>
  resized(line: PushLine): void
  /** The receiver failed too often in a row. */
  gaveUp(line: PushLine): void
}

/** Without a body: the task as it stands. */
interface Item { readonly body: string | undefined; readonly kept: Promise<StoreKey | undefined> | undefined }

/** What waits for one configuration at most: of more, the task as it stands is posted. */
const MAX_EVENTS = 256
const MAX_BYTES = 1_048_576
/** Besides the bodies and the configuration, roughly. */
const OWN_BYTES = 512
/** The longest that a receiver's `Retry-After` is followed. */
const MAX_RETRY_AFTER_MS = 60_000
/** Events given up one after the other, before the configuration is. */
const MAX_FAILURES = 3

/** One line. When it is over it holds nothing, aborts what is on its way, and takes nothing any more. */
export class PushLine {
  readonly task: OwnedTask
  readonly #context: LineContext
  readonly #items: Item[] = []
  #item: Item | undefined
  /** The task as it stands, while that is posted. */
  #whole: string | undefined
  #config: KeptPushConfig
  #failures = 0
  #isRunning = false
  readonly #ending = new AbortController()

  constructor(task: OwnedTask, config: KeptPushConfig, context: LineContext) {
    this.task = task
    this.#config = config
    this.#context = context
  }

  get config(): KeptPushConfig { return this.#config }
  get bytes(): number {
    if (this.isOver) return 0
    const own = OWN_BYTES + pushConfigBytes(this.#config) + bytesOf(this.#whole) + bytesOf(this.#item?.body)
    return this.#items.reduce((sum, { body }) => sum + bytesOf(body), own)
  }
  get isOver(): boolean { return this.#ending.signal.aborted }
  /** Nothing waits, and nothing is on its way. */
  get isIdle(): boolean { return !this.#isRunning && this.#items.length === 0 }

  get name(): string { return lineName(this.task, this.#config) }

  /** For a log. Of an address the host alone: the rest may be secret. */
  get fields(): Readonly<Record<string, unknown>> {
    return { task: this.task.id, config: this.#config.id, host: new URL(this.#config.url).host }
  }

  /** What waits is posted to this one from now on, which may be the same. */
  replacedBy(config: KeptPushConfig): this {
    if (this.#config.stamp !== config.stamp) this.#failures = 0
    this.#config = config
    this.#resized()
    return this
  }

  /** Adds a body, or without one the task as it stands. `mayHold`: whether there is room for the body. */
  add(body: string | undefined, mayHold: boolean = true): void {
    if (this.isOver || this.#isWhole()) return
    const isFull = !mayHold || this.#items.length >= MAX_EVENTS
      || (this.#items.length > 0 && this.bytes + bytesOf(body) > MAX_BYTES)
    const held = isFull ? undefined : body
    if (held === undefined) this.#clear()
    const { owner, id: taskId } = this.task
    const kept = this.#context.outbox.keep({ owner, taskId, configId: this.#config.id, body: held })
    this.#hold({ body: held, kept })
  }

  /** Adds what another process has left. `mayHold`: whether there is room for the bodies. */
  adopt(events: readonly TakenOver[], mayHold: boolean = true): void {
    const bytes = events.reduce((sum, { body }) => sum + bytesOf(body), this.bytes)
    const isFull = !mayHold || this.#items.length + events.length > MAX_EVENTS || bytes > MAX_BYTES
    // The task as it stands covers all the others.
    const whole = events.find(({ body }) => body === undefined) ?? (isFull ? events[0] : undefined)
    for (const event of events) {
      const isCovered = this.#isWhole() || (whole !== undefined && event !== whole)
      if (isCovered) this.#context.outbox.forget(event.kept)
      else this.#hold({ body: whole === undefined ? event.body : undefined, kept: event.kept })
    }
  }

  /** What waits is not wanted any more. */
  drop(): void {
    this.#end('It is dropped', ({ kept }) => this.#context.outbox.forget(kept))
  }

  /** The server closes. What is kept is for other processes. */
  leave(): void {
    this.#end('The server is closing down', () => {})
  }

  #end(why: string, release: (item: Item) => void): void {
    if (this.isOver) return
    const items = this.#items.splice(0)
    for (const item of this.#item === undefined ? items : [this.#item, ...items]) release(item)
    this.#item = undefined
    this.#ending.abort(new Error(why))
  }

  /** Whether the next post covers all that happens before it. */
  #isWhole(): boolean {
    const last = this.#items.at(-1)
    return last !== undefined && last.body === undefined
  }

  #hold({ body, kept }: Item): void {
    this.#items.push({ body, kept })
    this.#resized()
    if (this.#isRunning) return
    this.#isRunning = true
    this.#run().catch((cause: unknown) => {
      this.#context.log('error', 'A webhook could not be posted to', { ...this.fields, cause })
    })
  }

  #clear(): void {
    if (this.#items.length === 0) return
    for (const { kept } of this.#items.splice(0)) this.#context.outbox.forget(kept)
    this.#resized()
  }

  #resized(): void {
    this.#context.resized(this)
  }

  async #run(): Promise<void> {
    try {
      for (let item = this.#items.shift(); item !== undefined; item = this.#items.shift()) {
        this.#item = item
        const isDelivered = await this.#deliver(item)
        if (this.isOver) return
        this.#item = undefined
        this.#context.outbox.forget(item.kept)
        this.#resized()
        this.#failures = isDelivered ? 0 : this.#failures + 1
        if (this.#failures < MAX_FAILURES) continue
        this.drop()
        this.#context.gaveUp(this)
      }
    } finally {
      // Not later: what is added from now on begins anew.
      this.#isRunning = false
      this.#resized()
    }
  }

  /** Tries until the receiver has it or the line is over. False where it is given up. */
  async #deliver(item: Item): Promise<boolean> {
    const { log, retryDelaysMs } = this.#context
    const { signal } = this.#ending
    const { setTimeout: pause } = process.getBuiltinModule('node:timers/promises')
    for (let attempt = 0; ; attempt++) {
      const { lost, afterMs } = await this.#attempt(item)
      if (lost === undefined || this.isOver) return true
      const delayMs = afterMs === undefined ? undefined : retryDelaysMs[attempt]
      if (delayMs === undefined) {
        log('warning', 'A webhook did not take an event', { ...this.fields, why: lost })
        return false
      }
      await pause(Math.max(delayMs, afterMs ?? 0), undefined, { signal }).catch(() => {})
      if (this.isOver) return true
    }
  }

  async #attempt(item: Item): Promise<Outcome> {
    const { slots } = this.#context
    const { owner } = this.task
    const { signal } = this.#ending
    const giveBack = await slots.enter(owner, signal)
    try {
      if (this.isOver) return taken
      const body = item.body ?? await this.#wholeTask()
      if (body === undefined || this.isOver) return taken
      if (item.body === undefined) this.#whole = body
      this.#resized()
      return judge(await this.#context.post(this.#config, body, { owner, signal }))
    } catch (error) {
      const lost = error instanceof Error ? error.message : 'unknown'
      // An address that may not be posted to is refused the next time too.
      return { lost, afterMs: error instanceof Fault && error.kind === 'invalid' ? undefined : 0 }
    } finally {
      this.#whole = undefined
      this.#resized()
      giveBack?.()
    }
  }

  /** The task as it stands covers all that waits behind it. */
  #wholeTask(): Promise<string | undefined> {
    this.#clear()
    return unlessAborted(this.#context.taskBody(this.task, this.#config), this.#ending.signal)
  }
}

export function lineName({ id }: OwnedTask, config: KeptPushConfig): string {
  return `${id}/${config.id}`
}

function bytesOf(body: string | undefined): number {
  return (body?.length ?? 0) * 2
}

/** Of one try. `lost`: why the receiver has not got it; `afterMs`: when to try again, if at all. */
interface Outcome { readonly lost: string | undefined; readonly afterMs: number | undefined }

const taken: Outcome = { lost: undefined, afterMs: undefined }

function judge({ status, retryAfterMs = 0 }: PushAnswer): Outcome {
  if (status >= 200 && status < 300) return taken
  const isPassing = status === 408 || status === 429 || status >= 500
  const afterMs = isPassing ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : undefined
  return { lost: `HTTP ${status}`, afterMs }
}
