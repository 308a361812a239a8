/**
 * What is served, made of the options: all that the doors share, without any door.
 */
import { Catalog } from './core/catalog.ts'
import { Conversations } from './core/conversation.ts'
import { limitsOf } from './core/defaults.ts'
import { GuardedStore } from './core/guarded-store.ts'
import { IdempotentReplies } from './core/idempotency.ts'
import { NodeLines } from './core/node-lines.ts'
import { logOf, quietly, stderrLog, verboseStderrLog } from './core/log.ts'
import { Nodes } from './core/nodes.ts'
import { define } from './core/subject.ts'
import { Tasks } from './core/tasks.ts'
import { warnOfSilence } from './core/warn-once.ts'
import { Workload } from './core/workload.ts'
import { checkOptions } from './options.ts'
import { memoryStore } from './store/memory.ts'
import { createSeal } from './wire/seal.ts'
import type { Limits } from './core/defaults.ts'
import type { Log } from './core/log.ts'
import type { Service, Shared } from './core/service.ts'
import type { Store } from './core/store.ts'
import type { ServerOptions } from './server-options.ts'
import type { Seal } from './wire/seal.ts'

/**
 * What is served and what all doors share, without any door. Throws `TypeError` or `RangeError` for
 * mistakes in the definitions and limits.
 */
export function createService(options: ServerOptions): { readonly service: Service; readonly seal: Seal } {
  checkOptions({ ...options })
  const limits = limitsOf(options)
  const { groups, agents, tools, resources, resourceTemplates, prompts } = define(options)
  const name = options.name ?? (groups[0] ?? agents[0])?.name ?? 'triport'
  const catalog = new Catalog(name)
  const things = [...groups, ...agents, ...tools, ...resources, ...resourceTemplates, ...prompts]
  for (const thing of things) catalog.add(thing)
  if (things.length === 0) {
    throw new TypeError('There is nothing to serve; write { agents: [agent] } or { tools: [tool] }')
  }
  const usualLog = options.accessLog === true ? verboseStderrLog : stderrLog
  const log = quietly(logOf(options.log ?? usualLog))
  warnOfSilence(log, catalog)
  const secret = options.secret ?? (process.env['TRIPORT_SECRET'] || undefined)
  if (options.store?.isShared === true && secret === undefined) {
    throw new TypeError('A store that is shared needs a secret, the same in all processes: what they tell '
      + `each other is sealed. Write secret: process.env.SECRET, of what 'openssl rand -base64 32' prints`)
  }
  const seal = createSeal(secret, name)
  const shared = options.store?.isShared === true ? share(options.store, seal, limits, log) : undefined
  const store = shared?.store ?? options.store ?? memoryStore()
  const { maxIdempotencyKeys: maxEntries, maxIdempotencyBytes: maxBytes } = limits
  // Who asks often must not push out what was promised to be kept longer.
  const replies = store.isShared ? store : memoryStore({ maxEntries, maxBytes })
  const service: Service = {
    name,
    version: options.version ?? '1.0.0',
    description: options.description ?? catalog.root?.description ?? '',
    catalog,
    limits,
    log,
    exposeErrors: options.exposeErrors ?? false,
    workload: new Workload(limits.maxCalls, 'here'),
    onCall: options.onCall,
    conversations: new Conversations(limits, store, log),
    tasks: new Tasks(limits, store, log),
    idempotency: new IdempotentReplies(limits, replies, log),
    store,
    shared,
  }
  return { service, seal }
}

function share(given: Store, seal: Seal, limits: Limits, log: Log): Shared {
  const store = new GuardedStore(given, limits, log)
  const nodes = new Nodes(store, seal, limits, log)
  return { store, nodes, lines: new NodeLines(nodes) }
}
