/** The tasks of processes that share a store: where they are kept, and how one goes on elsewhere. */
import { reapOrphans } from './orphan-reaper.ts'
import { RemoteTasks } from './remote-tasks.ts'
import { StoredTasks } from './stored-tasks.ts'
import { TaskRecovery } from './task-recovery.ts'
import type { TaskForm } from './tasks-floor.ts'

export const sharedTasks: TaskForm = {
  store: ({ store, cluster }, table, { limits, log }) => new StoredTasks(store, cluster, table, limits, log),
  begin(at, { store, channels }) {
    const recovery = new TaskRecovery(at)
    reapOrphans(at, recovery, store)
    return { recovery, remoteTasks: new RemoteTasks(at, channels, recovery) }
  },
}
