/**
 * The stores on real servers, through each client that they can be made of: every rule of a store, and what
 * happens where connections are cut and servers begin again. Skips itself, and says so, where a server or
 * its clients are not there.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkStore } from '../../../dist/index.js'
import { keepsTasks } from '../../../.test/test/fixtures/task-members.js'
import {
  noPostgres, noRedis, postgresClients, redisClients, startPostgres, startRedis, until,
} from './servers.mjs'

// What checkStore throws in a listener on purpose.
process.removeAllListeners('warning')

const keep = { events: 10_000, ms: 60_000 }
const publisher = fileURLToPath(new URL('publisher.mjs', import.meta.url))

const redis = {
  clients: redisClients, start: startRedis,
  /** Cuts all connections but the one that asks for it. */
  async cut({ port }) {
    const { default: Client } = await import('ioredis-5')
    const admin = new Client(port)
    for (const type of ['pubsub', 'normal']) await admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes')
    admin.disconnect()
  },
}

const postgres = {
  clients: postgresClients, start: startPostgres,
  async cut({ url }) {
    const { default: { Client } } = await import('pg')
    const admin = new Client(url)
    await admin.connect()
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`)
    await admin.end()
  },
}

for (const [engine, skip, { clients, start, cut }] of [
  ['Redis', noRedis, redis], ['PostgreSQL', noPostgres, postgres],
]) {
  for (const [client, connect] of Object.entries(clients)) {
    test(`${engine} through ${client}`, { skip }, async (t) => {
      const server = await start()
      const opened = []
      const open = async (...given) => {
        const one = await connect(server.url, ...given)
        opened.push(one)
        return one.store
      }
      const closed = async () => {
        for (const { store, end } of opened.splice(0)) {
          await store.close()
          await end()
        }
      }
      try {
        await t.test('keeps every rule of a store', async () => {
          const { passed, failed } = await checkStore(open)
          assert.deepEqual(failed, [])
          assert.ok(passed.length > 30)
        })
        await t.test('gives tasks back with all their members', async () => keepsTasks(await open()))
        await closed()
        await t.test('hears all that is kept in order though connections are cut', async () => {
          await heardThroughCuts(await open(), await open(), () => cut(server))
        })
        await closed()
        await t.test('tells who follows what is gone for good', async () => {
          await lostInACut(await open(), await open(), () => cut(server))
        })
        await closed()
        await t.test('hears again after the server was killed and began again', async () => {
          await heardAfterRestart(await open(), server)
        })
        await closed()
        await t.test('hears three processes that never wait in one order, each in its own', async () => {
          await heardFromThree(await open(), await open(), client, server.url)
        })
      } finally {
        await closed()
        await server.close()
      }
    })
  }
}

async function heardThroughCuts(follower, speaker, cut) {
  const heard = []
  await follower.follow('cut', 'now', (text) => heard.push(text), () => heard.push('lost'))
  const expected = []
  for (let at = 0; at < 100; at++) {
    expected.push(`${at}`)
    // A cut may take the answer with it, and the event or not: what failed is said again under its name.
    await until('an event to be said', () => speaker.publish('cut', `${at}`, keep).then(() => true))
    if (at % 25 === 10) await cut()
  }
  // Postgres.js may not say that it hears nothing: that is noticed after a quarter of a minute.
  await until('the last event to be heard', () => heard.includes('99'), 40_000)
  assert.deepEqual([...new Set(heard)], expected)
}

async function lostInACut(follower, speaker, cut) {
  const heard = []
  await follower.follow('lost', 'now', (text) => heard.push(text), () => heard.push('lost'))
  await speaker.publish('lost', 'before', keep)
  await until('the first event to be heard', () => heard.length === 1)
  await cut()
  await until('an event to be said', () => speaker.publish('lost', 'not kept').then(() => true))
  await until('what follows', async () => {
    await speaker.publish('lost', 'after', keep)
    return heard.includes('after')
  })
  // Whoever was connected again by then has heard it.
  assert.ok(['lost', 'not kept'].includes(heard[1]), String(heard))
  assert.deepEqual(heard.filter((text) => text === 'before'), ['before'])
}

async function heardAfterRestart(store, server) {
  const heard = []
  await store.follow('restart', 'now', (text) => heard.push(text))
  const place = { collection: 'things', owner: 'me', key: 'restart' }
  const version = await store.write(place, 'before', 60_000, 0)
  await store.publish('restart', 'before', keep)
  // Redis was told to write its file once a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  await server.kill()
  await server.start()
  await until('the store to be there', async () => (await store.read(place))?.value === 'before')
  assert.ok(await store.write(place, 'after', 60_000, version) > version)
  await until('what is said after it', async () => {
    await store.publish('restart', 'after', keep)
    return heard.includes('after')
  })
  assert.deepEqual(heard.filter((text) => text === 'before'), ['before'])
}

async function heardFromThree(one, other, client, url) {
  const count = 10_000
  const ears = [one, other].map(() => [])
  await Promise.all([one, other].map((store, at) => (
    store.follow('three', 'now', (text) => ears[at].push(text))
  )))
  const processes = ['a', 'b', 'c'].map((name) => (
    spawn(process.execPath, [publisher, client, url, 'three', name, `${count}`], { stdio: 'inherit' })
  ))
  const codes = await Promise.all(processes.map(async (child) => (await once(child, 'exit'))[0]))
  assert.deepEqual(codes, [0, 0, 0])
  await until('all of it to be heard', () => ears.every(({ length }) => length >= 3 * count))
  assert.deepEqual(ears[0], ears[1])
  for (const name of ['a', 'b', 'c']) {
    const own = ears[0].filter((text) => text.startsWith(name))
    assert.deepEqual(own, Array.from({ length: count }, (_, at) => `${name} ${at}`))
  }
}
