/**
 * A task that is run again from the top, in another process than the one that began it: the message that
 * began its turn is found in its history, and everything else a handler reads is kept with the turn.
 */
import { asFault } from '../../define/fault.ts'
import { originOf } from '../../run/task-run.ts'
import { isInterrupted } from '../../tasks/task.ts'
import { agentNamed } from '../model/tool-agent.ts'
import { TaskTurnRun } from './task-turn-run.ts'
import { isRerunFor, workFor } from './work.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Service } from '../../run/service.ts'
import type { Task, TaskMessage, TurnRequest } from '../../tasks/task.ts'
import type { TaskRunner } from '../../tasks/task-recovery.ts'

interface Again {
  readonly agent: Agent | Group
  readonly message: TaskMessage
  readonly request: TurnRequest
}

/** Runs the tasks of this door again. */
export function a2aRunner(service: Service): TaskRunner {
  const find = ({ runnable, history, turn }: Task): Again | undefined => {
    const agent = agentNamed(service, runnable.name)
    const message = history.find(({ id }) => id === turn?.messageId)
    const request = turn?.request
    return agent === undefined || message === undefined || request === undefined ? undefined
      : { agent, message, request }
  }
  return {
    serves(task) {
      const again = find(task)
      if (again === undefined) return false
      const { agent, message } = again
      return isInterrupted(task.status.state) || isRerunFor({ service, agent }, message.parts)
    },
    run(task) {
      const again = find(task)
      if (again === undefined) return
      const { agent, message, request } = again
      const { said } = request
      const extensions = Array.isArray(said) ? said.filter((uri) => typeof uri === 'string') : []
      const turn = new TaskTurnRun({
        service, origin: originOf(request), message, metadata: task.turn?.metadata, extensions, task,
        isReserved: false, isRerun: task.turn?.isRerun === true,
        work: workFor({ service, agent }, task.contextId, true, message.parts),
      })
      turn.resume()
      turn.execute()?.catch((error: unknown) => service.log('error', 'A run could not be begun again', {
        task: task.id, cause: asFault(error),
      }))
    },
  }
}
