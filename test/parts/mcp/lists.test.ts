/**
 * Lists page by page, how long they last, and completion.
 */
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { defineTool } from '../../../lib/index.ts'
import { allRevisions, ask, begin, serveMcp } from './client.ts'
import type { Call, TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { Json } from '../../fixtures/events.ts'

const names = Array.from({ length: 7 }, (_, n) => `n${n}`)

function make(t: Scope, options: object = {}): TriportServer {
  return serveMcp(t, {
    secret: 'a secret of enough characters',
    mcp: { pageSize: 3 },
    tools: names.map((name) => ({ name, run: () => '' })),
    resources: names.map((name) => ({ uri: `test://${name}`, name, read: () => '' })),
    resourceTemplates: names.map((name) => ({ uriTemplate: `test://${name}/{id}`, name, read: () => '' })),
    prompts: names.map((name) => ({ name, get: () => '' })),
    ...options,
  })
}

type Send = (method: string, params?: Json) => Promise<Json>

async function clients(server: TriportServer): Promise<Map<string, Send>> {
  const all = new Map<string, Send>()
  for (const revision of allRevisions.slice(0, 4)) {
    const session = await begin(server, revision)
    all.set(revision, (method, params) => session.ask(method, params))
  }
  return all.set('2026-07-28', (method, params) => ask(server, method, params))
}

const lists = [
  ['tools/list', 'tools'], ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'], ['prompts/list', 'prompts'],
] as const

for (const [method, member] of lists) {
  test(`${method} is read page by page, in every revision`, async (t) => {
    for (const [revision, send] of await clients(make(t))) {
      const pages: string[][] = []
      let cursor: string | undefined
      do {
        const { result } = await send(method, cursor === undefined ? {} : { cursor })
        pages.push(result[member].map(({ name }: Json) => name))
        cursor = result.nextCursor
        assert.equal('nextCursor' in result, cursor !== undefined)
      } while (cursor !== undefined)
      assert.deepEqual(pages, [['n0', 'n1', 'n2'], ['n3', 'n4', 'n5'], ['n6']], revision)
    }
  })
}

for (const [method, member] of lists) {
  test(`${method} has no description where there is none: clients would show an empty one`, async (t) => {
    for (const [revision, send] of await clients(make(t))) {
      for (const item of (await send(method)).result[member]) {
        assert.equal('description' in item, false, revision)
      }
    }
  })
}

test('a page that is exactly full is the last', async (t) => {
  const { result } = await ask(make(t, { mcp: { pageSize: 7 } }), 'tools/list')
  assert.equal(result.tools.length, 7)
  assert.equal('nextCursor' in result, false)
})

test('a cursor that was not given for this list is -32602', async (t) => {
  const server = make(t)
  const { result: { nextCursor } } = await ask(server, 'tools/list')
  for (const cursor of ['', 'x', `${nextCursor}x`, nextCursor.slice(1), 7, {}, btoa('{"index":0}')]) {
    assert.equal((await ask(server, 'tools/list', { cursor })).error.code, -32602)
  }
  assert.equal((await ask(server, 'prompts/list', { cursor: nextCursor })).error.code, -32602)
  const other = make(t, { secret: 'another secret of enough characters' })
  assert.equal((await ask(other, 'tools/list', { cursor: nextCursor })).error.code, -32602)
})

test('a cursor survives changes, and another process with the same secret', async (t) => {
  const server = make(t)
  const { result: { nextCursor } } = await ask(server, 'tools/list')
  const after = async (one: TriportServer): Promise<string> => (
    (await ask(one, 'tools/list', { cursor: nextCursor })).result.tools.map(({ name }: Json) => name).join()
  )
  assert.equal(await after(make(t)), 'n3,n4,n5')
  server.catalog.remove('tool', 'n0')
  assert.equal(await after(server), 'n3,n4,n5')
  server.catalog.remove('tool', 'n2')
  assert.equal((await after(server)).endsWith('n6') || (await after(server)).startsWith('n'), true)
  server.catalog.add(defineTool({ name: 'n7', run: () => '' }))
  for (const name of names) server.catalog.remove('tool', name)
  assert.equal(typeof await after(server), 'string')
})

test('lists say how long they last, as the operator said', async (t) => {
  const server = make(t, { mcp: { cache: { ttlMs: 60_000, scope: 'public' } } })
  for (const [method, params] of [
    ...lists.map(([method]) => [method, {}] as const),
    ['server/discover', {}] as const, ['resources/read', { uri: 'test://n0' }] as const,
  ]) {
    const { result } = await ask(server, method, params)
    assert.deepEqual([result.ttlMs, result.cacheScope], [60_000, 'public'], method)
    const safe = (await ask(make(t), method, params)).result
    assert.deepEqual([safe.ttlMs, safe.cacheScope], [0, 'private'], method)
  }
})

test('what came of a user\'s answers is for that user, never kept, whatever the operator says', async (t) => {
  const server = make(t, {
    mcp: { cache: { ttlMs: 60_000, scope: 'public' } },
    resources: [{
      uri: 'test://asks', name: 'asks', async read(call: Call) {
        const schema = { type: 'object', properties: {} }
        const { action } = await call.elicit({ key: 'k', message: 'Sure?', schema })
        return action
      },
    }],
  })
  const able = { capabilities: { elicitation: {} } }
  const hints = async (more: object): Promise<unknown> => {
    const { result } = await ask(server, 'resources/read', { uri: 'test://asks', ...more }, able)
    return [result.resultType, result.ttlMs, result.cacheScope]
  }
  const { result: { requestState } } = await ask(server, 'resources/read', { uri: 'test://asks' }, able)
  const inputResponses = { k: { action: 'decline' } }
  assert.deepEqual(await hints({ inputResponses, requestState }), ['complete', 0, 'private'])
  assert.deepEqual(await hints({ inputResponses }), ['complete', 0, 'private'])
  // Nobody may keep the question either.
  assert.deepEqual(await hints({}), ['input_required', undefined, undefined])
})

test('the order of a list is the order in which things were given', async (t) => {
  const order = ['zeta', 'alpha', 'Mid']
  const server = serveMcp(t, { tools: order.map((name) => ({ name, run: () => '' })) })
  const { result } = await ask(server, 'tools/list')
  assert.deepEqual(result.tools.map(({ name }: Json) => name), order)
})

const completing = serveMcp({ after }, {
  prompts: [{
    name: 'travel', description: 'Plans.', get: () => '',
    arguments: [
      {
        name: 'country',
        complete: (value) => ['Chad', 'Chile', 'China'].filter((one) => one.startsWith(value)),
      },
      {
        name: 'city',
        complete: (value, { arguments: known }) => [`${value} of ${known['country'] ?? 'nowhere'}`],
      },
      { name: 'many', complete: () => Array.from({ length: 250 }, (_, n) => String(n)) },
      { name: 'some', complete: () => ({ values: ['a'], total: 9, hasMore: true }) },
      { name: 'broken', complete: () => { throw new Error('swordfish') } },
      { name: 'free' },
    ],
  }],
  resources: [{ uri: 'test://fixed', name: 'fixed', read: () => '' }],
  resourceTemplates: [
    {
      uriTemplate: 'test://{id}', name: 't', read: () => '', complete: { id: async (value) => [`${value}1`] },
    },
  ],
})

const prompt = { type: 'ref/prompt', name: 'travel' }

const completions: readonly (readonly [string, object, object])[] = [
  [
    'an argument of a prompt', { ref: prompt, argument: { name: 'country', value: 'Chi' } },
    { values: ['Chile', 'China'], total: 2, hasMore: false },
  ],
  [
    'with what is known already',
    { ref: prompt, argument: { name: 'city', value: 'X' }, context: { arguments: { country: 'Chile' } } },
    { values: ['X of Chile'], total: 1, hasMore: false },
  ],
  [
    'with an empty context', { ref: prompt, argument: { name: 'city', value: 'X' }, context: {} },
    { values: ['X of nowhere'], total: 1, hasMore: false },
  ],
  [
    'with a total of its own', { ref: prompt, argument: { name: 'some', value: '' } },
    { values: ['a'], total: 9, hasMore: true },
  ],
  [
    'nobody completes it', { ref: prompt, argument: { name: 'free', value: 'x' } },
    { values: [], total: 0, hasMore: false },
  ],
  [
    'a variable of a template',
    { ref: { type: 'ref/resource', uri: 'test://{id}' }, argument: { name: 'id', value: 'x' } },
    { values: ['x1'], total: 1, hasMore: false },
  ],
  [
    'a fixed resource',
    { ref: { type: 'ref/resource', uri: 'test://fixed' }, argument: { name: 'id', value: 'x' } },
    { values: [], total: 0, hasMore: false },
  ],
]

for (const [what, params, completion] of completions) {
  test(`completion: ${what}`, async () => {
    for (const [, send] of await clients(completing)) {
      assert.deepEqual((await send('completion/complete', params)).result.completion, completion)
    }
  })
}

test('completion gives at most 100 values, and says that there are more', async () => {
  const { result } = await ask(
    completing, 'completion/complete', { ref: prompt, argument: { name: 'many', value: '' } },
  )
  assert.equal(result.completion.values.length, 100)
  assert.equal(result.completion.total, 250)
  assert.equal(result.completion.hasMore, true)
})

const badCompletions: readonly (readonly [string, unknown, unknown, number])[] = [
  ['no ref', undefined, { name: 'country', value: '' }, -32602],
  ['a ref without a name', { type: 'ref/prompt' }, { name: 'country', value: '' }, -32602],
  ['a ref of no kind', { type: 'ref/tool', name: 'travel' }, { name: 'country', value: '' }, -32602],
  ['an unknown prompt', { type: 'ref/prompt', name: 'x' }, { name: 'country', value: '' }, -32602],
  ['an unknown template', { type: 'ref/resource', uri: 'x://{y}' }, { name: 'country', value: '' }, -32602],
  ['an unknown argument', prompt, { name: 'continent', value: '' }, -32602],
  ['no argument', prompt, undefined, -32602],
  ['a value that is no text', prompt, { name: 'country', value: 7 }, -32602],
  ['a completer that fails', prompt, { name: 'broken', value: '' }, -32603],
]

for (const [what, ref, argument, code] of badCompletions) {
  test(`completion with ${what} is ${code}`, async () => {
    const { error } = await ask(completing, 'completion/complete', { ref, argument })
    assert.equal(error.code, code)
    assert.doesNotMatch(JSON.stringify(error), /swordfish/)
  })
}

const reading = serveMcp({ after }, {
  resources: [
    { uri: 'test://text', name: 'text', mimeType: 'text/plain', read: () => 'text' },
    { uri: 'test://bytes', name: 'bytes', mimeType: 'image/png', read: () => new Uint8Array([1, 2]) },
    {
      uri: 'test://many', name: 'many',
      read: () => [{ uri: 'test://many/1', text: 'a' }, { text: 'b', mimeType: 'text/x' }],
    },
    { uri: 'test://broken', name: 'broken', read() { throw new Error('swordfish') } },
    { uri: 'test://nothing', name: 'nothing', read: () => undefined as never },
    { uri: 'test://big', name: 'big', read: () => ({ text: 'x', _meta: { big: 1n } }) },
  ],
  resourceTemplates: [{
    uriTemplate: 'test://book/{id}', name: 'book', mimeType: 'text/plain',
    read: ({ id }) => `book ${String(id)}`,
  }],
})

const reads: readonly (readonly [string, unknown])[] = [
  ['test://text', [{ uri: 'test://text', mimeType: 'text/plain', text: 'text' }]],
  ['test://bytes', [{ uri: 'test://bytes', mimeType: 'image/png', blob: 'AQI=' }]],
  [
    'test://many',
    [{ uri: 'test://many/1', text: 'a' }, { uri: 'test://many', mimeType: 'text/x', text: 'b' }],
  ],
  ['test://book/7', [{ uri: 'test://book/7', mimeType: 'text/plain', text: 'book 7' }]],
  ['test://book/%C3%BC', [{ uri: 'test://book/%C3%BC', mimeType: 'text/plain', text: 'book ü' }]],
]

for (const [uri, contents] of reads) {
  test(`${uri} is read in every revision`, async () => {
    for (const [, send] of await clients(reading)) {
      assert.deepEqual((await send('resources/read', { uri })).result.contents, contents)
    }
  })
}

test('what cannot be read is an error, and never empty contents', async () => {
  for (const [revision, send] of await clients(reading)) {
    const notFound = revision === '2026-07-28' ? -32602 : -32002
    for (const uri of ['test://no', 'test://book/', 'test://text/', 'file:///etc/passwd', '']) {
      const { error } = await send('resources/read', { uri })
      assert.equal(error.code, notFound, `${uri} in ${revision}`)
      assert.equal(error.data.uri, uri)
    }
    for (const uri of ['test://broken', 'test://nothing', 'test://big']) {
      const { error } = await send('resources/read', { uri })
      assert.equal(error.code, -32603)
      assert.doesNotMatch(JSON.stringify(error), /swordfish/)
    }
    for (const uri of [undefined, 7, null]) {
      assert.equal((await send('resources/read', { uri })).error.code, -32602)
    }
  }
})

const prompts = serveMcp({ after }, {
  prompts: [
    { name: 'plain', description: 'Says.', get: () => 'text' },
    { name: 'talk', arguments: [{ name: 'a', required: true }, { name: 'b' }], get: ({ a, b }) => ({
      description: 'A talk.', messages: [
        { role: 'user', content: a! }, { role: 'assistant', content: b ?? 'none' },
      ],
    }) },
    { name: 'broken', description: 'Fails.', get() { throw new Error('swordfish') } },
  ],
})

test('a prompt is got with its arguments, in every revision', async () => {
  for (const [, send] of await clients(prompts)) {
    assert.deepEqual((await send('prompts/get', { name: 'plain' })).result.messages, [
      { role: 'user', content: { type: 'text', text: 'text' } },
    ])
    const talk = { name: 'talk', arguments: { a: '1', z: 'extra' } }
    const { description, messages } = (await send('prompts/get', talk)).result
    assert.equal(description, 'A talk.')
    assert.deepEqual(
      messages.map(({ role, content }: Json) => [role, content.text]), [['user', '1'], ['assistant', 'none']],
    )
    for (const params of [
      {}, { name: 7 }, { name: 'nobody' }, { name: 'talk' }, { name: 'talk', arguments: { b: '1' } },
      { name: 'talk', arguments: { a: 7 } }, { name: 'talk', arguments: 'x' }, {
        name: 'talk', arguments: [],
      },
    ]) {
      assert.equal((await send('prompts/get', params)).error.code, -32602, JSON.stringify(params))
    }
    const { error } = await send('prompts/get', { name: 'broken' })
    assert.equal(error.code, -32603)
    assert.doesNotMatch(JSON.stringify(error), /swordfish/)
  }
})

test('a tool with the longest name is listed and called in every revision', async (t) => {
  const name = 'Aa0_-.'.padEnd(128, 'x')
  for (const [revision, send] of await clients(serveMcp(t, { tools: [{ name, run: () => 'done' }] }))) {
    assert.equal((await send('tools/list')).result.tools[0].name, name, revision)
    assert.equal((await send('tools/call', { name })).result.content[0].text, 'done', revision)
  }
})
