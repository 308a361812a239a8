/** The AI SDK, versions 5 to 7, as a client of models by its providers as they come. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { shows } from '../../clients.mjs'
import { agent, THOUGHT, tool as weather } from '../../weather.mjs'
import { missing, versionOf } from '../matrix.mjs'

globalThis.AI_SDK_LOG_WARNINGS = false

const { createServer } = await import('../../../../dist/index.js')

let server
let url
before(async () => {
  server = createServer({ agents: [agent], log: false, graceMs: 0 })
  url = `${(await server.listen(0)).url}/v1`
})
after(() => server.close())

/** A model of each provider; `fetch` is what it asks with. */
const providers = [
  ['ai5', 'openai-2', openaiModel],
  ['ai', 'openai-3', openaiModel],
  ['ai7', '@ai-sdk/openai', openaiModel],
  ['ai7', '@ai-sdk/open-responses', ({ createOpenResponses }, fetch) => ({
    model: createOpenResponses({ name: 'house', url: `${url}/responses`, fetch })('forecaster'), tools: {},
  })],
  ['ai7', 'openai-compatible-3', ({ createOpenAICompatible }, fetch) => ({
    model: createOpenAICompatible({ name: 'house', baseURL: url, fetch })('forecaster'), tools: {},
  })],
]

/** Its `web_search` is a tool that only OpenAI runs. */
function openaiModel({ createOpenAI }, fetch) {
  const openai = createOpenAI({ baseURL: url, apiKey: 'none', fetch })
  return { model: openai('forecaster'), tools: { web_search: openai.tools.webSearch({}) } }
}

for (const [name, provider, make] of providers) {
  const skip = missing(import.meta.url, name, provider, 'zod')
  const what = `AI SDK ${skip ? name : versionOf(import.meta.url, name)}, ${provider}:`
  test(`${what} turns with reasoning and a tool, stored and not`, { skip, timeout: 120_000 }, async (t) => {
    const { generateText, streamText, stepCountIs, isStepCount = stepCountIs, tool } = await import(name)
    const { z } = await import('zod')
    const bodies = []
    const made = make(await import(provider), (address, init) => {
      bodies.push(JSON.parse(init.body))
      return fetch(address, init)
    })
    shows(t, provider, 'two turns', 'tool', 'reasoning', 'stream')
    const more = {
      model: made.model, stopWhen: isStepCount(3), maxRetries: 0,
      tools: {
        ...made.tools,
        [weather.name]: tool({
          description: weather.description, inputSchema: z.object({ city: z.string() }), execute: weather.run,
        }),
      },
    }
    for (const openai of [{}, { store: false }]) {
      const providerOptions = { openai }
      let messages = []
      const turn = async (content, isStream) => {
        messages = [...messages, { role: 'user', content }]
        const asked = { ...more, providerOptions, messages }
        const result = isStream ? streamText(asked) : await generateText(asked)
        const pieces = []
        if (isStream) for await (const piece of result.textStream) if (piece !== '') pieces.push(piece)
        const text = await result.text
        if (isStream) assert.deepEqual(pieces, ['1 before; ', 'sunny in Oslo'])
        assert.equal(await result.reasoningText, THOUGHT)
        messages = [...messages, ...(await result.response).messages]
        return text
      }
      assert.equal(await turn('Rome', false), '0 before; sunny in Rome')
      assert.equal(await turn('Oslo', true), '1 before; sunny in Oslo')
      assert.equal(await turn('Bern', false), '2 before; sunny in Bern')
    }
    const kinds = bodies.map(({ input = [] }) => new Set(input.map(({ type = 'message' }) => type)))
    const references = make === openaiModel ? 5 : 0
    assert.equal(kinds.filter((seen) => seen.has('item_reference')).length, references, 'as it comes')
  })

  test(`${what} an error is told, whole and streamed`, { skip, timeout: 120_000 }, async (t) => {
    shows(t, provider, 'error')
    const { generateText, streamText } = await import(name)
    const { model } = make(await import(provider))
    const told = (error) => /Internal error/.test(JSON.stringify([error.message, error]))
    const errors = []
    const onError = ({ error }) => errors.push(error)
    const asked = { model, prompt: 'break', maxRetries: 0, onError }
    await assert.rejects(generateText(asked), told)
    for await (const part of streamText(asked).fullStream) void part
    assert.ok(errors.length > 0 && told(errors[0]), JSON.stringify(errors))
  })
}
