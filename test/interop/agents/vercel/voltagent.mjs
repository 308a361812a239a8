/** Agents of VoltAgent, version 2, and what they return. */
import { after } from 'node:test'
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'

const skip = missing(import.meta.url, '@voltagent/core', '@ai-sdk/openai-compatible', 'zod')
const load = (path) => (skip ? {} : import(path))

// Each of its agents has a timer that keeps the process.
after(() => { setTimeout(() => process.exit(), 1_000).unref() })

const { Agent, createTool } = await load('@voltagent/core')
const { Output } = await load('ai')
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible')
const { z } = await load('zod')

const version = skip ? '' : versionOf(import.meta.url, '@voltagent/core')
const parameters = skip ? undefined : z.object({ city: z.string() })
const schema = skip ? undefined : z.object({ city: z.string(), degrees: z.number() })
let times = 0

const make = (tools = []) => (baseURL) => new Agent({
  name: 'Helper', instructions: 'Help.', purpose: 'Helps.', maxRetries: 0, tools,
  model: createOpenAICompatible({
    name: 'fake', baseURL, supportsStructuredOutputs: true, includeUsage: true,
  })('fake'),
})

matrix({
  framework: 'VoltAgent',
  version,
  skip,
  agents: skip ? {} : {
    plain: make(),
    tools: make([createTool({
      name: 'weather', description: 'The weather.', parameters,
      execute: async ({ city }) => `sunny in ${city}`,
    })]),
    approval: make([createTool({
      name: 'book', description: 'Books a room.', parameters, needsApproval: true,
      execute: async ({ city }) => { times++; return `booked ${city}` },
    })]),
  },
  booked: () => times,
  parks: true,
  documents: true,
  several: '(book)(then)(book)',
  returns: {
    'generateText()': (agent, prompt) => agent.generateText(prompt),
    'streamText()': (agent, prompt) => agent.streamText(prompt),
    'fullStream': async (agent, prompt) => (await agent.streamText(prompt)).fullStream,
  },
  returnsData: {
    'generateObject()': (agent, prompt) => agent.generateObject(prompt, schema),
    'streamObject()': (agent, prompt) => agent.streamObject(prompt, schema),
    'generateText() with an output': (agent, prompt) => (
      agent.generateText(prompt, { output: Output.object({ schema }) })
    ),
  },
})

guideProgram(import.meta.url, '@voltagent/core', { skip: missing(import.meta.url, '@voltagent/core') })
