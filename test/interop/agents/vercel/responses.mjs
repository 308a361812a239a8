/** The AI SDK, versions 5 to 7, as a client of Responses by its OpenAI provider as it comes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing, versionOf } from '../matrix.mjs'

globalThis.AI_SDK_LOG_WARNINGS = false

const { createServer } = await import('../../../../dist/index.js')

/** Reasons, asks the client for the weather of a place, and tells it with how often it was asked before. */
const agent = {
  name: 'Agent',
  async* run(prompt, call) {
    const { clientTools: [tool], clientToolResults: [result], history } = call
    call.event({ type: 'reasoning', text: 'Let me see.' })
    if (result === undefined && tool !== undefined) {
      yield { toolCalls: [{ name: tool.name, args: { city: prompt } }] }
      return
    }
    yield `${history.filter(({ role }) => role === 'user').length} before; `
    yield result === undefined ? prompt : result.result
  },
}

for (const [name, provider] of [['ai5', 'openai-2'], ['ai', 'openai-3'], ['ai7', '@ai-sdk/openai']]) {
  const skip = missing(import.meta.url, name, provider, 'zod')
  const version = skip ? name : versionOf(import.meta.url, name)
  const what = `AI SDK ${version}: turns with reasoning and a tool, stored and not`
  test(what, { skip, timeout: 60_000 }, async (t) => {
    const { generateText, streamText, stepCountIs, isStepCount = stepCountIs, tool } = await import(name)
    const { createOpenAI } = await import(provider)
    const { z } = await import('zod')
    const bodies = []
    const server = createServer({ agents: [agent], log: false, graceMs: 0 })
    const { url } = await server.listen(0)
    t.after(() => server.close())
    const openai = createOpenAI({
      baseURL: `${url}/v1`, apiKey: 'none',
      fetch: (address, init) => {
        bodies.push(JSON.parse(init.body))
        return fetch(address, init)
      },
    })
    const weather = tool({
      description: 'The weather.', inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => `sunny in ${city}`,
    })
    // That one only OpenAI runs.
    const tools = { web_search: openai.tools.webSearch({}), weather }
    const more = { model: openai('agent'), tools, stopWhen: isStepCount(3), maxRetries: 0 }
    for (const providerOptions of [{}, { openai: { store: false } }]) {
      let messages = []
      const turn = async (content, isStream) => {
        messages = [...messages, { role: 'user', content }]
        const asked = { ...more, providerOptions, messages }
        const result = isStream ? streamText(asked) : await generateText(asked)
        const text = await result.text
        messages = [...messages, ...(await result.response).messages]
        return text
      }
      assert.equal(await turn('Rome', false), '0 before; sunny in Rome')
      assert.equal(await turn('Oslo', true), '1 before; sunny in Oslo')
      assert.equal(await turn('Bern', false), '2 before; sunny in Bern')
    }
    const kinds = bodies.map(({ input }) => new Set(input.map(({ type = 'message' }) => type)))
    assert.equal(kinds.filter((seen) => seen.has('item_reference')).length, 5, 'as it comes')
  })
}
