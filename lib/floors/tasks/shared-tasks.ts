/** The tasks of processes that share a store: where they are kept, and how one goes on elsewhere. */
import { reapOrphans } from './orphan-reaper.ts'
import { RemoteTasks } from './remote-tasks.ts'
import { StoredTasks } from './stored-tasks.ts'
import { TaskRecovery } from './task-recovery.ts'
import { Tasks } from './tasks.ts'
import type { TaskForm } from './tasks-floor.ts'

export const sharedTasks: TaskForm = ({ limits, log, workload }, { store, cluster, channels }) => {
  const tasks = new Tasks(limits, (table) => new StoredTasks(store, cluster, table, limits, log))
  const at = { tasks, stored: tasks.stored!, cluster, workload, limits, log }
  const recovery = new TaskRecovery(at)
  reapOrphans(at, recovery, store)
  return { tasks, recovery, remoteTasks: new RemoteTasks(at, channels, recovery) }
}
