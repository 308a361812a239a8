/**
 * Messages, their parts, tasks and the events of a stream in A2A 1.0. An encoder gives objects of one shape:
 * `undefined` is a member that JSON text leaves out.
 * Spec: A2A 1.0 §3.2.3, §4.1, §4.2, §5.5.
 */
import { quote } from '../../wire/json.ts'
import {
  FieldFault, isUnset, needList, needName, needObject, needText, readChoice, readMembers, readText,
  wrongField,
} from '../model/fields.ts'
import {
  bytesBlock, dataBlock, filenameOf, fileOf, linkBlock, mediaTypeOf, metadataOf, readBytes, textBlock,
} from './parts.ts'
import { readMessageMembers } from './requests.ts'
import { formatList, formatTexts, isOfTexts } from './texts.ts'
import type { Artifact } from '../../define/artifact.ts'
import type { Content } from '../../define/content.ts'
import type { TaskMessage, TaskState, TaskStatus } from '../../tasks/task.ts'
import type { JsonMembers, Message, StreamEvent, TaskView } from '../model/model.ts'

/** How a part that is a text begins. */
const TEXT = '{"text":'

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

/** Who may have written a message that a client sends, by the name and the number of the role. */
const userRole: ReadonlyMap<unknown, 'user'> = new Map<unknown, 'user'>([['ROLE_USER', 'user'], [1, 'user']])

/** A message to an agent. `at` is its path; `maxNameBytes` bounds its ids. */
export function decodeV1UserMessage(value: unknown, at: string, maxNameBytes: number): Message {
  const message = needObject(value, at)
  const role = readChoice(message.role, at, 'role', userRole)
  if (role === undefined) throw wrongField(at, 'role', 'is missing; a client writes ROLE_USER')
  return readMessageMembers(message, at, maxNameBytes, role, needList(message.parts, at, 'parts', decodePart))
}

function decodePart(value: unknown, at: string): Content {
  const part = needObject(value, at)
  const { text, raw, url, data } = part
  let members = isUnset(text) ? 0 : 1
  if (!isUnset(raw)) members += 1
  if (!isUnset(url)) members += 1
  if (!isUnset(data)) members += 1
  // Data may be null; beside another member null means that there is none.
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

/** One event of a stream, or of a webhook; a task or a message is what came of a message, too. */
export function encodeV1Event(event: StreamEvent): JsonMembers {
  switch (event.what) {
    case 'task': return { task: encodeV1Task(event.task) }
    case 'message': {
      const { message } = event
      return { message: encodeMessage(message, message.contextId, message.taskId) }
    }
    case 'status': {
      const { taskId, contextId, status } = event
      return { statusUpdate: { taskId, contextId, status: encodeStatus(status, contextId, taskId) } }
    }
    case 'artifact': {
      const { taskId, contextId, artifact, append, last } = event
      return {
        artifactUpdate: {
          taskId, contextId, artifact: encodeArtifact(artifact),
          append: append || undefined, lastChunk: last || undefined,
        },
      }
    }
  }
}

/** A task; each of its messages has its id. */
export function encodeV1Task({ id, contextId, status, artifacts, history, metadata }: TaskView): JsonMembers {
  return {
    id,
    contextId: contextId || undefined,
    status: encodeStatus(status, contextId, id),
    artifacts: artifacts?.map(encodeArtifact),
    history: history?.map((message) => encodeMessage(message, contextId, id)),
    metadata,
  }
}

function encodeStatus({ state, at, message }: TaskStatus, contextId: string, taskId: string): JsonMembers {
  return {
    state: byState.get(state),
    message: message === undefined ? undefined : encodeMessage(message, contextId, taskId),
    timestamp: at || undefined,
  }
}

function encodeMessage(
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

function encodeArtifact(artifact: Artifact): JsonMembers {
  return {
    artifactId: artifact.id,
    name: artifact.name || undefined,
    description: artifact.description || undefined,
    parts: encodeParts(artifact.parts),
    metadata: artifact.metadata,
    extensions: unlessEmpty(artifact.extensions),
  }
}

/** Messages and artifacts have one part at least, and a client reads the first without looking. */
function encodeParts(parts: readonly Content[]): readonly JsonMembers[] {
  return parts.length === 0 ? [{ text: '' }] : parts.map(encodePart)
}

function encodePart(block: Content): JsonMembers {
  if (block.type === 'text' && block._meta === undefined) return { text: block.text }
  const metadata = metadataOf(block)
  const mediaType = mediaTypeOf(block)
  if (block.type === 'text') return { text: block.text, metadata, filename: filenameOf(block), mediaType }
  if (block.type === 'data') return { data: block.data, metadata, filename: filenameOf(block), mediaType }
  const { uri, bytes, text, name } = fileOf(block)
  return { text, raw: bytes, url: uri, metadata, filename: name, mediaType }
}

/** A list that is left out where it is empty. */
function unlessEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list !== undefined && list.length > 0 ? list : undefined
}

/** The JSON text of an event that is made of texts; undefined for any other. */
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
    return `{"artifactUpdate":{${ids},"artifact":${formatArtifact(artifact)}`
      + `${append ? ',"append":true' : ''}${last ? ',"lastChunk":true}}' : '}}'}`
  }
  const { id, contextId, status, artifacts, history } = result.task
  const task = quote(id)
  const context = quote(contextId)
  const made = artifacts === undefined ? '' : `,"artifacts":${formatList(artifacts, formatArtifact)}`
  const past = history === undefined ? ''
    : `,"history":${formatList(history, (one) => formatMessage(one, context, task))}`
  return `{"task":{"id":${task},"contextId":${context},`
    + `"status":${formatStatus(status, context, task)}${made}${past}}}`
}

function formatStatus({ state, at, message }: TaskStatus, contextId: string, taskId: string): string {
  const beside = message === undefined ? '' : `"message":${formatMessage(message, contextId, taskId)},`
  return `{"state":"${byState.get(state)!}",${beside}"timestamp":"${at}"}`
}

/** The ids are JSON text already. */
function formatMessage({ id, role, parts }: TaskMessage, contextId: string, taskId: string): string {
  return `{"messageId":${quote(id)},"contextId":${contextId},"taskId":${taskId},`
    + `"role":"${role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT'}","parts":${formatTexts(parts, TEXT)}}`
}

function formatArtifact({ id, parts }: Artifact): string {
  return `{"artifactId":${quote(id)},"parts":${formatTexts(parts, TEXT)}}`
}
