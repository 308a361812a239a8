/**
 * Multi Round-Trip Requests: a call that misses an answer ends with its questions, and the client calls again
 * with the answers. The handler runs from the top each time; answers and results of `call.once` travel in a
 * sealed state, so no server remembers anything between two rounds.
 *
 * Questions are gathered until the next `setImmediate` at which no `call.once` runs: microtasks would
 * miss those asked by helpers. Spec: MCP 2026-07-28, Multi Round-Trip Requests.
 */
import { createHash } from 'node:crypto'
import { isRecord } from '../../define/content.ts'
import { asFault, Fault } from '../../define/fault.ts'
import { rejectOneByOne } from '../../define/question.ts'
import { PlainLease, Quota } from '../../util/quota.ts'
import { decodeAnswer, encodeQuestion } from '../protocol/questions.ts'
import type { LiveCall } from '../../define/live-call.ts'
import type { Question } from '../../define/question.ts'
import type { Lease } from '../../util/quota.ts'
import type { EarlierRounds, McpRequest, RoundState } from './request.ts'

/** A handler that needs more rounds never has enough. */
const MAX_ROUNDS = 16
const PURPOSE = 'mcp state'
/** A year: no state is valid for ever. */
const MAX_STATE_MS = 365 * 86_400_000

interface PendingQuestion {
  readonly key: string
  readonly digest: string
  readonly question: Question
  readonly resolve: (answer: unknown) => void
  readonly reject: (reason: Error) => void
}

interface InputRequired {
  readonly resultType: 'input_required'
  readonly inputRequests: Readonly<Record<string, object>>
  readonly requestState: string
}

export class InputRequiredFlow {
  readonly #request: McpRequest
  readonly #call: LiveCall
  readonly #subject: string
  readonly earlier: EarlierRounds
  readonly #answers = new Map<string, { digest: string; answer: unknown }>()
  readonly #once = new Map<string, unknown>()
  readonly #seen = new Map<string, number>()
  #pending: readonly PendingQuestion[] = []
  /** Why an answer that came with this round was refused. */
  #unfit: Fault | undefined
  /** Side effects that run, and other reasons for no round to end. */
  readonly #holds = new Quota('calls in a round', Infinity)
  #isScheduled = false
  #isWatching = false

  /**
   * `subject`: the method, name and arguments that the state is bound to. Throws `Fault('invalid')` for a
   * state that is not this call's own, or malformed responses.
   */
  constructor(request: McpRequest, call: LiveCall, subject: readonly unknown[]) {
    this.#request = request
    this.#call = call
    this.#subject = digestOf([request.origin.principal.id, ...subject])
    this.earlier = request.earlierRounds ?? this.#read(request)
    const { state } = this.earlier
    if (state === undefined) return
    for (const [key, known] of Object.entries(state.answers)) this.#answers.set(key, known)
    for (const [key, result] of Object.entries(state.once)) this.#once.set(key, result)
  }

  #read({ mcp, params: { inputResponses: responses = {}, requestState } }: McpRequest): EarlierRounds {
    if (!isRecord(responses)) throw new Fault('invalid', 'params.inputResponses must be an object')
    if (requestState === undefined) return { state: undefined, responses }
    const state = typeof requestState === 'string' ? mcp.seal.open(PURPOSE, requestState) : undefined
    if (!isState(state) || state.subject !== this.#subject) {
      const why = 'params.requestState is not one that this server gave for this call, or it has expired'
      throw new Fault('invalid', why)
    }
    return { state, responses }
  }

  get isAsking(): boolean { return this.#pending.length > 0 }

  /** Gives up the pending questions to a task, which asks them itself: the call goes on. */
  release(): readonly PendingQuestion[] {
    const pending = this.#pending
    this.#pending = []
    return pending
  }

  /** No round ends until `resume`: a side effect runs, or the call may become a task. */
  hold(): Lease {
    const lease = new PlainLease(this.#call.caller)
    this.#holds.add(lease, 1)
    return lease
  }

  resume(hold: Lease): void {
    hold.close()
    if (this.isAsking) this.#schedule()
  }

  /** The answer, if the client has given it. Throws `Fault('unsupported')` for what it cannot be asked. */
  known(question: Question): unknown {
    return this.#find(question).answer
  }

  /** The answer, if the client has given it; else a promise that rejects when the run has ended. */
  ask(question: Question): Promise<unknown> {
    const { key, digest, answer } = this.#find(question)
    if (answer !== undefined) return Promise.resolve(answer)
    const promise = new Promise<unknown>((resolve, reject) => {
      this.#pending = [...this.#pending, { key, digest, question, resolve, reject }]
    })
    // Handled from the start: a handler that does not await it must not end the process.
    promise.catch(() => {})
    // A call can end before its round does, because its client leaves.
    if (!this.#isWatching) {
      this.#isWatching = true
      this.#call.signal.addEventListener('abort', () => (
        rejectOneByOne(this.release(), 'The call has ended', () => this.#call.settled)
      ))
    }
    this.#schedule()
    return promise
  }

  #find(question: Question): { readonly key: string; readonly digest: string; readonly answer: unknown } {
    const digest = digestOf(encodeQuestion(question, this.#request.peer))
    const key = question.key ?? this.#number(question.what, digest)
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
      const json: unknown = result === undefined ? null : JSON.parse(JSON.stringify(result))
      this.#once.set(key, json)
      return json
    } finally {
      this.resume(hold)
    }
  }

  /** A question without a key is numbered by its content: the same one asked twice is two. */
  #number(what: string, digest: string): string {
    const base = `${what}-${digest.slice(0, 12)}`
    const count = (this.#seen.get(base) ?? 0) + 1
    this.#seen.set(base, count)
    return count === 1 ? base : `${base}-${count}`
  }

  /** An answer counts only for the question that it was given to; an invalid one is asked for again. */
  #given(key: string, digest: string, question: Question): unknown {
    const { state, responses } = this.earlier
    if (!Object.hasOwn(responses, key)) return undefined
    if (state !== undefined && state.asked[key] !== digest) return undefined
    const { peer, mcp: { service } } = this.#request
    try {
      return decodeAnswer(question, responses[key], peer, service.limits.maxCheckSteps)
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
      if (this.#holds.used === 0 && this.isAsking && !this.#call.over) this.#endRound()
    })
  }

  #endRound(): void {
    const pending = this.release()
    const result = this.#result(pending)
    const isFault = result instanceof Fault
    if (!isFault) this.#request.succeed(result)
    this.#call.cancel(isFault ? result : new Fault('cancelled', 'The client is being asked'))
    rejectOneByOne(pending, 'The client is being asked', () => this.#call.settled)
  }

  #result(pending: readonly PendingQuestion[]): InputRequired | Fault {
    const { peer, mcp: { seal, service: { limits } } } = this.#request
    const round = (this.earlier.state?.round ?? 0) + 1
    if (round > MAX_ROUNDS) {
      return this.#unfit ?? new Fault('failed', `The handler asked for more than ${MAX_ROUNDS} rounds`)
    }
    const state: RoundState = {
      subject: this.#subject,
      round,
      asked: Object.fromEntries(pending.map(({ key, digest }) => [key, digest])),
      answers: Object.fromEntries(this.#answers),
      once: Object.fromEntries(this.#once),
    }
    const expiresAt = Date.now() + Math.min(limits.askTimeoutMs, MAX_STATE_MS)
    const requestState = seal.seal(PURPOSE, state, expiresAt)
    if (requestState.length > limits.maxStateBytes) {
      const why = `The state between two rounds is larger than ${limits.maxStateBytes} bytes`
      return new Fault('too-large', why)
    }
    const inputRequests = Object.fromEntries(pending.map(({ key, question }) => (
      [key, encodeQuestion(question, peer)]
    )))
    return { resultType: 'input_required', inputRequests, requestState }
  }
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

function isState(value: unknown): value is RoundState {
  return isRecord(value) && typeof value['subject'] === 'string' && typeof value['round'] === 'number'
    && isRecord(value['asked']) && isRecord(value['answers']) && isRecord(value['once'])
}
