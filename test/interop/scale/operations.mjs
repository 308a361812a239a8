/**
 * What operators do to a deployment, and what stands before it: two deployments in one place, a rolling
 * restart, a balancer that closes one half of streams, and a store that does not answer.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { missing } from '../start.mjs'
import { startBalancer } from './balancer.mjs'
import { acts, connects, noClients } from './clients.mjs'
import { engines, startFleet } from './deployment.mjs'
import { EventStream } from './events.mjs'
import { until } from './servers.mjs'
import { a2a, modern, session } from './wire.mjs'

const noTest = missing()
const [redis, postgres] = engines
const json = { 'Accept': 'application/json, text/event-stream', 'Content-Type': 'application/json' }
const STORE_MS = 3_000
const double = { name: 'double', arguments: { a: 2 } }

/** Fleets on one server of an engine. */
async function sharing(t, engine, all) {
  const opened = await engine.open()
  const close = opened.close
  const shared = { ...engine, open: async () => ({ ...opened, close() {} }) }
  const fleets = []
  t.after(async () => {
    for (const fleet of fleets) await fleet.close()
    await close()
  })
  for (const options of all) fleets.push(await startFleet(shared, options))
  return fleets
}

for (const engine of [redis, postgres]) {
  test(`two deployments with two secrets in one place leave each other alone: ${engine.name}`,
    { skip: noTest || engine.skip }, async (t) => {
      const fleets = await sharing(t, engine, ['one', 'two'].map((name) => (
        { count: 2, settings: { name, secret: `the secret of deployment ${name}` } }
      )))
      const [[first, second], [other]] = fleets.map((fleet) => fleet.urls())
      const begun = await session(first)
      const at = (url) => ({ send: (id) => fetch(new URL('/mcp', url), {
        method: 'POST',
        headers: { ...begun.headers, ...json },
        body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: double }),
      }) })
      assert.equal((await at(second).send(1)).status, 200)
      assert.equal((await at(other).send(2)).status, 404)
      // What the others say to all of theirs is not heard here.
      const stream = await EventStream.open(new URL('/mcp', second), { headers: begun.headers })
      await begun.send('resources/subscribe', { uri: 'note://1' })
      await modern(other).send('tools/call', { name: 'touch', arguments: {} }, 'touch')
      await sleep(300)
      assert.deepEqual(stream.heard, [])
      await modern(first).send('tools/call', { name: 'touch', arguments: {} }, 'touch')
      await stream.next(({ method }) => method === 'notifications/resources/updated')
      stream.close()
      for (const fleet of fleets) {
        const [one, two] = fleet.urls()
        const id = await a2a(one).begin('work x 100')
        await until('its end', async () => (await a2a(two).read(id)).state === 'completed')
      }
    })
}

test('a rolling restart fails no call', { skip: noClients || redis.skip }, async (t) => {
  const fleet = await startFleet(redis, { hasSpare: true })
  const balancer = await startBalancer(fleet.ports, { keepsAlive: false })
  t.after(async () => {
    balancer.close()
    await fleet.close()
  })
  let isOver = false
  const failed = []
  let good = 0
  const names = Array.from({ length: 10 }, (_, at) => `client-${at}`)
  const connected = await Promise.all(names.map((name, at) => (
    connects[at % 2 === 0 ? 'v1' : 'v2'](balancer.url, name)
  )))
  const working = Promise.all(connected.map(async (one, at) => {
    for (let turn = 0; !isOver; turn++) {
      try {
        const isRight = await acts[turn % 4](one, names[at], at, { timeout: 30_000, mayMissProgress: true })
        if (isRight) good += 1
        else failed.push(`client ${at}, act ${turn % 4}: wrong`)
      } catch (error) {
        failed.push(`client ${at}, act ${turn % 4}: ${error.message} ${error.cause?.message ?? ''}`)
      }
    }
  }))
  for (const at of [0, 1, 2]) {
    await sleep(500)
    await fleet.restart(at)
  }
  await sleep(500)
  isOver = true
  await working
  for (const { client } of connected) await client.close()
  console.log(`# rolling restart: ${good} good, ${failed.length} failed`)
  assert.deepEqual(failed, [])
})

for (const half of ['client', 'process']) {
  test(`a balancer that closes the half of streams to the ${half} loses no answer`,
    { skip: noClients || redis.skip }, async (t) => {
      const fleet = await startFleet(redis)
      const balancer = await startBalancer(fleet.ports, { halfCloses: half })
      t.after(async () => {
        balancer.close()
        await fleet.close()
      })
      for (const kind of ['v1', 'v2 legacy']) {
        const one = await connects[kind](balancer.url, kind)
        try {
          for (let turn = 0; turn < 5; turn++) for (const [what, act] of acts.entries()) {
            const row = `${kind}, turn ${turn}, act ${what}`
            const isRight = await act(one, kind, turn, { timeout: 30_000, mayMissProgress: true })
              .catch((error) => assert.fail(`${row}: ${error.message}`))
            assert.ok(isRight, row)
          }
        } finally {
          await one.client.close()
        }
      }
    })
}

test('while Redis is stopped, what needs it is refused at once and all else is served', { skip: redis.skip },
  async (t) => {
    const fleet = await startFleet(redis, { count: 2, settings: { storeTimeoutMs: STORE_MS } })
    t.after(() => fleet.close())
    const [one, two] = fleet.urls()
    const begun = await session(one)
    const sealed = await session(two)
    const task = await a2a(two).begin('work x 60000')
    fleet.server.signal('SIGSTOP')
    t.after(() => fleet.server.signal('SIGCONT'))
    const health = async () => (await fetch(new URL('/ready', one))).json()
    // Three calls in a row have not been answered by then.
    await until('the store to be away', async () => (await health()).store === 'away')
    const timed = async (act) => {
      const askedAt = performance.now()
      const answer = await act().catch((error) => error)
      const ms = performance.now() - askedAt
      // A busy machine takes its time as well, but not as much as whoever waits for the store.
      assert.ok(ms < STORE_MS, `${act} took ${ms} ms`)
      return answer
    }
    const text = ({ content }) => content?.[0].text
    assert.equal((await fetch(new URL('/ready', one))).status, 200)
    assert.equal(text(await timed(() => begun.send('tools/call', double))), '4')
    const { headers } = sealed
    const elsewhere = (method, body) => fetch(new URL('/mcp', one), {
      method, body: body && JSON.stringify({ jsonrpc: '2.0', ...body }),
      headers: { ...headers, ...json },
    })
    const adopted = await timed(() => elsewhere('POST', { id: 1, method: 'tools/call', params: double }))
    assert.equal(adopted.status, 200)
    assert.equal(text(await timed(() => modern(one).send('tools/call', double, 'double'))), '4')
    const refusals = {
      'a task': await timed(() => a2a(one).begin('work y 1')),
      'a task of 2026': await timed(() => modern(one).begin('job', { name: 'y', ms: 1 })),
      'a task that is elsewhere': await timed(() => a2a(one).read(task)),
    }
    for (const [what, { message }] of Object.entries(refusals)) assert.match(message, /try again later/, what)
    for (const [method, body] of [
      ['DELETE'], ['POST', { id: 'ask-1@abcdefgh', result: { action: 'decline' } }],
    ]) {
      const { status, headers: said } = await timed(() => elsewhere(method, body))
      assert.deepEqual([status, said.has('retry-after')], [503, true], method)
    }
    fleet.server.signal('SIGCONT')
    await until('the store to be there', async () => (await health()).store !== 'away')
    assert.match((await a2a(one).read(task)).state, /submitted|working/)
    assert.equal((await elsewhere('DELETE')).status, 200)
  })
