/**
 * Push notifications in A2A 0.2 and 0.3: the params and results of the four methods, and what a send carries.
 * A configuration stands in an object of its own beside the id of its task.
 *
 * Without an id of its own a configuration is called like its task, and asking for none is asking for the
 * first: before 0.2.5 a task had one only.
 * Spec: A2A 0.3 §6.8 to §6.10, §7.5 to §7.8.
 */
import {
  readMembers, readName, readText, readTexts, needName, needObject, wrongField,
} from '../model/fields.ts'
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
