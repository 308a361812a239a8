/**
 * A task as a stream: first the task as it stands, then each event, until it has ended or waits for its
 * client. A reader that leaves, or is slow, delays neither the task nor other readers.
 * Spec: A2A 1.0 §3.1.2, §3.1.6, §3.5.2.
 */
import { followTask } from '../../../floors/tasks/tasks-floor.ts'
import { requireScopes } from '../../../kernel/define/principal.ts'
import { isTerminal } from '../../../floors/tasks/task.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { A2aFault } from '../model/faults.ts'
import { eventOf, isSettled, viewOf } from '../model/task-view.ts'
import { findTask } from './request.ts'
import type { Task, TaskEvent } from '../../../floors/tasks/task.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { MessageResult, StreamEvent, TaskRequest } from '../model/model.ts'
import type { TaskUpdate } from '../model/task-view.ts'
import type { AgentTurn, TurnOutcome } from './agent-turn.ts'
import type { A2aRequest, EventSink, EventStream } from './request.ts'

/** Streams a task that was begun before. Throws where it has ended, or for want of a scope. */
export function subscribe(
  request: A2aRequest, { tenant, id, historyLength }: TaskRequest,
): MaybePromise<EventStream> {
  requireScopes(request.exchange.origin, request.agent.scopes)
  return andThen(findTask(request, tenant, id), (task) => {
    const { state } = task.status
    if (!isTerminal(state)) return taskStream(request, task, historyLength)
    throw new A2aFault('UNSUPPORTED_OPERATION', `The task is ${state}; read it instead`)
  })
}

/** An agent's message as a stream. */
export function replyStream(reply: () => MaybePromise<MessageResult>): EventStream {
  return {
    open(sink) {
      if (!sink.closed) passOn(reply, sink)
      return undefined
    },
  }
}

/** Ends a stream behind a message, or with what was thrown. Those who follow a task see its end. */
function passOn(act: () => MaybePromise<TurnOutcome>, sink: EventSink): void {
  const done = (outcome: TurnOutcome): void => {
    if (!('message' in outcome)) return
    sink.send(outcome)
    sink.end()
  }
  const failed = (error: unknown): void => sink.end(error)
  try {
    const outcome = act()
    if (isThenable(outcome)) outcome.then(done).catch(failed)
    else done(outcome)
  } catch (error) {
    failed(error)
  }
}

/** Runs a turn, and streams its task from then on, or the message in its place. */
export function turnStream(
  request: A2aRequest, turn: AgentTurn, historyLength: number | undefined,
): EventStream {
  const { context: { tasks }, exchange: { origin: { principal } } } = request
  return {
    open(sink) {
      let stop: (() => void) | undefined
      let hasLeft = false
      const follow = (task: Task | undefined): void => {
        if (hasLeft) return
        if (task === undefined) sink.end()
        else stop = streamTask(request, task, historyLength, sink, false)
      }
      turn.onShown(() => {
        try {
          const task = tasks.get(principal.id, turn.id)
          if (isThenable(task)) task.then(follow).catch((error: unknown) => sink.end(error))
          else follow(task)
        } catch (error) {
          sink.end(error)
        }
      })
      passOn(() => turn.execute(), sink)
      return () => {
        hasLeft = true
        if (!turn.isShown) turn.call.disconnect()
        stop?.()
      }
    },
  }
}

/** A task as it goes on. `endsSettled`: the stream ends at once where it waits for its client already. */
export function taskStream(
  request: A2aRequest, task: Task, historyLength: number | undefined, endsSettled = false,
): EventStream {
  return { open: (sink) => streamTask(request, task, historyLength, sink, endsSettled) }
}

/** Streams a task from this moment on. The returned function ends it. */
function streamTask(
  { context: { service, tasks } }: A2aRequest, task: Task, historyLength: number | undefined, sink: EventSink,
  endsSettled: boolean,
): () => void {
  let known: Task | undefined
  let isOver = false
  let leave = (): void => {}
  const stop = (): void => {
    isOver = true
    leave()
  }
  const end = (last?: StreamEvent): void => {
    if (last !== undefined) sink.send(last)
    sink.end()
  }
  const begin = (now: Task): void => {
    const before = known
    known = now
    if (before !== undefined) {
      for (const event of changesBetween(before, now)) void send(event)
      return
    }
    const { state } = now.status
    sink.send({ what: 'task', task: viewOf(now, historyLength) })
    if (!(endsSettled ? isSettled(state) : isTerminal(state))) return
    stop()
    end()
  }
  const send = (event: TaskEvent): Promise<void> | undefined => {
    if (isOver) return undefined
    const next = event.what === 'forgotten' ? undefined : eventOf(event, task)
    if (next !== undefined && !(next.what === 'status' && next.isLast)) {
      return sink.send(next) ? undefined : sink.ready()
    }
    stop()
    // The client's next request may go to another process.
    const persisted = tasks.whenPersisted(task.id)
    if (persisted === undefined) end(next)
    else void persisted.then(() => end(next))
    return undefined
  }
  leave = followTask(service, task, begin, (event, after) => {
    // Reading the task at each piece of a text would cost more than to show that text once more.
    if (event.what === 'status' || (event.what === 'artifact' && !event.append)) known = after.task
    return send(event)
  })
  if (isOver) leave()
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
