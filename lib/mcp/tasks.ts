/**
 * The tasks extension as clients see it: who may use it, a task's shape, its three methods, and what those
 * hear who listen to a task. How a run becomes a task is in `task-run.ts`.
 *
 * A task belongs to a principal; for every other, and for those who have not declared the extension, it
 * does not exist. Spec: MCP SEP-2663; https://modelcontextprotocol.io/seps/2663-tasks-extension
 */
import { isRecord, textOf } from '../core/content.ts'
import { Fault } from '../core/fault.ts'
import { isFinished } from '../core/task.ts'
import { MAX_SUBSCRIPTIONS } from './session.ts'
import type { Limits } from '../core/defaults.ts'
import type { Task, TaskState } from '../core/task.ts'
import type { Tool } from '../core/tool.ts'
import type { TaskRun } from './task-run.ts'
import type { McpRequest } from './request.ts'

/** The name by which both sides declare it. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** How often a client should look, in milliseconds: a person waits no longer than that for what is done. */
const POLL_MS = 1_000

const statuses: Readonly<Record<TaskState, string>> = {
  'submitted': 'working', 'working': 'working',
  'input-required': 'input_required', 'auth-required': 'input_required',
  'completed': 'completed', 'failed': 'failed', 'canceled': 'cancelled', 'rejected': 'failed',
}

/**
 * Whether a call of the tool may be answered with a task. Throws `Fault('unsupported')` for a tool that
 * needs one and a client that does not know them; revisions without tasks run it like any other.
 */
export function mayBecomeTask(request: McpRequest, tool: Tool): boolean {
  if (tool.task === 'forbidden' || !request.peer.revision.methods.has('tasks/get')) return false
  if (tool.task === 'required') requireTasks(request)
  return knowsTasks(request)
}

function knowsTasks({ peer }: McpRequest): boolean {
  const { extensions } = peer.capabilities
  return isRecord(extensions) && isRecord(extensions[TASKS])
}

function requireTasks(request: McpRequest): void {
  if (knowsTasks(request)) return
  throw new Fault('unsupported', `This client has not declared the extension ${TASKS}`, {
    ability: 'tasks', requiredCapabilities: { extensions: { [TASKS]: {} } },
  })
}

/** A task as it stands: its state, and what belongs to that state. */
export function taskShape(task: Task, limits: Limits): Readonly<Record<string, unknown>> {
  const { id, createdAt, status, extra } = task
  return {
    taskId: id,
    status: statuses[status.state],
    ...status.message !== undefined && { statusMessage: textOf(status.message) },
    createdAt,
    lastUpdatedAt: status.at,
    ttlMs: lifeOf(task, limits),
    pollIntervalMs: POLL_MS,
    ...isRecord(extra['mcp']) && extra['mcp'],
  }
}

/** From a task's creation to when it may be forgotten, which is counted from its end. `null`: never. */
function lifeOf({ createdAt, status }: Task, { taskKeepMs }: Limits): number | null {
  if (!Number.isFinite(taskKeepMs)) return null
  const until = isFinished(status.state) ? Date.parse(status.at) : Date.now()
  return Math.floor(taskKeepMs) + Math.max(0, until - Date.parse(createdAt))
}

/** Does something with the task that the request names, and with its run, if it runs here. */
function onTask(
  request: McpRequest, act: (task: Task, run: TaskRun | undefined) => object,
): object | Promise<object> {
  requireTasks(request)
  const { mcp, origin, params: { taskId } } = request
  if (typeof taskId !== 'string') throw new Fault('invalid', 'params.taskId must be a string')
  const found = mcp.service.tasks.get(origin.principal.id, taskId)
  const go = (task: Task | undefined): object => {
    if (!isOurs(task)) throw new Fault('invalid', `Unknown task: ${taskId}`)
    return act(task, mcp.taskRuns.get(taskId))
  }
  return found instanceof Promise ? found.then(go) : go(found)
}

/** Other doors have tasks too. */
function isOurs(task: Task | undefined): task is Task {
  return task !== undefined && isRecord(task.extra['mcp'])
}

/** `tasks/get`. */
export function getTask(request: McpRequest): object | Promise<object> {
  return onTask(request, (task) => taskShape(task, request.mcp.service.limits))
}

/** `tasks/update`: brings answers. */
export function updateTask(request: McpRequest): object | Promise<object> {
  return onTask(request, (_task, run) => {
    const { inputResponses } = request.params
    if (!isRecord(inputResponses)) throw new Fault('invalid', 'params.inputResponses must be an object')
    run?.answer(inputResponses)
    return {}
  })
}

/** `tasks/cancel`: what has ended stays as it is. */
export function cancelTask(request: McpRequest): object | Promise<object> {
  return onTask(request, (_task, run) => {
    run?.cancel()
    return {}
  })
}

/** Tasks that somebody listens to. */
export interface Following {
  /** Those of the wanted ones that are the client's own. */
  readonly ids: readonly string[]
  /** Begins to tell: each task as it stands, then whenever it changes. */
  begin(tell: (task: object) => void): void
  stop(): void
}

/** Looks up the tasks that a client wants to hear of. */
export async function follow(request: McpRequest, wanted: readonly string[]): Promise<Following> {
  const { mcp: { service: { tasks, limits } }, origin: { principal: { id: owner } } } = request
  const found = await Promise.all(wanted.map((id) => tasks.get(owner, id)))
  const ids = found.filter(isOurs).map(({ id }) => id)
  const stops: (() => void)[] = []
  let isStopped = false
  return {
    ids,
    begin(tell) {
      const say = (task: Task | undefined): void => {
        if (task !== undefined && !isStopped) tell(taskShape(task, limits))
      }
      for (const id of ids) {
        const watched = tasks.watch(owner, id, (_event, task) => say(task))
        if (watched !== undefined) stops.push(watched.stop)
        const task = watched === undefined ? tasks.get(owner, id) : watched.task
        // A home that fails is heard of by whoever asks for the task.
        if (task instanceof Promise) task.then(say, () => {})
        else say(task)
      }
    },
    stop() {
      isStopped = true
      for (const stop of stops) stop()
    },
  }
}

/** The ids in `notifications.taskIds`; undefined where there are none. */
export function taskIdsIn(request: McpRequest, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined
  requireTasks(request)
  const isFine = Array.isArray(value) && value.length <= MAX_SUBSCRIPTIONS
    && value.every((id) => typeof id === 'string')
  if (!isFine) {
    throw new Fault('invalid', `params.notifications.taskIds must be at most ${MAX_SUBSCRIPTIONS} strings`)
  }
  return [...new Set(value)]
}
