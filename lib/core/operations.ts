/**
 * The verbs: neutral input and a call in, neutral output or a `Fault` out. The only code that runs, and
 * waits for, what authors wrote.
 *
 * An author's plain value is answered without a promise; only a promise gets a timer and counts as
 * running. Whatever is thrown leaves here as a `Fault`, logged once.
 */
import { summarize } from '../schema/compile.ts'
import { answerOf, isThenable } from './answer.ts'
import { text } from './content.ts'
import { asFault, Fault } from './fault.ts'
import { runGroup } from './group.ts'
import { requireScopes } from './principal.ts'
import { toolResultOf } from './tool.ts'
import type { Checked } from '../schema/standard.ts'
import type { Agent, Group } from './agent.ts'
import type { Answer, Emit } from './answer.ts'
import type { LiveCall } from './call.ts'
import type { Content } from './content.ts'
import type { Service } from './service.ts'
import type { Tool, ToolResult } from './tool.ts'
import type { Workload } from './workload.ts'

/** One agent's part in the answer of a group. */
export interface Share { readonly agent: string; readonly response?: string; readonly error?: string }

/** An answer, with each agent's share where a group gave it. */
export interface Outcome extends Answer { readonly results?: readonly Share[] }

/** Runs an agent or a group. `emit` gets each piece as it comes. */
export function answer(
  service: Service, who: Agent | Group, prompt: string, call: LiveCall, emit?: Emit,
): Outcome | Promise<Outcome> {
  return perform(service, call, timeoutOf(service, who), () => {
    const outcome = speak(service, who, prompt, call, emit)
    if (outcome instanceof Promise) return outcome.then((later) => withLeft(later, call))
    return withLeft(outcome, call)
  })
}

/** What a handler left as artifacts, in a protocol that has none, stands behind what it said. */
function withLeft<T extends { readonly content: readonly Content[] }>(output: T, { left }: LiveCall): T {
  return left === undefined ? output : { ...output, content: [...output.content, ...left] }
}

/** What an agent or a group says, for those who run it within rules of their own. */
export function speak(
  service: Service, who: Agent | Group, prompt: string, call: LiveCall, emit?: Emit,
): Outcome | Promise<Outcome> {
  if (who.kind === 'group') return runGroup(service, who, prompt, call, emit)
  return answerOf(who.run(prompt, call), call, service.limits.maxResultBytes, emit)
}

/** How long one run may take, in milliseconds: a group has what its agents may take together. */
export function timeoutOf(service: Service, who: Agent | Group): number {
  const { agentTimeoutMs } = service.limits
  if (who.timeoutMs !== undefined || who.kind === 'agent') return who.timeoutMs ?? agentTimeoutMs
  const each = who.agents.map((agent) => agent.timeoutMs ?? agentTimeoutMs)
  return who.mode === 'parallel' ? Math.max(...each) : each.reduce((sum, ms) => sum + ms, 0)
}

/**
 * Calls a tool with arguments that are checked here. Bad arguments and a failing tool are results with
 * `isError`, because a model can mend them; a `Fault` is thrown for what is not the tool's own doing.
 */
export function callTool(service: Service, tool: Tool, args: unknown, call: LiveCall, session?: Workload):
  ToolResult | Promise<ToolResult> {
  requireScopes(call.principal, tool.scopes)
  return perform(service, call, tool.timeoutMs ?? service.limits.toolTimeoutMs, () => {
    const checked = tool.input.check(args)
    if (checked instanceof Promise) return checked.then((later) => run(tool, later, call))
    return run(tool, checked, call)
  }, session)
}

function run(tool: Tool, checked: Checked, call: LiveCall): ToolResult | Promise<ToolResult> {
  if (checked.errors.length > 0) return badArguments(tool, checked)
  const output = tool.run(checked.value, call)
  return isThenable(output)
    ? Promise.resolve(output).then((settled) => conforming(tool, withLeft(toolResultOf(settled), call)))
    : conforming(tool, withLeft(toolResultOf(output), call))
}

function badArguments(tool: Tool, checked: Checked): ToolResult {
  return { content: [text(`Invalid arguments for ${tool.name}: ${summarize(checked)}`)], isError: true }
}

/** A result that breaks the tool's own promise is the tool's defect, never the client's to find. */
function conforming(tool: Tool, result: ToolResult): ToolResult | Promise<ToolResult> {
  if (tool.output === undefined || result.isError === true) return result
  const verdict = (checked: Checked): ToolResult => {
    if (checked.errors.length === 0) return result
    const why = summarize(checked)
    throw new Error(`The result of ${tool.name} does not match its outputSchema: ${why}`)
  }
  const checked = tool.output.check(result.structuredContent)
  return checked instanceof Promise ? checked.then(verdict) : verdict(checked)
}

/**
 * Runs an author's code under the house's rules: a place in the workload, a time limit, an end. What
 * comes out late, after the limit or a cancellation, is dropped.
 */
export function perform<T>(
  service: Service, call: LiveCall, timeoutMs: number, work: () => T | Promise<T>, session?: Workload,
): T | Promise<T> {
  if (call.reason !== undefined) throw call.reason
  service.workload.check()
  session?.check()
  let output
  try {
    output = work()
  } catch (error) {
    call.over = true
    throw failure(service, call, error)
  }
  if (!(output instanceof Promise)) {
    call.over = true
    return output
  }
  return hold(service, call, timeoutMs, output, session)
}

function hold<T>(
  service: Service, call: LiveCall, timeoutMs: number, output: Promise<T>, session: Workload | undefined,
): Promise<T> {
  service.workload.enter(call)
  session?.enter(call)
  return new Promise((resolve, reject) => {
    call.clock.limit(timeoutMs, () => call.cancel(new Fault('timeout', `No result within ${timeoutMs} ms`)))
    call.onCancel((reason) => {
      call.clock.clear()
      service.workload.desert()
      reject(reason)
    })
    const settle = (): boolean => {
      call.settled = true
      service.workload.leave(call)
      session?.leave(call)
      call.clock.clear()
      const inTime = !call.over
      call.over = true
      return inTime
    }
    output.then((value) => {
      if (settle()) resolve(value)
    }, (error: unknown) => {
      if (settle()) reject(failure(service, call, error))
      else service.log('debug', 'A handler failed after its run was over', { request: call.requestId })
    })
  })
}

/** What was thrown, as a `Fault`, logged with its cause if it is not one the author meant for the caller. */
function failure(service: Service, call: LiveCall, thrown: unknown): Fault {
  const fault = asFault(thrown)
  if (fault.kind !== 'internal') return fault
  service.log('error', 'A handler failed', { request: call.requestId, cause: fault.cause ?? fault })
  return fault
}
