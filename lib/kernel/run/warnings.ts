/** Mistakes of an author that break nothing, each logged once per server and not with every call. */
import { isAdapted, isBareFunction } from '../define/agent.ts'
import type { Catalog } from '../define/catalog.ts'
import type { Log } from '../define/log.ts'

/** By definition, what was said of it already. */
const warned = new WeakMap<Log, WeakMap<object, Set<string>>>()

/** The agents and tools of a catalog, now and later, that have no description. */
export function warnOfSilence(log: Log, catalog: Catalog): void {
  const warn = (): void => {
    for (const tool of catalog.tools) {
      if (tool.description !== '') continue
      warnOnce(log, tool, 'description', `The tool '${tool.name}' has no description, so models cannot tell `
        + `what it is for; write description: 'Finds documents.'`)
    }
    for (const agent of catalog.agents) {
      if (agent.description !== '' || isBareFunction(agent)) continue
      const remedy = `description: 'Answers questions about orders.'`
      warnOnce(log, agent, 'description', `The agent '${agent.name}' has no description, so nobody can tell `
        + `what to ask it; write ${isAdapted(agent) ? `adapt(agent, { ${remedy} })` : remedy}`)
    }
  }
  warn()
  catalog.onChange(warn)
}

/** Whether this flaw of a definition was said already. */
export function hasWarned(log: Log, about: object, flaw: string): boolean {
  return warned.get(log)?.get(about)?.has(flaw) === true
}

/** Says it of a definition, once for each `flaw`. */
export function warnOnce(
  log: Log, about: object, flaw: string, sentence: string, fields?: Readonly<Record<string, unknown>>,
): void {
  if (hasWarned(log, about, flaw)) return
  const known = warned.get(log) ?? new WeakMap<object, Set<string>>()
  const flaws = known.get(about) ?? new Set()
  warned.set(log, known.set(about, flaws.add(flaw)))
  log('warning', sentence, fields)
}
