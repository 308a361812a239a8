/**
 * A `tools/call` as it is kept with its task, and made again where the task is run again: in another process,
 * after the client's own request is long over. Nothing goes back by it.
 */
import { isRecord } from '../../define/content.ts'
import { RunMemory } from '../../tasks/run-memory.ts'
import { originOf, requestOf } from '../../tasks/task-request.ts'
import { unable } from '../protocol/client.ts'
import { McpRequest } from './request.ts'
import { revisionByName } from '../protocol/revisions.ts'
import type { ClientInfo } from '../../define/call.ts'
import type { Task, TurnRequest, TaskTurn } from '../../tasks/task.ts'
import type { Tool } from '../../define/tool.ts'
import type { ResponseChannel } from '../protocol/channel.ts'
import type { ClientAbilities } from '../protocol/client.ts'
import type { McpContext } from './context.ts'
import type { EarlierRounds } from './input-required.ts'
import type { Session } from '../session/session.ts'

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
