/** A command other than `serve`: what it prints as its help, and what it does. */
import { formatFlags, parseCommandLine } from './command-line.ts'
import type { CommandLine, Flag } from './command-line.ts'

/** As in package.json, which a copied dist/ does not have beside it. */
export const VERSION = '0.1.0'

/** A command that is loaded when it is asked for. */
export interface Subcommand {
  readonly help: string
  /** Rejects with `UsageError` for a wrong command line, with `Error` for what cannot be done. */
  run(args: readonly string[]): Promise<void>
}

const helpFlag = { name: 'help', short: 'h', meaning: 'prints this' } as const

/** Makes a command of its name, its usage, its flags and what it does. */
export function subcommand<Name extends string>(
  name: string, usage: string, flags: readonly Flag<Name>[],
  act: (line: CommandLine<Name>) => void | Promise<void>,
): Subcommand {
  const all: readonly Flag<Name | 'help'>[] = [...flags, helpFlag]
  const help = `${usage}\n${formatFlags(all)}`
  return {
    help,
    async run(args) {
      const line = parseCommandLine(args, all, process.env, `triport help ${name}`)
      if (line.has('help')) process.stdout.write(help)
      else await act(line)
    },
  }
}
