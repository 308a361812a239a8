/** Turns of tasks whose process has died: which of them are run again here, and from what. */
import { isInterrupted, originOf, turnMessage } from '../../../floors/tasks/task.ts'
import { asFault } from '../../../kernel/define/fault.ts'
import { isThenable } from '../../../kernel/util/thenable.ts'
import { agentNamed, toolCallFor } from '../model/tool-agent.ts'
import { AgentTurn } from './agent-turn.ts'
import { isRerunFor } from './run-message.ts'
import type { Task } from '../../../floors/tasks/task.ts'
import type { TaskRunner } from '../../../floors/tasks/task-recovery.ts'
import type { Tasks } from '../../../floors/tasks/tasks.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { TurnSetup } from './agent-turn.ts'

/** Runs tasks again whose process has died, from the message that began their turn. */
export function a2aRunner(service: Service, tasks: Tasks): TaskRunner {
  const setupOf = (task: Task): TurnSetup | undefined => {
    const { runnable, turn } = task
    const agent = agentNamed(service, runnable.name)
    const message = turnMessage(task)
    const request = turn?.request
    if (agent === undefined || message === undefined || request === undefined) return undefined
    const { said } = request
    const extensions = Array.isArray(said) ? said.filter((uri) => typeof uri === 'string') : []
    return {
      service, tasks, agent, tool: toolCallFor(service, agent, message.parts), origin: originOf(request),
      message, metadata: turn?.metadata, extensions, task, isReserved: false, isNamed: true,
      isRerun: turn?.isRerun === true,
    }
  }
  return {
    serves(task) {
      const setup = setupOf(task)
      if (setup === undefined) return false
      return isInterrupted(task.status.state) || isRerunFor(setup.agent, setup.tool)
    },
    run(task) {
      const setup = setupOf(task)
      if (setup === undefined) return
      const turn = new AgentTurn(setup)
      turn.resume()
      const outcome = turn.execute()
      if (isThenable(outcome)) outcome.then(undefined, (cause: unknown) => {
        service.log('error', 'A run could not be begun again', { task: task.id, cause: asFault(cause) })
      })
    },
  }
}
