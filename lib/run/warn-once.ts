/**
 * Mistakes of an author that break nothing: each is told once in the log of a server, not with every call.
 */
import { isBareFunction } from '../define/agent.ts'
import type { Agent } from '../define/agent.ts'
import type { Catalog } from '../define/catalog.ts'
import type { Log } from '../define/log.ts'
import type { Tool } from '../define/tool.ts'

/** What was told already, by the log that it was told to. */
const told = new WeakMap<Log, WeakSet<object>>()

/** An agent whose `run` has returned undefined. */
export function warnOfNothing(log: Log, agent: Agent, requestId: string): void {
  warnOnce(log, agent, `The agent '${agent.name}' returned undefined, so its answer is empty; return a text, `
    + 'and await what it is made of', { request: requestId })
}

/** The agents and tools of a catalog, now and later, that nobody can choose with reason. */
export function warnOfSilence(log: Log, catalog: Catalog): void {
  const warn = (): void => {
    for (const tool of catalog.tools) warnOfTool(log, tool)
    for (const agent of catalog.agents) warnOfAgent(log, agent)
  }
  warn()
  catalog.onChange(warn)
}

function warnOfTool(log: Log, tool: Tool): void {
  if (tool.description !== '') return
  warnOnce(log, tool, `The tool '${tool.name}' has no description, so models cannot tell what it is for; `
    + `write description: 'Finds documents.'`)
}

function warnOfAgent(log: Log, agent: Agent): void {
  if (agent.description !== '' || isBareFunction(agent)) return
  warnOnce(log, agent, `The agent '${agent.name}' has no description, so nobody can tell what to ask it; `
    + `write description: 'Answers questions about orders.'`)
}

function warnOnce(
  log: Log, about: object, sentence: string, fields?: Readonly<Record<string, unknown>>,
): void {
  const known = told.get(log) ?? new WeakSet()
  if (known.has(about)) return
  told.set(log, known.add(about))
  log('warning', sentence, fields)
}
