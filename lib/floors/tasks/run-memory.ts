/**
 * What one turn of a task needs to be run again from the top: the answers that it was given, and the results
 * of what must happen once.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { keptAnswer, withAnswers } from './question-answer.ts'
import type { Question } from '../../kernel/define/question.ts'
import type { TaskQuestion, TaskTurn } from './task.ts'

export type Begun = Omit<TaskTurn, 'answers' | 'results'>

const nothing: Readonly<Record<string, unknown>> = Object.freeze({})

/** There is nothing to keep before the first answer or result, or `begin`. */
export class RunMemory {
  readonly #begun: () => Begun
  readonly #maxBytes: number
  #turn: TaskTurn | undefined
  #bytes = 0

  /** `begun` is called when there is something to keep; `before` is what an earlier run has left. */
  constructor(begun: () => Begun, maxBytes: number, before: TaskTurn | undefined) {
    this.#begun = begun
    this.#maxBytes = maxBytes
    this.#turn = before
    if (before !== undefined) this.#bytes = Buffer.byteLength(formatJson(before.results))
  }

  get turn(): TaskTurn | undefined { return this.#turn }

  /** The answer to a question; undefined where it has none. */
  answer(key: string, question: Question): unknown {
    return this.#turn && keptAnswer(this.#turn, key, question)
  }

  /** The result of what has happened already; undefined where it has not. */
  result(key: string): unknown {
    const results = this.#turn?.results ?? nothing
    return Object.hasOwn(results, key) ? results[key] : undefined
  }

  keepAnswers(answers: ReadonlyMap<string, unknown>, questions: readonly TaskQuestion[]): void {
    this.#keep(withAnswers(this.#turn ?? { answers: nothing }, answers, questions))
  }

  /**
   * Keeps a result, and returns it as it will be found again: what is no JSON is null. Throws
   * `Fault('too-large')` where all results are over the bound.
   */
  keepResult(key: string, result: unknown): unknown {
    const json: string = formatJson(result) ?? 'null'
    const bytes = this.#bytes + Buffer.byteLength(json)
    if (bytes > this.#maxBytes) {
      throw new Fault('too-large', `The results of call.once are larger than ${this.#maxBytes} bytes`)
    }
    this.#bytes = bytes
    const kept: unknown = JSON.parse(json)
    this.#keep({ results: { ...this.#turn?.results, [key]: kept } })
    return kept
  }

  /** The turn may have to be run again, whatever is kept. */
  begin(): void {
    if (this.#turn === undefined) this.#keep({})
  }

  #keep(more: Partial<TaskTurn>): void {
    this.#turn = { ...this.#turn ?? { ...this.#begun(), answers: nothing, results: nothing }, ...more }
  }
}
