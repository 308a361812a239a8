/**
 * What the protocols of one server share, made once by `server/service.ts`; and the mistakes of an author
 * that break nothing, each logged once per server and not with every call.
 */
import { isAdapted, isBareFunction } from '../define/agent.ts'
import { noAnswer } from '../define/answer.ts'
import type { Agent } from '../define/agent.ts'
import type { Answer } from '../define/answer.ts'
import type { Around } from '../define/around.ts'
import type { Trace } from '../define/call.ts'
import type { Catalog } from '../define/catalog.ts'
import type { SkillSet } from '../define/files/skill.ts'
import type { Limits } from '../define/limits.ts'
import type { Log } from '../define/log.ts'
import type { ClusterMembership } from '../state/cluster.ts'
import type { Conversations } from '../state/conversation.ts'
import type { GuardedStore } from '../state/guarded-store.ts'
import type { IdempotentReplies } from '../state/idempotency.ts'
import type { PeerChannels } from '../state/peer-channels.ts'
import type { Store } from '../state/store.ts'
import type { RemoteTasks } from '../tasks/remote-tasks.ts'
import type { TaskRecovery } from '../tasks/task-recovery.ts'
import type { Tasks } from '../tasks/tasks.ts'
import type { Timers } from '../util/timers.ts'
import type { OnCall } from './call-observer.ts'
import type { Workload } from './workload.ts'

/** A store that processes share, and the way from one of them to another. */
export interface Shared {
  readonly store: GuardedStore
  readonly cluster: ClusterMembership
  readonly channels: PeerChannels
  readonly remoteTasks: RemoteTasks
  readonly recovery: TaskRecovery
}

/**
 * Posts to another server within a span, a child of what is active, else of `trace`. `post` gets the headers
 * that carry the span.
 */
export type Traced = <T extends { readonly status: number }>(
  to: { readonly url: string; readonly trace: Trace },
  post: (headers: Readonly<Record<string, string>>) => Promise<T>,
) => Promise<T>

export interface Service {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly catalog: Catalog
  readonly skillSet: SkillSet
  readonly limits: Limits
  readonly log: Log
  /** Shows the message of an unexpected error to callers. For development. */
  readonly exposeErrors: boolean
  readonly workload: Workload
  readonly timers: Timers
  readonly onCall: OnCall | undefined
  readonly around: Around | undefined
  /** Undefined without telemetry. */
  readonly traced: Traced | undefined
  readonly conversations: Conversations
  readonly tasks: Tasks
  readonly idempotency: IdempotentReplies
  readonly store: Store
  /** Where responses are kept that clients come back to, and what an editor lists of its sessions. */
  readonly responses: Store
  /** Defined where processes share the store. */
  readonly shared: Shared | undefined
}

const warned = new WeakMap<Log, WeakSet<object>>()

/** An agent whose `run` has returned undefined, or what is probably a mistake. */
export function warnOfAnswer(log: Log, agent: Agent, answer: Answer, requestId: string): void {
  if (answer === noAnswer) {
    warnOnce(log, agent, `The agent '${agent.name}' returned undefined, so its answer is empty; return a `
      + 'text, and await what it is made of', { request: requestId })
  } else if (answer.flaw !== undefined) {
    warnOnce(log, agent, `The agent '${agent.name}' returned ${answer.flaw}`, { request: requestId })
  }
}

/** The agents and tools of a catalog, now and later, that have no description. */
export function warnOfSilence(log: Log, catalog: Catalog): void {
  const warn = (): void => {
    for (const tool of catalog.tools) {
      if (tool.description !== '') continue
      warnOnce(log, tool, `The tool '${tool.name}' has no description, so models cannot tell what it is for; `
        + `write description: 'Finds documents.'`)
    }
    for (const agent of catalog.agents) {
      if (agent.description !== '' || isBareFunction(agent)) continue
      warnOnce(log, agent, `The agent '${agent.name}' has no description, so nobody can tell what to ask it; `
        + (isAdapted(agent) ? `write adapt(agent, { description: 'Answers questions about orders.' })`
          : `write description: 'Answers questions about orders.'`))
    }
  }
  warn()
  catalog.onChange(warn)
}

function warnOnce(
  log: Log, about: object, sentence: string, fields?: Readonly<Record<string, unknown>>,
): void {
  const known = warned.get(log) ?? new WeakSet()
  if (known.has(about)) return
  warned.set(log, known.add(about))
  log('warning', sentence, fields)
}
