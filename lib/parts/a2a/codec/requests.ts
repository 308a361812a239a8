/**
 * What the requests of A2A 0.3 and 1.0 have in common: members of a message, of a list of tasks, and how much
 * of a history is wanted. Names of JSON (`contextId`) and of the protocol's definition (`context_id`) are
 * read.
 */
import {
  needName, readBoolean, readInteger, readMembers, readName, readNames, readTimestamp,
} from '../model/fields.ts'
import type { TaskState } from '../../../floors/tasks/task.ts'
import type { JsonMembers, ListRequest, Message } from '../model/model.ts'

/** Where members of params are, for the sentence about a wrong one. */
export const AT = 'params'
/** Largest `int32` of the protocol's definition. */
export const MAX_INTEGER: number = 2 ** 31 - 1
/** Most tasks on one page. A2A 1.0 §3.1.4. */
export const MAX_PAGE_SIZE = 100

/** A message whose role and parts are read already. `at` is its path; `maxNameBytes` bounds its ids. */
export function readMessageMembers(
  message: JsonMembers, at: string, maxNameBytes: number, role: Message['role'], parts: Message['parts'],
): Message {
  const taskIds = message['referenceTaskIds'] ?? message['reference_task_ids']
  return {
    id: needName(message['messageId'] ?? message['message_id'], at, 'messageId', maxNameBytes),
    role,
    parts,
    contextId: readName(message['contextId'] ?? message['context_id'], at, 'contextId', maxNameBytes),
    taskId: readName(message['taskId'] ?? message['task_id'], at, 'taskId', maxNameBytes),
    metadata: readMembers(message['metadata'], at, 'metadata'),
    extensions: readNames(message['extensions'], at, 'extensions'),
    referenceTaskIds: readNames(taskIds, at, 'referenceTaskIds', maxNameBytes),
  }
}

/** What a client that leaves a member out asks for. */
type ListDefaults = Pick<ListRequest, 'pageSize' | 'withArtifacts'>

/** The params of a list of tasks, but for what a dialect reads in its own way. */
export function readListRequest(
  params: JsonMembers, maxNameBytes: number, tenant: string | undefined, state: TaskState | undefined,
  defaults: ListDefaults,
): ListRequest {
  const pageSize = params['pageSize'] ?? params['page_size']
  const changedSince = params['statusTimestampAfter'] ?? params['status_timestamp_after']
  const withArtifacts = params['includeArtifacts'] ?? params['include_artifacts']
  return {
    tenant,
    contextId: readName(params['contextId'] ?? params['context_id'], AT, 'contextId', maxNameBytes),
    state,
    pageSize: readInteger(pageSize, AT, 'pageSize', 1, MAX_PAGE_SIZE) ?? defaults.pageSize,
    pageToken: readName(params['pageToken'] ?? params['page_token'], AT, 'pageToken') ?? '',
    historyLength: readHistoryLength(params, AT),
    changedSince: readTimestamp(changedSince, AT, 'statusTimestampAfter'),
    withArtifacts: readBoolean(withArtifacts, AT, 'includeArtifacts') ?? defaults.withArtifacts,
  }
}

/** How many messages of the history are wanted. */
export function readHistoryLength(members: JsonMembers, at: string): number | undefined {
  const value = members['historyLength'] ?? members['history_length']
  return readInteger(value, at, 'historyLength', 0, MAX_INTEGER)
}
