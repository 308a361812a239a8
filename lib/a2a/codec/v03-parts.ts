/**
 * The parts of a message in A2A 0.2 and 0.3: one part in, one block of content out, and back. Parts are told
 * by their `kind`; old clients write `type`, or leave the member out.
 *
 * A part has no place for what a text or a value is called: it stands in its metadata, which is the block's
 * `_meta` as it is. Its data are objects only, so another value is wrapped, and marked as wrapped.
 * Spec: A2A 0.3 §6.5.
 */
import { isRecord } from '../../define/content.ts'
import { isUnset, readMembers, readText, needObject, needText, wrongField } from '../model/fields.ts'
import { bytesBlock, dataBlock, fileOf, linkBlock, metadataOf, readBytes, textBlock } from './parts.ts'
import type { Content, DataContent } from '../../define/content.ts'
import type { JsonMembers } from '../model/model.ts'
import type { FileBlock } from './parts.ts'

/** What official libraries mark a value with that is wrapped as `{ value }`. */
const WRAPPED = 'data_part_compat'
/** Where a value's media type stands: a part has no member for it. */
const MEDIA_TYPE = 'mediaType'

/** Reads one part. `at` is its path. */
export function decodeV03Part(value: unknown, at: string): Content {
  const part = needObject(value, at)
  const metadata = readMembers(part['metadata'], at, 'metadata')
  const kind = part['kind'] ?? part['type'] ?? impliedKind(part)
  if (kind === 'text') return textBlock(needText(part['text'], at, 'text'), undefined, undefined, metadata)
  if (kind === 'file') return decodeFile(part['file'], `${at}.file`, metadata)
  if (kind === 'data') return decodeData(needObject(part['data'], `${at}.data`), metadata)
  throw wrongField(at, 'kind', 'must be one of text, file, data')
}

/** What a part is that does not say so. */
function impliedKind({ text, file, data }: JsonMembers): string | undefined {
  return isUnset(text) ? isUnset(file) ? isUnset(data) ? undefined : 'data' : 'file' : 'text'
}

function decodeFile(value: unknown, at: string, metadata: JsonMembers | undefined): Content {
  const file = needObject(value, at)
  const name = readText(file['name'], at, 'name')
  const mimeType = readText(file['mimeType'] ?? file['mime_type'], at, 'mimeType')
  const { bytes } = file
  if (!isUnset(bytes)) return bytesBlock(readBytes(bytes, at, 'bytes'), mimeType, name, metadata)
  const uri = readText(file['uri'], at, 'uri')
  if (uri === undefined) throw wrongField(at, 'uri', 'is missing; a file has "uri" or "bytes"')
  return linkBlock(uri, mimeType, name, metadata)
}

function decodeData(data: JsonMembers, metadata: JsonMembers | undefined): Content {
  if (metadata === undefined) return { type: 'data', data }
  const { [WRAPPED]: wrapped, [MEDIA_TYPE]: mediaType, ...others } = metadata
  const isWrapped = wrapped === true && Object.hasOwn(data, 'value')
  const mimeType = typeof mediaType === 'string' ? mediaType : undefined
  const kept = {
    ...others,
    ...wrapped !== undefined && !isWrapped && { [WRAPPED]: wrapped },
    ...mediaType !== undefined && mimeType === undefined && { [MEDIA_TYPE]: mediaType },
  }
  const _meta = Object.keys(kept).length === 0 ? undefined : kept
  return dataBlock(isWrapped ? data['value'] : data, mimeType, undefined, _meta)
}

/** Writes one block of content as a part. */
export function encodeV03Part(block: Content): JsonMembers {
  if (block.type === 'text') return { kind: 'text', text: block.text, metadata: block._meta }
  return block.type === 'data' ? encodeData(block) : encodeFile(block)
}

function encodeData({ data, mimeType, _meta }: DataContent): JsonMembers {
  const isWrapped = !isRecord(data)
  if (!isWrapped && mimeType === undefined) return { kind: 'data', data, metadata: _meta }
  const metadata = {
    ..._meta, ...mimeType !== undefined && { [MEDIA_TYPE]: mimeType }, ...isWrapped && { [WRAPPED]: true },
  }
  return { kind: 'data', data: isWrapped ? { value: data } : data, metadata }
}

function encodeFile(block: FileBlock): JsonMembers {
  const { name, mediaType, uri, bytes, text } = fileOf(block)
  const metadata = metadataOf(block)
  if (uri !== undefined) return { kind: 'file', file: { uri, name, mimeType: mediaType }, metadata }
  if (text === undefined) return { kind: 'file', file: { bytes, name, mimeType: mediaType }, metadata }
  const file = { bytes: Buffer.from(text).toString('base64'), name, mimeType: mediaType ?? 'text/plain' }
  return { kind: 'file', file, metadata }
}
