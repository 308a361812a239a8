/**
 * The tasks extension, as 2026-07-28 has it: the server decides that a call becomes a task, and the client
 * polls, or listens, and brings answers by `tasks/update`.
 *
 * For those who have not declared the extension there are no tasks.
 * Spec: MCP SEP-2663; https://modelcontextprotocol.io/seps/2663-tasks-extension
 */
import { isRecord } from '../../define/content.ts'
import { asFault, Fault } from '../../define/fault.ts'
import { isTerminal } from '../../tasks/task.ts'
import { TaskRun } from '../../run/task-run.ts'
import { isThenable } from '../../util/thenable.ts'
import { RequestChannel } from '../request/call-channel.ts'
import { memoryOf, lifeOf, onTask, resultOf, POLL_MS, statuses, taskMembers } from './task-shape.ts'
import { decodeAnswer, encodeQuestion } from '../protocol/questions.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { TaskClient, RunMemory } from '../../run/task-run.ts'
import type { FaultKind } from '../../define/fault.ts'
import type { LiveCall } from '../../define/live-call.ts'
import type { Question } from '../../define/question.ts'
import type { Task, TaskTurn } from '../../tasks/task.ts'
import type { Tool, ToolResult } from '../../define/tool.ts'
import type { KeptRequest } from './task-shape.ts'
import type { McpRequest } from '../request/request.ts'

/** The name by which both sides declare it. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** What refuses a call before, or instead of, running it: no task comes of it. */
const refusals: ReadonlySet<FaultKind> = new Set([
  'unauthenticated', 'forbidden', 'unsupported', 'busy', 'cancelled',
])

/**
 * Whether a call of the tool may be answered with a task. Throws `Fault('unsupported')` for a tool that needs
 * one and a client that does not know them.
 */
export function mayBecomeTask(request: McpRequest, tool: Tool): boolean {
  if (tool.task === 'forbidden') return false
  if (tool.task === 'required') requireTasks(request)
  return knowsTasks(request)
}

function knowsTasks({ peer }: McpRequest): boolean {
  return isRecord(peer.abilities.extensions[TASKS])
}

/** Throws `Fault('unsupported')` for a client that has not declared the extension. */
export function requireTasks(request: McpRequest): void {
  if (knowsTasks(request)) return
  throw new Fault('unsupported', `This client has not declared the extension ${TASKS}`, {
    ability: 'tasks', requiredCapabilities: { extensions: { [TASKS]: {} } },
  })
}

/** What runs a tool for a call: gives its result, in the words of no revision. */
type Work = (call: LiveCall) => MaybePromise<ToolResult>

/** Writes a result where the call is answered with it. */
type Encode = (request: McpRequest, tool: Tool, result: ToolResult) => string

/**
 * Runs a tool that may become a task, and answers the request, now or later: with the result, with a round of
 * questions, or with a task. Until it is one, the run is like any other. Throws `Fault('busy')` where the
 * tool needs a task and there is no room for one.
 */
export function runTaskable(
  request: McpRequest, tool: Tool, subject: readonly unknown[], work: Work, encode: Encode,
): undefined {
  if (tool.task === 'required') {
    const { tasks, shared } = request.mcp.service
    tasks.check()
    if (shared?.store.isUnavailable === true) {
      throw new Fault('busy', 'No task can be kept now; try again later')
    }
  }
  return new TaskableChannel(request, tool, subject).run(work, encode)
}

/** Runs a tool again for a task that is this process's by now. */
export function rerunTaskable(
  request: KeptRequest, tool: Tool, subject: readonly unknown[], task: Task, work: Work,
): void {
  new TaskableChannel(request, tool, subject, task.turn).rerun(task, work)
}

/**
 * The way back of a call that may become a task: it has no progress and no log, because tasks have none. When
 * it becomes one, the task's run takes its place, and this only answers what was known before.
 */
class TaskableChannel extends RequestChannel implements TaskClient {
  readonly #tool: Tool
  readonly #task: TaskRun
  readonly #memory: RunMemory | undefined
  /** Where others share the store, an answer begins it again. */
  readonly isResumable: boolean
  #said: string | undefined
  /** A task on its way into the store, and why it did not get there. */
  #beginning: Promise<void> | undefined
  #refusal: unknown

  constructor(request: McpRequest, tool: Tool, subject: readonly unknown[], before?: TaskTurn) {
    super(request, subject)
    this.#tool = tool
    this.#memory = memoryOf(request, tool, () => this.rounds, before)
    this.isResumable = this.#memory !== undefined
    this.#task = new TaskRun(request.mcp.service, this.live, this, this.#memory)
  }

  rerun({ id }: Task, work: Work): void {
    this.#task.resume(id)
    this.request.call = undefined
    try {
      const output = work(this.live)
      if (isThenable(output)) {
        output.then((result) => this.#task.complete(result)).catch((error: unknown) => this.#fail(error))
      } else {
        this.#task.complete(output)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  run(work: Work, encode: Encode): undefined {
    let output
    try {
      output = work(this.live)
      if (!isThenable(output)) return this.#succeed(output, encode)
    } catch (error) {
      return this.#fail(error)
    }
    output.then((result) => this.#succeed(result, encode)).catch((error: unknown) => this.#fail(error))
    // A run that asks by now ends with its round, and comes back with the answers.
    setImmediate(() => {
      if (!this.live.over && !this.isAsking) this.detach()
    })
    return undefined
  }

  override progress(_done: number, _total: number | undefined, text: string | undefined): void {
    if (text !== undefined) this.#said = text
  }

  override log(): void {}

  /** The rounds before the task remember it, and from then on the task. */
  override once(key: string, fn: () => unknown): Promise<unknown> {
    return super.once(key, () => this.#task.remember(key, fn))
  }

  check(question: Question): void {
    encodeQuestion(question, this.request.peer)
  }

  known(question: Question): unknown {
    return this.roundTrips().known(question)
  }

  /** Makes it a task and tells the client. Nothing where it is one, or is answered, or there is no room. */
  override detach(): void {
    const { request } = this
    const { mcp, origin } = request
    const isBegun = this.#task.isTask || this.#beginning !== undefined
    if (isBegun || request.isFinished || mcp.service.tasks.isFull) return
    if (this.#tool.recover === 'rerun') this.#memory?.begin()
    const task = this.#task.begin({
      owner: origin.principal.id, protocol: 'mcp', runnable: this.#tool, contextId: '', sessionId: undefined,
      ttlMs: undefined,
    }, this.#said)
    if (!isThenable(task)) return this.#tell(task)
    // What is asked meanwhile is the task's to ask.
    const rounds = this.roundTrips()
    rounds.hold()
    this.#beginning = task.then((kept) => this.#tell(kept), (error: unknown) => {
      this.#refusal = error
      // What cannot be promised is not run. Where no task is needed, it goes on as a call.
      if (this.#tool.task === 'required') this.live.cancel(asFault(error))
      else rounds.letGo(this.live)
    })
  }

  #tell(task: Task): void {
    const { request } = this
    // From now on nothing that happens to the request matters to the run.
    request.call = undefined
    const { clock } = this.live
    for (const { question, resolve, reject } of this.roundTrips().release()) {
      // Only now is the client waited for.
      clock.begin()
      this.#task.ask(question).finally(() => clock.end()).then(resolve, reject)
    }
    request.succeed({ resultType: 'task', ...shapeOf(request, task) })
  }

  #succeed(result: ToolResult, encode: Encode): undefined {
    this.#end(
      () => this.#task.complete(result),
      () => this.request.succeed(encode(this.request, this.#tool, result)),
    )
  }

  #fail(thrown: unknown): undefined {
    // While its task is on its way into the store, it is not known yet whose failure it is.
    const mayBeTask = this.#task.isTask || this.#beginning !== undefined
    if (!mayBeTask && refusals.has(asFault(thrown).kind)) return void this.request.fail(thrown)
    this.#end(() => this.#task.fail(this.request.faultOf(thrown)), () => this.request.fail(thrown))
  }

  /** The outcome belongs to a task where there is one, or where the tool always answers with one. */
  #end(toTask: () => void, toRequest: () => void): void {
    const isRequired = this.#tool.task === 'required'
    if (isRequired) this.detach()
    const settle = (): void => {
      if (this.#task.isTask) toTask()
      else if (isRequired && this.#refusal !== undefined) this.request.fail(this.#refusal)
      else toRequest()
    }
    if (this.#beginning === undefined) settle()
    else this.#beginning.then(settle).catch((error: unknown) => this.request.fail(error))
  }
}

/** A task as it stands: its state, and what belongs to that state. */
export function shapeOf(request: McpRequest, task: Task): Readonly<Record<string, unknown>> {
  const { status: { state }, questions } = task
  return {
    ...taskMembers(task),
    status: statuses[state],
    ttlMs: lifeOf(task, request.mcp.service.limits),
    pollIntervalMs: POLL_MS,
    ...state === 'input-required' && {
      inputRequests: Object.fromEntries(questions.map(({ key, question }) => (
        [key, encodeQuestion(question, request.peer)]
      ))),
    },
    ...(state === 'completed' || state === 'failed') && outcomeOf(request, task),
  }
}

function outcomeOf(request: McpRequest, task: Task): object {
  try {
    return { result: request.stamped(resultOf(request, task)) }
  } catch (error) {
    return { error: request.errorOf(asFault(error)) }
  }
}

/** `tasks/get`. */
export function getTask(request: McpRequest): MaybePromise<object> {
  requireTasks(request)
  return onTask(request, (task) => shapeOf(request, task))
}

/**
 * `tasks/update`: brings answers, as many as there are. Where one does not answer its question, none counts.
 */
export function updateTask(request: McpRequest): MaybePromise<object> {
  requireTasks(request)
  return onTask(request, (task) => {
    const { id, questions } = task
    const { inputResponses } = request.params
    if (!isRecord(inputResponses)) throw new Fault('invalid', 'params.inputResponses must be an object')
    const given = questions.filter(({ key }) => Object.hasOwn(inputResponses, key))
    const answers = given.map(({ key, question }): [string, unknown] => (
      [key, decodeResponse(request, key, question, inputResponses[key])]
    ))
    const { tasks, shared } = request.mcp.service
    if (shared !== undefined) return shared.remoteTasks.answer(task, new Map(answers)).then(() => ({}))
    tasks.runOf(id)?.answer(new Map(answers))
    return {}
  })
}

function decodeResponse(request: McpRequest, key: string, question: Question, response: unknown): unknown {
  const { peer, mcp: { service } } = request
  try {
    return decodeAnswer(question, response, peer, service.limits.maxCheckSteps)
  } catch (error) {
    throw new Fault('invalid', `params.inputResponses.${key}: ${asFault(error).message}`)
  }
}

/** `tasks/cancel`: what has ended stays as it is. */
export function cancelTask(request: McpRequest): MaybePromise<object> {
  requireTasks(request)
  return onTask(request, (task) => {
    const { tasks, shared } = request.mcp.service
    const run = tasks.runOf(task.id)
    if (run === undefined && shared !== undefined && !isTerminal(task.status.state)) {
      return shared.remoteTasks.cancel(task).then(() => ({}))
    }
    run?.cancel()
    return {}
  })
}
