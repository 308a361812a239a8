/** Makes the service of the options: all that the protocols share. */
import { noAdapters } from '../define/adapters.ts'
import { Catalog } from '../define/catalog.ts'
import { limitsOf } from '../define/limits.ts'
import { logOf, quietly, stderrLog, verboseStderrLog } from '../define/log.ts'
import { defineOffer } from '../define/normalize-definitions.ts'
import { warnOfSilence } from '../run/warnings.ts'
import { Timers } from '../util/timers.ts'
import { Workload } from '../run/workload.ts'
import { createSeal } from '../wire/seal.ts'
import { Floors } from './floors.ts'
import { checkSettings } from './options.ts'
import type { Adapters } from '../define/adapters.ts'
import type { Around } from '../define/around.ts'
import type { OnCall } from '../run/call-observer.ts'
import type { Service } from '../run/service.ts'
import type { ShareStore } from '../store/sharing.ts'
import type { Seal } from '../wire/seal.ts'
import type { KernelOptions } from './options.ts'

export interface MadeService { readonly service: Service; readonly seal: Seal; readonly floors: Floors }

/** Throws `TypeError` or `RangeError` for mistakes in options, definitions and limits. */
export function createService(options: KernelOptions): MadeService {
  checkSettings({ ...options })
  const { parts } = options
  const adapters = adaptersOf(options)
  const limits = limitsOf(options)
  const { groups, agents, tools, resources, resourceTemplates, prompts } = defineOffer(options, adapters)
  const name = options.name ?? (groups[0] ?? agents[0])?.name ?? 'triport'
  const catalog = new Catalog(name, adapters)
  const ofParts = parts.flatMap(({ defines }) => defines?.resources ?? [])
  const things = [
    ...groups, ...agents, ...tools, ...resources, ...ofParts, ...resourceTemplates, ...prompts,
  ]
  for (const thing of things) catalog.add(thing)
  if (things.length === 0) {
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
  const sharing = options.store?.isShared === true && secret !== undefined
    ? shareOf(options)({ store: options.store, secret, deployment: options.deployment, limits, log, seal })
    : undefined
  const floors = new Floors()
  const workload = new Workload(limits.maxCalls, 'here', limits.maxCallsBytes)
  const service: Service = {
    name,
    version: options.version ?? '1.0.0',
    description: options.description ?? catalog.root?.description ?? '',
    catalog,
    adapters,
    limits,
    log,
    exposeErrors: options.exposeErrors ?? false,
    workload,
    timers: new Timers(),
    onCall: onCallOf([...parts.map(({ onCall }) => onCall), options.onCall]),
    around: aroundOf([...parts.map(({ around }) => around), options.around]),
    traced: parts.find(({ traced }) => traced !== undefined)?.traced,
    store: sharing?.store ?? options.store,
    sharing,
    use: (make) => floors.use(make, service),
  }
  return { service, seal, floors }
}

/** Those that are given, with what parts add. */
function adaptersOf({ adapters = noAdapters, parts }: KernelOptions): Adapters {
  if (adapters.toolUi !== undefined) return adapters
  const toolUi = parts.map(({ defines }) => defines?.toolUi).find((one) => one !== undefined)
  return toolUi === undefined ? adapters : { ...adapters, toolUi }
}

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

function shareOf({ share }: KernelOptions): ShareStore {
  if (share !== undefined) return share
  throw new TypeError('The store is shared with other processes, and nothing here takes it for this one; '
    + `write share: shareStore, with import { shareStore } from 'triport/shared'`)
}
