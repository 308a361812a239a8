/** Agents and networks of Inngest's AgentKit. Needs `npm ci` here. */
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'

const skip = missing(import.meta.url, '@inngest/agent-kit', 'inngest', 'zod')
const { createAgent, createNetwork, createTool, openai } = skip ? {} : await import('@inngest/agent-kit')
const { z } = skip ? {} : await import('zod')

const weather = skip ? undefined : createTool({
  name: 'weather', description: 'The weather.', parameters: z.object({ city: z.string() }),
  handler: ({ city }) => `sunny in ${city}`,
})

const make = (tools = []) => (url) => createAgent({
  name: 'helper', system: 'Help.', tools, model: openai({ model: 'gpt-4o', apiKey: 'key', baseUrl: url }),
})

/** Runs its agent until that calls no tool any more. */
const network = (tools) => (url) => {
  const agent = make(tools)(url)
  return createNetwork({
    name: 'network', agents: [agent], maxIter: 5,
    router: ({ lastResult: last }) => last === undefined || last.toolCalls.length > 0 ? agent : undefined,
  })
}

const without = {
  stream: 'it gives its text whole',
  history: 'it puts earlier messages behind the present one: they stand in that as text',
  abort: 'it takes no signal',
  files: 'it takes one text',
}
const version = versionOf(import.meta.url, '@inngest/agent-kit')

matrix({
  framework: 'Inngest AgentKit', version, skip, without, hidesStatus: true,
  agents: { plain: make() },
  returns: { 'run()': (agent, prompt) => agent.run(prompt) },
})
matrix({
  framework: 'Inngest AgentKit network', version, skip, without, hidesStatus: true,
  agents: { plain: network(), tools: network([weather]) },
  returns: { 'run()': (one, prompt) => one.run(prompt) },
})

guideProgram(import.meta.url, '@inngest/agent-kit', { skip })
