/** The grammar of command lines: a table of flags and arguments in; values, help and errors out. */
import { parseArgs } from 'node:util'
import { slipsBetween } from '../kernel/schema/options.ts'
import type { Writable } from 'node:stream'

/** As in package.json, which a copied dist/ does not have beside it. */
export const VERSION = '0.1.0'

/** One flag. */
export interface Flag<Name extends string = string> {
  readonly name: Name
  readonly short?: string
  /** The name of its value in the help; a flag without one takes no value. A `LIST` may be given twice. */
  readonly value?: string
  /** Never shown in an error. */
  readonly isSecret?: true
  readonly meaning: string
  /** Shown in the help as the default. */
  readonly fallback?: string
  /** The environment variable that is used where the flag is left out. */
  readonly variable?: string
}

/** A mistake in the command line, reported without a stack. */
export class UsageError extends Error {}

/** A parsed command line. */
export interface CommandLine<Name extends string> {
  /** The arguments that are not flags. */
  readonly words: readonly string[]
  has(name: Name): boolean
  /** A flag's value, else its variable's; an empty variable is not set. */
  value(name: Name): string | undefined
  /** The given flags as arguments again, without some. */
  format(without: readonly Name[]): readonly string[]
}

/** Throws `UsageError`, which names `help` as the command that lists the flags. */
export function parseCommandLine<Name extends string>(
  args: readonly string[], flags: readonly Flag<Name>[], environment: NodeJS.ProcessEnv,
  help: string = 'triport --help',
): CommandLine<Name> {
  const words: string[] = []
  const values = new Map<Name, string | undefined>()
  const options = Object.fromEntries(flags.map(({ name, short, value }) => [
    name, { type: value === undefined ? 'boolean' : 'string', ...short !== undefined && { short } } as const,
  ]))
  const { tokens } = parseArgs({
    args: [...args], options, allowPositionals: true, strict: false, tokens: true,
  })
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(wordOf(token.value))
    if (token.kind !== 'option') continue
    const flag = flags.find(({ name }) => name === token.name)
    if (flag === undefined) throw new UsageError(unknownFlag(token.rawName, flags, help))
    const value = valueOf(flag, token)
    values.set(flag.name, values.has(flag.name) ? join(flag, values.get(flag.name), value) : value)
  }
  return {
    words,
    has: (name) => values.has(name),
    value(name) {
      const { variable = '' } = flags.find((flag) => flag.name === name) ?? {}
      return values.get(name) ?? (environment[variable] || undefined)
    },
    format: (without) => [...values].filter(([name]) => !without.includes(name))
      .map(([name, value]) => value === undefined ? `--${name}` : `--${name}=${value}`),
  }
}

/** An empty one is mostly a variable of a shell that is not set, and would name the working directory. */
function wordOf(value: string): string {
  if (value !== '') return value
  throw new UsageError('An argument is empty; write it, or leave it out')
}

interface OptionToken { readonly value?: string | undefined; readonly inlineValue?: boolean | undefined }

function valueOf(
  { name, value: what, isSecret }: Flag, { value, inlineValue }: OptionToken,
): string | undefined {
  if (what === undefined) {
    if (value === undefined) return undefined
    throw new UsageError(`--${name} takes no value; leave ${JSON.stringify(value)} out`)
  }
  const isEmpty = what === 'LIST' && value !== undefined && /^[\s,]*$/.test(value)
  if (isEmpty) throw new UsageError(`--${name} is empty; write it, or leave it out`)
  if (value !== undefined && (inlineValue === true || !value.startsWith('-'))) return value
  const written = `--${name}=${isSecret === true ? '…' : value}`
  const dashed = value === undefined ? '' : `; where it begins with a dash, write ${written}`
  throw new UsageError(`--${name} needs a value: --${name} ${what}${dashed}`)
}

/** Joins the values of a flag that was given twice. Throws `UsageError` where it takes only one. */
function join(
  { name, value: what, isSecret }: Flag, first: string | undefined, second: string | undefined,
): string | undefined {
  if (what === undefined) return undefined
  if (what === 'LIST') return `${first},${second}`
  const both = isSecret === true ? '' : `, ${JSON.stringify(first)} and ${JSON.stringify(second)}`
  throw new UsageError(`--${name} is given twice${both}; it takes one value, so leave one out`)
}

function unknownFlag(written: string, flags: readonly Flag[], help: string): string {
  const names = flags.map(({ name }) => `--${name}`)
  return `Unknown option '${written}'; ${didYouMean(written, names, `${help} lists them`)}`
}

/** The end of a sentence about an unknown word: a suggestion, or `otherwise`. */
export function didYouMean(word: string, known: readonly string[], otherwise: string): string {
  const meant = namesLike(word, known)
  if (meant.length === 0) return otherwise
  return `did you mean ${meant.length === 1 ? '' : `${meant.slice(0, -1).join(', ')} or `}${meant.at(-1)}?`
}

/** Letters that may be wrong: left out, added, replaced, or swapped with the next. */
const MAX_DISTANCE = 2

/** The names that were probably meant, the nearest first: those that differ least or begin with the word. */
export function namesLike(word: string, names: readonly string[]): readonly string[] {
  const plain = (text: string): string => text.toLowerCase().replace(/^-+/, '')
  const written = plain(word).slice(0, 64)
  if (written === '') return []
  const rated = names.map((name) => ({ name, off: slipsBetween(plain(name), written) }))
  const least = Math.min(MAX_DISTANCE, ...rated.map(({ off }) => off))
  return rated.sort((a, b) => a.off - b.off).map(({ name }) => name).filter((name, at) => (
    plain(name).startsWith(written) || rated[at]!.off <= least && rated[at]!.off < plain(name).length / 2
  ))
}

/** The help: a line for each flag. */
export function formatFlags(flags: readonly Flag[]): string {
  const names = flags.map(({ name, short, value }) => (
    `--${name}${value === undefined ? '' : ` ${value}`}${short === undefined ? '' : `, -${short}`}`
  ))
  const width = Math.max(...names.map(({ length }) => length))
  return flags.map(({ meaning, fallback, variable }, at) => {
    const otherwise = [fallback, variable === undefined ? undefined : `or ${variable}`]
    const notes = otherwise.filter((note) => note !== undefined).join('; ')
    return `  ${names[at]!.padEnd(width)}  ${meaning}${notes === '' ? '' : `  (${notes})`}\n`
  }).join('')
}

/** Prints all of a text. Rejects where it is lost, as on a full disk; a reader may leave before its end. */
export function print(text: string, output: Writable = process.stdout): Promise<void> {
  return new Promise((resolve, reject) => {
    output.once('error', () => {})
    output.write(text, (error) => {
      if (!error || 'code' in error && error.code === 'EPIPE') resolve()
      else reject(error)
    })
  })
}

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
      if (line.has('help')) await print(help)
      else await act(line)
    },
  }
}
