/** Agents of the AI SDK, versions 5 to 7, and what its functions return. */
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'

const versions = [
  ['ai5', 'openai-compatible-1'], ['ai', '@ai-sdk/openai-compatible'], ['ai7', 'openai-compatible-3'],
]

for (const [name, provider] of versions) {
  const skip = missing(import.meta.url, name, provider, 'zod')
  if (skip) {
    matrix({ framework: 'AI SDK', version: name, skip })
    continue
  }
  const version = versionOf(import.meta.url, name)
  const {
    Agent, Experimental_Agent, ToolLoopAgent = Experimental_Agent ?? Agent, Output, generateText, streamText,
    stepCountIs, isStepCount = stepCountIs, generateObject, streamObject, tool,
  } = await import(name)
  const { createOpenAICompatible } = await import(provider)
  const { z } = await import('zod')
  const city = z.object({ city: z.string() })
  let times = 0

  const model = (baseURL) => createOpenAICompatible({
    name: 'fake', baseURL, supportsStructuredOutputs: true, includeUsage: true,
  })('fake')
  const make = (more = {}) => (url) => new ToolLoopAgent({ model: model(url), maxRetries: 0, ...more })
  const book = tool({
    description: 'Books a room.', inputSchema: city, needsApproval: true,
    execute: (args) => { times++; return `booked ${args.city}` },
  })
  const weather = tool({
    description: 'The weather.', inputSchema: city, execute: (args) => `sunny in ${args.city}`,
  })
  const isOld = version.startsWith('5.')
  const steps = isOld ? { stopWhen: isStepCount(5) } : {}
  const schema = z.object({ city: z.string(), degrees: z.number() })
  const output = Output.object({ schema })
  const outputs = isOld ? { experimental_output: output } : { output }
  const options = (agent, prompt) => ({ ...agent.settings, prompt })

  matrix({
    framework: 'AI SDK',
    version,
    agents: {
      plain: make(),
      tools: make({ ...steps, tools: { weather } }),
      ...!isOld && { approval: make({ tools: { book } }) },
      data: make(outputs),
    },
    booked: () => times,
    parks: true,
    documents: !isOld,
    several: '(book)(book)(then)(book)',
    without: isOld ? { questions: 'version 5 has no approvals' } : {},
    returns: {
      'generate()': (agent, prompt) => agent.generate({ prompt }),
      'stream()': (agent, prompt) => agent.stream({ prompt }),
      'fullStream': async (agent, prompt) => (await agent.stream({ prompt })).fullStream,
      'toUIMessageStream()': async (agent, prompt) => (await agent.stream({ prompt })).toUIMessageStream(),
      'generateText()': (agent, prompt) => generateText(options(agent, prompt)),
      'streamText()': (agent, prompt) => streamText(options(agent, prompt)),
    },
    returnsData: {
      'generateObject()': (agent, prompt) => generateObject({ ...options(agent, prompt), schema }),
      'streamObject()': (agent, prompt) => streamObject({ ...options(agent, prompt), schema }),
      'generateText() with an output': (agent, prompt) => (
        generateText({ ...options(agent, prompt), ...outputs })
      ),
      ...!isOld && { 'streamText() with an output': (agent, prompt) => (
        streamText({ ...options(agent, prompt), ...outputs })
      ) },
    },
  })
}

guideProgram(import.meta.url, 'ai', {
  skip: missing(import.meta.url, 'ai7', '@ai-sdk/openai'), installed: { ai: 'ai7' },
})
