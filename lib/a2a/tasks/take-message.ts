/**
 * What becomes of a message: a new task, the next turn of one that waits, or the answer to its questions. A
 * task that works takes no message; one that has ended takes none ever.
 * Spec: A2A 1.0 §3.4.
 */
import { Fault } from '../../define/fault.ts'
import { isTerminal } from '../../tasks/task.ts'
import { deliverMessage } from '../../tasks/question-answer.ts'
import { isThenable } from '../../util/thenable.ts'
import { randomUuid } from '../../wire/random.ts'
import { A2aFault } from '../model/faults.ts'
import { findTask } from './find-task.ts'
import { checkMediaTypes } from '../codec/parts.ts'
import { preparePush } from '../push/push-operations.ts'
import { isSettled } from '../model/task-view.ts'
import { TaskTurnRun } from './task-turn-run.ts'
import { isRerunFor, workFor } from './work.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Task, TaskMessage } from '../../tasks/task.ts'
import type { Message, SendRequest } from '../model/model.ts'
import type { A2aRequest } from './request.ts'

/** A message that was taken: its task, and the turn that it begins; an answer to a question begins none. */
export interface TakenMessage {
  readonly id: string
  readonly turn: TaskTurnRun | undefined
  /** The task, where it was another process that heard the message. */
  readonly elsewhere?: Task
}

/** Takes a message in. `isSeen`: its task is there before anything runs. */
export function take(visit: A2aRequest, request: SendRequest, isSeen: boolean): MaybePromise<TakenMessage> {
  const { message: { taskId }, tenant } = request
  if (taskId === undefined) return begin(visit, request, isSeen)
  const task = findTask(visit, tenant, taskId)
  return isThenable(task) ? task.then((one) => goOn(visit, request, one)) : goOn(visit, request, task)
}

/** The same, with a webhook that is told of the task from its beginning. */
export async function takeWatched(visit: A2aRequest, request: SendRequest): Promise<TakenMessage> {
  const { service: { tasks, log }, exchange: { origin: { principal } } } = visit
  const register = await preparePush(visit, request.push!, request.message.taskId)
  const taken = await take(visit, request, true)
  const { id, turn } = taken
  const watch = async (): Promise<void> => {
    const found = tasks.get(principal.id, id)
    const task = isThenable(found) ? await found : found
    if (task !== undefined) await register(task)
  }
  // What was begun goes on.
  const unkept = (cause: unknown): void => (
    log('warning', 'A push configuration could not be kept', { task: id, cause })
  )
  if (turn === undefined) await watch()
  else if (turn.isShown) await watch().catch(unkept)
  else turn.onShown(() => watch().catch(unkept))
  return taken
}

function begin(visit: A2aRequest, request: SendRequest, isSeen: boolean): MaybePromise<TakenMessage> {
  const { service, agent, exchange: { origin } } = visit
  const { message, tenant, metadata } = request
  checkMediaTypes(visit.agent, request.message.parts)
  service.tasks.check()
  const contextId = message.contextId ?? service.conversations.makeId()
  const isReserved = agent.kind === 'agent' && agent.replies === 'either'
  const said = historical(message)
  const id = randomUuid()
  const turn = new TaskTurnRun({
    service, origin, message: said, metadata, extensions: visit.extensions, isReserved,
    isRerun: isRerunFor(visit, said.parts),
    work: workFor(visit, contextId, message.contextId !== undefined, said.parts),
    task: {
      id, owner: origin.principal.id, protocol: 'a2a', runnable: { kind: agent.kind, name: agent.id }, tenant,
      contextId, sessionId: undefined, ttlMs: undefined, history: [said], turn: undefined,
      isReserved: isReserved && service.store.isShared,
    },
  })
  if (!service.store.isShared && (!isSeen || isReserved)) return { id, turn }
  const begun = turn.begin()
  return isThenable(begun) ? begun.then(() => ({ id, turn })) : { id, turn }
}

/** The next turn of a task, or the answer to its questions. */
function goOn(visit: A2aRequest, request: SendRequest, task: Task): MaybePromise<TakenMessage> {
  const { message } = request
  const { contextId, status: { state } } = task
  if (isTerminal(state)) {
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
  checkMediaTypes(visit.agent, request.message.parts)
  const isAskedElsewhere = task.questions.length > 0
    && visit.service.shared?.remoteTasks.nodeOf(task) !== undefined
  return isAskedElsewhere ? heardElsewhere(visit, request, task) : takeUp(visit, request, task)
}

/** Brings a message to the process whose run waits for it; where that run has gone, it begins again here. */
async function heardElsewhere(visit: A2aRequest, request: SendRequest, task: Task): Promise<TakenMessage> {
  const outcome = await visit.service.shared!.remoteTasks.deliver(task, historical(request.message))
  if (outcome === 'done') return { id: task.id, turn: undefined, elsewhere: task }
  if (outcome === 'late') throw quicker()
  return takeUp(visit, request, task)
}

/** Makes the task this process's to go on with. */
function takeUp(visit: A2aRequest, request: SendRequest, task: Task): MaybePromise<TakenMessage> {
  const taken = visit.service.tasks.take(task)
  return isThenable(taken) ? taken.then(() => heard(visit, request, task))
    : heard(visit, request, task)
}

function quicker(): A2aFault {
  return new A2aFault('UNSUPPORTED_OPERATION', 'Another message was quicker; read the task first')
}

/** What becomes of a message to a task that waits, and is this process's to go on with. */
function heard(visit: A2aRequest, { message, metadata }: SendRequest, task: Task): TakenMessage {
  const { service, exchange: { origin } } = visit
  const { id, contextId, questions, turn: before } = task
  if (!service.tasks.isCurrent(task)) throw quicker()
  const said = historical(message)
  const run = service.tasks.runOf(id)
  const answers = deliverMessage(service.tasks, task, said, service.limits.maxCheckSteps)
  if (answers === undefined || run !== undefined) return { id, turn: undefined }
  const first = questions.length === 0 ? undefined : task.history.find((one) => one.id === before?.messageId)
  const turn = new TaskTurnRun({
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
  if (service.store.isShared) visit.push?.follow(task)
  return { id, turn }
}

/** A message as it stands in the history. */
function historical({ id, role, parts, metadata, extensions, referenceTaskIds }: Message): TaskMessage {
  return { id, role, parts, metadata, extensions, referenceTaskIds }
}
