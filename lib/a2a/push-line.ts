/**
 * What waits to be posted for one configuration, in order, one at a time, each until the receiver has it or
 * the tries are used up.
 *
 * Where a dialect posts the whole task, and where more waits than may, one mark stands for everything that
 * happened meanwhile: what is posted for it is the task as it stands at that moment. So nothing is lost, and
 * what waits is bounded. Knows neither HTTP nor watching.
 */
import { Fault } from '../core/fault.ts'
import type { Log } from '../core/log.ts'
import type { StoreKey } from '../core/store.ts'
import type { PushAnswer } from './push.ts'
import type { KeptPushConfig, OwnedTask } from './push-config.ts'
import type { PushOutbox, TakenOver } from './push-outbox.ts'
import type { PushSlots } from './push-slots.ts'

/** What the lines of one server have in common. */
export interface LineMeans {
  readonly log: Log
  readonly outbox: PushOutbox
  readonly slots: PushSlots
  readonly retryDelaysMs: readonly number[]
  /** Aborts when the server closes. */
  readonly closing: AbortSignal
  /** One try. */
  post(config: KeptPushConfig, body: string): Promise<PushAnswer>
  /** The body for a task as it stands; undefined where it is forgotten. */
  taskBody(place: OwnedTask, config: KeptPushConfig): Promise<string | undefined>
  /** What waits has grown or shrunk. */
  resized(line: PushLine): void
  /** The receiver failed too often in a row. */
  gaveUp(line: PushLine): void
}

/** Without a body: the task as it stands. */
interface Item { readonly body: string | undefined; readonly kept: Promise<StoreKey | undefined> | undefined }

/** What waits for one configuration at most: of more, the task as it stands is posted. */
const MAX_EVENTS = 256
const MAX_BYTES = 1_048_576
/** Besides the bodies, roughly. */
const OWN_BYTES = 512
/** The longest that a receiver's `Retry-After` is followed. */
const MAX_RETRY_AFTER_MS = 60_000
/** Events given up one after the other, before the configuration is. */
const MAX_FAILURES = 3

/** The waiting events of one configuration. */
export class PushLine {
  readonly place: OwnedTask
  readonly #means: LineMeans
  readonly #items: Item[] = []
  #config: KeptPushConfig
  #bytes = OWN_BYTES
  #failures = 0
  #isRunning = false
  #isOver = false

  constructor(place: OwnedTask, config: KeptPushConfig, means: LineMeans) {
    this.place = place
    this.#config = config
    this.#means = means
  }

  get config(): KeptPushConfig { return this.#config }
  get bytes(): number { return this.#bytes }
  /** Nothing waits, and nothing is on its way. */
  get isIdle(): boolean { return !this.#isRunning && this.#items.length === 0 }

  /** What is called like it is the same line. */
  get name(): string { return `${this.place.id}/${this.#config.id}` }

  /** For a log. Of an address the host alone: the rest may be secret. */
  get fields(): Readonly<Record<string, unknown>> {
    return { task: this.place.id, config: this.#config.id, host: new URL(this.#config.url).host }
  }

  /** What waits is posted as this one says, which may be the same. */
  replacedBy(config: KeptPushConfig): this {
    if (this.#config.stamp !== config.stamp) this.#failures = 0
    this.#config = config
    return this
  }

  /** Posts a body, or without one the task as it stands. `mayHold`: whether there is room for the body. */
  add(body: string | undefined, mayHold: boolean = true): void {
    if (this.#isOver || this.#isWhole()) return
    const isFull = !mayHold || this.#items.length >= MAX_EVENTS
      || (this.#items.length > 0 && this.#bytes + (body?.length ?? 0) > MAX_BYTES)
    const held = isFull ? undefined : body
    if (held === undefined) this.#clear()
    const { owner, id: taskId } = this.place
    const kept = this.#means.outbox.keep({ owner, taskId, configId: this.#config.id, body: held })
    this.#hold({ body: held, kept })
  }

  /** Goes on with what another process has left. */
  adopt(events: readonly TakenOver[]): void {
    // The task as it stands says all the others too.
    const whole = events.find(({ body }) => body === undefined)
    for (const event of events) {
      if ((whole === undefined || event === whole) && !this.#isWhole()) this.#hold(event)
      else this.#means.outbox.forget(event.kept)
    }
  }

  /** Nobody wants what waits. */
  drop(): void {
    this.#isOver = true
    this.#clear()
  }

  /** Whether everything that happens before the next post is said by it anyway. */
  #isWhole(): boolean {
    const last = this.#items.at(-1)
    return last !== undefined && last.body === undefined
  }

  #hold({ body, kept }: Item): void {
    this.#items.push({ body, kept })
    this.#resize(body?.length ?? 0)
    if (this.#isRunning) return
    this.#isRunning = true
    this.#run().catch((cause: unknown) => {
      this.#means.log('error', 'A webhook could not be posted to', { ...this.fields, cause })
    })
  }

  #clear(): void {
    for (const item of this.#items.splice(0)) this.#release(item)
  }

  #release({ body, kept }: Item): void {
    this.#means.outbox.forget(kept)
    this.#resize(-(body?.length ?? 0))
  }

  #resize(bytes: number): void {
    this.#bytes += bytes
    this.#means.resized(this)
  }

  async #run(): Promise<void> {
    try {
      for (let item = this.#items.shift(); item !== undefined; item = this.#items.shift()) {
        const isDelivered = await this.#deliver(item)
        // What is kept stays kept, for whoever comes after this process.
        if (isDelivered === undefined) return
        this.#release(item)
        this.#failures = isDelivered ? 0 : this.#failures + 1
        if (this.#isOver || this.#failures < MAX_FAILURES) continue
        this.drop()
        this.#means.gaveUp(this)
      }
    } finally {
      // Not later: what is added from now on begins anew.
      this.#isRunning = false
      this.#resize(0)
    }
  }

  /** Tries until it is there. False where it is given up, undefined where the server closes. */
  async #deliver(item: Item): Promise<boolean | undefined> {
    const { retryDelaysMs, closing } = this.#means
    for (let attempt = 0; !this.#isOver; attempt++) {
      const { lost, afterMs } = await this.#attempt(item)
      if (closing.aborted) return undefined
      if (lost === undefined) return true
      const delayMs = afterMs === undefined ? undefined : retryDelaysMs[attempt]
      if (delayMs === undefined) {
        this.#means.log('warning', 'A webhook did not take an event', { ...this.fields, why: lost })
        return false
      }
      // Another server of the same store goes on where this one is closed.
      const { setTimeout: pause } = process.getBuiltinModule('node:timers/promises')
      const waited = pause(Math.max(delayMs, afterMs ?? 0), true, { signal: closing })
      if (!await waited.catch(() => false)) return undefined
    }
    return true
  }

  async #attempt(item: Item): Promise<Outcome> {
    const { slots, closing } = this.#means
    const { owner } = this.place
    await slots.enter(owner)
    try {
      if (closing.aborted || this.#isOver) return taken
      const body = item.body ?? await this.#wholeTask()
      return body === undefined ? taken : judge(await this.#means.post(this.#config, body))
    } catch (error) {
      const lost = error instanceof Error ? error.message : 'unknown'
      // An address that may not be posted to will be none the next time either.
      return { lost, afterMs: error instanceof Fault ? undefined : 0 }
    } finally {
      slots.leave(owner)
    }
  }

  /** The task as it stands, which says all that waits behind it. */
  #wholeTask(): Promise<string | undefined> {
    this.#clear()
    return this.#means.taskBody(this.place, this.#config)
  }
}

/** What came of one try. `lost`: why it is not there; `afterMs`: when it may be tried again, if it may. */
interface Outcome { readonly lost: string | undefined; readonly afterMs: number | undefined }

const taken: Outcome = { lost: undefined, afterMs: undefined }

function judge({ status, retryAfterMs = 0 }: PushAnswer): Outcome {
  if (status >= 200 && status < 300) return taken
  const isPassing = status === 408 || status === 429 || status >= 500
  const afterMs = isPassing ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : undefined
  return { lost: `HTTP ${status}`, afterMs }
}
