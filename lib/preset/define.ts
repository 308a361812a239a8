/** How authors define what is served, in our form or in that of any framework that is known. */
import { AGENT_EXAMPLE, agentFrom, GROUP_EXAMPLE, groupFrom } from '../kernel/define/agent.ts'
import { TOOL_EXAMPLE, toolFrom } from '../kernel/define/tool.ts'
import { rejectMore } from '../kernel/define/validate.ts'
import { frameworks } from '../adapters/frameworks.ts'
import type { ForeignTool } from '../kernel/define/adapters.ts'
import type { Agent, AgentLike, Group, GroupDefinition } from '../kernel/define/agent.ts'
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
