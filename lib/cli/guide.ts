/**
 * `triport help [chapter]`: the chapters of the guide, which lie in the folder guide/ beside the modules.
 * Each begins with its title, and a line that says what it is about.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { didYouMean, UsageError } from './command-line.ts'

const FOLDER = new URL('../guide/', import.meta.url)
/** Chapters that are now several. */
const former: ReadonlyMap<string, readonly string[]> = new Map([
  ['http-and-openai', ['http', 'openai', 'agui', 'ui-stream', 'docs']],
])

/**
 * Chapters as Markdown, or where none is named the list of all. Throws `UsageError` for an unknown one, which
 * says where the word stands; `commands` may have been meant too.
 */
export function readGuide(words: readonly string[], commands: readonly string[]): string {
  const names = chapterNames()
  const chapters = words.flatMap((word) => former.get(word)?.filter((name) => names.includes(name)) ?? [word])
  const unknown = chapters.find((chapter) => !names.includes(chapter))
  if (unknown !== undefined) {
    const holding = chaptersWith(unknown.toLowerCase(), names)
    const otherwise = holding.length === 0 ? 'choose another.' : `the word stands in ${holding.join(', ')}.`
    const remedy = didYouMean(unknown, [...names, ...commands], otherwise)
    throw new UsageError(`There is no chapter '${unknown}'; ${remedy} Chapters: ${names.join(', ')}`)
  }
  return chapters.length === 0 ? listOf(names, commands) : chapters.map(read).join('\n')
}

/** The chapters that have a word in a heading; where there is none, in their text. */
function chaptersWith(word: string, names: readonly string[]): readonly string[] {
  const lines = new Map(names.map((name) => [name, read(name).toLowerCase().split('\n')]))
  const where = (isOne: (line: string) => boolean): readonly string[] => (
    names.filter((name) => lines.get(name)!.some((line) => line.includes(word) && isOne(line)))
  )
  const headed = where((line) => line.startsWith('#'))
  return headed.length > 0 ? headed : where(() => true)
}

function chapterNames(): readonly string[] {
  try {
    return readdirSync(FOLDER).map((name) => name.replace(/\.md$/, ''))
  } catch (cause) {
    throw new Error(`The guide is missing; copy it to ${fileURLToPath(FOLDER)}`, { cause })
  }
}

function listOf(names: readonly string[], commands: readonly string[]): string {
  const width = Math.max(...names.map(({ length }) => length))
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${read(name).split('\n')[2]}\n`)
  return `Usage: triport help [chapter|command]\n\n${lines.join('')}\nCommands: ${commands.join(', ')}\n`
}

function read(name: string): string {
  return readFileSync(new URL(`${name}.md`, FOLDER), 'utf8')
}
