/**
 * A2A 0.3, which serves 0.2 too: its methods, and its form of what all versions have. Each object has a
 * `kind`; old clients write `type` in parts, or leave the member out.
 * Spec: A2A 0.3 §6, §7, §8; A2A 0.2.6.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { unseen } from '../../../kernel/define/validate.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { taskStates } from '../../../floors/tasks/task.ts'
import { operationsOf } from '../model/dialect.ts'
import {
  isUnset, needMembers, needObject, needText, readBoolean, readMembers, readName, readNames,
  wrongField,
} from '../model/fields.ts'
import { decodersOf, MAX_PAGE_SIZE } from './decoder.ts'
import { formattersOf } from './encoder.ts'
import { oldErrors } from './errors.ts'
import { blockFor, metadataWith, readBytes, strangeIn } from './parts.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { TaskState } from '../../../floors/tasks/task.ts'
import type { Dialect } from '../model/dialect.ts'
import type { JsonMembers } from '../model/model.ts'
import type { ParamsForm } from './decoder.ts'
import type { WireForm } from './encoder.ts'
import type { PartLabels, WirePart } from './parts.ts'

const CONFIG = 'pushNotificationConfig'
const METHODS = 'tasks/pushNotificationConfig'

/** Each state by its own name. */
const states = new Map<string, TaskState>(taskStates.map((state) => [state, state]))

/** Official libraries mark a value with it that is wrapped as `{ value }`. */
const WRAPPED = 'data_part_compat'
/** The media type of a value in metadata: a part has no member for it. */
const MEDIA_TYPE = 'mediaType'

const contents: ReadonlySet<unknown> = new Set(['text', 'file', 'data'])

export const v03Wire: WireForm = {
  opens: {
    task: '{"kind":"task",', message: '{"kind":"message",', status: '{"kind":"status-update",',
    artifact: '{"kind":"artifact-update",',
  },
  wrap: (_what, object) => object,
  roles: { user: 'user', agent: 'agent' },
  states: Object.fromEntries(states) as WireForm['states'],
  writesEmpty: true,
  flag: (name, isSet) => `,"${name}":${isSet}`,
  text: '{"kind":"text","text":',
  writePart,
  page: (tasks) => tasks,
  writePush: ({ id, taskId, url, token, authentication }) => (
    { taskId, [CONFIG]: { id, url, token, authentication } }
  ),
  pushPage: (configs) => configs,
  version: '0.3',
}

const all = ['historyLength', 'metadata'] as const

const form: ParamsForm = {
  hasTenants: false,
  // Of `unknown` it is only known that it has not ended.
  states: new Map<string, TaskState>([...states, ['unknown', 'working']]),
  // A page is a bare list: it has all tasks that fit on one.
  listDefaults: { pageSize: MAX_PAGE_SIZE, withArtifacts: true },
  taskMembers: { get: all, cancel: all, subscribe: all },
  push: CONFIG,
  isPushNested: true,
  // In the form of 0.2 only the task is named.
  isPushNamed: false,
  pushIds: { task: 'id', config: 'pushNotificationConfigId' },
  readRole({ kind, role }, at) {
    if (!isUnset(kind) && kind !== 'message') throw wrongField(at, 'kind', 'must be message')
    if (role === 'user') return role
    throw wrongField(at, 'role', isUnset(role) ? 'is missing; it must be user' : 'must be user')
  },
  readPart(part, at) {
    const metadata = readMembers(part.metadata, at, 'metadata')
    const kind = part.kind ?? part.type ?? impliedKind(part)
    if (kind === 'file') return readFile(needMembers(part.file, `${at}.file`), `${at}.file`, metadata)
    if (kind === 'data') return readData(needObject(part.data, `${at}.data`), metadata)
    if (kind !== 'text') {
      throw wrongField(at, 'kind', `must be one of text, file, data${unseen(strangeIn(part, contents))}`)
    }
    const labels = { name: undefined, mediaType: undefined, metadata }
    return blockFor({ kind, value: needText(part.text, at, 'text') }, labels)
  },
  readPush(config, at, maxNameBytes, taskId) {
    const { id, url, token } = config
    if (typeof url !== 'string' || url === '') throw wrongField(at, 'url', 'must be an absolute URL')
    const authentication = readMembers(config.authentication, at, 'authentication')
    return {
      // One without an id has that of its task: before 0.2.5 a task had one only.
      id: readName(id, at, 'id', maxNameBytes) ?? taskId,
      taskId,
      url,
      token: readName(token, at, 'token'),
      authentication: authentication && {
        schemes: readNames(authentication.schemes, `${at}.authentication`, 'schemes') ?? [],
        credentials: readName(authentication.credentials, `${at}.authentication`, 'credentials'),
      },
    }
  },
  isBlocking: ({ blocking }, at) => readBoolean(blocking, at, 'blocking') !== false,
}

/** The kind of a part that has no member for it. */
function impliedKind({ text, file, data }: JsonMembers): string | undefined {
  return isUnset(text) ? isUnset(file) ? isUnset(data) ? undefined : 'data' : 'file' : 'text'
}

function readFile(file: JsonMembers, at: string, metadata: JsonMembers | undefined): Content {
  const labels: PartLabels = {
    name: readName(file.name, at, 'name'), mediaType: readName(file.mimeType, at, 'mimeType'), metadata,
  }
  const { bytes } = file
  if (!isUnset(bytes)) return blockFor({ kind: 'bytes', value: readBytes(bytes, at, 'bytes') }, labels)
  const uri = readName(file.uri, at, 'uri', Infinity)
  if (uri === undefined) throw wrongField(at, 'uri', 'is missing; a file has "uri" or "bytes"')
  return blockFor({ kind: 'uri', value: uri }, labels)
}

/** Data are objects only: another value is wrapped, and marked as wrapped. */
function readData(data: JsonMembers, metadata: JsonMembers | undefined): Content {
  const { [WRAPPED]: wrapped, [MEDIA_TYPE]: mediaType, ...others } = metadata ?? {}
  const isWrapped = wrapped === true && Object.hasOwn(data, 'value')
  const isTyped = typeof mediaType === 'string'
  const kept = {
    ...others,
    ...wrapped !== undefined && !isWrapped && { [WRAPPED]: wrapped },
    ...mediaType !== undefined && !isTyped && { [MEDIA_TYPE]: mediaType },
  }
  return blockFor({ kind: 'data', value: isWrapped ? data.value : data }, {
    name: undefined, mediaType: isTyped ? mediaType : undefined,
    metadata: Object.keys(kept).length === 0 ? undefined : kept,
  })
}

/** Of a text and a value, name and type are metadata. */
function writePart(part: WirePart): JsonMembers {
  const { kind, value, name, mediaType: mimeType, metadata } = part
  switch (kind) {
    case 'text': return { kind, text: value, metadata: metadataWith(part) }
    case 'data': {
      const isWrapped = !isRecord(value)
      const known = metadataWith(part)
      return isWrapped ? { kind, data: { value }, metadata: { ...known, [WRAPPED]: true } }
        : { kind, data: value, metadata: known }
    }
    case 'uri': return { kind: 'file', file: { uri: value, name, mimeType }, metadata }
    case 'bytes': return { kind: 'file', file: { bytes: value, name, mimeType }, metadata }
    case 'document': {
      const bytes = Buffer.from(value).toString('base64')
      return { kind: 'file', file: { bytes, name, mimeType: mimeType ?? 'text/plain' }, metadata }
    }
  }
}

const formatters = formattersOf(v03Wire)

export const v03: Dialect = {
  name: '0.3',
  version: '0.3',
  operations: operationsOf({
    'send': 'message/send', 'stream': 'message/stream',
    // It was never a method of this binding. Its params are those of 1.0, with the states of 0.3.
    'get': 'tasks/get', 'list': 'tasks/list', 'cancel': 'tasks/cancel', 'subscribe': 'tasks/resubscribe',
    'push-create': `${METHODS}/set`, 'push-get': `${METHODS}/get`, 'push-list': `${METHODS}/list`,
    'push-delete': `${METHODS}/delete`, 'extended-card': 'agent/getAuthenticatedExtendedCard',
  }, decodersOf(form), formatters),
  hasTasks: true,
  streamsErrors: true,
  undeclaredCard: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  ...oldErrors,
  formatPush: (_event, task) => formatters.get(task),
  pushAt: { create: `params.${CONFIG}`, send: `params.configuration.${CONFIG}` },
  pushType: JSON_TYPE,
  pushesTasks: true,
}
