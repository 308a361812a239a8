import assert from 'node:assert/strict'
import test from 'node:test'
import { modelOf } from '../../lib/adapters/openai-options.ts'
import { openaiAgent } from '../../lib/adapters/openai.ts'
import { defineTool } from '../../lib/core/tool.ts'
import type { OpenaiOptions } from '../../lib/adapters/openai.ts'

const search = defineTool({
  name: 'shop.search',
  description: 'Finds things.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  run: ({ query }) => query,
})
const now = defineTool({ name: 'now', run: () => 'noon' })

test('options that cannot work are refused at once, and keys are not shown', () => {
  const table: readonly (readonly [OpenaiOptions, RegExp])[] = [
    [{ baseUrl: 'localhost:11434/v1' }, /baseUrl/],
    [{ baseUrl: 'sk-secret' }, /baseUrl/],
    [{ baseUrl: 'ftp://127.0.0.1/' }, /baseUrl/],
    [{ baseUrl: 'http://me:sk-secret@127.0.0.1/v1' }, /without a password/],
    [{ apiKey: 'sk-secret\nsk-secret' }, /authorization/],
    [{ apiKey: 'sk-secret…' }, /authorization/],
    [{ headers: { 'X-Key': 'sk-secret\n' } }, /X-Key/],
    [{ model: '' }, /'model'/],
    [{ name: '' }, /'name'/],
    [{ idleMs: 0 }, /idleMs 0/],
    [{ idleMs: NaN }, /idleMs NaN/],
    [{ maxSteps: 0 }, /maxSteps 0; write a whole number above zero, or Infinity/],
    [{ maxSteps: 1.5 }, /maxSteps 1.5/],
    [{ maxToolResultBytes: -1 }, /maxToolResultBytes -1/],
    [{ tools: [now, now] }, /two tools that the model knows as 'now'/],
    [{ tools: [{ name: 'a.b', run: () => '' }, { name: 'a_b', run: () => '' }] }, /'a_b'; rename one/],
    [{ tools: [now], body: { tools: [] } }, /in 'tools' and in 'body'; write them all in 'tools'/],
  ]
  for (const [options, pattern] of table) {
    assert.throws(() => openaiAgent(options), (error) => {
      assert.ok(error instanceof TypeError)
      assert.match(error.message, pattern)
      assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /sk-secret/)
      return true
    })
  }
})

test('the agent has a name and a description of its own unless it is given others', () => {
  const { name, id, description } = openaiAgent()
  assert.deepEqual([name, id, description], ['Assistant', 'assistant', 'Answers with the model gpt-6-luna.'])
  assert.equal(openaiAgent({ name: 'Poet', description: 'Writes.' }).description, 'Writes.')
})

/** What TypeScript would refuse, and JavaScript does not. */
const untyped: readonly (readonly [options: unknown, message: RegExp])[] = [
  [null, /^openaiAgent takes an object, not null/],
  [{ baseURL: 'http://127.0.0.1/v1' }, /^openaiAgent has no option 'baseURL'; did you mean 'baseUrl'\?$/],
  [{ base_url: 'http://127.0.0.1/v1' }, /did you mean 'baseUrl'\?$/],
  [{ temprature: 1 }, /did you mean 'temperature'\?$/],
  [{ system: 'Be brief' }, /^openaiAgent has no option 'system'; (?:did you mean|known are) '/],
  [{ tool: [now] }, /did you mean 'tools'\?$/],
  [{ max_tokens: 5 }, /did you mean 'maxTokens'\?$/],
  [{ maxStep: 5 }, /did you mean 'maxSteps'\?$/],
  [{ apikey: 'sk-secret' }, /did you mean 'apiKey'\?$/],
  [{ tools: now }, /^openaiAgent has tools an object; write a list, as in \{ tools: \[search\] \}$/],
  [{ tools: [{ name: 'a' }] }, /^The tool 'a' needs 'run'/],
  [{ log: true }, /^openaiAgent has log true; write \(level, message, fields\) => \{\}, or false$/],
]

test('what is no option is refused, and the nearest is named', () => {
  for (const [options, message] of untyped) {
    assert.throws(() => Reflect.apply(openaiAgent, undefined, [options]), { name: 'TypeError', message })
  }
})

test('a tool is offered under a name and with a schema that every endpoint takes', () => {
  const { request, tools } = modelOf({ tools: [search, now], body: { tool_choice: 'required' } })
  assert.deepEqual(request['tools'], [
    {
      type: 'function',
      function: {
        name: 'shop_search',
        description: 'Finds things.',
        parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      },
    },
    {
      type: 'function',
      function: {
        name: 'now',
        description: '',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
      },
    },
  ])
  assert.equal(request['tool_choice'], 'required')
  assert.deepEqual([...tools], [['shop_search', search], ['now', now]])
})

test('without tools none are offered', () => {
  for (const tools of [undefined, []]) assert.ok(!('tools' in modelOf({ tools }).request))
})
