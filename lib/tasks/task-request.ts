/**
 * The request that began a task, as it is kept for a run in another process, and made again there: who asked,
 * and what a handler can read of it. Whoever asked has left by then.
 */
import type { Origin } from '../define/call.ts'
import type { TurnRequest } from './task.ts'

/** What is kept of a request. `said`: what its door alone reads; it must be JSON. */
export function requestOf({ requestId, principal, headers }: Origin, said: unknown): TurnRequest {
  return { requestId, principal, headers: [...headers], said }
}

/** The origin of a request that was kept. */
export function originOf({ requestId, principal, headers }: TurnRequest): Origin {
  const map = new Map(headers)
  return { requestId, principal, headers: map, header: (name) => map.get(name), onDisconnect() {} }
}
