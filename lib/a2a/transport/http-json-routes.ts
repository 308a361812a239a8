/**
 * The routes of the HTTP+JSON binding as a table: which operation a method and a path are, and what of its
 * params stands in the query and in the body. Names in a path are members of params.
 * Spec: A2A 1.0 §11.3, §5.3.
 */
import type { OperationName } from '../model/model.ts'

/** How a member of params is written in a query. */
export type QueryType = 'string' | 'integer' | 'boolean'

/** One route. */
export interface Route {
  readonly path: string
  readonly methods: readonly string[]
  readonly operation: OperationName
  /** `object`: there must be one. `optional`: none is an empty object. Left out: none is read. */
  readonly body?: 'object' | 'optional'
  /** Members that may stand in the query, besides the tenant. */
  readonly query: Readonly<Record<string, QueryType>>
  /** Of an answer with a result. */
  readonly status: 200 | 201 | 204
  /** What OpenAPI calls it. */
  readonly summary: string
}

interface RouteDefinition extends Pick<Route, 'path' | 'methods' | 'operation' | 'body' | 'summary'> {
  readonly query?: Route['query']
  readonly status?: Route['status']
}

const TASKS = '/tasks'
const TASK = '/tasks/{id}'
const CONFIGS = '/tasks/{taskId}/pushNotificationConfigs'
const CONFIG = `${CONFIGS}/{id}`

const definitions: readonly RouteDefinition[] = [
  {
    path: '/message:send', methods: ['POST'], operation: 'send', body: 'object',
    summary: 'Send a message',
  },
  {
    path: '/message:stream', methods: ['POST'], operation: 'stream', body: 'object',
    summary: 'Send a message, and read what happens',
  },
  {
    path: TASKS, methods: ['GET'], operation: 'list', summary: 'List the tasks',
    query: {
      contextId: 'string', status: 'string', pageSize: 'integer', pageToken: 'string',
      historyLength: 'integer', statusTimestampAfter: 'string', includeArtifacts: 'boolean',
    },
  },
  {
    path: TASK, methods: ['GET'], operation: 'get', summary: 'Read a task',
    query: { historyLength: 'integer' },
  },
  {
    path: `${TASK}:cancel`, methods: ['POST'], operation: 'cancel', body: 'optional',
    summary: 'Cancel a task',
  },
  {
    // The specification's text says POST, its definition says GET.
    path: `${TASK}:subscribe`, methods: ['POST', 'GET'], operation: 'subscribe',
    summary: 'Read what happens to a task',
  },
  {
    path: CONFIGS, methods: ['POST'], operation: 'push-create', body: 'object', status: 201,
    summary: 'Register a webhook for a task',
  },
  {
    path: CONFIGS, methods: ['GET'], operation: 'push-list', summary: 'List the webhooks of a task',
    query: { pageSize: 'integer', pageToken: 'string' },
  },
  { path: CONFIG, methods: ['GET'], operation: 'push-get', summary: 'Read where a webhook goes' },
  {
    path: CONFIG, methods: ['DELETE'], operation: 'push-delete', status: 204,
    summary: 'Remove a webhook',
  },
  {
    path: '/extendedAgentCard', methods: ['GET'], operation: 'extended-card',
    summary: 'The extended agent card',
  },
]

/** All of them. */
export const routes: readonly Route[] = definitions.map(({ query = {}, status = 200, ...one }) => ({
  ...one, query, status,
}))
