/**
 * What a hostile client can take: the memory of the process, and everybody else's time.
 *
 * Method. For each attack a server runs in a process of its own (`attacked.js`). While this process attacks
 * it and asks for its memory, a thread of its own (`watch.js`) asks for /health every 20 ms: what the attack
 * costs this process is not taken for the server's. Told are the largest memory, and how long /health took
 * at the worst and in the median. The duty of each attack: under
 * 200 MB, and /health under 100 ms; what does not hold is marked.
 *
 * node bench/attack.js [--case NAME]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'

const MAX_RSS = 200 * 1024 * 1024
const MAX_HEALTH_MS = 100
const MiB = 1024 * 1024

const { values: options } = parseArgs({ options: { case: { type: 'string' } } })

/** Every attack: what it does, and for how long it is watched. */
const attacks = [
  {
    name: 'pipelining',
    run: (port) => pipeline(port, 200_000, 'GET /agents HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  },
  {
    name: 'pipelining without the key', server: { apiKey: 'key' },
    run: (port) => pipeline(port, 200_000, 'GET /agents HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  },
  { name: 'pipelining on a hundred connections, and reading nothing', run: (port) => pipelines(port, 100) },
  {
    name: 'a list of a million mistakes',
    run: (port) => flood(port, 10, '/', `{"messages":[${list('7', 1_000_000)}]}`),
  },
  { name: 'capabilities of 3 MB', run: (port) => flood(port, 20, '/mcp', handshake(3 * MiB)) },
  { name: 'ten thousand handshakes', run: (port) => flood(port, 10_000, '/mcp', handshake(10)) },
  { name: 'replies of 6 MB that nobody reads', run: (port) => unread(port, 60) },
  {
    name: 'handlers that never settle', server: { agentTimeoutMs: 500 },
    run: (port) => flood(port, 1_500, '/', '{"query":"hang"}'),
  },
  {
    name: 'a key function that never answers', kind: 'hanging-key', server: { authTimeoutMs: 500 },
    run: (port) => flood(port, 1_500, '/', '{"query":"hi"}', { 'x-api-key': 'k' }),
  },
  {
    name: 'small values by the million',
    run: (port) => flood(port, 30, '/mcp', call(`[${list('[]', 1_000_000)}]`)),
  },
  {
    name: 'as many small values as may be',
    run: (port) => flood(port, 100, '/mcp', call(`[${list('[]', 99_000)}]`)),
  },
  { name: 'conversations', run: (port) => flood(port, 20_000, '/', '{"query":"hello"}') },
  { name: 'bodies of one byte a chunk', run: (port) => drip(port, 16, 100_000) },
  {
    name: 'long Accept',
    run: (port) => flood(port, 3_000, '/', '{"query":"hi"}', { accept: ','.repeat(15_000) }),
  },
]

function list(item, count) {
  return Array.from({ length: count }, () => item).join(',')
}

function handshake(length) {
  return JSON.stringify({
    jsonrpc: '2.0', id: 1, method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: { experimental: { x: 'x'.repeat(length) } } },
  })
}

function call(value) {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":${value}}}}`
}

/** Sends a body many times over 16 connections; answers are read and passed over. */
async function flood(port, count, path, body, headers = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const accept = 'application/json, text/event-stream'
  const one = () => new Promise((resolve) => {
    const sent = request({
      agent, port, path, method: 'POST', headers: { 'content-type': 'application/json', accept, ...headers },
    }, (response) => response.resume().on('close', resolve))
    sent.on('error', resolve)
    sent.end(body)
  })
  let left = count
  await Promise.all(Array.from({ length: 16 }, async () => { while (left-- > 0) await one() }))
  agent.destroy()
}

/** Sends many requests on one connection at once, reads no answer, and hangs up. */
async function pipeline(port, count, text) {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  const batch = text.repeat(1_000)
  for (let sent = 0; sent < count; sent += 1_000) {
    // What the server does not read waits here: that is this process's memory, and not the server's.
    if (!socket.write(batch)) await sleep(5)
  }
  await sleep(500)
  socket.destroy()
  await sleep(500)
}

/** Sends on one connection after another what makes thousands of requests in one read, and reads nothing. */
async function pipelines(port, count) {
  const batch = 'GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(700)
  const sockets = []
  for (let left = count; left > 0; left--) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    sockets.push(socket)
    socket.pause()
    socket.write(batch)
    await sleep(80)
  }
  await sleep(1_000)
  for (const socket of sockets) {
    socket.destroy()
    await sleep(2)
  }
}

/** Sends bodies whose chunks have one byte each, slowly, on connections of their own, and ends none. */
async function drip(port, count, bytes) {
  const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    + 'Transfer-Encoding: chunked\r\n\r\n'
  const batch = '1\r\n \r\n'.repeat(100)
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}))
  for (const socket of sockets) socket.write(head)
  for (let sent = 0; sent < bytes; sent += 100) {
    for (const socket of sockets) socket.write(batch)
    await sleep(10)
  }
  for (const socket of sockets) socket.destroy()
}

/** Asks for large replies on connections of their own and reads none of them. */
async function unread(port, count) {
  const body = '{"query":"big"}'
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    + `Content-Length: ${body.length}\r\n\r\n`
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.pause()
    socket.write(head + body)
    return socket
  })
  await sleep(3_000)
  for (const socket of sockets) socket.destroy()
}

async function watched({ name, kind, server = {}, run }) {
  const path = fileURLToPath(new URL('attacked.js', import.meta.url))
  const child = fork(path, [JSON.stringify(server), kind ?? ''], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [{ port }] = await once(child, 'message')
  let rss = 0
  child.on('message', (told) => { rss = Math.max(rss, told.rss) })
  const looking = setInterval(() => { if (child.connected) child.send('memory') }, 20)
  const watch = new Worker(new URL('watch.js', import.meta.url), { workerData: port })
  await sleep(200)
  const begun = performance.now()
  await run(port)
  const seconds = (performance.now() - begun) / 1_000
  await sleep(300)
  clearInterval(looking)
  watch.postMessage('end')
  const [times] = await once(watch, 'message')
  const isAlive = child.exitCode === null
  if (child.connected) child.disconnect()
  times.sort((a, b) => a - b)
  const worst = times.at(-1)
  const holds = isAlive && rss < MAX_RSS && worst < MAX_HEALTH_MS
  return {
    name, holds, isAlive, megabytes: Math.round(rss / MiB), worstMs: Math.round(worst),
    medianMs: Number(times[times.length >> 1].toFixed(1)), seconds: Number(seconds.toFixed(1)),
  }
}

console.log('| attack | MB at most | /health at worst, ms | median, ms | s | |\n|---|---|---|---|---|---|')
let hasFailed = false
for (const attack of attacks) {
  if (options.case !== undefined && attack.name !== options.case) continue
  const { name, holds, isAlive, megabytes, worstMs, medianMs, seconds } = await watched(attack)
  hasFailed ||= !holds
  const verdict = holds ? '' : isAlive ? 'does not hold' : 'the process has ended'
  console.log(`| ${name} | ${megabytes} | ${worstMs} | ${medianMs} | ${seconds} | ${verdict} |`)
}
process.exitCode = hasFailed ? 1 : 0
