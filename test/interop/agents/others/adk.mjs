/** Google's Agent Development Kit: its Runner. Needs `npm ci` here, and `npm run build` at the root. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'

const skip = missing(import.meta.url, '@google/adk', 'zod')
const adk = skip ? {} : await import('@google/adk')
const { z } = skip ? {} : await import('zod')
const { createServer, testClient } = skip ? {} : await import('../../../../dist/index.js')
if (!skip) adk.setLogLevel(adk.LogLevel.ERROR)

let bookings = 0
const parameters = () => z.object({ city: z.string() })

function runner(url, options) {
  process.env.GOOGLE_GEMINI_BASE_URL = new URL(url).origin
  const model = new adk.Gemini({ model: 'gemini-2.5-flash', apiKey: 'key' })
  const agent = new adk.LlmAgent({ name: 'helper', instruction: 'Help.', model, ...options })
  return new adk.InMemoryRunner({ agent, appName: 'app' })
}

matrix({
  framework: 'Google ADK', version: versionOf(import.meta.url, '@google/adk'), skip,
  agents: {
    plain: (url) => runner(url),
    tools: (url) => runner(url, {
      tools: [new adk.FunctionTool({
        name: 'weather', description: 'The weather.', parameters: parameters(),
        execute: ({ city }) => `sunny in ${city}`,
      })],
    }),
    approval: (url) => runner(url, {
      tools: [new adk.FunctionTool({
        name: 'book', description: 'Books.', parameters: parameters(), requireConfirmation: true,
        execute({ city }) {
          bookings++
          return `booked ${city}`
        },
      })],
    }),
    data: (url) => runner(url, { outputSchema: z.object({ city: z.string(), degrees: z.number() }) }),
  },
  booked: () => bookings,
  returns: {
    'runAsync()': async function* (agent, prompt, call) {
      const { id } = await agent.sessionService.createSession({ appName: 'app', userId: 'user' })
      const newMessage = { role: 'user', parts: [{ text: prompt }] }
      yield* agent.runAsync({ userId: 'user', sessionId: id, newMessage, abortSignal: call.signal })
    },
    'runEphemeral()': (agent, prompt) => agent.runEphemeral({
      userId: 'user', newMessage: { role: 'user', parts: [{ text: prompt }] },
      runConfig: { streamingMode: 'sse' },
    }),
  },
})

guideProgram(import.meta.url, '@google/adk', {
  skip, env: (url) => ({ GOOGLE_API_KEY: 'key', GOOGLE_GEMINI_BASE_URL: new URL(url).origin }),
})

test('Google ADK: what a tool asks the user is asked, and the model gets the answer', { skip }, async (t) => {
  class Asking extends adk.BaseLlm {
    async* generateContentAsync({ contents }) {
      const [{ text }] = contents.at(-1).parts
      const functionCall = { name: 'adk_request_input', args: { message: 'Which city?' } }
      const part = text === 'Hi' ? { functionCall } : { text: `In ${text}.` }
      yield { content: { role: 'model', parts: [part] } }
    }
  }
  const model = new Asking({ model: 'asking' })
  const agent = new adk.LlmAgent({ name: 'helper', model, tools: [adk.requestInputTool] })
  const runner = new adk.InMemoryRunner({ agent, appName: 'app' })
  const server = createServer({ agents: [runner], protocol: 'a2a', log: false })
  t.after(() => server.close())
  const asked = []
  const client = testClient(server, {
    onElicit({ message }) {
      asked.push(message)
      return { action: 'accept', content: { answer: 'Paris' } }
    },
  })
  const { text } = await client.a2a.send('Hi')
  assert.deepEqual([asked, text], [['Which city?'], 'In Paris.'])
})
