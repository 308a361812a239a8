/**
 * What was said in a task, in order: the messages of its client, and what its agent said of each state that
 * is past. Bounded in number and in bytes.
 */
import { bytesOfMessage } from './task-size.ts'
import type { Limits } from '../define/limits.ts'
import type { Task, TaskMessage } from './task.ts'

/** The history of a task, with what its agent says of the present state. */
export function historyOf(task: Task, limits: Limits): readonly TaskMessage[] {
  const { history, status: { message } } = task
  const isThere = message === undefined || history.some(({ id }) => id === message.id)
  return isThere ? history : historyWith(task, message, limits)
}

/** A history with one more message. The oldest make room, but not the one that began the present turn. */
export function historyWith(
  { history, turn }: Task, message: TaskMessage, { conversationMessages, maxResultBytes }: Limits,
): readonly TaskMessage[] {
  const longer = [...history, message]
  let bytes = 0
  for (const one of longer) bytes += bytesOfMessage(one)
  let at = 0
  while (at < longer.length - 1 && (longer.length > conversationMessages || bytes > maxResultBytes)) {
    if (longer[at]!.id === turn?.messageId) at += 1
    else bytes -= bytesOfMessage(longer.splice(at, 1)[0]!)
  }
  return longer
}
