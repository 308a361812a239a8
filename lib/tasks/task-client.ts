/**
 * The client behind a task, as its door knows it: what it can be asked, and how it hears of what has no place
 * in the task itself. Types alone; whoever runs a task is in `task-run.ts`.
 */
import type { Ability, Question } from '../define/question.ts'
import type { TaskMessage, TaskQuestion, TaskState } from './task.ts'

/** What a door knows of the client behind a task. */
export interface TaskClient {
  /** Whether the client can be asked in this way. */
  can(what: Ability): boolean
  /** Throws a `Fault` for a question that the client cannot be asked. */
  check?(question: Question): void
  /** An answer that the client has given before there was a task; undefined where there is none. */
  known?(question: Question): unknown
  /** What the task says of itself while questions are open. Left out: `input-required`, without words. */
  show?(open: readonly TaskQuestion[]): { readonly state: TaskState; readonly message: TaskMessage['parts'] }
  /**
   * Whether the run may end while its questions wait: their answers begin it again. Left out: it fails when
   * `askTimeoutMs` is over.
   */
  readonly isResumable?: boolean
  /** Side effects of before there was a task; those since then `remember` does. */
  once?(key: string, fn: () => unknown): Promise<unknown>
  /** Hears of progress besides its text, which becomes the task's message. */
  progress?(done: number, total: number | undefined, text: string | undefined, taskId: string): void
  /** Tells the client that what an address was opened for is done. */
  completeElicitation?(elicitationId: string): void
}
