/**
 * The process of a server among those that share its store, for what serves one with and without: nothing is
 * imported that only sharing needs.
 */
import type { Service } from '../../kernel/run/service.ts'
import type { SharedProcesses } from './shared.ts'

/** Undefined where no processes share the store. */
export function sharedOf({ sharing }: Service): SharedProcesses | undefined {
  return sharing !== undefined && 'channels' in sharing ? sharing as SharedProcesses : undefined
}
