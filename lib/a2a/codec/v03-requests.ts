/**
 * What the methods of A2A 0.2 and 0.3 take, other than those of push notifications: params in, a request in
 * the words of no dialect out, and back. Names in snake_case are read too.
 *
 * Listing tasks was never a method of this binding. Its params here are those of 1.0, with states spelled as
 * in 0.3; its answer is a bare list, so all that fits on one page is on it.
 * Spec: A2A 0.3 §7.1 to §7.4, §7.9, §7.10.
 */
import {
  isUnset, readBoolean, readInteger, readMembers, readName, readText, readTexts, readTimestamp, needName,
  needObject, wrongField,
} from '../model/fields.ts'
import { decodeV03Message, readV03State } from './v03-messages.ts'
import { decodeV03PushConfig } from './v03-push.ts'
import type { CardRequest, JsonMembers, ListRequest, SendRequest, TaskRequest } from '../model/model.ts'

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
