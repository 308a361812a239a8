/**
 * What is known of a client: who it says it is and what it says it can do, in one fixed shape. Of all that a
 * client declares only this is kept, within bounds.
 *
 * Spec: MCP 2025-11-25, Lifecycle, Capability Negotiation; 2026-07-28, Client Capabilities.
 */
import { isRecord } from '../core/content.ts'
import type { ClientInfo } from '../core/call.ts'

/** What a client can be asked for, and what it knows. */
export interface ClientAbilities {
  readonly forms: boolean
  readonly urls: boolean
  readonly sampling: boolean
  readonly samplingTools: boolean
  readonly samplingContext: boolean
  readonly roots: boolean
  /** Whether it answers samplings and elicitations as tasks of its own (2025-11-25). */
  readonly samplingTasks: boolean
  readonly elicitationTasks: boolean
  /** Extensions by name, with their settings. */
  readonly extensions: Readonly<Record<string, unknown>>
}

/** Characters of a name, a title or a version. */
const MAX_NAME = 256
/** All settings of extensions together, as JSON, in characters. */
const MAX_SETTINGS = 16 * 1024

const noExtensions: ClientAbilities['extensions'] = Object.freeze({})

/** A client that has declared nothing. */
export const unable: ClientAbilities = Object.freeze({
  forms: false, urls: false, sampling: false, samplingTools: false, samplingContext: false, roots: false,
  samplingTasks: false, elicitationTasks: false, extensions: noExtensions,
})

/** Reads a client's capabilities. What is not known is passed over. */
export function decodeAbilities(capabilities: unknown): ClientAbilities {
  if (!isRecord(capabilities)) return unable
  const { elicitation, sampling, roots, tasks, extensions } = capabilities
  const has = (owner: unknown, name: string): boolean => isRecord(owner) && isRecord(owner[name])
  const requests = isRecord(tasks) && isRecord(tasks['requests']) ? tasks['requests'] : {}
  return {
    // An empty object means forms, as it did before there was anything else.
    forms: isRecord(elicitation) && (has(elicitation, 'form') || elicitation['url'] === undefined),
    urls: has(elicitation, 'url'),
    sampling: isRecord(sampling),
    samplingTools: has(sampling, 'tools'),
    samplingContext: has(sampling, 'context'),
    roots: isRecord(roots),
    samplingTasks: has(requests['sampling'], 'createMessage'),
    elicitationTasks: has(requests['elicitation'], 'create'),
    extensions: isRecord(extensions) ? bounded(extensions) : noExtensions,
  }
}

/** As many extensions as fit. */
function bounded(extensions: Readonly<Record<string, unknown>>): ClientAbilities['extensions'] {
  let left = MAX_SETTINGS
  const kept: Record<string, unknown> = Object.create(null)
  for (const [name, settings] of Object.entries(extensions)) {
    left -= name.length + (JSON.stringify(settings) ?? '').length
    if (left < 0) break
    kept[name] = settings
  }
  return kept
}

/** Who a client says that it is, and which extensions it has; undefined where it says neither. */
export function decodeClient(info: unknown, { extensions }: ClientAbilities): ClientInfo | undefined {
  const isNamed = isRecord(info) && typeof info['name'] === 'string'
  const hasExtensions = extensions !== noExtensions
  if (!isNamed && !hasExtensions) return undefined
  const { name, version, title } = isNamed ? info : {}
  return {
    name: cut(name),
    version: cut(version),
    ...typeof title === 'string' && { title: cut(title) },
    ...hasExtensions && { extensions },
  }
}

/** A text within the bound, in a memory of its own: a piece of a large body would keep all of it. */
function cut(value: unknown): string {
  if (typeof value !== 'string') return ''
  return value.length <= MAX_NAME ? value : Buffer.from(value.slice(0, MAX_NAME)).toString()
}
