import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { defineAgent, testClient } from '../../../lib/index.ts'
import { eventually, jsonOf, request, serve } from '../../fixtures/client.ts'
import type { ServerEvent } from '../../../lib/floors/outbound/event-reader.ts'
import type {
  AgentDefinition, AgentOutput, Call, ServerOptions, TestClientError, TriportServer,
} from '../../../lib/index.ts'

/** A function as an agent that says what it was told. */
function agent(
  run: (prompt: string, call: Call) => AgentOutput, options: Partial<ServerOptions> = {},
): ServerOptions {
  return { agents: [{ name: 'Agent', description: 'Answers.', run }], ...options }
}

async function ask(
  server: TriportServer, body: object, headers?: Record<string, string>,
): Promise<Record<string, unknown>> {
  return jsonOf(await server.fetch(request('/', body, headers)))
}

async function eventsOf(response: Response): Promise<readonly ServerEvent[]> {
  const events: ServerEvent[] = []
  eventReader((event) => events.push(event))(await response.text())
  return events
}

test('a reply says who answered what, and to whom', async (t) => {
  const server = serve(t, agent((prompt) => `You said ${prompt}`))
  const reply = await ask(server, { query: 'hi' }, { 'x-request-id': 'r-1' })
  assert.match(String(reply['session_id']), /^[\w-]{36}$/)
  assert.deepEqual({ ...reply, session_id: '' }, {
    response: 'You said hi', agent: 'Agent', query: 'hi', session_id: '', request_id: 'r-1',
  })
})

const png = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const

const replies: readonly (readonly [what: string, output: AgentOutput, members: Record<string, unknown>])[] = [
  ['nothing', undefined, { response: '' }],
  ['a text', 'a', { response: 'a' }],
  ['data', { n: 1 }, { response: '{"n":1}', data: { n: 1 } }],
  ['text and data', { text: 'one', data: 1 }, { response: 'one', data: 1 }],
  ['data that is nothing', { text: 'none', data: null }, { response: 'none', data: null }],
  ['a picture', { text: 'see', content: [png] }, { response: 'see', content: [png] }],
  ['a question', { text: 'Which?', state: 'input-required' },
    { response: 'Which?', state: 'input-required' }],
]

test('what an agent gives besides its text stands beside it', async (t) => {
  for (const [what, output, members] of replies) {
    const { agent: _agent, query: _query, session_id: _session, request_id: _request, ...rest } =
      await ask(serve(t, agent(() => output)), { query: 'a' })
    assert.deepEqual(rest, members, what)
  }
})

const refusals: readonly (readonly [output: AgentOutput, status: number, error: string, state: string])[] = [
  [{ text: 'No ink.', state: 'failed' }, 500, 'No ink.', 'failed'],
  [{ state: 'failed' }, 500, 'The agent failed', 'failed'],
  [{ text: 'Not that.', state: 'rejected' }, 422, 'Not that.', 'rejected'],
  [{ state: 'rejected' }, 422, 'The agent rejected the message', 'rejected'],
]

test('an agent that fails or rejects says so itself, whole or streamed', async (t) => {
  for (const [output, status, error, state] of refusals) {
    const client = testClient(serve(t, agent(() => output)))
    for (const way of ['query', 'stream'] as const) {
      await assert.rejects(client[way]('a'), (thrown: TestClientError) => {
        const { error: said, state: ended, agent: by } = thrown.document as Record<string, unknown>
        assert.deepEqual([thrown.status, said, ended, by], [status, error, state, 'Agent'], way)
        return true
      })
    }
  }
})

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

/** What an agent may do wrong: the caller is told in time, and nothing else is disturbed. */
const faults: readonly (readonly [
  what: string, run: (prompt: string, call: Call) => AgentOutput, status: number,
])[] = [
  ['throws', () => { throw new Error('a') }, 500],
  ['throws null', () => { throw null }, 500],
  ['rejects', async () => { throw new Error('a') }, 500],
  ['rejects with nothing', () => Promise.reject(undefined), 500],
  ['gives a BigInt', () => 1n as never, 500],
  ['gives a symbol', () => Symbol('a') as never, 500],
  ['gives a function', () => (() => 'a') as never, 500],
  ['gives a number', () => 7 as never, 500],
  ['gives data with a BigInt', () => ({ text: 'a', data: { n: 1n } }), 500],
  ['gives a circle', () => cycle, 500],
  ['gives a circle later', async () => cycle, 500],
  ['gives what breaks when it is read', () => ({ get a() { throw new Error('a') } }), 500],
  ['gives what breaks when it is written', () => ({ toJSON() { throw new Error('a') } }), 500],
  ['gives half a picture', () => ({ type: 'image', data: 'AAAA' }) as never, 500],
  ['gives too much', () => 'x'.repeat(20_000), 413],
  ['gives too much in pieces', async function* () { for (;;) yield 'x'.repeat(500) }, 413],
  ['gives too much data', () => ({ text: 'a', data: 'x'.repeat(20_000) }), 413],
  ['never ends', () => new Promise(() => {}), 504],
  ['never yields', async function* () { await new Promise(() => {}) }, 504],
  ['breaks in the middle', async function* () { yield 'a'; throw new Error('a') }, 500],
  ['yields what it cannot', async function* () { yield 7 as never }, 500],
  ['is thenable and breaks', () => ({ get then() { throw new Error('a') } }) as never, 500],
]

test('whatever an agent does wrong, the caller hears of it and the next one is served', async (t) => {
  const runs = new Map(faults.map(([what, run]) => [what, run]))
  const server = serve(t, agent((prompt, call) => runs.get(prompt)?.(prompt, call) ?? 'fine', {
    maxResultBytes: 10_000, agentTimeoutMs: 40,
  }))
  const client = testClient(server)
  for (const [what, , status] of faults) {
    await assert.rejects(client.query(what), { status }, what)
    await assert.rejects(client.stream(what), { status }, `${what}, streamed`)
    assert.equal((await client.query('next')).response, 'fine', `after ${what}`)
  }
})

test('in a group it is the same, and what was said before is told with it', async (t) => {
  let wrong: (typeof faults)[number][1] = () => 'fine'
  const fine = { name: 'Fine', run: (prompt: string) => `Fine heard ${prompt}` }
  const faulty = { name: 'Faulty', run: (prompt: string, call: Call) => wrong(prompt, call) }
  for (const mode of ['sequence', 'parallel'] as const) {
    const server = serve(t, {
      groups: [{ name: 'Group', agents: [fine, faulty], mode }], maxResultBytes: 10_000, agentTimeoutMs: 40,
    })
    for (const [what, run, status] of faults) {
      wrong = run
      const response = await server.fetch(request('/', { query: 'a' }))
      // What one agent does wrong is a failure of the group; time, and how much the last one gives, are the
      // reply's.
      const isData = what === 'gives too much data'
      const isWhole = status === 504 || (isData && mode === 'sequence')
      assert.equal(response.status, isWhole ? status : isData ? 200 : 500, `${mode}: ${what}`)
      const { results } = await jsonOf(response)
      if (!isWhole) assert.equal((results as { response: string }[])[0]?.response, 'Fine heard a', what)
    }
  }
})

test('a reply is streamed piece by piece, each with an id, and comes whole at the end', async (t) => {
  const server = serve(t, agent(async function* (prompt) {
    yield 'You '
    await sleep(2)
    yield 'said '
    yield png
    yield `${prompt}\r\ndata: x`
  }))
  const response = await server.fetch(request('/', { query: 'hi', stream: true }, { 'x-request-id': 'r-1' }))
  assert.equal(response.headers.get('cache-control'), 'no-cache, no-transform')
  assert.equal(response.headers.get('x-accel-buffering'), 'no')
  const events = await eventsOf(response)
  assert.deepEqual(
    events.map(({ id, event }) => `${id} ${event}`), ['1 delta', '2 delta', '3 delta', '4 done'],
  )
  const texts = events.slice(0, -1).map(({ data }) => (JSON.parse(data) as { text: string }).text)
  assert.deepEqual(texts, ['You ', 'said ', 'hi\r\ndata: x'])
  const { session_id: _session, ...done } = JSON.parse(events.at(-1)!.data) as Record<string, unknown>
  assert.deepEqual(
    done, { response: texts.join(''), agent: 'Agent', query: 'hi', request_id: 'r-1', content: [png] },
  )
})

/** What the events of a group say, a line each: who begins, and what is said. */
async function linesOf(server: TriportServer): Promise<readonly string[]> {
  return (await testClient(server).stream('hi')).events.map(({ event, data }) => {
    const { agent: name, text, response: said } = data as Record<string, unknown>
    return `${event} ${String(event === 'step' ? name : event === 'delta' ? text : said)}`
  })
}

test('a group says which agent speaks before what it says', async (t) => {
  const upper = defineAgent({ name: 'Upper', run: (prompt) => prompt.toUpperCase() })
  const twice = { name: 'Twice', run: async function* (prompt: string) { yield prompt; yield prompt } }
  const inner = { name: 'Inner', agents: [twice, upper] }
  const rows = [
    [[twice, upper], 'sequence', 'step Twice|delta hi|delta hi|step Upper|delta HIHI|done HIHI'],
    [[upper, inner], 'sequence',
      'step Upper|delta HI|step Twice|delta HI|delta HI|step Upper|delta HIHI|done HIHI'],
    [[upper], () => 'upper', 'step Upper|delta HI|done HI'],
  ] as const
  for (const [agents, mode, expected] of rows) {
    const server = serve(t, { groups: [{ name: 'Group', agents, mode }] })
    const lines = await linesOf(server)
    assert.equal(lines.join('|'), expected)
  }
})

test('where several agents speak at one time, each delta follows a step of its own agent', async (t) => {
  let turn: () => void = () => {}
  const one = { name: 'One', run: async function* () {
    yield 'a'
    await new Promise<void>((resolve) => { turn = resolve })
    yield png
    yield 'c'
  } }
  const two = { name: 'Two', run: async function* () {
    yield 'b'
    await sleep(5)
    turn()
  } }
  const server = serve(t, { groups: [{ name: 'Group', agents: [one, two], mode: 'parallel' }] })
  const lines = await linesOf(server)
  assert.deepEqual(lines, [
    'step One', 'step Two', 'step One', 'delta a', 'step Two', 'delta b', 'step One', 'delta c',
    'done ac\n\nb',
  ])
})

/** Says all that can be said, then answers. */
const clerk = agent(async function* (prompt, call) {
  call.event({ type: 'reasoning', text: 'Look it up.' })
  call.event({ type: 'tool-call', id: '1', name: 'price', args: { of: prompt } })
  call.event({ type: 'usage', inputTokens: 10, outputTokens: 2 })
  yield 'It is '
  call.event({ type: 'tool-result', id: '1', result: { total: 6 } })
  call.event({ type: 'tool-call', id: '2', name: 'stock' })
  call.event({ type: 'tool-result', id: '2', isError: true, result: 'No stock.' })
  call.event({ type: 'usage', inputTokens: 20, outputTokens: 3, cachedInputTokens: 8, reasoningTokens: 1 })
  yield '6.'
})

test('what an agent says of its work are events, and its tokens stand in the reply', async (t) => {
  const server = serve(t, clerk)
  const usage = { input_tokens: 30, output_tokens: 5, cached_input_tokens: 8, reasoning_tokens: 1 }
  const { events, reply } = await testClient(server).stream('pears')
  assert.deepEqual(events.slice(0, -1).map(({ event, data }) => [event, data]), [
    ['reasoning', { text: 'Look it up.' }],
    ['tool', { id: '1', name: 'price', state: 'running', args: { of: 'pears' } }],
    ['delta', { text: 'It is ' }],
    ['tool', { id: '1', name: 'price', state: 'done', result: { total: 6 } }],
    ['tool', { id: '2', name: 'stock', state: 'running' }],
    ['tool', { id: '2', name: 'stock', state: 'failed', result: 'No stock.' }],
    ['delta', { text: '6.' }],
  ])
  assert.deepEqual([reply.response, reply.usage], ['It is 6.', usage])
  const whole = await ask(server, { query: 'pears' })
  assert.deepEqual([whole['response'], whole['usage']], ['It is 6.', usage])
})

test('in a group an event has the name of its agent, also where several run at one time', async (t) => {
  const worker = (name: string): AgentDefinition => ({
    name,
    async run(_prompt, { event, can, requestId }) {
      event({ type: 'tool-call', id: name, name: 'count' })
      await sleep(2)
      event({ type: 'reasoning', text: `${name} has ${requestId}, ${can('roots')}` })
      event({ type: 'tool-result', id: name })
      event({ type: 'usage', inputTokens: 1, outputTokens: 1 })
      return name
    },
  })
  for (const mode of ['sequence', 'parallel'] as const) {
    const inner = { name: 'Inner', agents: [worker('B')], mode: 'sequence' } as const
    const server = serve(t, { groups: [{ name: 'All', agents: [worker('A'), inner], mode }] })
    const { events, reply } = await testClient(server).stream('a', { headers: { 'x-request-id': 'r-9' } })
    for (const name of ['A', 'B']) {
      const own = events.map(({ event, data }): Record<string, unknown> => ({ event, ...data as object }))
        .filter((one) => one['agent'] === name && one['event'] !== 'step')
      assert.deepEqual(own, [
        { event: 'tool', id: name, name: 'count', state: 'running', agent: name },
        { event: 'reasoning', text: `${name} has r-9, false`, agent: name },
        { event: 'tool', id: name, name: 'count', state: 'done', agent: name },
      ])
    }
    assert.deepEqual(reply.usage, { input_tokens: 2, output_tokens: 2 })
  }
})

test('what an agent of a group returns of another framework has the name of the agent too', async (t) => {
  const called = { functionCall: { id: '1', name: 'find', args: { q: 'a' } } }
  const adk = {
    name: 'Scout',
    async *run() {
      yield { invocationId: 'i', author: 'Scout', content: { role: 'model', parts: [called] } } as never
      yield 'Found'
    },
  }
  const server = serve(t, { groups: [{ name: 'All', agents: [adk] }] })
  const { events } = await testClient(server).stream('a')
  assert.deepEqual(events.find(({ event }) => event === 'tool')?.data, {
    id: '1', name: 'find', state: 'running', args: { q: 'a' }, agent: 'Scout',
  })
})

test('a group that fails says so after the steps that it has taken', async (t) => {
  const fine = { name: 'Fine', run: () => 'fine' }
  const broken = { name: 'Broken', run: () => { throw new Error('secret') } }
  const server = serve(t, { groups: [{ name: 'Group', agents: [fine, broken] }] })
  const events = await eventsOf(await server.fetch(request('/', { query: 'hi', stream: true })))
  assert.deepEqual(events.map(({ event }) => event), ['step', 'delta', 'step', 'error'])
  assert.deepEqual((JSON.parse(events.at(-1)!.data) as { results: object[] }).results[0], {
    agent: 'Fine', response: 'fine',
  })
})

test('a stream begins before its agent has said anything, and a silent one is kept alive', async (t) => {
  let release: () => void = () => {}
  const server = serve(t, agent(async () => {
    await new Promise<void>((resolve) => { release = resolve })
    return 'late'
  }, { heartbeatMs: 20 }))
  const response = await server.fetch(request('/', { query: 'hi', stream: true }))
  assert.equal(response.status, 200)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  assert.deepEqual(await reader.read(), { done: false, value: ': \n\n' })
  release()
  let text = ''
  for (let step = await reader.read(); !step.done; step = await reader.read()) text += step.value
  assert.match(
    text, /id: 1\nevent: delta\ndata: \{"text":"late"\}\n\nid: 2\nevent: done\ndata: \{"response":"late"/,
  )
})

test('an agent that streams is held back until its reader has caught up', async (t) => {
  let yielded = 0
  const server = serve(t, agent(async function* () {
    for (; yielded < 200; yielded++) yield 'x'.repeat(16 * 1024)
  }))
  const response = await server.fetch(request('/', { query: 'hi', stream: true }))
  await sleep(50)
  assert.ok(yielded < 100, `${yielded} pieces for nobody`)
  const events = await eventsOf(response)
  assert.equal(events.length, 201)
})

/** An agent that tells how many messages came before. */
const counting = (_prompt: string, call: Call): string => String(call.history.length)

test('a conversation goes on under the id that the client was given, or chose', async (t) => {
  const server = serve(t, agent(counting))
  const first = await ask(server, { query: 'a' })
  const id = String(first['session_id'])
  assert.equal(first['response'], '0')
  const second = await ask(server, { query: 'b', session_id: id })
  assert.deepEqual([second['response'], second['session_id']], ['2', id])
  assert.equal((await ask(server, { query: 'c' }, { 'x-session-id': id }))['response'], '4')
  assert.equal((await ask(server, { query: 'd' }))['response'], '0')
  const chosen = { query: 'e', session_id: 'my-own-session' }
  assert.deepEqual(
    [(await ask(server, chosen))['response'], (await ask(server, chosen))['response']], ['0', '2'],
  )
  const { reply } = await testClient(server).stream('e', { sessionId: chosen.session_id })
  assert.equal(reply.response, '4')
  assert.equal((await ask(server, chosen))['response'], '6')
})

test('what failed was never said', async (t) => {
  const server = serve(t, agent((prompt, call) => {
    if (prompt === 'fail') throw new Error('a')
    return String(call.history.length)
  }))
  const session = { session_id: 'my-own-session' }
  await ask(server, { query: 'a', ...session })
  await ask(server, { query: 'fail', ...session })
  assert.equal((await ask(server, { query: 'b', ...session }))['response'], '2')
})

test('a whole conversation that the client sends stands in the place of the kept one', async (t) => {
  const seen: unknown[] = []
  const server = serve(t, agent((prompt, call) => { seen.push(prompt, call.history); return 'ok' }))
  const messages = [{ role: 'system', content: 'be brief' }, { role: 'user', content: 'hi' }]
  await ask(server, { messages, session_id: 'my-own-session' })
  await ask(server, { query: 'more', session_id: 'my-own-session' })
  assert.deepEqual(
    seen,
    ['hi', [messages[0]], 'more', [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'ok' }]],
  )
})

test('nobody takes part in the conversation of somebody else', async (t) => {
  const apiKey = [{ id: 'ann', key: 'a' }, { id: 'bob', key: 'b' }, { id: 'ann', key: 'c' }]
  const server = serve(t, agent(counting, { apiKey }))
  const body = { query: 'hi', session_id: 'one-session' }
  const said: unknown[] = []
  for (const key of ['a', 'b', 'a', 'b', 'c']) {
    said.push((await ask(server, body, { 'x-api-key': key }))['response'])
  }
  assert.deepEqual(said, ['0', '0', '2', '2', '4'])
})

test('a handler learns what its caller sent, and no credential', async (t) => {
  let seen: Call | undefined
  const apiKey = [{ id: 'ann', key: 'k', scopes: ['a'] }]
  const server = serve(t, agent((_prompt, call) => { seen = call; return '' }, { apiKey }))
  await ask(server, { query: 'hi', metadata: { tenant: 7 }, session_id: 'one-session' }, {
    'x-api-key': 'k', 'x-request-id': 'r-1', 'cookie': 'a=b', 'x-note': 'n', 'traceparent': '00-1-2-01',
    'baggage': 'a=b',
  })
  assert.ok(seen)
  assert.equal(seen.protocol, 'http')
  assert.equal(seen.requestId, 'r-1')
  assert.deepEqual(seen.principal, { id: 'key:ann', scopes: ['a'] })
  assert.equal(seen.sessionId, 'one-session')
  assert.deepEqual(seen.metadata, { tenant: 7 })
  assert.deepEqual(seen.message, [{ type: 'text', text: 'hi' }])
  assert.deepEqual(seen.trace, { traceparent: '00-1-2-01', baggage: 'a=b' })
  assert.equal(seen.client, undefined)
  assert.equal(seen.headers.get('x-note'), 'n')
  assert.deepEqual(['x-api-key', 'authorization', 'cookie'].filter((name) => seen!.headers.has(name)), [])
})

test('this door can ask its client nothing, and says so', async (t) => {
  const server = serve(t, agent(async (prompt, call) => {
    const abilities = (['elicit', 'elicit-url', 'sample', 'roots'] as const).filter((what) => call.can(what))
    if (prompt === 'can') return abilities.join()
    if (prompt === 'elicit') await call.elicit({ message: 'Who?', schema: {} })
    if (prompt === 'elicit-url') await call.elicit({ message: 'Where?', url: 'https://x.example' })
    if (prompt === 'sample') await call.sample({ messages: [], maxTokens: 1 })
    if (prompt === 'roots') await call.roots()
    call.progress(1, 2)
    call.detach()
    call.artifact({ name: 'Notes', parts: ['a', png] })
    return 'went on'
  }))
  assert.equal((await ask(server, { query: 'can' }))['response'], '')
  for (const what of ['elicit', 'elicit-url', 'sample', 'roots']) {
    const response = await server.fetch(request('/', { query: what }))
    assert.equal(response.status, 501)
    const { error, ability } = await jsonOf(response)
    assert.match(String(error), new RegExp(`has not declared '${what}'.*call\\.can\\('${what}'\\)`))
    assert.equal(ability, what)
  }
  const { response, content } = await ask(server, { query: 'rest' })
  assert.equal(response, 'went on')
  assert.deepEqual(content, [{ type: 'text', text: 'a' }, png])
})

test('what a handler logs goes to the log of the server, whatever it is', async (t) => {
  const lines: unknown[] = []
  const log = (level: string, message: string, fields: Record<string, unknown> = {}): void => {
    lines.push([level, message, fields['logger'], fields['request']])
  }
  const server = serve(t, agent((_prompt, call) => {
    call.log('notice', 'plain')
    call.log('critical', { n: 1 }, 'mine')
    call.log('debug', cycle)
    call.log('warning', 7n)
    return 'ok'
  }, { log }))
  assert.equal((await ask(server, { query: 'hi' }, { 'x-request-id': 'r-1' }))['response'], 'ok')
  assert.deepEqual(lines, [
    ['info', 'plain', undefined, 'r-1'], ['error', '{"n":1}', 'mine', 'r-1'],
    ['debug', '[object Object]', undefined, 'r-1'],
    ['warning', '7', undefined, 'r-1'],
  ])
})

test('as many calls run as may, the next is told to come again, a deaf one counts on', async (t) => {
  const releases: (() => void)[] = []
  const server = serve(t, agent(() => new Promise<string>((resolve) => releases.push(() => resolve('ok'))), {
    maxCalls: 2, maxCallsPerSession: 2, agentTimeoutMs: 60,
  }))
  const running = [1, 2].map(() => server.fetch(request('/', { query: 'hi' })))
  await eventually(() => releases.length === 2, 'both run')
  for (const stream of [false, true]) {
    const full = await server.fetch(request('/', { query: 'hi', stream }))
    assert.equal(full.status, 503)
    assert.equal(full.headers.get('retry-after'), '1')
    assert.equal((await jsonOf(full))['error'], '2 calls are running here already; try again later')
  }
  assert.deepEqual((await Promise.all(running)).map(({ status }) => status), [504, 504])
  assert.equal((await server.fetch(request('/', { query: 'hi' }))).status, 503)
  for (const release of releases) release()
  await sleep(1)
  const next = server.fetch(request('/', { query: 'hi' }))
  await eventually(() => releases.length === 3, 'there is room again')
  releases[2]!()
  assert.equal((await next).status, 200)
})
