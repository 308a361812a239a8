/**
 * How near triport comes to bare node:http, as a ratio of CPU time.
 *
 * Method. Two servers run, each in a process of its own: `served.js`, triport as it comes, and `bare.js`,
 * node:http by hand, which sends the same status, header lines and bytes, framed alike. This process loads
 * them over 32 kept connections, from another core where there are two. In each round every case gets a
 * slice on either server, a fixed number of requests, in an order that changes: each server serves all kinds
 * of requests in turn, as a real one does. Around each slice the server's process says how much CPU it has
 * used, user and system, all its threads, its garbage collected. A round gives one ratio a case, bare by
 * triport: 1 is as fast as bare, 0.5 is twice its cost. The result is the median of the rounds, and the
 * middle half of them tells how far they spread; some rounds before warm up and do not count.
 *
 * Before the first round and after the last the answers of both are compared byte for byte, chunks included,
 * apart from ids and times. The status and the length of every answer is looked at, and every 64th is read.
 *
 * Measured: reading a request, deciding, calling the author's function, writing the answer, and the
 * kernel's part in that. Not measured: the client, TLS, connecting, and the work of a real agent, which would
 * stand on both sides. Microseconds are those of the machine and of its neighbours; only the ratios travel.
 *
 * Without --case, what is in `figures/` is measured after that: latency, the first answer, memory, idle
 * sessions, node:cluster.
 *
 *   --case NAME       measures this one (can be given again), the others served in between
 *   --smoke           are the answers right? A few seconds; the ratios say little
 *   --quick           a minute or two: the ratios say something
 *   --peers           measures the peers on the same work; installs them first, once
 *   --json FILE       writes what was measured
 *   --markdown FILE   writes tables: into a file that has a place for them, as results.md has, or a new one
 *   --cpu-prof DIR    lets triport and bare write profiles when they end
 */
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { cases } from './cases.js'
import { compare } from './client/compare.js'
import { measureMixed } from './client/mixed.js'
import { cores, pinLoad, startServer } from './client/server.js'
import { answerOf } from './client/slice.js'
import { figures } from './figures.js'
import { askedOf, installPeers, peers } from './peers.js'
import { markdown, summary, textOfCases, textOfFigures, writeTables } from './report.js'

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

const names = [...cases, ...figures].map(({ name }) => name)
const unknown = options.case?.find((wanted) => !names.includes(wanted))
if (unknown !== undefined) {
  console.error(`There is no case '${unknown}'; there are ${names.join(', ')}`)
  process.exit(2)
}
const isWanted = ({ name }) => options.case?.includes(name) ?? true
const chosen = cases.filter(isWanted)

const effort = options.smoke ? { rounds: 1, warmUps: 0, share: 0.05, isBrief: true }
  : options.quick ? { rounds: 5, warmUps: 2, share: 0.3, isBrief: false }
    : { rounds: 9, warmUps: 3, share: 1, isBrief: false }

if (options.peers) installPeers()
const invited = options.peers ? peers : []

const peersWith = (name) => invited.filter((peer) => Object.hasOwn(peer.cases, name))
const caseOf = (name) => cases.find((one) => one.name === name)

pinLoad()
const env = {}
const flags = options['cpu-prof'] === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', options['cpu-prof']]
const triport = await start('triport', { flags })
// What triport says of itself is the same every time; by hand it is sent as it is.
env.BENCH_HEALTH = (await answerOf(triport, caseOf('health'))).body
const rows = chosen.length === 0 ? [] : await measureCases()
await triport.stop()
const more = []
for (const figure of figures.filter(isWanted)) {
  tell(figure.name)
  more.push(...await figure.measure({ start, caseOf, peersWith, effort }))
}

tell('')
if (rows.length > 0) console.log(`${textOfCases(rows)}\n`)
if (more.length > 0) console.log(`${textOfFigures(more)}\n`)
console.log(cores === undefined ? 'Servers and load share what cores there are.'
  : `Servers on core ${cores.server}, the load on core ${cores.load}.`)
if (options.json !== undefined) {
  const machine = { node: process.version, cpu: cpus()[0].model, cores }
  writeFileSync(options.json, `${JSON.stringify({ machine, effort, cases: rows, figures: more }, null, 2)}\n`)
}
if (options.markdown !== undefined) writeTables(options.markdown, markdown(rows, more))

/**
 * A fresh server: 'triport', 'bare', or a peer by its name. `isClustered`: in as many processes as its
 * environment says.
 */
async function start(name, { isClustered = false, ...rest } = {}) {
  const peer = peers.find((one) => one.name === name)
  if (peer !== undefined) {
    const server = await startServer(name, peer.file, { env })
    server.cases = askedOf(peer, cases)
    return server
  }
  const file = name === 'triport' ? 'served.js' : 'bare.js'
  const given = { ...rest, env: { ...env, ...rest.env } }
  return isClustered ? startServer(name, 'clustered.js', { ...given, args: [file] })
    : startServer(name, file, given)
}

async function measureCases() {
  const bare = await start('bare', { flags })
  const servers = [triport, bare]
  for (const { name } of invited) servers.push(await start(name))
  for (const one of chosen) await compare(one, triport, bare)
  const slices = await measureMixed(servers, cases, chosen, effort, (round) => {
    tell(`round ${round + 1} of ${effort.rounds}`)
  })
  for (const one of chosen) await compare(one, triport, bare)
  await Promise.all(servers.slice(1).map((server) => server.stop()))
  return chosen.map((one) => summary(one, slices.get(one.name)))
}

/** Says what is under way to whoever watches. */
function tell(what) {
  if (process.stderr.isTTY) process.stderr.write(`\r${what.padEnd(30)}\r`)
}
