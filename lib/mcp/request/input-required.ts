/**
 * Asking by round trips: a call that misses an answer ends with its questions, and the client calls again
 * with the answers. The handler runs from the top each time; what was answered and what was done once travels
 * in a sealed state, so that no server remembers anything between two rounds.
 *
 * Questions are gathered until the next `setImmediate` at which no `call.once` runs: microtasks would
 * miss those asked by helpers. Spec: MCP 2026-07-28, Multi Round-Trip Requests.
 */
import { createHash } from 'node:crypto'
import { isRecord } from '../../define/content.ts'
import { asFault, Fault } from '../../define/fault.ts'
import { rejectInTurn } from '../../define/question.ts'
import { decodeAnswer, encodeQuestion } from '../protocol/questions.ts'
import type { LiveCall } from '../../define/live-call.ts'
import type { Question } from '../../define/question.ts'
import type { Limits } from '../../define/limits.ts'
import type { Seal } from '../../wire/seal.ts'
import type { Peer } from '../session/session.ts'

/** More rounds than that are a handler that never has enough. */
const MAX_ROUNDS = 16
const PURPOSE = 'mcp state'
/** A year: no state is good for ever. */
const MAX_STATE_MS = 365 * 86_400_000

/** What one call carries from round to round. Keys are questions' keys, or those of `call.once`. */
interface State {
  /** The call that the state belongs to: principal, method, name and arguments. */
  readonly subject: string
  readonly round: number
  readonly asked: Readonly<Record<string, string>>
  readonly answers: Readonly<Record<string, { readonly digest: string; readonly answer: unknown }>>
  readonly once: Readonly<Record<string, unknown>>
}

/** What earlier rounds of a call have settled, for a run of it that comes later. */
export interface EarlierRounds {
  readonly state: State | undefined
  readonly responses: Readonly<Record<string, unknown>>
}

/** A question without an answer, and who waits for it. */
export interface PendingQuestion {
  readonly key: string
  readonly digest: string
  readonly question: Question
  readonly resolve: (answer: unknown) => void
  readonly reject: (reason: Error) => void
}

/** What the call answers with when it has questions. */
export interface InputRequired {
  readonly resultType: 'input_required'
  readonly inputRequests: Readonly<Record<string, object>>
  readonly requestState: string
}

/** What a call comes with. */
export interface RoundTripOptions {
  readonly seal: Seal
  readonly limits: Limits
  readonly peer: Peer
  /** What the state is bound to. */
  readonly subject: readonly unknown[]
  readonly inputResponses: unknown
  readonly requestState: unknown
  /** In the place of both, where they were read before. */
  readonly earlier?: EarlierRounds | undefined
  /** Called once with the questions; the run is over then. */
  readonly onQuestions: (result: InputRequired) => void
}

/** One call in one of its rounds. */
export class InputRequiredFlow {
  readonly #options: RoundTripOptions
  readonly #subject: string
  #state: State | undefined
  readonly #responses: Readonly<Record<string, unknown>>
  readonly #answers = new Map<string, { digest: string; answer: unknown }>()
  readonly #once = new Map<string, unknown>()
  readonly #seen = new Map<string, number>()
  #pending: readonly PendingQuestion[] = []
  /** Why an answer that came with this round is none. */
  #unfit: Fault | undefined
  /** Side effects that run, and other reasons for no round to end. */
  #held = 0
  #isScheduled = false
  #isWatching = false

  /** Throws `Fault('invalid')` for a state that is not this call's own, or responses that are none. */
  constructor(options: RoundTripOptions) {
    const { seal, inputResponses, requestState, subject, earlier } = options
    this.#options = options
    this.#subject = digestOf(subject)
    if (earlier !== undefined) {
      this.#responses = earlier.responses
      if (earlier.state !== undefined) this.#begin(earlier.state)
      return
    }
    if (inputResponses !== undefined && !isRecord(inputResponses)) {
      throw new Fault('invalid', 'params.inputResponses must be an object')
    }
    this.#responses = inputResponses ?? {}
    if (requestState === undefined) return
    const state = typeof requestState === 'string' ? seal.open(PURPOSE, requestState) : undefined
    if (!isState(state) || state.subject !== this.#subject) {
      const why = 'params.requestState is not one that this server gave for this call, or it has expired'
      throw new Fault('invalid', why)
    }
    this.#begin(state)
  }

  #begin(state: State): void {
    this.#state = state
    for (const [key, known] of Object.entries(state.answers)) this.#answers.set(key, known)
    for (const [key, result] of Object.entries(state.once)) this.#once.set(key, result)
  }

  /** What the client has brought from the rounds before. */
  get earlier(): EarlierRounds { return { state: this.#state, responses: this.#responses } }

  /** Whether a question stands that has no answer. */
  get isAsking(): boolean { return this.#pending.length > 0 }

  /** Questions that stand without an answer, for somebody else to ask: the call goes on meanwhile. */
  release(): readonly PendingQuestion[] {
    const pending = this.#pending
    this.#pending = []
    return pending
  }

  /** No round ends until `letGo`: it is being found out whether the call goes on as something else. */
  hold(): void { this.#held++ }

  letGo(call: LiveCall): void {
    this.#held--
    if (this.isAsking) this.#schedule(call)
  }

  /**
   * The answer, if the client has given it by now. Throws `Fault('unsupported')` for what it cannot be asked.
   */
  known(question: Question): unknown {
    return this.#look(question).answer
  }

  /** The answer, if it is known by now; else a promise that rejects when the run has been ended. */
  ask(question: Question, call: LiveCall): Promise<unknown> {
    const { key, digest, answer } = this.#look(question)
    if (answer !== undefined) return Promise.resolve(answer)
    const promise = new Promise<unknown>((resolve, reject) => {
      this.#pending = [...this.#pending, { key, digest, question, resolve, reject }]
    })
    // Handled from the start: a handler that has stopped listening must not end the process.
    promise.catch(() => {})
    // A call that ends before its round does, because its client leaves, is not to wait for ever.
    if (!this.#isWatching) {
      this.#isWatching = true
      call.signal.addEventListener('abort', () => (
        rejectInTurn(this.release(), 'The call has ended', () => call.settled)
      ))
    }
    this.#schedule(call)
    return promise
  }

  #look(question: Question): { readonly key: string; readonly digest: string; readonly answer: unknown } {
    const digest = digestOf(encodeQuestion(question, this.#options.peer))
    const key = question.key ?? this.#number(question.what, digest)
    const known = this.#answers.get(key)
    if (known !== undefined && known.digest === digest) return { key, digest, answer: known.answer }
    const answer = this.#given(key, digest, question)
    if (answer !== undefined) this.#answers.set(key, { digest, answer })
    return { key, digest, answer }
  }

  /** Runs a side effect unless an earlier round has; its result goes with the state. */
  async once(key: string, fn: () => unknown, call: LiveCall): Promise<unknown> {
    if (this.#once.has(key)) return this.#once.get(key)
    this.#held++
    try {
      const result = await fn()
      // As it will come back from the state, so that no round sees another value than the next.
      const json: unknown = result === undefined ? null : JSON.parse(JSON.stringify(result))
      this.#once.set(key, json)
      return json
    } finally {
      this.#held--
      if (this.#pending.length > 0) this.#schedule(call)
    }
  }

  /** A question without a key is numbered by its content: the same one asked twice is two. */
  #number(what: string, digest: string): string {
    const base = `${what}-${digest.slice(0, 12)}`
    const count = (this.#seen.get(base) ?? 0) + 1
    this.#seen.set(base, count)
    return count === 1 ? base : `${base}-${count}`
  }

  /** An answer counts only for the question that it was given to; a broken one is asked for again. */
  #given(key: string, digest: string, question: Question): unknown {
    if (!Object.hasOwn(this.#responses, key)) return undefined
    if (this.#state !== undefined && this.#state.asked[key] !== digest) return undefined
    const { peer, limits } = this.#options
    try {
      return decodeAnswer(question, this.#responses[key], peer, limits.maxCheckSteps)
    } catch (error) {
      this.#unfit = asFault(error)
      return undefined
    }
  }

  #schedule(call: LiveCall): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (this.#held === 0 && this.isAsking && !call.over) this.#endRound(call)
    })
  }

  #endRound(call: LiveCall): void {
    const pending = this.#pending
    this.#pending = []
    const result = this.#result(pending)
    if (!(result instanceof Fault)) this.#options.onQuestions(result)
    call.cancel(result instanceof Fault ? result : new Fault('cancelled', 'The client is being asked'))
    rejectInTurn(pending, 'The client is being asked', () => call.settled)
  }

  #result(pending: readonly PendingQuestion[]): InputRequired | Fault {
    const { seal, limits, peer } = this.#options
    const round = (this.#state?.round ?? 0) + 1
    if (round > MAX_ROUNDS) {
      return this.#unfit ?? new Fault('failed', `The handler asked for more than ${MAX_ROUNDS} rounds`)
    }
    const state: State = {
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
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(pending.map(({ key, question }) => (
        [key, encodeQuestion(question, peer)]
      ))),
      requestState,
    }
  }
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

function isState(value: unknown): value is State {
  return isRecord(value) && typeof value['subject'] === 'string' && typeof value['round'] === 'number'
    && isRecord(value['asked']) && isRecord(value['answers']) && isRecord(value['once'])
}
