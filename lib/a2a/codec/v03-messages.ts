/**
 * Messages, their parts, tasks and the events of a stream in A2A 0.2 and 0.3: each has a `kind`. Old clients
 * write `type` in parts, or leave the member out.
 *
 * The metadata of a part are the block's `_meta` as it is: a part has no member for the name of a text or a
 * value. Data are objects only, so another value is wrapped, and marked as wrapped.
 * Spec: A2A 0.3 §6.1 to §6.5, §6.7, §7.2.
 */
import { isRecord, text } from '../../define/content.ts'
import { quote } from '../../wire/json.ts'
import {
  isUnset, needObject, needText, readChoice, readList, readMembers, readText, wrongField,
} from '../model/fields.ts'
import { bytesBlock, dataBlock, fileOf, linkBlock, metadataOf, readBytes, textBlock } from './parts.ts'
import { readMessageMembers } from './requests.ts'
import { formatList, formatTexts, isOfTexts } from './texts.ts'
import type { Artifact } from '../../define/artifact.ts'
import type { Content, DataContent } from '../../define/content.ts'
import type { TaskMessage, TaskStatus } from '../../tasks/task.ts'
import type { JsonMembers, Message, StreamEvent, TaskView } from '../model/model.ts'
import type { FileBlock } from './parts.ts'

/** Parts must not be empty, and a client reads parts[0].text without looking. */
const NOTHING: readonly Content[] = [text('')]

/** How a part that is a text begins. */
const TEXT = '{"kind":"text","text":'

/** Official libraries mark a value with it that is wrapped as `{ value }`. */
const WRAPPED = 'data_part_compat'
/** The media type of a value in metadata: a part has no member for it. */
const MEDIA_TYPE = 'mediaType'

const roles: ReadonlyMap<unknown, 'user' | 'agent'> = new Map([['user', 'user'], ['agent', 'agent']])

/** A message. `at` is its path; `maxNameBytes` bounds its ids. */
export function decodeV03Message(value: unknown, at: string, maxNameBytes: number): Message {
  const message = needObject(value, at)
  const { kind } = message
  if (!isUnset(kind) && kind !== 'message') throw wrongField(at, 'kind', 'must be message')
  const role = readChoice(message['role'], at, 'role', roles)
  if (role === undefined) throw wrongField(at, 'role', 'is missing; it must be user or agent')
  const parts = readList(message['parts'], at, 'parts', decodePart)
  if (parts === undefined) throw wrongField(at, 'parts', 'is missing; it must be a list')
  return readMessageMembers(message, at, maxNameBytes, role, parts)
}

function decodePart(value: unknown, at: string): Content {
  const part = needObject(value, at)
  const metadata = readMembers(part['metadata'], at, 'metadata')
  const kind = part['kind'] ?? part['type'] ?? impliedKind(part)
  if (kind === 'text') return textBlock(needText(part['text'], at, 'text'), undefined, undefined, metadata)
  if (kind === 'file') return decodeFile(part['file'], `${at}.file`, metadata)
  if (kind === 'data') return decodeData(needObject(part['data'], `${at}.data`), metadata)
  throw wrongField(at, 'kind', 'must be one of text, file, data')
}

/** The kind of a part that has no member for it. */
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

/** One event of a stream; a task or a message is what came of a message, too. */
export function encodeV03Event(event: StreamEvent): JsonMembers {
  switch (event.what) {
    case 'task': return encodeV03Task(event.task)
    case 'message': return encodeMessage(event.message, event.message.contextId, event.message.taskId)
    case 'status': {
      const { taskId, contextId, isLast } = event
      const status = encodeStatus(event.status, contextId, taskId)
      return { kind: 'status-update', taskId, contextId, status, final: isLast }
    }
    default: {
      const { taskId, contextId, append, last } = event
      const artifact = encodeArtifact(event.artifact)
      return { kind: 'artifact-update', taskId, contextId, artifact, append, lastChunk: last }
    }
  }
}

function encodeStatus({ state, at, message }: TaskStatus, contextId: string, taskId: string): JsonMembers {
  return { state, message: message && encodeMessage(message, contextId, taskId), timestamp: at }
}

function encodeArtifact({ id, name, description, parts, metadata, extensions }: Artifact): JsonMembers {
  return { artifactId: id, name, description, parts: encodeParts(parts), metadata, extensions }
}

/** A task; each of its messages has its id. */
export function encodeV03Task(task: TaskView): JsonMembers {
  const { id, contextId, status, artifacts, history, metadata } = task
  return {
    kind: 'task',
    id,
    contextId,
    status: encodeStatus(status, contextId, id),
    artifacts: artifacts?.map(encodeArtifact),
    history: history?.map((message) => encodeMessage(message, contextId, id)),
    metadata,
  }
}

function encodeMessage(
  message: TaskMessage, contextId: string | undefined, taskId: string | undefined,
): JsonMembers {
  const { id, role, parts, metadata, extensions, referenceTaskIds } = message
  return {
    kind: 'message', messageId: id, role, parts: encodeParts(parts), contextId, taskId, metadata,
    extensions, referenceTaskIds,
  }
}

function encodeParts(parts: readonly Content[]): readonly JsonMembers[] {
  return (parts.length === 0 ? NOTHING : parts).map(encodePart)
}

function encodePart(block: Content): JsonMembers {
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

/** The JSON text of an event that is made of texts; undefined for any other. */
export function formatV03Result(result: StreamEvent): string | undefined {
  if (result.what === 'message' || !isOfTexts(result)) return undefined
  if (result.what !== 'task') {
    const task = quote(result.taskId)
    const context = quote(result.contextId)
    const ids = `"taskId":${task},"contextId":${context}`
    if (result.what === 'status') {
      const status = formatStatus(result.status, `"contextId":${context},"taskId":${task}`)
      return `{"kind":"status-update",${ids},"status":${status},"final":${result.isLast}}`
    }
    const { artifact, append, last } = result
    return `{"kind":"artifact-update",${ids},"artifact":${formatArtifact(artifact)},`
      + `"append":${append},"lastChunk":${last}}`
  }
  const { status, artifacts, history } = result.task
  const id = quote(result.task.id)
  const context = `"contextId":${quote(result.task.contextId)}`
  const ids = `${context},"taskId":${id}`
  const made = artifacts === undefined ? '' : `,"artifacts":${formatList(artifacts, formatArtifact)}`
  const past = history === undefined ? ''
    : `,"history":${formatList(history, (one) => formatMessage(one, ids))}`
  return `{"kind":"task","id":${id},${context},"status":${formatStatus(status, ids)}${made}${past}}`
}

function formatStatus({ state, at, message }: TaskStatus, ids: string): string {
  const beside = message === undefined ? '' : `"message":${formatMessage(message, ids)},`
  return `{"state":"${state}",${beside}"timestamp":"${at}"}`
}

function formatMessage({ id, role, parts }: TaskMessage, ids: string): string {
  const texts = formatTexts(parts, TEXT)
  return `{"kind":"message","messageId":${quote(id)},"role":"${role}","parts":${texts},${ids}}`
}

function formatArtifact({ id, parts }: Artifact): string {
  return `{"artifactId":${quote(id)},"parts":${formatTexts(parts, TEXT)}}`
}
