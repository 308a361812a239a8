/**
 * Tools, and agents as tools: what is listed, what may be called, what comes of it.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { compile, defineAgent, Fault } from '../../../lib/index.ts'
import {
  allRevisions, answerOf, ask, begin, call, legacyRevisions, modern, post, said, serveMcp,
} from './client.ts'
import { EventStream, messagesOf } from '../../fixtures/events.ts'
import type { JsonSchema } from '../../../lib/index.ts'
import type { Json } from '../../fixtures/events.ts'

const researcher = defineAgent(
  { name: 'Night Researcher', description: 'Finds facts.', run: (prompt) => `facts about ${prompt}` },
)
const writer = defineAgent({ name: 'Writer', description: 'Writes.', run: (prompt) => `a text on ${prompt}` })

test('an agent is execute_<id>_task, with _ for -, and ask_<id> which is not listed', async (t) => {
  const server = serveMcp(t, { agents: [researcher] })
  const { result } = await ask(server, 'tools/list')
  assert.deepEqual(result.tools.map(({ name }: Json) => name), ['execute_night_researcher_task'])
  const [{ description, inputSchema }] = result.tools
  assert.match(description, /Night Researcher.*Finds facts\./)
  assert.deepEqual(
    inputSchema, { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  )
  assert.equal(
    said(await call(server, 'execute_night_researcher_task', { prompt: 'tea' })), 'facts about tea',
  )
  assert.equal(said(await call(server, 'ask_night_researcher', { message: 'tea' })), 'facts about tea')
  assert.equal((await call(server, 'ask_night_researcher', { message: 7 })).isError, true)
  assert.equal((await call(server, 'execute_night_researcher_task', {})).isError, true)
})

test('a group is its agents, execute_<group>_workflow, list_agents, then tools as given', async (t) => {
  const server = serveMcp(t, {
    groups: [{ name: 'Desk', agents: [researcher, writer] }],
    tools: [{ name: 'zeta', run: () => 'z' }, { name: 'alpha', run: () => 'a' }],
  })
  const { result } = await ask(server, 'tools/list')
  assert.deepEqual(result.tools.map(({ name }: Json) => name), [
    'execute_night_researcher_task', 'execute_writer_task', 'execute_desk_workflow', 'list_agents',
    'zeta', 'alpha',
  ])
  assert.equal(
    said(await call(server, 'execute_desk_workflow', { query: 'tea' })), 'a text on facts about tea',
  )
  assert.equal(said(await call(server, 'ask_desk', { message: 'tea' })), 'a text on facts about tea')
  const { structuredContent, content } = await call(server, 'list_agents')
  assert.deepEqual(structuredContent, { agents: [
    { id: 'night-researcher', name: 'Night Researcher', description: 'Finds facts.' },
    { id: 'writer', name: 'Writer', description: 'Writes.' },
  ] })
  assert.deepEqual(JSON.parse(content[0].text), structuredContent)
})

test('a group whose agent fails is a failed call, and so is one whose router goes astray', async (t) => {
  const broken = defineAgent({ name: 'Broken', run() { throw new Fault('failed', 'out of ink') } })
  const server = serveMcp(t, {
    groups: [
      { name: 'Desk', agents: [researcher, broken] },
      { name: 'Lost', agents: [writer], mode: () => 'nobody' },
    ],
  })
  const desk = await call(server, 'execute_desk_workflow', { query: 'tea' })
  assert.equal(desk.isError, true)
  assert.match(said(desk), /out of ink/)
  assert.equal((await call(server, 'execute_lost_workflow', { query: 'tea' })).isError, true)
})

test('ask_<id> with a session_id goes on with the conversation of its principal', async (t) => {
  const server = serveMcp(t, {
    apiKey: [{ id: 'a', key: 'key-of-alice' }, { id: 'b', key: 'key-of-bob' }],
    agents: [
      {
        name: 'Counter',
        run: (_prompt, { history }) => history.map(({ content }) => content).join('|') || 'none',
      },
    ],
  })
  const say = (message: string, sessionId: string | undefined, key: string): Promise<Json> => (
    call(server, 'ask_counter', { message, ...sessionId !== undefined && { session_id: sessionId } }, {
      headers: { 'X-API-Key': key },
    })
  )
  const session = 'conversation-1'
  assert.equal(said(await say('one', session, 'key-of-alice')), 'none')
  assert.equal(said(await say('two', session, 'key-of-alice')), 'one|none')
  assert.equal(said(await say('three', session, 'key-of-alice')), 'one|none|two|one|none')
  assert.equal(said(await say('one', session, 'key-of-bob')), 'none')
  assert.equal(said(await say('one', undefined, 'key-of-alice')), 'none')
  for (const bad of ['short', 'with blanks in it', 'x'.repeat(200), '../../etc']) {
    assert.equal((await say('one', bad, 'key-of-alice')).isError, true)
  }
})

test('what an agent streams is progress for who gave a token, and the whole answer for all', async (t) => {
  const server = serveMcp(t, {
    agents: [{ name: 'Poet', async *run() {
      yield 'roses '
      await sleep(1)
      yield 'are red'
    } }],
  })
  const params = { name: 'execute_poet_task', arguments: { prompt: 'go' } }
  const messages = await messagesOf(
    await modern(server, 'tools/call', params, { meta: { progressToken: 'p' } }),
  )
  assert.deepEqual(
    messages.slice(0, -1).map(({ params }) => [params.progress, params.message]),
    [[1, 'roses '], [2, 'are red']],
  )
  assert.equal(said(messages.at(-1).result), 'roses are red')
  assert.equal((await messagesOf(await modern(server, 'tools/call', params))).length, 1)
})

test('a tool that an agent calls is progress between its pieces, and tokens are in the result', async (t) => {
  const usage = { inputTokens: 30, outputTokens: 5, cachedInputTokens: 8 }
  const server = serveMcp(t, {
    agents: [{ name: 'Clerk', async *run(prompt, { event }) {
      event({ type: 'reasoning', text: 'Look it up.' })
      event({ type: 'tool-call', id: '1', name: 'price', args: { of: prompt } })
      yield 'Six'
      event({ type: 'tool-result', id: '1', result: 6 })
      event({ type: 'tool-call', id: '2', name: 'stock' })
      event({ type: 'tool-result', id: '2', isError: true })
      event({ type: 'usage', inputTokens: 10, outputTokens: 5 })
      yield '.'
      event({ type: 'usage', inputTokens: 20, outputTokens: 0, cachedInputTokens: 8 })
      if (prompt === 'fail') throw new Error('a')
    } }],
  })
  for (const prompt of ['go', 'fail']) {
    const params = { name: 'execute_clerk_task', arguments: { prompt } }
    const messages = await messagesOf(
      await modern(server, 'tools/call', params, { meta: { progressToken: 'p' } }),
    )
    assert.deepEqual(messages.slice(0, -1).map(({ params }) => [params.progress, params.message]), [
      [0.000001, 'Calls price…'], [1, 'Six'], [1.000001, 'price is done'], [1.000002, 'Calls stock…'],
      [1.000003, 'stock failed'], [2, '.'],
    ])
    assert.deepEqual(messages.at(-1).result._meta['triport/usage'], usage, prompt)
    const alone = await messagesOf(await modern(server, 'tools/call', params))
    assert.equal(alone.length, 1)
    assert.deepEqual(alone[0].result._meta['triport/usage'], usage, prompt)
    for (const revision of legacyRevisions) {
      const { result } = await (await begin(server, revision)).ask('tools/call', params)
      assert.deepEqual([result._meta, result.isError], [
        { 'triport/usage': usage }, prompt === 'fail' ? true : undefined,
      ], revision)
    }
  }
})

test('what a tool says itself in its _meta stands beside its tokens', async (t) => {
  const server = serveMcp(t, {
    tools: [{ name: 'a', run(_args, call) {
      call.event({ type: 'usage', inputTokens: 1, outputTokens: 2 })
      return { content: ['b'], _meta: { 'example.com/c': 3 } }
    } }],
  })
  const { _meta } = await call(server, 'a', {})
  assert.deepEqual([_meta['triport/usage'], _meta['example.com/c']], [{ inputTokens: 1, outputTokens: 2 }, 3])
})

const states: readonly (readonly [string, boolean])[] = [
  ['completed', false], ['input-required', false], ['rejected', true], ['failed', true],
]

for (const [state, isError] of states) {
  test(`an answer that is ${state} is ${isError ? 'an error' : 'ordinary text'}`, async (t) => {
    const server = serveMcp(
  t,
      { agents: [{ name: 'A', run: () => ({ text: 'said', state: state as 'completed' }) }] },
    )
    const result = await call(server, 'execute_a_task', { prompt: 'go' })
    assert.equal(said(result), 'said')
    assert.equal(result.isError ?? false, isError)
  })
}

test('what an agent gives for machines is structured content', async (t) => {
  const server = serveMcp(t, { agents: [{ name: 'A', run: () => ({ text: 'two', data: { n: 2 } }) }] })
  const { content, structuredContent } = await call(server, 'execute_a_task', { prompt: 'go' })
  assert.deepEqual([content[0].text, structuredContent], ['two', { n: 2 }])
})

test('a name used twice is a mistake in the definition, aliases too', async (t) => {
  const tool = (name: string): object => ({ name, run: () => '' })
  for (const name of ['execute_writer_task', 'ask_writer']) {
    const options = { agents: [writer], tools: [tool(name) as never] }
    assert.throws(() => serveMcp(t, options), /Two tools are named/)
  }
  assert.throws(
    () => serveMcp(t, { groups: [{ name: 'G', agents: [writer] }], tools: [tool('list_agents') as never] }),
    /list_agents/,
  )
  const twins = [tool('a') as never, tool('a') as never]
  assert.throws(() => serveMcp(t, { tools: twins }), /Two tools are named 'a'/)
})

const nested: readonly (readonly [what: string, schema: object, value: unknown])[] = [
  ['the whole', { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#' } }] }, ['a', ['b']]],
  ['a part', {
    type: 'array', items: {
      type: 'object', properties: { name: { type: 'string' }, kid: { $ref: '#/items/properties/name' } },
    },
  }, [{ name: 'a', kid: 'b' }]],
  ['a definition that refers to the whole', {
    type: 'array', items: { $ref: '#/$defs/a' }, $defs: { a: { anyOf: [{ type: 'string' }, { $ref: '#' }] } },
  }, ['a', ['b']]],
  ['a definition below an address', {
    $id: 'https://schemas.test/list', type: 'array', items: { $ref: '#/$defs/a' },
    $defs: { a: { type: 'string' } },
  }, ['a']],
  ['a value that looks like one', { type: 'array', const: [{ $ref: '#' }] }, [{ $ref: '#' }]],
]

test('a schema that older clients get as a member of another still refers to what it did', async (t) => {
  for (const [what, schema, value] of nested) {
    const server = serveMcp(t, {
      tools: [{ name: 'a', outputSchema: schema as JsonSchema, run: () => value }],
    })
    const session = await begin(server, '2025-06-18')
    const { result: { tools: [listed] } } = await session.ask('tools/list')
    const { result } = await session.ask('tools/call', { name: 'a' })
    assert.deepEqual(result.structuredContent, { result: value }, what)
    const { valid, errors } = compile(listed.outputSchema)(result.structuredContent)
    assert.ok(valid, `${what}: ${JSON.stringify(errors)}`)
    assert.equal(compile(listed.outputSchema)({ result: [7] }).valid, false, what)
  }
})

const outputs: readonly (readonly [string, () => unknown, (result: Json) => unknown, unknown])[] = [
  ['text', () => 'text', ({ content }) => content, [{ type: 'text', text: 'text' }]],
  ['empty text', () => '', ({ content }) => content, [{ type: 'text', text: '' }]],
  ['nothing', () => undefined, ({ content }) => content, []],
  [
    'null', () => null, ({ content, structuredContent }) => [content[0].text, structuredContent],
    ['null', null],
  ],
  ['a number', () => 7, ({ content, structuredContent }) => [content[0].text, structuredContent], ['7', 7]],
  [
    'an object', () => ({ a: 1 }), ({ content, structuredContent }) => [content[0].text, structuredContent],
    ['{"a":1}', { a: 1 }],
  ],
  [
    'a list', () => [1, 2], ({ content, structuredContent }) => [content[0].text, structuredContent],
    ['[1,2]', [1, 2]],
  ],
  ['a block', () => ({ type: 'text', text: 'x' }), ({ content }) => content, [{ type: 'text', text: 'x' }]],
  [
    'bytes in a block', () => ({ type: 'image', data: new Uint8Array([1, 2]), mimeType: 'image/png' }),
    ({ content }) => content, [{ type: 'image', data: 'AQI=', mimeType: 'image/png' }],
  ],
  [
    'a whole result',
    () => ({ content: ['a', { type: 'text', text: 'b' }], isError: true, _meta: { x: 1 } }),
    ({ content, isError, _meta }) => [content.length, isError, _meta.x], [2, true, 1],
  ],
  [
    'structured content alone', () => ({ structuredContent: { a: 1 } }),
    ({ content, structuredContent }) => [content[0].text, structuredContent], ['{"a":1}', { a: 1 }],
  ],
  ['a promise', () => Promise.resolve('later'), ({ content }) => content[0].text, 'later'],
]

for (const [what, run, look, expected] of outputs) {
  test(`a tool may return ${what}`, async (t) => {
    const server = serveMcp(t, { tools: [{ name: 't', run }] })
    assert.deepEqual(look(await call(server, 't')), expected)
  })
}

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

const failures: readonly (readonly [string, () => unknown, RegExp])[] = [
  [
    'an error', () => { throw new Error('the password is swordfish') },
    /^Internal error \(request [\w.-]+\)$/,
  ],
  ['null', () => { throw null }, /^Internal error/],
  ['undefined', () => { throw undefined }, /^Internal error/],
  ['text', () => { throw 'the password is swordfish' }, /^Internal error/],
  ['a rejection', () => Promise.reject(new Error('swordfish')), /^Internal error/],
  ['a rejection with null', () => Promise.reject(null), /^Internal error/],
  ['a Fault', () => { throw new Fault('failed', 'The archive is closed') }, /^The archive is closed$/],
  ['a Fault for bad input', () => { throw new Fault('invalid', 'No such year') }, /^No such year$/],
  ['a bigint', () => 7n, /^Internal error/],
  ['a cycle', () => cycle, /^Internal error/],
  ['a function', () => () => 1, /^Internal error/],
  ['a cycle in a block', () => ({ content: [{ type: 'text', text: 'x', _meta: cycle }] }), /^Internal error/],
  ['a toJSON that throws', () => ({ toJSON() { throw new Error('swordfish') } }), /^Internal error/],
  ['a getter that throws', () => ({ get a() { throw new Error('swordfish') } }), /^Internal error/],
  ['a thenable that throws', () => ({ then() { throw new Error('swordfish') } }), /^Internal error/],
]

for (const [what, run, text] of failures) {
  for (const isLate of [false, true]) {
    const when = isLate ? 'later' : 'at once'
    test(`a tool that gives ${what} ${when} is a failed call everywhere, and tells no secret`, async (t) => {
      const server = serveMcp(t, { tools: [{ name: 't', async run() {
        if (isLate) await sleep(1)
        return run()
      } }, { name: 'sync', run }] })
      for (const name of isLate ? ['t'] : ['t', 'sync']) {
        for (const revision of allRevisions) {
          const response = revision === '2026-07-28' ? await modern(server, 'tools/call', { name })
            : await (await begin(server, revision)).send('tools/call', { name })
          assert.equal(response.status, 200)
          const raw = await response.text()
          assert.doesNotMatch(raw, /swordfish|\.[jt]s:\d/)
          const { result } = JSON.parse(raw)
          assert.equal(result.isError, true)
          assert.match(said(result), text)
        }
      }
      await server.close()
    })
  }
}

for (const [what, detail, data] of [
  ['JSON', { field: 'a' }, { detail: 'Not now', field: 'a' }],
  ['a number', 7, { detail: 'Not now' }],
  ['a bigint', { big: 1n }, { detail: 'Not now' }],
  ['a cycle', cycle, { detail: 'Not now' }],
] as const) {
  test(`what a fault carries goes with its error, where JSON can say it: ${what}`, async (t) => {
    const run = (): never => { throw new Fault('busy', 'Not now', detail) }
    const prompts = [{ name: 't', get: async () => run() }]
    const server = serveMcp(t, { tools: [{ name: 't', run }], prompts })
    for (const method of ['tools/call', 'prompts/get']) {
      const { error } = await ask(server, method, { name: 't' })
      assert.deepEqual(error, { code: -32603, message: 'Internal error', data })
    }
  })
}

test('exposeErrors shows what went wrong', async (t) => {
  const tools = [{ name: 't', run() { throw new Error('no ink') } }]
  const server = serveMcp(t, { exposeErrors: true, tools })
  assert.equal(said(await call(server, 't')), 'no ink')
})

test('a tool that takes too long is a failed call; what it says later goes nowhere', async (t) => {
  let signal: AbortSignal | undefined
  const server = serveMcp(t, { toolTimeoutMs: 20, tools: [{ name: 't', async run(_args, call) {
    signal = call.signal
    await sleep(40)
    call.progress(1)
    return 'late'
  } }] })
  const session = await begin(server)
  const result = await session.call('t', {}, { progressToken: 1 })
  assert.equal(result.isError, true)
  assert.match(said(result), /t: No result within 20 ms/)
  assert.equal(signal!.aborted, true)
  await sleep(40)
  assert.equal((await session.send('ping')).status, 200)
})

test('a result that is too large is an error, in bytes and not in characters', async (t) => {
  for (const said of ['x'.repeat(2_000), '€'.repeat(500)]) {
    const server = serveMcp(t, { maxResultBytes: 1_000, tools: [{ name: 't', run: () => said }] })
    const { error } = await ask(server, 'tools/call', { name: 't' })
    assert.equal(error.code, -32600)
    assert.match(error.data.detail, /1000 bytes/)
  }
})

test('a value that spells itself otherwise in JSON is no object of its own on the wire', async (t) => {
  const outputSchema = { type: 'string' } as const
  const server = serveMcp(t, { tools: [
    { name: 'date', run: () => new Date(0) },
    { name: 'data', run: () => ({ structuredContent: new Date(0) }) },
    { name: 'text', outputSchema, run: () => 'a' },
  ] })
  const at = '1970-01-01T00:00:00.000Z'
  const session = await begin(server)
  const older = async (name: string): Promise<unknown> => (
    (await session.ask('tools/call', { name })).result.structuredContent
  )
  assert.deepEqual([await older('date'), await older('data'), await older('text')],
    [undefined, { result: at }, { result: 'a' }])
  const newer = async (name: string): Promise<unknown> => (await call(server, name)).structuredContent
  assert.deepEqual([await newer('date'), await newer('data'), await newer('text')], [undefined, at, 'a'])
})

test('a result that breaks the promise of its schema is the defect of the tool', async (t) => {
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
  const server = serveMcp(t, { tools: [
    { name: 'fine', outputSchema, run: () => ({ n: 1 }) },
    { name: 'broken', outputSchema, run: () => ({ n: 'one' }) },
    { name: 'failed', outputSchema, run: () => ({ content: ['no'], isError: true }) },
  ] })
  assert.deepEqual((await call(server, 'fine')).structuredContent, { n: 1 })
  const broken = await call(server, 'broken')
  assert.equal(broken.isError, true)
  assert.match(said(broken), /^Internal error/)
  assert.equal(said(await call(server, 'failed')), 'no')
})

test('an author\'s schema is passed on as it is', async (t) => {
  const inputSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object',
    $defs: { a: { $anchor: 'a', type: 'string' } }, properties: {
      a: { $ref: '#/$defs/a' }, b: { 'x-mcp-header': 'B', type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }],
    if: { required: ['a'] }, then: {}, else: {}, additionalProperties: false, 'x-mine': true,
  } as const
  const server = serveMcp(t, { tools: [{ name: 't', inputSchema, run: () => '' }] })
  const oldest = await begin(server, '2024-11-05')
  for (const { result } of [await ask(server, 'tools/list'), await oldest.ask('tools/list')]) {
    assert.deepEqual(result.tools[0].inputSchema, inputSchema)
  }
})

test('a tool without a schema takes no arguments', async (t) => {
  const server = serveMcp(t, { tools: [{ name: 't', run: () => 'fine' }] })
  const { result } = await ask(server, 'tools/list')
  assert.deepEqual(result.tools[0].inputSchema, { type: 'object', additionalProperties: false })
  assert.equal(said(await call(server, 't')), 'fine')
  assert.equal((await call(server, 't', { a: 1 })).isError, true)
})

test('a thousand clients with one id at one time get their own answers', async (t) => {
  const server = serveMcp(t, { tools: [{
    name: 'echo', inputSchema: {
      type: 'object', properties: { text: { type: 'string' } }, required: ['text'],
    },
    async run({ text }) {
      await sleep(Math.random() * 20)
      return text
    },
  }] })
  const sessions = await Promise.all(Array.from({ length: 10 }, () => begin(server)))
  const texts = await Promise.all(Array.from({ length: 1_000 }, async (_, n) => {
    const params = { name: 'echo', arguments: { text: `n${n}` } }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const response = n % 3 === 0 ? await modern(server, 'tools/call', params, { id: 1 })
      : n % 3 === 1 ? await post(server, message)
        : await sessions[n % 10]!.post({ ...message, id: n })
    return said((await answerOf(response)).result)
  }))
  assert.deepEqual(texts, Array.from({ length: 1_000 }, (_, n) => `n${n}`))
})

test('where 1024 calls run, the next is told to wait', async (t) => {
  const waiting: (() => void)[] = []
  const run = (): Promise<string> => new Promise((resolve) => { waiting.push(() => resolve('done')) })
  const server = serveMcp(t, { maxCalls: 3, maxCallsPerSession: 3, tools: [{ name: 't', run }] })
  const running = [1, 2, 3].map(() => call(server, 't'))
  const response = await modern(server, 'tools/call', { name: 't' })
  assert.equal(response.status, 503)
  assert.ok(response.headers.has('retry-after'))
  assert.equal((await answerOf(response)).error.code, -32603)
  for (const finish of waiting) finish()
  assert.deepEqual((await Promise.all(running)).map(said), ['done', 'done', 'done'])
})

test('progress must rise, and is told only to who gave a token, of the type that it has', async (t) => {
  const server = serveMcp(t, { tools: [{ name: 't', async run(_args, call) {
    await new Promise(setImmediate)
    for (const done of [1, 1, 0.5, NaN, 2, -1, 2.5, Infinity - Infinity, 3]) call.progress(done, 3)
    return 'done'
  } }] })
  for (const token of ['p', 0, '', 7]) {
    const session = await begin(server)
    const stream = new EventStream(
      await session.send('tools/call', { name: 't', _meta: { progressToken: token } }),
    )
    const messages = await stream.rest()
    assert.deepEqual(messages.slice(0, -1).map(({ params }) => params), [1, 2, 2.5, 3].map((progress) => (
      { progressToken: token, progress, total: 3 }
    )))
  }
  for (const token of [undefined, null, {}, true]) {
    const response = await modern(server, 'tools/call', { name: 't' }, { meta: { progressToken: token } })
    assert.equal((await messagesOf(response)).length, 1)
  }
})

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

test('logs are told from the level on that was asked for: by session, and by request', async (t) => {
  const server = serveMcp(t, { tools: [{ name: 't', async run(_args, call) {
    await new Promise(setImmediate)
    for (const level of levels) call.log(level, { level }, 'test')
    call.log('emergency', undefined)
    return 'done'
  } }] })
  const session = await begin(server)
  for (const [index, level] of levels.entries()) {
    assert.deepEqual((await session.ask('logging/setLevel', { level })).result, {})
    const messages = await messagesOf(await session.send('tools/call', { name: 't' }))
    const modernMessages = await messagesOf(await modern(server, 'tools/call', { name: 't' }, {
      meta: { 'io.modelcontextprotocol/logLevel': level },
    }))
    for (const all of [messages, modernMessages]) {
      assert.deepEqual(all.slice(0, -2).map(
        ({ method, params }) => [method, params.level, params.logger, params.data],
      ),
        levels.slice(index).map((one) => ['notifications/message', one, 'test', { level: one }]))
      assert.deepEqual(all.at(-2).params, { level: 'emergency', data: null })
    }
  }
  assert.equal((await messagesOf(await modern(server, 'tools/call', { name: 't' }))).length, 1)
  for (const level of ['loud', '', 7, undefined]) {
    assert.equal((await session.ask('logging/setLevel', { level })).error.code, -32602)
  }
})

test('what a handler tells on the way and JSON cannot say is not told, and the call goes on', async (t) => {
  const server = serveMcp(t, { tools: [{ name: 't', async run(_args, call) {
    call.log('error', cycle)
    call.log('error', { big: 1n })
    const schema = { type: 'object', properties: {}, default: cycle }
    await call.elicit({ message: 'Who?', schema }).catch(() => {})
    return 'done'
  } }] })
  const session = await begin(server, '2025-11-25', { elicitation: {} })
  assert.equal(said(await session.call('t')), 'done')
})

test('a handler sees who calls, and the trace', async (t) => {
  let seen: Json
  const apiKey = [{ id: 'alice', key: 'key-of-alice' }]
  const server = serveMcp(t, { apiKey, tools: [{ name: 't', run(_args, call) {
    const { protocol, client, principal, requestId, headers, metadata, trace } = call
    seen = {
      protocol, client, principal: principal.id, requestId, key: headers.get('x-mine'),
      secret: headers.get('x-api-key'), metadata, trace,
    }
    return ''
  } }] })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await call(server, 't', {}, {
    meta: { mine: 1 },
    headers: { 'X-API-Key': 'key-of-alice', 'X-Mine': 'yes', 'X-Request-Id': 'my-request', traceparent },
  })
  assert.equal(seen.protocol, 'mcp')
  assert.deepEqual(seen.client, { name: 'test', version: '1.0.0' })
  assert.equal(seen.requestId, 'my-request')
  assert.equal(seen.key, 'yes')
  assert.equal(seen.secret, undefined)
  assert.equal(seen.metadata.mine, 1)
  assert.equal(seen.trace.traceparent, traceparent)
  // What came in `_meta` is nearer to the call.
  const nearer = { traceparent: traceparent.replace('b7', 'c8'), tracestate: 'a=1', baggage: 7 }
  await call(server, 't', {}, { meta: nearer, headers: { 'X-API-Key': 'key-of-alice', traceparent } })
  assert.deepEqual(seen.trace, { traceparent: nearer.traceparent, tracestate: 'a=1' })
})
