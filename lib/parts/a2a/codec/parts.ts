/**
 * The parts of messages, for every dialect: a block of content as a part, and back; which parts an agent
 * reads; an answer as parts. What a block has no member for is in its `_meta`: the part's metadata, and under
 * `mediaType` and `filename` those of a text or a value.
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
  AudioContent, Content, DataContent, EmbeddedResource, ImageContent, ResourceContents, ResourceLink,
  TextContent,
} from '../../../kernel/define/content.ts'
import type { JsonMembers, Whole } from '../model/model.ts'

/** The media type of a text that states none. */
const PLAIN_TEXT = 'text/plain'
/** The name of a file that has none. */
const NO_NAME = 'file'
const DATA_URI = /^data:/i

/** What a part holds: a text, a file (as Base64, by its address, as a text), or any JSON value. */
type Held =
  | { readonly kind: 'text' | 'bytes' | 'uri'; readonly value: string }
  | { readonly kind: 'document'; readonly value: string }
  | { readonly kind: 'data'; readonly value: unknown }

/** What a part says of that. */
export interface PartLabels {
  /** Of the file that it is, or was. */
  readonly name: string | undefined
  readonly mediaType: string | undefined
  readonly metadata: JsonMembers | undefined
}

/** One part, before a dialect writes it and after it was read. */
export type WirePart = Held & PartLabels

/** Of annotations no part has any. */
type Marks = 'type' | '_meta' | 'annotations'

function picturePart(
  { data, mimeType, _meta }: Whole<ImageContent | AudioContent, Marks | 'data' | 'mimeType'>,
): WirePart {
  return { kind: 'bytes', value: data, ...labelsOf(_meta, mimeType) }
}

/** The part of each kind of block. */
const parts: {
  readonly [type in Content['type']]: (block: Extract<Content, { readonly type: type }>) => WirePart
} = {
  text({ text, _meta }: Whole<TextContent, Marks | 'text'>) {
    const mediaType = textIn(_meta, 'mediaType')
    const rest = mediaType === undefined ? _meta : without(_meta, 'mediaType')
    return { kind: 'text', value: text, ...labelsOf(rest, mediaType) }
  },
  data: ({ data, mimeType, _meta }: Whole<DataContent, Marks | 'data' | 'mimeType'>) => (
    { kind: 'data', value: data, ...labelsOf(_meta, mimeType) }
  ),
  image: picturePart,
  audio: picturePart,
  resource({ resource, _meta }: Whole<EmbeddedResource, Marks | 'resource'>) {
    const { uri, mimeType, text, blob }: Whole<
      ResourceContents, 'uri' | 'mimeType' | 'text' | 'blob' | '_meta'
    > = resource
    const name = uri === ATTACHMENT + NO_NAME ? undefined : nameOf(uri)
    const labels: PartLabels = { name, mediaType: mimeType, metadata: _meta }
    return text === undefined ? { kind: 'bytes', value: blob ?? '', ...labels }
      : { kind: 'document', value: text, ...labels }
  },
  resource_link({ uri, name, mimeType, _meta }: Whole<
    ResourceLink, Marks | 'uri' | 'name' | 'mimeType' | 'title' | 'description' | 'size'
  >) {
    const isMadeUp = name === nameOf(uri) && (name === NO_NAME || DATA_URI.test(uri))
    return {
      kind: 'uri', value: uri, name: isMadeUp ? undefined : name, mediaType: mimeType, metadata: _meta,
    }
  },
}

/** The part that a block becomes. */
export function partFor(block: Content): WirePart {
  return parts[block.type](block as never)
}

/** The block of a part that was read; its bytes are in the normal form of Base64. */
export function blockFor(held: Exclude<Held, { readonly kind: 'document' }>, labels: PartLabels): Content {
  const { kind, value } = held
  const { name, mediaType, metadata } = labels
  switch (kind) {
    case 'text': {
      const type = mediaType === PLAIN_TEXT ? undefined : mediaType
      const _meta = metadataWith({ name, metadata, mediaType: type })
      return _meta === undefined ? { type: 'text', text: value } : { type: 'text', text: value, _meta }
    }
    case 'data': {
      const _meta = metadataWith({ name, metadata, mediaType: undefined })
      return {
        type: 'data', data: value, ...mediaType !== undefined && { mimeType: mediaType },
        ..._meta !== undefined && { _meta },
      }
    }
    case 'bytes': {
      const block = attachmentOf(value, mediaType, name ?? NO_NAME)
      // A resource has the name in its address.
      const _meta = block.type === 'resource' ? metadata
        : metadataWith({ name, metadata, mediaType: undefined })
      return _meta === undefined ? block : { ...block, _meta }
    }
    case 'uri': {
      // An address may hold the bytes itself.
      const inline = inlineOf(value)
      const bytes = inline && standardBase64(inline.data)
      if (inline !== undefined && bytes !== undefined) {
        const ownType = mediaType ?? inline.mimeType
        return blockFor({ kind: 'bytes', value: bytes }, { name, mediaType: ownType, metadata })
      }
      return {
        type: 'resource_link', uri: value, name: name ?? nameOf(value),
        ...mediaType !== undefined && { mimeType: mediaType },
        ...metadata !== undefined && { _meta: metadata },
      }
    }
  }
}

/** The metadata of a part, and in it its name and type; they replace members of the same name. */
export function metadataWith({ name, mediaType, metadata }: PartLabels): JsonMembers | undefined {
  if (mediaType === undefined && name === undefined) return metadata
  return {
    ...metadata, ...mediaType !== undefined && { mediaType }, ...name !== undefined && { filename: name },
  }
}

/** What a block says in `_meta`: its name, where there is one, is no metadata. */
function labelsOf(_meta: JsonMembers | undefined, mediaType: string | undefined): PartLabels {
  const name = textIn(_meta, 'filename')
  return { name, mediaType, metadata: name === undefined ? _meta : without(_meta, 'filename') }
}

function without(meta: JsonMembers | undefined, name: string): JsonMembers | undefined {
  const { [name]: _, ...others } = meta ?? {}
  return Object.keys(others).length === 0 ? undefined : others
}

function textIn(meta: JsonMembers | undefined, key: string): string | undefined {
  const value = meta !== undefined && Object.hasOwn(meta, key) ? meta[key] : undefined
  return typeof value === 'string' ? value : undefined
}

/** The file name in a block's `_meta`. */
export function filenameOf({ _meta }: Content): string | undefined {
  return textIn(_meta, 'filename')
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

const noContent: ReadonlySet<unknown> = new Set(['kind', 'type', 'metadata'])

/**
 * What a part has that its dialect does not know, for an error: its kind, else the names of its members.
 * `known`: those that have content.
 */
export function strangeIn(part: JsonMembers, known: ReadonlySet<unknown>): unknown {
  const named = part.kind ?? part.type
  if (!isUnset(named) && !known.has(named)) return named
  const names: string[] = []
  for (const name in part) {
    if (noContent.has(name) || known.has(name) || isUnset(part[name])) continue
    if (names.push(name) === 3) break
  }
  return names.join(', ')
}

/** Throws `CONTENT_TYPE_NOT_SUPPORTED` for a part whose media type is none of the agent's `inputModes`. */
export function checkMediaTypes(agent: Agent | Group, parts: readonly Content[]): void {
  const modes = agent.kind === 'agent' ? agent.inputModes : undefined
  if (modes === undefined) return
  for (const part of parts) {
    const { mediaType: type } = partFor(part)
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
