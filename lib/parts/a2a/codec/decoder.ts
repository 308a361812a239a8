/**
 * Params of A2A as requests, for 0.3 and 1.0. What both have in common is read here; the rest is a version's
 * form. Members are read by their names of JSON and of the protocol's definition (`task_id`), `null` is
 * unset, and unknown members are ignored.
 * Spec: A2A 1.0 §3.1, §3.2, §4.1 and §4.3, A2A 0.3 §7.
 */
import {
  isUnset, needList, needMembers, needName, readBoolean, readChoice, readInteger, readMembers, readName,
  readNames, readTimestamp,
} from '../model/fields.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { TaskState } from '../../../floors/tasks/task.ts'
import type { Decoders } from '../model/dialect.ts'
import type { JsonMembers, ListRequest, Message, PushConfig } from '../model/model.ts'

/** Where members of params are, for the sentence about a wrong one. */
const AT = 'params'
/** Largest `int32` of the protocol's definition. */
const MAX_INTEGER: number = 2 ** 31 - 1
/** Most tasks on one page. A2A 1.0 §3.1.4. */
export const MAX_PAGE_SIZE = 100
const NONE: JsonMembers = Object.freeze({})

type TaskMember = 'historyLength' | 'metadata'

/** How one version writes what both ask. `at` is the path of the object, `maxNameBytes` bounds its ids. */
export interface ParamsForm {
  /** Whether a request may be for a tenant. */
  readonly hasTenants: boolean
  /** The states that a list can be of, by each way to write them. */
  readonly states: ReadonlyMap<unknown, TaskState | 'any'>
  /** What a list has where its client leaves that open. */
  readonly listDefaults: Pick<ListRequest, 'pageSize' | 'withArtifacts'>
  /** What requests about a task have besides its id. */
  readonly taskMembers: Readonly<Record<'get' | 'cancel' | 'subscribe', readonly TaskMember[]>>
  /** The member of a configuration that has a webhook. */
  readonly push: string
  /** Whether params that register one have it in the same member, and are not it themselves. */
  readonly isPushNested: boolean
  /** Whether one is always read by its own id; else without an id the task's first one is meant. */
  readonly isPushNamed: boolean
  /** The members of a request about a webhook that have its task and its own id. */
  readonly pushIds: { readonly task: string; readonly config: string }
  /** Who has written a message: a client alone may. */
  readRole(message: JsonMembers, at: string): Message['role']
  readPart(part: JsonMembers, at: string): Content
  /** A webhook. `taskId`: the task that it is registered for. */
  readPush(config: JsonMembers, at: string, maxNameBytes: number, taskId?: string): PushConfig
  /** Whether the answer to a message waits for the end of its task. */
  isBlocking(configuration: JsonMembers, at: string): boolean
}

/** Reads the params of one version. */
export function decodersOf(form: ParamsForm): Decoders {
  const tenant = (params: JsonMembers, maxNameBytes: number): string | undefined => (
    form.hasTenants ? readName(params.tenant, AT, 'tenant', maxNameBytes) : undefined
  )
  const readPart = (part: unknown, at: string): Content => form.readPart(needMembers(part, at), at)
  const readMessage = (value: unknown, at: string, maxNameBytes: number): Message => {
    const message = needMembers(value, at)
    return {
      role: form.readRole(message, at),
      parts: needList(message.parts, at, 'parts', readPart),
      id: needName(message.messageId, at, 'messageId', maxNameBytes),
      contextId: readName(message.contextId, at, 'contextId', maxNameBytes),
      taskId: readName(message.taskId, at, 'taskId', maxNameBytes),
      metadata: readMembers(message.metadata, at, 'metadata'),
      extensions: readNames(message.extensions, at, 'extensions'),
      referenceTaskIds: readNames(message.referenceTaskIds, at, 'referenceTaskIds', maxNameBytes),
    }
  }
  const readConfig = (value: unknown, at: string, maxNameBytes: number, taskId?: string): PushConfig => (
    form.readPush(needMembers(value, at), at, maxNameBytes, taskId)
  )
  const send: Decoders['send'] = (value, maxNameBytes) => {
    const params = needMembers(value, AT)
    const at = 'params.configuration'
    const configuration = isUnset(params.configuration) ? NONE : needMembers(params.configuration, at)
    const push = configuration[form.push]
    return {
      tenant: tenant(params, maxNameBytes),
      message: readMessage(params.message, 'params.message', maxNameBytes),
      outputModes: readNames(configuration.acceptedOutputModes, at, 'acceptedOutputModes'),
      historyLength: readHistoryLength(configuration, at),
      isBlocking: form.isBlocking(configuration, at),
      push: isUnset(push) ? undefined : readConfig(push, `${at}.${form.push}`, maxNameBytes),
      metadata: readMembers(params.metadata, AT, 'metadata'),
    }
  }
  const task = (more: readonly TaskMember[]): Decoders['get'] => (value, maxNameBytes) => {
    const params = needMembers(value, AT)
    return {
      tenant: tenant(params, maxNameBytes),
      id: needName(params.id, AT, 'id', maxNameBytes),
      historyLength: more.includes('historyLength') ? readHistoryLength(params, AT) : undefined,
      metadata: more.includes('metadata') ? readMembers(params.metadata, AT, 'metadata') : undefined,
    }
  }
  const { task: taskId, config: configId } = form.pushIds
  const push = (isNeeded: boolean): Decoders['push-get'] => (value, maxNameBytes) => {
    const params = needMembers(value, AT)
    const read = isNeeded ? needName : readName
    return {
      tenant: tenant(params, maxNameBytes),
      taskId: needName(params[taskId], AT, taskId, maxNameBytes),
      id: read(params[configId], AT, configId, maxNameBytes),
    }
  }
  return {
    send,
    'stream': send,
    'get': task(form.taskMembers.get),
    'cancel': task(form.taskMembers.cancel),
    'subscribe': task(form.taskMembers.subscribe),
    list(value, maxNameBytes) {
      const params = isUnset(value) ? NONE : needMembers(value, AT)
      const state = readChoice(params.status, AT, 'status', form.states)
      const { pageSize, withArtifacts } = form.listDefaults
      return {
        tenant: tenant(params, maxNameBytes),
        contextId: readName(params.contextId, AT, 'contextId', maxNameBytes),
        state: state === 'any' ? undefined : state,
        pageSize: readInteger(params.pageSize, AT, 'pageSize', 1, MAX_PAGE_SIZE) ?? pageSize,
        pageToken: readName(params.pageToken, AT, 'pageToken') ?? '',
        historyLength: readHistoryLength(params, AT),
        changedSince: readTimestamp(params.statusTimestampAfter, AT, 'statusTimestampAfter'),
        withArtifacts: readBoolean(params.includeArtifacts, AT, 'includeArtifacts') ?? withArtifacts,
      }
    },
    'push-create'(value, maxNameBytes) {
      const params = needMembers(value, AT)
      const ofTask = needName(params.taskId, AT, 'taskId', maxNameBytes)
      const config = !form.isPushNested ? readConfig(params, AT, maxNameBytes, ofTask)
        : readConfig(params[form.push], `${AT}.${form.push}`, maxNameBytes, ofTask)
      return { tenant: tenant(params, maxNameBytes), config: { ...config, taskId: ofTask } }
    },
    'push-get': push(form.isPushNamed),
    'push-list'(value, maxNameBytes) {
      const params = needMembers(value, AT)
      // Pages came with tenants. The member has no presence of its own: a client that sets nothing sends 0.
      const page = form.hasTenants ? params : NONE
      return {
        tenant: tenant(params, maxNameBytes),
        taskId: needName(params[taskId], AT, taskId, maxNameBytes),
        pageSize: readInteger(page.pageSize, AT, 'pageSize', 0, MAX_INTEGER) || undefined,
        pageToken: readName(page.pageToken, AT, 'pageToken') ?? '',
      }
    },
    'push-delete': push(true),
    'extended-card'(value, maxNameBytes) {
      const isBare = !form.hasTenants || isUnset(value)
      return { tenant: isBare ? undefined : tenant(needMembers(value, AT), maxNameBytes) }
    },
  }
}

/** How many messages of the history are wanted. */
function readHistoryLength({ historyLength }: JsonMembers, at: string): number | undefined {
  return readInteger(historyLength, at, 'historyLength', 0, MAX_INTEGER)
}
