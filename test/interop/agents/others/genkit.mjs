/** Flows of Genkit. Needs `npm ci` here. */
import { guideProgram } from '../guide.mjs'
import { matrix, missing, versionOf } from '../matrix.mjs'

const skip = missing(import.meta.url, 'genkit', '@genkit-ai/compat-oai')
const { genkit, z } = skip ? {} : await import('genkit')
const { openAI } = skip ? {} : await import('@genkit-ai/compat-oai/openai')

function aiAt(url) {
  const plugin = openAI({ apiKey: 'key', baseURL: url, maxRetries: 0 })
  return genkit({ plugins: [plugin], model: openAI.model('gpt-4o') })
}

/** A flow that passes the pieces of its model on. */
function plain(url) {
  const ai = aiAt(url)
  const flow = ai.defineFlow({ name: 'helper', inputSchema: z.string(), streamSchema: z.any() },
    async (prompt, { sendChunk, context, abortSignal }) => {
      const { stream, response } = ai.generateStream({ prompt, messages: messagesOf(context), abortSignal })
      for await (const chunk of stream) sendChunk(chunk)
      return (await response).text
    })
  return Object.assign(flow, { ai })
}

const messagesOf = ({ history = [] }) => history.map(({ role, content }) => (
  { role: role === 'assistant' ? 'model' : role, content: [{ text: content }] }
))

function tools(url) {
  const ai = aiAt(url)
  const weather = ai.defineTool({
    name: 'weather', description: 'The weather.', inputSchema: z.object({ city: z.string() }),
  }, async ({ city }) => `sunny in ${city}`)
  return ai.defineFlow({ name: 'tools', inputSchema: z.string(), streamSchema: z.any() },
    async (prompt, { sendChunk: onChunk }) => (await ai.generate({ prompt, tools: [weather], onChunk })).text)
}

function data(url) {
  const ai = aiAt(url)
  const schema = z.object({ city: z.string(), degrees: z.number() })
  return ai.defineFlow({ name: 'data', inputSchema: z.object({ question: z.string() }) },
    async ({ question }) => (await ai.generate({ prompt: question, output: { schema } })).output)
}

matrix({
  framework: 'Genkit', version: versionOf(import.meta.url, 'genkit'), skip,
  agents: { plain, tools, data },
  without: {
    files: 'a flow takes what its schema says',
    usage: 'a flow does not say it; what `generate` gives does',
  },
  returns: {
    'the flow': (flow, prompt, call) => flow(prompt, { abortSignal: call.signal }),
    'generate()': ({ ai }, prompt, call) => ai.generate({ prompt, abortSignal: call.signal }),
    'generateStream()': ({ ai }, prompt, call) => ai.generateStream({ prompt, abortSignal: call.signal }),
    'flow.stream()': (flow, prompt, call) => flow.stream(prompt, { abortSignal: call.signal }),
  },
})

guideProgram(import.meta.url, 'genkit', { skip })
