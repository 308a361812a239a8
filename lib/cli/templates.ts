/** What `triport new` makes: the smallest program of each kind, and the packages that it needs. */
import { readFileSync } from 'node:fs'

/** One kind of project. */
export interface Template {
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
