/**
 * Calling a tool: its scopes, its arguments against its schema, its code, its result against its promise.
 * Neutral input and a call in, a neutral result or a `Fault` out.
 */
import { summarize } from '../schema/compile.ts'
import { text } from './content.ts'
import { requireScopes } from './principal.ts'
import { runHandler } from './run-handler.ts'
import { isThenable } from './thenable.ts'
import { toolResultOf } from './tool.ts'
import { outputOfPieces } from './tool-pieces.ts'
import type { SchemaError } from '../schema/compile.ts'
import type { Checked } from '../schema/standard.ts'
import type { LiveCall } from './live-call.ts'
import type { Service } from './service.ts'
import type { Tool, ToolResult } from './tool.ts'
import type { Workload } from './workload.ts'

/**
 * Calls a tool with arguments that are checked here. Bad arguments and a failing tool are results with
 * `isError`, because a model can mend them; a `Fault` is thrown for what is not the tool's own doing.
 */
export function callTool(service: Service, tool: Tool, args: unknown, call: LiveCall, session?: Workload):
  ToolResult | Promise<ToolResult> {
  requireScopes(call.principal, tool.scopes)
  return runHandler(service, call, tool, tool.timeoutMs ?? service.limits.toolTimeoutMs, () => {
    const checked = tool.input.check(args)
    const { maxResultBytes } = service.limits
    if (checked instanceof Promise) return checked.then((later) => run(tool, later, call, maxResultBytes))
    return run(tool, checked, call, maxResultBytes)
  }, session)
}

function run(
  tool: Tool, { value, errors }: Checked, call: LiveCall, maxBytes: number,
): ToolResult | Promise<ToolResult> {
  if (errors.length > 0) return badArguments(tool, errors)
  return settled(tool, tool.run(value, call), call, maxBytes)
}

/** The result of what a tool returned, now, later or piece by piece. */
function settled(
  tool: Tool, output: unknown, call: LiveCall, maxBytes: number,
): ToolResult | Promise<ToolResult> {
  if (isThenable(output)) {
    return Promise.resolve(output).then((later) => settled(tool, later, call, maxBytes))
  }
  const pieces = outputOfPieces(output, call, maxBytes)
  if (pieces !== undefined) return pieces.then((whole) => settled(tool, whole, call, maxBytes))
  return conforming(tool, withArtifacts(toolResultOf(output), call))
}

function badArguments(tool: Tool, errors: readonly SchemaError[]): ToolResult {
  return { content: [text(`Invalid arguments for ${tool.name}: ${summarize(errors)}`)], isError: true }
}

/** A result that breaks the tool's own promise is the tool's defect, never the client's to find. */
function conforming(tool: Tool, result: ToolResult): ToolResult | Promise<ToolResult> {
  if (tool.output === undefined || result.isError === true) return result
  const verdict = (checked: Checked): ToolResult => {
    if (checked.errors.length === 0) return result
    const why = summarize(checked.errors)
    throw new Error(`The result of ${tool.name} does not match its outputSchema: ${why}`)
  }
  const checked = tool.output.check(result.structuredContent)
  return checked instanceof Promise ? checked.then(verdict) : verdict(checked)
}

/** What a handler gave as artifacts stands behind what it returned, where the channel could not carry them. */
function withArtifacts(result: ToolResult, call: LiveCall): ToolResult {
  const artifacts = call.takeArtifacts()
  if (artifacts.length === 0) return result
  return { ...result, content: [...result.content, ...artifacts.flatMap(({ parts }) => parts)] }
}
