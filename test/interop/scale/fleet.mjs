/**
 * Unmodified official clients against three processes behind a balancer without memory, on every engine:
 * left alone, while processes are killed each second, and while processes and the engine are killed and
 * suspended. `FLEET_SECONDS=60` does that for so long, `FLEET_SEED` chooses whom, `FLEET_TELL=1` tells of
 * every call that was not good.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { acts, connects, noClients } from './clients.mjs'
import { startBalancer } from './balancer.mjs'
import { engines, sequence, startFleet } from './deployment.mjs'

const SECONDS = Number(process.env.FLEET_SECONDS ?? 6)
const SEED = Number(process.env.FLEET_SEED ?? 1)
const LEASE_MS = 2_000
const CALL_MS = 20_000
/** Who calls, in turn: 20 clients. */
const kinds = ['v1', 'v1', 'v1', 'v2', 'v2 legacy']
const clients = Array.from({ length: 20 }, (_, at) => (
  { kind: kinds[at % kinds.length], name: `client-${at}` }
))

/**
 * What a call that was not answered has come to. The balancer knows whether the answer to its question was
 * lost, which no client sends again, and whether its stream was cut.
 */
function outcome(error, kind, { answer, stream }) {
  const text = `${error.message} ${error.cause?.message ?? ''} ${error.data?.detail ?? ''}`
  // Streams of 2026-07-28 cannot be come back to, and their client says nothing when one breaks.
  if (/timed out/i.test(text)) return answer ? 'unanswered' : stream && kind === 'v2' ? 'cut' : 'silent'
  if (error.code === 404 || /no such session/i.test(text)) return 'lost'
  if (/The process that ran it has ended|try again later/.test(text)) return 'refused'
  return /fetch failed|terminated|other side closed|ECONNRESET|socket/i.test(text) ? 'cut' : 'strange'
}

/** Runs a fleet and all clients until `blows` is over; what came of each call. */
async function run(engine, blows) {
  const told = {
    good: 0, wrong: 0, lost: 0, strange: 0, silent: 0, refused: 0, cut: 0, unanswered: 0, blows: 0,
  }
  const random = sequence(SEED)
  const fleet = await startFleet(engine, { random, hasSpare: true, settings: { leaseMs: LEASE_MS } })
  const broken = new Map(clients.map(({ name }) => [name, {}]))
  const lose = (headers, body) => {
    const { method } = JSON.parse(body)
    broken.get(headers['x-client'])[method === undefined ? 'answer' : 'stream'] = true
  }
  const balancer = await startBalancer(fleet.ports, {
    onAnswer: (headers, body, status) => { if (status >= 400) lose(headers, body) }, onCut: lose,
  })
  let isOver = false
  try {
    const connected = await Promise.all(clients.map(({ kind, name }) => connects[kind](balancer.url, name)))
    const working = Promise.all(connected.map(async (one, at) => {
      const { name, kind } = clients[at]
      for (let turn = 0; !isOver; turn++) {
        broken.set(name, {})
        try {
          // What a killed process has said of its progress is gone with it.
          const isRight = await acts[turn % 4](one, name, at, { timeout: CALL_MS, mayMissProgress: true })
          told[isRight ? 'good' : 'wrong'] += 1
        } catch (error) {
          const what = outcome(error, kind, broken.get(name))
          told[what] += 1
          const isBad = ['lost', 'strange', 'silent'].includes(what)
          if (isBad || process.env.FLEET_TELL) {
            console.log(`# ${what}: ${kind}, act ${turn % 4}: ${error.message} ${error.cause?.message ?? ''}`)
          }
          // Whoever is refused does not come back at once.
          await sleep(20)
        }
      }
    }))
    const end = performance.now() + SECONDS * 1_000
    while (performance.now() < end) {
      await sleep(1_000)
      await blows(fleet, random)
      told.blows += 1
    }
    isOver = true
    await working
    for (const { client } of connected) await client.close()
  } finally {
    isOver = true
    balancer.close()
    await fleet.close()
  }
  console.log(`# ${engine.name}, seed ${SEED}: ${JSON.stringify(told)}`)
  assert.deepEqual([told.wrong, told.lost, told.strange, told.silent], [0, 0, 0, 0])
  assert.ok(told.good > told.blows)
}

/** One of the things that happen to deployments. */
async function anything({ kill, suspend, server }, random) {
  const all = [kill, () => suspend(LEASE_MS + 1_000)]
  if (server !== undefined) {
    all.push(async () => {
      // What a crash of the engine loses is its own; PostgreSQL loses what was said and not yet heard.
      await server.end()
      await sleep(500)
      await server.start()
    }, async () => {
      server.signal('SIGSTOP')
      await sleep(500 + 2_500 * random())
      server.signal('SIGCONT')
    })
  }
  await all[Math.floor(random() * all.length)]()
}

for (const engine of engines) {
  const skip = noClients || engine.skip
  test(`every call of 20 clients is good at any process: ${engine.name}`, { skip }, async () => {
    const fleet = await startFleet(engine)
    const balancer = await startBalancer(fleet.ports)
    try {
      let good = 0
      await Promise.all(clients.map(async ({ kind, name }, at) => {
        const one = await connects[kind](balancer.url, name)
        for (let turn = 0; turn < 10; turn++) for (const [what, act] of acts.entries()) {
          assert.ok(await act(one, name, at, { timeout: CALL_MS }), `${kind}, turn ${turn}, act ${what}`)
          good += 1
        }
        await one.transport.terminateSession?.()
        await one.client.close()
      }))
      console.log(`# ${engine.name}: ${good} of ${clients.length * 40} calls good`)
    } finally {
      balancer.close()
      await fleet.close()
    }
  })

  // Where there is no engine to stop, the next test does little else.
  const isShort = engine.skip || (process.env.FLEET_SECONDS === undefined && engine.isOfOneMachine === true
    && 'left to FLEET_SECONDS')
  test(`while processes are killed no session is lost and no answer wrong: ${engine.name}`,
    { skip: noClients || isShort }, async () => {
      await run(engine, ({ kill }) => kill())
    })

  test(`while all is killed and suspended no session is lost and no answer wrong: ${engine.name}`, { skip },
    async () => {
      await run(engine, anything)
    })
}
