/**
 * The neutral content blocks and their normal form: an author returns a string, bytes or a block, a protocol
 * gets a list of checked blocks. Which blocks an old client understands is the protocol's business.
 */
import { isUint8Array } from 'node:util/types'
import { nearest } from '../schema/options.ts'
import { standardBase64 } from '../wire/base64.ts'
import { isRecord } from '../util/record.ts'
import { formatJson } from '../wire/json.ts'
import { mistake } from './fault.ts'

export { isRecord } from '../util/record.ts'

/** Hints for showing a block: for whom, how much it matters (0 to 1), when it changed (ISO 8601). */
export interface Annotations {
  readonly audience?: readonly ('user' | 'assistant')[]
  readonly priority?: number
  readonly lastModified?: string
}

interface Marks {
  readonly annotations?: Annotations
  readonly _meta?: Readonly<Record<string, unknown>>
}

export interface TextContent extends Marks { readonly type: 'text'; readonly text: string }

/** A picture: `data` is base64. */
export interface ImageContent extends Marks {
  readonly type: 'image'
  readonly data: string
  readonly mimeType: string
}

/** A sound: `data` is base64. */
export interface AudioContent extends Marks {
  readonly type: 'audio'
  readonly data: string
  readonly mimeType: string
}

/** What a resource holds: either `text` or `blob` (base64). */
export interface ResourceContents {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  readonly blob?: string
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** A resource, in place. */
export interface EmbeddedResource extends Marks {
  readonly type: 'resource'
  readonly resource: ResourceContents
}

/** A resource, by reference. */
export interface ResourceLink extends Marks {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** Bytes. */
  readonly size?: number
}

/** A JSON value for machines, null too; where a protocol has no such block it is its JSON text. */
export interface DataContent extends Marks {
  readonly type: 'data'
  readonly data: unknown
  readonly mimeType?: string
}

/** One block of content. */
export type Content =
  | TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink | DataContent

/** A block as an author may write it: the bytes of `data` and `blob` may be a `Uint8Array`. */
export type ContentInput =
  | TextContent
  | EmbeddedResource
  | ResourceLink
  | DataContent
  | (Omit<ImageContent, 'data'> & { readonly data: string | Uint8Array })
  | (Omit<AudioContent, 'data'> & { readonly data: string | Uint8Array })
  | (Omit<EmbeddedResource, 'resource'> & {
    readonly resource: Omit<ResourceContents, 'blob'> & { readonly blob?: string | Uint8Array }
  })

export function text(value: string): TextContent {
  return { type: 'text', text: value }
}

/** Whether a block is text and nothing else. */
export function isPlainText(block: Content): block is TextContent {
  return block.type === 'text' && block._meta === undefined && block.annotations === undefined
}

/** Whether a value is meant as a block: an object whose `type` is one of the six. */
export function isContent(value: unknown): value is ContentInput {
  return isTyped(value) && needs.has(value.type)
}

/** Whether a value names its type, as a block does. Among blocks it is meant as one. */
export function isTyped(value: unknown): value is ContentInput {
  return isRecord(value) && typeof value['type'] === 'string'
}

const needs: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['image', ['data', 'mimeType']],
  ['audio', ['data', 'mimeType']],
  ['resource', ['resource']],
  ['resource_link', ['uri', 'name']],
  ['data', ['data']],
])

/**
 * The normal form of one block. Bytes become base64; a block that is complete already is itself. Throws
 * `Fault('internal')` with a cause that names what is missing, or the type that was probably meant: it is
 * the author's mistake.
 */
export function contentOf(value: ContentInput): Content {
  const needed = isTyped(value) ? needs.get(value.type) : undefined
  if (needed === undefined) throw mistake(noBlock(value))
  for (const name of needed) {
    const member: unknown = Reflect.get(value, name)
    const fine = value.type === 'data' ? member !== undefined
      : name === 'resource' ? isRecord(member)
      : typeof member === 'string' || (name === 'data' && isUint8Array(member))
    if (!fine) throw mistake(`a content block of type '${value.type}' needs '${name}'`)
  }
  const { annotations, _meta } = value
  if ((annotations !== undefined && !isRecord(annotations)) || (_meta !== undefined && !isRecord(_meta))) {
    throw mistake(`a content block of type '${value.type}' has annotations or a _meta that is no object`)
  }
  const wrong = (annotations && wrongAnnotation(annotations))
    ?? (value.type === 'resource_link' ? wrongLabel(value) : undefined)
  if (wrong !== undefined) throw mistake(`a content block of type '${value.type}' has ${wrong}`)
  if (value.type === 'data') {
    return { ...value, data: copyOfJson(value.data, `a content block of type 'data' holds`) }
  }
  if (value.type === 'image' || value.type === 'audio') {
    return { ...value, data: bytesOf(value.data, value.type, 'data') }
  }
  if (value.type !== 'resource') return value
  const { blob, ...resource } = value.resource
  if (typeof resource.uri !== 'string') throw mistake(`the resource of a content block needs 'uri'`)
  const label = wrongLabel(resource)
  if (label !== undefined) throw mistake(`the resource of a content block has ${label}`)
  if (typeof resource.text !== 'string' && typeof blob !== 'string' && !(isUint8Array(blob))) {
    throw mistake(`the resource of a content block needs 'text' or 'blob'`)
  }
  if (blob === undefined) return { ...value, resource }
  return { ...value, resource: { ...resource, blob: bytesOf(blob, 'resource', 'blob') } }
}

const audiences: ReadonlySet<unknown> = new Set(['user', 'assistant'])

/** What clients would refuse a whole result for. */
function wrongAnnotation(annotations: object): string | undefined {
  const { audience, priority, lastModified }: { readonly [name: string]: unknown } = { ...annotations }
  if (audience !== undefined && !(Array.isArray(audience) && audience.every((one) => audiences.has(one)))) {
    return `an audience that is no list of 'user' and 'assistant'`
  }
  if (priority !== undefined && !(typeof priority === 'number' && priority >= 0 && priority <= 1)) {
    return 'a priority that is no number from 0 to 1'
  }
  const isTime = lastModified === undefined || typeof lastModified === 'string'
  return isTime ? undefined : `a lastModified that is no text, as '2026-07-28T12:00:00Z' is`
}

/** The same of the members that describe a resource. */
function wrongLabel(about: object): string | undefined {
  const { size, ...texts }: { readonly [name: string]: unknown } = { ...about }
  for (const name of ['title', 'description', 'mimeType']) {
    if (texts[name] !== undefined && typeof texts[name] !== 'string') return `a ${name} that is no string`
  }
  return size === undefined || Number.isFinite(size) ? undefined : 'a size that is no number of bytes'
}

function bytesOf(data: string | Uint8Array, type: string, name: string): string {
  const bytes = base64(data)
  if (bytes !== undefined) return bytes
  throw mistake(`a content block of type '${type}' has a ${name} that is no base64; write ${BYTES}`)
}

/** A copy of a JSON value. `owner` begins the message about what is none. */
export function copyOfJson(data: unknown, owner: string): unknown {
  try {
    return JSON.parse(formatJson(data) ?? '') as unknown
  } catch {
    throw mistake(`${owner} what JSON cannot represent`)
  }
}

function noBlock(value: unknown): string {
  const type: unknown = isRecord(value) ? value['type'] : undefined
  if (typeof type !== 'string') return 'a list of content holds strings and content blocks, and nothing else'
  const types = [...needs.keys()]
  const meant = nearest(type, types)
  const remedy = meant === undefined ? `write one of ${types.join(', ')}` : `did you mean '${meant}'?`
  return `a content block has the type ${formatJson(type.slice(0, 60))}; ${remedy}`
}

export function blockOf(part: string | ContentInput): Content {
  return typeof part === 'string' ? text(part) : contentOf(part)
}

/** The text of blocks, for clients that read nothing else. */
export function textOf(content: readonly Content[]): string {
  let all = ''
  for (const block of content) if (block.type === 'text') all += block.text
  return all
}

/**
 * Bytes, or what is base64 already, as base64 that every client reads: lines are joined, and the URL-safe
 * alphabet becomes the standard one. Undefined for a text that is none.
 */
export function base64(data: string | Uint8Array): string | undefined {
  if (typeof data === 'string') return standardBase64(data) ?? standardBase64(data.replace(/\s+/g, ''))
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
}

export const BYTES = "a Uint8Array, or base64 alone, without 'data:' before it"

/** Whether a member is there: many clients send null for what they leave out. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** An object without the members that are null; itself, where none is. */
export function givenMembers(
  members: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  for (const name in members) {
    if (members[name] === null) {
      return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
    }
  }
  return members
}
