/**
 * Tasks on `subscriptions/listen`: each as it stands, then whenever it changes, in whichever process it runs.
 *
 * Spec: MCP SEP-2663, `notifications/tasks`.
 */
import { Fault } from '../../define/fault.ts'
import { isThenable } from '../../util/thenable.ts'
import { isStrings } from '../../wire/json.ts'
import { MAX_SUBSCRIPTIONS } from '../session/subscriptions.ts'
import { requireTasks, shapeOf } from './task-extension.ts'
import { isOurs } from './task-shape.ts'
import type { Task } from '../../tasks/task.ts'
import type { McpRequest } from '../request/request.ts'

/** Tasks that somebody listens to. */
export interface Following {
  /** Those of the wanted ones that are the client's own. */
  readonly ids: readonly string[]
  /** Begins to tell: each task as it stands, then whenever it changes. */
  begin(tell: (task: object) => void): void
  stop(): void
}

/** Looks up the tasks that a client wants to hear of. */
export async function followTasks(request: McpRequest, wanted: readonly string[]): Promise<Following> {
  const { mcp: { service: { tasks, shared } }, origin: { principal: { id: owner } } } = request
  const found = await Promise.all(wanted.map((id) => tasks.get(owner, id)))
  const ids = found.filter(isOurs).map(({ id }) => id)
  const stops: (() => void)[] = []
  let isStopped = false
  return {
    ids,
    begin(tell) {
      const say = (task: Task | undefined): void => {
        if (task === undefined || isStopped) return
        let shape
        try {
          shape = shapeOf(request, task)
        } catch {
          // It asks what this client has not said that it can be asked: whoever began it can.
          return
        }
        tell(shape)
      }
      for (const task of found.filter(isOurs)) {
        const { id } = task
        if (shared !== undefined) {
          stops.push(shared.relay.follow(task, say, (event, after) => {
            if (event.what !== 'forgotten') say(after.task)
          }))
          continue
        }
        const watched = tasks.watch(owner, id, (_event, { task }) => say(task))
        if (watched !== undefined) stops.push(watched.stop)
        const now = watched === undefined ? tasks.get(owner, id) : watched.task
        // A store that fails is heard of by whoever asks for the task.
        if (isThenable(now)) now.then(say, () => {})
        else say(now)
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
  if (!isStrings(value) || value.length > MAX_SUBSCRIPTIONS) {
    throw new Fault('invalid', `params.notifications.taskIds must be at most ${MAX_SUBSCRIPTIONS} strings`)
  }
  return [...new Set(value)]
}
