/** Questions on their way to the client: sent, answered, or withdrawn with the turn that asked. */
import { isRecord } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { startDeadline } from '../../kernel/util/clock.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { formatNotification, formatRequest } from '../../floors/jsonrpc/jsonrpc.ts'
import { encodeAcpQuestion } from './questions.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Question } from '../../kernel/define/question.ts'
import type { Id } from '../../floors/jsonrpc/jsonrpc.ts'
import type { PromptTurn } from './prompt-turn.ts'
import type { AcpAbilities } from './questions.ts'

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (reason: Fault) => void
}

type Status = 'completed' | 'failed'

export class AskedQuestions {
  readonly #limits: KernelLimits
  readonly #send: (message: string) => void
  readonly #waiting = new Map<Id, Waiting>()
  #count = 0
  #isClosed = false

  constructor(limits: KernelLimits, send: (message: string) => void) {
    this.#limits = limits
    this.#send = send
  }

  /** Rejects with a `Fault` where the client cannot be asked this, or gives no answer in time. */
  async ask(turn: PromptTurn, question: Question, abilities: AcpAbilities): Promise<unknown> {
    const { askTimeoutMs, maxCheckSteps } = this.#limits
    const { call } = turn
    if (this.#isClosed) throw clientIsGone()
    const asking = encodeAcpQuestion(question, abilities, maxCheckSteps)
    const id = ++this.#count
    const { toolCall, finish } = show(turn, asking.title, id)
    const answer = new Promise<unknown>((resolve, reject) => { this.#waiting.set(id, { resolve, reject }) })
    const withdraw = (reason: Fault): void => {
      if (!this.#waiting.has(id)) return
      this.#send(formatNotification('$/cancel_request', formatJson({ requestId: id })))
      // At once: the answer to the prompt may follow.
      finish('failed')
      this.#settle(id)?.reject(reason)
    }
    const late = new Fault('timeout', `The client did not answer within ${askTimeoutMs} ms`)
    let stop = (): void => {}
    const giveUp = (): void => withdraw(call.reason ?? new Fault('cancelled', 'The call has ended'))
    call.signal.addEventListener('abort', giveUp)
    turn.questions.add(withdraw)
    const params = { sessionId: turn.session.id, ...toolCall !== undefined && { toolCall }, ...asking.params }
    try {
      stop = startDeadline(askTimeoutMs, () => withdraw(late))
      this.#send(formatRequest(id, asking.method, formatJson(params)))
      const result = await answer
      finish('completed')
      return asking.decode(result)
    } catch (error) {
      finish('failed')
      throw error
    } finally {
      this.#settle(id)
      stop()
      turn.questions.delete(withdraw)
      call.signal.removeEventListener('abort', giveUp)
    }
  }

  /** Takes a response of the client; what answers no question is dropped. */
  take(id: Id, result: unknown, error: unknown): void {
    const waiting = this.#settle(id)
    // Some clients send null for what is not there.
    if (error === undefined || error === null) return waiting?.resolve(result)
    const { code, message } = isRecord(error) ? error : {}
    const why = typeof message === 'string' ? message : 'no reason given'
    waiting?.reject(new Fault('failed', `The client refused to answer: ${why}`, { code }))
  }

  /** No answer will come any more. */
  close(): void {
    this.#isClosed = true
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(clientIsGone())
  }

  #settle(id: Id): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }
}

function clientIsGone(): Fault {
  return new Fault('cancelled', 'The client has closed its end')
}

/** Shows what a permission is asked for, as the call of a tool. `finish` says once how that ended. */
function show(turn: PromptTurn, title: string | undefined, id: number): {
  readonly toolCall: object | undefined
  finish(status: Status): void
} {
  if (title === undefined) return { toolCall: undefined, finish() {} }
  const toolCallId = turn.toolCallId(`question-${id}`)
  turn.update({ sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'pending' })
  let isFinished = false
  return {
    toolCall: { toolCallId, title },
    finish(status) {
      if (!isFinished) turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status })
      isFinished = true
    },
  }
}
