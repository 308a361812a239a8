/**
 * What the tests of tasks have in common: a server with one tool, and a client that has declared the
 * extension. No test itself.
 */
import assert from 'node:assert/strict'
import { eventually } from '../../fixtures/client.ts'
import { ask, modern, serveMcp } from '../mcp/client.ts'
import type { Call, ServerOptions, TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { ModernOptions } from '../mcp/client.ts'
import type { Json } from '../../fixtures/events.ts'

type Server = TriportServer
type Params = Readonly<Record<string, unknown>>
type Options = Partial<ServerOptions>

export const TASKS = 'io.modelcontextprotocol/tasks'
export const capabilities = { elicitation: {}, sampling: {}, extensions: { [TASKS]: {} } }

/** A form with one name in it. */
export const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const

/** A server with the one tool `work`. */
export function serveWork(
  t: Scope, task: 'forbidden' | 'optional' | 'required', run: (call: Call) => unknown, options: Options = {},
): Server {
  const work = { name: 'work', task, run: (_args: object, call: Call) => run(call) }
  return serveMcp(t, { tools: [work], ...options })
}

/** Calls the tool. */
export function callWork(server: Server, params: object = {}, options?: ModernOptions): Promise<Response> {
  return modern(server, 'tools/call', { name: 'work', ...params }, { capabilities, ...options })
}

/** Calls the tool; the result. */
export async function work(server: Server, params: object = {}, options?: ModernOptions): Promise<Json> {
  return (await ask(server, 'tools/call', { name: 'work', ...params }, { capabilities, ...options }))?.result
}

/** Begins a task; its id. */
export async function started(server: Server, options?: ModernOptions): Promise<string> {
  const result = await work(server, {}, options)
  assert.equal(result.resultType, 'task')
  return result.taskId
}

/** Calls a method of the extension. */
export function send(
  server: Server, method: string, params: Params, options: ModernOptions = {},
): Promise<Response> {
  const { taskId } = params
  const headers = { ...typeof taskId === 'string' && { 'Mcp-Name': taskId }, ...options.headers }
  return modern(server, `tasks/${method}`, params, { capabilities, ...options, headers })
}

/** The same; its answer. */
export async function answer(
  server: Server, method: string, params: Params, options?: ModernOptions,
): Promise<Json> {
  return (await send(server, method, params, options)).json()
}

/** Brings answers to a task's questions; what is said to it. */
export function update(server: Server, taskId: string, inputResponses: object): Promise<Json> {
  return answer(server, 'update', { taskId, inputResponses })
}

/** The task as it stands. */
export async function get(server: Server, taskId: string, options?: ModernOptions): Promise<Json> {
  return (await answer(server, 'get', { taskId }, options)).result
}

/** The task, as soon as it is so. */
export async function reaches(
  server: Server, taskId: string, status: string, isSo: (task: Json) => boolean = () => true,
): Promise<Json> {
  let task: Json
  await eventually(async () => {
    task = await get(server, taskId)
    return task?.status === status && isSo(task)
  }, `the task is ${status}`)
  return task
}
