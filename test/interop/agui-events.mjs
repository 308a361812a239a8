/**
 * Every event of AG-UI that a server sends, over every stream of that face, against the schemas that AG-UI
 * publishes, and against its rules of order: `enforceEvents` knows no member beside those of the schemas, and
 * `verifyEvents` no event out of place.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing } from './start.mjs'

const skip = missing('@ag-ui/client')
if (skip) console.log(`agui-events: skipped: ${skip}`)
const { enforceEvents, verifyEvents } = skip ? {} : await import('@ag-ui/client')
const { EventSchemas } = skip ? {} : await import('@ag-ui/core/schemas')
const { from, lastValueFrom, toArray } = skip ? {} : await import('rxjs')
const { createServer, defineAgent } = await import('../../dist/index.js')

const png = 'iVBORw0KGgo='
const schema = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] }
const tools = [{ name: 'paint', description: 'Paints.', parameters: schema }]

/** What an agent does, and which events say so. */
const runs = {
  nothing: [async () => {}, ['RUN_FINISHED']],
  whole: [() => 'Hello', ['TEXT_MESSAGE_CONTENT']],
  pieces: [async function* () { yield 'a'; yield ''; yield { text: 'b' } }, ['TEXT_MESSAGE_CONTENT']],
  blocks: [async function* () {
    yield { type: 'image', data: png, mimeType: 'image/png' }
    yield { type: 'audio', data: png, mimeType: 'audio/wav' }
    yield { type: 'resource', resource: { uri: 'file:///a', text: 'a' } }
    yield { type: 'resource_link', uri: 'https://example.com/', name: 'a' }
    yield { type: 'data', data: null }
  }, ['TEXT_MESSAGE_CONTENT']],
  data: [() => ({ data: { sum: 5 } }), ['RUN_FINISHED']],
  null: [() => ({ text: 'None.', data: null }), ['RUN_FINISHED']],
  asks: [async function* () { yield { text: 'Which?', state: 'input-required' } }, ['TEXT_MESSAGE_CONTENT']],
  auth: [() => ({ text: 'Sign in.', state: 'auth-required' }), ['TEXT_MESSAGE_CONTENT']],
  message: [async function* () { yield { text: 'Hi', reply: 'message' } }, ['TEXT_MESSAGE_CONTENT']],
  reasoning: [async function* (_prompt, call) {
    call.event({ type: 'reasoning', text: 'a' })
    yield 'b'
    call.event({ type: 'reasoning', text: '' })
    call.event({ type: 'reasoning', text: 'c' })
    call.event({ type: 'usage', inputTokens: 1, outputTokens: 2, cachedInputTokens: 1, reasoningTokens: 1 })
  }, ['REASONING_START', 'REASONING_MESSAGE_CONTENT', 'REASONING_END']],
  tools: [async function* (_prompt, call) {
    yield 'a'
    call.event({ type: 'tool-result', id: 'none', result: 'of no call' })
    for (const id of ['1', '2', '1']) {
      call.event({ type: 'tool-call', id, name: 'search', args: { of: 'tea' } })
    }
    call.event({ type: 'tool-call', id: '3', name: 'search' })
    call.event({ type: 'tool-call', id: '4', name: 'search', args: 'no JSON' })
    call.event({ type: 'tool-call', id: '5', name: 'search', args: null })
    const results = { 1: { found: 2 }, 2: null, 3: undefined, 4: 'text', 5: [1] }
    for (const [id, result] of Object.entries(results)) {
      call.event({ type: 'tool-result', id, result, isError: id === '4' })
    }
    yield 'b'
  }, ['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT']],
  state: [async function* (_prompt, call) {
    yield 'a'
    for (const data of [{ cups: 1 }, null, [], 'text', 0]) {
      call.artifact({ name: 'state', parts: [{ type: 'data', data }] })
    }
    call.artifact({ name: 'state', parts: ['text'] })
    call.artifact({ name: 'state', append: true, parts: [{ type: 'data', data: [
      { op: 'add', path: '/a~1b', value: null }, { op: 'remove', path: '' },
      { op: 'test', path: '/a', value: 0 },
      { op: 'move', from: '/a', path: '/b' }, { op: 'copy', from: '/a', path: '/b' },
      { op: 'replace', path: '/a/0', value: {} },
    ] }] })
    call.artifact({ name: 'state', append: true, parts: [{ type: 'data', data: [] }] })
    yield 'b'
  }, ['STATE_SNAPSHOT', 'STATE_DELTA']],
  artifacts: [async function* (_prompt, call) {
    call.artifact({ parts: [] })
    call.artifact({ name: 'report', id: 'r', description: 'R.', metadata: { a: 1 }, parts: ['a'] })
    call.artifact({ name: 'report', id: 'r', append: true, last: false, parts: [
      'a', { type: 'text', text: 'b' }, { type: 'image', data: Buffer.from('a'), mimeType: 'image/png' },
      { type: 'data', data: { a: 1 } },
    ] })
  }, ['CUSTOM']],
  calls: [(_prompt, call) => {
    if (call.clientToolResults.length > 0) return 'Painted.'
    const toolCalls = [{ id: 'p', name: 'paint', args: { size: 'L' } }, { name: 'paint' }]
    return { text: 'I paint.', toolCalls }
  }, ['TOOL_CALL_START', 'RUN_FINISHED']],
  throws: [() => { throw new Error('secret') }, ['RUN_ERROR']],
  breaks: [async function* (_prompt, call) {
    call.event({ type: 'usage', inputTokens: 1, outputTokens: 2 })
    yield 'a'
    call.event({ type: 'reasoning', text: 'b' })
    throw new Error('secret')
  }, ['RUN_ERROR']],
  fails: [() => ({ text: 'No.', state: 'failed' }), ['RUN_ERROR']],
  rejects: [async function* () { yield { text: 'No.', state: 'rejected' } }, ['RUN_ERROR']],
}

const named = (name, run, timeoutMs) => defineAgent({ name, run, timeoutMs })
const agents = Object.entries(runs).map(([name, [run]]) => named(name, run))
const asker = named('asker', async (_prompt, call) => {
  call.event({ type: 'reasoning', text: 'a' })
  const asked = ['size', 'colour'].map((key) => call.elicit({ message: `Which ${key}?`, key, schema }))
  const { action } = await call.elicit({ message: 'Open this.', url: 'https://example.com/' })
  const sizes = await Promise.all(asked)
  return `${action} ${sizes.map(({ content }) => content?.size).join(' ')}`
})
const groups = ['sequence', 'parallel'].map((mode) => ({
  name: mode, mode, onAgentError: 'continue',
  agents: agents.filter((one) => ['whole', 'tools', 'reasoning', 'throws', 'state'].includes(one.name)),
}))
const server = createServer({
  agents: [...agents, asker, named('slow', () => new Promise(() => {}), 2_000)], groups, log: false,
})
test.after(() => server.close())

/** The events of one run, each checked. */
async function run(agent, more, headers = {}) {
  const response = await server.fetch(new Request(`http://localhost/agents/${agent}/agui`, {
    method: 'POST', headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      threadId: 't', runId: 'r', protocolVersion: '1.0', state: {}, context: [], forwardedProps: {}, tools,
      messages: [{ id: '1', role: 'user', content: 'Hello' }], ...more,
    }),
  }))
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  return checked(await response.text(), agent)
}

async function checked(stream, what) {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: '))
  const events = lines.map((line) => JSON.parse(line.slice('data: '.length)))
  for (const event of events) {
    const { success, error } = EventSchemas.safeParse(event)
    assert.ok(success, `${what}: ${JSON.stringify(event)}: ${error?.message}`)
  }
  const warnings = []
  const { warn } = console
  console.warn = (text) => { warnings.push(text) }
  try {
    const passed = await lastValueFrom(from(events).pipe(enforceEvents(), verifyEvents(), toArray()))
    assert.equal(passed.length, events.length, what)
  } finally {
    console.warn = warn
  }
  assert.deepEqual(warnings, [], what)
  assert.match(events.at(-1).type, /^RUN_(?:FINISHED|ERROR)$/, what)
  return events
}

const typesOf = (events) => events.map(({ type }) => type)

test('each event fits its schema, and stands where it may', { skip }, async () => {
  for (const [name, [, expected]] of Object.entries(runs)) {
    const types = typesOf(await run(name))
    for (const type of expected) assert.ok(types.includes(type), `${name}: ${type} of ${types.join(' ')}`)
  }
})

test('so do the events of groups, whose agents are steps', { skip }, async () => {
  for (const { name } of groups) {
    const types = typesOf(await run(name))
    assert.ok(types.includes('STEP_STARTED') && types.includes('STEP_FINISHED'), types.join(' '))
  }
})

test('so do those of questions, and of the runs that go on with the answers', { skip }, async () => {
  const resumed = async (resume) => (await run('asker', { runId: 'r2', ...resume && { resume } })).at(-1)
  const { outcome: { type, interrupts } } = await resumed()
  assert.deepEqual([type, interrupts.length], ['interrupt', 3])
  const answer = ({ id: interruptId, responseSchema }) => (
    { interruptId, status: 'resolved', ...responseSchema && { payload: { size: 'L' } } }
  )
  assert.equal((await resumed(interrupts.slice(0, 1).map(answer))).outcome.type, 'interrupt')
  assert.equal((await resumed(interrupts.map(answer))).outcome.type, 'success')
  const cancelled = interrupts.map(({ id: interruptId }) => ({ interruptId, status: 'cancelled' }))
  assert.equal((await resumed(cancelled)).outcome.type, 'success')
})

test('so do those of a run that begins without a message, and of one that goes on behind a tool', { skip },
  async () => {
    await run('whole', { messages: [] })
    const call = { id: 'p', type: 'function', function: { name: 'paint', arguments: '{"size":"L"}' } }
    const events = await run('calls', { messages: [
      { id: '1', role: 'user', content: 'Hello' }, { id: '2', role: 'assistant', toolCalls: [call] },
      { id: '3', role: 'tool', toolCallId: 'p', content: 'done' },
    ] })
    assert.equal(events.find(({ delta }) => delta)?.delta, 'Painted.')
  })

test('so do those of a run that comes again, of one whose time is over, and of an older client', { skip },
  async () => {
    const key = { 'idempotency-key': 'a' }
    assert.deepEqual(await run('tools', {}, key), await run('tools', {}, key))
    const [started] = await run('whole')
    assert.equal(started.protocolVersion, '1.0')
    const [older] = await run('whole', { protocolVersion: undefined })
    assert.equal(older.protocolVersion, undefined)
    assert.equal((await run('slow')).at(-1).code, 'timeout')
  })
