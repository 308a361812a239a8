/**
 * The tasks extension, as 2026-07-28 has it: the server decides that a call becomes a task, and the client
 * polls, or listens, and answers by `tasks/update`. Without the extension a client gets no tasks.
 * Spec: MCP SEP-2663; https://modelcontextprotocol.io/seps/2663-tasks-extension
 */
import { remoteTasksOf, tasksOf } from '../../floors/tasks/tasks-floor.ts'
import { isRecord } from '../../kernel/define/content.ts'
import { asFault, Fault } from '../../kernel/define/fault.ts'
import { cancelTaskRun } from '../../floors/tasks/task-run.ts'
import { isTerminal } from '../../floors/tasks/task.ts'
import { andThen, isThenable } from '../../kernel/util/thenable.ts'
import { encodeToolResult, subjectOf } from '../mcp/methods/tools-call.ts'
import { decodeAnswer, encodeQuestion } from '../mcp/protocol/questions.ts'
import {
  lifeOf, onTask, POLL_MS, resultOf, statuses, TaskChannel, taskMembers,
} from './mcp-task.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { FaultKind } from '../../kernel/define/fault.ts'
import type { Question } from '../../kernel/define/question.ts'
import type { Task } from '../../floors/tasks/task.ts'
import type { Tool } from '../../kernel/define/tool.ts'
import type { Generation } from './mcp-task.ts'
import type { McpFacts, McpRequest } from '../mcp/request/request.ts'

/** What refuses a call instead of running it: no task comes of it. */
const refusals: ReadonlySet<FaultKind> = new Set([
  'unauthenticated', 'forbidden', 'unsupported', 'busy', 'cancelled',
])

/**
 * Runs a tool that may become a task, and answers the request: with the result, with questions, or with a
 * task. Throws `Fault('busy')` where the tool needs a task and there is no room for one.
 */
function run(
  request: McpRequest, tool: Tool, args: Readonly<Record<string, unknown>>,
): undefined {
  if (tool.task === 'required') {
    const { service } = request.mcp
    const tasks = tasksOf(service)
    tasks.check()
    if (service.sharing?.store.isUnavailable === true) {
      throw new Fault('busy', 'No task can be kept now; try again later')
    }
  }
  void new TaskableChannel(request, tool, args, subjectOf(tool, args)).start()
}

/** The channel of a call that may become a task: without progress and logs, because tasks have none. */
class TaskableChannel extends TaskChannel {
  #message: string | undefined
  /** Pending while a task is being written to the store. */
  #beginning: Promise<void> | undefined
  #refusal: unknown

  async start(): Promise<void> {
    // A run that asks by now ends with its round, and comes back with the answers.
    setImmediate(() => {
      if (!this.live.over && !this.isAsking) this.detach()
    })
    try {
      const result = await this.work()
      await this.#placed()
      if (this.run.isTask) this.run.complete(result)
      else this.request?.succeed(encodeToolResult(this.facts, this.tool, result))
    } catch (error) {
      await this.#fail(error)
    }
  }

  override progress(_done: number, _total: number | undefined, text: string | undefined): void {
    if (text !== undefined) this.#message = text
  }

  override log(): void {}

  known(question: Question): unknown {
    return this.flow().known(question)
  }

  /** Makes it a task and answers with it. Nothing where it is one, or is answered, or there is no room. */
  override detach(): void {
    const { request } = this
    if (request === undefined || request.isFinished) return
    if (this.#mayBeTask || tasksOf(request.mcp.service).isFull) return
    const task = this.begin(undefined, this.#message)
    if (!isThenable(task)) return this.#answerWith(task)
    // Questions of the meantime are asked by the task.
    const flow = this.flow()
    const hold = flow.hold()
    this.#beginning = task.then((kept) => {
      hold.close()
      this.#answerWith(kept)
    }, (error: unknown) => {
      this.#refusal = error
      // Where no task is needed, it goes on as a call; otherwise it must not run.
      if (this.tool.task === 'required') this.live.cancel(asFault(error))
      else flow.resume(hold)
    })
  }

  get #mayBeTask(): boolean { return this.run.isTask || this.#beginning !== undefined }

  #answerWith(task: Task): void {
    const request = this.leaveRequest()
    const { clock } = this.live
    for (const { question, resolve, reject } of this.flow().release()) {
      // Only now does the run wait for its client.
      clock.stop()
      this.run.ask(question).finally(() => clock.resume()).then(resolve, reject)
    }
    request?.succeed({ resultType: 'task', ...shapeOf(request, task) })
  }

  async #fail(thrown: unknown): Promise<void> {
    if (!this.#mayBeTask && refusals.has(asFault(thrown).kind)) return this.request?.fail(thrown)
    try {
      await this.#placed()
    } catch (refusal) {
      return this.request?.fail(refusal)
    }
    if (this.run.isTask) this.run.fail(this.facts.faultOf(thrown))
    else this.request?.fail(thrown)
  }

  /**
   * Resolves when it is known whether the outcome belongs to a task: where there is one, and where the tool
   * always answers with one. Rejects where that must be and cannot.
   */
  async #placed(): Promise<void> {
    const isRequired = this.tool.task === 'required'
    if (isRequired) this.detach()
    await this.#beginning
    if (isRequired && !this.run.isTask && this.#refusal !== undefined) throw this.#refusal
  }
}

export function shapeOf(facts: McpFacts, task: Task): Readonly<Record<string, unknown>> {
  const { status: { state }, questions } = task
  return {
    ...taskMembers(task),
    status: statuses[state],
    ttlMs: lifeOf(task, facts.mcp.service.limits),
    pollIntervalMs: POLL_MS,
    ...state === 'input-required' && {
      inputRequests: Object.fromEntries(questions.map(({ key, question }) => (
        [key, encodeQuestion(question, facts.peer)]
      ))),
    },
    ...(state === 'completed' || state === 'failed') && outcomeOf(facts, task),
  }
}

function outcomeOf(facts: McpFacts, task: Task): object {
  try {
    return { result: facts.stamped(resultOf(facts, task)) }
  } catch (error) {
    return { error: facts.errorOf(asFault(error)) }
  }
}

/** `tasks/update`: brings answers. Where one does not answer its question, none counts. */
function update(request: McpRequest): MaybePromise<object> {
  return onTask(request, (task) => {
    const { id, questions } = task
    const { inputResponses } = request.params
    if (!isRecord(inputResponses)) throw new Fault('invalid', 'params.inputResponses must be an object')
    const given = questions.filter(({ key }) => Object.hasOwn(inputResponses, key))
    const answers = new Map(given.map(({ key, question }) => (
      [key, decodeResponse(request, key, question, inputResponses[key])]
    )))
    const { service } = request.mcp
    const tasks = tasksOf(service)
    const remoteTasks = remoteTasksOf(service)
    if (remoteTasks !== undefined) return remoteTasks.answer(task, answers).then(() => ({}))
    tasks.runOf(id)?.answer(answers)
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

/** `tasks/cancel`: a task that has ended stays as it is. */
function cancel(request: McpRequest): MaybePromise<object> {
  return onTask(request, (task) => (
    isTerminal(task.status.state) ? {} : andThen(cancelTaskRun(request.mcp.service, task), () => ({}))
  ))
}

export const extension: Generation = {
  run,
  rerun(facts, tool, task) {
    new TaskableChannel(facts, tool, facts.args, subjectOf(tool, facts.args)).rerun(task)
  },
  methods: { get: (request) => onTask(request, (task) => shapeOf(request, task)), update, cancel },
}
