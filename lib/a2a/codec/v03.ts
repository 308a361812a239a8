/**
 * A2A 0.3, which serves 0.2 too: the table of its methods, and what their params are. Names in snake_case are
 * read too. What a result is stands in `v03-messages.ts`.
 *
 * Listing tasks was never a method of this binding. Its params here are those of 1.0, with states spelled as
 * in 0.3; its answer is a bare list, so all that fits on one page is on it.
 * Spec: A2A 0.3 §6.8 to §6.10, §7, §8; A2A 0.2.6.
 */
import { rpcError } from '../../wire/jsonrpc.ts'
import { JSON_TYPE } from '../../wire/media.ts'
import {
  isUnset, needName, needObject, readBoolean, readInteger, readMembers, readName, readText, readTexts,
  readTimestamp, wrongField,
} from '../model/fields.ts'
import { encodeRpcFault } from './errors.ts'
import { encodeV03Card } from './card-codecs.ts'
import {
  decodeV03Message, encodeV03Event, encodeV03Task, formatV03Result, readV03State,
} from './v03-messages.ts'
import type { Dialect, OperationCodecs } from '../model/dialect.ts'
import type {
  CardRequest, JsonMembers, ListRequest, PushConfig, PushCreateRequest, PushListRequest, PushRequest,
  SendRequest, TaskRequest,
} from '../model/model.ts'

/** What the history of a task can be at most, and what a list of tasks is. */
const MAX_HISTORY = 2_147_483_647
const MAX_PAGE = 100

const AT = 'params'
const NONE: JsonMembers = Object.freeze({})

/** Reads the params of `message/send` and `message/stream`. */
export function decodeV03Send(value: unknown, maxNameBytes: number): SendRequest {
  const params = needObject(value, AT)
  const message = decodeV03Message(params['message'], `${AT}.message`, maxNameBytes)
  if (message.role !== 'user') throw wrongField(`${AT}.message`, 'role', 'must be user')
  if (message.parts.length === 0) {
    throw wrongField(`${AT}.message`, 'parts', 'must be a list with at least one item')
  }
  const at = `${AT}.configuration`
  const configuration = readMembers(params['configuration'], AT, 'configuration') ?? NONE
  const { blocking } = configuration
  const modes = configuration['acceptedOutputModes'] ?? configuration['accepted_output_modes']
  const push = configuration['pushNotificationConfig'] ?? configuration['push_notification_config']
  return {
    tenant: undefined,
    message,
    outputModes: readTexts(modes, at, 'acceptedOutputModes'),
    historyLength: readHistoryLength(configuration, at),
    isBlocking: readBoolean(blocking, at, 'blocking') !== false,
    push: isUnset(push) ? undefined
      : decodeV03PushConfig(push, `${at}.pushNotificationConfig`, undefined, maxNameBytes),
    metadata: readMembers(params['metadata'], AT, 'metadata'),
  }
}

/** Reads the params of a method that takes a task: its id, and how much of its history is wanted. */
export function decodeV03TaskRequest(value: unknown, maxNameBytes: number): TaskRequest {
  const params = needObject(value, AT)
  return {
    tenant: undefined,
    id: needName(params['id'], AT, 'id', maxNameBytes),
    historyLength: readHistoryLength(params, AT),
    metadata: readMembers(params['metadata'], AT, 'metadata'),
  }
}

/** Reads the params of `tasks/list`, which may be left out. */
export function decodeV03ListRequest(value: unknown, maxNameBytes: number): ListRequest {
  const params = isUnset(value) ? NONE : needObject(value, AT)
  const changedSince = params['statusTimestampAfter'] ?? params['status_timestamp_after']
  const withArtifacts = params['includeArtifacts'] ?? params['include_artifacts']
  return {
    tenant: undefined,
    contextId: readName(params['contextId'] ?? params['context_id'], AT, 'contextId', maxNameBytes),
    state: readV03State(params['status'], AT, 'status'),
    pageSize: readInteger(params['pageSize'] ?? params['page_size'], AT, 'pageSize', 1, MAX_PAGE) ?? MAX_PAGE,
    pageToken: readText(params['pageToken'] ?? params['page_token'], AT, 'pageToken') ?? '',
    historyLength: readHistoryLength(params, AT),
    changedSince: readTimestamp(changedSince, AT, 'statusTimestampAfter'),
    withArtifacts: readBoolean(withArtifacts, AT, 'includeArtifacts') !== false,
  }
}

/** Reads the params of `agent/getAuthenticatedExtendedCard`, which has none. */
export function decodeV03CardRequest(): CardRequest {
  return { tenant: undefined }
}

function readHistoryLength(members: JsonMembers, at: string): number | undefined {
  const value = members['historyLength'] ?? members['history_length']
  return readInteger(value, at, 'historyLength', 0, MAX_HISTORY)
}

const CONFIG = 'pushNotificationConfig'
const METHODS = 'tasks/pushNotificationConfig'

/** How the four operations are spelled. */
export const v03PushOperations: OperationCodecs = {
  'push-create': {
    method: `${METHODS}/set`,
    decodeRequest: decodePushCreate,
    encodeResult: encodePushResult,
  },
  'push-get': {
    method: `${METHODS}/get`,
    decodeRequest: decodePushGet,
    encodeResult: encodePushResult,
  },
  'push-list': {
    method: `${METHODS}/list`,
    decodeRequest: decodePushList,
    encodeResult: ({ configs }) => configs.map(encodePushResult),
  },
  'push-delete': {
    method: `${METHODS}/delete`,
    decodeRequest: decodePushDelete,
    encodeResult: () => null,
  },
}

/** Reads a configuration. `at` is its path. */
export function decodeV03PushConfig(
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

/** Writes a configuration, without its task. */
export function encodeV03PushConfig({ id, url, token, authentication }: PushConfig): JsonMembers {
  return { id, url, token, authentication }
}

/** Reads the params of `tasks/pushNotificationConfig/set`. */
function decodePushCreate(value: unknown, maxNameBytes: number): PushCreateRequest {
  const params = needObject(value, AT)
  const taskId = needName(params['taskId'] ?? params['task_id'], AT, 'taskId', maxNameBytes)
  const given = params[CONFIG] ?? params['push_notification_config']
  const config = decodeV03PushConfig(given, `${AT}.${CONFIG}`, taskId, maxNameBytes)
  return { tenant: undefined, config: { ...config, taskId, id: config.id ?? taskId } }
}

/** Reads the params of `tasks/pushNotificationConfig/get`: in the form of 0.2 only the task is named. */
function decodePushGet(value: unknown, maxNameBytes: number): PushRequest {
  const params = needObject(value, AT)
  const id = params['pushNotificationConfigId'] ?? params['push_notification_config_id']
  return {
    tenant: undefined,
    taskId: needName(params['id'], AT, 'id', maxNameBytes),
    id: readName(id, AT, 'pushNotificationConfigId', maxNameBytes),
  }
}

/** Reads the params of `tasks/pushNotificationConfig/delete`: what is deleted must be named. */
function decodePushDelete(value: unknown, maxNameBytes: number): PushRequest {
  const request = decodePushGet(value, maxNameBytes)
  if (request.id !== undefined) return request
  throw wrongField(AT, 'pushNotificationConfigId', 'is missing; it must be a string')
}

/** Reads the params of `tasks/pushNotificationConfig/list`. */
function decodePushList(value: unknown, maxNameBytes: number): PushListRequest {
  const params = needObject(value, AT)
  const taskId = needName(params['id'], AT, 'id', maxNameBytes)
  return { tenant: undefined, taskId, pageSize: undefined, pageToken: '' }
}

/** Writes a configuration with its task. */
function encodePushResult(config: PushConfig): JsonMembers {
  return { taskId: config.taskId, [CONFIG]: encodeV03PushConfig(config) }
}

const operations: OperationCodecs = {
  'send': {
    method: 'message/send',
    decodeRequest: decodeV03Send,
    encodeResult: encodeV03Event,
    formatResult: formatV03Result,
  },
  'stream': {
    method: 'message/stream',
    decodeRequest: decodeV03Send,
    encodeResult: encodeV03Event,
    formatResult: formatV03Result,
  },
  'get': {
    method: 'tasks/get',
    decodeRequest: decodeV03TaskRequest,
    encodeResult: encodeV03Task,
  },
  'list': {
    method: 'tasks/list',
    decodeRequest: decodeV03ListRequest,
    encodeResult: ({ tasks }) => tasks.map(encodeV03Task),
  },
  'cancel': {
    method: 'tasks/cancel',
    decodeRequest: decodeV03TaskRequest,
    encodeResult: encodeV03Task,
  },
  'subscribe': {
    method: 'tasks/resubscribe',
    decodeRequest: decodeV03TaskRequest,
    encodeResult: encodeV03Event,
  },
  ...v03PushOperations,
  'extended-card': {
    method: 'agent/getAuthenticatedExtendedCard',
    decodeRequest: decodeV03CardRequest,
    encodeResult: encodeV03Card,
  },
}

/** The row of the table. It stands behind plain, and takes what plain does not. */
export const v03: Dialect = {
  name: '0.3',
  version: '0.3',
  operations,
  hasTasks: true,
  streamsErrors: true,
  undeclaredCard: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  speaks: () => true,
  encodeFault: encodeRpcFault,
  encodeError: rpcError,
  encodePush: (_event, task) => encodeV03Task(task),
  pushType: JSON_TYPE,
  pushesTasks: true,
  encodeCard: encodeV03Card,
}
