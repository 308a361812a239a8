/** The agents that editors see. */
import { anonymous, allowed } from '../../kernel/define/principal.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Catalog } from '../../kernel/define/catalog.ts'

/** What answers, the root first. */
export function agentsOf(catalog: Catalog): readonly (Agent | Group)[] {
  const { root, groups, agents } = catalog
  return allowed(anonymous, [...new Set([...root === undefined ? [] : [root], ...groups, ...agents])])
}

/** Whether something that answers may read pictures or sounds, by its `inputModes`. */
export function reads(agents: readonly (Agent | Group)[], kind: 'image' | 'audio'): boolean {
  return agents.some((agent) => agent.kind === 'group' ? reads(agent.agents, kind)
    : agent.inputModes?.some((mode) => mode === '*/*' || mode.toLowerCase().startsWith(`${kind}/`)) ?? true)
}
