/**
 * A module of an author's: a path in, all that it exports to be served out, sorted into its kinds. ES modules
 * and CommonJS are read alike.
 */
import { realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { namesLike } from './command-line.ts'
import { defineGroup } from './core/agent.ts'
import { isRecord } from './core/content.ts'
import { rejectUnknown } from './core/define.ts'
import { sortOut } from './core/subject.ts'
import { loadReason } from './load-error.ts'
import type { Defined, Subject } from './core/subject.ts'

/** The name of the group that a list of agents makes. */
const NAME = 'triport'

/** What a module may export besides its default: one thing by the first name, a list by either. */
const kinds = [
  ['agent', 'agents'], ['group', 'groups'], ['tool', 'tools'], ['resource', 'resources'],
  ['resourceTemplate', 'resourceTemplates'], ['prompt', 'prompts'],
] as const

type Kind = typeof kinds[number][1]
type Exports = Readonly<Record<string, unknown>>

/**
 * Imports a module. Rejects with an `Error` whose message says all there is to say. Ends the process with 13
 * where the module waits for what never comes.
 */
export async function loadModule(path: string): Promise<Defined> {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`Cannot load ${path}: there is no such file`)
  if (stat.isDirectory()) throw new Error(`Cannot load ${path}: it is a folder; name a file in it`)
  // Nothing is left to do, and the import has not come to its end: what it awaits is not on its way.
  const giveUp = (): never => {
    process.stderr.write(`triport: ${path} never finishes loading: it awaits what nothing will settle\n`)
    process.exit(13)
  }
  process.once('beforeExit', giveUp)
  let exported: Exports
  try {
    exported = await import(pathToFileURL(resolve(path)).href)
  } catch (error) {
    throw new Error(`Cannot load ${path}: ${loadReason(error, path)}`, { cause: error })
  } finally {
    process.off('beforeExit', giveUp)
  }
  exported = exportsOf(exported, path)
  const subject = sortOutExports(exported, path)
  if (Object.values(subject).some(({ length }) => length > 0)) return subject
  throw new Error(`${path} ${nothingIn(exported)}`)
}

/**
 * What CommonJS exports by name arrives as the members of a default, and often a second time by name. It may
 * be anything; in the default of an ES module there is nothing but what is to be served. Throws an `Error`.
 */
function exportsOf(module: Exports, path: string): Exports {
  const { default: whole } = module
  if (!isRecord(whole) || 'run' in whole) return module
  const isGroup = 'name' in whole && 'agents' in whole
  const hasNames = 'default' in whole || kinds.flat().some((name) => name in whole)
  if (!hasNames || isGroup) return module
  if (!isCommonJs(path)) rejectUnknown(`${path}: The default export`, whole, kinds.flat())
  return { ...module, default: undefined, ...whole }
}

/** Whether a module that has been imported is CommonJS, which stays where `require` looks. */
function isCommonJs(path: string): boolean {
  return createRequire(import.meta.url).cache[realpathSync(path)] !== undefined
}

/** Throws an `Error` that names the module, for what in it cannot be served. */
function sortOutExports(exported: Exports, path: string): Defined {
  try {
    return sortExports(exported)
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

function sortExports(exported: Exports): Defined {
  const { default: main } = exported
  const held = new Set(partsOf(main))
  const exportedAs = (kind: Kind): readonly unknown[] => {
    const names = kinds.find(([, many]) => many === kind) ?? []
    return names.flatMap((name) => exported[name] ?? []).filter((thing) => !held.has(thing))
  }
  const groups = exportedAs('groups')
  const members = new Set(groups.flatMap(partsOf))
  const subjects: readonly unknown[] = [
    ...main === undefined ? [] : [main],
    ...exportedAs('agents').filter((agent) => !members.has(agent)),
    ...groups,
    {
      tools: exportedAs('tools'), resources: exportedAs('resources'),
      resourceTemplates: exportedAs('resourceTemplates'), prompts: exportedAs('prompts'),
    },
  ]
  const all = merge(subjects.map((subject) => sortOut(subject as Subject, NAME)))
  // Several agents of which none is put first are a group, as a list of them is.
  const isList = main === undefined && exported['agent'] === undefined && all.groups.length === 0
  if (!isList || all.agents.length < 2) return all
  return { ...all, groups: [defineGroup({ name: NAME, agents: all.agents })] }
}

/** A thing, or each of a list, with what is in it: what is exported under two names is served once. */
function partsOf(thing: unknown): readonly unknown[] {
  if (Array.isArray(thing)) return thing.flatMap(partsOf)
  const parts = isRecord(thing) ? kinds.flatMap(([, many]) => thing[many] ?? []) : []
  return [thing, ...parts.flatMap(partsOf)]
}

function merge(all: readonly Defined[]): Defined {
  return {
    agents: all.flatMap(({ agents }) => agents),
    groups: all.flatMap(({ groups }) => groups),
    tools: all.flatMap(({ tools }) => tools),
    resources: all.flatMap(({ resources }) => resources),
    resourceTemplates: all.flatMap(({ resourceTemplates }) => resourceTemplates),
    prompts: all.flatMap(({ prompts }) => prompts),
  }
}

function nothingIn(exported: Exports): string {
  const known = kinds.flat()
  const [meant] = Object.keys(exported)
    .flatMap((name) => namesLike(name, known).map((one) => ({ name, one })))
  if (meant !== undefined) return `exports '${meant.name}'; did you mean '${meant.one}'?`
  return 'exports nothing to serve; export default (prompt) => answer, or name it agent, group or tools'
}
