/**
 * What both generations of MCP's tasks have in common: which tasks are MCP's, their states in its words, and
 * what came of a tool as its own call would have answered.
 *
 * A task belongs to a principal; for every other it does not exist.
 */
import { isRecord, textOf } from '../../define/content.ts'
import { Fault } from '../../define/fault.ts'
import { isTerminal } from '../../tasks/task.ts'
import { andThen } from '../../util/thenable.ts'
import { toolResult } from '../protocol/shape.ts'
import { originOf, requestOf, RunMemory } from '../../run/task-run.ts'
import { unable } from '../protocol/client.ts'
import { McpRequest } from '../request/request.ts'
import { revisionByName } from '../protocol/revisions.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Limits } from '../../define/limits.ts'
import type { Task, TaskState, TurnRequest, TaskTurn } from '../../tasks/task.ts'
import type { ToolResult, Tool } from '../../define/tool.ts'
import type { ClientInfo } from '../../define/call.ts'
import type { ResponseChannel, Session } from '../session/session.ts'
import type { ClientAbilities } from '../protocol/client.ts'
import type { McpContext } from '../request/context.ts'
import type { EarlierRounds } from '../request/input-required.ts'

/** How often a client should look, in milliseconds: a person waits no longer than that for what is done. */
export const POLL_MS = 1_000

/** A task's state as both generations call it. */
export const statuses: Readonly<Record<TaskState, string>> = {
  'submitted': 'working', 'working': 'working',
  'input-required': 'input_required', 'auth-required': 'input_required',
  'completed': 'completed', 'failed': 'failed', 'canceled': 'cancelled', 'rejected': 'failed',
}

/** What every shape of a task has: its id, what the agent says, and its times. */
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
 * unless the client has wished for a time of its own.
 */
export function lifeOf({ createdAt, status, ttlMs }: Task, { taskKeepMs }: Limits): number | null {
  const until = isTerminal(status.state) ? Date.parse(status.at) : Date.now()
  const lived = Math.max(0, until - Date.parse(createdAt))
  if (ttlMs !== undefined && lived <= ttlMs) return Math.floor(ttlMs)
  return Number.isFinite(taskKeepMs) ? Math.floor(taskKeepMs) + lived : null
}

/** Does something with the task that the request names. Throws `Fault('invalid')` where there is none. */
export function onTask<T>(request: McpRequest, act: (task: Task) => T): MaybePromise<T> {
  const { mcp, origin, params: { taskId } } = request
  if (typeof taskId !== 'string') throw new Fault('invalid', 'params.taskId must be a string')
  const found = mcp.service.tasks.get(origin.principal.id, taskId)
  const go = (task: Task | undefined): T => {
    if (!isOurs(task)) throw new Fault('invalid', `Unknown task: ${taskId}`)
    return act(task)
  }
  return andThen(found, go)
}

/** Other doors have tasks too. */
export function isOurs<T extends Pick<Task, 'protocol'>>(task: T | undefined): task is T {
  return task !== undefined && task.protocol === 'mcp'
}

/** A finished task's result in the words of the request's revision. Throws the `Fault` that it ended with. */
export function resultOf({ mcp, peer: { revision } }: McpRequest, task: Task): Record<string, unknown> {
  const { runnable, result, fault, status } = task
  if (fault !== undefined) throw new Fault(fault.kind, fault.message, fault.detail)
  if (status.state !== 'completed' || !isRecord(result)) {
    const { message } = status
    throw new Fault('conflict', message === undefined ? 'The task has no result' : textOf(message.parts))
  }
  // What is kept is what `callTool` gave, as JSON.
  return toolResult(result as unknown as ToolResult, revision, mcp.tools.byName.get(runnable.name))
}

/** What is kept besides what every door keeps. */
interface KeptCall {
  readonly args: Readonly<Record<string, unknown>>
  readonly revision: string
  readonly abilities: ClientAbilities
  readonly client: ClientInfo | undefined
  readonly sessionId: string | undefined
  readonly metadata: Readonly<Record<string, unknown>>
  readonly rounds: Rounds
}

type Rounds = EarlierRounds | undefined

/**
 * The memory of a call that becomes a task; undefined where no other process could go on with it.
 * `roundsOf`: those before it.
 */
export function memoryOf(
  request: McpRequest, tool: Tool, roundsOf: () => Rounds, before?: TaskTurn,
): RunMemory | undefined {
  const { shared, limits } = request.mcp.service
  if (shared === undefined) return undefined
  return new RunMemory(() => ({
    request: requestOf(request.origin, saidBy(request, roundsOf())),
    isRerun: tool.recover === 'rerun' ? true : undefined,
  }), limits.maxResultBytes, before)
}

function saidBy({ params, peer, sessionId, metadata }: McpRequest, rounds: Rounds): KeptCall {
  const { arguments: args } = params
  const { revision, abilities, client } = peer
  return {
    args: isRecord(args) ? args : {}, revision: revision.name, abilities, client, sessionId, metadata, rounds,
  }
}

const silent: ResponseChannel = { sends: false, send() {}, finish() {}, abandon() {} }

/** A call that is made again. */
export class KeptRequest extends McpRequest {
  readonly run: number
  readonly args: KeptCall['args']
  readonly #kept: KeptCall

  constructor(mcp: McpContext, request: TurnRequest, kept: KeptCall, run: number) {
    const { abilities, client } = kept
    const revision = revisionByName.get(kept.revision)!
    const peer = {
      revision, abilities: { ...unable, ...abilities }, client, logLevel: undefined, session: undefined,
    }
    super(mcp, peer, originOf(request), silent, '', { arguments: kept.args }, kept.metadata)
    this.run = run
    this.args = kept.args
    this.#kept = kept
  }

  override get sessionId(): string | undefined { return this.#kept.sessionId }

  /** Its session, as soon as that is gone on with here. */
  override get session(): Session | undefined {
    const { sessionId } = this.#kept
    const { sessions } = this.mcp
    if (sessionId === undefined || !sessions.has(sessionId)) return undefined
    return sessions.find(sessionId, this.origin.principal.id)
  }

  override get earlierRounds(): EarlierRounds | undefined { return this.#kept.rounds }
}

/** The call that began a task; undefined where it is not kept, or in words that are not known here. */
export function keptRequestOf(mcp: McpContext, { turn }: Task): KeptRequest | undefined {
  const request = turn?.request
  if (request === undefined || !isKeptCall(request.said)) return undefined
  return new KeptRequest(mcp, request, request.said, turn?.run ?? 1)
}

function isKeptCall(said: unknown): said is KeptCall {
  return isRecord(said) && isRecord(said['args']) && isRecord(said['abilities']) && isRecord(said['metadata'])
    && revisionByName.has(said['revision'])
}
