/**
 * Task-augmented requests, as 2025-11-25 has them: the client asks for a task with `task` in `tools/call`,
 * polls or waits for it, and is asked on a stream of its session.
 *
 * Without a key, tasks are listed to the session that began them alone: whoever has no name cannot be told
 * from others. Spec: MCP 2025-11-25, Tasks.
 */
import { isRecord, textOf } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { anonymous, requireScopes } from '../../define/principal.ts'
import { isTerminal } from '../../tasks/task.ts'
import { TaskRun } from '../../run/task-run.ts'
import { andThen, isThenable } from '../../util/thenable.ts'
import { sentenceWithin } from '../../wire/bounded.ts'
import { formatNotification } from '../../wire/jsonrpc.ts'
import { completeElicitation, openCall } from '../request/call-channel.ts'
import { memoryOf, isOurs, lifeOf, onTask, resultOf, POLL_MS, statuses, taskMembers } from './task-shape.ts'
import { pageOf } from '../request/lists.ts'
import { canAsk, encodeQuestion } from '../protocol/questions.ts'
import { lendQuestions, related, streamOf, TaskAsking, TaskStream } from './task-asking.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { LiveCall } from '../../define/live-call.ts'
import type { TaskClient } from '../../run/task-run.ts'
import type { ListedTask, RunningTask, Task, TaskQuestion, Watcher } from '../../tasks/task.ts'
import type { Tool, ToolResult } from '../../define/tool.ts'
import type { McpContext } from '../request/context.ts'
import type { KeptRequest } from './task-shape.ts'
import type { McpRequest } from '../request/request.ts'
import type { Shared } from '../../run/service.ts'

/** Where the messages of a task that belong to no request go. */
const augmented = new WeakMap<RunningTask, AugmentedTask>()

/**
 * Whether the client wants the call as a task. Throws `Fault('unsupported')` where the tool is none or the
 * client must want one.
 */
export function wantsTask({ mcp, params }: McpRequest, tool: Tool): boolean {
  // A server without the capability passes over what asks for it.
  const isWanted = params['task'] !== undefined && mcp.offersTasks
  if (isWanted && tool.task === 'forbidden') {
    const why = `The tool ${tool.name} does not run as a task; call it without params.task`
    throw new Fault('unsupported', why)
  }
  if (!isWanted && tool.task === 'required') {
    throw new Fault('unsupported', `The tool ${tool.name} runs only as a task; call it with params.task`)
  }
  return isWanted
}

/** Makes a call a task, answers with it, and runs the tool. Throws where no task can be promised. */
export function runAugmented(
  request: McpRequest, tool: Tool, work: (call: LiveCall) => MaybePromise<ToolResult>,
): undefined | Promise<undefined> {
  const { mcp: { service }, origin, params: { task: wanted }, peer: { session } } = request
  const ttl = isRecord(wanted) ? wanted['ttl'] : undefined
  if (!isRecord(wanted) || (ttl !== undefined && !(typeof ttl === 'number' && ttl > 0))) {
    throw new Fault('invalid', 'params.task must be an object, its ttl milliseconds above zero')
  }
  // What refuses the call refuses the task.
  requireScopes(origin.principal, tool.scopes)
  service.workload.check(origin)
  session?.workload.check()
  const call = openCall(request)
  const memory = memoryOf(request, tool, () => undefined)
  if (tool.recover === 'rerun') memory?.begin()
  const run = new TaskRun(service, call, new AugmentedClient(request), memory)
  const task = run.begin({
    owner: origin.principal.id, protocol: 'mcp', runnable: tool, contextId: '', sessionId: session?.id,
    ttlMs: ttl === undefined ? undefined : Math.min(ttl, service.limits.taskKeepMs),
  })
  const go = (begun: Task): undefined => {
    // From now on nothing that happens to the request matters to the run.
    request.call = undefined
    session?.running.delete(request.id)
    augmented.set(run, new AugmentedTask(request, begun, run))
    request.succeed({ task: shapeOf(request, begun) })
    execute(request, run, () => work(call))
  }
  return andThen(task, go)
}

/** Runs a tool again for a task that is this process's by now. */
export function rerunAugmented(
  request: KeptRequest, tool: Tool, task: Task, work: (call: LiveCall) => MaybePromise<ToolResult>,
): void {
  const call = openCall(request)
  const memory = memoryOf(request, tool, () => undefined, task.turn)
  const run = new TaskRun(request.mcp.service, call, new AugmentedClient(request), memory)
  augmented.set(run, new AugmentedTask(request, task, run))
  run.resume(task.id)
  execute(request, run, () => work(call))
}

/** Lets the streams of other processes ask what tasks ask that run here. */
export function serveTaskQuestions({ service: { shared, tasks } }: McpContext): void {
  if (shared === undefined) return
  lendQuestions(shared, (owner, id) => {
    const run = tasks.runOf(id)
    const known = run && augmented.get(run)
    return known?.owner === owner ? known.asking : undefined
  })
}

function execute(request: McpRequest, run: TaskRun, work: () => MaybePromise<ToolResult>): void {
  const failed = (error: unknown): void => run.fail(request.faultOf(error))
  try {
    const result = work()
    if (isThenable(result)) result.then((later) => run.complete(later)).catch(failed)
    else run.complete(result)
  } catch (error) {
    failed(error)
  }
}

/** What the client of the request that began a task can be asked, and how it hears of progress. */
class AugmentedClient implements TaskClient {
  readonly #request: McpRequest
  readonly isResumable: boolean
  #lastProgress = -Infinity

  constructor(request: McpRequest) {
    this.#request = request
    this.isResumable = request.mcp.service.shared !== undefined
  }

  can(what: Parameters<TaskClient['can']>[0]): boolean {
    const { peer, sessionId } = this.#request
    return sessionId !== undefined && canAsk(peer, what)
  }

  check(question: TaskQuestion['question']): void {
    encodeQuestion(question, this.#request.peer)
  }

  /** The token of the request that began the task goes on to count. */
  progress(done: number, total: number | undefined, message: string | undefined, taskId: string): void {
    const { metadata: { progressToken }, session } = this.#request
    if (progressToken === undefined || !(done > this.#lastProgress)) return
    this.#lastProgress = done
    const params = { progressToken, progress: done, total, message, _meta: related(taskId) }
    session?.outlet?.send(formatNotification('notifications/progress', JSON.stringify(params)))
  }

  completeElicitation(elicitationId: string): void {
    completeElicitation(this.#request, elicitationId)
  }
}

/**
 * A task on its way: tells the session what becomes of it, and sends its questions where a stream is open.
 */
class AugmentedTask {
  readonly owner: string
  readonly asking: TaskAsking
  readonly #request: McpRequest

  constructor(request: McpRequest, { id, owner }: Task, run: RunningTask) {
    const { tasks, shared } = request.mcp.service
    // Its run may have ended meanwhile: then an answer begins it again, and a refusal ends the task.
    const migration = (): Shared | undefined => tasks.runOf(id) === run ? undefined : shared
    this.#request = request
    this.owner = owner
    this.asking = new TaskAsking({
      answer: (key, answer) => {
        const answers = new Map([[key, answer]])
        const { remoteTasks } = migration() ?? {}
        if (remoteTasks === undefined) run.answer(answers)
        else this.#bring(id, (task) => remoteTasks.answer(task, answers))
      },
      refuse: (key, reason) => {
        const { remoteTasks } = migration() ?? {}
        if (remoteTasks === undefined) run.refuse(key, reason)
        else this.#bring(id, (task) => remoteTasks.refuse(task, key, reason.message))
      },
      fallback: () => streamOf(request, id, request.session?.outlet),
    })
    tasks.watch(owner, id, (event, { task }) => this.#heard(task, event.what === 'forgotten'))
  }

  #bring(id: string, give: (task: Task) => Promise<void>): void {
    const { tasks, log } = this.#request.mcp.service
    const bring = async (): Promise<void> => {
      const task = await tasks.get(this.owner, id)
      if (task !== undefined) await give(task)
    }
    bring().catch((cause: unknown) => (
      log('warning', 'An answer could not be brought to its task', { task: id, cause })
    ))
  }

  #heard(task: Task, isGone: boolean): void {
    if (isGone) return this.asking.show([])
    const { session, mcp: { migration } } = this.#request
    const { sessionId } = task
    const params = JSON.stringify(shapeOf(this.#request, task))
    const text = formatNotification('notifications/tasks/status', params)
    if (sessionId !== undefined && migration !== undefined) migration.send(sessionId, this.owner, text)
    else session?.outlet?.send(text)
    this.asking.show(task.questions)
  }
}

/** A task as it stands. A tool's own failure is the task's, and what it says is why. */
function shapeOf({ mcp }: McpRequest, task: Task): Readonly<Record<string, unknown>> {
  const { status: { state }, result } = task
  const hasFailed = state === 'completed' && isRecord(result) && result['isError'] === true
  const why = hasFailed && Array.isArray(result['content']) ? textOf(result['content']) : ''
  return {
    ...taskMembers(task),
    ...why !== '' && { statusMessage: sentenceWithin(why) },
    status: hasFailed ? 'failed' : statuses[state],
    ttl: lifeOf(task, mcp.service.limits),
    pollInterval: POLL_MS,
  }
}

/** `tasks/get`. */
export function getAugmented(request: McpRequest): MaybePromise<object> {
  return onTask(request, (task) => shapeOf(request, task))
}

/** `tasks/list`: the principal's own; without a key, the session's. */
export function listAugmented(request: McpRequest): MaybePromise<string> {
  const { mcp: { service }, origin: { principal }, peer: { session } } = request
  const isListed = (task: ListedTask): boolean => isOurs(task)
    && (principal.id !== anonymous.id || (session !== undefined && task.sessionId === session.id))
  const page = (tasks: readonly ListedTask[]): string => {
    const listed = tasks.filter(isListed).map(({ task }) => task)
    listed.sort((one, other) => one.createdAt < other.createdAt ? 1 : -1)
    return pageOf(request, 'tasks', listed.map((task) => ({ name: task.id, shown: shapeOf(request, task) })))
  }
  const tasks = service.tasks.list(principal.id)
  return andThen(tasks, page)
}

/** `tasks/cancel`. Throws `Fault('invalid')` where the task has ended. */
export function cancelAugmented(request: McpRequest): MaybePromise<object> {
  const { tasks, shared } = request.mcp.service
  const cancelled = (): MaybePromise<object> => onTask(request, (task) => {
    if (task.status.state !== 'canceled') requireOpen(task)
    return shapeOf(request, task)
  })
  return onTask(request, (task) => {
    requireOpen(task)
    const run = tasks.runOf(task.id)
    // Where another process has it, it may have ended before that hears of this.
    if (run === undefined && shared !== undefined) return shared.remoteTasks.cancel(task).then(cancelled)
    run?.cancel()
    return cancelled()
  }) as MaybePromise<object>
}

function requireOpen({ status: { state } }: Task): void {
  if (isTerminal(state)) throw new Fault('invalid', `The task has ended already: it is ${statuses[state]}`)
}

/** `tasks/result`: waits for the task's end, and answers as its call would have. */
export function resultOfAugmented(request: McpRequest): MaybePromise<object> {
  return onTask(request, (task) => (
    isTerminal(task.status.state) ? finalResult(request, task) : wait(request, task)
  )) as MaybePromise<object>
}

function wait(request: McpRequest, task: Task): Promise<object> {
  const { id, owner } = task
  const { tasks, shared } = request.mcp.service
  const { session } = request.peer
  if (session !== undefined && session.running.size >= request.mcp.service.limits.maxCallsPerSession) {
    throw new Fault('busy', 'Too many requests of this session are waiting; try again later')
  }
  // Nothing runs for it, but the client may cancel it like a call.
  const call = openCall(request)
  const stream = streamOf(request, id, request.channel.sends ? request.channel : undefined)
  const asking = stream && new TaskStream(request, task, stream, askingOf.bind(undefined, request))
  return new Promise((resolve, reject) => {
    let stop: (() => void) | undefined
    let isOver = false
    const end = (act: () => void): void => {
      isOver = true
      stop?.()
      asking?.leave()
      act()
    }
    const look = (now: Task, isGone = false): void => {
      if (isGone) return end(() => reject(new Fault('invalid', `Unknown task: ${id}`)))
      if (!isTerminal(now.status.state)) return asking?.look(now)
      end(() => resolve(Promise.resolve(now).then((last) => finalResult(request, last))))
    }
    const hear: Watcher = (event, after) => look(after.task, event.what === 'forgotten')
    if (shared === undefined) {
      asking?.look(task)
      stop = tasks.watch(owner, id, hear)?.stop
    } else {
      stop = shared.remoteTasks.follow(task, (now) => look(now), hear)
    }
    if (isOver) stop?.()
    call.onCancel((reason) => end(() => reject(reason)))
  })
}

/** Who asks the questions of a task, where that runs here. */
function askingOf({ mcp: { service } }: McpRequest, id: string): TaskAsking | undefined {
  const run = service.tasks.runOf(id)
  return run && augmented.get(run)?.asking
}

function finalResult(request: McpRequest, task: Task): object {
  const { _meta, ...result } = resultOf(request, task)
  return { ...result, _meta: { ...isRecord(_meta) ? _meta : {}, ...related(task.id) } }
}
