/**
 * The parts of messages, for every dialect: the block of a text, a file or a value, and back; which parts an
 * agent reads; an answer as parts. What a block has no member for is in its `_meta`: the part's metadata, and
 * under `mediaType` and `filename` those of a text or a value.
 * Spec: A2A 1.0 §3.3.2, §4.1.6.
 */
import { isTextOfData } from '../../../floors/answers/answer.ts'
import { ATTACHMENT, attachmentOf } from '../../../floors/conversations/message.ts'
import { standardBase64 } from '../../../kernel/wire/base64.ts'
import { percentDecoded } from '../../../kernel/wire/uri.ts'
import { A2aFault } from '../model/faults.ts'
import { isUnset, wrongField } from '../model/fields.ts'
import type { Answer } from '../../../floors/answers/answer.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type {
  AudioContent, Content, DataContent, EmbeddedResource, ImageContent, ResourceLink, TextContent,
} from '../../../kernel/define/content.ts'
import type { JsonMembers } from '../model/model.ts'

/** The media type of a text that states none. */
const PLAIN_TEXT = 'text/plain'
/** The name of a file that has none. */
const NO_NAME = 'file'
const DATA_URI = /^data:/i

/** A block that a dialect writes as a file. */
export type FileBlock = ImageContent | AudioContent | EmbeddedResource | ResourceLink

/** What is in a block of a file. One of `uri`, `bytes` and `text` is there. */
export interface FileParts {
  readonly name: string | undefined
  readonly mediaType: string | undefined
  readonly uri: string | undefined
  /** Base64, standard and padded. */
  readonly bytes: string | undefined
  readonly text: string | undefined
}

export function textBlock(
  text: string, mediaType: string | undefined, filename: string | undefined,
  metadata: JsonMembers | undefined,
): TextContent {
  const _meta = metaOf(mediaType === PLAIN_TEXT ? undefined : mediaType, filename, metadata)
  return _meta === undefined ? { type: 'text', text } : { type: 'text', text, _meta }
}

export function dataBlock(
  data: unknown, mimeType: string | undefined, filename: string | undefined,
  metadata: JsonMembers | undefined,
): DataContent {
  const _meta = metaOf(undefined, filename, metadata)
  return {
    type: 'data', data, ...mimeType !== undefined && { mimeType }, ..._meta !== undefined && { _meta },
  }
}

/** The block of a file by its address. */
export function linkBlock(
  uri: string, mimeType: string | undefined, filename: string | undefined,
  metadata: JsonMembers | undefined,
): ResourceLink {
  return {
    type: 'resource_link', uri, name: filename ?? nameOf(uri),
    ...mimeType !== undefined && { mimeType }, ...metadata !== undefined && { _meta: metadata },
  }
}

/** The same, or the block of its bytes where they are in the address, as Base64 (RFC 2397). */
export function addressBlock(
  uri: string, mimeType: string | undefined, filename: string | undefined,
  metadata: JsonMembers | undefined,
): Content {
  const held = inlineOf(uri)
  const bytes = held && standardBase64(held.data)
  if (held === undefined || bytes === undefined) return linkBlock(uri, mimeType, filename, metadata)
  return bytesBlock(bytes, mimeType ?? held.mimeType, filename, metadata)
}

/** What a `data:` address has in Base64, unread; undefined for any other address. */
export function inlineOf(
  uri: string,
): { readonly mimeType: string | undefined; readonly data: string } | undefined {
  const comma = uri.indexOf(',')
  if (comma === -1 || !DATA_URI.test(uri)) return undefined
  const head = uri.slice('data:'.length, comma)
  if (!/;base64$/i.test(head)) return undefined
  const [mimeType = ''] = head.split(';', 1)
  return { mimeType: mimeType || undefined, data: uri.slice(comma + 1) }
}

/** The block of a file by its bytes: a picture, a sound, or anything else. */
export function bytesBlock(
  bytes: string, mimeType: string | undefined, filename: string | undefined,
  metadata: JsonMembers | undefined,
): ImageContent | AudioContent | EmbeddedResource {
  const block = attachmentOf(bytes, mimeType, filename ?? NO_NAME)
  // A resource has the name in its address.
  const _meta = metaOf(undefined, block.type === 'resource' ? undefined : filename, metadata)
  return _meta === undefined ? block : { ...block, _meta }
}

export function fileOf(block: FileBlock): FileParts {
  if (block.type === 'resource_link') {
    const { uri, name, mimeType } = block
    const isMadeUp = name === nameOf(uri) && (name === NO_NAME || DATA_URI.test(uri))
    return { name: isMadeUp ? undefined : name, mediaType: mimeType, uri, bytes: undefined, text: undefined }
  }
  if (block.type === 'resource') {
    const { uri, mimeType, text, blob } = block.resource
    const name = uri === ATTACHMENT + NO_NAME ? undefined : nameOf(uri)
    const bytes = text === undefined ? blob ?? '' : undefined
    return { name, mediaType: mimeType, uri: undefined, bytes, text }
  }
  const { data, mimeType } = block
  return { name: filenameOf(block), mediaType: mimeType, uri: undefined, bytes: data, text: undefined }
}

/** The file name in a block's `_meta`. */
export function filenameOf({ _meta }: Content): string | undefined {
  return textIn(_meta, 'filename')
}

export function mediaTypeOf(block: Content): string | undefined {
  if (block.type === 'text') return textIn(block._meta, 'mediaType')
  return block.type === 'resource' ? block.resource.mimeType : block.mimeType
}

/** The metadata of the part that a block becomes: its `_meta` without what is written as members. */
export function metadataOf(block: Content): JsonMembers | undefined {
  const { type, _meta } = block
  if (_meta === undefined || type === 'resource' || type === 'resource_link') return _meta
  const isNamed = filenameOf(block) !== undefined
  const isTyped = type === 'text' && mediaTypeOf(block) !== undefined
  if (!isNamed && !isTyped) return _meta
  const kept = Object.entries(_meta).filter(([key]) => {
    return !(isNamed && key === 'filename') && !(isTyped && key === 'mediaType')
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** The last segment of an address's path, as a person would call the file. */
export function nameOf(uri: string): string {
  if (DATA_URI.test(uri)) return 'data'
  const path = uri.replace(/[?#].*$/s, '').replace(/^[a-z][a-z\d+.-]*:(?:\/\/[^/]*)?/i, '')
  const segment = path.slice(path.lastIndexOf('/') + 1)
  return (percentDecoded(segment) ?? segment) || NO_NAME
}

/** Bytes in Base64 of either alphabet, padded or not, in the normal form. */
export function readBytes(value: unknown, at: string, name: string): string {
  const bytes = typeof value === 'string' ? standardBase64(value) : undefined
  if (bytes !== undefined) return bytes
  throw wrongField(at, name, 'must be a string of Base64')
}

/** The `_meta` of a block. Name and type replace members of the same name. */
function metaOf(
  mediaType: string | undefined, filename: string | undefined, metadata: JsonMembers | undefined,
): JsonMembers | undefined {
  if (mediaType === undefined && filename === undefined) return metadata
  return {
    ...metadata, ...mediaType !== undefined && { mediaType }, ...filename !== undefined && { filename },
  }
}

function textIn(meta: JsonMembers | undefined, key: string): string | undefined {
  if (meta === undefined || !Object.hasOwn(meta, key)) return undefined
  const value = meta[key]
  return typeof value === 'string' ? value : undefined
}

/**
 * What a part has that its dialect does not know, for an error: its kind, else the names of its members.
 * `known`: those that have content.
 */
export function strangeIn(part: JsonMembers, known: ReadonlySet<unknown>): unknown {
  const { kind, type, metadata: _metadata, ...members } = part
  const named = kind ?? type
  if (!isUnset(named) && !known.has(named)) return named
  const names = Object.keys(members).filter((name) => !known.has(name) && !isUnset(members[name]))
  return names.slice(0, 3).join(', ')
}

/** Throws `CONTENT_TYPE_NOT_SUPPORTED` for a part whose media type is none of the agent's `inputModes`. */
export function checkMediaTypes(agent: Agent | Group, parts: readonly Content[]): void {
  const modes = agent.kind === 'agent' ? agent.inputModes : undefined
  if (modes === undefined) return
  for (const part of parts) {
    const type = mediaTypeOf(part)
    if (type === undefined || modes.some((mode) => covers(mode, type))) continue
    const remedy = `send ${modes.join(', ')}`
    throw new A2aFault('CONTENT_TYPE_NOT_SUPPORTED', `${agent.name} does not read ${type}; ${remedy}`)
  }
}

/** Whether a media type, or a range of them, covers another. */
function covers(mode: string, type: string): boolean {
  const plain = type.split(';', 1)[0]!.trim().toLowerCase()
  const range = mode.toLowerCase()
  return range === plain || range === '*/*' || (range.endsWith('/*') && plain.startsWith(range.slice(0, -1)))
}

/** The content of an answer, and its data where the content is not the text of that data. */
export function contentParts(answer: Answer): readonly Content[] {
  const { content, data } = answer
  if (data === undefined) return content
  return isTextOfData(content, data) ? [dataPart(answer)] : [...content, dataPart(answer)]
}

/** The same, and the parts of its artifacts. */
export function answerParts(answer: Answer): readonly Content[] {
  const parts = contentParts(answer)
  const more = answer.artifacts?.flatMap(({ parts }) => parts) ?? []
  return more.length === 0 ? parts : [...parts, ...more]
}

/** The data of an answer, as a part. */
export function dataPart({ data }: Answer): Content {
  return { type: 'data', data }
}
