/**
 * What one turn of a task needs to be run again from the top: the answers that were given to its questions,
 * and the results of what must happen once. There is nothing before the first of them.
 */
import { Fault } from '../core/fault.ts'
import type { TaskTurn } from '../core/task.ts'

const nothing: Readonly<Record<string, unknown>> = Object.freeze({})

/** What a turn began with. */
type Begun = Pick<TaskTurn, 'messageId' | 'metadata'>

/** The memory of one turn. */
export class TurnMemory {
  readonly #begun: Begun
  readonly #maxBytes: number
  #turn: TaskTurn | undefined
  /** Of the results, as JSON. */
  #bytes = 0

  /** `before` is what an earlier run of the turn has left. */
  constructor(begun: Begun, maxBytes: number, before: TaskTurn | undefined) {
    this.#begun = begun
    this.#maxBytes = maxBytes
    this.#turn = before
  }

  /** All of it; undefined where there is nothing. */
  get turn(): TaskTurn | undefined { return this.#turn }

  /** The answer to a question; undefined where it has none. */
  answer(key: string): unknown {
    return this.#turn && own(this.#turn.answers, key)
  }

  /** The result of what has happened already; undefined where it has not. */
  result(key: string): unknown {
    return this.#turn && own(this.#turn.results, key)
  }

  keepAnswers(answers: ReadonlyMap<string, unknown>): void {
    this.#keep({ answers: { ...this.#turn?.answers, ...Object.fromEntries(answers) } })
  }

  /** Throws `Fault('too-large')` where all results are over the bound. What is no JSON is not kept. */
  keepResult(key: string, result: unknown): void {
    const json: string | undefined = JSON.stringify(result)
    if (json === undefined) return
    this.#bytes += json.length
    if (this.#bytes > this.#maxBytes) {
      throw new Fault('too-large', `The results of call.once are larger than ${this.#maxBytes} bytes`)
    }
    this.#keep({ results: { ...this.#turn?.results, [key]: JSON.parse(json) as unknown } })
  }

  /** The turn may have to be run again, whatever is kept. */
  begin(): void {
    this.#keep({})
  }

  #keep(more: Partial<TaskTurn>): void {
    const { messageId, metadata } = this.#begun
    this.#turn = { messageId, metadata, answers: nothing, results: nothing, ...this.#turn, ...more }
  }
}

function own(values: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(values, key) ? values[key] : undefined
}
