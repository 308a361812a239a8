/**
 * What several processes cost, printed and never asserted but for one count:
 * `WAITS_FOR_DISK=1 node measure.mjs run`, where Redis is. A call of a known session and the first at a
 * strange process, a question answered at another process, calls of the store for a plain request, and
 * processor time in memory, with a secret and with Redis.
 */
import assert from 'node:assert/strict'
import { createServer, defineTool, memoryStore } from '../../../dist/index.js'
import { engines, startFleet } from './deployment.mjs'
import { EventStream } from './events.mjs'
import { redisClients, startRedis } from './servers.mjs'
import { ask, session } from './wire.mjs'

const ROUNDS = Number(process.env.ROUNDS ?? 15)
const CALLS = Number(process.env.CALLS ?? 400)
const double = { name: 'double', arguments: { a: 2 } }
const json = { 'Accept': 'application/json, text/event-stream', 'Content-Type': 'application/json' }
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const spread = (values) => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part) => sorted[Math.floor((sorted.length - 1) * part)].toFixed(3)
  return `${at(0.5)} (a tenth below ${at(0.1)}, a quarter above ${at(0.75)})`
}

async function timed(act) {
  const begun = performance.now()
  const answer = await act()
  return [performance.now() - begun, answer]
}

/** Milliseconds of whole round trips over HTTP, each kind in turn. */
async function latencies(engine) {
  const fleet = await startFleet(engine, { count: 2 })
  const [one, two] = fleet.urls()
  const told = { known: [], first: [], later: [], here: [], there: [] }
  const call = (url, { headers }) => ask(url, '/mcp', 'tools/call', double, headers)
  for (let at = 0; at < CALLS / 2; at++) {
    const begun = await session(one)
    await call(one, begun)
    told.known.push((await timed(() => call(one, begun)))[0])
    told.first.push((await timed(() => call(two, begun)))[0])
    told.later.push((await timed(() => call(two, begun)))[0])
    // Whoever answers has been there before: what is timed is the way of the answer alone.
    for (const [kind, url] of [['here', one], ['there', two]]) {
      const post = (to, message) => fetch(new URL('/mcp', to), {
        method: 'POST', headers: { ...json, ...begun.headers },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      })
      const stream = await EventStream.of(await post(one, {
        id: 1, method: 'tools/call', params: { name: 'greet', arguments: {} },
      }))
      const { id } = await stream.next(({ method }) => method === 'elicitation/create')
      const answered = stream.next((message) => message.id === 1)
      const result = { action: 'accept', content: { name: 'A' } }
      told[kind].push((await timed(async () => {
        void post(url, { id, result }).then((response) => response.arrayBuffer())
        await answered
      }))[0])
    }
  }
  await fleet.close()
  const more = (one, other) => median(told[one].map((ms, at) => ms - told[other][at])).toFixed(3)
  const say = (text) => console.log(`${engine.name}: ${text}`)
  say(`the first call elsewhere takes ${more('first', 'later')} ms more than a later one`)
  say(`an answer elsewhere takes ${more('there', 'here')} ms more than here`)
  say(`ms of a call in a known session ${spread(told.known)}`)
  say(`first at a strange process ${spread(told.first)}, later there ${spread(told.later)}`)
  say(`a question answered here ${spread(told.here)}, elsewhere ${spread(told.there)}`)
}

/** Processor time of calls in one process without sockets, alternating; and calls of the store for them. */
async function costs() {
  const redis = await startRedis()
  const { store, end } = await redisClients['ioredis 5'](redis.url)
  let asked = 0
  const counted = new Proxy(store, {
    get(target, name) {
      const value = target[name]
      if (typeof value !== 'function') return value
      return (...all) => {
        asked += 1
        return value.apply(target, all)
      }
    },
  })
  const inputSchema = { type: 'object', properties: { a: { type: 'number' } } }
  const run = ({ a }) => String(2 * a)
  const tools = [defineTool({ name: 'double', description: 'Doubles.', inputSchema, run })]
  const secret = 'a secret of this measurement alone'
  const kinds = {
    'in memory': { store: memoryStore() },
    'in memory, with a secret': { store: memoryStore(), secret },
    'with Redis': { store: counted, secret, leaseMs: 600_000 },
  }
  const servers = await Promise.all(Object.entries(kinds).map(async ([name, options]) => {
    const server = createServer({ name: 'Costs', log: false, tools, ...options })
    const post = (message, headers) => server.fetch(new Request('http://localhost/mcp', {
      method: 'POST', headers: { ...json, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    }))
    const begun = await post({
      id: 0, method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'm', version: '1' } },
    })
    const id = begun.headers.get('mcp-session-id')
    const headers = { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': '2025-11-25' }
    const call = async (number) => {
      const response = await post({ id: number, method: 'tools/call', params: double }, headers)
      return response.text()
    }
    assert.match(await call(1), /"4"/)
    return { name, call, server, micros: [] }
  }))
  const round = async ({ call }) => {
    const before = process.cpuUsage()
    for (let id = 1; id <= CALLS; id++) await call(id)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / CALLS
  }
  for (const one of servers) await round(one)
  // Nobody says that he lives in this time: what is asked is asked for the calls.
  asked = 0
  for (let at = 0; at < ROUNDS; at++) for (const one of servers) one.micros.push(await round(one))
  console.log(`Redis: ${asked} calls of the store for ${ROUNDS * CALLS} calls of a known session`)
  const [{ micros: base }] = servers
  for (const { name, micros } of servers) {
    const ratios = micros.map((value, at) => value / base[at])
    console.log(`${name}: us of a call ${spread(micros)}; against memory ${median(ratios).toFixed(3)}`)
  }
  assert.equal(asked, 0)
  for (const { server } of servers) await server.close()
  await end()
  await redis.close()
}

if (process.argv[2] === 'run') {
  for (const engine of engines) if (!engine.skip) await latencies(engine)
  await costs()
  process.exit()
}
