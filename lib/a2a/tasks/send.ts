/**
 * What is answered to a message: an agent's plain answer, or the task that it began or went on with, at once,
 * when it has settled, or as a stream.
 * Spec: A2A 1.0 §3.1.1, §3.1.2.
 */
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { Fault } from '../../define/fault.ts'
import { requireScopes } from '../../define/principal.ts'
import { andThen, isThenable } from '../../util/thenable.ts'
import { checkExtensions } from './extensions.ts'
import { A2aFault } from '../model/faults.ts'
import { checkMediaTypes } from '../codec/parts.ts'
import { replyWithMessage } from './reply-with-message.ts'
import { followElsewhere, followTask } from './stream.ts'
import { take, takeWatched } from './take-message.ts'
import { isSettled, viewOf } from '../model/task-view.ts'
import { toolCallFor } from '../model/tool-agent.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Task, Watcher } from '../../tasks/task.ts'
import type { Message, SendRequest, SendResult } from '../model/model.ts'
import type { TakenMessage } from './take-message.ts'
import type { TaskTurnRun } from './task-turn-run.ts'
import type { EventStream, A2aRequest } from './request.ts'

/** Sends a message. */
export function sendMessage(visit: A2aRequest, request: SendRequest): MaybePromise<SendResult> {
  check(visit, request)
  if (!visit.dialect.hasTasks || isMessenger(visit)) {
    checkNoTask(request)
    checkMediaTypes(visit.agent, request.message.parts)
    const isPlain = !visit.dialect.hasTasks
    const answer = replyWithMessage(visit.service, visit.agent, request, visit.exchange.origin, isPlain)
    return andThen(answer, messageResult)
  }
  if (request.push !== undefined) return takeWatched(visit, request).then((one) => run(visit, request, one))
  const taken = take(visit, request, false)
  return isThenable(taken) ? taken.then((one) => run(visit, request, one)) : run(visit, request, taken)
}

/** Sends a message, and tells what happens. */
export function streamMessage(visit: A2aRequest, request: SendRequest): MaybePromise<EventStream> {
  check(visit, request)
  if (isMessenger(visit)) {
    checkNoTask(request)
    checkMediaTypes(visit.agent, request.message.parts)
    return messageStream(visit, request)
  }
  if (request.push !== undefined) {
    return takeWatched(visit, request).then((one) => taskStream(visit, request, one))
  }
  const taken = take(visit, request, true)
  return isThenable(taken) ? taken.then((one) => taskStream(visit, request, one))
    : taskStream(visit, request, taken)
}

/** An agent that answers with messages has no task, neither to tell of nor to go on with. */
function checkNoTask({ message, push }: SendRequest): void {
  const why = 'This agent answers with messages, and has no tasks'
  if (push !== undefined) {
    throw new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED', `${why}; leave the push configuration out`)
  }
  if (message.taskId !== undefined) throw new A2aFault('TASK_NOT_FOUND', `${why}; leave taskId out`)
}

/** What is refused before it is known which task the message is for. */
function check(visit: A2aRequest, { message }: SendRequest): void {
  const { service, agent, exchange } = visit
  service.workload.check(exchange.origin)
  checkExtensions(visit)
  const chosen = toolCallFor(service, agent, message.parts)
  if (chosen !== undefined) requireScopes(visit.exchange.origin.principal, chosen.tool.scopes)
}

function isMessenger({ agent }: A2aRequest): boolean {
  return agent.kind === 'agent' && agent.replies === 'message'
}

function messageResult(message: Message): SendResult {
  return { what: 'message', message }
}

function run(visit: A2aRequest, request: SendRequest, { id, turn }: TakenMessage): MaybePromise<SendResult> {
  const hidden = turn?.execute()
  if (hidden === undefined) return result(visit, request, id, turn)
  // Whoever leaves before there is a task ends the run, as with any answer that nobody waits for.
  visit.exchange.origin.onDisconnect(() => { if (turn?.isShown === false) turn.call.disconnect() })
  return hidden.then(() => result(visit, request, id, turn))
}

function result(
  visit: A2aRequest, request: SendRequest, id: string, turn: TaskTurnRun | undefined,
): MaybePromise<SendResult> {
  if (turn?.fault !== undefined) throw turn.fault
  if (turn?.reply !== undefined) return messageResult(turn.reply)
  const { service: { tasks }, exchange: { origin: { principal } } } = visit
  const task = turn?.ended ?? tasks.get(principal.id, id)
  return isThenable(task) ? task.then((one) => resultOf(visit, request, one))
    : resultOf(visit, request, task)
}

function resultOf(visit: A2aRequest, request: SendRequest, task: Task | undefined): MaybePromise<SendResult> {
  if (task === undefined) throw new Fault('busy', 'The task had to make room for others; try again later')
  if (!request.isBlocking || isSettled(task.status.state)) return taskResult(visit, request, task)
  return untilSettled(visit, task).then((last) => taskResult(visit, request, last))
}

function taskResult(
  { service: { tasks } }: A2aRequest, { historyLength }: SendRequest, task: Task,
): MaybePromise<SendResult> {
  const result: SendResult = { what: 'task', task: viewOf(task, historyLength) }
  // The client's next request may go to another process.
  const kept = tasks.whenPersisted(task.id)
  return kept === undefined ? result : kept.then(() => result)
}

/** Resolves when the task has ended, waits for its client or takes too long, and when the client has left. */
function untilSettled({ service, exchange: { origin } }: A2aRequest, task: Task): Promise<Task> {
  const { tasks, shared, limits: { blockingWaitMs } } = service
  return new Promise((resolve) => {
    let standing: { readonly task: Task } = { task }
    let stop = (): void => {}
    const done = (): void => {
      clearTimeout(timer)
      stop()
      resolve(standing.task)
    }
    const timer = blockingWaitMs > MAX_TIMER_MS ? undefined : setTimeout(done, blockingWaitMs)
    const watcher: Watcher = (event, after) => {
      standing = after
      if (event.what === 'forgotten' || (event.what === 'status' && isSettled(event.status.state))) done()
    }
    if (shared?.remoteTasks.nodeOf(task) === undefined) {
      const watched = tasks.watch(task.owner, task.id, watcher)
      if (watched === undefined) return done()
      stop = watched.stop
    } else {
      stop = shared.remoteTasks.follow(task, (now) => {
        standing = { task: now }
        if (isSettled(now.status.state)) done()
      }, watcher)
    }
    origin.onDisconnect(done)
  })
}

/** One message, and nothing else. */
function messageStream(visit: A2aRequest, request: SendRequest): EventStream {
  return {
    open(sink) {
      if (sink.closed) return undefined
      const done = (message: Message): void => {
        sink.send(messageResult(message))
        sink.end()
      }
      try {
        const answer = replyWithMessage(visit.service, visit.agent, request, visit.exchange.origin, false)
        if (isThenable(answer)) answer.then(done).catch((error: unknown) => sink.end(error))
        else done(answer)
      } catch (error) {
        sink.end(error)
      }
      return undefined
    },
  }
}

/** A task from its beginning, or from its next turn on. */
function taskStream(
  visit: A2aRequest, { historyLength }: SendRequest, { id, turn, elsewhere }: TakenMessage,
): EventStream {
  return {
    open(sink) {
      if (elsewhere !== undefined) return followElsewhere(visit, elsewhere, historyLength, sink, true)
      if (turn === undefined || turn.isShown) {
        const stop = followTask(visit, id, historyLength, sink, turn === undefined)
        turn?.execute()
        return stop
      }
      let stop: (() => void) | undefined
      turn.onShown(() => {
        if (turn.fault !== undefined) return sink.end(turn.fault)
        if (turn.reply === undefined) return void (stop = followTask(visit, id, historyLength, sink))
        sink.send(messageResult(turn.reply))
        sink.end()
      })
      void turn.execute()
      return () => {
        if (!turn.isShown) turn.call.disconnect()
        stop?.()
      }
    },
  }
}
