/**
 * Task-augmented requests, as 2025-11-25 has them: the client asks for a task with `task` in `tools/call`,
 * polls or waits for it, and is asked on a stream of its session. Without a key, `tasks/list` gives those of
 * the session alone: anonymous clients cannot be distinguished otherwise. Spec: MCP 2025-11-25, Tasks.
 */
import { sharedOf } from '../../floors/shared/shared-of.ts'
import { tasksOf } from '../../floors/tasks/tasks-floor.ts'
import { isRecord, textOf } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { anonymous, requireScopes } from '../../kernel/define/principal.ts'
import { cancelTaskRun } from '../../floors/tasks/task-run.ts'
import { isTerminal } from '../../floors/tasks/task.ts'
import { andThen } from '../../kernel/util/thenable.ts'
import { sentenceWithin } from '../../kernel/wire/bounded.ts'
import { formatNotification } from '../../floors/jsonrpc/jsonrpc.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { openCall } from '../mcp/request/call-channel.ts'
import { pageOf } from '../mcp/request/lists.ts'
import { canAsk } from '../mcp/protocol/questions.ts'
import { bring, related, serveQuestions, streamOf, TaskAsking, TaskStream } from './task-asking.ts'
import {
  isOurs, lifeOf, observeTask, onTask, POLL_MS, resultOf, statuses, TaskChannel, taskMembers,
} from './mcp-task.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Ability } from '../../kernel/define/question.ts'
import type { RunningTask, Task } from '../../floors/tasks/task.ts'
import type { Quota } from '../../kernel/util/quota.ts'
import type { Tool } from '../../kernel/define/tool.ts'
import type { McpContext } from '../mcp/request/context.ts'
import type { McpFacts, McpRequest } from '../mcp/request/request.ts'
import type { McpResult } from '../mcp/methods/extension.ts'
import type { Generation } from './mcp-task.ts'
import type { AnswerHandler, QuestionStream } from './task-asking.ts'

const augmented = new WeakMap<RunningTask, AugmentedTask>()

/** Makes a call a task, answers with it, and runs the tool. Throws where no task can be promised. */
function run(
  request: McpRequest, tool: Tool, args: Readonly<Record<string, unknown>>,
): MaybePromise<undefined> {
  const { mcp: { service }, origin, params: { task: wanted }, peer: { session } } = request
  const ttl = isRecord(wanted) ? wanted['ttl'] : undefined
  if (!isRecord(wanted) || (ttl !== undefined && !(typeof ttl === 'number' && ttl > 0))) {
    throw new Fault('invalid', 'params.task must be an object, its ttl milliseconds above zero')
  }
  // What refuses the call refuses the task.
  requireScopes(origin, tool.scopes)
  service.workload.check(origin)
  session?.workload.check()
  const ttlMs = ttl === undefined ? undefined : Math.min(ttl, service.limits.taskKeepMs)
  return new AugmentedTask(request, tool, args).start(ttlMs)
}

/** Lets tasks that run here ask on the streams of other processes. */
export function serveTaskQuestions({ service }: McpContext): void {
  const shared = sharedOf(service)
  const tasks = tasksOf(service)
  if (shared === undefined) return
  serveQuestions(shared, (owner, id) => {
    const run = tasks.runOf(id)
    const known = run && augmented.get(run)
    return known?.owner === owner ? known.asking : undefined
  })
}

/** A task on its way: notifies its session of changes, and asks its questions where a stream is open. */
class AugmentedTask extends TaskChannel implements AnswerHandler {
  readonly asking: TaskAsking = new TaskAsking(this)
  #id = ''

  get owner(): string { return this.facts.origin.principal.id }

  start(ttlMs: number | undefined): MaybePromise<undefined> {
    return andThen(this.begin(ttlMs), (task) => {
      const request = this.leaveRequest()
      this.#watch(task)
      request?.succeed({ task: shapeOf(request, task) })
      void this.runTask()
      return undefined
    })
  }

  override rerun(task: Task): void {
    this.#watch(task)
    super.rerun(task)
  }

  #watch({ id }: Task): void {
    this.#id = id
    augmented.set(this.run, this)
    tasksOf(this.facts.mcp.service).watch(this.owner, id, (event, { task }) => {
      if (event.what === 'forgotten') this.asking.show([])
      else this.#changed(task)
    })
  }

  #changed(task: Task): void {
    const { session, mcp: { migration } } = this.facts
    const { sessionId } = task
    const params = formatJson(shapeOf(this.facts, task))
    const text = formatNotification('notifications/tasks/status', params)
    if (sessionId !== undefined && migration !== undefined) migration.send(sessionId, this.owner, text)
    else session?.outlet?.send(text)
    this.asking.show(task.questions)
  }

  override can(what: Ability): boolean {
    return this.facts.sessionId !== undefined && canAsk(this.facts.peer, what)
  }

  /** The progress token of the request that began the task stays valid. */
  protected override notify(method: string, params: object): void {
    const text = formatJson({ ...params, _meta: related(this.#id) })
    this.facts.session?.outlet?.send(formatNotification(method, text))
  }

  answer(key: string, answer: unknown): void {
    const answers = new Map([[key, answer]])
    if (this.#isHere) this.run.answer(answers)
    else bring(this.facts, this.#id, (remote, task) => remote.answer(task, answers))
  }

  refuse(key: string, reason: Fault): void {
    if (this.#isHere) this.run.refuse(key, reason)
    else bring(this.facts, this.#id, (remote, task) => remote.refuse(task, key, reason.message))
  }

  fallback(): QuestionStream | undefined {
    return streamOf(this.facts, this.#id, this.facts.session?.outlet)
  }

  /** Whether its run goes on. Where it does not, an answer begins it again, and a refusal ends the task. */
  get #isHere(): boolean {
    const { service } = this.facts.mcp
    return sharedOf(service) === undefined || tasksOf(service).runOf(this.#id) === this.run
  }
}

/** A task as it stands. A result with `isError` is a failed task, and its text says why. */
function shapeOf({ mcp }: McpFacts, task: Task): Readonly<Record<string, unknown>> {
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

/** `tasks/list`: the principal's own; without a key, the session's. */
function list(request: McpRequest): MaybePromise<string> {
  const { mcp: { service }, origin: { principal }, peer: { session } } = request
  const isListed = (task: Task): boolean => isOurs(task)
    && (principal.id !== anonymous.id || (session !== undefined && task.sessionId === session.id))
  return andThen(tasksOf(service).list(principal.id), (tasks) => {
    const items = tasks.filter(isListed).map((task) => (
      { name: `${task.createdAt} ${task.id}`, show: () => shapeOf(request, task) }
    ))
    items.sort((one, other) => one.name < other.name ? 1 : -1)
    return pageOf(request, 'tasks', items, principal.id)
  })
}

/** `tasks/cancel`. Throws `Fault('invalid')` where the task has ended. */
function cancel(request: McpRequest): MaybePromise<object> {
  return onTask(request, (before) => {
    requireOpen(before)
    return andThen(cancelTaskRun(request.mcp.service, before), () => onTask(request, (task) => {
      // A task of another process may end before the request to cancel it is there.
      if (task.status.state !== 'canceled') requireOpen(task)
      return shapeOf(request, task)
    }))
  }) as MaybePromise<object>
}

function requireOpen({ status: { state } }: Task): void {
  if (isTerminal(state)) throw new Fault('invalid', `The task has ended already: it is ${statuses[state]}`)
}

/** `tasks/result`: waits for the task's end, and answers as its call would have. */
function result(request: McpRequest, waiting: Quota): McpResult {
  return onTask(request, (task) => (
    isTerminal(task.status.state) ? finalResult(request, task) : wait(request, waiting, task)
  )) as McpResult
}

function wait(request: McpRequest, waiting: Quota, task: Task): Promise<object | undefined> {
  const { id } = task
  const { mcp: { service }, origin } = request
  // Nothing runs for it, but the client may cancel it like a call.
  const call = openCall(request)
  if (!waiting.take(call, 1)) {
    throw new Fault('busy', `${waiting.max} requests wait for their tasks already; try again later`)
  }
  origin.retain?.()
  const stream = streamOf(request, id, request.channel.sends ? request.channel : undefined)
  const asking = stream && new TaskStream(request, task, stream, (other) => {
    const run = tasksOf(service).runOf(other)
    return run && augmented.get(run)?.asking
  })
  return new Promise((resolve, reject) => {
    let stop: (() => void) | undefined
    let isOver = false
    const end = (act: () => void): void => {
      if (isOver) return
      isOver = true
      call.close()
      origin.release?.()
      stop?.()
      asking?.leave()
      act()
    }
    const update = (now: Task, isGone: boolean): void => {
      if (isGone) return end(() => reject(new Fault('invalid', `Unknown task: ${id}`)))
      if (!isTerminal(now.status.state)) return asking?.update(now)
      end(() => resolve(Promise.resolve(now).then((last) => finalResult(request, last))))
    }
    stop = observeTask(service, task, update)
    if (isOver) stop()
    call.onCancel((reason) => end(() => reject(reason)))
  })
}

/** Undefined where the task has failed: that is answered here, since it is no refusal of this request. */
function finalResult(request: McpRequest, task: Task): object | undefined {
  let ended
  try {
    ended = resultOf(request, task)
  } catch (failure) {
    request.report(request.faultOf(failure))
    return undefined
  }
  const { _meta, ...result } = ended
  return { ...result, _meta: { ...isRecord(_meta) ? _meta : {}, ...related(task.id) } }
}

export const augmentation: Generation = {
  run,
  rerun: (facts, tool, task) => new AugmentedTask(facts, tool, facts.args).rerun(task),
  methods: { get: (request) => onTask(request, (task) => shapeOf(request, task)), result, list, cancel },
}
