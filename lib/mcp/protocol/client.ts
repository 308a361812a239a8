/**
 * What is known of a client: who it says it is and what it says it can do, in one fixed shape. Of all that a
 * client declares only this is kept, within bounds.
 *
 * Spec: MCP 2025-11-25, Lifecycle, Capability Negotiation; 2026-07-28, Client Capabilities.
 */
import { isRecord } from '../../define/content.ts'
import type { ClientInfo } from '../../define/call.ts'
import type { Revision } from './revisions.ts'

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

/** What decides how a client is asked: the revision it speaks, and what it can do. */
export interface PeerInfo {
  readonly revision: Revision
  readonly abilities: ClientAbilities
}

/** Characters of a name, a title or a version. */
const MAX_NAME = 256
/** All settings of extensions together, as JSON, in characters. */
const MAX_SETTINGS = 16 * 1024
/** Longer ones are kept as text: values may take twenty times its room. Each reading makes new ones. */
const MAX_VALUES = 256

type Extensions = ClientAbilities['extensions']

const noExtensions: Extensions = Object.freeze({})

/** One bit for each thing that a client can do, in the order of `ClientAbilities`. */
function abilitiesOf(bits: number, extensions: Extensions | string): ClientAbilities {
  const has = (at: number): boolean => (bits >> at & 1) === 1
  return Object.freeze({
    forms: has(0), urls: has(1), sampling: has(2), samplingTools: has(3), samplingContext: has(4),
    roots: has(5), samplingTasks: has(6), elicitationTasks: has(7),
    get extensions() { return typeof extensions === 'string' ? valuesOf(extensions) : extensions },
  })
}

/** A client that has declared nothing. */
export const unable: ClientAbilities = abilitiesOf(0, noExtensions)

/** What clients without extensions can do, by their bits: one object for all that can do the same. */
const plain: (ClientAbilities | undefined)[] = [unable]

/** Reads a client's capabilities. What is not known is passed over. */
export function decodeAbilities(capabilities: unknown): ClientAbilities {
  if (!isRecord(capabilities)) return unable
  const { elicitation, sampling, roots, tasks, extensions } = capabilities
  const requests = isRecord(tasks) && isRecord(tasks['requests']) ? tasks['requests'] : undefined
  // An empty object means forms, as it did before there was anything else.
  const asksForms = isRecord(elicitation) && (has(elicitation, 'form') || elicitation['url'] === undefined)
  const bits = Number(asksForms) | Number(has(elicitation, 'url')) << 1 | Number(isRecord(sampling)) << 2
    | Number(has(sampling, 'tools')) << 3 | Number(has(sampling, 'context')) << 4
    | Number(isRecord(roots)) << 5 | Number(has(requests?.['sampling'], 'createMessage')) << 6
    | Number(has(requests?.['elicitation'], 'create')) << 7
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
  for (const [name, settings] of Object.entries(extensions)) {
    const length = name.length + (JSON.stringify(settings) ?? '').length
    if (length > left) break
    left -= length
    kept[name] = settings
  }
  return MAX_SETTINGS - left > MAX_VALUES ? JSON.stringify(kept) : kept
}

function valuesOf(json: string): Extensions {
  const kept: Record<string, unknown> = Object.create(null)
  return Object.assign(kept, JSON.parse(json))
}

/** Who a client says that it is, and which extensions it has; undefined where it says neither. */
export function decodeClient(info: unknown, abilities: ClientAbilities): ClientInfo | undefined {
  const isNamed = isRecord(info) && typeof info['name'] === 'string'
  const hasExtensions = abilities.extensions !== noExtensions
  if (!isNamed && !hasExtensions) return undefined
  const client = clientOf(isNamed ? info : {})
  return hasExtensions ? { ...client, get extensions() { return abilities.extensions } } : client
}

/** Clients that were met, in places that the length of their names tells: sessions of one share it. */
const met: (ClientInfo | undefined)[] = Array.from({ length: 64 })

function clientOf(info: Readonly<Record<string, unknown>>): ClientInfo {
  const name = cut(info['name'])
  const version = cut(info['version'])
  const title = typeof info['title'] === 'string' ? cut(info['title']) : undefined
  const place = (name.length * 7 + version.length) % met.length
  const known = met[place]
  if (known?.name === name && known.version === version && known.title === title) return known
  return met[place] = Object.freeze({ name, version, ...title !== undefined && { title } })
}

/** A text within the bound, in a memory of its own: a piece of a large body would keep all of it. */
function cut(value: unknown): string {
  if (typeof value !== 'string') return ''
  return value.length <= MAX_NAME ? value : Buffer.from(value.slice(0, MAX_NAME)).toString()
}
