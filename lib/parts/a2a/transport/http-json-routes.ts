/**
 * The routes of the HTTP+JSON binding as a table. Names in a path are members of params.
 * Spec: A2A 1.0 §11.3, §5.3.
 */
import type { OperationName } from '../model/model.ts'

/** How a member of params is written in a query. */
export type QueryType = 'string' | 'integer' | 'boolean'

export interface Route {
  readonly path: string
  readonly methods: readonly string[]
  readonly operation: OperationName
  /** `object`: required. `optional`: none is an empty object. Left out: none is read. */
  readonly body?: 'object' | 'optional'
  /** Members that may stand in the query, besides the tenant. */
  readonly query: Readonly<Record<string, QueryType>>
  /** In OpenAPI. */
  readonly summary: string
}

const TASK = '/tasks/{id}'
const CONFIGS = '/tasks/{taskId}/pushNotificationConfigs'
const CONFIG = `${CONFIGS}/{id}`

function route(
  methods: string, path: string, operation: OperationName, summary: string,
  more: Partial<Pick<Route, 'body' | 'query'>> = {},
): Route {
  return { path, methods: methods.split(' '), operation, query: {}, summary, ...more }
}

export const routes: readonly Route[] = [
  route('POST', '/message:send', 'send', 'Send a message', { body: 'object' }),
  route('POST', '/message:stream', 'stream', 'Send a message, and read what happens', { body: 'object' }),
  route('GET', '/tasks', 'list', 'List the tasks', {
    query: {
      contextId: 'string', status: 'string', pageSize: 'integer', pageToken: 'string',
      historyLength: 'integer', statusTimestampAfter: 'string', includeArtifacts: 'boolean',
    },
  }),
  route('GET', TASK, 'get', 'Read a task', { query: { historyLength: 'integer' } }),
  route('POST', `${TASK}:cancel`, 'cancel', 'Cancel a task', { body: 'optional' }),
  // The specification's text says POST, its definition says GET.
  route('POST GET', `${TASK}:subscribe`, 'subscribe', 'Read what happens to a task'),
  route('POST', CONFIGS, 'push-create', 'Register a webhook for a task', { body: 'object' }),
  route('GET', CONFIGS, 'push-list', 'List the webhooks of a task', {
    query: { pageSize: 'integer', pageToken: 'string' },
  }),
  route('GET', CONFIG, 'push-get', 'Read where a webhook goes'),
  route('DELETE', CONFIG, 'push-delete', 'Remove a webhook'),
  route('GET', '/extendedAgentCard', 'extended-card', 'The extended agent card'),
]
