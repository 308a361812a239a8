/** A compiler takes the agents of these packages, and what they and the clients return. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missing } from '../matrix.mjs'

const folder = import.meta.url
const skip = missing(folder, 'langchain', '@openai/agents', '@strands-agents/sdk', 'openai', 'anthropic')
const pathOf = (path) => fileURLToPath(new URL(path, folder))

const program = `
import { createAgent } from 'langchain'
import { ChatOpenAI } from '@langchain/openai'
import { entrypoint, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { Agent, run } from '@openai/agents'
import { Agent as Strands } from '@strands-agents/sdk'
import OpenAI from 'openai'
import Anthropic from 'anthropic'
import { adapt, createServer, defineAgent, launch, serveStdio } from '../../../../dist/index.js'

const model = new ChatOpenAI({ model: 'm' })
const agent = createAgent({ model, tools: [] })
const graph = new StateGraph(MessagesAnnotation).addNode('a', () => ({})).addEdge(START, 'a').compile()
const entry = entrypoint('e', ({ messages }: { messages: [] }) => model.invoke(messages))
const theirs = new Agent({ name: 'A' })
const strands = new Strands({ printer: false })
const { chat, responses } = new OpenAI()
const { messages, beta } = new Anthropic()
const said = (content: string) => [{ role: 'user' as const, content }]
const stateOf = (prompt: string) => ({ messages: said(prompt) })
const asked = (prompt: string) => ({ model: 'm', messages: said(prompt) })
const askedOf = (prompt: string) => ({ model: 'm', max_tokens: 1, messages: said(prompt) })

createServer({ agents: [
  agent, graph, entry, theirs, strands, adapt(agent, { name: 'B' }), defineAgent(theirs),
  { name: '1', run: (prompt) => run(theirs, prompt) },
  { name: '2', run: (prompt) => run(theirs, prompt, { stream: true }) },
  { name: '3', run: (prompt) => agent.invoke(stateOf(prompt)) },
  { name: '4', run: (prompt) => agent.stream(stateOf(prompt)) },
  { name: '5', run: (prompt) => graph.stream(stateOf(prompt), { streamMode: ['messages', 'updates'] }) },
  { name: '6', run: (prompt) => agent.streamEvents(stateOf(prompt), { version: 'v2' }) },
  { name: '7', run: async function* (prompt) { yield* await graph.stream(stateOf(prompt)) } },
  { name: '8', run: (prompt) => model.invoke(prompt) }, { name: '9', run: (prompt) => model.stream(prompt) },
  { name: '10', run: (prompt) => strands.invoke(prompt) },
  { name: '11', run: (prompt) => strands.stream(prompt) },
  { name: '12', run: (prompt) => chat.completions.create(asked(prompt)) },
  { name: '13', run: (prompt) => chat.completions.create({ ...asked(prompt), stream: true }) },
  { name: '14', run: (prompt) => chat.completions.stream(asked(prompt)) },
  { name: '15', run: (prompt) => chat.completions.runTools({ ...asked(prompt), tools: [] }) },
  { name: '16', run: (prompt) => responses.create({ model: 'm', input: prompt, stream: true }) },
  { name: '17', run: (prompt) => responses.stream({ model: 'm', input: prompt }) },
  { name: '18', run: (prompt) => messages.create(askedOf(prompt)) },
  { name: '19', run: (prompt) => messages.stream(askedOf(prompt)) },
  { name: '20', run: (prompt) => beta.messages.toolRunner({ ...askedOf(prompt), tools: [] }) },
] })
await launch(agent)
await launch([graph, theirs, strands])
await serveStdio(entry)
`

test('a program with agents of these packages compiles as strictly as can be', { skip }, (t) => {
  const file = pathOf('.types.mts')
  t.after(() => rmSync(file, { force: true }))
  writeFileSync(file, program)
  const root = pathOf('../../../../')
  const { stdout, stderr } = spawnSync(`${root}node_modules/.bin/tsc`, [
    '--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck',
    '--module', 'nodenext', '--target', 'es2023', '--types', 'node',
    '--typeRoots', `${root}node_modules/@types`, file,
  ], { encoding: 'utf8' })
  assert.equal(stdout + stderr, '')
})
