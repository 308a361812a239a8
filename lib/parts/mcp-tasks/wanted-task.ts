/** Whether a call becomes a task, by what its client has declared or asked for. Most calls never do. */
import { isRecord } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import type { Tool } from '../../kernel/define/tool.ts'
import type { McpRequest } from '../mcp/request/request.ts'

/** The name of the extension, by which both sides declare it. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/**
 * Whether the client wants the call as a task. Throws `Fault('unsupported')` where the tool never is one, or
 * the client must want one. `isOffered`: the server has the capability.
 */
export function wantsTask({ params }: McpRequest, tool: Tool, isOffered: boolean): boolean {
  // A server without the capability ignores the parameter.
  const isWanted = params['task'] !== undefined && isOffered
  if (isWanted && tool.task === 'forbidden') {
    const why = `The tool ${tool.name} does not run as a task; call it without params.task`
    throw new Fault('unsupported', why)
  }
  if (!isWanted && tool.task === 'required') {
    throw new Fault('unsupported', `The tool ${tool.name} runs only as a task; call it with params.task`)
  }
  return isWanted
}

/**
 * Whether a call of the tool may be answered with a task. Throws `Fault('unsupported')` for a tool that needs
 * one and a client that has not declared the extension.
 */
export function mayBecomeTask(request: McpRequest, tool: Tool): boolean {
  if (tool.task === 'forbidden') return false
  if (tool.task === 'required') requireTasks(request)
  return knowsTasks(request)
}

function knowsTasks({ peer }: McpRequest): boolean {
  return isRecord(peer.abilities.extensions[TASKS])
}

/** Throws `Fault('unsupported')` for a client that has not declared the extension. */
export function requireTasks(request: McpRequest): void {
  if (knowsTasks(request)) return
  throw new Fault('unsupported', `This client has not declared the extension ${TASKS}`, {
    ability: 'tasks', requiredCapabilities: { extensions: { [TASKS]: {} } },
  })
}
