/**
 * A2A 0.3, which serves 0.2 too: the table of its methods, the params of each, and its messages, tasks and
 * events, which have a `kind`. Old clients write `type` in parts, or leave the member out.
 * Spec: A2A 0.3 §6, §7, §8; A2A 0.2.6.
 */
import { isRecord, text } from '../../../kernel/define/content.ts'
import { unseen } from '../../../kernel/define/validate.ts'
import { rpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import {
  isUnset, needName, needObject, needText, readBoolean, readChoice, readList, readMembers, readName,
  readNames, readText, wrongField,
} from '../model/fields.ts'
import { encodeV03Card } from './card-codecs.ts'
import { encodeRpcFault } from './errors.ts'
import {
  addressBlock, bytesBlock, dataBlock, fileOf, metadataOf, readBytes, strangeIn, textBlock,
} from './parts.ts'
import { AT, MAX_PAGE_SIZE, readHistoryLength, readListRequest, readMessageMembers } from './requests.ts'
import { textFormatter } from './texts.ts'
import type { Artifact } from '../../../kernel/define/artifact.ts'
import type { Content, DataContent } from '../../../kernel/define/content.ts'
import type { TaskMessage, TaskState, TaskStatus } from '../../../floors/tasks/task.ts'
import type { Dialect, OperationCodecs } from '../model/dialect.ts'
import type {
  JsonMembers, ListRequest, Message, PushConfig, PushCreateRequest, PushListRequest, PushRequest, SendRequest,
  StreamEvent, TaskRequest, TaskView,
} from '../model/model.ts'
import type { FileBlock } from './parts.ts'

const CONFIG = 'pushNotificationConfig'
const METHODS = 'tasks/pushNotificationConfig'
const NONE: JsonMembers = Object.freeze({})
const LIST_DEFAULTS = { pageSize: MAX_PAGE_SIZE, withArtifacts: true }

/** The states that a list can be of. Of `unknown` it is only known that it has not ended. */
const states: ReadonlyMap<unknown, TaskState> = new Map<string, TaskState>([
  ['submitted', 'submitted'], ['working', 'working'], ['input-required', 'input-required'],
  ['auth-required', 'auth-required'], ['completed', 'completed'], ['failed', 'failed'],
  ['canceled', 'canceled'], ['rejected', 'rejected'], ['unknown', 'working'],
])

/** Parts must not be empty, and a client reads parts[0].text without looking. */
const NOTHING: readonly Content[] = [text('')]

/** Official libraries mark a value with it that is wrapped as `{ value }`. */
const WRAPPED = 'data_part_compat'
/** The media type of a value in metadata: a part has no member for it. */
const MEDIA_TYPE = 'mediaType'

const partMembers: ReadonlySet<unknown> = new Set(['text', 'file', 'data'])
const roles: ReadonlyMap<unknown, 'user' | 'agent'> = new Map([['user', 'user'], ['agent', 'agent']])

const formatResult = textFormatter({
  part: '{"kind":"text","text":',
  state: (state) => state,
  task: (members) => `{"kind":"task",${members}}`,
  status: (ids, status, isLast) => `{"kind":"status-update",${ids},"status":${status},"final":${isLast}}`,
  artifact: (ids, artifact, append, isLast) => (
    `{"kind":"artifact-update",${ids},"artifact":${artifact},"append":${append},"lastChunk":${isLast}}`
  ),
  message: (id, role, parts, ids) => (
    `{"kind":"message","messageId":${id},"role":"${role}","parts":${parts},${ids}}`
  ),
})

const send = { decodeRequest: decodeSend, encodeResult: encodeEvent, formatResult }

const operations: OperationCodecs = {
  'send': { method: 'message/send', ...send },
  'stream': { method: 'message/stream', ...send },
  'get': { method: 'tasks/get', decodeRequest: decodeTask, encodeResult: encodeTask },
  'list': {
    method: 'tasks/list', decodeRequest: decodeList, encodeResult: ({ tasks }) => tasks.map(encodeTask),
  },
  'cancel': { method: 'tasks/cancel', decodeRequest: decodeTask, encodeResult: encodeTask },
  'subscribe': { method: 'tasks/resubscribe', decodeRequest: decodeTask, encodeResult: encodeEvent },
  'push-create': { method: `${METHODS}/set`, decodeRequest: decodePushCreate, encodeResult: encodePush },
  'push-get': { method: `${METHODS}/get`, decodeRequest: decodePushGet, encodeResult: encodePush },
  'push-list': {
    method: `${METHODS}/list`,
    decodeRequest: decodePushList,
    encodeResult: ({ configs }) => configs.map(encodePush),
  },
  'push-delete': {
    method: `${METHODS}/delete`, decodeRequest: decodePushDelete, encodeResult: () => null,
  },
  'extended-card': {
    method: 'agent/getAuthenticatedExtendedCard',
    decodeRequest: () => ({ tenant: undefined }),
    encodeResult: encodeV03Card,
  },
}

export const v03: Dialect = {
  name: '0.3',
  version: '0.3',
  operations,
  hasTasks: true,
  streamsErrors: true,
  undeclaredCard: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  encodeFault: encodeRpcFault,
  encodeError: rpcError,
  encodePush: (_event, task) => encodeTask(task),
  pushType: JSON_TYPE,
  pushesTasks: true,
  encodeCard: encodeV03Card,
}

function decodeSend(value: unknown, maxNameBytes: number): SendRequest {
  const params = needObject(value, AT)
  const message = decodeMessage(params['message'], `${AT}.message`, maxNameBytes)
  if (message.role !== 'user') throw wrongField(`${AT}.message`, 'role', 'must be user')
  if (message.parts.length === 0) {
    throw wrongField(`${AT}.message`, 'parts', 'must be a list with at least one item')
  }
  const at = `${AT}.configuration`
  const configuration = readMembers(params['configuration'], AT, 'configuration') ?? NONE
  const modes = configuration['acceptedOutputModes'] ?? configuration['accepted_output_modes']
  const push = configuration[CONFIG] ?? configuration['push_notification_config']
  return {
    tenant: undefined,
    message,
    outputModes: readNames(modes, at, 'acceptedOutputModes'),
    historyLength: readHistoryLength(configuration, at),
    isBlocking: readBoolean(configuration['blocking'], at, 'blocking') !== false,
    push: isUnset(push) ? undefined : decodePush(push, `${at}.${CONFIG}`, undefined, maxNameBytes),
    metadata: readMembers(params['metadata'], AT, 'metadata'),
  }
}

function decodeTask(value: unknown, maxNameBytes: number): TaskRequest {
  const params = needObject(value, AT)
  return {
    tenant: undefined,
    id: needName(params['id'], AT, 'id', maxNameBytes),
    historyLength: readHistoryLength(params, AT),
    metadata: readMembers(params['metadata'], AT, 'metadata'),
  }
}

/**
 * Listing tasks was never a method of this binding. Its params are those of 1.0, with the names that states
 * have in 0.3; its answer is a bare list, so a page has all tasks that fit on one.
 */
function decodeList(value: unknown, maxNameBytes: number): ListRequest {
  const params = isUnset(value) ? NONE : needObject(value, AT)
  const state = readChoice(params['status'], AT, 'status', states)
  return readListRequest(params, maxNameBytes, undefined, state, LIST_DEFAULTS)
}

function decodePush(
  value: unknown, at: string, taskId: string | undefined, maxNameBytes: number,
): PushConfig {
  const config = needObject(value, at)
  const { url } = config
  if (typeof url !== 'string' || url === '') throw wrongField(at, 'url', 'must be an absolute URL')
  const authentication = readMembers(config['authentication'], at, 'authentication')
  return {
    id: readName(config['id'], at, 'id', maxNameBytes),
    taskId,
    url,
    token: readName(config['token'], at, 'token'),
    authentication: authentication && {
      schemes: readNames(authentication['schemes'], `${at}.authentication`, 'schemes') ?? [],
      credentials: readName(authentication['credentials'], `${at}.authentication`, 'credentials'),
    },
  }
}

function encodePush({ id, taskId, url, token, authentication }: PushConfig): JsonMembers {
  return { taskId, [CONFIG]: { id, url, token, authentication } }
}

/** A configuration without an id has that of its task: before 0.2.5 a task had one only. */
function decodePushCreate(value: unknown, maxNameBytes: number): PushCreateRequest {
  const params = needObject(value, AT)
  const taskId = needName(params['taskId'] ?? params['task_id'], AT, 'taskId', maxNameBytes)
  const given = params[CONFIG] ?? params['push_notification_config']
  const config = decodePush(given, `${AT}.${CONFIG}`, taskId, maxNameBytes)
  return { tenant: undefined, config: { ...config, taskId, id: config.id ?? taskId } }
}

/** In the form of 0.2 only the task is named: its first configuration is meant. */
function decodePushGet(value: unknown, maxNameBytes: number): PushRequest {
  const params = needObject(value, AT)
  const id = params['pushNotificationConfigId'] ?? params['push_notification_config_id']
  return {
    tenant: undefined,
    taskId: needName(params['id'], AT, 'id', maxNameBytes),
    id: readName(id, AT, 'pushNotificationConfigId', maxNameBytes),
  }
}

/** What is deleted must be named. */
function decodePushDelete(value: unknown, maxNameBytes: number): PushRequest {
  const request = decodePushGet(value, maxNameBytes)
  if (request.id !== undefined) return request
  throw wrongField(AT, 'pushNotificationConfigId', 'is missing; it must be a string')
}

function decodePushList(value: unknown, maxNameBytes: number): PushListRequest {
  const taskId = needName(needObject(value, AT)['id'], AT, 'id', maxNameBytes)
  return { tenant: undefined, taskId, pageSize: undefined, pageToken: '' }
}

/** A message. `at` is its path; `maxNameBytes` bounds its ids. */
function decodeMessage(value: unknown, at: string, maxNameBytes: number): Message {
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
  throw wrongField(at, 'kind', `must be one of text, file, data${unseen(strangeIn(part, partMembers))}`)
}

/** The kind of a part that has no member for it. */
function impliedKind({ text, file, data }: JsonMembers): string | undefined {
  return isUnset(text) ? isUnset(file) ? isUnset(data) ? undefined : 'data' : 'file' : 'text'
}

function decodeFile(value: unknown, at: string, metadata: JsonMembers | undefined): Content {
  const file = needObject(value, at)
  const name = readName(file['name'], at, 'name')
  const mimeType = readName(file['mimeType'] ?? file['mime_type'], at, 'mimeType')
  const { bytes } = file
  if (!isUnset(bytes)) return bytesBlock(readBytes(bytes, at, 'bytes'), mimeType, name, metadata)
  const uri = readText(file['uri'], at, 'uri')
  if (uri === undefined) throw wrongField(at, 'uri', 'is missing; a file has "uri" or "bytes"')
  return addressBlock(uri, mimeType, name, metadata)
}

/** Data are objects only: another value is wrapped, and marked as wrapped. */
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
function encodeEvent(event: StreamEvent): JsonMembers {
  switch (event.what) {
    case 'task': return encodeTask(event.task)
    case 'message': return encodeMessage(event.message, event.message.contextId, event.message.taskId)
    case 'status': {
      const { taskId, contextId, isLast } = event
      const status = encodeStatus(event.status, contextId, taskId)
      const { metadata } = event.status
      return { kind: 'status-update', taskId, contextId, status, final: isLast, metadata }
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
function encodeTask(task: TaskView): JsonMembers {
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
