/**
 * What becomes of a message: an agent's plain answer, a new task, or the next turn of one that waits. A task
 * that works takes no message; one that has ended takes none ever.
 * Spec: A2A 1.0 §3.1.1, §3.1.2, §3.4.
 */
import { MAX_TIMER_MS } from '../core/clock.ts'
import { Fault } from '../core/fault.ts'
import { requireScopes } from '../core/principal.ts'
import { answersFrom } from '../core/question-answer.ts'
import { isFinished } from '../core/task.ts'
import { randomUuid } from '../wire/random.ts'
import { checkExtensions } from './extensions.ts'
import { A2aFault } from './faults.ts'
import { findTask } from './find-task.ts'
import { checkMediaTypes } from './media-types.ts'
import { answerMessage } from './message.ts'
import { preparePush } from './push-operations.ts'
import { followTask } from './stream.ts'
import { isSettled, viewOf } from './task-view.ts'
import { toolCallFor } from './tool-agent.ts'
import { Turn } from './turn.ts'
import { isRerunFor, workFor } from './work.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Task, TaskMessage } from '../core/task.ts'
import type { Message, SendRequest, SendResult } from './model.ts'
import type { EventStream, Visit } from './visit.ts'

/** A message that was taken: its task, and the turn that it begins; an answer to a question begins none. */
interface Taken { readonly id: string; readonly turn: Turn | undefined }

/** Sends a message. */
export function sendMessage(visit: Visit, request: SendRequest): MaybePromise<SendResult> {
  check(visit, request)
  if (!visit.dialect.hasTasks || isMessenger(visit)) {
    if (request.push !== undefined) throw noTask()
    checkMediaTypes(visit.who, request.message.parts)
    const answer = answerMessage(visit.service, visit.who, request, visit.exchange.origin)
    return answer instanceof Promise ? answer.then(messageResult) : messageResult(answer)
  }
  if (request.push !== undefined) return takeWatched(visit, request).then((one) => run(visit, request, one))
  const taken = take(visit, request, false)
  return taken instanceof Promise ? taken.then((one) => run(visit, request, one)) : run(visit, request, taken)
}

/** Sends a message, and tells what happens. */
export function streamMessage(visit: Visit, request: SendRequest): MaybePromise<EventStream> {
  check(visit, request)
  if (isMessenger(visit)) {
    if (request.push !== undefined) throw noTask()
    checkMediaTypes(visit.who, request.message.parts)
    return messageStream(visit, request)
  }
  if (request.push !== undefined) {
    return takeWatched(visit, request).then((one) => taskStream(visit, request, one))
  }
  const taken = take(visit, request, true)
  return taken instanceof Promise ? taken.then((one) => taskStream(visit, request, one))
    : taskStream(visit, request, taken)
}

function noTask(): A2aFault {
  return new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED', 'This agent answers with messages, and has no tasks '
    + 'to tell of; leave the push configuration out')
}

/** What is refused before it is known which task the message is for. */
function check(visit: Visit, { message }: SendRequest): void {
  const { service, who } = visit
  service.workload.check()
  checkExtensions(visit)
  const chosen = toolCallFor(service, who, message.parts)
  if (chosen !== undefined) requireScopes(visit.exchange.origin.principal, chosen.tool.scopes)
}

function isMessenger({ who }: Visit): boolean {
  return who.kind === 'agent' && who.replies === 'message'
}

function messageResult(message: Message): SendResult {
  return { what: 'message', message }
}

/** Takes a message in. `isSeen`: its task is there before anything runs. */
function take(visit: Visit, request: SendRequest, isSeen: boolean): MaybePromise<Taken> {
  const { message: { taskId }, tenant } = request
  if (taskId === undefined) return begin(visit, request, isSeen)
  const task = findTask(visit, tenant, taskId)
  return task instanceof Promise ? task.then((one) => goOn(visit, request, one)) : goOn(visit, request, task)
}

/** The same, with a webhook that is told of the task from its beginning. */
async function takeWatched(visit: Visit, request: SendRequest): Promise<Taken> {
  const { service: { tasks, log }, exchange: { origin: { principal } } } = visit
  const register = await preparePush(visit, request.push!)
  const taken = await take(visit, request, true)
  const { id, turn } = taken
  const watch = async (): Promise<void> => {
    const found = tasks.get(principal.id, id)
    const task = found instanceof Promise ? await found : found
    if (task !== undefined) await register(task)
  }
  if (turn === undefined || turn.isShown) await watch()
  else turn.onShown(() => watch().catch((cause: unknown) => (
    log('warning', 'A push configuration could not be kept', { task: id, cause })
  )))
  return taken
}

function begin(visit: Visit, request: SendRequest, isSeen: boolean): MaybePromise<Taken> {
  const { service, who, exchange: { origin } } = visit
  const { message, tenant, metadata } = request
  checkMediaTypes(visit.who, request.message.parts)
  service.tasks.check()
  const contextId = message.contextId ?? service.conversations.makeId()
  const isReserved = who.kind === 'agent' && who.replies === 'either'
  const said = historical(message)
  const id = randomUuid()
  const turn = new Turn({
    service, origin, message: said, metadata, extensions: visit.extensions, isReserved,
    isRerun: isRerunFor(visit, said.parts),
    work: workFor(visit, contextId, message.contextId !== undefined, said.parts),
    task: {
      id, owner: origin.principal.id, protocol: 'a2a', runnable: { kind: who.kind, name: who.id }, tenant,
      contextId, sessionId: undefined, ttlMs: undefined, history: [said], turn: undefined,
      isReserved: isReserved && service.store.isShared,
    },
  })
  if (!service.store.isShared && (!isSeen || isReserved)) return { id, turn }
  const begun = turn.begin()
  return begun instanceof Promise ? begun.then(() => ({ id, turn })) : { id, turn }
}

/** The next turn of a task, or the answer to its questions. */
function goOn(visit: Visit, request: SendRequest, task: Task): MaybePromise<Taken> {
  const { message } = request
  const { contextId, status: { state } } = task
  if (isFinished(state)) {
    throw new A2aFault('UNSUPPORTED_OPERATION', `The task is ${state}; send a message without a taskId`)
  }
  if (message.contextId !== undefined && message.contextId !== contextId) {
    throw new Fault('invalid', 'message.contextId is not that of the task; leave it out')
  }
  if (!isSettled(state)) {
    throw new A2aFault('UNSUPPORTED_OPERATION', 'The task is working; wait until it asks for something')
  }
  if (task.history.some((one) => one.id === message.id)) {
    throw new Fault('invalid', 'message.messageId was used in this task before; make a new one')
  }
  checkMediaTypes(visit.who, request.message.parts)
  const taken = visit.service.tasks.take(task)
  return taken instanceof Promise ? taken.then(() => heard(visit, request, task))
    : heard(visit, request, task)
}

/** What becomes of a message to a task that waits, and is this process's to go on with. */
function heard(visit: Visit, { message, metadata }: SendRequest, task: Task): Taken {
  const { service, exchange: { origin } } = visit
  const { id, contextId, questions, turn: before, status: { state } } = task
  if (!service.tasks.isCurrent(task)) {
    throw new A2aFault('UNSUPPORTED_OPERATION', 'Another message was quicker; read the task first')
  }
  const said = historical(message)
  const run = service.tasks.runOf(id)
  const answers = answersFrom(questions, said.parts, service.limits.maxCheckSteps)
  service.tasks.addMessage(id, said)
  if (questions.length > 0 && answers.size === 0) {
    // It did not say what was asked for: so it is asked again.
    service.tasks.move(id, state, { message: task.status.message?.parts })
    return { id, turn: undefined }
  }
  if (run !== undefined) {
    run.answer(answers)
    return { id, turn: undefined }
  }
  const first = questions.length === 0 ? undefined : task.history.find((one) => one.id === before?.messageId)
  const turn = new Turn({
    service, origin, message: first ?? said, metadata: first === undefined ? metadata : before?.metadata,
    extensions: visit.extensions, isReserved: false,
    isRerun: isRerunFor(visit, (first ?? said).parts),
    work: workFor(visit, contextId, true, (first ?? said).parts),
    // What was answered before is answered again, when the run asks once more.
    task: first === undefined || before === undefined ? { ...task, turn: undefined }
      : { ...task, turn: { ...before, answers: { ...before.answers, ...Object.fromEntries(answers) } } },
  })
  turn.resume()
  // Another process may have posted its events before.
  if (service.store.isShared) visit.options.push?.follow(task)
  return { id, turn }
}

/** A message as it stands in the history. */
function historical({ id, role, parts, metadata, extensions, referenceTaskIds }: Message): TaskMessage {
  return { id, role, parts, metadata, extensions, referenceTaskIds }
}

function run(visit: Visit, request: SendRequest, { id, turn }: Taken): MaybePromise<SendResult> {
  const hidden = turn?.execute()
  if (hidden === undefined) return result(visit, request, id, turn)
  // Whoever leaves before there is a task ends the run, as with any answer that nobody waits for.
  visit.exchange.origin.onGone(() => { if (turn?.isShown === false) turn.call.leave() })
  return hidden.then(() => result(visit, request, id, turn))
}

function result(
  visit: Visit, request: SendRequest, id: string, turn: Turn | undefined,
): MaybePromise<SendResult> {
  if (turn?.fault !== undefined) throw turn.fault
  if (turn?.reply !== undefined) return messageResult(turn.reply)
  const { service: { tasks }, exchange: { origin: { principal } } } = visit
  const shown = (task: Task | undefined): MaybePromise<SendResult> => {
    if (task === undefined) throw new Fault('busy', 'The task had to make room for others; try again later')
    if (!request.isBlocking || isSettled(task.status.state)) return taskResult(visit, request, task)
    return untilSettled(visit, task).then((last) => taskResult(visit, request, last))
  }
  const task = turn?.ended ?? tasks.get(principal.id, id)
  return task instanceof Promise ? task.then(shown) : shown(task)
}

function taskResult(
  { service: { tasks } }: Visit, { historyLength }: SendRequest, task: Task,
): MaybePromise<SendResult> {
  const result: SendResult = { what: 'task', task: viewOf(task, historyLength) }
  // The client's next request may go to another process.
  const kept = tasks.kept(task.id)
  return kept === undefined ? result : kept.then(() => result)
}

/** Resolves when the task has ended, waits for its client, or takes too long to wait for. */
function untilSettled({ service: { tasks, limits: { blockingWaitMs } } }: Visit, task: Task): Promise<Task> {
  return new Promise((resolve) => {
    let standing: { readonly task: Task } = { task }
    const done = (): void => {
      clearTimeout(timer)
      watched?.stop()
      resolve(standing.task)
    }
    const watched = tasks.watch(task.owner, task.id, (event, after) => {
      standing = after
      if (event.what === 'forgotten' || (event.what === 'status' && isSettled(event.status.state))) done()
    })
    const timer = blockingWaitMs > MAX_TIMER_MS ? undefined : setTimeout(done, blockingWaitMs)
    if (watched === undefined) done()
  })
}

/** One message, and nothing else. */
function messageStream(visit: Visit, request: SendRequest): EventStream {
  return {
    open(sink) {
      if (sink.closed) return undefined
      const done = (message: Message): void => {
        sink.send(messageResult(message))
        sink.end()
      }
      try {
        const answer = answerMessage(visit.service, visit.who, request, visit.exchange.origin)
        if (answer instanceof Promise) answer.then(done).catch((error: unknown) => sink.end(error))
        else done(answer)
      } catch (error) {
        sink.end(error)
      }
      return undefined
    },
  }
}

/** A task from its beginning, or from its next turn on. */
function taskStream(visit: Visit, { historyLength }: SendRequest, { id, turn }: Taken): EventStream {
  return {
    open(sink) {
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
        if (!turn.isShown) turn.call.leave()
        stop?.()
      }
    },
  }
}
