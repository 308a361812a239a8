/**
 * How near triport comes to bare node:http, as a ratio of CPU time.
 *
 * Method. Two servers run, each in a process of its own: `served.js`, triport as it comes, and `bare.js`,
 * node:http by hand, which sends the same status, header lines and bytes, framed alike. This process loads
 * them over 32 kept connections, from another core where there are two. In each round every case gets a
 * slice on either server, a fixed number of requests, in an order that changes: each server serves all kinds
 * of requests in turn, as a real one does. Around each slice the server's process says how much CPU it has
 * used, user and system, all its threads, its garbage collected. A round gives one ratio a case, bare by
 * triport: 1 is as fast as bare, 0.5 is twice its cost. The result is the median of the rounds, and the middle
 * half of them tells how far they spread; some rounds before warm up and do not count.
 *
 * Before the first round and after the last the answers of both are compared byte for byte, chunks included,
 * apart from ids and times. The status and the length of every answer is looked at, and every 64th is read.
 *
 * Measured: reading a request, deciding, calling the author's function, writing the answer, and the
 * kernel's part in that. Not measured: the client, TLS, connecting, and the work of a real agent, which would
 * stand on both sides. Microseconds are those of the machine and of its neighbours; only the ratios travel.
 *
 *   --case NAME       measures this one (can be given again), the others served in between
 *   --smoke           are the answers right? A few seconds; the ratios say little
 *   --quick           a minute: the ratios say something
 *   --peers           measures the peers on the same work; installs them first, once
 *   --json FILE       writes what was measured
 *   --markdown FILE   writes the table
 *   --cpu-prof DIR    lets both servers write a profile when they end
 */
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { cases } from './cases.js'
import { compare } from './client/compare.js'
import { measureMixed } from './client/mixed.js'
import { cores, pinLoad, startServer } from './client/server.js'
import { answerOf } from './client/slice.js'
import { askedOf, installPeers, peers } from './peers.js'
import { markdown, summary, text } from './report.js'

const { values: options } = parseArgs({
  options: {
    'case': { type: 'string', multiple: true },
    'smoke': { type: 'boolean' },
    'quick': { type: 'boolean' },
    'peers': { type: 'boolean' },
    'json': { type: 'string' },
    'markdown': { type: 'string' },
    'cpu-prof': { type: 'string' },
  },
})

const unknown = options.case?.find((wanted) => !cases.some(({ name }) => name === wanted))
if (unknown !== undefined) {
  console.error(`There is no case '${unknown}'; there are ${cases.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
const chosen = cases.filter(({ name }) => options.case?.includes(name) ?? true)

const effort = options.smoke ? { rounds: 1, warmUps: 0, share: 0.05, isBrief: true }
  : options.quick ? { rounds: 5, warmUps: 2, share: 0.3 }
    : { rounds: 15, warmUps: 3, share: 1 }

pinLoad()
const flags = options['cpu-prof'] === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', options['cpu-prof']]
const triport = await startServer('triport', 'served.js', { flags })
const health = await answerOf(triport, cases.find(({ name }) => name === 'health'))
const env = { BENCH_HEALTH: health.body }
const bare = await startServer('bare', 'bare.js', { flags, env })
const servers = [triport, bare]
if (options.peers) {
  installPeers()
  for (const peer of peers) {
    const server = await startServer(peer.name, peer.file, { env })
    server.cases = askedOf(peer, cases)
    servers.push(server)
  }
}

for (const one of chosen) await compare(one, triport, bare)
const slices = await measureMixed(servers, cases, chosen, effort, (round) => {
  if (process.stderr.isTTY) process.stderr.write(`\rround ${round + 1} of ${effort.rounds} `)
})
for (const one of chosen) await compare(one, triport, bare)
await Promise.all(servers.map((server) => server.stop()))

const rows = chosen.map((one) => summary(one, slices.get(one.name)))
console.log(text(rows))
console.log(cores === undefined ? 'Servers and load share what cores there are.'
  : `Servers on core ${cores.server}, the load on core ${cores.load}.`)
if (options.json !== undefined) {
  const machine = { node: process.version, cpu: cpus()[0].model, cores }
  writeFileSync(options.json, `${JSON.stringify({ machine, effort, cases: rows }, null, 2)}\n`)
}
if (options.markdown !== undefined) writeFileSync(options.markdown, markdown(rows))
