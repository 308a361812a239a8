/**
 * What becomes of a message: an agent's plain reply, a new task, the next turn of a task that waits, or the
 * answer to its questions. A task is answered at once, when it has settled, or as a stream.
 * Spec: A2A 1.0 §3.1.1, §3.1.2, §3.4.
 */
import { conversationsOf } from '../../../floors/conversations/conversation.ts'
import { remoteTasksOf, tasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { callerOf } from '../../../kernel/define/call.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { requireScopes } from '../../../kernel/define/principal.ts'
import { deliverMessage, withAnswers } from '../../../floors/tasks/question-answer.ts'
import { isRepeated, isTerminal, turnMessage } from '../../../floors/tasks/task.ts'
import { timer } from '../../../kernel/util/clock.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { randomUuid } from '../../../kernel/wire/random.ts'
import { checkMediaTypes } from '../codec/parts.ts'
import { A2aFault } from '../model/faults.ts'
import { isSettled, viewOf } from '../model/task-view.ts'
import { toolCallFor } from '../model/tool-agent.ts'
import { checkPushConfig } from '../push/push-config.ts'
import { checkExtensions, findTask, requirePush } from './request.ts'
import { isRerunFor, replyWithMessage } from './run-message.ts'
import { followRemoteTask, followTask } from './stream.ts'
import { TaskTurnRun } from './task-turn-run.ts'
import type { Task, TaskMessage, Watcher } from '../../../floors/tasks/task.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Message, PushConfig, SendRequest, SendResult } from '../model/model.ts'
import type { A2aRequest, EventStream } from './request.ts'

/** A message that was taken: its task, and the turn that it begins; an answer to a question begins none. */
interface TakenMessage {
  readonly id: string
  readonly turn: TaskTurnRun | undefined
  /** The task, where it runs in another process, which has the message. */
  readonly remote?: Task
}

export function sendMessage(request: A2aRequest, sent: SendRequest): MaybePromise<SendResult> {
  check(request, sent)
  const { hasTasks } = request.dialect
  if (!hasTasks || isMessenger(request)) {
    checkNoTask(request, sent)
    return andThen(replyWithMessage(request, sent, !hasTasks), messageResult)
  }
  const taken = sent.push === undefined ? take(request, sent, false) : takeWatched(request, sent)
  return isThenable(taken) ? taken.then((one) => run(request, sent, one)) : run(request, sent, taken)
}

/** Sends a message, and streams what happens. */
export function streamMessage(request: A2aRequest, sent: SendRequest): MaybePromise<EventStream> {
  check(request, sent)
  if (isMessenger(request)) {
    checkNoTask(request, sent)
    return messageStream(request, sent)
  }
  const taken = sent.push === undefined ? take(request, sent, true) : takeWatched(request, sent)
  return andThen(taken, (one) => taskStream(request, sent, one))
}

/** What is refused before it is known which task the message is for. */
function check(request: A2aRequest, { message }: SendRequest): void {
  const { service, agent, exchange: { origin } } = request
  service.workload.check(origin)
  checkExtensions(request)
  const chosen = toolCallFor(service, agent, message.parts)
  requireScopes(origin, chosen === undefined ? agent.scopes : chosen.tool.scopes)
}

function isMessenger({ agent }: A2aRequest): boolean {
  return agent.kind === 'agent' && agent.replies === 'message'
}

/** An agent that answers with messages has no task to post about, nor to go on with. */
function checkNoTask({ agent }: A2aRequest, { message, push }: SendRequest): void {
  const why = 'This agent answers with messages, and has no tasks'
  if (push !== undefined) {
    throw new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED', `${why}; leave the push configuration out`)
  }
  if (message.taskId !== undefined) throw new A2aFault('TASK_NOT_FOUND', `${why}; leave taskId out`)
  checkMediaTypes(agent, message.parts)
}

function messageResult(message: Message): SendResult {
  return { what: 'message', message }
}

/** `isSeen`: its task is there before anything runs. */
function take(request: A2aRequest, sent: SendRequest, isSeen: boolean): MaybePromise<TakenMessage> {
  const { message: { taskId }, tenant } = sent
  if (taskId === undefined) return begin(request, sent, isSeen)
  return andThen(findTask(request, tenant, taskId), (task) => goOn(request, sent, task))
}

/** Takes a message, and registers its webhook, which gets the task from its beginning. */
async function takeWatched(request: A2aRequest, sent: SendRequest): Promise<TakenMessage> {
  const { service, exchange: { origin: { principal } } } = request
  const { log } = service
  const tasks = tasksOf(service)
  const register = await preparePush(request, sent.push!, sent.message.taskId)
  const taken = await take(request, sent, true)
  const { id, turn } = taken
  const watch = async (): Promise<void> => {
    const found = tasks.get(principal.id, id)
    // Where the store is in this process the task has not run yet.
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

/**
 * Checks the configuration that a message carries, before anything runs for it; `taskId`: the task that it
 * goes on with. Resolves to what registers it once there is a task; without an id it gets that of the task,
 * so that each message of a task may carry it. Rejects as `push-create` does.
 */
export async function preparePush(
  request: A2aRequest, config: PushConfig, taskId: string | undefined,
): Promise<(task: Task) => MaybePromise<unknown>> {
  const push = requirePush(request)
  const { dialect, exchange: { origin } } = request
  checkPushConfig(config)
  if (taskId !== undefined) {
    await push.configs.requireRoom({ owner: origin.principal.id, id: taskId }, config.id ?? taskId)
  }
  await push.checkUrl(config.url, callerOf(origin))
  const traceparent = origin.header('traceparent')
  return (task) => push.register(task, { ...config, id: config.id ?? task.id }, dialect.name, traceparent)
}

function begin(request: A2aRequest, sent: SendRequest, isSeen: boolean): MaybePromise<TakenMessage> {
  const { service, agent, extensions, exchange: { origin } } = request
  const { message: { contextId: named, parts }, tenant, metadata } = sent
  checkMediaTypes(agent, parts)
  tasksOf(service).check()
  const contextId = named ?? conversationsOf(service).makeId()
  const isReserved = agent.kind === 'agent' && agent.replies === 'either'
  const message = historical(sent.message)
  const id = randomUuid()
  const turn = new TaskTurnRun({
    service, agent, origin, message, metadata, extensions, isReserved, isNamed: named !== undefined,
    isRerun: isRerunFor(request, parts),
    task: {
      id, owner: origin.principal.id, protocol: 'a2a', runnable: { kind: agent.kind, name: agent.id }, tenant,
      contextId, sessionId: undefined, ttlMs: undefined, history: [message], turn: undefined,
      isReserved: isReserved && service.sharing !== undefined,
    },
  })
  if (service.sharing === undefined && (!isSeen || isReserved)) return { id, turn }
  const begun = turn.begin()
  return isThenable(begun) ? begun.then(() => ({ id, turn })) : { id, turn }
}

/** The next turn of a task, or the answer to its questions. */
function goOn(request: A2aRequest, sent: SendRequest, task: Task): MaybePromise<TakenMessage> {
  const { message } = sent
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
  if (isRepeated(task, historical(message))) {
    throw new Fault('invalid', 'The message was sent before; make a new messageId for another one')
  }
  checkMediaTypes(request.agent, message.parts)
  const remoteTasks = remoteTasksOf(request.service)
  const isRemote = task.questions.length > 0 && remoteTasks?.nodeOf(task) !== undefined
  return isRemote ? deliver(request, sent, task) : takeUp(request, sent, task)
}

/** Delivers a message to the process whose run waits for it; where that run is gone, it begins again here. */
async function deliver(request: A2aRequest, sent: SendRequest, task: Task): Promise<TakenMessage> {
  const outcome = await remoteTasksOf(request.service)!.deliver(task, historical(sent.message))
  if (outcome === 'done') return { id: task.id, turn: undefined, remote: task }
  if (outcome === 'late') throw quicker()
  return takeUp(request, sent, task)
}

/** Makes this process the owner of the task, and goes on with it. */
function takeUp(request: A2aRequest, sent: SendRequest, task: Task): MaybePromise<TakenMessage> {
  return andThen(tasksOf(request.service).take(task), () => turnOf(request, sent, task))
}

function quicker(): A2aFault {
  return new A2aFault('UNSUPPORTED_OPERATION', 'Another message was quicker; read the task first')
}

/** What a message begins in a task that waits, and is this process's. */
function turnOf(request: A2aRequest, sent: SendRequest, task: Task): TakenMessage {
  const { service, agent, extensions, exchange: { origin } } = request
  const { id, questions, turn: before } = task
  if (!tasksOf(service).isCurrent(task)) throw quicker()
  const message = historical(sent.message)
  const run = tasksOf(service).runOf(id)
  const answers = deliverMessage(tasksOf(service), task, message, service.limits.maxCheckSteps)
  if (answers === undefined || run !== undefined) return { id, turn: undefined }
  const first = questions.length === 0 ? undefined : turnMessage(task)
  const turn = new TaskTurnRun({
    service, agent, origin, extensions, message: first ?? message,
    metadata: first === undefined ? sent.metadata : before?.metadata, isReserved: false, isNamed: true,
    isRerun: isRerunFor(request, (first ?? message).parts),
    // What was answered before is answered again, when the run asks once more.
    task: first === undefined || before === undefined ? { ...task, turn: undefined }
      : { ...task, turn: { ...before, ...withAnswers(before, answers, questions) } },
  })
  turn.resume()
  // Another process may have posted its events before.
  if (service.sharing !== undefined) request.push?.follow(task)
  return { id, turn }
}

function historical({ id, role, parts, metadata, extensions, referenceTaskIds }: Message): TaskMessage {
  return { id, role, parts, metadata, extensions, referenceTaskIds }
}

function run(request: A2aRequest, sent: SendRequest, { id, turn }: TakenMessage): MaybePromise<SendResult> {
  const hidden = turn?.execute()
  if (hidden === undefined) return result(request, sent, id, turn)
  // A client that leaves before there is a task ends the run, as that of any plain answer.
  request.exchange.origin.onDisconnect(() => { if (turn?.isShown === false) turn.call.disconnect() })
  return hidden.then(() => result(request, sent, id, turn))
}

function result(
  request: A2aRequest, sent: SendRequest, id: string, turn: TaskTurnRun | undefined,
): MaybePromise<SendResult> {
  if (turn?.fault !== undefined) throw turn.fault
  if (turn?.reply !== undefined) return messageResult(turn.reply)
  const { service, exchange: { origin: { principal } } } = request
  const tasks = tasksOf(service)
  const task = turn?.ended ?? tasks.get(principal.id, id)
  return isThenable(task) ? task.then((one) => resultOf(request, sent, one)) : resultOf(request, sent, task)
}

function resultOf(request: A2aRequest, sent: SendRequest, task: Task | undefined): MaybePromise<SendResult> {
  if (task === undefined) throw new Fault('busy', 'The task had to make room for others; try again later')
  if (!sent.isBlocking || isSettled(task.status.state)) return taskResult(request, sent, task)
  return untilSettled(request, task).then((last) => taskResult(request, sent, last))
}

function taskResult(
  { service }: A2aRequest, { historyLength }: SendRequest, task: Task,
): MaybePromise<SendResult> {
  const result: SendResult = { what: 'task', task: viewOf(task, historyLength) }
  // The client's next request may go to another process.
  const kept = tasksOf(service).whenPersisted(task.id)
  return kept === undefined ? result : kept.then(() => result)
}

/** Resolves when the task has settled or takes too long, and when the client has left. */
function untilSettled(
  { service, limits: { blockingWaitMs }, exchange: { origin } }: A2aRequest, task: Task,
): Promise<Task> {
  const tasks = tasksOf(service)
  const remoteTasks = remoteTasksOf(service)
  return new Promise((resolve) => {
    let standing: { readonly task: Task } = { task }
    let stop = (): void => {}
    const done = (): void => {
      clearTimeout(running)
      stop()
      resolve(standing.task)
    }
    const running = timer(blockingWaitMs, done)
    const watcher: Watcher = (event, after) => {
      standing = after
      if (event.what === 'forgotten' || (event.what === 'status' && isSettled(event.status.state))) done()
    }
    if (remoteTasks?.nodeOf(task) === undefined) {
      const watched = tasks.watch(task.owner, task.id, watcher)
      if (watched === undefined) return done()
      stop = watched.stop
    } else {
      stop = remoteTasks.follow(task, (now) => {
        standing = { task: now }
        if (isSettled(now.status.state)) done()
      }, watcher)
    }
    origin.onDisconnect(done)
  })
}

function messageStream(request: A2aRequest, sent: SendRequest): EventStream {
  return {
    open(sink) {
      if (sink.closed) return undefined
      const done = (message: Message): void => {
        sink.send(messageResult(message))
        sink.end()
      }
      try {
        const answer = replyWithMessage(request, sent, false)
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
  request: A2aRequest, { historyLength }: SendRequest, { id, turn, remote }: TakenMessage,
): EventStream {
  return {
    open(sink) {
      if (remote !== undefined) return followRemoteTask(request, remote, historyLength, sink, true)
      if (turn === undefined || turn.isShown) {
        const stop = followTask(request, id, historyLength, sink, turn === undefined)
        turn?.execute()
        return stop
      }
      let stop: (() => void) | undefined
      turn.onShown(() => {
        if (turn.fault !== undefined) return sink.end(turn.fault)
        if (turn.reply === undefined) return void (stop = followTask(request, id, historyLength, sink))
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
