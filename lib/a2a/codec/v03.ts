/**
 * A2A 0.3, which serves 0.2 too: the table of its methods, and the params of each. Messages, tasks and events
 * are in `v03-messages.ts`.
 *
 * Listing tasks was never a method of this binding. Its params here are those of 1.0, with the names that
 * states have in 0.3; its answer is a bare list, so a page has all tasks that fit on one.
 * Spec: A2A 0.3 §6.8 to §6.10, §7, §8; A2A 0.2.6.
 */
import { rpcError } from '../../wire/jsonrpc.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import {
  isUnset, needName, needObject, readBoolean, readChoice, readMembers, readName, readText, readTexts,
  wrongField,
} from '../model/fields.ts'
import { encodeV03Card } from './card-codecs.ts'
import { encodeRpcFault } from './errors.ts'
import { AT, MAX_PAGE_SIZE, readHistoryLength, readListRequest } from './requests.ts'
import { decodeV03Message, encodeV03Event, encodeV03Task, formatV03Result } from './v03-messages.ts'
import type { TaskState } from '../../tasks/task.ts'
import type { Dialect, OperationCodecs } from '../model/dialect.ts'
import type {
  JsonMembers, ListRequest, PushConfig, PushCreateRequest, PushListRequest, PushRequest, SendRequest,
  TaskRequest,
} from '../model/model.ts'

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

const send = { decodeRequest: decodeSend, encodeResult: encodeV03Event, formatResult: formatV03Result }

const operations: OperationCodecs = {
  'send': { method: 'message/send', ...send },
  'stream': { method: 'message/stream', ...send },
  'get': { method: 'tasks/get', decodeRequest: decodeTask, encodeResult: encodeV03Task },
  'list': {
    method: 'tasks/list', decodeRequest: decodeList, encodeResult: ({ tasks }) => tasks.map(encodeV03Task),
  },
  'cancel': { method: 'tasks/cancel', decodeRequest: decodeTask, encodeResult: encodeV03Task },
  'subscribe': { method: 'tasks/resubscribe', decodeRequest: decodeTask, encodeResult: encodeV03Event },
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

/** The row of the table: it comes after plain, and takes what plain does not. */
export const v03: Dialect = {
  name: '0.3',
  version: '0.3',
  operations,
  hasTasks: true,
  streamsErrors: true,
  undeclaredCard: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  matches: () => true,
  encodeFault: encodeRpcFault,
  encodeError: rpcError,
  encodePush: (_event, task) => encodeV03Task(task),
  pushType: JSON_TYPE,
  pushesTasks: true,
  encodeCard: encodeV03Card,
}

function decodeSend(value: unknown, maxNameBytes: number): SendRequest {
  const params = needObject(value, AT)
  const message = decodeV03Message(params['message'], `${AT}.message`, maxNameBytes)
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
    outputModes: readTexts(modes, at, 'acceptedOutputModes'),
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
    token: readText(config['token'], at, 'token'),
    authentication: authentication && {
      schemes: readTexts(authentication['schemes'], `${at}.authentication`, 'schemes') ?? [],
      credentials: readText(authentication['credentials'], `${at}.authentication`, 'credentials'),
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
