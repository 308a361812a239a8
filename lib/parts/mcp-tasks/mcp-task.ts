/**
 * What both generations of MCP's tasks have in common: the call behind a task, how it is run again in another
 * process, and what a task looks like. A task belongs to a principal; for every other it does not exist.
 */
import { sharedOf } from '../../floors/shared/shared-of.ts'
import { followTask, tasksOf } from '../../floors/tasks/tasks-floor.ts'
import { isRecord, textOf } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { isTerminal, originOf, requestOf } from '../../floors/tasks/task.ts'
import { LEAST_KEEP_MS } from '../../floors/tasks/task-table.ts'
import { andThen } from '../../kernel/util/thenable.ts'
import { runCalledTool } from '../mcp/methods/tools-call.ts'
import { toolResult } from '../mcp/protocol/shape.ts'
import { RunMemory } from '../../floors/tasks/run-memory.ts'
import { TaskRun } from '../../floors/tasks/task-run.ts'
import { unable } from '../mcp/protocol/client.ts'
import { encodeQuestion } from '../mcp/protocol/questions.ts'
import { RequestChannel } from '../mcp/request/call-channel.ts'
import { McpFacts, nameParam } from '../mcp/request/request.ts'
import { revisionByName } from '../mcp/protocol/revisions.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Quota } from '../../kernel/util/quota.ts'
import type { Question } from '../../kernel/define/question.ts'
import type { Task, TaskState, TaskTurn } from '../../floors/tasks/task.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { TaskClient } from '../../floors/tasks/task-run.ts'
import type { ToolResult, Tool } from '../../kernel/define/tool.ts'
import type { ClientInfo, Origin } from '../../kernel/define/call.ts'
import type { McpResult } from '../mcp/methods/extension.ts'
import type { Session } from '../mcp/session/session.ts'
import type { ClientAbilities } from '../mcp/protocol/client.ts'
import type { McpContext } from '../mcp/request/context.ts'
import type { EarlierRounds } from '../mcp/request/call-channel.ts'
import type { McpRequest } from '../mcp/request/request.ts'

/** How often a client should poll, in milliseconds: a person waits no longer than that for what is done. */
export const POLL_MS = 1_000

export const statuses: Readonly<Record<TaskState, string>> = {
  'submitted': 'working', 'working': 'working',
  'input-required': 'input_required', 'auth-required': 'input_required',
  'completed': 'completed', 'failed': 'failed', 'canceled': 'cancelled', 'rejected': 'failed',
}

/** The members of a task that both generations have. */
export function taskMembers({ id, createdAt, status }: Task): Readonly<Record<string, unknown>> {
  return {
    taskId: id,
    ...status.message !== undefined && { statusMessage: textOf(status.message.parts) },
    createdAt,
    lastUpdatedAt: status.at,
  }
}

/**
 * From a task's creation to when it may be forgotten, in milliseconds; null: never. Counted from its end,
 * unless the client has asked for a time of its own; where that is over, the task is still kept for a moment.
 */
export function lifeOf({ createdAt, status, ttlMs }: Task, { taskKeepMs }: KernelLimits): number | null {
  const until = isTerminal(status.state) ? Date.parse(status.at) : Date.now()
  const lived = Math.max(0, until - Date.parse(createdAt))
  if (ttlMs !== undefined && lived <= ttlMs) return Math.floor(ttlMs)
  if (ttlMs !== undefined) return Math.floor(Math.min(taskKeepMs, LEAST_KEEP_MS)) + lived
  return Number.isFinite(taskKeepMs) ? Math.floor(taskKeepMs) + lived : null
}

/** Does something with the task that the request names. Throws `Fault('invalid')` where there is none. */
export function onTask<T>(request: McpRequest, act: (task: Task) => T): MaybePromise<T> {
  const { mcp, origin } = request
  const taskId = nameParam(request, 'taskId')
  return andThen(tasksOf(mcp.service).get(origin.principal.id, taskId), (task) => {
    if (!isOurs(task)) throw new Fault('invalid', `Unknown task: ${taskId}`)
    return act(task)
  })
}

/** Whether a task is MCP's: other protocols have tasks too. */
export function isOurs<T extends Pick<Task, 'protocol'>>(task: T | undefined): task is T {
  return task !== undefined && task.protocol === 'mcp'
}

/** A finished task's result, as its call would have been answered. Throws the `Fault` that it ended with. */
export function resultOf({ mcp, peer: { revision } }: McpFacts, task: Task): Record<string, unknown> {
  const { runnable, result, fault, status } = task
  if (fault !== undefined) throw new Fault(fault.kind, fault.message, fault.detail)
  if (status.state !== 'completed' || !isRecord(result)) {
    const { message } = status
    throw new Fault('conflict', message === undefined ? 'The task has no result' : textOf(message.parts))
  }
  // What is kept is what `callTool` gave, as JSON.
  return toolResult(result as unknown as ToolResult, revision, mcp.tools.named(runnable.name))
}

/** Gives a task as it stands, and at each change, wherever it runs. The returned function ends it. */
export function observeTask(
  service: Service, task: Task, update: (now: Task, isGone: boolean) => void,
): () => void {
  return followTask(service, task, (now) => update(now, false), (event, after) => {
    update(after.task, event.what === 'forgotten')
  })
}

type Args = Readonly<Record<string, unknown>>

/** How one generation has tasks. */
export interface Generation {
  /** Runs a call of a tool that is to be a task, or may become one. */
  run(request: McpRequest, tool: Tool, args: Args): McpResult
  /** Runs a tool again for a task that is this process's by now. */
  rerun(facts: KeptFacts, tool: Tool, task: Task): void
  /** `waiting`: all requests that wait for the end of a task. */
  readonly methods: Readonly<Partial<Record<TaskMethod, (request: McpRequest, waiting: Quota) => McpResult>>>
}

export type TaskMethod = 'get' | 'result' | 'list' | 'update' | 'cancel'

/** The channel of a call that is a task or may become one, and the client of the task's run. */
export class TaskChannel extends RequestChannel implements TaskClient {
  protected readonly tool: Tool
  protected readonly run: TaskRun
  readonly #args: Args
  readonly #memory: RunMemory | undefined
  /** Where processes share the store, an answer begins the run again. */
  readonly isResumable: boolean

  /** `by`: the request that calls the tool, or what is kept of one that is over. */
  constructor(by: McpRequest | KeptFacts, tool: Tool, args: Args, subject?: readonly unknown[]) {
    const [request, kept] = by instanceof KeptFacts ? [undefined, by] : [by, undefined]
    super(by, request, subject, kept?.rounds)
    const { service } = by.mcp
    this.tool = tool
    this.#args = args
    this.#memory = sharedOf(service) && new RunMemory(() => ({
      request: requestOf(by.origin, keptCall(by, args, this.rounds)),
      isRerun: tool.recover === 'rerun' ? true : undefined,
    }), service.limits.maxResultBytes, kept?.turn)
    this.isResumable = this.#memory !== undefined
    this.run = new TaskRun(service, this.live, this, this.#memory)
  }

  /** Makes the call a task. Throws or rejects with `Fault('busy')` where there is no room for one. */
  protected begin(ttlMs?: number, message?: string): MaybePromise<Task> {
    if (this.tool.recover === 'rerun') this.#memory?.begin()
    const { origin, sessionId } = this.facts
    return this.run.begin({
      owner: origin.principal.id, protocol: 'mcp', runnable: this.tool, contextId: '', sessionId, ttlMs,
    }, message)
  }

  /** From now on nothing that happens to the request matters to the run. Returns the request. */
  protected leaveRequest(): McpRequest | undefined {
    const { request } = this
    this.request = undefined
    if (request === undefined) return undefined
    request.call = undefined
    request.session?.running.delete(request.id)
    return request
  }

  /** Runs the tool again for a task that is this process's by now. */
  rerun({ id }: Task): void {
    this.run.resume(id)
    void this.runTask()
  }

  protected async runTask(): Promise<void> {
    try {
      this.run.complete(await this.work())
    } catch (error) {
      this.run.fail(this.facts.faultOf(error))
    }
  }

  protected work(): MaybePromise<ToolResult> {
    return runCalledTool(this.facts, this.tool, this.#args, this.live)
  }

  check(question: Question): void {
    encodeQuestion(question, this.facts.peer)
  }

  /** The rounds before the task remember it, and from then on the task. */
  override once(key: string, fn: () => unknown): Promise<unknown> {
    return super.once(key, () => this.run.remember(key, fn))
  }
}

/** What is kept of a call, to make it again for its task. */
interface KeptCall {
  readonly args: Args
  readonly revision: string
  readonly abilities: ClientAbilities
  readonly client: ClientInfo | undefined
  readonly sessionId: string | undefined
  readonly metadata: Readonly<Record<string, unknown>>
  readonly rounds: EarlierRounds | undefined
}

function keptCall(
  { peer, sessionId, metadata }: McpFacts, args: Args, rounds: EarlierRounds | undefined,
): KeptCall {
  const { revision, abilities, client } = peer
  return { args, revision: revision.name, abilities, client, sessionId, metadata, rounds }
}

function isKeptCall(value: unknown): value is KeptCall {
  return isRecord(value) && isRecord(value['args']) && isRecord(value['abilities'])
    && isRecord(value['metadata']) && revisionByName.has(value['revision'])
}

/** Who made a call that is made again for its task. */
export class KeptFacts extends McpFacts {
  readonly run: number
  readonly turn: TaskTurn
  readonly args: Args
  readonly rounds: EarlierRounds | undefined
  readonly #sessionId: string | undefined

  constructor(
    mcp: McpContext, turn: TaskTurn, origin: Origin,
    { revision, abilities, client, metadata, ...kept }: KeptCall,
  ) {
    super(mcp, {
      revision: revisionByName.get(revision)!, abilities: { ...unable, ...abilities }, client,
      logLevel: undefined, session: undefined,
    }, origin, metadata)
    this.run = turn.run ?? 1
    this.turn = turn
    this.args = kept.args
    this.rounds = kept.rounds
    this.#sessionId = kept.sessionId
  }

  override get sessionId(): string | undefined { return this.#sessionId }

  override get session(): Session | undefined {
    const { mcp, sessionId, origin: { principal } } = this
    return sessionId === undefined ? undefined : mcp.sessions.find(sessionId, principal.id)
  }
}

/** Who made the call that began a task; undefined where it is not kept, or in a form that is unknown here. */
export function keptFactsOf(mcp: McpContext, { turn }: Task): KeptFacts | undefined {
  const request = turn?.request
  if (turn === undefined || request === undefined || !isKeptCall(request.said)) return undefined
  return new KeptFacts(mcp, turn, originOf(request), request.said)
}
