import assert from 'node:assert/strict'
import test from 'node:test'
import { modelOf } from '../../../lib/agents/openai/openai.ts'
import { openaiAgent } from '../../../lib/agents/openai/openai.ts'
import { defineTool } from '../../../lib/preset/define.ts'
import type { OpenaiOptions } from '../../../lib/agents/openai/openai.ts'

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
    [{ headers: { 'Authorization: Bearer sk-secret': '' } },
      /has a header with a name that none may have; write/],
    [{ baseUrl: '' }, /baseUrl/],
    [{ model: '' }, /^openaiAgent has model ""; write a string that is not empty$/],
    [{ name: '' }, /^openaiAgent has name ""; write a string that is not empty$/],
    [{ instructions: '' }, /has instructions ""; write a string that is not empty, or leave it out$/],
    [{ temperature: -0.1 }, /^openaiAgent has temperature -0\.1; write a number, zero or above$/],
    [{ temperature: NaN }, /temperature NaN/],
    [{ temperature: Infinity }, /temperature Infinity/],
    [{ maxTokens: 0 }, /^openaiAgent has maxTokens 0; write a whole number above zero, or leave it out$/],
    [{ maxTokens: 0.5 }, /maxTokens 0\.5/],
    [{ maxTokens: Infinity }, /maxTokens Infinity/],
    [{ idleMs: -1 }, /^openaiAgent has idleMs -1; write milliseconds above zero, or Infinity for no limit$/],
    [{ body: { seed: 1n } }, /^openaiAgent has a body that JSON cannot represent; write plain values$/],
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
  [{ system: 'Be brief' }, /^openaiAgent has no option 'system'; it has name, /],
  [{ tool: [now] }, /did you mean 'tools'\?$/],
  [{ max_tokens: 5 }, /did you mean 'maxTokens'\?$/],
  [{ maxStep: 5 }, /did you mean 'maxSteps'\?$/],
  [{ apikey: 'sk-secret' }, /did you mean 'apiKey'\?$/],
  [{ tools: now }, /^openaiAgent has tools an object; write a list, as in \{ tools: \[search\] \}$/],
  [{ tools: [{ name: 'a' }] }, /^The tool 'a' needs 'run'/],
  [{ log: true }, /^openaiAgent has log true; write \(level, message, fields\) => \{\}, or false$/],
  [{ name: null }, /^openaiAgent has name null; write a string that is not empty$/],
  [{ description: 7 }, /^openaiAgent has description 7; write a string, or leave it out$/],
  [{ description: null }, /has description null/],
  [{ baseUrl: null }, /^openaiAgent needs a baseUrl/],
  [{ apiKey: 7 }, /^openaiAgent has apiKey a number; write a string, or leave it out$/],
  [{ apiKey: ['sk-secret'] }, /^openaiAgent has apiKey an array; write/],
  [{ apiKey: () => 'sk-secret' }, /^openaiAgent has apiKey a function; write/],
  [{ model: 7 }, /^openaiAgent has model 7; write/],
  [{ model: null }, /has model null/],
  [{ instructions: ['Be brief'] }, /has instructions an array/],
  [{ tools: null }, /has tools null; write a list/],
  [{ maxSteps: '8' }, /^openaiAgent has maxSteps "8"; write a whole number above zero, or Infinity$/],
  [{ maxSteps: null }, /has maxSteps null/],
  [{ temperature: '0.5' }, /has temperature "0\.5"/],
  [{ maxTokens: '50' }, /has maxTokens "50"/],
  [{ headers: 'Bearer sk-secret' },
    /^openaiAgent has headers a string; write an object, as in \{ 'X-Team': 'blue' \}$/],
  [{ headers: [['X-Team', 'sk-secret']] }, /has headers an array/],
  [{ headers: new Headers({ 'X-Team': 'sk-secret' }) }, /has headers an object; write an object, as in/],
  [{ headers: { 'X-Team': 7 } }, /needs a text without line breaks as the header "X-Team"$/],
  [{ body: '{"seed":7}' }, /^openaiAgent has body a string; write an object, as in \{ seed: 7 \}$/],
  [{ body: new Map([['seed', 7]]) }, /has body an object; write an object, as in/],
  [{ idleMs: '1000' }, /has idleMs "1000"/],
  [{ idleMs: null }, /has idleMs null/],
]

test('what is no option is refused, and so is one of another type', () => {
  for (const [options, message] of untyped) {
    assert.throws(() => Reflect.apply(openaiAgent, undefined, [options]), (error) => {
      assert.ok(error instanceof TypeError)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /sk-secret/)
      return true
    })
  }
})

test('what is undefined counts as left out, and what has no limit may say so', () => {
  const names = [
    'name', 'description', 'baseUrl', 'apiKey', 'model', 'instructions', 'tools', 'maxSteps',
    'maxToolResultBytes', 'temperature', 'maxTokens', 'headers', 'body', 'idleMs', 'log',
  ]
  const nothing: OpenaiOptions = Object.fromEntries(names.map((name) => [name, undefined]))
  assert.equal(openaiAgent(nothing).description, openaiAgent().description)
  openaiAgent({
    maxSteps: Infinity, maxToolResultBytes: Infinity, idleMs: Infinity,
    temperature: 0, apiKey: '', log: false,
  })
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

test('tools may stand by their names, and be those of another framework', () => {
  const theirs = { inputSchema: { type: 'object', properties: {} }, execute: () => 'now' }
  const { tools } = modelOf({ tools: { theirs, own: { run: () => '' }, now } })
  assert.deepEqual([...tools.keys()], ['theirs', 'own', 'now'])
})

test('without tools none are offered', () => {
  for (const tools of [undefined, []]) assert.ok(!('tools' in modelOf({ tools }).request))
})
