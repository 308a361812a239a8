/** A response as its owner finds it: what is kept of it, and how its task stands where it runs. */
import { tasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { readResponse } from './kept-responses.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Task } from '../../../floors/tasks/task.ts'
import type { KeptResponse } from './kept-responses.ts'
import type { ResponseItem } from './response-input.ts'

/** Rejects with `Fault('not-found')` where the owner has none of that id. */
export async function requireResponse(service: Service, owner: string, id: string): Promise<KeptResponse> {
  const kept = await readResponse(service, owner, id)
  if (kept !== undefined) return kept
  throw unknownResponse(id)
}

export function unknownResponse(id: string): Fault {
  return new Fault('not-found', absence(id), { param: null, code: 'response_not_found' })
}

export function absence(id: string): string {
  return `You have no response '${id.slice(0, 60)}': it was not stored, or was kept long enough`
}

/** The task of a response in the background. Undefined where it is over and forgotten, or never was. */
export async function responseTask(service: Service, owner: string, id: string): Promise<Task | undefined> {
  const task = await tasksOf(service).get(owner, id)
  return task?.protocol === 'http' ? task : undefined
}

/** A response that has not been completed ends as its task did. */
export async function responseNow(
  service: Service, owner: string, id: string, { response }: KeptResponse,
): Promise<ResponseItem> {
  if (response['status'] !== 'in_progress') return response
  const task = await responseTask(service, owner, id)
  const state = task?.status.state
  if (state === 'canceled') return { ...response, status: 'cancelled' }
  if (task !== undefined && state !== 'failed' && state !== 'completed') return response
  // It may have been completed since it was read.
  const now = (await readResponse(service, owner, id))?.response ?? response
  if (now['status'] !== 'in_progress') return now
  const lost = state === 'completed' ? 'It could not be kept' : 'The process that ran it has ended'
  const message = task?.fault?.message ?? lost
  return { ...now, status: 'failed', error: { code: 'server_error', message } }
}
