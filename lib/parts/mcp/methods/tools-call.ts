/** `tools/call`: finds the tool, and answers with its result, with questions, or as an extension does. */
import { warnOfData } from '../../../floors/answers/warnings.ts'
import { callTool } from '../../../kernel/run/call-tool.ts'
import { isRecord, text } from '../../../kernel/define/content.ts'
import { usageMeta } from '../../../kernel/define/event.ts'
import { asFault, Fault, publicMessage } from '../../../kernel/define/fault.ts'
import { isThenable } from '../../../kernel/util/thenable.ts'
import { quote } from '../../../kernel/wire/json.ts'
import { openCall } from '../request/call-channel.ts'
import { nameParam } from '../request/request.ts'
import { toolResult } from '../protocol/shape.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { FaultKind } from '../../../kernel/define/fault.ts'
import type { LiveCall } from '../../../kernel/define/live-call.ts'
import type { Tool, ToolResult } from '../../../kernel/define/tool.ts'
import type { McpFacts, McpRequest } from '../request/request.ts'
import type { McpResult, ToolCallRunner } from './extension.ts'

/** Faults that no model can mend are errors of the protocol; all others a model must be able to read. */
const protocolErrors: ReadonlySet<FaultKind> = new Set(['unauthenticated', 'forbidden', 'busy', 'cancelled'])

export function callToolMethod(runners: readonly ToolCallRunner[], request: McpRequest): McpResult {
  const { mcp, params: { name, arguments: args = {} } } = request
  const tool = mcp.tools.named(name)
  if (tool === undefined) throw new Fault('invalid', `Unknown tool: ${nameParam(request, 'name')}`)
  if (!isRecord(args)) throw new Fault('invalid', 'params.arguments must be an object')
  for (const runner of runners) if (runner.takes(request, tool)) return runner.run(request, tool, args)
  return run(request, tool, args, openCall(request, subjectOf(tool, args)), encodeToolResult)
}

/** What a call of a tool in rounds is bound to. */
export function subjectOf(tool: Tool, args: unknown): readonly unknown[] {
  return ['tools/call', tool.name, args]
}

/** Runs a tool; its failure is a result too, where it is no error of the protocol. */
export function runCalledTool(
  facts: McpFacts, tool: Tool, args: unknown, call: LiveCall,
): MaybePromise<ToolResult> {
  return run(facts, tool, args, call, asItIs)
}

/** A result as JSON text. One that is no JSON is a failure of the tool. */
export function encodeToolResult(facts: McpFacts, tool: Tool, result: ToolResult): string {
  const lone = loneText(result)
  if (lone !== undefined) {
    const { mcp, peer: { revision } } = facts
    const head = revision.stamps ? mcp.madeFor(revision).head : '{'
    return `${head}"content":[{"type":"text","text":${quote(lone)}}]}`
  }
  const { mcp: { service: { log } }, peer: { revision } } = facts
  try {
    if (revision.structured === 'never') {
      const { content, structuredContent: data } = result
      warnOfData(log, tool, { content, data }, 'MCP before 2025-06-18', facts.origin.requestId)
    }
    return facts.encode(toolResult(result, facts.peer.revision, tool))
  } catch (error) {
    return facts.encode(toolResult(failureOf(facts, tool, error, false), facts.peer.revision, tool))
  }
}

/** The text of a result that is nothing but a plain text, as that of most tools is. */
function loneText({ content, structuredContent, isError, _meta }: ToolResult): string | undefined {
  const block = content[0]
  if (content.length !== 1 || block?.type !== 'text' || isError === true) return undefined
  if (structuredContent !== undefined || _meta !== undefined) return undefined
  return Object.keys(block).length === 2 ? block.text : undefined
}

type Making<T> = (facts: McpFacts, tool: Tool, result: ToolResult) => T

const asItIs: Making<ToolResult> = (_facts, _tool, result) => result

/** Runs a tool, and makes `as` of its result, or of its failure as a result. */
function run<T>(
  facts: McpFacts, tool: Tool, args: unknown, call: LiveCall, as: Making<T>,
): MaybePromise<T> {
  const { mcp, peer } = facts
  let result
  try {
    result = callTool(mcp.service, tool, args, call, peer.session?.workload)
  } catch (error) {
    result = failureOf(facts, tool, error, true)
  }
  if (!isThenable(result)) return as(facts, tool, withUsage(call, result))
  const done = (later: ToolResult): T => as(facts, tool, withUsage(call, later))
  return result.then(done, (error) => done(failureOf(facts, tool, error, error !== call.reason)))
}

function withUsage({ usage }: LiveCall, result: ToolResult): ToolResult {
  return usage === undefined ? result : { ...result, _meta: { ...usageMeta(usage), ...result._meta } }
}

/** A failure as a result. Throws what is an error of the protocol. `isOwn`: the tool threw it. */
function failureOf(facts: McpFacts, tool: Tool, error: unknown, isOwn: boolean): ToolResult {
  const fault = asFault(error)
  const { kind } = fault
  if (kind === 'too-large' && !isOwn) throw fault
  const isClientLack = kind === 'unsupported' && isRecord(fault.detail) && 'ability' in fault.detail
  if (protocolErrors.has(kind) || (isClientLack && facts.peer.revision.ask === 'round')) throw fault
  const message = publicMessage(fault, facts.origin.requestId, facts.mcp.service.exposeErrors)
  const isOverdue = kind === 'timeout' && !isOwn
  return { content: [text(isOverdue ? `${tool.name}: ${message}` : message)], isError: true }
}
