/**
 * Unmodified official clients against three processes behind a balancer that remembers nobody, on real servers;
 * and while processes are killed. `FLEET_SECONDS=60` kills for that long, `FLEET_SEED` chooses whom.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { missing } from '../start.mjs'
import { noPostgres, noRedis, startPostgres, startRedis } from './servers.mjs'

const noClient = missing('@modelcontextprotocol/sdk')
const load = (path) => noClient ? {} : import(`@modelcontextprotocol/sdk/${path}`)
const { Client } = await load('client/index.js')
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js')
const { ElicitRequestSchema } = await load('types.js')

const CLIENTS = 20
const SECONDS = Number(process.env.FLEET_SECONDS ?? 8)
const CALL_MS = 20_000
let seed = Number(process.env.FLEET_SEED ?? 1)

/** Between 0 and 1, the same for one seed. */
function random() {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return seed / 2 ** 31
}

async function member(client, url) {
  const child = fork(new URL('./member.mjs', import.meta.url), [client, url], { stdio: 'inherit' })
  const [{ port }] = await once(child, 'message')
  return { child, port }
}

/** Three processes, and a balancer that gives each request to the next of them. */
async function startFleet(client, url) {
  const members = await Promise.all([1, 2, 3].map(() => member(client, url)))
  let turn = 0
  const balancer = createServer((incoming, response) => {
    const forward = (tries) => {
      const { port } = members[turn++ % members.length]
      const { method, url: path, headers } = incoming
      const outgoing = send({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers)
        response.flushHeaders()
        answer.pipe(response)
        // What is cut off at the process is cut off at the client.
        answer.on('close', () => { if (!answer.complete) response.destroy() })
      })
      outgoing.on('error', (error) => {
        // Nobody has heard the request where nobody listens.
        if (error.code === 'ECONNREFUSED' && tries > 0) return forward(tries - 1)
        response.destroy()
      })
      response.on('close', () => outgoing.destroy())
      body.then((bytes) => outgoing.end(bytes))
    }
    const body = new Promise((resolve) => {
      const chunks = []
      incoming.on('data', (chunk) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)))
    })
    forward(members.length)
  })
  balancer.listen(0, '127.0.0.1')
  await once(balancer, 'listening')
  return {
    url: new URL(`http://127.0.0.1:${balancer.address().port}/mcp`),
    /** Kills one without a word; another takes its place. */
    async kill() {
      const at = Math.floor(random() * members.length)
      members[at].child.kill('SIGKILL')
      members[at] = await member(client, url)
    },
    async close() {
      balancer.closeAllConnections()
      balancer.close()
      for (const { child } of members) child.kill('SIGKILL')
    },
  }
}

async function connect(url, at) {
  const client = new Client({ name: `client-${at}`, version: '1.0.0' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => (
    { action: 'accept', content: { name: `client-${at}` } }
  ))
  const transport = new StreamableHTTPClientTransport(url, {
    reconnectionOptions: {
      initialReconnectionDelay: 20, maxReconnectionDelay: 200, reconnectionDelayGrowFactor: 1.5, maxRetries: 50,
    },
  })
  await client.connect(transport)
  return { client, transport }
}

/** One of the things that a client does; what came of it. */
async function act(client, at, what) {
  const options = { timeout: CALL_MS }
  if (what === 0) return (await client.listTools(undefined, options)).tools.length === 3
  if (what === 1) {
    const { content } = await client.callTool({ name: 'double', arguments: { a: at } }, undefined, options)
    return content[0].text === String(2 * at)
  }
  if (what === 2) {
    const { content } = await client.callTool({ name: 'greet', arguments: {} }, undefined, options)
    return content[0].text === `Hello client-${at}`
  }
  let heard = 0
  const onprogress = () => { heard += 1 }
  const { content } = await client.callTool({ name: 'count', arguments: {} }, undefined, { ...options, onprogress })
  return content[0].text === 'counted' && heard === 3
}

const engines = [
  ['Redis', noClient || noRedis, startRedis, 'ioredis 5'],
  ['PostgreSQL', noClient || noPostgres, startPostgres, 'pg'],
]

for (const [name, skip, start, client] of engines) {
  test(`every call of ${CLIENTS} clients is good, whichever process it comes to: ${name}`, { skip }, async () => {
    const server = await start()
    const fleet = await startFleet(client, server.url)
    try {
      let good = 0
      await Promise.all(Array.from({ length: CLIENTS }, async (_, at) => {
        const { client, transport } = await connect(fleet.url, at)
        for (let turn = 0; turn < 10; turn++) for (const what of [0, 1, 2, 3]) {
          assert.ok(await act(client, at, what), `client ${at}, turn ${turn}, ${what}`)
          good += 1
        }
        await transport.terminateSession()
        await client.close()
      }))
      console.log(`# ${name}: ${good} of ${CLIENTS * 40} calls good`)
      assert.equal(good, CLIENTS * 40)
    } finally {
      await fleet.close()
      await server.close()
    }
  })

  test(`while processes are killed no session is lost and no answer wrong: ${name}`, { skip }, async () => {
    const server = await start()
    const fleet = await startFleet(client, server.url)
    const told = { good: 0, wrong: 0, lost: 0, refused: 0, cut: 0, silent: 0, kills: 0 }
    let isOver = false
    try {
      const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, at) => connect(fleet.url, at)))
      const working = Promise.all(clients.map(async ({ client }, at) => {
        for (let turn = 0; !isOver; turn++) {
          try {
            told[await act(client, at, turn % 4) || turn % 4 === 3 ? 'good' : 'wrong'] += 1
          } catch (error) {
            const { code, message } = error
            const what = code === -32603 ? 'refused' : code === -32001 && /timed out/.test(message) ? 'silent'
              : /404|no such session/i.test(message) ? 'lost' : 'cut'
            told[what] += 1
            if (what === 'lost' || process.env.FLEET_TELL) console.log(`# ${what}: ${message}`)
          }
        }
      }))
      const end = performance.now() + SECONDS * 1_000
      while (performance.now() < end) {
        await sleep(1_000)
        await fleet.kill()
        told.kills += 1
      }
      isOver = true
      await working
      for (const { client } of clients) await client.close()
      console.log(`# ${name}: ${JSON.stringify(told)}`)
      assert.deepEqual([told.wrong, told.lost], [0, 0])
      assert.ok(told.good > told.kills * 10)
    } finally {
      isOver = true
      await fleet.close()
      await server.close()
    }
  })
}
