/**
 * A2A 1.0: the table of its methods, and what their params are. What a result is stands in `v1-messages.ts`.
 *
 * What is read is read leniently: names of members of the protocol's definition (`task_id`) and of JSON
 * (`taskId`), enums by name and by number, integers as decimal text, `null` as unset, unknown members passed
 * over. What is written is what JSON of the definition is. Spec: A2A 1.0 §3.1, §3.2, §4.3, §5.3, §9.4.
 */
import { A2A_JSON_TYPE } from '../../wire/media.ts'
import {
  isUnset, needName, needObject, readBoolean, readChoice, readInteger, readMembers, readName, readText,
  readTexts, readTimestamp, wrongField,
} from '../model/fields.ts'
import { encodeV1Error, encodeV1Fault } from './errors.ts'
import { encodeV1Card } from './card-codecs.ts'
import {
  decodeV1UserMessage, encodeV1Event, encodeV1SendResult, encodeV1Task, encodeV1TaskPage, formatV1Result,
  v1States,
} from './v1-messages.ts'
import type { TaskState } from '../../tasks/task.ts'
import type { Dialect, OperationCodecs } from '../model/dialect.ts'
import type {
  CardRequest, JsonMembers, ListRequest, PushConfig, PushCreateRequest, PushListRequest, PushPage,
  PushRequest, SendRequest, TaskRequest,
} from '../model/model.ts'

const AT = 'params'
const MAX_INTEGER = 2 ** 31 - 1
/** §3.1.4: of a list. */
const DEFAULT_PAGE_SIZE = 50
const MAX_PAGE_SIZE = 100

/** The states that a list can be of; the one without a name is all of them. */
const filters: ReadonlyMap<unknown, TaskState | 'any'> = new Map<unknown, TaskState | 'any'>([
  ...v1States, ['TASK_STATE_UNSPECIFIED', 'any'], [0, 'any'],
])

const operations: OperationCodecs = {
  'send': {
    method: 'SendMessage',
    decodeRequest: decodeSendRequest,
    encodeResult: encodeV1SendResult,
    formatResult: formatV1Result,
  },
  'stream': {
    method: 'SendStreamingMessage',
    decodeRequest: decodeSendRequest,
    encodeResult: encodeV1Event,
    formatResult: formatV1Result,
  },
  'get': {
    method: 'GetTask',
    decodeRequest: decodeGetRequest,
    encodeResult: encodeV1Task,
  },
  'list': {
    method: 'ListTasks',
    decodeRequest: decodeListRequest,
    encodeResult: encodeV1TaskPage,
  },
  'cancel': {
    method: 'CancelTask',
    decodeRequest: decodeCancelRequest,
    encodeResult: encodeV1Task,
  },
  'subscribe': {
    method: 'SubscribeToTask',
    decodeRequest: decodeSubscribeRequest,
    encodeResult: encodeV1Event,
  },
  'push-create': {
    method: 'CreateTaskPushNotificationConfig',
    decodeRequest: decodeV1PushCreate,
    encodeResult: encodeV1Push,
  },
  'push-get': {
    method: 'GetTaskPushNotificationConfig',
    decodeRequest: decodeV1PushRequest,
    encodeResult: encodeV1Push,
  },
  'push-list': {
    method: 'ListTaskPushNotificationConfigs',
    decodeRequest: decodeV1PushListRequest,
    encodeResult: encodeV1PushPage,
  },
  'push-delete': {
    method: 'DeleteTaskPushNotificationConfig',
    decodeRequest: decodeV1PushRequest,
    encodeResult: () => null,
  },
  'extended-card': {
    method: 'GetExtendedAgentCard',
    decodeRequest: decodeCardRequest,
    encodeResult: encodeV1Card,
  },
}

/** The row of the table. */
export const v1: Dialect = {
  name: '1.0',
  version: '1.0',
  operations,
  hasTasks: true,
  streamsErrors: false,
  speaks: () => true,
  encodeFault: encodeV1Fault,
  encodeError: encodeV1Error,
  encodePush: encodeV1Event,
  pushType: A2A_JSON_TYPE,
  pushesTasks: false,
  encodeCard: encodeV1Card,
}

function decodeSendRequest(value: unknown, maxNameBytes: number): SendRequest {
  const params = needObject(value, AT)
  const { configuration } = params
  const at = 'params.configuration'
  const config: JsonMembers | undefined = isUnset(configuration) ? undefined : needObject(configuration, at)
  const push = config?.taskPushNotificationConfig ?? config?.task_push_notification_config
  return {
    tenant: readName(params.tenant, AT, 'tenant', maxNameBytes),
    message: decodeV1UserMessage(params.message, 'params.message', maxNameBytes),
    outputModes: readTexts(
      config?.acceptedOutputModes ?? config?.accepted_output_modes, at, 'acceptedOutputModes',
    ),
    historyLength: readLength(config?.historyLength ?? config?.history_length, at),
    isBlocking: readBoolean(
      config?.returnImmediately ?? config?.return_immediately, at, 'returnImmediately',
    ) !== true,
    push: isUnset(push) ? undefined : decodeV1Push(push, `${at}.taskPushNotificationConfig`, maxNameBytes),
    metadata: readMembers(params.metadata, AT, 'metadata'),
  }
}

function decodeGetRequest(value: unknown, maxNameBytes: number): TaskRequest {
  const params = needObject(value, AT)
  const historyLength = readLength(params.historyLength ?? params.history_length, AT)
  return taskRequest(params, maxNameBytes, historyLength, undefined)
}

function decodeCancelRequest(value: unknown, maxNameBytes: number): TaskRequest {
  const params = needObject(value, AT)
  return taskRequest(params, maxNameBytes, undefined, readMembers(params.metadata, AT, 'metadata'))
}

function decodeSubscribeRequest(value: unknown, maxNameBytes: number): TaskRequest {
  return taskRequest(needObject(value, AT), maxNameBytes, undefined, undefined)
}

function taskRequest(
  params: JsonMembers, maxNameBytes: number, historyLength: number | undefined,
  metadata: JsonMembers | undefined,
): TaskRequest {
  return {
    tenant: readName(params.tenant, AT, 'tenant', maxNameBytes),
    id: needName(params.id, AT, 'id', maxNameBytes),
    historyLength,
    metadata,
  }
}

function decodeListRequest(value: unknown, maxNameBytes: number): ListRequest {
  const params = value === undefined ? {} : needObject(value, AT)
  const state = readChoice(params.status, AT, 'status', filters)
  const pageSize = readInteger(params.pageSize ?? params.page_size, AT, 'pageSize', 1, MAX_PAGE_SIZE)
  return {
    tenant: readName(params.tenant, AT, 'tenant', maxNameBytes),
    contextId: readName(params.contextId ?? params.context_id, AT, 'contextId', maxNameBytes),
    state: state === 'any' ? undefined : state,
    pageSize: pageSize ?? DEFAULT_PAGE_SIZE,
    pageToken: readText(params.pageToken ?? params.page_token, AT, 'pageToken') ?? '',
    historyLength: readLength(params.historyLength ?? params.history_length, AT),
    changedSince: readTimestamp(
      params.statusTimestampAfter ?? params.status_timestamp_after, AT, 'statusTimestampAfter',
    ),
    withArtifacts: readBoolean(
      params.includeArtifacts ?? params.include_artifacts, AT, 'includeArtifacts',
    ) ?? false,
  }
}

function decodeCardRequest(value: unknown, maxNameBytes: number): CardRequest {
  const params = value === undefined ? {} : needObject(value, AT)
  return { tenant: readName(params.tenant, AT, 'tenant', maxNameBytes) }
}

function readLength(value: unknown, at: string): number | undefined {
  return readInteger(value, at, 'historyLength', 0, MAX_INTEGER)
}

/** Bytes of an address, and of a secret: more than any that is in use. */
const MAX_VALUE_BYTES = 8_192

/** A configuration; of one in a `SendMessage` the task is not known. `maxNameBytes` bounds ids. */
export function decodeV1Push(value: unknown, at: string, maxNameBytes: number): PushConfig {
  const config = needObject(value, at)
  return {
    id: readConfigId(config.id, at, maxNameBytes),
    taskId: readName(config.taskId ?? config.task_id, at, 'taskId', maxNameBytes),
    url: needName(config.url, at, 'url', MAX_VALUE_BYTES),
    token: readName(config.token, at, 'token', MAX_VALUE_BYTES),
    authentication: decodeAuthentication(config.authentication, `${at}.authentication`),
  }
}

/** A configuration. */
export function encodeV1Push(config: PushConfig): JsonMembers {
  return encodeFor(config, undefined)
}

/** A configuration for a task. */
export function decodeV1PushCreate(params: unknown, maxNameBytes: number): PushCreateRequest {
  const { id, taskId, url, token, authentication } = decodeV1Push(params, AT, maxNameBytes)
  const config = { id, taskId: needName(taskId, AT, 'taskId', maxNameBytes), url, token, authentication }
  return { tenant: readName(needObject(params, AT).tenant, AT, 'tenant', maxNameBytes), config }
}

function encodeFor(
  { id, taskId, url, token, authentication }: PushConfig, tenant: string | undefined,
): JsonMembers {
  const scheme = authentication?.schemes[0]
  return {
    tenant, id, taskId, url, token,
    authentication: scheme === undefined ? undefined : { scheme, credentials: authentication?.credentials },
  }
}

/** An id becomes a segment of a path. */
function readConfigId(value: unknown, at: string, maxNameBytes: number): string | undefined {
  const id = readName(value, at, 'id', maxNameBytes)
  if (id === undefined || !/[/\\\0]/.test(id)) return id
  throw wrongField(at, 'id', 'must have no /, no \\ and no NUL in it')
}

function decodeAuthentication(value: unknown, at: string): PushConfig['authentication'] {
  if (isUnset(value)) return undefined
  const { scheme, credentials } = needObject(value, at)
  return {
    schemes: [needName(scheme, at, 'scheme', MAX_VALUE_BYTES)],
    credentials: readName(credentials, at, 'credentials', MAX_VALUE_BYTES),
  }
}

/** One page of configurations. The list is there even if nothing is in it: clients go through it unasked. */
export function encodeV1PushPage({ configs, nextPageToken }: PushPage): JsonMembers {
  return {
    configs: configs.map(encodeV1Push),
    nextPageToken: nextPageToken || undefined,
  }
}

/** Which configuration a request is for. */
export function decodeV1PushRequest(value: unknown, maxNameBytes: number): PushRequest {
  const params = needObject(value, AT)
  return {
    tenant: readName(params.tenant, AT, 'tenant', maxNameBytes),
    taskId: needName(params.taskId ?? params.task_id, AT, 'taskId', maxNameBytes),
    id: needName(params.id, AT, 'id', maxNameBytes),
  }
}

/** Of which task the configurations are asked for. */
export function decodeV1PushListRequest(value: unknown, maxNameBytes: number): PushListRequest {
  const params = needObject(value, AT)
  const pageSize = readInteger(params.pageSize ?? params.page_size, AT, 'pageSize', 0, MAX_INTEGER)
  return {
    tenant: readName(params.tenant, AT, 'tenant', maxNameBytes),
    taskId: needName(params.taskId ?? params.task_id, AT, 'taskId', maxNameBytes),
    // The member has no presence of its own: 0 is what a client that sets nothing sends.
    pageSize: pageSize === 0 ? undefined : pageSize,
    pageToken: readText(params.pageToken ?? params.page_token, AT, 'pageToken') ?? '',
  }
}
