/** The tasks of a server: made when a part first asks for them. Where processes share a store, theirs too. */
import { storeOf } from '../memory/store-of.ts'
import { sharedOf } from '../shared/shared.ts'
import { reapOrphans } from './orphan-reaper.ts'
import { RemoteTasks } from './remote-tasks.ts'
import { TaskRecovery } from './task-recovery.ts'
import { Tasks } from './tasks.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Gauge } from '../../kernel/util/gauge.ts'
import type { Lifetime } from '../../kernel/util/lifetime.ts'

class TaskFloor implements Lifetime {
  readonly tasks: Tasks
  readonly recovery: TaskRecovery | undefined
  readonly remoteTasks: RemoteTasks | undefined
  readonly #service: Service

  constructor(service: Service) {
    const { limits, log, workload } = service
    const shared = sharedOf(service)
    this.#service = service
    this.tasks = new Tasks(limits, storeOf(service), log, shared?.cluster)
    const { stored } = this.tasks
    if (shared === undefined || stored === undefined) return
    const at = { tasks: this.tasks, stored, cluster: shared.cluster, workload, limits, log }
    this.recovery = new TaskRecovery(at)
    reapOrphans(at, this.recovery, shared.store)
    this.remoteTasks = new RemoteTasks(at, shared.channels, this.recovery)
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
