/**
 * What one turn of a task needs to be run again from the top: the request that began it, the answers that
 * were given to its questions, and the results of what must happen once. There is nothing before the first of
 * them, or before it is known that the turn may have to be run again.
 */
import { Fault } from '../define/fault.ts'
import type { TaskTurn } from './task.ts'

const nothing: Readonly<Record<string, unknown>> = Object.freeze({})

/** What a turn began with. */
export type Begun = Omit<TaskTurn, 'answers' | 'results'>

/** The memory of one turn. */
export class RunMemory {
  readonly #begun: () => Begun
  readonly #maxBytes: number
  #turn: TaskTurn | undefined
  /** Of the results, as JSON. */
  #bytes = 0

  /** `begun` is asked when there is something to keep; `before` is what an earlier run has left. */
  constructor(begun: () => Begun, maxBytes: number, before: TaskTurn | undefined) {
    this.#begun = begun
    this.#maxBytes = maxBytes
    this.#turn = before
    if (before !== undefined) this.#bytes = JSON.stringify(before.results).length
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

  /**
   * Keeps a result, and gives it as it will be found again: what is no JSON is null. Throws
   * `Fault('too-large')` where all results are over the bound.
   */
  keepResult(key: string, result: unknown): unknown {
    const json: string = JSON.stringify(result) ?? 'null'
    this.#bytes += json.length
    if (this.#bytes > this.#maxBytes) {
      throw new Fault('too-large', `The results of call.once are larger than ${this.#maxBytes} bytes`)
    }
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

function own(values: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(values, key) ? values[key] : undefined
}
