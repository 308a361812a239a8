/**
 * How near triport comes to bare node:http, as a ratio of CPU time.
 *
 * Method. For each case two servers run, each in a process of its own: `served.js`, triport as it comes,
 * and `bare.js`, node:http by hand, which sends the same status, header lines and bytes. This process
 * loads them in turn, over 32 kept connections: slices of a fixed number of requests, in pairs, the first
 * of a pair being the second of the next, so that a noisy neighbour meets both. Around each slice the
 * server's process says how much CPU it has used, user and system, all its threads; by the number of
 * requests that is what one of them cost. A pair gives one ratio, bare by triport: 1 is as fast as bare,
 * 0.5 is twice its cost. The result is the median of all pairs, after some that warm up and do not count.
 *
 * Before the first pair and after the last the answers of both are checked, and compared byte for byte
 * apart from ids, the date, and how the end of a stream is told; every answer's status is looked at.
 *
 * Measured: reading a request, deciding, calling the author's function, writing the answer, and the
 * kernel's part in that. Not measured: the client, whose CPU is this process's; latency; memory; TLS;
 * connecting; start-up; and the work of a real agent, which would stand on both sides. Microseconds are
 * those of the machine and of its neighbours; only the ratios travel.
 *
 * node bench/run.js [--smoke] [--case NAME]     --smoke: are the answers right? The ratios say little.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cases } from './cases.js'

const CONNECTIONS = 32

const { values: options } = parseArgs({ options: { smoke: { type: 'boolean' }, case: { type: 'string' } } })

/** Pairs that count, pairs that do not, and the part of a case's requests that a slice sends. */
const effort = options.smoke ? { pairs: 2, warmUps: 1, share: 0.1 } : { pairs: 15, warmUps: 5, share: 1 }

const chosen = cases.filter(({ name }) => options.case === undefined || name === options.case)
if (chosen.length === 0) {
  console.error(`There is no case '${options.case}'; there are ${cases.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const results = []
for (const one of chosen) {
  const result = await measure(one)
  console.log(JSON.stringify(result))
  results.push(result)
}
console.log(`\n${table(results)}`)

/** One case: the ratios of its pairs, and what a request costs on either side. */
async function measure(one) {
  const servers = await Promise.all([start('served.js', one), start('bare.js', one)])
  try {
    await compare(one, servers)
    const pairs = []
    for (let at = -effort.warmUps; at < effort.pairs; at++) {
      const costs = new Map()
      for (const server of at % 2 === 0 ? servers : servers.toReversed()) {
        costs.set(server, await slice(one, server, Math.ceil(one.requests * effort.share)))
      }
      if (at >= 0) pairs.push(servers.map((server) => costs.get(server)))
    }
    await compare(one, servers)
    return summary(one, pairs)
  } finally {
    await Promise.all(servers.map(stop))
  }
}

function summary({ name }, pairs) {
  const ratios = pairs.map(([ours, bare]) => bare / ours)
  return {
    name,
    rounds: pairs.length,
    ratio: rounded(median(ratios), 3),
    min: rounded(Math.min(...ratios), 3),
    max: rounded(Math.max(...ratios), 3),
    oursMicros: rounded(median(pairs.map(([ours]) => ours)), 1),
    bareMicros: rounded(median(pairs.map(([, bare]) => bare)), 1),
  }
}

/** Starts a server in a process of its own and waits for its port. */
async function start(file, one) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [one.name])
  child.once('exit', (code) => {
    if (code !== 0) throw new Error(`${file} ended with ${code}`)
  })
  const [{ port }] = await once(child, 'message')
  return { child, port, agent: new Agent({ keepAlive: true, maxSockets: CONNECTIONS }) }
}

async function stop({ child, agent }) {
  agent.destroy()
  child.disconnect()
  await once(child, 'exit')
}

/** Sends `count` requests, and says how many microseconds of CPU the server's process spent on each. */
async function slice(one, server, count) {
  const before = await cpuOf(server)
  await load(one, server, count)
  const after = await cpuOf(server)
  return (after.user + after.system - before.user - before.system) / count
}

async function cpuOf({ child }) {
  child.send('cpu')
  const [usage] = await once(child, 'message')
  return usage
}

/** Keeps every connection busy until `count` answers have come. */
function load(one, server, count) {
  return new Promise((resolve, reject) => {
    let sent = 0
    let got = 0
    const next = () => {
      if (sent === count) return
      sent++
      ask(one, server, (response) => {
        const { statusCode } = response
        if (statusCode !== 200) return reject(new Error(`${one.name}: status ${statusCode}`))
        response.resume().on('error', reject)
        response.on('end', () => {
          if (++got === count) resolve()
          else next()
        })
      }).on('error', reject)
    }
    for (let connection = 0; connection < CONNECTIONS; connection++) next()
  })
}

function ask({ method, path, headers, body }, { port, agent }, onResponse) {
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
  const sent = request({ method, path, port, agent, headers: { ...headers, ...length } }, onResponse)
  sent.end(body)
  return sent
}

/** Asks both servers once. Throws where an answer is wrong, or is not the same from both. */
async function compare(one, servers) {
  const answers = await Promise.all(servers.map((server) => whole(one, server)))
  for (const answer of answers) one.check(answer)
  const [ours, bare] = answers.map(comparable)
  assert.deepEqual(bare, ours, `${one.name}: bare.js does not answer as triport does`)
}

function whole(one, server) {
  return new Promise((resolve, reject) => {
    ask(one, server, async (response) => {
      try {
        const body = Buffer.concat(await response.toArray()).toString()
        resolve({ status: response.statusCode, lines: response.rawHeaders, body })
      } catch (error) {
        reject(error)
      }
    }).on('error', reject)
  })
}

/** What two right answers have in common. */
function comparable({ status, lines, body }) {
  const isStream = lines.includes('text/event-stream')
  const shown = []
  for (let at = 0; at < lines.length; at += 2) {
    const [name, value] = [lines[at], lines[at + 1]]
    if (name === 'Content-Length') assert.equal(Number(value), Buffer.byteLength(body))
    const isFraming = name === 'Content-Length' || name === 'Transfer-Encoding'
    if (!isFraming) shown.push(`${name}: ${name === 'Date' ? 'DATE' : mask(value)}`)
    else if (!isStream) shown.push(name)
  }
  return { status, lines: shown, body: mask(body) }
}

/** Takes out session ids (UUIDs) and request ids (ten hexadecimal digits and a count). */
function mask(text) {
  return text
    .replace(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'UUID')
    .replace(/\b[\da-f]{10}-[\da-z]+\b/g, 'ID')
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"')
}

function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function rounded(number, digits) {
  return Number(number.toFixed(digits))
}

function table(rows) {
  const lines = rows.map((row) => [
    row.name, row.ratio.toFixed(2), row.min.toFixed(2), row.max.toFixed(2),
    row.oursMicros.toFixed(1), row.bareMicros.toFixed(1),
  ])
  lines.unshift(['case', 'ratio', 'min', 'max', 'triport us', 'bare us'])
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const pad = (cell, column) => column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])
  return lines.map((line) => line.map(pad).join('  ')).join('\n')
}
