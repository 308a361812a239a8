/** `triport check`: loads a module as `serve` does, and prints what is wrong with what it defines. */
import { claimStdout } from '../server/claim-stdout.ts'
import { findingsOf } from './check-rules.ts'
import { subcommand, UsageError } from './command-line.ts'
import { loadModule, serverOf } from './load.ts'
import type { Finding } from './check-rules.ts'
import type { CommandLine, Subcommand } from './command-line.ts'

const flags = [
  { name: 'json', meaning: '{ module, ok, importMs, findings: [{ level, rule, where, message }] }' },
  { name: 'strict', meaning: 'warnings fail it too' },
] as const

/** What was found in one module. */
interface Report { readonly importMs: number; readonly findings: readonly Finding[] }

export const checkCommand: Subcommand = subcommand('check', `Usage: triport check module [options]

Loads what a module exports, as serve does, and prints what is wrong with it, or weak. An error is
what a client, a host or the API of a model refuses; a warning is what works worse than it could.
Nothing is served, and no handler is called.

Exit codes: 0 without an error, 1 with one (with --strict also with a warning), 2 for a wrong
command line, 13 for a module that never finishes loading.
`, flags, check)

async function check(line: CommandLine<typeof flags[number]['name']>): Promise<void> {
  const [module, ...more] = line.words
  if (module === undefined) throw new UsageError('check needs a module: triport check agent.js')
  if (more.length > 0) throw new UsageError(`check takes one module, not also ${more.join(' ')}`)
  // Before the module is imported: what that prints is no part of the report.
  const output = claimStdout()
  const { importMs, findings } = await reportOn(module)
  const failing = findings.filter(({ level }) => level === 'error' || line.has('strict'))
  const ok = failing.length === 0
  const text = line.has('json') ? `${JSON.stringify({ module, ok, importMs, findings }, null, 2)}\n`
    : format(module, importMs, findings)
  // Even if the module still holds something open.
  output.write(text, () => process.exit(ok ? 0 : 1))
}

async function reportOn(module: string): Promise<Report> {
  const start = performance.now()
  const since = (): number => Math.round(performance.now() - start)
  try {
    const loaded = await loadModule(module)
    const importMs = since()
    const { name, catalog } = serverOf(loaded)
    const { agents, groups, tools, resources, templates, prompts } = catalog
    const served = { name, agents, groups, tools, resources, templates, prompts }
    return { importMs, findings: findingsOf(served, importMs) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { importMs: since(), findings: [{ level: 'error', rule: 'load', where: 'the module', message }] }
  }
}

function format(module: string, importMs: number, findings: readonly Finding[]): string {
  const lines = findings.map(({ level, where, message }) => `${level.padEnd(8)} ${where}\n    ${message}\n`)
  const counted = (['error', 'warning'] as const).map((level) => {
    const count = findings.filter((one) => one.level === level).length
    return `${count === 0 ? 'no' : count} ${level}${count === 1 ? '' : 's'}`
  })
  return `${lines.join('')}${module}: ${counted.join(', ')} (imported in ${importMs} ms)\n`
}
