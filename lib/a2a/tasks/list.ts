/**
 * The tasks of a client, page by page: the one whose status changed last first. A page goes on from the last
 * task of the one before it by its time and id, so that nothing is lost where that task is gone.
 * Spec: A2A 1.0 §3.1.4.
 */
import { isThenable } from '../../util/thenable.ts'
import { wrongField } from '../model/fields.ts'
import { isVisible } from './find-task.ts'
import { viewOf } from '../model/task-view.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import { wholeTask } from '../../tasks/task.ts'
import type { ListedTask, Task } from '../../tasks/task.ts'
import type { ListRequest, TaskPage } from '../model/model.ts'
import type { A2aRequest } from './request.ts'

/** How long a page may be followed by the next, in milliseconds. */
const CURSOR_MS = 24 * 60 * 60_000

/** Where a page ended. */
interface Cursor { readonly at: string; readonly id: string }

/** One page. */
export function listTasks(visit: A2aRequest, request: ListRequest): MaybePromise<TaskPage> {
  const { service: { tasks }, exchange: { origin: { principal } } } = visit
  const after = request.pageToken === '' ? undefined : openCursor(visit, request.pageToken)
  const all = tasks.list(principal.id)
  return isThenable(all) ? all.then((some) => page(visit, request, some, after))
    : page(visit, request, all, after)
}

function page(
  visit: A2aRequest, request: ListRequest, all: readonly ListedTask[], after: Cursor | undefined,
): TaskPage {
  const { pageSize, historyLength, withArtifacts } = request
  const shown: Task[] = []
  let totalSize = 0
  let isMore = false
  let isPast = after === undefined
  for (const listed of all) {
    if (!isWanted(visit, request, listed)) continue
    totalSize += 1
    if (isMore) continue
    isPast ||= after !== undefined && isBehind(listed, after)
    if (!isPast) continue
    if (shown.length < pageSize) shown.push(wholeTask(listed))
    else isMore = true
  }
  const last = shown.at(-1)
  return {
    tasks: shown.map((task) => viewOf(task, historyLength, withArtifacts)),
    nextPageToken: isMore && last !== undefined ? sealCursor(visit, last) : '',
    pageSize,
    totalSize,
  }
}

function isWanted(visit: A2aRequest, request: ListRequest, task: ListedTask): boolean {
  const { tenant, contextId, state, changedSince } = request
  return isVisible(visit, tenant, task)
    && (contextId === undefined || task.contextId === contextId)
    && (state === undefined || task.status.state === state)
    && (changedSince === undefined || task.status.at >= changedSince)
}

function isBehind({ id, status: { at } }: ListedTask, cursor: Cursor): boolean {
  return at === cursor.at ? id < cursor.id : at < cursor.at
}

function sealCursor({ seal, exchange: { origin } }: A2aRequest, { id, status: { at } }: Task): string {
  return seal.seal('a2a-tasks', [origin.principal.id, at, id], Date.now() + CURSOR_MS)
}

function openCursor({ seal, exchange: { origin } }: A2aRequest, token: string): Cursor {
  const opened = seal.open('a2a-tasks', token)
  const [owner, at, id]: readonly unknown[] = Array.isArray(opened) ? opened : []
  if (owner === origin.principal.id && typeof at === 'string' && typeof id === 'string') return { at, id }
  throw wrongField('params', 'pageToken', 'must be the nextPageToken of a page before it')
}
