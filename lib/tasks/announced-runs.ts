/**
 * Runs of tasks as they are announced in the store before anything of them is: under the name of the process
 * that runs them. When that process has died, others find there what it left.
 */
import { SYSTEM_OWNER, keyOf } from '../state/store.ts'
import type { StoreKey } from '../state/store.ts'
import type { Task } from './task.ts'

/** The collection. */
export const RUNS = 'runs'

/** Where the run of a task is announced. */
export function runPlace(node: string, { id }: { readonly id: string }): StoreKey {
  return { collection: RUNS, owner: SYSTEM_OWNER + node, key: keyOf(id) }
}

/** What is announced. */
export function formatRun({ owner, id }: Pick<Task, 'owner' | 'id'>): string {
  return JSON.stringify([owner, id])
}
