/**
 * What comes of a call that may be a task, and the methods of tasks, for both generations; loaded when the
 * first of these is called.
 */
import { recoveryOf, tasksOf } from '../../floors/tasks/tasks-floor.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { isInterrupted } from '../../floors/tasks/task.ts'
import { isName, MAX_NAME_BYTES } from '../../kernel/wire/bounded.ts'
import { MAX_SUBSCRIPTIONS } from '../mcp/session/session.ts'
import { isOurs, keptFactsOf, observeTask } from './mcp-task.ts'
import { augmentation, serveTaskQuestions } from './task-augmentation.ts'
import { extension, shapeOf } from './task-extension.ts'
import { requireTasks } from './wanted-task.ts'
import type { Task } from '../../floors/tasks/task.ts'
import type { TaskRunner } from '../../floors/tasks/task-recovery.ts'
import type { Quota } from '../../kernel/util/quota.ts'
import type { Tool } from '../../kernel/define/tool.ts'
import type { Followed, McpResult } from '../mcp/methods/extension.ts'
import type { McpContext } from '../mcp/request/context.ts'
import type { McpFacts, McpRequest } from '../mcp/request/request.ts'
import type { Generation, KeptFacts, TaskMethod } from './mcp-task.ts'

/** How the client of a call has tasks. */
export function generationOf({ peer }: McpFacts): Generation {
  return peer.revision.tasks === 'augmentation' ? augmentation : extension
}

/** A method of the tasks of a client. `waiting`: all requests that wait for the end of a task. */
export function runTaskMethod(name: TaskMethod, waiting: Quota, request: McpRequest): McpResult {
  if (request.peer.revision.tasks === 'extension') requireTasks(request)
  // Only what its revision has is called.
  return generationOf(request).methods[name]!(request, waiting)
}

/** Answers for the tasks of processes that share the store. */
export function takeOverTasks(mcp: McpContext): void {
  serveTaskQuestions(mcp)
  recoveryOf(mcp.service)?.register('mcp', mcpRunner(mcp))
}

/** Runs MCP tasks again. */
function mcpRunner(mcp: McpContext): TaskRunner {
  const keptOf = (task: Task): readonly [KeptFacts, Tool] | undefined => {
    const facts = keptFactsOf(mcp, task)
    const tool = mcp.tools.named(task.runnable.name)
    return facts && tool && tool.task !== 'forbidden' ? [facts, tool] : undefined
  }
  return {
    serves(task) {
      const kept = keptOf(task)
      return kept !== undefined && (isInterrupted(task.status.state) || kept[1].recover === 'rerun')
    },
    run(task) {
      const kept = keptOf(task)
      if (kept === undefined) return
      const [facts, tool] = kept
      generationOf(facts).rerun(facts, tool, task)
    },
  }
}

/** Follows those of the tasks that are the client's own, in whichever process they run. */
export async function followTasks(request: McpRequest, taskIds: unknown): Promise<Followed> {
  const { mcp: { service }, origin: { principal } } = request
  const wanted = idsIn(request, taskIds)
  const tasks = (await Promise.all(wanted.map((id) => tasksOf(service).get(principal.id, id)))).filter(isOurs)
  return {
    member: 'taskIds',
    ids: tasks.map(({ id }) => id),
    follow(notify) {
      const stops = tasks.map((task) => observeTask(service, task, (now, isGone) => {
        if (!isGone) notifyOf(request, now, notify)
      }))
      return () => { for (const stop of stops) stop() }
    },
  }
}

function notifyOf(request: McpRequest, task: Task, notify: (method: string, params: object) => void): void {
  let shape
  try {
    shape = shapeOf(request, task)
  } catch {
    // Its question is one that this client cannot be asked; the client that began it can.
    return
  }
  notify('notifications/tasks', shape)
}

/** The ids in `notifications.taskIds`, each once. */
function idsIn(request: McpRequest, value: unknown): readonly string[] {
  requireTasks(request)
  if (!Array.isArray(value) || value.length > MAX_SUBSCRIPTIONS || !value.every(isName)) {
    const rule = `must be at most ${MAX_SUBSCRIPTIONS} strings of ${MAX_NAME_BYTES} bytes`
    throw new Fault('invalid', `params.notifications.taskIds ${rule}`)
  }
  return [...new Set(value)]
}
