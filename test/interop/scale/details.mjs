/**
 * What only one of the engines can get wrong: names that meet, clients that send twice, rights, isolation,
 * and what is left behind. Skips itself, and says so, where a server or its clients are not there.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkStore, postgresStore, redisStore } from '../../../dist/index.js'
import { statements } from '../../../.test/lib/stores/postgres/postgres-commands.js'
import {
  noPooler, noPostgres, noRedis, postgresClients, redisClients, startPooler, startPostgres, startRedis,
  startRedisCluster, until,
} from './servers.mjs'

// What checkStore throws in a listener on purpose.
process.removeAllListeners('warning')

const place = { collection: 'things', owner: 'me', key: 'a' }
const keep = { events: 10_000, ms: 60_000 }

/** Each of the stores has entries and topics of its own. */
async function areApart(stores) {
  const heard = stores.map(() => [])
  for (const [at, store] of stores.entries()) {
    await store.follow('topic', 'now', (text) => heard[at].push(text))
    assert.notEqual(await store.write(place, `${at}`, 60_000, 0), undefined)
  }
  for (const [at, store] of stores.entries()) {
    assert.equal((await store.read(place)).value, `${at}`)
    await store.publish('topic', `${at}`, keep)
  }
  await until('each to hear its own', () => heard.every(({ length }) => length > 0))
  assert.deepEqual(heard, stores.map((_, at) => [`${at}`]))
}

test('Redis: a client that sends every command twice keeps every rule', { skip: noRedis }, async (t) => {
  const server = await startRedis()
  t.after(() => server.close())
  const ends = []
  const { failed } = await checkStore(async () => {
    const { client, end } = await redisClients['redis 5'](server.url)
    const ear = client.duplicate()
    ear.on('error', () => {})
    await ear.connect()
    ends.push(end, () => ear.destroy())
    return redisStore({
      async command(args) {
        const send = () => client.sendCommand([...args])
        const [, second] = await Promise.allSettled([send(), send()])
        if (second.status === 'rejected') throw second.reason
        return second.value
      },
      async subscribe(channel, listener) {
        await ear.subscribe(channel, listener)
        return () => ear.unsubscribe(channel, listener)
      },
    })
  })
  for (const end of ends) await end()
  assert.deepEqual(failed, [])
})

test('Redis: a cluster of three keeps every rule', { skip: noRedis }, async (t) => {
  const cluster = await startRedisCluster()
  t.after(() => cluster.close())
  for (const name of ['ioredis-5', 'ioredis-6', 'iovalkey']) {
    const opened = []
    const { failed } = await checkStore(async () => {
      opened.push(await cluster.connect(name))
      return opened.at(-1).store
    })
    for (const { end } of opened) await end()
    assert.deepEqual(failed, [], name)
  }
})

test('Redis: prefixes of stores and of clients, and databases, do not meet', { skip: noRedis }, async (t) => {
  const server = await startRedis()
  const opened = []
  t.after(async () => {
    for (const { store, end } of opened) {
      await store.close()
      await end()
    }
    await server.close()
  })
  const open = async (client, ...given) => {
    opened.push(await redisClients[client](...given))
    return opened.at(-1).store
  }
  await areApart([
    await open('ioredis 5', server.url), await open('ioredis 6', server.url, undefined, { keyPrefix: 'a:' }),
    await open('iovalkey', server.url, undefined, { keyPrefix: 'b:' }),
    await open('redis 5', `${server.url}/1`), await open('redis 6', server.url, { prefix: 'other' }),
    await open('ioredis 5', `${server.url}/1`, { prefix: 'other' }),
  ])
})

test('Redis: scripts that are forgotten while much is said change no order', { skip: noRedis }, async (t) => {
  const server = await startRedis()
  t.after(() => server.close())
  const { store, client, end } = await redisClients['ioredis 6'](server.url)
  t.after(async () => {
    await store.close()
    await end()
  })
  const heard = []
  await store.follow('topic', 'now', (text) => heard.push(text))
  const answers = []
  for (let at = 0; at < 3_000; at++) {
    answers.push(store.publish('topic', `${at}`, keep))
    if (at % 100 === 50) {
      answers.push(client.script('FLUSH'))
      await new Promise(setImmediate)
    }
  }
  await Promise.all(answers)
  await until('the last one', () => heard.length >= 3_000)
  assert.deepEqual(heard, Array.from({ length: 3_000 }, (_, at) => `${at}`))
})

test('Redis: owners that look like keys read nothing of others; nothing stays for ever', { skip: noRedis },
  async (t) => {
    const server = await startRedis()
    t.after(() => server.close())
    const { store, client, end } = await redisClients['ioredis 5'](server.url)
    t.after(end)
    const owners = ['u', 'u}keys:k', 'u}:things', '}', '{', '{}', 'u%7D', '%', 'u:things:v', '\0', 'ü', ' ']
    for (const owner of owners) await store.write({ ...place, owner }, owner, 1_000, 0)
    for (const owner of owners) {
      assert.equal((await store.read({ ...place, owner })).value, owner)
      assert.deepEqual((await store.list('things', owner, 9)).map(({ value }) => value), [owner])
      assert.equal(await store.read({ ...place, owner, key: 'k}keys:z' }), undefined)
    }
    await store.publish('topic', 'x', { events: 9, ms: 1_000 })
    await store.remove({ ...place, owner: 'u' }, 'any')
    for (const key of await client.keys('*')) {
      const ms = await client.pttl(key)
      assert.ok(ms > 0 && ms <= 3_700_000, `${key} stays ${ms} ms`)
    }
    await store.write(place, 'always', Infinity, 0)
    assert.equal(await client.pttl('triport:entry:{me}:things:v'), -1)
    await store.remove(place, 'any')
    assert.ok(await client.pttl('triport:entry:{me}:things:v') > 0)
  })

test('PostgreSQL: many that begin at once make one set of tables', { skip: noPostgres }, async (t) => {
  const server = await startPostgres()
  t.after(() => server.close())
  const all = await Promise.all(Array.from({ length: 8 }, (_, at) => (
    postgresClients[at % 2 === 0 ? 'pg' : 'postgres.js'](server.url, undefined, { max: 2 })
  )))
  const versions = await Promise.all(all.map(({ store }, at) => store.write(place, `${at}`, 60_000, 0)))
  assert.equal(versions.filter((version) => version !== undefined).length, 1)
  for (const { store, end } of all) {
    await store.close()
    await end()
  }
})

test('PostgreSQL: schemas do not meet, and who may make nothing uses what is there', { skip: noPostgres },
  async (t) => {
    const server = await startPostgres()
    const { client: admin, end: endAdmin } = await postgresClients.pg(server.url)
    const opened = []
    t.after(async () => {
      for (const { store, end } of opened) {
        await store.close()
        await end()
      }
      await endAdmin()
      await server.close()
    })
    const open = async (client, url, ...given) => {
      opened.push(await postgresClients[client](url, ...given))
      return opened.at(-1).store
    }
    for (const name of ['one', 'two']) await admin.query(`CREATE SCHEMA ${name}`)
    const inSchema = (name) => ({ options: `-c search_path=${name}` })
    await areApart([
      await open('pg', server.url, undefined, inSchema('one')),
      await open('pg', server.url, undefined, inSchema('two')),
      await open('postgres.js', server.url), await open('postgres.js', server.url, { prefix: 'other' }),
    ])
    await admin.query('CREATE ROLE guest LOGIN')
    await admin.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC')
    const guest = server.url.replace('test@', 'guest@')
    const refused = await open('pg', guest, { prefix: 'missing' })
    await assert.rejects(async () => refused.read(place), (error) => (
      /permission denied/.test(error.cause.message)
    ))
    await admin.query('GRANT ALL ON ALL TABLES IN SCHEMA public TO guest')
    await admin.query('GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO guest')
    const allowed = await open('pg', guest)
    assert.equal((await allowed.read(place)).value, '2')
    assert.notEqual(await allowed.write(place, 'guest', 60_000, 'any'), undefined)
  })

test('PostgreSQL: a database that isolates strictly keeps every rule', { skip: noPostgres }, async (t) => {
  const server = await startPostgres()
  t.after(() => server.close())
  const opened = []
  const { failed } = await checkStore(async () => {
    const options = '-c default_transaction_isolation=serializable'
    opened.push(await postgresClients.pg(server.url, undefined, { options }))
    return opened.at(-1).store
  })
  for (const { end } of opened) await end()
  assert.deepEqual(failed, [])
})

test('PostgreSQL: what expired is swept, and a second pool can listen', { skip: noPostgres }, async (t) => {
  const server = await startPostgres()
  t.after(() => server.close())
  const direct = await postgresClients.pg(server.url)
  const { default: { Pool } } = await import('pg')
  const pool = new Pool({ connectionString: server.url, max: 1 })
  const store = postgresStore(pool, { listenWith: direct.client })
  const heard = []
  await store.follow('topic', 'now', (text) => heard.push(text))
  for (const key of ['a', 'b', 'c']) await store.write({ ...place, key }, 'x', key === 'c' ? 60_000 : 1, 0)
  await store.publish('topic', 'short', { events: 9, ms: 1 })
  await store.publish('topic', 'long', keep)
  await until('both events', () => heard.length === 2)
  await pool.query(`UPDATE triport_topics SET said_at = said_at - interval '2 hours'`)
  await store.publish('other', 'x')
  await pool.query(`UPDATE triport_topics SET said_at = said_at - interval '2 hours' WHERE topic = 'other'`)
  for (const statement of statements('triport').sweep) await pool.query(statement)
  const left = async (table) => (await pool.query(`SELECT * FROM triport_${table}`)).rows
  assert.deepEqual((await left('entries')).map(({ key }) => key), ['c'])
  assert.deepEqual((await left('events')).map(({ text }) => text), ['long'])
  assert.deepEqual((await left('topics')).map(({ topic }) => topic), ['topic'])
  await store.close()
  await pool.end()
  await direct.end()
})

test('PostgreSQL: a connection that has forgotten what was prepared is asked anew', { skip: noPostgres },
  async (t) => {
    const server = await startPostgres()
    t.after(() => server.close())
    for (const [name, send] of [['pg', 'query'], ['postgres.js', 'unsafe']]) {
      const { store, client, end } = await postgresClients[name](server.url, {}, { max: 2 })
      const version = await store.write(place, name, 60_000, 'any')
      const prepared = await client[send]('SELECT name FROM pg_prepared_statements')
      assert.ok((prepared.rows ?? prepared).length > 0, name)
      await client[send]('DEALLOCATE ALL')
      assert.deepEqual(await store.read(place), { key: place.key, value: name, version })
      assert.ok(await store.write(place, name, 60_000, version) > version)
      await store.close()
      await end()
    }
  })

test('PostgreSQL: behind a pooler of transactions every rule is kept', { skip: noPooler }, async (t) => {
  const server = await startPostgres()
  const pooler = await startPooler(server)
  t.after(async () => {
    await pooler.close()
    await server.close()
  })
  for (const [name, settings] of [['pg', {}], ['postgres.js', { prepare: false }]]) {
    const opened = []
    const { failed } = await checkStore(async () => {
      const direct = await postgresClients[name](server.url)
      opened.push(direct, await postgresClients[name](pooler.url, { listenWith: direct.client }, settings))
      return opened.at(-1).store
    })
    for (const { end } of opened) await end()
    assert.deepEqual(failed, [], name)
  }
})
