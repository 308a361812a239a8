/**
 * Messages, their parts, tasks and the events of a stream in A2A 1.0. An encoder gives objects of one shape:
 * `undefined` is a member that JSON text leaves out.
 * Spec: A2A 1.0 §3.2.3, §4.1, §4.2, §5.5.
 */
import { quote } from '../../wire/json.ts'
import {
  FieldFault, isUnset, needList, needName, needObject, needText, readChoice, readMembers, readName, readNames,
  readText, readTexts, wrongField,
} from '../model/fields.ts'
import {
  bytesBlock, dataBlock, filenameOf, fileOf, linkBlock, mediaTypeOf, metadataOf, readBytes, textBlock,
} from './parts.ts'
import { formatList, formatTexts, isOfTexts } from './texts.ts'
import type { Artifact } from '../../define/artifact.ts'
import type { Content, DataContent, TextContent } from '../../define/content.ts'
import type { TaskMessage, TaskState, TaskStatus } from '../../tasks/task.ts'
import type { JsonMembers, Message, SendResult, StreamEvent, TaskPage, TaskView } from '../model/model.ts'
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

/** The names of states in the order of their numbers, from 1. */
const stateNames: readonly (readonly [name: string, state: TaskState])[] = [
  ['TASK_STATE_SUBMITTED', 'submitted'],
  ['TASK_STATE_WORKING', 'working'],
  ['TASK_STATE_COMPLETED', 'completed'],
  ['TASK_STATE_FAILED', 'failed'],
  ['TASK_STATE_CANCELED', 'canceled'],
  ['TASK_STATE_INPUT_REQUIRED', 'input-required'],
  ['TASK_STATE_REJECTED', 'rejected'],
  ['TASK_STATE_AUTH_REQUIRED', 'auth-required'],
]
const byState: ReadonlyMap<TaskState, string> = new Map(stateNames.map(([name, state]) => [state, name]))

/** Every state by its name, and by its number. */
export const v1States: ReadonlyMap<unknown, TaskState> = new Map<unknown, TaskState>([
  ...stateNames, ...stateNames.map(([, state], index): [number, TaskState] => [index + 1, state]),
])

/** The name of a state. */
export function encodeV1State(state: TaskState): string {
  return byState.get(state)!
}

/** A task; each of its messages says that it is of it. */
export function encodeV1Task({ id, contextId, status, artifacts, history, metadata }: TaskView): JsonMembers {
  return {
    id,
    contextId: contextId || undefined,
    status: encodeStatus(status, contextId, id),
    artifacts: artifacts?.map(encodeV1Artifact),
    history: history?.map((message) => encodeV1Message(message, contextId, id)),
    metadata,
  }
}

function encodeStatus({ state, at, message }: TaskStatus, contextId: string, taskId: string): JsonMembers {
  return {
    state: encodeV1State(state),
    message: message === undefined ? undefined : encodeV1Message(message, contextId, taskId),
    // Another server may not have told since when.
    timestamp: at === '' ? undefined : at,
  }
}

/** What came of a message. */
export function encodeV1SendResult(result: SendResult): JsonMembers {
  if (result.what === 'task') return { task: encodeV1Task(result.task) }
  const { message } = result
  return { message: encodeV1Message(message, message.contextId, message.taskId) }
}

/** The same as JSON text, of what is made of texts; undefined for what is more. */
export function formatV1Result(result: StreamEvent): string | undefined {
  if (result.what === 'message' || !isOfTexts(result)) return undefined
  if (result.what !== 'task') {
    const task = quote(result.taskId)
    const context = quote(result.contextId)
    const ids = `"taskId":${task},"contextId":${context}`
    if (result.what === 'status') {
      return `{"statusUpdate":{${ids},"status":${formatStatus(result.status, context, task)}}}`
    }
    const { artifact, append, last } = result
    return `{"artifactUpdate":{${ids},"artifact":${formatV1Artifact(artifact)}`
      + `${append ? ',"append":true' : ''}${last ? ',"lastChunk":true}}' : '}}'}`
  }
  const { id, contextId, status, artifacts, history } = result.task
  const task = quote(id)
  const context = quote(contextId)
  const made = artifacts === undefined ? '' : `,"artifacts":${formatList(artifacts, formatV1Artifact)}`
  const past = history === undefined ? ''
    : `,"history":${formatList(history, (one) => formatV1Message(one, context, task))}`
  return `{"task":{"id":${task},"contextId":${context},`
    + `"status":${formatStatus(status, context, task)}${made}${past}}}`
}

function formatStatus({ state, at, message }: TaskStatus, contextId: string, taskId: string): string {
  const said = message === undefined ? '' : `"message":${formatV1Message(message, contextId, taskId)},`
  return `{"state":"${encodeV1State(state)}",${said}"timestamp":"${at}"}`
}

/** One event of a stream, or of a webhook. */
export function encodeV1Event(event: StreamEvent): JsonMembers {
  switch (event.what) {
    case 'status': {
      const { taskId, contextId, status } = event
      return { statusUpdate: { taskId, contextId, status: encodeStatus(status, contextId, taskId) } }
    }
    case 'artifact': {
      const { taskId, contextId, artifact, append, last } = event
      return {
        artifactUpdate: {
          taskId, contextId, artifact: encodeV1Artifact(artifact),
          append: append || undefined, lastChunk: last || undefined,
        },
      }
    }
    default: return encodeV1SendResult(event)
  }
}

/** One page of tasks: its four members are always there. */
export function encodeV1TaskPage({ tasks, nextPageToken, pageSize, totalSize }: TaskPage): JsonMembers {
  return { tasks: tasks.map(encodeV1Task), nextPageToken, pageSize, totalSize }
}
