/**
 * Messages and what they are made of, as A2A 1.0 spells them: roles, parts, artifacts. `null` is unset,
 * and a member may have its name of the protocol's definition (`message_id`) or of JSON (`messageId`).
 *
 * An encoder gives objects of one shape: `undefined` is a member that JSON text leaves out.
 * Spec: A2A 1.0 §4.1.4, §4.1.6, §4.1.7, §5.5.
 */
import { quote } from '../../wire/json.ts'
import {
  FieldFault, isUnset, needList, needName, needObject, needText, readChoice, readMembers, readName, readNames,
  readText, readTexts, wrongField,
} from '../model/fields.ts'
import {
  bytesBlock, dataBlock, filenameOf, fileOf, linkBlock, mediaTypeOf, metadataOf, readBytes, textBlock,
} from './parts.ts'
import { formatTexts } from './texts.ts'
import type { Artifact } from '../../define/artifact.ts'
import type { Content, DataContent, TextContent } from '../../define/content.ts'
import type { TaskMessage } from '../../tasks/task.ts'
import type { JsonMembers, Message } from '../model/model.ts'
import type { FileBlock } from './parts.ts'

type Role = TaskMessage['role']

/** Who may have written a message that a client sends, by the name and the number of the role. */
const userRole: ReadonlyMap<unknown, Role> = new Map<unknown, Role>([['ROLE_USER', 'user'], [1, 'user']])

/** A message to an agent. `maxNameBytes` bounds its ids. */
export function decodeV1UserMessage(value: unknown, at: string, maxNameBytes: number): Message {
  const message = needObject(value, at)
  const role = readChoice(message.role, at, 'role', userRole)
  if (role === undefined) throw wrongField(at, 'role', 'is missing; a client writes ROLE_USER')
  return {
    id: needName(message.messageId ?? message.message_id, at, 'messageId', maxNameBytes),
    role,
    parts: needList(message.parts, at, 'parts', decodePart),
    contextId: readName(message.contextId ?? message.context_id, at, 'contextId', maxNameBytes),
    taskId: readName(message.taskId ?? message.task_id, at, 'taskId', maxNameBytes),
    metadata: readMembers(message.metadata, at, 'metadata'),
    extensions: readTexts(message.extensions, at, 'extensions'),
    referenceTaskIds: readNames(
      message.referenceTaskIds ?? message.reference_task_ids, at, 'referenceTaskIds', maxNameBytes,
    ),
  }
}

/** A message of a conversation, and of a task where there is one. */
export function encodeV1Message(
  message: TaskMessage, contextId: string | undefined, taskId: string | undefined,
): JsonMembers {
  return {
    messageId: message.id,
    contextId: contextId || undefined,
    taskId,
    role: message.role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT',
    parts: encodeParts(message.parts),
    metadata: message.metadata,
    extensions: unlessEmpty(message.extensions),
    referenceTaskIds: unlessEmpty(message.referenceTaskIds),
  }
}

/** A message of texts, as JSON text. The ids are that already. */
export function formatV1Message({ id, role, parts }: TaskMessage, contextId: string, taskId: string): string {
  return `{"messageId":${quote(id)},"contextId":${contextId},"taskId":${taskId},`
    + `"role":"${role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT'}","parts":${formatTexts(parts, '{"text":')}}`
}

function decodePart(value: unknown, at: string): Content {
  const part = needObject(value, at)
  const { text, raw, url, data } = part
  let members = isUnset(text) ? 0 : 1
  if (!isUnset(raw)) members += 1
  if (!isUnset(url)) members += 1
  if (!isUnset(data)) members += 1
  // Data may be null; beside another member null is the other one's absence.
  if (members !== 1 && !(members === 0 && data === null)) {
    throw new FieldFault(at, 'must have exactly one of text, raw, url and data')
  }
  const mediaType = readText(part.mediaType ?? part.media_type, at, 'mediaType')
  const filename = readText(part.filename, at, 'filename')
  const metadata = readMembers(part.metadata, at, 'metadata')
  if (!isUnset(text)) return textBlock(needText(text, at, 'text'), mediaType, filename, metadata)
  if (!isUnset(raw)) return bytesBlock(readBytes(raw, at, 'raw'), mediaType, filename, metadata)
  if (!isUnset(url)) return linkBlock(needName(url, at, 'url', Infinity), mediaType, filename, metadata)
  return dataBlock(data, mediaType, filename, metadata)
}

/** Messages and artifacts have a part at least, and a client reads the first without looking. */
function encodeParts(parts: readonly Content[]): readonly JsonMembers[] {
  return parts.length === 0 ? [{ text: '' }] : parts.map(encodePart)
}

function encodePart(block: Content): JsonMembers {
  switch (block.type) {
    case 'text': return encodeText(block)
    case 'data': return encodeData(block)
    default: return encodeFile(block)
  }
}

function encodeText(block: TextContent): JsonMembers {
  if (block._meta === undefined) return { text: block.text }
  const { text } = block
  return { text, metadata: metadataOf(block), filename: filenameOf(block), mediaType: mediaTypeOf(block) }
}

function encodeData(block: DataContent): JsonMembers {
  const { data, mimeType } = block
  return { data, metadata: metadataOf(block), filename: filenameOf(block), mediaType: mimeType }
}

function encodeFile(block: FileBlock): JsonMembers {
  const { uri, bytes, text, name, mediaType } = fileOf(block)
  return { text, raw: bytes, url: uri, metadata: metadataOf(block), filename: name, mediaType }
}

/** One artifact. */
export function encodeV1Artifact(artifact: Artifact): JsonMembers {
  return {
    artifactId: artifact.id,
    name: artifact.name || undefined,
    description: artifact.description || undefined,
    parts: encodeParts(artifact.parts),
    metadata: artifact.metadata,
    extensions: unlessEmpty(artifact.extensions),
  }
}

/** An artifact of texts, as JSON text. */
export function formatV1Artifact({ id, parts }: Artifact): string {
  return `{"artifactId":${quote(id)},"parts":${formatTexts(parts, '{"text":')}}`
}

/** A list that is left out where nothing is in it. */
export function unlessEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list !== undefined && list.length > 0 ? list : undefined
}
