/**
 * What every dialect's parts have in common: which block of content a text, a file or a value becomes, and
 * what of a block is a file's name, type, address and bytes.
 *
 * What a part has and no block has a member for stands in the block's `_meta`: the part's metadata as it is,
 * and under `mediaType` and `filename` what a text or a value was called. Spelling is the dialects' business.
 */
import { standardBase64 } from '../../wire/base64.ts'
import { wrongField } from '../model/fields.ts'
import type {
  AudioContent, Content, DataContent, EmbeddedResource, ImageContent, ResourceLink, TextContent,
} from '../../define/content.ts'
import type { JsonMembers } from '../model/model.ts'

/** What a text is where nobody says so. */
const PLAIN_TEXT = 'text/plain'
const ATTACHMENT = 'attachment:'
/** What a file is called that nobody named. */
const NO_NAME = 'file'
const DATA_URI = /^data:/i

/** A block that a dialect writes as a file. */
export type FileBlock = ImageContent | AudioContent | EmbeddedResource | ResourceLink

/** What is in a block of a file. One of `uri`, `bytes` and `text` is there. */
export interface FileParts {
  /** Undefined where nothing says it. */
  readonly name: string | undefined
  readonly mediaType: string | undefined
  readonly uri: string | undefined
  /** Base64, standard and padded. */
  readonly bytes: string | undefined
  readonly text: string | undefined
}

/** A text, with what it was called. */
export function textBlock(
  text: string, mediaType: string | undefined, filename: string | undefined,
  metadata: JsonMembers | undefined,
): TextContent {
  const _meta = metaOf(mediaType === PLAIN_TEXT ? undefined : mediaType, filename, metadata)
  return _meta === undefined ? { type: 'text', text } : { type: 'text', text, _meta }
}

/** A JSON value. */
export function dataBlock(
  data: unknown, mimeType: string | undefined, filename: string | undefined,
  metadata: JsonMembers | undefined,
): DataContent {
  const _meta = metaOf(undefined, filename, metadata)
  return {
    type: 'data', data, ...mimeType !== undefined && { mimeType }, ..._meta !== undefined && { _meta },
  }
}

/** A file by its address. */
export function linkBlock(
  uri: string, mimeType: string | undefined, filename: string | undefined,
  metadata: JsonMembers | undefined,
): ResourceLink {
  return {
    type: 'resource_link', uri, name: filename ?? nameOf(uri),
    ...mimeType !== undefined && { mimeType }, ...metadata !== undefined && { _meta: metadata },
  }
}

/** A file by its bytes: a picture, a sound, or anything else. `bytes` is Base64 in its normal form. */
export function bytesBlock(
  bytes: string, mimeType: string | undefined, filename: string | undefined,
  metadata: JsonMembers | undefined,
): ImageContent | AudioContent | EmbeddedResource {
  const type = mimeType === undefined ? undefined : /^(image|audio)\//i.exec(mimeType)?.[1]?.toLowerCase()
  if (mimeType !== undefined && (type === 'image' || type === 'audio')) {
    const _meta = metaOf(undefined, filename, metadata)
    return { type, data: bytes, mimeType, ..._meta !== undefined && { _meta } }
  }
  // Half a surrogate pair has no percent-encoding; as bytes it is a replacement character.
  const uri = ATTACHMENT + encodeURIComponent(Buffer.from(filename ?? NO_NAME).toString())
  return {
    type: 'resource',
    resource: { uri, ...mimeType !== undefined && { mimeType }, blob: bytes },
    ...metadata !== undefined && { _meta: metadata },
  }
}

/** What of a block is a file's. */
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
  return {
    name: filenameOf(block), mediaType: mimeType, uri: undefined, bytes: data, text: undefined,
  }
}

/** The file name that a block's `_meta` keeps. */
export function filenameOf({ _meta }: Content): string | undefined {
  return textIn(_meta, 'filename')
}

/** The media type that a text's `_meta` keeps. */
export function mediaTypeOf({ _meta }: TextContent): string | undefined {
  return textIn(_meta, 'mediaType')
}

/** The metadata of the part that a block becomes: its `_meta` without what is written as members. */
export function metadataOf(block: Content): JsonMembers | undefined {
  const { type, _meta } = block
  if (_meta === undefined || type === 'resource' || type === 'resource_link') return _meta
  const isCalled = filenameOf(block) !== undefined
  const isTyped = type === 'text' && mediaTypeOf(block) !== undefined
  if (!isCalled && !isTyped) return _meta
  const kept = Object.entries(_meta).filter(([key]) => {
    return !(isCalled && key === 'filename') && !(isTyped && key === 'mediaType')
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** The last segment of an address's path, as a person would call the file. */
export function nameOf(uri: string): string {
  if (DATA_URI.test(uri)) return 'data'
  const path = uri.replace(/[?#].*$/s, '').replace(/^[a-z][a-z\d+.-]*:(?:\/\/[^/]*)?/i, '')
  const segment = path.slice(path.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(segment) || NO_NAME
  } catch {
    return segment
  }
}

/** Bytes that a client wrote as Base64 of either alphabet, padded or not, in the normal form. */
export function readBytes(value: unknown, at: string, name: string): string {
  const bytes = typeof value === 'string' ? standardBase64(value) : undefined
  if (bytes !== undefined) return bytes
  throw wrongField(at, name, 'must be a string of Base64')
}

/** A part's metadata and what it was called, as one. The name and type go above members of the same name. */
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
