/**
 * `tools/call`: which tool, with what, and whether its call is answered with the result, with a round of
 * questions, or with a task.
 */
import { callTool } from '../core/call-tool.ts'
import { isRecord, text } from '../core/content.ts'
import { asFault, Fault, sentence } from '../core/fault.ts'
import { openCall } from './call-channel.ts'
import { isWrapped, toolResult } from './shape.ts'
import { runAugmented, wantsTask } from './task-augmentation.ts'
import { mayBecomeTask, runTaskable } from './task-extension.ts'
import type { FaultKind } from '../core/fault.ts'
import type { LiveCall } from '../core/live-call.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Tool, ToolResult } from '../core/tool.ts'
import type { McpRequest } from './request.ts'

/** What a tool throws and no model can mend: an error of the protocol. All else a model must be able to read. */
const protocolErrors: ReadonlySet<FaultKind> = new Set(['unauthenticated', 'forbidden', 'busy', 'cancelled'])

/** The method. */
export function callToolMethod(request: McpRequest): MaybePromise<object | string | undefined> {
  const { mcp, params, peer } = request
  const { name, arguments: args = {} } = params
  if (typeof name !== 'string') throw new Fault('invalid', 'params.name must be a string')
  if (!isRecord(args)) throw new Fault('invalid', 'params.arguments must be an object')
  const tool = mcp.tools.find(name)
  if (tool === undefined) throw new Fault('invalid', `Unknown tool: ${name}`)
  const write = (result: ToolResult): string => request.encode(toolResult(result, peer.revision, isWrapped(tool)))
  // What JSON cannot say is the tool's failure like any other.
  const encode = (result: ToolResult): string => {
    try {
      return write(result)
    } catch (error) {
      return write(failureOf(request, tool, error, false))
    }
  }
  const work = (call: LiveCall): MaybePromise<ToolResult> => run(request, tool, args, call)
  const subject = ['tools/call', name, args]
  if (peer.revision.tasks === 'augmentation' && wantsTask(request, tool)) return runAugmented(request, tool, work)
  if (peer.revision.tasks === 'extension' && mayBecomeTask(request, tool)) {
    return runTaskable(request, tool, subject, work, encode)
  }
  const result = work(openCall(request, subject))
  return result instanceof Promise ? result.then(encode) : encode(result)
}

function run(request: McpRequest, tool: Tool, args: unknown, call: LiveCall): MaybePromise<ToolResult> {
  const { mcp, peer } = request
  try {
    const result = callTool(mcp.service, tool, args, call, peer.session?.workload)
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => failureOf(request, tool, error, error !== call.reason))
  } catch (error) {
    return failureOf(request, tool, error, true)
  }
}

/**
 * A failure as a result that a model can read. Throws what is an error of the protocol; `isOwn`: it was the tool
 * that threw it.
 */
function failureOf(request: McpRequest, tool: Tool, error: unknown, isOwn: boolean): ToolResult {
  const fault = asFault(error)
  const { kind } = fault
  if (kind === 'too-large' && !isOwn) throw fault
  const isClientLack = kind === 'unsupported' && isRecord(fault.detail) && 'ability' in fault.detail
  if (protocolErrors.has(kind) || (isClientLack && request.peer.revision.ask === 'round')) throw fault
  const said = sentence(fault, request.origin.requestId, request.mcp.service.exposeErrors)
  return { content: [text(kind === 'timeout' ? `${tool.name}: ${said}` : said)], isError: true }
}
