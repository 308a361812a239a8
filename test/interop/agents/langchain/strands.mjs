/** Agents of Strands, and what they return. */
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'

const folder = import.meta.url
const skip = missing(folder, '@strands-agents/sdk', 'openai', 'zod')
const { Agent, Graph, OpenAIModel, tool, z } = skip ? {} : {
  ...await import('@strands-agents/sdk'), ...await import('@strands-agents/sdk/models/openai'),
  ...await import('@strands-agents/sdk/multiagent'),
  ...await import('zod'),
}

let bookings = 0
const inputSchema = skip || z.object({ city: z.string() })
const weather = skip || tool({
  name: 'weather', description: 'The weather of a city.', inputSchema,
  callback: ({ city }) => `sunny in ${city}`,
})
const form = { type: 'object', properties: { approve: { type: 'boolean' } }, required: ['approve'] }
const book = skip || tool({
  name: 'book', description: 'Books a trip.', inputSchema,
  callback({ city }, context) {
    const reason = { message: `May book run for ${city}?`, schema: form }
    const answer = context.interrupt({ name: 'book', reason })
    if (answer?.approve !== true) return 'not booked'
    bookings++
    return `booked ${city}`
  },
})
const seats = { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] }
const seat = skip || tool({
  name: 'seat', description: 'Reserves a seat.', inputSchema,
  callback: (_args, context) => (
    `seat ${context.interrupt({ name: 'seat', reason: { message: 'Which seat?', schema: seats } })?.seat}`
  ),
})

const modelAt = (url) => new OpenAIModel({
  api: 'chat', modelId: 'gpt-4o', apiKey: 'sk-1', clientConfig: { baseURL: url, maxRetries: 0 },
})
const agentOf = (url, more) => new Agent({
  model: modelAt(url), printer: false, retryStrategy: null, ...more,
})
// One that an author makes for each run: then many run at once.
const fresh = ({ model }, { history }) => new Agent({
  model, printer: false, retryStrategy: null,
  messages: history.map(({ role, content }) => ({ role, content: [{ text: content }] })),
})

matrix({
  framework: 'Strands', version: versionOf(folder, '@strands-agents/sdk'), skip, booked: () => bookings,
  documents: true,
  agents: {
    plain: (url) => agentOf(url),
    tools: (url) => agentOf(url, { systemPrompt: 'Be kind.', tools: [weather] }),
    approval: (url) => agentOf(url, { tools: [book] }),
    question: (url) => agentOf(url, { tools: [seat] }),
    data: (url) => agentOf(url, {
      structuredOutputSchema: z.object({ city: z.string(), degrees: z.number() }),
    }),
  },
  returns: {
    'agent.invoke()': (agent, prompt, call) => (
      fresh(agent, call).invoke(prompt, { cancelSignal: call.signal })
    ),
    'agent.stream()': (agent, prompt, call) => (
      fresh(agent, call).stream(prompt, { cancelSignal: call.signal })
    ),
    'graph.invoke()': (agent, prompt, call) => (
      new Graph({ nodes: [fresh(agent, call)], edges: [] }).invoke(prompt, { cancelSignal: call.signal })
    ),
    'graph.stream()': (agent, prompt, call) => (
      new Graph({ nodes: [fresh(agent, call)], edges: [] }).stream(prompt, { cancelSignal: call.signal })
    ),
    'events that are yielded': async function* (agent, prompt, call) {
      yield* fresh(agent, call).stream(prompt, { cancelSignal: call.signal })
    },
  },
})

guideProgram(folder, '@strands-agents/sdk', { skip })
