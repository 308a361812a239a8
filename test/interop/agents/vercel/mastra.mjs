/** Agents of Mastra, versions 0.24 and 1, and what they return. */
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'

const versions = [['mastra-0', 'openai-compatible-1'], ['@mastra/core', 'openai-compatible-3']]

for (const [name, provider] of versions) {
  const skip = missing(import.meta.url, name, provider, 'zod')
  if (skip) {
    matrix({ framework: 'Mastra', version: name, skip })
    continue
  }
  const version = versionOf(import.meta.url, name)
  const { Agent } = await import(`${name}/agent`)
  const { Mastra } = await import(`${name}/mastra`)
  const { InMemoryStore } = await import(`${name}/storage`)
  const { createTool } = await import(`${name}/tools`)
  const { createOpenAICompatible } = await import(provider)
  const { z } = await import('zod')
  const isOld = version.startsWith('0.')
  const inputSchema = z.object({ city: z.string() })
  const cityOf = (args) => (isOld ? args.context : args).city
  let times = 0

  const book = createTool({
    id: 'book', description: 'Books a room.', inputSchema, requireApproval: true,
    execute: async (args) => { times++; return `booked ${cityOf(args)}` },
  })
  const seat = createTool({
    id: 'seat', description: 'Picks a seat.', inputSchema, suspendSchema: z.object({ question: z.string() }),
    resumeSchema: z.object({ seat: z.string() }),
    execute: async (_args, { agent: { resumeData, suspend } }) => (
      resumeData === undefined ? suspend({ question: 'Which seat?' }) : `seat ${resumeData.seat}`
    ),
  })
  const weather = createTool({
    id: 'weather', description: 'The weather.', inputSchema,
    execute: async (args) => `sunny in ${cityOf(args)}`,
  })
  const make = (more = {}, options = {}) => (baseURL) => {
    const model = createOpenAICompatible({
      name: 'fake', baseURL, supportsStructuredOutputs: true, includeUsage: true,
    })('fake')
    const settings = { modelSettings: { maxRetries: 0 }, ...options }
    const agent = new Agent({
      id: 'helper', name: 'Helper', description: 'Helps.', instructions: 'Help.', model, ...more,
      ...isOld ? { defaultVNextStreamOptions: settings } : { defaultOptions: settings },
    })
    // It keeps what waits for an answer.
    new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false })
    return agent
  }
  const schema = z.object({ city: z.string(), degrees: z.number() })
  const structuredOutput = { schema }

  matrix({
    framework: 'Mastra',
    version,
    agents: {
      plain: make(),
      tools: make({ tools: { weather } }),
      approval: make({ tools: { book } }),
      // Version 0.24 does not tell the form.
      ...!isOld && { question: make({ tools: { seat } }) },
      data: make({}, { structuredOutput }),
    },
    booked: () => times,
    parks: true,
    documents: !isOld,
    // Version 0.24 loses the user's message where two tools wait at one time.
    several: isOld ? '(book)(then)(book)' : '(book)(book)(then)(book)',
    returns: {
      'generate()': (agent, prompt) => agent.generate(prompt),
      'stream()': (agent, prompt) => agent.stream(prompt),
      'fullStream': async (agent, prompt) => (await agent.stream(prompt)).fullStream,
    },
    returnsData: {
      'generate() with structured output': (agent, prompt) => agent.generate(prompt, { structuredOutput }),
      'stream() with structured output': (agent, prompt) => agent.stream(prompt, { structuredOutput }),
    },
  })
}

guideProgram(import.meta.url, '@mastra/core/agent', { skip: missing(import.meta.url, '@mastra/core') })
