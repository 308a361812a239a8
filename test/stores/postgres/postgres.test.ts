import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import test from 'node:test'
import { Fault, postgresStore } from '../../../lib/index.ts'
import { decodeNul, encodeNul } from '../../../lib/stores/engine.ts'
import type { PostgresPool, Store } from '../../../lib/index.ts'

type Answer = (text: string, values: readonly unknown[]) => readonly object[]

interface Asked { readonly text: string; readonly values?: readonly unknown[]; readonly name?: string }
interface FakePool { readonly pool: PostgresPool; readonly asked: string[]; readonly named: boolean[] }

/** A pool as pg has it; its tables are there. */
function pooled(answer: Answer, max = 4): FakePool {
  const asked: string[] = []
  const named: boolean[] = []
  const pool = {
    totalCount: 0,
    options: { max },
    async query({ text, values = [], name }: Asked) {
      if (text.includes('to_regclass')) return { rows: [{ id: '7' }] }
      asked.push(text)
      named.push(name !== undefined)
      return { rows: answer(text, values) }
    },
    async connect() { throw new Error('No connection') },
  }
  return { pool, asked, named }
}

const place = { collection: 'things', owner: 'me', key: 'a' }

test('what is no client of PostgreSQL is refused with the names of those that are', () => {
  const client = { query() {}, connect() {} }
  const wrong: readonly unknown[] = [undefined, null, 'postgres://localhost', {}, { unsafe() {} }, client]
  for (const pool of wrong) {
    assert.throws(() => postgresStore(pool as PostgresPool), {
      name: 'TypeError', message: /a Pool of pg, or what postgres\(\) of postgres\.js returns/,
    })
  }
})

test('a pool of one connection is refused, unless another pool listens', () => {
  const one = pooled(() => [], 1).pool
  assert.throws(() => postgresStore(one), { name: 'TypeError', message: /2 connections at least/ })
  assert.equal(postgresStore(one, { listenWith: pooled(() => []).pool }).isShared, true)
})

test('an option of a store in PostgreSQL that is wrong is refused', () => {
  const { pool } = pooled(() => [])
  assert.throws(() => postgresStore(pool, { listenwith: pool } as object), /did you mean 'listenWith'/)
  for (const prefix of ['', '1a', 'A', 'a-b', 'a.b', 'a"', 'x'.repeat(33), 1 as unknown as string]) {
    assert.throws(() => postgresStore(pool, { prefix }), {
      name: 'TypeError', message: /^prefix is .*; write 1 to 32/,
    })
  }
  assert.throws(() => postgresStore(pool, { maxValueBytes: 0 }), { name: 'RangeError' })
})

test('where PostgreSQL cannot be reached each method says it is busy, and why only to the log', async () => {
  const cause = new Error('connect ECONNREFUSED 10.0.0.7:5432')
  const store = postgresStore(pooled(() => { throw cause }).pool)
  const calls: readonly (() => unknown)[] = [
    () => store.read(place), () => store.write(place, 'x', 1, 'any'), () => store.remove(place, 'any'),
    () => store.list('things', 'me', 9), () => store.publish('topic', 'x'),
  ]
  for (const one of calls) {
    await assert.rejects(async () => one(), (error) => error instanceof Fault && error.kind === 'busy'
      && error.cause === cause && !error.message.includes('10.0.0.7'))
  }
  await assert.rejects(async () => store.follow('topic', 'now', () => {}), (error) => (
    error instanceof Fault && error.kind === 'busy' && String(error.cause).includes('No connection')
  ))
})

test('a statement that met another one is tried again, any other is not', async () => {
  for (const [code, times] of [['40001', 3], ['40P01', 3], ['23505', 1]] as const) {
    const { pool, asked } = pooled(() => {
      if (asked.length < 3) throw Object.assign(new Error('refused'), { code })
      return [{ version: '9' }]
    })
    const written = await Promise.resolve(postgresStore(pool).write(place, 'x', 1, 0)).catch(() => 'refused')
    assert.deepEqual([written, asked.length], [times === 3 ? 9 : 'refused', times], code)
  }
})

test('each expected version has its statement', async () => {
  const values: (readonly unknown[])[] = []
  const { pool, asked } = pooled((_text, given) => {
    values.push(given)
    return [{ version: '9' }]
  })
  const store = postgresStore(pool)
  for (const expected of ['any', 0, 7] as const) await store.write(place, 'x', Infinity, expected)
  const kinds = asked.map((text) => /^UPDATE/.test(text) ? 'next' : /WHERE NOT/.test(text) ? 'new' : 'any')
  assert.deepEqual(kinds, ['any', 'new', 'next'])
  const given = values.splice(0).map((all) => all.slice(3))
  assert.deepEqual(given, [['x', null], ['x', null], ['x', null, 7]])
  for (const expected of ['any', 7] as const) assert.equal(await store.remove(place, expected), true)
  assert.deepEqual(values.map((all) => all[3]), [null, 7])
})

test('tables that are missing are made before anything is asked, and only those', async () => {
  for (const isThere of [true, false]) {
    const asked: string[] = []
    let id = isThere ? '7' : null
    const { pool } = pooled(() => [])
    const store = postgresStore(Object.assign(pool, { async query({ text }: Asked) {
      const isFind = /to_regclass\('\w+_topics'\)::oid/.test(text)
      asked.push(isFind ? 'find' : /CREATE/.test(text) ? 'create' : 'read')
      if (asked.at(-1) === 'create') id = '7'
      return { rows: asked.at(-1) === 'find' ? [{ id }] : [] }
    } }))
    assert.deepEqual([await store.read(place), await store.read(place)], [undefined, undefined])
    assert.deepEqual(asked, isThere ? ['find', 'read', 'read'] : ['find', 'create', 'find', 'read', 'read'])
  }
})

test('after close nobody hears anything, and nobody can follow', async () => {
  const client = Object.assign(new EventEmitter(), { async query() {}, release() {} })
  const { pool } = pooled(() => [{ last: 1, number: null }])
  const store = postgresStore(Object.assign(pool, { connect: async () => client }))
  const heard: string[] = []
  await store.follow('topic', 'now', (text) => heard.push(text))
  client.emit('notification', { payload: 'topic 1 2 said' })
  const listeners = client.listeners('notification')
  await store.close?.()
  for (const hear of listeners) hear({ payload: 'topic 2 3 late' })
  assert.deepEqual(heard, ['said'])
  await assert.rejects(async () => store.follow('topic', 'now', () => {}), /The store is closed/)
})

test('one who collides for ever is told that the store is busy', async () => {
  const { pool, asked } = pooled(() => { throw Object.assign(new Error('again'), { code: '40001' }) })
  await assert.rejects(async () => postgresStore(pool).read(place), { name: 'Fault', kind: 'busy' })
  assert.equal(asked.length, 8)
})

test('statements are prepared, but not behind a pooler and not where a connection has lost one', async () => {
  const direct = pooled(() => [])
  const behind = pooled(() => [])
  const lossy = pooled(() => {
    if (lossy.named.at(-1)) throw Object.assign(new Error('no such statement'), { code: '26000' })
    return [{ key: 'a', value: 'x', version: 1 }]
  })
  const read = (store: Store): unknown => store.read(place)
  await read(postgresStore(direct.pool))
  await read(postgresStore(behind.pool, { listenWith: direct.pool }))
  const store = postgresStore(lossy.pool)
  for (let time = 0; time < 2; time++) {
    assert.deepEqual(await read(store), { key: 'a', value: 'x', version: 1 })
  }
  assert.deepEqual([direct.named, behind.named, lossy.named], [[true], [false], [true, false, false]])
})

test('one who listens on a dead connection notices, and listens on another', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clients: { asked: string[]; released: boolean }[] = []
  const pool = {
    ...pooled(() => [{ last: 0, number: null }]).pool,
    async connect() {
      const client = { asked: [] as string[], released: false }
      const isDead = clients.push(client) === 1
      return {
        on() {},
        release() { client.released = true },
        async query(text: string) {
          client.asked.push(text)
          // The first one answers two questions, and then nothing more.
          if (isDead && client.asked.length > 2) await new Promise(() => {})
        },
      }
    },
  }
  const store = postgresStore(pool)
  t.after(() => store.close?.())
  await store.follow('topic', 'now', () => {})
  for (const ms of [30_000, 30_000, 9_999]) {
    t.mock.timers.tick(ms)
    await new Promise(setImmediate)
  }
  assert.deepEqual(clients, [{ asked: ['LISTEN "triport_7"', 'SELECT 1', 'SELECT 1'], released: false }])
  t.mock.timers.tick(1)
  await new Promise(setImmediate)
  assert.deepEqual(clients.map(({ asked, released }) => [asked.length, released]), [[3, true], [1, false]])
  await store.close?.()
  assert.equal(clients[1]!.released, true)
})

test('where listening fails at once, no connection is kept', async (t) => {
  const released: boolean[] = []
  let isDown = true
  const pool = {
    ...pooled(() => [{ last: 0, number: null }]).pool,
    async connect() {
      const at = released.push(false) - 1
      let lost = (): void => {}
      return {
        on(event: string, listener: () => void) { if (event === 'error') lost = listener },
        release() { released[at] = true },
        async query() {
          if (!isDown) return
          isDown = false
          // As pg does it: first the connection, then what was asked on it.
          lost()
          throw new Error('Connection terminated')
        },
      }
    },
  }
  const store = postgresStore(pool)
  t.after(() => store.close?.())
  await assert.rejects(async () => store.follow('topic', 'now', () => {}), { kind: 'busy' })
  await new Promise((resolve) => setTimeout(resolve, 10))
  assert.ok(!released.includes(false), 'A connection that nobody ends')
  const leave = await store.follow('topic', 'now', () => {})
  assert.equal(released.filter((isReleased) => !isReleased).length, 1)
  leave()
})

test('numbers are read however the client gives them', async () => {
  for (const version of ['12', 12, 12n]) {
    const { pool } = pooled(() => [{ key: 'a', value: 'x', version }])
    assert.deepEqual(await postgresStore(pool).read(place), { key: 'a', value: 'x', version: 12 })
  }
})

test('a text with NUL is written without, and read as it was', () => {
  for (const text of ['', 'a', '\0', '\\', '\\0', '\0\\', '\\\\0', 'a\0b\\0c', '\n\0\n']) {
    const written = encodeNul(text)
    assert.ok(!written.includes('\0'))
    assert.equal(decodeNul(written), text)
  }
  assert.equal(new Set(['\0', '\\0', '\\\\0', '\\\0'].map(encodeNul)).size, 4)
})

test('a connection of postgres.js on which nothing is heard any more is ended', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const channels = new Map<string, { hear: (text: string) => void; onListen: () => void }>()
  const asked: string[] = []
  let isDeaf = false
  const listen = async (
    channel: string, hear: (text: string) => void, onListen: () => void,
  ): Promise<object> => {
    channels.set(channel, { hear, onListen })
    onListen()
    return { state: { pid: 4711 }, async unlisten() { channels.delete(channel) } }
  }
  const sql = Object.assign(() => {}, {
    listen,
    async unsafe(text: string, [first, word]: readonly unknown[]) {
      if (text.includes('to_regclass')) return [{ id: '7' }]
      asked.push(text.slice(0, 27))
      if (text.includes('pg_notify($1') && !isDeaf) channels.get(String(first))?.hear(String(word))
      if (text.includes('pg_terminate_backend')) {
        assert.equal(first, 4711)
        isDeaf = false
        for (const { onListen } of channels.values()) onListen()
      }
      return [{ last: 0, number: null }]
    },
  })
  const after = async (...waits: readonly number[]): Promise<readonly string[]> => {
    asked.length = 0
    for (const ms of waits) {
      t.mock.timers.tick(ms)
      for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
    }
    return asked
  }
  const store = postgresStore(sql as unknown as PostgresPool)
  t.after(() => store.close?.())
  await store.follow('topic', 'now', () => {})
  const word = 'SELECT pg_notify($1, $2)'
  assert.deepEqual(await after(9_999), [])
  assert.deepEqual(await after(1, 10_000), [word, word])
  isDeaf = true
  assert.deepEqual(await after(10_000, 4_999), [word])
  const [ended, ...read] = await after(1, 1)
  assert.equal(ended, 'SELECT pg_terminate_backend')
  assert.equal(read.length, 1, 'What was said meanwhile is read')
  assert.deepEqual([...channels.keys()], ['triport_7'])
  assert.deepEqual(await after(10_000, 10_000), [word, word])
  await store.close?.()
  assert.deepEqual([await after(60_000), channels.size], [[], 0])
})

test('a connection that emits errors ends nothing, is given back once, and another listens', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 6; turn++) await new Promise(setImmediate)
  }
  const clients: EventEmitter[] = []
  const released: number[] = []
  let failures = 0
  const reads: string[] = []
  const pool = {
    ...pooled((text) => {
      reads.push(text)
      return [{ last: 0, number: null }]
    }).pool,
    async connect() {
      if (failures > 0 && failures--) throw new Error('The server is starting up')
      const client = new EventEmitter()
      const at = clients.push(client) - 1
      return Object.assign(client, {
        async query() {},
        release(isBroken: boolean) { if (isBroken) released.push(at) },
      })
    },
  }
  const store = postgresStore(pool)
  t.after(() => store.close?.())
  await store.follow('topic', 'now', () => {})
  assert.deepEqual([clients.length, reads.length], [1, 1])
  failures = 1
  clients[0]!.emit('error', new Error('Connection terminated'))
  clients[0]!.emit('end')
  await turns()
  assert.deepEqual([clients.length, released, reads.length], [1, [0], 1])
  t.mock.timers.tick(100)
  await turns()
  assert.deepEqual([clients.length, released, reads.length], [2, [0], 2], 'What was missed is read')
  clients[0]!.emit('error', new Error('again'))
  await turns()
  assert.deepEqual([clients.length, released], [2, [0]])
  await store.close?.()
  clients[1]!.emit('error', new Error('late'))
  await turns()
  assert.deepEqual([clients.length, released], [2, [0, 1]])
})
