/**
 * Questions of a run of AG-UI: its end says what it waits for, and the next run of the thread brings the
 * answers. Each interrupt's id holds the sealed state, so any process may go on.
 * Spec: AG-UI 1.0, Interrupts.
 */
import { digestOf, filledIn, formFault } from '../../floors/questions/form.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { isRoundState, QuestionRounds } from '../../floors/questions/question-rounds.ts'
import { isRecord } from '../../kernel/define/content.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { Question } from '../../kernel/define/question.ts'
import type { StateLimits } from '../../floors/questions/limits.ts'
import type { PendingQuestion, RoundState } from '../../floors/questions/question-rounds.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Seal } from '../../kernel/wire/seal.ts'
import type { Resume } from './run-input.ts'

/** What the client is to do, as the end of a run says it. */
export interface Interrupt {
  readonly id: string
  readonly reason: 'input_required' | 'triport:open-url'
  readonly message: string
  /** When it can be answered no more: ISO 8601. */
  readonly expiresAt: string
  readonly responseSchema?: unknown
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** How the states of runs are sealed into ids. */
export interface StateSeal extends StateLimits { readonly seal: Seal }

const PURPOSE = 'agui interrupt'

export class InterruptRounds extends QuestionRounds {
  readonly #answers: ReadonlyMap<string, Resume>
  readonly #sealing: StateSeal
  readonly #show: (interrupts: readonly Interrupt[]) => void

  /**
   * `subject`: what a state is bound to. Throws `Fault('invalid')` for an answer to no question of this run.
   * `show` sends the questions.
   */
  constructor(
    call: LiveCall, service: Service, subject: readonly unknown[], resume: readonly Resume[],
    sealing: StateSeal, show: (interrupts: readonly Interrupt[]) => void,
  ) {
    const digest = digestOf(subject)
    const { seal, maxStateBytes } = sealing
    const answers = new Map<string, Resume>()
    let earlier: RoundState | undefined
    for (const [index, entry] of resume.entries()) {
      const { interruptId } = entry
      const opened = interruptId.length <= maxStateBytes ? seal.open(PURPOSE, interruptId) : undefined
      const { key, state } = isRecord(opened) ? opened : {}
      if (typeof key !== 'string' || !isRoundState(state) || state.subject !== digest) {
        throw new Fault('invalid', `resume[${index}].interruptId is not one that this server gave for the `
          + 'last user message of this thread, or it has expired')
      }
      earlier ??= state
      if (state.id !== earlier.id || answers.has(key)) {
        throw new Fault('invalid', `resume[${index}].interruptId is of another run than resume[0] is, or is `
          + 'there twice; send one answer to each interrupt of one run')
      }
      answers.set(key, entry)
    }
    super(call, service, digest, earlier)
    this.#answers = answers
    this.#sealing = sealing
    this.#show = show
  }

  protected override encode(question: Question): Omit<Interrupt, 'id' | 'expiresAt'> {
    if (question.what === 'elicit') {
      return { reason: 'input_required', message: question.message, responseSchema: question.schema }
    }
    // The channel can ask nothing else.
    const { message, url } = question as Extract<Question, { readonly what: 'elicit-url' }>
    return { reason: 'triport:open-url', message, metadata: { url } }
  }

  protected override response(key: string): unknown { return this.#answers.get(key) }

  protected override decode(question: Question, response: unknown): unknown {
    const { isCancelled, payload } = response as Resume
    if (isCancelled) return { action: 'cancel' }
    if (question.what !== 'elicit') return { action: 'accept' }
    const content = filledIn(payload ?? {})
    const fault = formFault(question.schema, content, this.service.limits.maxCheckSteps)
    if (fault !== undefined) throw new Fault('invalid', `The payload does not fit the form: ${fault}`)
    return { action: 'accept', content }
  }

  protected override send(pending: readonly PendingQuestion[], state: RoundState): Fault | undefined {
    const { seal, maxStateBytes } = this.#sealing
    const expiresAt = Date.now() + this.stateMs
    const until = new Date(expiresAt).toISOString()
    const interrupts = pending.map(({ key, question }) => (
      { id: seal.seal(PURPOSE, { key, state }, expiresAt), ...this.encode(question), expiresAt: until }
    ))
    if (interrupts.some(({ id }) => id.length > maxStateBytes)) {
      return new Fault('too-large', `The state between two runs is larger than ${maxStateBytes} bytes`)
    }
    this.#show(interrupts)
    return undefined
  }
}
