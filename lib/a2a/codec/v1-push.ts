/**
 * Where webhooks go, as A2A 1.0 spells it: one flat object, in requests and in results. Both ways.
 * Spec: A2A 1.0 §3.1.7 to §3.1.10, §4.3.
 */
import {
  isUnset, needName, needObject, readInteger, readName, readText, wrongField,
} from '../model/fields.ts'
import type {
  JsonMembers, PushConfig, PushCreateRequest, PushListRequest, PushPage, PushRequest,
} from '../model/model.ts'

const AT = 'params'
const MAX_PAGE_SIZE = 2 ** 31 - 1
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
  const pageSize = readInteger(params.pageSize ?? params.page_size, AT, 'pageSize', 0, MAX_PAGE_SIZE)
  return {
    tenant: readName(params.tenant, AT, 'tenant', maxNameBytes),
    taskId: needName(params.taskId ?? params.task_id, AT, 'taskId', maxNameBytes),
    // The member has no presence of its own: 0 is what a client that sets nothing sends.
    pageSize: pageSize === 0 ? undefined : pageSize,
    pageToken: readText(params.pageToken ?? params.page_token, AT, 'pageToken') ?? '',
  }
}
