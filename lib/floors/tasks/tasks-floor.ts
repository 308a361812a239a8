/** The tasks of a server: made when a part first asks for them. Where processes share a store, theirs too. */
import { sharedOf } from '../shared/shared-of.ts'
import { Tasks } from './tasks.ts'
import type { Task, Watcher } from './task.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Gauge } from '../../kernel/util/gauge.ts'
import type { Lifetime } from '../../kernel/util/lifetime.ts'
import type { SharedForm, SharedProcesses } from '../shared/shared.ts'
import type { RemoteTasks } from './remote-tasks.ts'
import type { TaskRecovery } from './task-recovery.ts'

/** Makes the tasks of a server that shares its store, and begins to look after those of other processes. */
export type TaskForm = (service: Service, shared: SharedProcesses) => {
  readonly tasks: Tasks
  readonly recovery: TaskRecovery
  readonly remoteTasks: RemoteTasks
}

export const taskForm: SharedForm<TaskForm> = { name: 'tasks' }

class TaskFloor implements Lifetime {
  readonly tasks: Tasks
  readonly recovery: TaskRecovery | undefined
  readonly remoteTasks: RemoteTasks | undefined
  readonly #service: Service

  constructor(service: Service) {
    const shared = sharedOf(service)
    const made = shared?.form(taskForm)?.(service, shared)
    this.#service = service
    this.tasks = made?.tasks ?? new Tasks(service.limits)
    this.recovery = made?.recovery
    this.remoteTasks = made?.remoteTasks
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

/**
 * Follows a task wherever it runs: `begin` gets it as it stands, and again where events were missed;
 * `watcher` gets each event after it. The returned function ends it.
 */
export function followTask(
  service: Service, task: Task, begin: (task: Task) => void, watcher: Watcher,
): () => void {
  const { tasks, remoteTasks } = floorOf(service)
  const { owner, id } = task
  let leave = (): void => {}
  const followRemote = (remote: RemoteTasks): void => { leave = remote.follow(task, begin, watcher) }
  const watched = tasks.watch(owner, id, (event, after) => {
    // It has gone to another process, or nothing more comes from here.
    if (event.what === 'forgotten' && remoteTasks !== undefined) return followRemote(remoteTasks)
    return watcher(event, after)
  })
  if (watched !== undefined) {
    leave = watched.stop
    begin(watched.task)
  } else if (remoteTasks !== undefined) {
    followRemote(remoteTasks)
  } else {
    // Without a store nothing has to be waited for.
    const now = tasks.get(owner, id) as Task | undefined
    if (now === undefined) void watcher({ what: 'forgotten' }, { task })
    else begin(now)
  }
  return () => leave()
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
