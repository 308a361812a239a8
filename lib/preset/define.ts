/** How authors define what is served, in our form or in that of any framework that is known. */
import {
  adaptedAgent, AGENT_EXAMPLE, agentChecks, agentFrom, GROUP_EXAMPLE, groupFrom,
} from '../kernel/define/agent.ts'
import { isRecord } from '../kernel/define/content.ts'
import { TOOL_EXAMPLE, toolFrom } from '../kernel/define/tool.ts'
import { rejectMore, rejectPromise, rejectUnknown, show } from '../kernel/define/validate.ts'
import { frameworks } from '../adapters/frameworks.ts'
import type { ForeignAgent, ForeignTool } from '../kernel/define/adapters.ts'
import type { AdaptOptions, Agent, AgentLike, Group, GroupDefinition } from '../kernel/define/agent.ts'
import type { Tool, ToolDefinition, ToolOutput } from '../kernel/define/tool.ts'

/**
 * Checks and freezes an agent. Throws `TypeError`, also for a member that is not known; an object of a class
 * may have members of its own, which are its state.
 */
export function defineAgent(definition: AgentLike): Agent {
  rejectMore('defineAgent', arguments, `write defineAgent(${AGENT_EXAMPLE})`)
  return agentFrom(definition, frameworks)
}

/** Checks and freezes a group. Throws `TypeError` for a mistake in it. */
export function defineGroup(definition: GroupDefinition | Group): Group {
  rejectMore('defineGroup', arguments, `write defineGroup(${GROUP_EXAMPLE})`)
  return groupFrom(definition, frameworks)
}

declare const unlike: unique symbol
/** What no function is. A compiler still infers what one returns, as exactly as where it is one. */
type Unlike<R> = ((...args: never) => R) & { readonly [unlike]: never }

/** As below. It stands first, because a compiler explains mistakes by the last. */
export function defineTool<const R>(tool: ForeignTool & { readonly run?: Unlike<R> }): Tool
/**
 * Checks and freezes a tool, one of another framework too. Throws `TypeError`, also for a member that is not
 * known; an object of a class may have members of its own, which are its state. A copy of a tool with other
 * members, `{ ...tool, name: 'other' }`, keeps its schemas.
 */
export function defineTool<const S, V, const O, const R extends ToolOutput<O> = ToolOutput<O>>(
  definition: ToolDefinition<S, V, O, R>,
): Tool
export function defineTool(definition: ToolDefinition | ForeignTool): Tool {
  rejectMore('defineTool', arguments, `write defineTool(${TOOL_EXAMPLE})`)
  return toolFrom(definition, frameworks)
}

/**
 * Makes an agent of one of another framework, with another name, description or limit. Where nothing is to be
 * changed, the agent may be given as it is. Throws `TypeError` for what is no agent of a framework that is
 * known.
 */
export function adapt(agent: ForeignAgent, options: AdaptOptions = {}): Agent {
  rejectMore('adapt', arguments, `write adapt(agent, { name: 'Helper' })`, 2)
  const { run: _run, kind: _kind, ...known } = agentChecks
  rejectUnknown('adapt', options, Object.keys(known))
  const theirs = frameworks.agent(agent)
  if (theirs !== undefined) return adaptedAgent(theirs, options)
  rejectPromise(agent)
  const isOwn = typeof agent === 'function' || (isRecord(agent) && 'run' in agent)
  const remedy = isOwn ? 'it needs none where it has a run of its own: write defineAgent({ name, run })'
    : `write { name: 'Helper', run: (prompt, call) => theirs.generate(prompt, { signal: call.signal }) }`
  throw new TypeError(frameworks.describe(Object(agent) as object)
    ?? `adapt takes an agent of another framework; ${show(agent)} is none that is known; ${remedy}`)
}
