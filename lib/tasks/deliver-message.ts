/**
 * A message to a task that waits, heard where its run is: it answers the questions that are open, or they are
 * asked again.
 */
import { answersFrom } from './question-answer.ts'
import type { Task, TaskMessage } from './task.ts'
import type { Tasks } from './tasks.ts'

/**
 * Puts a message into the task, and gives its run what it answers, where there is a run. Returns the answers
 * by the key of each question; undefined where something was asked and the message answers nothing of it.
 */
export function hear(
  tasks: Tasks, { id, questions, status: { state, message: asked } }: Task, message: TaskMessage,
  maxSteps: number,
): ReadonlyMap<string, unknown> | undefined {
  const answers = answersFrom(questions, message.parts, maxSteps)
  tasks.addMessage(id, message)
  if (questions.length > 0 && answers.size === 0) {
    tasks.move(id, state, { message: asked?.parts })
    return undefined
  }
  tasks.runOf(id)?.answer(answers)
  return answers
}
