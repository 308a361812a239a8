/**
 * One run of a tool that may become a task: when it does, where its questions go from then on, and what
 * its end means.
 *
 * Until it is a task, a run is like any other: it ends with its result, or with a round of questions. A
 * run that may become a task has no progress and no log, because tasks have none.
 * Spec: MCP SEP-2663, tasks extension; https://modelcontextprotocol.io/seps/2663-tasks-extension
 */
import { MAX_TIMER_MS } from '../core/clock.ts'
import { text } from '../core/content.ts'
import { asFault, Fault } from '../core/fault.ts'
import { decodeAnswer } from './ask.ts'
import { rejectInTurn } from './round-trips.ts'
import { taskShape } from './tasks.ts'
import type { LiveCall } from '../core/call.ts'
import type { Question } from '../core/question.ts'
import type { Content } from '../core/content.ts'
import type { FaultKind } from '../core/fault.ts'
import type { TaskState } from '../core/task.ts'
import type { Tool } from '../core/tool.ts'
import type { McpRequest } from './request.ts'

/** A question that waits for `tasks/update`. */
interface Open {
  readonly question: Question
  /** The question as the client reads it. */
  readonly request: object
  readonly timer: NodeJS.Timeout | undefined
  readonly resolve: (answer: unknown) => void
  readonly reject: (reason: Error) => void
}

/** What refuses a call before, or instead of, running it: no task comes of it. */
const refusals: ReadonlySet<FaultKind> = new Set([
  'unauthenticated', 'forbidden', 'unsupported', 'busy', 'cancelled',
])

/** A run, from the call's beginning to the task's end. */
export class TaskRun {
  readonly #request: McpRequest
  readonly #tool: Tool
  readonly #call: LiveCall
  /** The task, once there is one. */
  #id: string | undefined
  #isOver = false
  readonly #open = new Map<string, Open>()
  /** All keys that the task has used: none is used twice. */
  readonly #keys = new Set<string>()
  #message: readonly Content[] | undefined
  #isShowing = false

  constructor(request: McpRequest, tool: Tool, call: LiveCall) {
    this.#request = request
    this.#tool = tool
    this.#call = call
  }

  /** Whether it is a task: then nothing that happens to the request matters to it. */
  get isTask(): boolean { return this.#id !== undefined }

  /**
   * Runs the tool and answers the request, now or later: with the result, or with a task. Throws
   * `Fault('busy')` where the tool needs a task and there is no room for one.
   */
  run(work: () => object | string | Promise<object | string>): undefined {
    if (this.#tool.task === 'required' && this.#isFull) {
      throw new Fault('busy', 'Too many tasks are running; try again later')
    }
    let output
    try {
      output = work()
      if (!(output instanceof Promise)) return this.#succeed(output)
    } catch (error) {
      return this.#fail(error)
    }
    output.then((result) => this.#succeed(result)).catch((error: unknown) => this.#fail(error))
    // A run that asks by now ends with its round, and comes back with the answers.
    setImmediate(() => {
      if (!this.#call.over && !this.#request.isAsking) this.begin()
    })
    return undefined
  }

  /** Makes it a task and tells the client. Nothing where it is one, or is answered, or there is no room. */
  begin(): void {
    const request = this.#request
    if (this.#id !== undefined || request.isFinished || this.#isFull) return
    const { mcp, origin } = request
    const { tasks } = mcp.service
    const { id } = tasks.create(origin.principal.id, '', [], { mcp: {} })
    this.#id = id
    mcp.taskRuns.set(id, this)
    request.divert((name, question, request) => this.#ask(name, question, request))
    tasks.move(id, 'working', this.#message)
    request.succeed({ resultType: 'task', ...this.#shape() })
  }

  /** What the handler says of its progress becomes the task's message. */
  progress(said: string | undefined): void {
    if (said === undefined || this.#isOver) return
    this.#message = [text(said)]
    if (this.#id !== undefined && this.#open.size === 0) this.#move('working')
  }

  /**
   * Takes answers, as many as there are; those to no open question are passed over. Throws
   * `Fault('invalid')` where one does not answer its question, and then takes none.
   */
  answer(responses: Readonly<Record<string, unknown>>): void {
    const given = [...this.#open].filter(([key]) => Object.hasOwn(responses, key))
    const answers = given.map(([key, open]) => (
      { key, open, answer: decode(key, open.question, responses[key]) }
    ))
    for (const { key, open, answer } of answers) {
      this.#close(key, open)
      open.resolve(answer)
    }
    if (answers.length > 0) this.#show()
  }

  /** The client wants it no longer. Nothing where it has ended. */
  cancel(): void {
    const reason = new Fault('cancelled', 'The client has cancelled the task')
    this.#end('canceled', {}, [text(reason.message)])
    this.#call.cancel(reason)
  }

  get #isFull(): boolean {
    const { tasks, limits } = this.#request.mcp.service
    return tasks.live >= limits.maxTasks
  }

  /** The task as it stands. */
  #shape(): object {
    const { mcp: { service: { tasks, limits } }, origin } = this.#request
    const task = tasks.get(origin.principal.id, this.#id!)
    // A task that runs is always at hand; only finished ones may be far away.
    return task === undefined || task instanceof Promise ? {} : taskShape(task, limits)
  }

  /** Whether the outcome belongs to a task: there is one, or the tool always answers with one. */
  #needsTask(): boolean {
    if (this.#tool.task === 'required') this.begin()
    return this.#id !== undefined
  }

  #succeed(result: object | string): undefined {
    if (!this.#needsTask()) return void this.#request.succeed(result)
    // As JSON, so that nothing of it changes any more, and what JSON cannot say is found out here.
    const kept = { result: JSON.parse(this.#request.encode(result)) as object }
    // What `tasks/get` will say has to fit too.
    this.#request.encode({ ...this.#shape(), ...kept })
    this.#end('completed', kept)
  }

  #fail(thrown: unknown): undefined {
    const isRefusal = this.#id === undefined && refusals.has(asFault(thrown).kind)
    if (isRefusal || !this.#needsTask()) return void this.#request.fail(thrown)
    if (this.#isOver) return
    const fault = this.#request.faultOf(thrown)
    if (fault.kind === 'cancelled') this.#end('canceled', {}, [text(fault.message)])
    else this.#end('failed', { error: this.#request.errorOf(fault) })
  }

  #ask(name: string, question: Question, request: object): Promise<unknown> {
    const key = this.#fresh(name)
    const { askTimeoutMs } = this.#request.mcp.service.limits
    const promise = new Promise<unknown>((resolve, reject) => {
      const timer = askTimeoutMs > MAX_TIMER_MS ? undefined : setTimeout(() => this.#giveUp(key), askTimeoutMs)
      this.#open.set(key, { question, request, timer, resolve, reject })
    })
    // Handled from the start: a handler that has stopped listening must not end the process.
    promise.catch(() => {})
    // Questions that are asked together are shown together.
    if (!this.#isShowing) {
      this.#isShowing = true
      setImmediate(() => {
        this.#isShowing = false
        this.#show()
      })
    }
    return promise
  }

  #fresh(name: string): string {
    let key = name
    for (let count = 2; this.#keys.has(key); count++) key = `${name}-${count}`
    this.#keys.add(key)
    return key
  }

  #giveUp(key: string): void {
    const open = this.#open.get(key)
    if (open === undefined) return
    this.#close(key, open)
    this.#show()
    const { askTimeoutMs } = this.#request.mcp.service.limits
    open.reject(new Fault('timeout', `The client did not answer within ${askTimeoutMs} ms`))
  }

  #close(key: string, { timer }: Open): void {
    clearTimeout(timer)
    this.#open.delete(key)
  }

  /** The task as its questions have it. */
  #show(): void {
    if (this.#id === undefined || this.#isOver) return
    const inputRequests = Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request]))
    const isAsking = this.#open.size > 0
    this.#request.mcp.service.tasks.keep(this.#id, { mcp: isAsking ? { inputRequests } : {} })
    this.#move(isAsking ? 'input-required' : 'working')
  }

  #move(state: TaskState): void {
    this.#request.mcp.service.tasks.move(this.#id!, state, this.#message)
  }

  #end(state: TaskState, kept: Readonly<Record<string, unknown>>, message?: readonly Content[]): void {
    if (this.#isOver || this.#id === undefined) return
    this.#isOver = true
    const { mcp } = this.#request
    mcp.taskRuns.delete(this.#id)
    const left = [...this.#open]
    for (const [key, open] of left) this.#close(key, open)
    mcp.service.tasks.keep(this.#id, { mcp: kept })
    mcp.service.tasks.move(this.#id, state, message)
    rejectInTurn(left.map(([, open]) => open), this.#call)
  }
}

function decode(key: string, question: Question, response: unknown): unknown {
  try {
    return decodeAnswer(question, response)
  } catch (error) {
    throw new Fault('invalid', `params.inputResponses.${key}: ${asFault(error).message}`)
  }
}
