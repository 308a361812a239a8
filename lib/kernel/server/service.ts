/** Makes the service of the options: all that the protocols share. */
import { noAdapters } from '../define/adapters.ts'
import { Catalog } from '../define/catalog.ts'
import { Conversations } from '../../floors/conversations/conversation.ts'
import { limitsOf } from '../define/limits.ts'
import { deploymentStore } from '../../floors/shared/deployment.ts'
import { guardedStore } from '../../floors/shared/guarded-store.ts'
import { idempotentReplies } from '../../floors/idempotency/idempotency.ts'
import { PeerChannels } from '../../floors/shared/peer-channels.ts'
import { logOf, quietly, stderrLog, verboseStderrLog } from '../define/log.ts'
import { ClusterMembership } from '../../floors/shared/cluster.ts'
import { reapOrphans } from '../../floors/tasks/orphan-reaper.ts'
import { defineOffer } from '../define/normalize-definitions.ts'
import { TaskRecovery } from '../../floors/tasks/task-recovery.ts'
import { RemoteTasks } from '../../floors/tasks/remote-tasks.ts'
import { Tasks } from '../../floors/tasks/tasks.ts'
import { warnOfSilence } from '../run/service.ts'
import { Timers } from '../util/timers.ts'
import { Workload } from '../run/workload.ts'
import { checkSettings } from './options.ts'
import { memoryStore } from '../store/memory.ts'
import { createSeal } from '../wire/seal.ts'
import type { Around } from '../define/around.ts'
import type { Limits } from '../define/limits.ts'
import type { Log } from '../define/log.ts'
import type { SkillSet } from '../../parts/skills/skill.ts'
import type { OnCall } from '../run/call-observer.ts'
import type { Service, Shared } from '../run/service.ts'
import type { KernelOptions } from './options.ts'
import type { GuardedStore } from '../../floors/shared/guarded-store.ts'
import type { Seal } from '../wire/seal.ts'

export interface MadeService { readonly service: Service; readonly seal: Seal }

/** Throws `TypeError` or `RangeError` for mistakes in options, definitions and limits. */
export function createService(options: KernelOptions): MadeService {
  checkSettings({ ...options })
  const { adapters = noAdapters, parts } = options
  const limits = limitsOf(options)
  const { groups, agents, tools, resources, resourceTemplates, prompts } = defineOffer(options, adapters)
  const name = options.name ?? (groups[0] ?? agents[0])?.name ?? 'triport'
  const catalog = new Catalog(name, adapters)
  const things = [...groups, ...agents, ...tools, ...resources, ...resourceTemplates, ...prompts]
  for (const thing of things) catalog.add(thing)
  const { skillSet = noSkills } = options
  for (const file of skillSet.files.values()) catalog.add(file)
  if (things.length === 0 && skillSet.skills.length === 0) {
    throw new TypeError('There is nothing to serve; write { agents: [agent] } or { tools: [tool] }')
  }
  const usualLog = options.accessLog === true ? verboseStderrLog : stderrLog
  const log = quietly(logOf(options.log === undefined ? usualLog : options.log))
  warnOfSilence(log, catalog)
  if (options.apiKey === undefined && options.auth === undefined && catalog.scopes.length > 0) {
    log('warning', `What needs the scope ${catalog.scopes.join(' or ')} is hidden from all callers: without `
      + 'keys or tokens none has scopes; write apiKey or auth')
  }
  const secret = options.secret === undefined ? secretsIn(process.env['TRIPORT_SECRET']) : options.secret
  if (options.store?.isShared === true && secret === undefined) {
    throw new TypeError('A store that is shared needs a secret, the same in all processes: what they send '
      + `each other is sealed. Write secret: process.env.SECRET, of what 'openssl rand -base64 32' prints`)
  }
  const seal = options.secret === undefined ? sealOfEnvironment(secret, name) : createSeal(secret, name)
  const deployment = options.store?.isShared === true && secret !== undefined
    ? deploymentStore(options.store, secret, options.deployment, limits.storeTimeoutMs) : undefined
  const guarded = deployment && guardedStore(deployment, limits, log)
  const cluster = guarded && new ClusterMembership(guarded, seal, limits, log)
  cluster?.onForgotten(() => deployment?.confirm().catch(() => {}))
  const store = guarded ?? options.store ?? memoryStore()
  const tasks = new Tasks(limits, store, log, cluster)
  const { maxIdempotencyKeys: maxEntries, maxIdempotencyBytes: maxBytes } = limits
  // A store of its own: repeated queries must not evict what is to be kept longer.
  const replies = store.isShared ? store : memoryStore({ maxEntries, maxBytes })
  const { maxConversations, maxConversationsBytes } = limits
  const responses = store.isShared ? store
    : memoryStore({ maxEntries: maxConversations, maxBytes: maxConversationsBytes })
  const workload = new Workload(limits.maxCalls, 'here', limits.maxCallsBytes)
  const service: Service = {
    name,
    version: options.version ?? '1.0.0',
    description: options.description ?? catalog.root?.description ?? '',
    catalog,
    adapters,
    skillSet,
    limits,
    log,
    exposeErrors: options.exposeErrors ?? false,
    workload,
    timers: new Timers(),
    onCall: onCallOf([...parts.map(({ onCall }) => onCall), options.onCall]),
    around: aroundOf([...parts.map(({ around }) => around), options.around]),
    traced: parts.find(({ traced }) => traced !== undefined)?.traced,
    conversations: new Conversations(limits, store, log),
    tasks,
    idempotency: idempotentReplies(limits, replies, log, cluster),
    store,
    responses,
    shared: guarded && cluster && share(guarded, cluster, tasks, workload, limits, log),
  }
  return { service, seal }
}

const noSkills: SkillSet = { skills: [], files: new Map(), folders: new Map() }

/** Runs one within the other, the first outermost. */
function aroundOf(all: readonly (Around | undefined)[]): Around | undefined {
  return all.reduceRight<Around | undefined>((inner, outer) => {
    if (outer === undefined || inner === undefined) return outer ?? inner
    return (called, next) => outer(called, async () => inner(called, next))
  }, undefined)
}

/** Calls one after the other. What the last returns is looked at: it may be a promise that fails. */
function onCallOf(all: readonly (OnCall | undefined)[]): OnCall | undefined {
  const each = all.filter((one) => one !== undefined)
  if (each.length < 2) return each[0]
  return (info) => each.reduce<unknown>((_, one) => one(info), undefined)
}

function secretsIn(variable: string | undefined): readonly string[] | undefined {
  const secrets = variable?.split(',').map((one) => one.trim()).filter((one) => one !== '') ?? []
  return secrets.length === 0 ? undefined : secrets
}

/** For a secret of the environment, or none: an error names the variable. */
function sealOfEnvironment(secret: KernelOptions['secret'], name: string): Seal {
  try {
    return createSeal(secret, name)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TypeError(`TRIPORT_SECRET: ${why}`, { cause })
  }
}

function share(
  store: GuardedStore, cluster: ClusterMembership, tasks: Tasks, workload: Workload, limits: Limits, log: Log,
): Shared {
  const stored = tasks.stored!
  const channels = new PeerChannels(cluster)
  const at = { tasks, stored, cluster, workload, limits, log }
  const recovery = new TaskRecovery(at)
  reapOrphans(at, recovery, store)
  const remoteTasks = new RemoteTasks(at, channels, recovery)
  return { store, cluster, channels, remoteTasks, recovery }
}
