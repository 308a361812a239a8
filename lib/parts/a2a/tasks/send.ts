/**
 * What becomes of a message: an agent's plain reply, a new task, the next turn of a task that waits, or the
 * answer to its questions. A task is answered at once, when it has settled, or as a stream.
 * Spec: A2A 1.0 §3.1.1, §3.1.2, §3.4.
 */
import { followTask, remoteTasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { requireScopes } from '../../../kernel/define/principal.ts'
import { deliverMessage, withAnswers } from '../../../floors/tasks/question-answer.ts'
import { isRepeated, isTerminal, turnMessage } from '../../../floors/tasks/task.ts'
import { timer } from '../../../kernel/util/clock.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { randomUuid } from '../../../kernel/wire/random.ts'
import { checkMediaTypes } from '../codec/parts.ts'
import { A2aFault } from '../model/faults.ts'
import { wrongField } from '../model/fields.ts'
import { isSettled, viewOf } from '../model/task-view.ts'
import { toolCallFor } from '../model/tool-agent.ts'
import { AgentTurn } from './agent-turn.ts'
import { checkExtensions, checkPush, findTask, requirePush } from './request.ts'
import { isRerunFor, replyWithMessage } from './run-message.ts'
import { replyStream, taskStream, turnStream } from './stream.ts'
import type { Task, TaskMessage } from '../../../floors/tasks/task.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Each, PushConfig, SendRequest, SendResult } from '../model/model.ts'
import type { ToolCall } from '../model/tool-agent.ts'
import type { TurnOutcome } from './agent-turn.ts'
import type { A2aRequest, EventStream } from './request.ts'

/** A message as it came in, and the tool that it names. */
interface Incoming {
  readonly request: A2aRequest
  readonly sent: SendRequest
  /** As the task keeps it: each member that a message may have is copied, or it does not compile. */
  readonly message: Each<TaskMessage>
  readonly tool: ToolCall | undefined
}

/** What a message has come to: the turn that it begins, or the task whose questions it answers. */
type Taken = AgentTurn | Task

export function sendMessage(request: A2aRequest, sent: SendRequest): MaybePromise<SendResult> {
  const tool = check(request, sent)
  if (!request.dialect.hasTasks || isMessenger(request)) {
    checkNoTask(request, sent)
    return replyWithMessage(request, sent, tool)
  }
  const incoming = incomingOf(request, sent, tool)
  const taken = sent.push === undefined ? take(incoming, false) : takeWatched(incoming, sent.push)
  return andThen(taken, (one) => answer(incoming, one))
}

/** Sends a message, and streams what happens. */
export function streamMessage(request: A2aRequest, sent: SendRequest): MaybePromise<EventStream> {
  const tool = check(request, sent)
  if (isMessenger(request)) {
    checkNoTask(request, sent)
    return replyStream(() => replyWithMessage(request, sent, tool))
  }
  const incoming = incomingOf(request, sent, tool)
  const taken = sent.push === undefined ? take(incoming, true) : takeWatched(incoming, sent.push)
  return andThen(taken, (one) => (
    one instanceof AgentTurn ? turnStream(request, one, sent.historyLength)
      : taskStream(request, one, sent.historyLength, true)
  ))
}

/** What is refused before it is known which task the message is for. Returns the tool that it names. */
function check(request: A2aRequest, { message }: SendRequest): ToolCall | undefined {
  const { context: { service }, agent, exchange: { origin } } = request
  service.workload.check(origin)
  checkExtensions(request)
  const tool = toolCallFor(service, agent, message.parts)
  const { scopes } = tool?.tool ?? agent
  if (scopes.length > 0) requireScopes(origin, scopes)
  return tool
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

function incomingOf(request: A2aRequest, sent: SendRequest, tool: ToolCall | undefined): Incoming {
  const { id, role, parts, metadata, extensions, referenceTaskIds } = sent.message
  return { request, sent, message: { id, role, parts, metadata, extensions, referenceTaskIds }, tool }
}

/** `isSeen`: its task is there before anything runs. */
function take(incoming: Incoming, isSeen: boolean): MaybePromise<Taken> {
  const { request, sent: { message: { taskId }, tenant } } = incoming
  if (taskId === undefined) return begin(incoming, isSeen)
  return andThen(findTask(request, tenant, taskId), (task) => goOn(incoming, task))
}

/** Takes a message, and registers its webhook, which gets the task from its beginning. */
async function takeWatched(incoming: Incoming, config: PushConfig): Promise<Taken> {
  const { request, sent } = incoming
  const { context: { service: { log }, tasks }, exchange: { origin: { principal } } } = request
  const register = await preparePush(request, config, sent.message.taskId)
  const taken = await take(incoming, true)
  const { id } = taken
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
  if (!(taken instanceof AgentTurn)) await watch()
  else if (taken.isShown) await watch().catch(unkept)
  else taken.onShown(() => watch().catch(unkept))
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
  if (taskId !== undefined) {
    await push.configs.requireRoom({ owner: origin.principal.id, id: taskId }, config.id ?? taskId)
  }
  await checkPush(request, push, config, dialect.pushAt.send)
  const traceparent = origin.header('traceparent')
  return (task) => push.register(task, { ...config, id: config.id ?? task.id }, dialect.name, traceparent)
}

function begin({ request, sent, message, tool }: Incoming, isSeen: boolean): MaybePromise<Taken> {
  const { context: { service, tasks }, agent, exchange: { origin } } = request
  const { message: { contextId: named }, tenant, metadata, outputModes } = sent
  checkMediaTypes(agent, message.parts)
  tasks.check()
  const isReserved = agent.kind === 'agent' && agent.replies === 'either'
  const turn = new AgentTurn({
    service, tasks, agent, tool, origin, message, metadata, outputModes, isReserved,
    isNamed: named !== undefined,
    isRerun: service.sharing !== undefined && isRerunFor(agent, tool),
    task: {
      id: randomUuid(), owner: origin.principal.id, protocol: 'a2a',
      runnable: { kind: agent.kind, name: agent.id }, tenant, contextId: named ?? randomUuid(),
      sessionId: undefined, ttlMs: undefined, history: [message], turn: undefined,
      isReserved: isReserved && service.sharing !== undefined,
    },
  })
  if (service.sharing === undefined && (!isSeen || isReserved)) return turn
  return andThen(turn.begin(), () => turn)
}

/** The next turn of a task, or the answer to its questions. */
function goOn(incoming: Incoming, task: Task): MaybePromise<Taken> {
  const { request: { context, agent }, sent: { message: { contextId } }, message } = incoming
  const { status: { state } } = task
  if (isTerminal(state)) {
    throw new A2aFault('UNSUPPORTED_OPERATION', `The task is ${state}; send a message without a taskId`)
  }
  if (contextId !== undefined && contextId !== task.contextId) {
    throw wrongField('params.message', 'contextId', 'is not that of the task; leave it out')
  }
  if (!isSettled(state)) {
    throw new A2aFault('UNSUPPORTED_OPERATION', 'The task is working; wait until it asks for something')
  }
  if (isRepeated(task, message)) {
    throw wrongField('params.message', 'messageId', 'was sent before; make a new one for another message')
  }
  checkMediaTypes(agent, message.parts)
  const isRemote = task.questions.length > 0 && remoteTasksOf(context.service)?.nodeOf(task) !== undefined
  return isRemote ? deliver(incoming, task) : takeUp(incoming, task)
}

/** Delivers a message to the process whose run waits for it; where that run is gone, it begins again here. */
async function deliver(incoming: Incoming, task: Task): Promise<Taken> {
  const outcome = await remoteTasksOf(incoming.request.context.service)!.deliver(task, incoming.message)
  if (outcome === 'done') return task
  if (outcome === 'late') throw quicker()
  return takeUp(incoming, task)
}

/** Makes this process the owner of the task, and goes on with it. */
function takeUp(incoming: Incoming, task: Task): MaybePromise<Taken> {
  return andThen(incoming.request.context.tasks.take(task), () => turnOf(incoming, task))
}

function quicker(): A2aFault {
  return new A2aFault('UNSUPPORTED_OPERATION', 'Another message was quicker; read the task first')
}

/** What a message begins in a task that waits, and is this process's. */
function turnOf({ request, sent, message, tool }: Incoming, task: Task): Taken {
  const { context: { service, tasks }, agent, exchange: { origin } } = request
  const { id, questions, turn: before } = task
  if (!tasks.isCurrent(task)) throw quicker()
  const run = tasks.runOf(id)
  const answers = deliverMessage(tasks, task, message, service.limits.maxCheckSteps)
  if (answers === undefined || run !== undefined) return task
  // An answer to a question begins the turn again that has asked it, with what was answered before.
  const first = questions.length === 0 ? undefined : turnMessage(task)
  const named = first === undefined ? tool : toolCallFor(service, agent, first.parts)
  const turn = new AgentTurn({
    service, tasks, agent, tool: named, origin, message: first ?? message,
    metadata: first === undefined ? sent.metadata : before?.metadata, outputModes: sent.outputModes,
    isReserved: false, isNamed: true,
    isRerun: service.sharing !== undefined && isRerunFor(agent, named),
    task: {
      ...task,
      turn: first && before && { ...before, ...withAnswers(before, answers, questions) },
    },
  })
  turn.resume()
  // Another process may have posted its events before.
  if (service.sharing !== undefined) request.context.push?.follow(task)
  return turn
}

/** Runs what a message has begun, and answers when that has settled, or the client waits no longer. */
function answer(incoming: Incoming, taken: Taken): MaybePromise<SendResult> {
  if (!(taken instanceof AgentTurn)) return watchedResult(incoming, taken.id)
  const outcome = taken.execute()
  return isThenable(outcome) ? awaitedResult(incoming, taken, outcome)
    : outcomeResult(incoming, taken.id, outcome)
}

function outcomeResult(incoming: Incoming, id: string, outcome: TurnOutcome): MaybePromise<SendResult> {
  if ('message' in outcome) return outcome
  const { task } = outcome
  // Where processes share the store another one may have ended the task otherwise.
  const isSure = task !== undefined && incoming.request.context.tasks.stored === undefined
  return isSure ? taskResult(incoming, task) : standingResult(incoming, id)
}

/** The task as it stands. */
async function standingResult(incoming: Incoming, id: string): Promise<SendResult> {
  const { context: { tasks }, exchange: { origin: { principal } } } = incoming.request
  return taskResult(incoming, await (tasks.whenKept(id) ?? tasks.get(principal.id, id)))
}

/**
 * The outcome of a turn, for a client that waits for it. It gets the task as it stands where it does not want
 * to wait, or no longer; where it leaves before there is a task, the run ends, as that of any plain answer.
 */
function awaitedResult(
  incoming: Incoming, turn: AgentTurn, outcome: Promise<TurnOutcome>,
): Promise<SendResult> {
  const { request: { context, exchange: { origin } }, sent: { isBlocking } } = incoming
  return new Promise((resolve, reject) => {
    let running: NodeJS.Timeout | undefined
    let isOver = false
    const end = (): void => {
      isOver = true
      clearTimeout(running)
    }
    const leave = (): void => {
      if (isOver) return
      end()
      resolve(standingResult(incoming, turn.id))
    }
    turn.onShown(() => {
      if (isBlocking) running = timer(context.limits.blockingWaitMs, leave)
      else leave()
    })
    origin.onDisconnect(() => {
      if (turn.isShown) leave()
      else turn.call.disconnect()
    })
    outcome.then((one) => outcomeResult(incoming, turn.id, one)).finally(end).then(resolve, reject)
  })
}

function taskResult({ request, sent }: Incoming, task: Task | undefined): MaybePromise<SendResult> {
  if (task === undefined) throw new Fault('busy', 'The task had to make room for others; try again later')
  const result: SendResult = { what: 'task', task: viewOf(task, sent.historyLength) }
  // The client's next request may go to another process.
  const { tasks } = request.context
  const kept = tasks.stored && tasks.whenPersisted(task.id)
  return kept === undefined ? result : kept.then(() => result)
}

/** The task of a run that another message has begun, when it has settled, or the client waits no longer. */
async function watchedResult(incoming: Incoming, id: string): Promise<SendResult> {
  const { request, sent: { isBlocking } } = incoming
  const task = await request.context.tasks.get(request.exchange.origin.principal.id, id)
  const isWanted = task === undefined || !isBlocking || isSettled(task.status.state)
  return taskResult(incoming, isWanted ? task : await whenSettled(request, task))
}

/** Resolves when the task has settled or takes too long, and when the client has left. */
function whenSettled(
  { context: { service, limits }, exchange: { origin } }: A2aRequest, task: Task,
): Promise<Task> {
  return new Promise((resolve) => {
    let standing: { readonly task: Task } = { task }
    let isOver = false
    let leave = (): void => {}
    const done = (): void => {
      isOver = true
      clearTimeout(running)
      leave()
      resolve(standing.task)
    }
    const running = timer(limits.blockingWaitMs, done)
    leave = followTask(service, task, (now) => {
      standing = { task: now }
      if (isSettled(now.status.state)) done()
    }, (event, after) => {
      standing = after
      if (event.what === 'forgotten' || (event.what === 'status' && isSettled(event.status.state))) done()
    })
    if (isOver) leave()
    else origin.onDisconnect(done)
  })
}
