/** Calls a tool: checks its scopes and arguments, runs its code, checks the result by its output schema. */
import { summarize } from '../schema/compile.ts'
import { isThenable } from '../util/thenable.ts'
import { aroundOf, runAround } from '../define/around.ts'
import { text } from '../define/content.ts'
import { requireScopes } from '../define/principal.ts'
import { runHandler } from './run-handler.ts'
import { conforming, outputOfPieces, toolResultOf } from '../define/tool-result.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { Checked } from '../schema/standard.ts'
import type { KernelLimits } from '../define/limits.ts'
import type { LiveCall } from '../define/live-call.ts'
import type { Service } from './service.ts'
import type { Tool, ToolResult } from '../define/tool.ts'
import type { Workload } from './workload.ts'

/**
 * Calls a tool with arguments that are checked here. Bad arguments and a failing tool are results with
 * `isError`, because a model can mend them; a `Fault` is thrown for what is not the tool's own doing.
 */
export function callTool(
  service: Service, tool: Tool, args: unknown, call: LiveCall, session?: Workload,
): MaybePromise<ToolResult> {
  if (tool.scopes.length > 0) requireScopes(call.origin, tool.scopes)
  const { limits } = service
  const timeoutMs = tool.timeoutMs ?? limits.toolTimeoutMs
  return runHandler(service, call, tool, timeoutMs, runTool, { tool, args, call, limits }, session)
}

export interface CalledTool {
  readonly tool: Tool
  readonly args: unknown
  readonly call: LiveCall
  readonly limits: KernelLimits
}

/** The same without scopes, workload and time limit. */
export function runTool(one: CalledTool): MaybePromise<ToolResult> {
  const checked = one.tool.input.check(one.args, one.limits.maxCheckSteps)
  return isThenable(checked) ? checked.then((later) => run(one, later)) : run(one, checked)
}

function run(one: CalledTool, checked: Checked): MaybePromise<ToolResult> {
  const { tool, call } = one
  if (checked.errors.length > 0) return badArguments(tool, checked)
  const around = aroundOf(call.host.around, tool)
  if (around === undefined) return resultOf(one, tool.run(checked.value, call))
  return runAround(around, { kind: 'tool', name: tool.name, input: checked.value, call },
    () => resultOf(one, tool.run(checked.value, call)), (output) => resultOf(one, output))
}

/** The normal form of what a tool returned, now, later or piece by piece, with its artifacts at the end. */
function resultOf(one: CalledTool, output: unknown): MaybePromise<ToolResult> {
  const { tool, call, limits } = one
  const later = isThenable(output) ? output : outputOfPieces(output, call, limits.maxResultBytes)
  if (later !== undefined) return Promise.resolve(later).then(resultOf.bind(undefined, one))
  let result = toolResultOf(output)
  if (call.artifacts !== undefined) {
    const parts = call.takeArtifacts().flatMap((artifact) => artifact.parts)
    result = { ...result, content: [...result.content, ...parts] }
  }
  if (tool.output === undefined || result.isError === true) return result
  return conforming(tool, tool.output, result, limits.maxCheckSteps)
}

function badArguments(tool: Tool, checked: Checked): ToolResult {
  const content = text(`Invalid arguments for ${tool.name}: ${summarize(checked)}`)
  return { content: [content], isError: true, invalid: checked }
}
