/** `triport new`: makes a small project that runs, without the network. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { slug } from '../kernel/define/agent.ts'
import { didYouMean, print, subcommand, UsageError } from './command-line.ts'
import { copyLibrary, quoted } from './vendor.ts'
import type { CommandLine, Subcommand } from './command-line.ts'

/** One kind of project. */
interface Template {
  /** What it is, in the help. */
  readonly meaning: string
  /** The file that is served, and what is in it. */
  readonly file: string
  readonly text: string
  /** Packages to install, with their versions. */
  readonly dependencies: Readonly<Record<string, string>>
  /** The Node that they ask for; left out, any that triport runs on. */
  readonly node?: number
}

const PLAIN = readFileSync(new URL('./templates/plain.txt', import.meta.url), 'utf8')
const TOOLS = readFileSync(new URL('./templates/tools.txt', import.meta.url), 'utf8')
const AI_SDK = readFileSync(new URL('./templates/ai-sdk.txt', import.meta.url), 'utf8')
const MASTRA = readFileSync(new URL('./templates/mastra.txt', import.meta.url), 'utf8')
const LANGGRAPH = readFileSync(new URL('./templates/langgraph.txt', import.meta.url), 'utf8')
const OPENAI = readFileSync(new URL('./templates/openai.txt', import.meta.url), 'utf8')

/** The kinds by name; the first is made where none is named. */
export const templates: ReadonlyMap<string, Template> = new Map([
  ['plain', { meaning: 'an agent that is a function', file: 'agent.js', text: PLAIN, dependencies: {} }],
  ['tools', { meaning: 'tools for models', file: 'tools.js', text: TOOLS, dependencies: {} }],
  ['ai-sdk', {
    meaning: 'an agent of the AI SDK', file: 'agent.js', text: AI_SDK, node: 22,
    dependencies: { '@ai-sdk/openai': '^4.0.0', 'ai': '^7.0.0', 'zod': '^4.0.0' },
  }],
  ['mastra', {
    meaning: 'an agent of Mastra', file: 'agent.js', text: MASTRA, node: 22,
    dependencies: { '@mastra/core': '^1.0.0', 'zod': '^4.0.0' },
  }],
  ['langgraph', {
    meaning: 'a graph of LangGraph', file: 'agent.js', text: LANGGRAPH, node: 22,
    dependencies: {
      '@langchain/core': '^1.4.0', '@langchain/langgraph': '^1.0.0', '@langchain/openai': '^1.0.0',
    },
  }],
  ['openai', {
    meaning: 'an agent of the OpenAI Agents SDK', file: 'agent.js', text: OPENAI, node: 22,
    dependencies: { '@openai/agents': '^0.20.0', 'zod': '^4.0.0' },
  }],
])

const flags = [
  { name: 'from', value: 'KIND', fallback: 'plain', meaning: 'what the project is made for' },
] as const

/** Where the project keeps its copy of the library. */
const LIBRARY = 'vendor/triport'

const kinds = [...templates].map(([name, { meaning }]) => `  ${name.padEnd(10)} ${meaning}\n`).join('')

export const newCommand: Subcommand = subcommand('new', `Usage: triport new [dir] [--from KIND]

Makes a small project that runs: a program, package.json, and a copy of triport in ${LIBRARY}.
The folder is made, or has to be empty; left out, it is the one in which you are. Nothing is
downloaded; the packages of a framework you install yourself, and they ask a model by
OPENAI_API_KEY. The kinds:

${kinds}`, flags, make)

function make(line: CommandLine<typeof flags[number]['name']>): Promise<void> {
  const [folder = '.', ...more] = line.words
  if (more.length > 0) throw new UsageError(`new makes one project, not also ${more.join(' ')}`)
  const kind = line.value('from') ?? 'plain'
  const template = templates.get(kind)
  if (template === undefined) {
    const names = [...templates.keys()]
    const remedy = didYouMean(kind, names, `write ${names.join(', ')}`)
    throw new UsageError(`There is no kind '${kind}'; ${remedy}`)
  }
  requireEmpty(folder)
  const isThere = statSync(folder, { throwIfNoEntry: false }) !== undefined
  try {
    copyLibrary(join(folder, LIBRARY))
  } catch (error) {
    if (!isThere) rmSync(folder, { recursive: true, force: true })
    throw error
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, template.file), template.text)
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifestOf(folder, template), null, 2)}\n`)
  writeFileSync(join(folder, '.gitignore'), 'node_modules/\n.env\n')
  return print(nextSteps(folder, template))
}

function requireEmpty(folder: string): void {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (!stat.isDirectory()) throw new Error(`${folder} is a file; name a folder`)
  // A repository that has just been made is as good as empty.
  const [first] = readdirSync(folder).filter((name) => name !== '.git')
  if (first === undefined) return
  throw new Error(`${folder === '.' ? 'This folder' : folder} is not empty, it has ${first}; name a new `
    + 'folder: triport new demo')
}

function manifestOf(folder: string, { file, dependencies }: Template): object {
  const command = `node ${LIBRARY}/cli.js`
  return {
    name: nameOf(folder), private: true, type: 'module',
    scripts: {
      start: `${command} serve ${file} --protocol all`,
      dev: `${command} serve ${file} --protocol all --watch`,
      check: `${command} check ${file}`,
    },
    ...Object.keys(dependencies).length > 0 && { dependencies },
  }
}

/** The name of the package: what npm allows of the folder's. */
function nameOf(folder: string): string {
  try {
    return slug(basename(resolve(folder)))
  } catch {
    return 'agent'
  }
}

function nextSteps(folder: string, { file, dependencies, node = 0 }: Template): string {
  const path = relative('', folder)
  const needsPackages = Object.keys(dependencies).length > 0
  const [major = 0] = process.versions.node.split('.').map(Number)
  const steps = [
    ...path === '' ? [] : [`cd ${quoted(path)}`],
    ...needsPackages ? ['npm install', `export OPENAI_API_KEY=…    (Windows: set OPENAI_API_KEY=…)`] : [],
    'npm start',
  ]
  const call = file === 'tools.js' ? `curl http://127.0.0.1:8000/tools/stock -d '{"article":"apple"}'`
    : `curl http://127.0.0.1:8000/ -d '{"query":"hello"}'`
  const further = [
    ['npm run dev', 'starts again after each change'], ['npm run check', 'says what could be better'],
    [`node ${LIBRARY}/cli.js install claude ${file}`, 'connects Claude Desktop, or another host'],
    [`node ${LIBRARY}/cli.js help`, 'prints the guide'],
  ] as const
  const late = node > major ? `Its packages ask for Node ${node}; this is ${process.version}.\n` : ''
  return `Made ${path === '' ? file : join(path, file)}, with a copy of triport in ${LIBRARY}.\n${late}
Next:
${steps.map((step) => `  ${step}\n`).join('')}
Then, in another terminal:
  ${call.replace(' -d', ` -H 'Content-Type: application/json' -d`)}

Further on:
${further.map(([command, what]) => `  ${command.padEnd(50)}  ${what}\n`).join('')}`
}
