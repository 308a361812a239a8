/** The tasks of a server: made when a part first asks for them. Where processes share a store, theirs too. */
import { sharedOf } from '../shared/shared-of.ts'
import { Tasks } from './tasks.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Gauge } from '../../kernel/util/gauge.ts'
import type { Lifetime } from '../../kernel/util/lifetime.ts'
import type { SharedForm, SharedProcesses } from '../shared/shared.ts'
import type { RemoteTasks } from './remote-tasks.ts'
import type { StoredTasks } from './stored-tasks.ts'
import type { TaskRecovery, TaskSurroundings } from './task-recovery.ts'
import type { TaskTable } from './task-table.ts'

/** What becomes of tasks where processes share the store. */
export interface TaskForm {
  /** Where those of a table are kept. */
  store(shared: SharedProcesses, table: TaskTable, service: Service): StoredTasks
  /** Begins to look after those of other processes. */
  begin(at: TaskSurroundings, shared: SharedProcesses): {
    readonly recovery: TaskRecovery
    readonly remoteTasks: RemoteTasks
  }
}

export const taskForm: SharedForm<TaskForm> = { name: 'tasks' }

class TaskFloor implements Lifetime {
  readonly tasks: Tasks
  readonly recovery: TaskRecovery | undefined
  readonly remoteTasks: RemoteTasks | undefined
  readonly #service: Service

  constructor(service: Service) {
    const { limits, log, workload } = service
    const shared = sharedOf(service)
    const form = shared?.form(taskForm)
    this.#service = service
    this.tasks = new Tasks(limits, shared && form && ((table) => form.store(shared, table, service)))
    const { stored } = this.tasks
    if (shared === undefined || form === undefined || stored === undefined) return
    const at = { tasks: this.tasks, stored, cluster: shared.cluster, workload, limits, log }
    const { recovery, remoteTasks } = form.begin(at, shared)
    this.recovery = recovery
    this.remoteTasks = remoteTasks
  }

  status(): object {
    const { running, finished, bytes } = this.tasks
    return { tasks: { running, finished, bytes } }
  }

  gauges(): readonly Gauge[] {
    const { running, finished, bytes } = this.tasks
    return [
      ['triport_task_bytes', 'What all tasks hold.', bytes],
      ['triport_tasks', 'Tasks that are kept.', { running, finished }, 'state'],
    ]
  }

  handOver(): void {
    this.tasks.stored?.handOver()
  }

  cancel(): void {
    this.tasks.stopWatchers()
    this.remoteTasks?.stopWatchers()
  }

  async release(): Promise<void> {
    const shared = sharedOf(this.#service)
    const isWritten = await this.tasks.stored?.written() ?? true
    if (shared !== undefined && !isWritten) shared.isSettled = false
  }
}

function makeFloor(service: Service): TaskFloor {
  return new TaskFloor(service)
}

function floorOf(service: Service): TaskFloor {
  return service.use(makeFloor)
}

export function tasksOf(service: Service): Tasks {
  return floorOf(service).tasks
}

/** Undefined where no processes share the store, as are those below. */
export function remoteTasksOf(service: Service): RemoteTasks | undefined {
  return floorOf(service).remoteTasks
}

export function recoveryOf(service: Service): TaskRecovery | undefined {
  return floorOf(service).recovery
}
