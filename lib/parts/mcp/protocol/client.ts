/**
 * What is known of a client: its name, its capabilities and the logs that it wants, in one fixed shape and
 * within bounds. Spec: MCP 2025-11-25, Lifecycle, Capability Negotiation; Logging; 2026-07-28, Client
 * Capabilities.
 */
import { givenMembers, isGiven, isRecord } from '../../../kernel/define/content.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import type { ClientInfo } from '../../../kernel/define/call.ts'
import type { Severity } from '../../../kernel/define/log.ts'
import type { Revision } from './revisions.ts'

export interface ClientAbilities {
  readonly forms: boolean
  readonly urls: boolean
  readonly sampling: boolean
  readonly samplingTools: boolean
  readonly samplingContext: boolean
  readonly roots: boolean
  /** It answers samplings, or elicitations, as tasks of its own (2025-11-25). */
  readonly samplingTasks: boolean
  readonly elicitationTasks: boolean
  /** It can be asked to cancel such a task. */
  readonly cancelsTasks: boolean
  /** Extensions by name, with their settings. */
  readonly extensions: Readonly<Record<string, unknown>>
}

export interface PeerInfo {
  readonly revision: Revision
  readonly abilities: ClientAbilities
}

const MAX_NAME = 256
/** All settings of extensions together, as JSON, in characters. */
const MAX_SETTINGS = 16 * 1024
/** Longer ones are kept as text and parsed at each reading: values may take twenty times its room. */
const MAX_VALUES = 256

type Extensions = ClientAbilities['extensions']

const noExtensions: Extensions = Object.freeze({})

/** In the order of their bits, which session ids carry: a new one goes to the end. */
const abilityNames = [
  'forms', 'urls', 'sampling', 'samplingTools', 'samplingContext', 'roots', 'samplingTasks',
  'elicitationTasks', 'cancelsTasks',
] as const satisfies readonly (keyof ClientAbilities)[]

export function bitsOf(abilities: ClientAbilities): number {
  return abilityNames.reduce((bits, name, at) => abilities[name] ? bits | 1 << at : bits, 0)
}

export function abilitiesOf(bits: number, extensions: Extensions | string): ClientAbilities {
  const has = (at: number): boolean => (bits >> at & 1) === 1
  return Object.freeze(withExtensions({
    forms: has(0), urls: has(1), sampling: has(2), samplingTools: has(3), samplingContext: has(4),
    roots: has(5), samplingTasks: has(6), elicitationTasks: has(7), cancelsTasks: has(8),
  }, extensions))
}

/**
 * The same with extensions, which are parsed at each reading where they are text. Only those have a getter:
 * an object with one of its own has a shape of its own, which the collector keeps for long.
 */
function withExtensions<T extends object>(
  of: T, extensions: Extensions | string,
): T & { readonly extensions: Extensions } {
  if (typeof extensions !== 'string') return { ...of, extensions }
  return { ...of, get extensions() { return valuesOf(extensions) } }
}

export const unable: ClientAbilities = abilitiesOf(0, noExtensions)

/** Those without extensions by their bits: one object for all clients that declare the same. */
const plain: (ClientAbilities | undefined)[] = [unable]

/** Reads a client's capabilities. Unknown ones are ignored. */
export function decodeAbilities(capabilities: unknown): ClientAbilities {
  if (!isRecord(capabilities)) return unable
  const { elicitation, sampling, roots, tasks, extensions } = capabilities
  const requests = isRecord(tasks) && isRecord(tasks['requests']) ? tasks['requests'] : undefined
  // An empty object means forms, as it did before there was anything else.
  const asksForms = isRecord(elicitation) && (has(elicitation, 'form') || !isGiven(elicitation['url']))
  const bits = Number(asksForms) | Number(has(elicitation, 'url')) << 1 | Number(isRecord(sampling)) << 2
    | Number(has(sampling, 'tools')) << 3 | Number(has(sampling, 'context')) << 4
    | Number(isRecord(roots)) << 5 | Number(has(requests?.['sampling'], 'createMessage')) << 6
    | Number(has(requests?.['elicitation'], 'create')) << 7 | Number(has(tasks, 'cancel')) << 8
  if (isRecord(extensions)) return abilitiesOf(bits, bounded(extensions))
  return plain[bits] ??= abilitiesOf(bits, noExtensions)
}

function has(owner: unknown, name: string): boolean {
  return isRecord(owner) && isRecord(owner[name])
}

/** As many extensions as fit, as text where they are long. */
function bounded(extensions: Extensions): Extensions | string {
  let left = MAX_SETTINGS
  const kept: Record<string, unknown> = Object.create(null)
  for (const [name, settings] of Object.entries(givenMembers(extensions))) {
    const length = name.length + (formatJson(settings) ?? '').length
    if (length > left) break
    left -= length
    kept[name] = settings
  }
  return MAX_SETTINGS - left > MAX_VALUES ? formatJson(kept) : kept
}

function valuesOf(json: string): Extensions {
  const kept: Record<string, unknown> = Object.create(null)
  return Object.assign(kept, JSON.parse(json))
}

/** A client's name and extensions; undefined where it gives neither. */
export function decodeClient(info: unknown, abilities: ClientAbilities): ClientInfo | undefined {
  const isNamed = isRecord(info) && typeof info['name'] === 'string'
  const hasExtensions = abilities.extensions !== noExtensions
  if (!isNamed && !hasExtensions) return undefined
  const client = clientOf(isNamed ? info : {})
  if (!hasExtensions) return client
  const isText = Object.getOwnPropertyDescriptor(abilities, 'extensions')?.get !== undefined
  return isText ? { ...client, get extensions() { return abilities.extensions } }
    : { ...client, extensions: abilities.extensions }
}

/** Clients seen so far, hashed by the lengths of their names: sessions of one client share its object. */
const seen: (ClientInfo | undefined)[] = Array.from({ length: 64 })

function clientOf(info: Readonly<Record<string, unknown>>): ClientInfo {
  const name = cut(info['name'])
  const version = cut(info['version'])
  const title = typeof info['title'] === 'string' ? cut(info['title']) : undefined
  const slot = (name.length * 7 + version.length) % seen.length
  const known = seen[slot]
  if (known?.name === name && known.version === version && known.title === title) return known
  return seen[slot] = Object.freeze({ name, version, ...title !== undefined && { title } })
}

/** A text within the bound, copied: a slice of a large body would keep all of it in memory. */
function cut(value: unknown): string {
  if (typeof value !== 'string') return ''
  return value.length <= MAX_NAME ? value : Buffer.from(value.slice(0, MAX_NAME)).toString()
}

const severities: readonly Severity[] = [
  'debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency',
]

export function isSeverity(value: unknown): value is Severity {
  return severities.some((known) => known === value)
}

export function reaches(severity: Severity, threshold: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(threshold)
}
