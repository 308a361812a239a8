/** What the AI SDK, versions 5 to 7, shows of a response while it streams: reasoning, and a failure. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { missing, versionOf } from '../matrix.mjs'

globalThis.AI_SDK_LOG_WARNINGS = false

const { createServer } = await import('../../../../dist/index.js')

const agents = [
  {
    name: 'Thinker',
    async *run(_prompt, call) {
      call.event({ type: 'reasoning', text: 'Let me ' })
      call.event({ type: 'reasoning', text: 'see.' })
      yield 'Two '
      yield 'pears.'
    },
  },
  {
    name: 'Form',
    run(_prompt, { clientTools: [tool], toolChoice }) {
      if (toolChoice === 'auto') return 'As I like.'
      return { toolCalls: [{ name: toolChoice.name ?? tool.name, args: { count: 2 } }] }
    },
  },
  { name: 'Broken', run: () => ({ text: 'No ink.', state: 'failed' }) },
]

let server
let url
before(async () => {
  server = createServer({ agents, log: false, graceMs: 0 })
  url = `${(await server.listen(0)).url}/v1`
})
after(() => server.close())

for (const [name, provider] of [['ai5', 'openai-2'], ['ai', 'openai-3'], ['ai7', '@ai-sdk/openai']]) {
  const skip = missing(import.meta.url, name, provider, 'zod')
  const load = async () => ({ ...await import(name), ...await import(provider), ...await import('zod') })
  const what = `AI SDK ${skip ? name : versionOf(import.meta.url, name)}:`
  const options = { skip, timeout: 120_000 }
  const ask = ({ createOpenAI }, model, more = {}) => {
    const openai = createOpenAI({ apiKey: 'none', baseURL: url })
    return { model: openai(model), prompt: 'How many?', maxRetries: 0, onError: () => {}, ...more }
  }

  test(`${what} reasoning comes while it streams, and whole`, options, async () => {
    const sdk = await load()
    const { generateText, streamText } = sdk
    for (const store of [true, false]) {
      const asked = ask(sdk, 'thinker', { providerOptions: { openai: { store } } })
      const parts = []
      for await (const { type, text } of streamText(asked).fullStream) {
        if (/^(?:reasoning|text)-/.test(type)) parts.push(text === undefined ? type : [type, text])
      }
      assert.deepEqual(parts, [
        'reasoning-start', ['reasoning-delta', 'Let me '], ['reasoning-delta', 'see.'], 'reasoning-end',
        'text-start', ['text-delta', 'Two '], ['text-delta', 'pears.'], 'text-end',
      ])
      const whole = await generateText(asked)
      assert.deepEqual([whole.reasoningText, whole.text], ['Let me see.', 'Two pears.'])
    }
  })

  test(`${what} a tool that must be called is called`, options, async () => {
    const sdk = await load()
    const inputSchema = sdk.z.object({ count: sdk.z.number() })
    const tools = { note: sdk.tool({ inputSchema }), order: sdk.tool({ inputSchema }) }
    for (const [toolChoice, called] of [
      ['auto', undefined], ['required', 'note'], [{ type: 'tool', toolName: 'order' }, 'order'],
    ]) {
      const { toolCalls: [call] } = await sdk.generateText(ask(sdk, 'form', { tools, toolChoice }))
      assert.deepEqual([call?.toolName, call?.input], [called, called && { count: 2 }])
    }
  })

  test(`${what} a failure is told, whole and streamed`, options, async () => {
    const sdk = await load()
    const { generateText, streamText } = sdk
    await assert.rejects(generateText(ask(sdk, 'broken')), /No ink\./)
    const errors = []
    for await (const { type, error } of streamText(ask(sdk, 'broken')).fullStream) {
      if (type === 'error') errors.push(error)
    }
    assert.match(JSON.stringify(errors), /No ink\./)
  })
}
