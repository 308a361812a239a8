/**
 * Push notifications in A2A 0.2 and 0.3: the params and results of the four methods, and what a send carries.
 * A configuration stands in an object of its own beside the id of its task.
 *
 * Without an id of its own a configuration is called like its task, and asking for none is asking for the
 * first: before 0.2.5 a task had one only.
 * Spec: A2A 0.3 §6.8 to §6.10, §7.5 to §7.8.
 */
import { Fault } from '../../define/fault.ts'
import {
  readMembers, readName, readText, readTexts, needName, needObject, wrongField,
} from '../model/fields.ts'
import { decodeV03List, MAX_RESULT_NAME_BYTES } from './v03-messages.ts'
import type { OperationCodecs } from '../model/dialect.ts'
import type {
  JsonMembers, PushConfig, PushCreateRequest, PushListRequest, PushRequest,
} from '../model/model.ts'

const AT = 'params'
const CONFIG = 'pushNotificationConfig'
const METHODS = 'tasks/pushNotificationConfig'

/** How the four operations are spelled. */
export const v03PushOperations: OperationCodecs = {
  'push-create': {
    method: `${METHODS}/set`,
    decodeRequest: decodePushCreate,
    encodeRequest: encodePushCreate,
    encodeResult: encodePushResult,
    decodeResult: (value) => decodePushResult(value, 'result'),
  },
  'push-get': {
    method: `${METHODS}/get`,
    decodeRequest: decodePushGet,
    encodeRequest: encodePushRequest,
    encodeResult: encodePushResult,
    decodeResult: (value) => decodePushResult(value, 'result'),
  },
  'push-list': {
    method: `${METHODS}/list`,
    decodeRequest: decodePushList,
    encodeRequest: encodePushList,
    encodeResult: ({ configs }) => configs.map(encodePushResult),
    decodeResult: (value) => ({ configs: decodeV03List(value, decodePushResult), nextPageToken: '' }),
  },
  'push-delete': {
    method: `${METHODS}/delete`,
    decodeRequest: decodePushDelete,
    encodeRequest: encodePushRequest,
    encodeResult: () => null,
    decodeResult: () => undefined,
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

/** Writes the params of `tasks/pushNotificationConfig/set`. */
function encodePushCreate({ tenant, config }: PushCreateRequest): JsonMembers {
  refuseTenant(tenant)
  return encodePushResult(config)
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

/** Writes the params of `tasks/pushNotificationConfig/get` and `…/delete`. */
function encodePushRequest({ tenant, taskId, id }: PushRequest): JsonMembers {
  refuseTenant(tenant)
  return { id: taskId, pushNotificationConfigId: id }
}

/** Reads the params of `tasks/pushNotificationConfig/list`. */
function decodePushList(value: unknown, maxNameBytes: number): PushListRequest {
  const params = needObject(value, AT)
  const taskId = needName(params['id'], AT, 'id', maxNameBytes)
  return { tenant: undefined, taskId, pageSize: undefined, pageToken: '' }
}

/** Writes the params of `tasks/pushNotificationConfig/list`. */
function encodePushList({ tenant, taskId }: PushListRequest): JsonMembers {
  refuseTenant(tenant)
  return { id: taskId }
}

/** Writes a configuration with its task. */
function encodePushResult(config: PushConfig): JsonMembers {
  return { taskId: config.taskId, [CONFIG]: encodeV03PushConfig(config) }
}

/** Throws `Fault('unsupported')` where a request is for a tenant: there are none before 1.0. */
export function refuseTenant(tenant: string | undefined): void {
  if (tenant !== undefined) throw new Fault('unsupported', 'A2A 0.3 has no tenants; use an interface of 1.0')
}

/** Reads a configuration with its task. */
function decodePushResult(value: unknown, at: string): PushConfig {
  const result = needObject(value, at)
  const taskId = needName(result['taskId'], at, 'taskId', MAX_RESULT_NAME_BYTES)
  return decodeV03PushConfig(result[CONFIG], `${at}.${CONFIG}`, taskId, MAX_RESULT_NAME_BYTES)
}
