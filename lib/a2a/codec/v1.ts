/**
 * A2A 1.0: the table of its methods, and the params of each. Messages, tasks and events are in
 * `v1-messages.ts`.
 *
 * Params are read leniently: names of members of the protocol's definition (`task_id`) and of JSON
 * (`taskId`), enums by name and by number, integers as decimal text, `null` as unset, unknown members are
 * ignored. What is written is the definition's JSON. Spec: A2A 1.0 §3.1, §3.2, §4.3, §5.3, §9.4.
 */
import { A2A_JSON_TYPE } from '../../wire/media.ts'
import {
  isUnset, needName, needObject, readBoolean, readChoice, readInteger, readMembers, readName, readText,
  readTexts, wrongField,
} from '../model/fields.ts'
import { encodeV1Card } from './card-codecs.ts'
import { encodeV1Error, encodeV1Fault } from './errors.ts'
import { AT, MAX_INTEGER, readHistoryLength, readListRequest } from './requests.ts'
import {
  decodeV1UserMessage, encodeV1Event, encodeV1Task, formatV1Result, v1States,
} from './v1-messages.ts'
import type { TaskState } from '../../tasks/task.ts'
import type { Dialect, OperationCodecs } from '../model/dialect.ts'
import type {
  TenantRequest, JsonMembers, ListRequest, PushConfig, PushCreateRequest, PushListRequest, PushPage,
  PushRequest, SendRequest, TaskPage, TaskRequest,
} from '../model/model.ts'

/** §3.1.4. */
const LIST_DEFAULTS = { pageSize: 50, withArtifacts: false }
const NONE: JsonMembers = Object.freeze({})
/** Bytes of an address, and of a secret: more than any that is in use. */
const MAX_VALUE_BYTES = 8_192

/** The states that a list can be of; the one without a name is all of them. */
const filters: ReadonlyMap<unknown, TaskState | 'any'> = new Map<unknown, TaskState | 'any'>([
  ...v1States, ['TASK_STATE_UNSPECIFIED', 'any'], [0, 'any'],
])

const send = { decodeRequest: decodeSend, encodeResult: encodeV1Event, formatResult: formatV1Result }

const operations: OperationCodecs = {
  'send': { method: 'SendMessage', ...send },
  'stream': { method: 'SendStreamingMessage', ...send },
  'get': { method: 'GetTask', decodeRequest: decodeGet, encodeResult: encodeV1Task },
  'list': { method: 'ListTasks', decodeRequest: decodeList, encodeResult: encodeTaskPage },
  'cancel': { method: 'CancelTask', decodeRequest: decodeCancel, encodeResult: encodeV1Task },
  'subscribe': { method: 'SubscribeToTask', decodeRequest: decodeSubscribe, encodeResult: encodeV1Event },
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

/** The row of the table. */
export const v1: Dialect = {
  name: '1.0',
  version: '1.0',
  operations,
  hasTasks: true,
  streamsErrors: false,
  matches: () => true,
  encodeFault: encodeV1Fault,
  encodeError: encodeV1Error,
  encodePush: encodeV1Event,
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
    message: decodeV1UserMessage(params.message, 'params.message', maxNameBytes),
    outputModes: readTexts(modes, at, 'acceptedOutputModes'),
    historyLength: readHistoryLength(configuration, at),
    isBlocking: readBoolean(returns, at, 'returnImmediately') !== true,
    push: isUnset(push) ? undefined : decodePush(push, `${at}.taskPushNotificationConfig`, maxNameBytes),
    metadata: readMembers(params.metadata, AT, 'metadata'),
  }
}

function decodeGet(value: unknown, maxNameBytes: number): TaskRequest {
  const params = needObject(value, AT)
  return taskRequest(params, maxNameBytes, readHistoryLength(params, AT), undefined)
}

function decodeCancel(value: unknown, maxNameBytes: number): TaskRequest {
  const params = needObject(value, AT)
  return taskRequest(params, maxNameBytes, undefined, readMembers(params.metadata, AT, 'metadata'))
}

function decodeSubscribe(value: unknown, maxNameBytes: number): TaskRequest {
  return taskRequest(needObject(value, AT), maxNameBytes, undefined, undefined)
}

function taskRequest(
  params: JsonMembers, maxNameBytes: number, historyLength: number | undefined,
  metadata: JsonMembers | undefined,
): TaskRequest {
  const tenant = readTenant(params, maxNameBytes)
  return { tenant, id: needName(params.id, AT, 'id', maxNameBytes), historyLength, metadata }
}

function decodeList(value: unknown, maxNameBytes: number): ListRequest {
  const params = value === undefined ? NONE : needObject(value, AT)
  const state = readChoice(params.status, AT, 'status', filters)
  const tenant = readTenant(params, maxNameBytes)
  return readListRequest(params, maxNameBytes, tenant, state === 'any' ? undefined : state, LIST_DEFAULTS)
}

/** The four members are always there. */
function encodeTaskPage({ tasks, nextPageToken, pageSize, totalSize }: TaskPage): JsonMembers {
  return { tasks: tasks.map(encodeV1Task), nextPageToken, pageSize, totalSize }
}

function decodeCardRequest(value: unknown, maxNameBytes: number): TenantRequest {
  return { tenant: value === undefined ? undefined : readTenant(needObject(value, AT), maxNameBytes) }
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
    url: needName(config.url, at, 'url', MAX_VALUE_BYTES),
    token: readName(config.token, at, 'token', MAX_VALUE_BYTES),
    authentication: isUnset(authentication) ? undefined
      : decodeAuthentication(authentication, `${at}.authentication`),
  }
}

function decodeAuthentication(value: unknown, at: string): NonNullable<PushConfig['authentication']> {
  const { scheme, credentials } = needObject(value, at)
  return {
    schemes: [needName(scheme, at, 'scheme', MAX_VALUE_BYTES)],
    credentials: readName(credentials, at, 'credentials', MAX_VALUE_BYTES),
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
    pageToken: readText(params.pageToken ?? params.page_token, AT, 'pageToken') ?? '',
  }
}
