/**
 * Responses that can be read again and gone on with: one entry of the store each, with the items of its
 * conversation; how one stands that runs in the background is what its task says. One belongs to one
 * principal; for every other it does not exist.
 */
import { keptStoreOf } from '../../../floors/conversations/kept-store.ts'
import { tasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { keyOf } from '../../../kernel/store/store.ts'
import {
  decoded, isText, manyOf, optional, readStored, recordOf,
} from '../../../floors/shared/stored-value.ts'
import { andThen } from '../../../kernel/util/thenable.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import type { Task } from '../../../floors/tasks/task.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { StoreKey } from '../../../kernel/store/store.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { ResponseItem } from './response-input.ts'

export interface KeptResponse {
  readonly response: ResponseItem
  /** The input of the response. */
  readonly input: readonly ResponseItem[]
  /** All items of the conversation, the oldest first, its input and output among them. */
  readonly items: readonly ResponseItem[]
}

const COLLECTION = 'responses'

const areItems = manyOf(recordOf<ResponseItem>({ type: optional(isText), role: optional(isText) }))
const isKept = recordOf<KeptResponse>({
  response: recordOf({ id: isText, status: isText }), input: areItems, items: areItems,
})

function keyFor(owner: string, id: string): StoreKey {
  return { collection: COLLECTION, owner: keyOf(owner), key: keyOf(id) }
}

/**
 * `response`: its JSON text. `runMs`: how long it may still run. Throws, or rejects with, `Fault('busy')`
 * where the store cannot be reached or has no room.
 */
export function keepResponse(
  service: Service, owner: string, id: string, response: string,
  { input, items }: Omit<KeptResponse, 'response'>, runMs = 0,
): MaybePromise<void> {
  const { conversationBytes, conversationIdleMs } = service.limits
  const head = `{"response":${response},"input":${formatJson(input)},"items":`
  const whole = `${head}${formatJson(items)}}`
  const value = whole.length <= conversationBytes ? whole
    : `${head}${formatJson(within(items, conversationBytes))}}`
  const written = keptStoreOf(service).write(keyFor(owner, id), value, conversationIdleMs + runMs, 'any')
  return andThen(written, () => undefined)
}

/**
 * Undefined where there is none; `length`: characters of what was read. Throws, or rejects with,
 * `Fault('busy')`.
 */
export function readResponse(
  service: Service, owner: string, id: string,
): MaybePromise<KeptResponse & { readonly length: number } | undefined> {
  return andThen(keptStoreOf(service).read(keyFor(owner, id)), (entry) => {
    const kept = readStored(COLLECTION, entry, decoded(isKept), service.log)
    return kept && entry && { ...kept, length: entry.value.length }
  })
}

/** False where there was none. */
export function removeResponse(service: Service, owner: string, id: string): MaybePromise<boolean> {
  return keptStoreOf(service).remove(keyFor(owner, id), 'any')
}

/** The last items, of which at least the last remains, and what the user has said last. */
function within(items: readonly ResponseItem[], maxBytes: number): readonly ResponseItem[] {
  let bytes = 0
  const first = items.findLastIndex((item) => {
    bytes += formatJson(item).length
    return bytes > maxBytes
  })
  const start = Math.min(first + 1, items.length - 1)
  const said = items.findLastIndex(({ role }) => role === 'user')
  // Without it there is nothing to go on with.
  return said < start ? [...items.slice(said, said + 1), ...items.slice(start)] : items.slice(start)
}

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
