/**
 * A2A 1.0: the table of its methods, the params of each, and its messages, tasks and events. Read leniently:
 * members by their names of the protocol's definition (`task_id`) and of JSON (`taskId`), enums by name and
 * by number, integers as decimal text, `null` as unset; unknown members are ignored. Written: the
 * definition's JSON.
 * Spec: A2A 1.0 §3.1, §3.2, §4.1 to §4.3, §5.3, §5.5, §9.4.
 */
import { A2A_JSON_TYPE } from '../model/dialect.ts'
import { unseen } from '../../../kernel/define/validate.ts'
import { MAX_NAME_BYTES } from '../../../kernel/wire/bounded.ts'
import {
  FieldFault, isUnset, needList, needName, needObject, needText, readBoolean, readChoice, readInteger,
  readMembers, readName, readNames, wrongField,
} from '../model/fields.ts'
import { encodeV1Card, unlessEmpty } from './card-codecs.ts'
import { encodeV1Error, encodeV1Fault } from './errors.ts'
import {
  addressBlock, bytesBlock, dataBlock, filenameOf, fileOf, mediaTypeOf, metadataOf, readBytes, strangeIn,
  textBlock,
} from './parts.ts'
import { AT, MAX_INTEGER, readHistoryLength, readListRequest, readMessageMembers } from './requests.ts'
import { textFormatter } from './texts.ts'
import type { Artifact } from '../../../kernel/define/artifact.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { TaskMessage, TaskState, TaskStatus } from '../../../floors/tasks/task.ts'
import type { Dialect, OperationCodec, OperationCodecs } from '../model/dialect.ts'
import type {
  JsonMembers, ListRequest, Message, PushConfig, PushCreateRequest, PushListRequest, PushPage, PushRequest,
  SendRequest, StreamEvent, TaskPage, TaskRequest, TaskView, TenantRequest,
} from '../model/model.ts'

/** §3.1.4. */
const LIST_DEFAULTS = { pageSize: 50, withArtifacts: false }
const NONE: JsonMembers = Object.freeze({})

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

const partMembers: ReadonlySet<unknown> = new Set(['text', 'raw', 'url', 'data'])

/** Who may have written a message that a client sends, by the name and the number of the role. */
const userRole: ReadonlyMap<unknown, 'user'> = new Map<unknown, 'user'>([['ROLE_USER', 'user'], [1, 'user']])

/** The states that a list can be of, by name and by number; the one without a name is all of them. */
const filters: ReadonlyMap<unknown, TaskState | 'any'> = new Map<unknown, TaskState | 'any'>([
  ...stateNames, ...stateNames.map(([, state], index): [number, TaskState] => [index + 1, state]),
  ['TASK_STATE_UNSPECIFIED', 'any'], [0, 'any'],
])

const formatResult = textFormatter({
  part: '{"text":',
  state: (state) => byState.get(state)!,
  task: (members) => `{"task":{${members}}}`,
  status: (ids, status) => `{"statusUpdate":{${ids},"status":${status}}}`,
  artifact: (ids, artifact, append, isLast) => (
    `{"artifactUpdate":{${ids},"artifact":${artifact}`
      + `${append ? ',"append":true' : ''}${isLast ? ',"lastChunk":true}}' : '}}'}`
  ),
  message: (id, role, parts, ids) => (
    `{"messageId":${id},${ids},"role":"${nameOf(role)}","parts":${parts}}`
  ),
})

const send = { decodeRequest: decodeSend, encodeResult: encodeEvent, formatResult }

const operations: OperationCodecs = {
  'send': { method: 'SendMessage', ...send },
  'stream': { method: 'SendStreamingMessage', ...send },
  'get': { method: 'GetTask', decodeRequest: taskDecoder('historyLength'), encodeResult: encodeTask },
  'list': { method: 'ListTasks', decodeRequest: decodeList, encodeResult: encodeTaskPage },
  'cancel': { method: 'CancelTask', decodeRequest: taskDecoder('metadata'), encodeResult: encodeTask },
  'subscribe': { method: 'SubscribeToTask', decodeRequest: taskDecoder(), encodeResult: encodeEvent },
  'push-create': {
    method: 'CreateTaskPushNotificationConfig', decodeRequest: decodePushCreate, encodeResult: encodePush,
  },
  'push-get': {
    method: 'GetTaskPushNotificationConfig', decodeRequest: decodePushRequest, encodeResult: encodePush,
  },
  'push-list': {
    method: 'ListTaskPushNotificationConfigs', decodeRequest: decodePushList, encodeResult: encodePushPage,
  },
  'push-delete': {
    method: 'DeleteTaskPushNotificationConfig', decodeRequest: decodePushRequest, encodeResult: () => null,
  },
  'extended-card': {
    method: 'GetExtendedAgentCard', decodeRequest: decodeCardRequest, encodeResult: encodeV1Card,
  },
}

export const v1: Dialect = {
  name: '1.0',
  version: '1.0',
  operations,
  hasTasks: true,
  streamsErrors: false,
  encodeFault: encodeV1Fault,
  encodeError: encodeV1Error,
  encodePush: encodeEvent,
  pushType: A2A_JSON_TYPE,
  pushesTasks: false,
  encodeCard: encodeV1Card,
}

function readTenant({ tenant }: JsonMembers, maxNameBytes: number): string | undefined {
  return readName(tenant, AT, 'tenant', maxNameBytes)
}

function readTaskId(params: JsonMembers, maxNameBytes: number): string {
  return needName(params.taskId ?? params.task_id, AT, 'taskId', maxNameBytes)
}

function decodeSend(value: unknown, maxNameBytes: number): SendRequest {
  const params = needObject(value, AT)
  const at = 'params.configuration'
  const configuration = isUnset(params.configuration) ? NONE : needObject(params.configuration, at)
  const modes = configuration.acceptedOutputModes ?? configuration.accepted_output_modes
  const returns = configuration.returnImmediately ?? configuration.return_immediately
  const push = configuration.taskPushNotificationConfig ?? configuration.task_push_notification_config
  return {
    tenant: readTenant(params, maxNameBytes),
    message: decodeMessage(params.message, 'params.message', maxNameBytes),
    outputModes: readNames(modes, at, 'acceptedOutputModes'),
    historyLength: readHistoryLength(configuration, at),
    isBlocking: readBoolean(returns, at, 'returnImmediately') !== true,
    push: isUnset(push) ? undefined : decodePush(push, `${at}.taskPushNotificationConfig`, maxNameBytes),
    metadata: readMembers(params.metadata, AT, 'metadata'),
  }
}

/** Reads the params of an operation on a task, of which some have one more member. */
function taskDecoder(
  more?: 'historyLength' | 'metadata',
): OperationCodec<TaskRequest, unknown>['decodeRequest'] {
  return (value, maxNameBytes) => {
    const params = needObject(value, AT)
    return {
      tenant: readTenant(params, maxNameBytes),
      id: needName(params.id, AT, 'id', maxNameBytes),
      historyLength: more === 'historyLength' ? readHistoryLength(params, AT) : undefined,
      metadata: more === 'metadata' ? readMembers(params.metadata, AT, 'metadata') : undefined,
    }
  }
}

function decodeList(value: unknown, maxNameBytes: number): ListRequest {
  const params = isUnset(value) ? NONE : needObject(value, AT)
  const state = readChoice(params.status, AT, 'status', filters)
  const tenant = readTenant(params, maxNameBytes)
  return readListRequest(params, maxNameBytes, tenant, state === 'any' ? undefined : state, LIST_DEFAULTS)
}

/** The four members are always there. */
function encodeTaskPage({ tasks, nextPageToken, pageSize, totalSize }: TaskPage): JsonMembers {
  return { tasks: tasks.map(encodeTask), nextPageToken, pageSize, totalSize }
}

function decodeCardRequest(value: unknown, maxNameBytes: number): TenantRequest {
  return { tenant: isUnset(value) ? undefined : readTenant(needObject(value, AT), maxNameBytes) }
}

/** In a `SendMessage` the task of a configuration is not known. */
function decodePush(value: unknown, at: string, maxNameBytes: number): PushConfig {
  const config = needObject(value, at)
  const { authentication } = config
  const id = readName(config.id, at, 'id', maxNameBytes)
  // It becomes a segment of a path.
  if (id !== undefined && /[/\\\0]/.test(id)) {
    throw wrongField(at, 'id', 'must have no /, no \\ and no NUL in it')
  }
  return {
    id,
    taskId: readName(config.taskId ?? config.task_id, at, 'taskId', maxNameBytes),
    url: needName(config.url, at, 'url', MAX_NAME_BYTES),
    token: readName(config.token, at, 'token'),
    authentication: isUnset(authentication) ? undefined
      : decodeAuthentication(authentication, `${at}.authentication`),
  }
}

function decodeAuthentication(value: unknown, at: string): NonNullable<PushConfig['authentication']> {
  const { scheme, credentials } = needObject(value, at)
  return {
    schemes: [needName(scheme, at, 'scheme', MAX_NAME_BYTES)],
    credentials: readName(credentials, at, 'credentials'),
  }
}

function encodePush({ id, taskId, url, token, authentication }: PushConfig): JsonMembers {
  const scheme = authentication?.schemes[0]
  return {
    id, taskId, url, token,
    authentication: scheme === undefined ? undefined : { scheme, credentials: authentication?.credentials },
  }
}

function decodePushCreate(value: unknown, maxNameBytes: number): PushCreateRequest {
  const params = needObject(value, AT)
  const config = decodePush(params, AT, maxNameBytes)
  const taskId = needName(config.taskId, AT, 'taskId', maxNameBytes)
  return { tenant: readTenant(params, maxNameBytes), config: { ...config, taskId } }
}

/** The list is there even if it is empty: clients go through it without looking. */
function encodePushPage({ configs, nextPageToken }: PushPage): JsonMembers {
  return { configs: configs.map(encodePush), nextPageToken: nextPageToken || undefined }
}

function decodePushRequest(value: unknown, maxNameBytes: number): PushRequest {
  const params = needObject(value, AT)
  return {
    tenant: readTenant(params, maxNameBytes),
    taskId: readTaskId(params, maxNameBytes),
    id: needName(params.id, AT, 'id', maxNameBytes),
  }
}

function decodePushList(value: unknown, maxNameBytes: number): PushListRequest {
  const params = needObject(value, AT)
  const pageSize = readInteger(params.pageSize ?? params.page_size, AT, 'pageSize', 0, MAX_INTEGER)
  return {
    tenant: readTenant(params, maxNameBytes),
    taskId: readTaskId(params, maxNameBytes),
    // The member has no presence of its own: 0 is what a client that sets nothing sends.
    pageSize: pageSize === 0 ? undefined : pageSize,
    pageToken: readName(params.pageToken ?? params.page_token, AT, 'pageToken') ?? '',
  }
}

/** A message to an agent. `at` is its path; `maxNameBytes` bounds its ids. */
function decodeMessage(value: unknown, at: string, maxNameBytes: number): Message {
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
    const strange = members === 0 ? strangeIn(part, partMembers) : undefined
    throw new FieldFault(at, `must have exactly one of text, raw, url and data${unseen(strange)}`)
  }
  const mediaType = readName(part.mediaType ?? part.media_type, at, 'mediaType')
  const filename = readName(part.filename, at, 'filename')
  const metadata = readMembers(part.metadata, at, 'metadata')
  if (!isUnset(text)) return textBlock(needText(text, at, 'text'), mediaType, filename, metadata)
  if (!isUnset(raw)) return bytesBlock(readBytes(raw, at, 'raw'), mediaType, filename, metadata)
  if (!isUnset(url)) return addressBlock(needName(url, at, 'url', Infinity), mediaType, filename, metadata)
  return dataBlock(data, mediaType, filename, metadata)
}

/** One event of a stream, or of a webhook; a task or a message is what came of a message, too. */
function encodeEvent(event: StreamEvent): JsonMembers {
  switch (event.what) {
    case 'task': return { task: encodeTask(event.task) }
    case 'message': {
      const { message } = event
      return { message: encodeMessage(message, message.contextId, message.taskId) }
    }
    case 'status': {
      const { taskId, contextId, status: { metadata } } = event
      const status = encodeStatus(event.status, contextId, taskId)
      return { statusUpdate: { taskId, contextId, status, metadata } }
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
function encodeTask({ id, contextId, status, artifacts, history, metadata }: TaskView): JsonMembers {
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
    role: nameOf(message.role),
    parts: encodeParts(message.parts),
    metadata: message.metadata,
    extensions: unlessEmpty(message.extensions),
    referenceTaskIds: unlessEmpty(message.referenceTaskIds),
  }
}

function nameOf(role: TaskMessage['role']): string {
  return role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT'
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
