/**
 * Messages, tasks and the events of a stream in A2A 0.2 and 0.3: each is told by its `kind`, and is the whole
 * result. A message, or an event, in the words of no dialect goes in, JSON members come out, and back.
 *
 * Knows no method. A message that waits in a task says nowhere which task it is of; here it does.
 * Spec: A2A 0.3 §6.1 to §6.4, §6.7, §7.2.
 */
import { text } from '../../define/content.ts'
import { quote } from '../../wire/json.ts'
import {
  FieldFault, isUnset, needName, needObject, readChoice, readList, readMembers, readName, readNames, readText,
  readTexts, readTimestamp, wrongField,
} from '../model/fields.ts'
import { formatList, formatTexts, isOfTexts } from './texts.ts'
import { decodeV03Part, encodeV03Part } from './v03-parts.ts'
import type { Artifact } from '../../define/artifact.ts'
import type { Content } from '../../define/content.ts'
import type { TaskMessage, TaskState, TaskStatus } from '../../tasks/task.ts'
import type { JsonMembers, Message, SendResult, StreamEvent, TaskView } from '../model/model.ts'

/** How long an id of a server's may be that is read here. */
export const MAX_RESULT_NAME_BYTES = 8_192
/** Parts must not be empty, and a client reads parts[0].text without looking. */
const NOTHING: readonly Content[] = [text('')]

/** How a part that is a text begins. */
const TEXT = '{"kind":"text","text":'

const roles: ReadonlyMap<unknown, 'user' | 'agent'> = new Map([['user', 'user'], ['agent', 'agent']])

const states: ReadonlyMap<unknown, TaskState> = new Map<unknown, TaskState>([
  ['submitted', 'submitted'], ['working', 'working'], ['input-required', 'input-required'],
  ['auth-required', 'auth-required'], ['completed', 'completed'], ['failed', 'failed'],
  ['canceled', 'canceled'], ['rejected', 'rejected'],
  // It has not ended, so it is worth asking again.
  ['unknown', 'working'],
])

/** Reads a message. `at` is its path; `maxNameBytes` bounds its ids. */
export function decodeV03Message(value: unknown, at: string, maxNameBytes: number): Message {
  const message = needObject(value, at)
  const { kind, metadata, extensions } = message
  if (!isUnset(kind) && kind !== 'message') throw wrongField(at, 'kind', 'must be message')
  const role = readChoice(message['role'], at, 'role', roles)
  if (role === undefined) throw wrongField(at, 'role', 'is missing; it must be user or agent')
  const parts = readList(message['parts'], at, 'parts', decodeV03Part)
  if (parts === undefined) throw wrongField(at, 'parts', 'is missing; it must be a list')
  const taskIds = message['referenceTaskIds'] ?? message['reference_task_ids']
  return {
    id: needName(message['messageId'] ?? message['message_id'], at, 'messageId', maxNameBytes),
    role,
    parts,
    contextId: readName(message['contextId'] ?? message['context_id'], at, 'contextId', maxNameBytes),
    taskId: readName(message['taskId'] ?? message['task_id'], at, 'taskId', maxNameBytes),
    metadata: readMembers(metadata, at, 'metadata'),
    extensions: readTexts(extensions, at, 'extensions'),
    referenceTaskIds: readNames(taskIds, at, 'referenceTaskIds', maxNameBytes),
  }
}

/** Writes a message of a context, and of a task where there is one. */
export function encodeV03Message(
  message: TaskMessage, contextId: string | undefined, taskId: string | undefined,
): JsonMembers {
  const { id, role, parts, metadata, extensions, referenceTaskIds } = message
  return {
    kind: 'message', messageId: id, role, parts: encodeParts(parts), contextId, taskId, metadata,
    extensions, referenceTaskIds,
  }
}

function encodeParts(parts: readonly Content[]): readonly JsonMembers[] {
  return (parts.length === 0 ? NOTHING : parts).map(encodeV03Part)
}

/** Writes a task. */
export function encodeV03Task(task: TaskView): JsonMembers {
  const { id, contextId, status, artifacts, history, metadata } = task
  return {
    kind: 'task',
    id,
    contextId,
    status: encodeStatus(status, contextId, id),
    artifacts: artifacts?.map(encodeArtifact),
    history: history?.map((message) => encodeV03Message(message, contextId, id)),
    metadata,
  }
}

/**
 * What came of a message, or one event of a stream, as JSON text, where it is made of texts; undefined where
 * it is more.
 */
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
  const said = message === undefined ? '' : `"message":${formatMessage(message, ids)},`
  return `{"state":"${state}",${said}"timestamp":"${at}"}`
}

function formatMessage({ id, role, parts }: TaskMessage, ids: string): string {
  const texts = formatTexts(parts, TEXT)
  return `{"kind":"message","messageId":${quote(id)},"role":"${role}","parts":${texts},${ids}}`
}

function formatArtifact({ id, parts }: Artifact): string {
  return `{"artifactId":${quote(id)},"parts":${formatTexts(parts, TEXT)}}`
}

/** Reads a task. `at` is its path. */
export function decodeV03Task(value: unknown, at: string): TaskView {
  const task = needObject(value, at)
  return {
    id: needName(task['id'], at, 'id', MAX_RESULT_NAME_BYTES),
    contextId: needName(task['contextId'], at, 'contextId', MAX_RESULT_NAME_BYTES),
    status: decodeStatus(task['status'], `${at}.status`),
    artifacts: readList(task['artifacts'], at, 'artifacts', decodeArtifact),
    history: readList(task['history'], at, 'history', decodeSaid),
    metadata: readMembers(task['metadata'], at, 'metadata'),
  }
}

/** Writes what came of a message, or one event of a stream. */
export function encodeV03Event(event: StreamEvent): JsonMembers {
  switch (event.what) {
    case 'task': return encodeV03Task(event.task)
    case 'message': return encodeV03Message(event.message, event.message.contextId, event.message.taskId)
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

/** Reads one event of a stream. */
export function decodeV03Event(value: unknown): StreamEvent {
  const at = 'result'
  const event = needObject(value, at)
  const kind = event['kind'] ?? impliedKind(event)
  if (kind === 'task') return { what: 'task', task: decodeV03Task(event, at) }
  if (kind === 'message') return { what: 'message', message: decodeSaid(event, at) }
  if (kind !== 'status-update' && kind !== 'artifact-update') {
    throw wrongField(at, 'kind', 'must be one of task, message, status-update, artifact-update')
  }
  const taskId = needName(event['taskId'], at, 'taskId', MAX_RESULT_NAME_BYTES)
  const contextId = needName(event['contextId'], at, 'contextId', MAX_RESULT_NAME_BYTES)
  if (kind === 'status-update') {
    const status = decodeStatus(event['status'], `${at}.status`)
    return { what: 'status', taskId, contextId, status, isLast: event['final'] === true }
  }
  const artifact = decodeArtifact(event['artifact'], `${at}.artifact`)
  const { append, lastChunk } = event
  return { what: 'artifact', taskId, contextId, artifact, append: append === true, last: lastChunk === true }
}

/** Reads what came of a message. */
export function decodeV03SendResult(value: unknown): SendResult {
  const event = decodeV03Event(value)
  if (event.what === 'task' || event.what === 'message') return event
  throw wrongField('result', 'kind', 'must be one of task, message')
}

/** Reads a result that is a bare list. `read` gets each item with its path. */
export function decodeV03List<T>(value: unknown, read: (item: unknown, at: string) => T): readonly T[] {
  if (!Array.isArray(value)) throw new FieldFault('result', 'must be a list')
  return value.map((item: unknown, index) => read(item, `result[${index}]`))
}

/** What a result is that does not say so, as some servers forget to. */
function impliedKind({ artifact, taskId, status, parts }: JsonMembers): string | undefined {
  if (!isUnset(artifact)) return 'artifact-update'
  if (!isUnset(status)) return isUnset(taskId) ? 'task' : 'status-update'
  return isUnset(parts) ? undefined : 'message'
}

/** Reads the name of a state. Undefined where it is not set. */
export function readV03State(value: unknown, at: string, name: string): TaskState | undefined {
  return readChoice(value, at, name, states)
}

function encodeStatus({ state, at, message }: TaskStatus, contextId: string, taskId: string): JsonMembers {
  return { state, message: message && encodeV03Message(message, contextId, taskId), timestamp: at }
}

function decodeStatus(value: unknown, at: string): TaskStatus {
  const { state: named, timestamp, message } = needObject(value, at)
  const state = readV03State(named, at, 'state')
  if (state === undefined) throw wrongField(at, 'state', 'is missing; it must be the state of a task')
  // Old servers leave the offset out, or the member.
  const isLocal = typeof timestamp === 'string' && /T[\d:.]+$/.test(timestamp)
  const since = readTimestamp(isLocal ? `${timestamp}Z` : timestamp, at, 'timestamp')
  const status = { state, at: since ?? new Date().toISOString() }
  if (isUnset(message)) return status
  return { ...status, message: decodeSaid(message, `${at}.message`) }
}

/** Reads a message of a result. */
function decodeSaid(value: unknown, at: string): Message {
  return decodeV03Message(value, at, MAX_RESULT_NAME_BYTES)
}

function encodeArtifact({ id, name, description, parts, metadata, extensions }: Artifact): JsonMembers {
  return { artifactId: id, name, description, parts: encodeParts(parts), metadata, extensions }
}

function decodeArtifact(value: unknown, at: string): Artifact {
  const artifact = needObject(value, at)
  const name = readText(artifact['name'], at, 'name')
  const description = readText(artifact['description'], at, 'description')
  const metadata = readMembers(artifact['metadata'], at, 'metadata')
  const extensions = readTexts(artifact['extensions'], at, 'extensions')
  return {
    id: needName(artifact['artifactId'], at, 'artifactId', MAX_RESULT_NAME_BYTES),
    ...name !== undefined && { name },
    ...description !== undefined && { description },
    parts: readList(artifact['parts'], at, 'parts', decodeV03Part) ?? [],
    ...metadata !== undefined && { metadata },
    ...extensions !== undefined && { extensions },
  }
}
