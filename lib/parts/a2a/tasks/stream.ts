/**
 * A task as a stream: first the task as it stands, then each event, until it has ended or waits for its
 * client. A reader that leaves, or is slow, delays neither the task nor other readers.
 * Spec: A2A 1.0 §3.1.2, §3.1.6, §3.5.2.
 */
import { remoteTasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { requireScopes } from '../../../kernel/define/principal.ts'
import { isTerminal } from '../../../floors/tasks/task.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { A2aFault } from '../model/faults.ts'
import { eventOf, isSettled, viewOf } from '../model/task-view.ts'
import { findTask } from './request.ts'
import type { Task, Watched } from '../../../floors/tasks/task.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { StreamEvent, TaskRequest } from '../model/model.ts'
import type { TaskUpdate } from '../model/task-view.ts'
import type { A2aRequest, EventSink, EventStream } from './request.ts'

/** Streams a task that was begun before. Throws where it has ended, or for want of a scope. */
export function subscribe(
  request: A2aRequest, { tenant, id, historyLength }: TaskRequest,
): MaybePromise<EventStream> {
  requireScopes(request.exchange.origin, request.agent.scopes)
  return andThen(findTask(request, tenant, id), (task) => {
    const isRemote = remoteTasksOf(request.service)?.nodeOf(task) !== undefined
    if (isRemote) return { open: (sink) => followRemoteTask(request, task, historyLength, sink) }
    if (!isTerminal(task.status.state)) {
      return { open: (sink) => followTask(request, id, historyLength, sink) }
    }
    throw new A2aFault('UNSUPPORTED_OPERATION', `The task is ${task.status.state}; read it instead`)
  })
}

/** Streams a task that another process runs, as `followTask` does. */
export function followRemoteTask(
  { service }: A2aRequest, task: Task, historyLength: number | undefined, sink: EventSink,
  endsSettled = false,
): () => void {
  let known: Task | undefined
  const end = (): void => {
    stop()
    sink.end()
  }
  const send = (event: StreamEvent): void => {
    sink.send(event)
    if (event.what === 'status' && event.isLast) end()
  }
  const stop = remoteTasksOf(service)!.follow(task, (now) => {
    const before = known
    known = now
    if (before !== undefined) {
      for (const event of changesBetween(before, now)) send(eventOf(event, now))
      return
    }
    const { state } = now.status
    sink.send({ what: 'task', task: viewOf(now, historyLength) })
    if (endsSettled ? isSettled(state) : isTerminal(state)) end()
  }, (event, after) => {
    if (event.what === 'forgotten') return end()
    known = after.task
    send(eventOf(event, after.task))
  })
  return stop
}

/** What was missed of a task, as events: a stream shows the task whole once, at its beginning. */
function changesBetween(before: Task, now: Task): readonly TaskUpdate[] {
  const shown = new Map(before.artifacts.map((one) => [one.id, formatJson(one)]))
  const changed: readonly TaskUpdate[] = now.artifacts
    .filter((one) => shown.get(one.id) !== formatJson(one))
    .map((artifact) => ({ what: 'artifact', artifact, append: false, last: true }))
  const { status } = now
  return status.at === before.status.at ? changed : [...changed, { what: 'status', status }]
}

/**
 * Streams a task from this moment on. The returned function ends it. `endsSettled`: the stream ends at once
 * where the task waits for its client already.
 */
export function followTask(
  { tasks, exchange: { origin: { principal } } }: A2aRequest, id: string, historyLength: number | undefined,
  sink: EventSink, endsSettled = false,
): () => void {
  let watched: Watched | undefined
  const end = (last: StreamEvent | undefined): void => {
    if (last !== undefined) sink.send(last)
    sink.end()
  }
  const endWith = (task: Task | undefined): void => (
    end(task && { what: 'task', task: viewOf(task, historyLength) })
  )
  watched = tasks.watch(principal.id, id, (event) => {
    const next = event.what === 'forgotten' || watched === undefined ? undefined
      : eventOf(event, watched.task)
    if (next !== undefined && !(next.what === 'status' && next.isLast)) {
      return sink.send(next) ? undefined : sink.ready()
    }
    watched?.stop()
    // The client's next request may go to another process.
    const persisted = tasks.whenPersisted(id)
    if (persisted === undefined) end(next)
    else void persisted.then(() => end(next))
    return undefined
  })
  if (watched === undefined) {
    // It was over before it could be watched.
    const task = tasks.get(principal.id, id)
    if (isThenable(task)) task.then(endWith).catch((error: unknown) => sink.end(error))
    else endWith(task)
    return () => {}
  }
  const { task, stop } = watched
  sink.send({ what: 'task', task: viewOf(task, historyLength) })
  if (endsSettled && isSettled(task.status.state)) {
    stop()
    sink.end()
  }
  return stop
}
