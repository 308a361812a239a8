import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { memoryStore, sqliteStore, testClient } from '../../../lib/index.ts'
import { echo, eventually, jsonOf, request, serve } from '../../fixtures/client.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import type { TestContext } from 'node:test'
import type { ServerOptions, Store, TriportServer } from '../../../lib/index.ts'

const apiKey = [{ id: 'ann', key: 'ann-key' }, { id: 'bob', key: 'bob-key' }]
const options: ServerOptions = { agents: [echo], protocol: 'all', apiKey }

interface Listed { readonly session_id: string; readonly messages: number; readonly preview: string }

/** One caller of a server. */
function caller(server: TriportServer, key: string | undefined) {
  const headers: Record<string, string> = key === undefined ? {} : { 'x-api-key': key }
  const client = testClient(server, { headers })
  const ask = (path: string, method?: string): Promise<Response> => (
    server.fetch(request(path, undefined, headers, method))
  )
  return {
    ...client, ask,
    query: async (query: string, sessionId?: string): Promise<string> => (
      (await client.query(query, { sessionId })).session_id
    ),
    list: async (query = ''): Promise<readonly string[]> => {
      const response = await ask(`/conversations${query}`)
      assert.equal(response.status, 200)
      return (await response.json() as { conversations: Listed[] }).conversations.map((one) => one.session_id)
    },
  }
}

/** Stores, each with a second connection for another process. */
const stores: Readonly<Record<string, (t: TestContext) => readonly [Store, Store]>> = {
  'the memory of one process': () => {
    const store = memoryStore()
    return [store, store]
  },
  'a store that processes share': () => {
    const store = sharedStore()
    return [store, store]
  },
  'a file of SQLite': (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'conversations-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'state.db')
    return [sqliteStore(path), sqliteStore(path)]
  },
}

for (const [what, connect] of Object.entries(stores)) {
  test(`with ${what}, the owner lists, reads and forgets a conversation, and no other does`, async (t) => {
    let both
    try {
      both = connect(t)
    } catch (error) {
      return t.skip(String(error))
    }
    const one = serve(t, { ...options, store: both[0] })
    const other = both[0].isShared ? serve(t, { ...options, store: both[1] }) : one
    const [ann, bob] = [caller(one, 'ann-key'), caller(one, 'bob-key')]
    const annThere = caller(other, 'ann-key')
    const first = await ann.query('hello')
    const second = await annThere.query('again', 'chosen-by-ann')
    await ann.query('more', second)
    const ofBob = await bob.query('of bob', 'chosen-by-bob')

    for (const here of [ann, annThere]) assert.deepEqual(await here.list(), [second, first])
    assert.deepEqual(await bob.list(), [ofBob])
    const answer = await annThere.ask('/conversations?limit=1')
    assert.equal(answer.headers.get('cache-control'), 'private, no-store')
    const page = await jsonOf(answer)
    assert.deepEqual(page['conversations'], [{ session_id: second, messages: 4, preview: 'again' }])
    assert.deepEqual(await ann.list(`?limit=1&cursor=${String(page['next_cursor'])}`), [first])
    assert.deepEqual(await jsonOf(await annThere.ask(`/conversations/${first}`)), {
      session_id: first,
      messages: [{ role: 'user', content: 'hello' }, { role: 'assistant', content: 'You said hello' }],
    })

    for (const method of ['GET', 'DELETE']) {
      const response = await bob.ask(`/conversations/${first}`, method)
      assert.equal(response.status, 404)
      assert.match(String((await jsonOf(response))['detail']), /^You have no conversation '/)
    }
    const gone = await annThere.ask(`/conversations/${first}`, 'DELETE')
    assert.deepEqual([gone.status, await gone.text()], [204, ''])
    assert.equal((await ann.ask(`/conversations/${first}`)).status, 404)
    assert.equal((await ann.ask(`/conversations/${first}`, 'DELETE')).status, 404)
    assert.deepEqual(await ann.list(), [second])
    assert.deepEqual(await bob.list(), [ofBob])
  })
}

const wrong: readonly (readonly [query: string, path: string])[] = [
  ['?limit=0', 'limit'], ['?limit=101', 'limit'], ['?limit=ten', 'limit'], ['?limit=', 'limit'],
  ['?limit=-1', 'limit'], ['?limit=1.5', 'limit'], ['?cursor=', 'cursor'], ['?cursor=me', 'cursor'],
]

test('a wrong limit or cursor is named', async (t) => {
  const ann = caller(serve(t, options), 'ann-key')
  for (const [query, path] of wrong) {
    const response = await ann.ask(`/conversations${query}`)
    assert.equal(response.status, 422, query)
    const { errors } = await response.json() as { errors: { path: string; message: string }[] }
    assert.deepEqual(errors.map((one) => one.path), [path], query)
  }
  assert.deepEqual(await ann.list('?other=1&limit=100'), [])
  for (const id of ['short', 'x'.repeat(129), 'not%20one', '__proto__']) {
    assert.equal((await ann.ask(`/conversations/${id}`)).status, 404, id)
  }
})

test('without keys nothing is shown, and nothing is announced', async (t) => {
  const { apiKey: _, ...open } = options
  const server = serve(t, open)
  const anyone = caller(server, undefined)
  const session = await anyone.query('hello', 'known-to-many')
  for (const [path, method] of [['', 'GET'], [`/${session}`, 'GET'], [`/${session}`, 'DELETE']] as const) {
    const response = await anyone.ask(`/conversations${path}`, method)
    assert.equal(response.status, 404)
    assert.match(String((await jsonOf(response))['detail']), /known by a key or a token.* set apiKey or auth/)
  }
  assert.equal(await anyone.query('still there', session), session)
  const announced = async (one: TriportServer, key?: string): Promise<boolean> => {
    const { paths } = await jsonOf(await caller(one, key).ask('/openapi.json')) as { paths: object }
    const { endpoints } = await jsonOf(await caller(one, key).ask('/health')) as { endpoints: string[] }
    assert.equal('/conversations' in paths, endpoints.includes('/conversations'))
    return '/conversations' in paths
  }
  assert.equal(await announced(server), false)
  assert.equal(await announced(serve(t, options), 'ann-key'), true)
  const tools = [{ name: 'none', run: () => 'none' }]
  assert.equal(await announced(serve(t, { tools, protocol: 'all', apiKey }), 'ann-key'), false)
})

test('a key is needed, and each look counts against its rate', async (t) => {
  const limited = serve(t, { ...options, rateLimit: { perMinute: 2 } })
  assert.equal((await caller(limited, undefined).ask('/conversations')).status, 401)
  const ann = caller(limited, 'ann-key')
  assert.equal((await ann.ask('/conversations')).status, 200)
  assert.equal((await ann.ask('/conversations/chosen-by-ann')).status, 404)
  const refused = await ann.ask('/conversations/chosen-by-ann', 'DELETE')
  assert.equal(refused.status, 429)
  assert.ok(refused.headers.has('retry-after'))
})

test('a store that does not answer is 503, and what is read of it at one time is bounded', async (t) => {
  const store = sharedStore(20)
  // Room for one list of eight conversations at a time.
  const server = serve(t, { ...options, store, conversationBytes: 1_000, maxCallsBytes: 17_000 })
  const ann = caller(server, 'ann-key')
  await ann.query('hello')
  const statuses = await Promise.all(Array.from({ length: 8 }, async () => (
    (await ann.ask('/conversations')).status
  )))
  assert.deepEqual([...new Set(statuses)].toSorted(), [200, 503])
  assert.deepEqual((await ann.list()).length, 1)
  assert.deepEqual(server.status().calls, { running: 0, abandoned: 0, bytes: 0 })
  const away = { ...store, list: () => Promise.reject(new Error('away')) }
  const broken = caller(serve(t, { ...options, store: away }), 'ann-key')
  assert.equal((await broken.ask('/conversations')).status, 503)
})

test('what is answered after a conversation was forgotten begins it anew', async (t) => {
  let open: (() => void) | undefined
  const agent = {
    name: 'Slow', description: 'Waits.',
    run: (prompt: string) => (
      prompt === 'wait' ? new Promise<string>((resolve) => { open = () => resolve('done') }) : 'at once'
    ),
  }
  for (const store of [memoryStore(), sharedStore()]) {
    const ann = caller(serve(t, { ...options, agents: [agent], store }), 'ann-key')
    await ann.query('first', 'chosen-by-ann')
    const answered = ann.query('wait', 'chosen-by-ann')
    await eventually(() => open !== undefined, 'it runs')
    assert.equal((await ann.ask('/conversations/chosen-by-ann', 'DELETE')).status, 204)
    open!()
    open = undefined
    await answered
    const { messages } = await jsonOf(await ann.ask('/conversations/chosen-by-ann'))
    assert.deepEqual((messages as { content: string }[]).map(({ content }) => content), ['wait', 'done'])
  }
})
