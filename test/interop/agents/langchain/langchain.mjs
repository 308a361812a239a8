/** Agents of LangChain, and graphs and functions of LangGraph. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'

const folder = import.meta.url
const skip = missing(folder, 'langchain', '@langchain/langgraph', '@langchain/openai', 'zod')
const all = skip ? {} : {
  ...await import('langchain'), ...await import('@langchain/langgraph'), ...await import('@langchain/openai'),
  ...await import('zod'),
}
const {
  ChatOpenAI, createAgent, END, entrypoint, humanInTheLoopMiddleware, interrupt, MemorySaver,
  MessagesAnnotation, START, StateGraph, task, tool, ToolNode, z,
} = { ...all, ...skip ? {} : await import('@langchain/langgraph/prebuilt') }

const modelAt = (url) => new ChatOpenAI({
  model: 'gpt-4o', apiKey: 'sk-1', configuration: { baseURL: url }, maxRetries: 0,
})
const ofCity = (name, description, run) => tool(run, {
  name, description, schema: z.object({ city: z.string() }),
})
const responseFormat = skip || z.object({ city: z.string(), degrees: z.number() })
let bookings = 0
const weather = skip || ofCity('weather', 'The weather of a city.', ({ city }) => `sunny in ${city}`)
const book = skip || ofCity('book', 'Books a trip.', ({ city }) => {
  bookings++
  return `booked ${city}`
})
/** Where threads are, which must be gone when their runs are. */
const savers = []
const saver = () => savers[savers.push(new MemorySaver()) - 1]
const messages = ({ history }, prompt) => [...history, { role: 'user', content: prompt }]

matrix({
  framework: 'LangChain', version: versionOf(folder, 'langchain'), skip, booked: () => bookings,
  documents: true,
  agents: {
    plain: (url) => createAgent({ model: modelAt(url), tools: [] }),
    tools: (url) => createAgent({ model: modelAt(url), tools: [weather] }),
    approval: (url) => createAgent({
      model: modelAt(url), tools: [book], checkpointer: saver(),
      middleware: [humanInTheLoopMiddleware({ interruptOn: { book: true } })],
    }),
    data: (url) => createAgent({ model: modelAt(url), tools: [], responseFormat }),
  },
  returns: {
    'agent.invoke()': (agent, prompt, call) => (
      agent.invoke({ messages: messages(call, prompt) }, { signal: call.signal })
    ),
    ...Object.fromEntries([
      undefined, 'messages', 'updates', 'values', ['messages', 'updates', 'values'], ['updates', 'values'],
    ].map((streamMode) => [`agent.stream(${JSON.stringify(streamMode) ?? ''})`, (agent, prompt, call) => (
      agent.stream({ messages: messages(call, prompt) }, { signal: call.signal, streamMode })
    )])),
    'agent.streamEvents()': (agent, prompt, call) => (
      agent.streamEvents({ messages: messages(call, prompt) }, { signal: call.signal, version: 'v2' })
    ),
    'pieces that are yielded': async function* (agent, prompt, call) {
      yield* await agent.stream({ messages: messages(call, prompt) }, { signal: call.signal })
    },
  },
})

/** A graph by hand, of a model and its tools. */
function graphOf(url, tools = [], more = {}) {
  const model = modelAt(url).bindTools(tools)
  return new StateGraph(MessagesAnnotation)
    .addNode('think', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'think')
    .addConditionalEdges('think', ({ messages }) => messages.at(-1).tool_calls?.length > 0 ? 'tools' : END)
    .addEdge('tools', 'think')
    .compile(more)
}

const form = { type: 'object', properties: { approve: { type: 'boolean' } }, required: ['approve'] }
const asking = skip || ofCity('book', 'Books a trip.', ({ city }) => {
  const answer = interrupt({ message: `May the tool book run for ${city}?`, schema: form })
  if (answer?.approve !== true) return 'not booked'
  bookings++
  return `booked ${city}`
})

const seats = { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] }
const seat = skip || ofCity('seat', 'Reserves a seat.', () => (
  `seat ${interrupt({ message: 'Which seat?', schema: seats })?.seat}`
))

matrix({
  framework: 'LangGraph', version: versionOf(folder, '@langchain/langgraph'), skip, booked: () => bookings,
  documents: true,
  agents: {
    plain: (url) => graphOf(url),
    tools: (url) => new StateGraph(MessagesAnnotation)
      .addNode('inner', graphOf(url, [weather])).addEdge(START, 'inner').compile(),
    approval: (url) => graphOf(url, [asking], { checkpointer: saver() }),
    question: (url) => graphOf(url, [seat], { checkpointer: saver() }),
    data: (url) => new StateGraph(MessagesAnnotation)
      .addNode('inner', createAgent({ model: modelAt(url), tools: [], responseFormat }).graph)
      .addEdge(START, 'inner').compile(),
  },
  returns: {
    'graph.invoke()': (graph, prompt, call) => (
      graph.invoke({ messages: messages(call, prompt) }, { signal: call.signal })
    ),
    'graph.stream()': (graph, prompt, call) => (
      graph.stream({ messages: messages(call, prompt) }, { signal: call.signal })
    ),
  },
})

matrix({
  framework: 'LangGraph\'s entrypoint', version: versionOf(folder, '@langchain/langgraph'), skip,
  booked: () => bookings,
  agents: {
    plain: (url) => entrypoint('plain', ({ messages }) => modelAt(url).invoke(messages)),
    tools: (url) => entrypoint('outer', (input) => graphOf(url, [weather]).invoke(input)),
    approval: (url) => entrypoint({ name: 'approval', checkpointer: saver() }, async ({ messages }) => {
      // What is no task runs again when the answer is there.
      const asked = await task('ask', () => modelAt(url).bindTools([asking]).invoke(messages))()
      const done = await asking.invoke(asked.tool_calls[0])
      return modelAt(url).invoke([...messages, asked, done])
    }),
    data: (url) => entrypoint('data', async ({ messages }) => (
      modelAt(url).withStructuredOutput(responseFormat).invoke(messages)
    )),
  },
})

test('no thread is left in a checkpointer', { skip }, () => {
  assert.deepEqual(savers.map(({ storage }) => Object.keys(storage)), savers.map(() => []))
  assert.equal(savers.length, 4)
})

guideProgram(folder, 'langchain', { skip })
guideProgram(folder, '@langchain/langgraph', { skip })
