/**
 * Questions in rounds: a call that misses an answer ends with its questions, and the client calls again with
 * the answers. The handler runs from the top each time; answers and results of `call.once` travel in a state,
 * so no server remembers anything between two rounds, but for which states have brought an approval.
 *
 * Questions are gathered until the next `setImmediate` at which no `call.once` runs: microtasks would
 * miss those asked by helpers.
 */
import { isRecord } from '../../kernel/define/content.ts'
import { asFault, Fault } from '../../kernel/define/fault.ts'
import { keyOf } from '../../kernel/store/store.ts'
import { PlainLease, Quota } from '../../kernel/util/quota.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { storeOf } from '../memory/store-of.ts'
import { asksApproval } from './approval-form.ts'
import { digestOf } from './form.ts'
import { rejectOneByOne } from './rejection.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { Question } from '../../kernel/define/question.ts'
import type { Lease } from '../../kernel/util/quota.ts'
import type { Service } from '../../kernel/run/service.ts'

/** A handler that needs more rounds never has enough. */
const MAX_ROUNDS = 16

/** A year: no state is valid for ever. */
const MAX_STATE_MS = 365 * 86_400_000

/** What a call carries from round to round. Keys are those of questions, or of `call.once`. */
export interface RoundState {
  /** Of this state alone. */
  readonly id: string
  /** The call that it belongs to: a digest of principal and request. */
  readonly subject: string
  readonly round: number
  readonly asked: Readonly<Record<string, string>>
  readonly answers: Readonly<Record<string, { readonly digest: string; readonly answer: unknown }>>
  readonly once: Readonly<Record<string, unknown>>
}

export interface PendingQuestion {
  readonly key: string
  readonly digest: string
  readonly question: Question
  readonly resolve: (answer: unknown) => void
  readonly reject: (reason: Error) => void
}

export abstract class QuestionRounds {
  protected readonly call: LiveCall
  protected readonly service: Service
  /** How long a state is valid, in milliseconds. */
  protected readonly stateMs: number
  readonly #subject: string
  readonly #earlier: RoundState | undefined
  readonly #answers = new Map<string, { digest: string; answer: unknown }>()
  readonly #once = new Map<string, unknown>()
  readonly #seen = new Map<string, number>()
  #pending: readonly PendingQuestion[] = []
  /** Whether the state of the round before brings its approvals for the first time. */
  #isFirstUse: Promise<boolean> | undefined
  /** Why an answer that came with this round was refused. */
  #unfit: Fault | undefined
  /** Side effects that run, and other reasons for no round to end. */
  readonly #holds = new Quota('calls in a round', Infinity)
  #isScheduled = false
  #isWatching = false

  /** `earlier`: the state of the round before, which is of the same `subject`. */
  constructor(call: LiveCall, service: Service, subject: string, earlier: RoundState | undefined) {
    this.call = call
    this.service = service
    this.stateMs = Math.min(service.limits.askTimeoutMs, MAX_STATE_MS)
    this.#subject = subject
    this.#earlier = earlier
    if (earlier === undefined) return
    for (const [key, known] of Object.entries(earlier.answers)) this.#answers.set(key, known)
    for (const [key, result] of Object.entries(earlier.once)) this.#once.set(key, result)
  }

  /** A question as the client sees it. Throws `Fault('unsupported')` for what it cannot be asked. */
  protected abstract encode(question: Question): unknown

  /** What the client has sent for a key; undefined: nothing. */
  protected abstract response(key: string): unknown

  /** The answer as the handler gets it. Throws `Fault('invalid')` for a response that is none. */
  protected abstract decode(question: Question, response: unknown): unknown

  /** Sends the questions, with the state of the next round. Returns why that cannot be done. */
  protected abstract send(pending: readonly PendingQuestion[], state: RoundState): Fault | undefined

  get isAsking(): boolean { return this.#pending.length > 0 }

  /** Gives up the pending questions to a task, which asks them itself: the call goes on. */
  release(): readonly PendingQuestion[] {
    const pending = this.#pending
    this.#pending = []
    return pending
  }

  /** No round ends until `resume`: a side effect runs, or the call may become a task. */
  hold(): Lease {
    const lease = new PlainLease(this.call.caller)
    this.#holds.add(lease, 1)
    return lease
  }

  resume(hold: Lease): void {
    hold.close()
    if (this.isAsking) this.#schedule()
  }

  /**
   * The answer, if the client has given it and it is no approval. Throws `Fault('unsupported')` for what it
   * cannot be asked.
   */
  known(question: Question): unknown {
    return asksApproval(question) ? undefined : this.#find(question).answer
  }

  /** The answer, if the client has given it; else a promise that rejects when the run has ended. */
  ask(question: Question): Promise<unknown> {
    const found = this.#find(question)
    if (found.answer === undefined) return this.#wait(found, question)
    return asksApproval(question) ? this.#useOnce(found, question) : Promise.resolve(found.answer)
  }

  async #useOnce(found: Found, question: Question): Promise<unknown> {
    const hold = this.hold()
    try {
      this.#isFirstUse ??= this.#claim()
      if (await this.#isFirstUse) return found.answer
    } finally {
      this.resume(hold)
    }
    this.#answers.delete(found.key)
    return this.#wait(found, question)
  }

  async #claim(): Promise<boolean> {
    const store = storeOf(this.service)
    const place = {
      collection: 'approvals', owner: keyOf(this.call.principal.id), key: keyOf(this.#earlier?.id ?? ''),
    }
    return await store.write(place, '', this.stateMs, 0) !== undefined
  }

  #wait({ key, digest }: Found, question: Question): Promise<unknown> {
    const promise = new Promise<unknown>((resolve, reject) => {
      this.#pending = [...this.#pending, { key, digest, question, resolve, reject }]
    })
    // Handled from the start: a handler that does not await it must not end the process.
    promise.catch(() => {})
    // A call can end before its round does, because its client leaves.
    if (!this.#isWatching) {
      this.#isWatching = true
      this.call.signal.addEventListener('abort', () => (
        rejectOneByOne(this.release(), 'The call has ended', () => this.call.settled)
      ))
    }
    this.#schedule()
    return promise
  }

  #find(question: Question): Found {
    const digest = digestOf(this.encode(question))
    const key = this.#number(question.key ?? `${question.what}-${digest.slice(0, 12)}`)
    const known = this.#answers.get(key)
    if (known !== undefined && known.digest === digest) return { key, digest, answer: known.answer }
    const answer = this.#given(key, digest, question)
    if (answer !== undefined) this.#answers.set(key, { digest, answer })
    return { key, digest, answer }
  }

  /** Runs a side effect unless an earlier round has; its result goes into the state. */
  async once(key: string, fn: () => unknown): Promise<unknown> {
    if (this.#once.has(key)) return this.#once.get(key)
    const hold = this.hold()
    try {
      const result = await fn()
      // As it will come back from the state, so that every round sees the same value.
      const json: unknown = result === undefined ? null : JSON.parse(formatJson(result))
      this.#once.set(key, json)
      return json
    } finally {
      this.resume(hold)
    }
  }

  /** The same question asked twice is two. */
  #number(base: string): string {
    const count = (this.#seen.get(base) ?? 0) + 1
    this.#seen.set(base, count)
    return count === 1 ? base : `${base}-${count}`
  }

  /** An answer counts only for the question that it was given to; an invalid one is asked for again. */
  #given(key: string, digest: string, question: Question): unknown {
    const response = this.response(key)
    if (response === undefined) return undefined
    const wasAsked = this.#earlier?.asked[key] === digest
    // A first call may bring what its client knows to be asked: never that somebody approves.
    const isForeseen = this.#earlier === undefined && question.key !== undefined && !asksApproval(question)
    if (!wasAsked && !isForeseen) return undefined
    try {
      return this.decode(question, response)
    } catch (error) {
      this.#unfit = asFault(error)
      return undefined
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (this.#holds.used === 0 && this.isAsking && !this.call.over) this.#endRound()
    })
  }

  #endRound(): void {
    const pending = this.release()
    const reason = this.#sent(pending) ?? new Fault('cancelled', 'The client is being asked')
    this.call.cancel(reason)
    rejectOneByOne(pending, 'The client is being asked', () => this.call.settled)
  }

  #sent(pending: readonly PendingQuestion[]): Fault | undefined {
    const round = (this.#earlier?.round ?? 0) + 1
    if (round > MAX_ROUNDS) {
      return this.#unfit ?? new Fault('failed', `The handler asked for more than ${MAX_ROUNDS} rounds`)
    }
    return this.send(pending, {
      id: randomUuid(),
      subject: this.#subject,
      round,
      asked: Object.fromEntries(pending.map(({ key, digest }) => [key, digest])),
      answers: Object.fromEntries(this.#answers),
      once: Object.fromEntries(this.#once),
    })
  }
}

interface Found { readonly key: string; readonly digest: string; readonly answer: unknown }

export function isRoundState(value: unknown): value is RoundState {
  return isRecord(value) && typeof value['id'] === 'string' && typeof value['subject'] === 'string'
    && typeof value['round'] === 'number' && isRecord(value['asked']) && isRecord(value['answers'])
    && isRecord(value['once'])
}
