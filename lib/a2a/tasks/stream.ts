/**
 * A task's life as a stream: first the task as it stands, then what happens to it, until it has ended or
 * waits for its client. A reader that leaves, or is slow, is nothing to the task or to other readers.
 * Spec: A2A 1.0 §3.1.2, §3.1.6, §3.5.2.
 */
import { isTerminal } from '../../tasks/task.ts'
import { andThen, isThenable } from '../../util/thenable.ts'
import { A2aFault } from '../model/faults.ts'
import { findTask } from './find-task.ts'
import { eventOf, isSettled, viewOf } from '../model/task-view.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Task, TaskEvent, Watched } from '../../tasks/task.ts'
import type { Tasks } from '../../tasks/tasks.ts'
import type { StreamEvent, TaskRequest } from '../model/model.ts'
import type { TaskUpdate } from '../model/task-view.ts'
import type { EventSink, EventStream, A2aRequest } from './request.ts'

/** Streams a task that was begun before. Throws where it has ended. */
export function subscribe(
  visit: A2aRequest, { tenant, id, historyLength }: TaskRequest,
): MaybePromise<EventStream> {
  const { shared } = visit.service
  const follow = (task: Task): EventStream => {
    const isElsewhere = shared?.remoteTasks.nodeOf(task) !== undefined
    if (isElsewhere) return { open: (sink) => followElsewhere(visit, task, historyLength, sink) }
    if (!isTerminal(task.status.state)) return { open: (sink) => followTask(visit, id, historyLength, sink) }
    throw new A2aFault('UNSUPPORTED_OPERATION', `The task is ${task.status.state}; read it instead`)
  }
  const found = findTask(visit, tenant, id)
  return andThen(found, follow)
}

/** Tells a sink of a task that another process runs, as `followTask` does of one that runs here. */
export function followElsewhere(
  { service: { shared } }: A2aRequest, task: Task, historyLength: number | undefined, sink: EventSink,
  endsSettled = false,
): () => void {
  let known: Task | undefined
  const end = (): void => {
    stop()
    sink.end()
  }
  const tell = (told: StreamEvent): void => {
    sink.send(told)
    if (told.what === 'status' && told.isLast) end()
  }
  const stop = shared!.remoteTasks.follow(task, (now) => {
    const before = known
    known = now
    if (before !== undefined) {
      for (const event of changesBetween(before, now)) tell(eventOf(event, now))
      return
    }
    const { state } = now.status
    sink.send({ what: 'task', task: viewOf(now, historyLength) })
    if (endsSettled ? isSettled(state) : isTerminal(state)) end()
  }, (event, after) => {
    if (event.what === 'forgotten') return end()
    known = after.task
    tell(eventOf(event, after.task))
  })
  return stop
}

/** What was missed of a task, as events: a stream shows the task whole once, at its beginning. */
function changesBetween(before: Task, now: Task): readonly TaskUpdate[] {
  const shown = new Map(before.artifacts.map((one) => [one.id, JSON.stringify(one)]))
  const changed: readonly TaskUpdate[] = now.artifacts
    .filter((one) => shown.get(one.id) !== JSON.stringify(one))
    .map((artifact) => ({ what: 'artifact', artifact, append: false, last: true }))
  const { status } = now
  return status.at === before.status.at ? changed : [...changed, { what: 'status', status }]
}

/**
 * Tells a sink of a task, from this moment on. The returned function ends it. `endsSettled`: where the task
 * waits for its client already, there is nothing to wait for behind it.
 */
export function followTask(
  { service: { tasks }, exchange: { origin: { principal } } }: A2aRequest, id: string,
  historyLength: number | undefined, sink: EventSink, endsSettled = false,
): () => void {
  const follower = new Follower(tasks, id, sink)
  const watched = tasks.watch(principal.id, id, follower.hear.bind(follower))
  if (watched !== undefined) {
    follower.watched = watched
    sink.send({ what: 'task', task: viewOf(watched.task, historyLength) })
    if (endsSettled && isSettled(watched.task.status.state)) {
      watched.stop()
      sink.end()
    }
    return watched.stop
  }
  // It was over before anybody could watch.
  const last = (task: Task | undefined): void => {
    if (task !== undefined) sink.send({ what: 'task', task: viewOf(task, historyLength) })
    sink.end()
  }
  const task = tasks.get(principal.id, id)
  if (isThenable(task)) task.then(last).catch((error: unknown) => sink.end(error))
  else last(task)
  return () => {}
}

/** Hears what happens to a task for one reader. */
class Follower {
  /** Its place among those who are told, once it has one. */
  watched: Watched | undefined
  readonly #tasks: Tasks
  readonly #id: string
  readonly #sink: EventSink

  constructor(tasks: Tasks, id: string, sink: EventSink) {
    this.#tasks = tasks
    this.#id = id
    this.#sink = sink
  }

  hear(event: TaskEvent): Promise<void> | undefined {
    const told = event.what === 'forgotten' || this.watched === undefined ? undefined
      : eventOf(event, this.watched.task)
    if (told !== undefined && !(told.what === 'status' && told.isLast)) {
      return this.#sink.send(told) ? undefined : this.#sink.ready()
    }
    this.watched?.stop()
    // The client's next request may go to another process.
    const kept = this.#tasks.whenPersisted(this.#id)
    if (kept === undefined) this.#end(told)
    else void kept.then(() => this.#end(told))
    return undefined
  }

  #end(told: StreamEvent | undefined): void {
    if (told !== undefined) this.#sink.send(told)
    this.#sink.end()
  }
}
