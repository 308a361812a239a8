/** Agents of the OpenAI Agents SDK, with both APIs of OpenAI, and what its `run` gives. */
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'

const folder = import.meta.url
const skip = missing(folder, '@openai/agents', 'openai', 'zod')
const {
  Agent, OpenAI, OpenAIChatCompletionsModel, OpenAIResponsesModel, run, setTracingDisabled, tool, z,
} = skip ? {} : { ...await import('@openai/agents'), ...await import('openai'), ...await import('zod') }
if (!skip) setTracingDisabled(true)

let bookings = 0
const ofCity = (name, description, execute, more) => tool({
  name, description, parameters: z.object({ city: z.string() }), execute, ...more,
})
const weather = skip || ofCity('weather', 'The weather of a city.', ({ city }) => `sunny in ${city}`)
const book = skip || ofCity('book', 'Books a trip.', ({ city }) => {
  bookings++
  return `booked ${city}`
}, { needsApproval: true })
const itemOf = ({ role, content }) => role === 'assistant'
  ? { role, status: 'completed', content: [{ type: 'output_text', text: content }] } : { role, content }
const items = ({ history }, prompt) => [...history.map(itemOf), { role: 'user', content: prompt }]

for (const [api, Model] of [['responses', OpenAIResponsesModel], ['chat', OpenAIChatCompletionsModel]]) {
  const agentOf = (url, more = {}) => new Agent({
    name: 'Helper', ...more,
    model: new Model(new OpenAI({ apiKey: 'sk-1', baseURL: url, maxRetries: 0 }), 'gpt-4o'),
  })
  matrix({
    framework: `OpenAI Agents (${api})`, version: versionOf(folder, '@openai/agents'), skip,
    booked: () => bookings, documents: true, several: '(book) (book)',
    agents: {
      plain: (url) => agentOf(url),
      tools: (url) => agentOf(url, { instructions: 'Be kind.', tools: [weather] }),
      approval: (url) => agentOf(url, { tools: [book] }),
      data: (url) => agentOf(url, { outputType: z.object({ city: z.string(), degrees: z.number() }) }),
    },
    returns: {
      'run()': (agent, prompt, call) => run(agent, items(call, prompt), { signal: call.signal }),
      'run() with a stream': (agent, prompt, call) => (
        run(agent, items(call, prompt), { stream: true, signal: call.signal })
      ),
      'events that are yielded': async function* (agent, prompt, call) {
        yield* await run(agent, items(call, prompt), { stream: true, signal: call.signal })
      },
      'toTextStream()': async (agent, prompt, call) => (
        (await run(agent, items(call, prompt), { stream: true, signal: call.signal })).toTextStream()
      ),
    },
  })
}

guideProgram(folder, '@openai/agents', { skip, env: () => ({ OPENAI_AGENTS_DISABLE_TRACING: '1' }) })
