/**
 * A2A 1.0: its methods, and its form of what all versions have. Enums are read by name and by number,
 * integers as decimal text too.
 * Spec: A2A 1.0 §3.1, §3.2, §4.1 to §4.3, §5.3, §5.5, §9.4.
 */
import { unseen } from '../../../kernel/define/validate.ts'
import { MAX_NAME_BYTES } from '../../../kernel/wire/bounded.ts'
import { quote } from '../../../kernel/wire/json.ts'
import { A2A_JSON_TYPE, operationsOf } from '../model/dialect.ts'
import {
  FieldFault, isUnset, needMembers, needName, needText, readBoolean, readMembers, readName, wrongField,
} from '../model/fields.ts'
import { decodersOf } from './decoder.ts'
import { formattersOf } from './encoder.ts'
import { v1Errors } from './errors.ts'
import { blockFor, readBytes, strangeIn } from './parts.ts'
import type { TaskState } from '../../../floors/tasks/task.ts'
import type { Dialect } from '../model/dialect.ts'
import type { JsonMembers, PushConfig } from '../model/model.ts'
import type { ParamsForm } from './decoder.ts'
import type { WireForm } from './encoder.ts'

/** In the order of their numbers, from 1. */
const states: Readonly<Record<TaskState, string>> = {
  'submitted': 'TASK_STATE_SUBMITTED', 'working': 'TASK_STATE_WORKING',
  'completed': 'TASK_STATE_COMPLETED', 'failed': 'TASK_STATE_FAILED', 'canceled': 'TASK_STATE_CANCELED',
  'input-required': 'TASK_STATE_INPUT_REQUIRED', 'rejected': 'TASK_STATE_REJECTED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
}
const inOrder = Object.entries(states) as readonly (readonly [state: TaskState, name: string])[]

/** The member of a part that has what it holds. */
const members = { text: 'text', document: 'text', bytes: 'raw', uri: 'url', data: 'data' } as const
const contents: ReadonlySet<unknown> = new Set(Object.values(members))
const envelopes = {
  task: 'task', message: 'message', status: 'statusUpdate', artifact: 'artifactUpdate',
} as const

const wire: WireForm = {
  opens: { task: '{', message: '{', status: '{', artifact: '{' },
  wrap: (what, object) => `{"${envelopes[what]}":${object}}`,
  roles: { user: 'ROLE_USER', agent: 'ROLE_AGENT' },
  states,
  writesEmpty: false,
  flag: (name, isSet) => isSet && name !== 'final' ? `,"${name}":true` : '',
  text: '{"text":',
  writePart: ({ kind, value, metadata, name, mediaType }) => (
    { [members[kind]]: value, metadata, filename: name, mediaType }
  ),
  // The four members are always there.
  page: (tasks, { nextPageToken, pageSize, totalSize }) => (
    `{"tasks":${tasks},"nextPageToken":${quote(nextPageToken)},"pageSize":${pageSize},`
      + `"totalSize":${totalSize}}`
  ),
  writePush({ id, taskId, url, token, authentication }) {
    const scheme = authentication?.schemes[0]
    const shown = scheme === undefined ? undefined : { scheme, credentials: authentication?.credentials }
    return { id, taskId, url, token, authentication: shown }
  },
  // The list is there even if it is empty: clients go through it without looking.
  pushPage: (configs, nextPageToken) => ({ configs, nextPageToken: nextPageToken || undefined }),
  version: '1.0',
}

const form: ParamsForm = {
  hasTenants: true,
  // The one without a name is all of them.
  states: new Map<unknown, TaskState | 'any'>([
    ...inOrder.map(([state, name]) => [name, state] as const),
    ...inOrder.map(([state], index) => [index + 1, state] as const),
    ['TASK_STATE_UNSPECIFIED', 'any'], [0, 'any'],
  ]),
  // §3.1.4.
  listDefaults: { pageSize: 50, withArtifacts: false },
  taskMembers: { get: ['historyLength'], cancel: ['metadata'], subscribe: [] },
  push: 'taskPushNotificationConfig',
  isPushNested: false,
  isPushNamed: true,
  pushIds: { task: 'taskId', config: 'id' },
  readRole({ role }, at) {
    if (role === 'ROLE_USER' || role === 1) return 'user'
    const demand = isUnset(role) ? 'is missing; a client writes ROLE_USER' : 'must be ROLE_USER'
    throw wrongField(at, 'role', demand)
  },
  readPart(part, at) {
    const { text, raw, url, data } = part
    const set = +!isUnset(text) + +!isUnset(raw) + +!isUnset(url) + +!isUnset(data)
    // Data may be null; beside another member null means that there is none.
    if (set !== 1 && !(set === 0 && data === null)) {
      const strange = set === 0 ? strangeIn(part, contents) : undefined
      throw new FieldFault(at, `must have exactly one of text, raw, url and data${unseen(strange)}`)
    }
    const labels = {
      mediaType: readName(part.mediaType, at, 'mediaType'),
      name: readName(part.filename, at, 'filename'),
      metadata: readMembers(part.metadata, at, 'metadata'),
    }
    if (!isUnset(text)) return blockFor({ kind: 'text', value: needText(text, at, 'text') }, labels)
    if (!isUnset(raw)) return blockFor({ kind: 'bytes', value: readBytes(raw, at, 'raw') }, labels)
    if (isUnset(url)) return blockFor({ kind: 'data', value: data }, labels)
    return blockFor({ kind: 'uri', value: needName(url, at, 'url', Infinity) }, labels)
  },
  /** In a `SendMessage` the task of a configuration is not known. */
  readPush({ id, taskId, url, token, authentication }, at, maxNameBytes) {
    return {
      id: readName(id, at, 'id', maxNameBytes),
      taskId: readName(taskId, at, 'taskId', maxNameBytes),
      url: needName(url, at, 'url', MAX_NAME_BYTES),
      token: readName(token, at, 'token'),
      authentication: isUnset(authentication) ? undefined
        : readAuthentication(needMembers(authentication, `${at}.authentication`), `${at}.authentication`),
    }
  },
  isBlocking: ({ returnImmediately }, at) => readBoolean(returnImmediately, at, 'returnImmediately') !== true,
}

function readAuthentication({ scheme, credentials }: JsonMembers, at: string): PushConfig['authentication'] {
  return {
    schemes: [needName(scheme, at, 'scheme', MAX_NAME_BYTES)],
    credentials: readName(credentials, at, 'credentials'),
  }
}

const formatters = formattersOf(wire)

export const v1: Dialect = {
  name: '1.0',
  version: '1.0',
  operations: operationsOf({
    'send': 'SendMessage', 'stream': 'SendStreamingMessage',
    'get': 'GetTask', 'list': 'ListTasks', 'cancel': 'CancelTask', 'subscribe': 'SubscribeToTask',
    'push-create': 'CreateTaskPushNotificationConfig', 'push-get': 'GetTaskPushNotificationConfig',
    'push-list': 'ListTaskPushNotificationConfigs', 'push-delete': 'DeleteTaskPushNotificationConfig',
    'extended-card': 'GetExtendedAgentCard',
  }, decodersOf(form), formatters),
  hasTasks: true,
  streamsErrors: false,
  ...v1Errors,
  formatPush: formatters.stream,
  pushAt: { create: 'params', send: `params.configuration.${form.push}` },
  pushType: A2A_JSON_TYPE,
  pushesTasks: false,
}
