/**
 * From the start of a process to its first answer, and what it holds then: what `start.js` measures. Peers
 * are told by the same difference, to the bare server of the cases, started as they are.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { on } from '../client/server.js'
import { answerOf } from '../client/slice.js'
import { median, rounded } from '../statistics.js'

const MB = 1024 * 1024

export const firstAnswer = {
  name: 'first-answer',
  async measure({ start, caseOf, peersWith, effort }) {
    const starts = Math.ceil(effort.rounds / 2)
    const file = fileURLToPath(new URL('../start.js', import.meta.url))
    const [command, ...args] = [...on('all'), process.execPath, file, String(starts)]
    const told = execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    const [, ms, cpuMs, megabytes] = cellsOf(told, 'library')
    const peers = await aboveBare({ start, caseOf, peersWith }, starts)
    const row = (title, triport, aim, unit) => ({
      title, triport: Number(triport), bare: 0, aim,
      peers: unit === undefined ? {} : Object.fromEntries(peers.map((peer) => [peer.name, peer[unit]])),
    })
    return [
      row('ms to the first answer, above bare', ms, 25, 'ms'),
      row('CPU ms to the first answer, above bare', cpuMs),
      row('MB at the first answer, above bare', megabytes, 5, 'megabytes'),
    ]
  },
}

/** What a line of the table says: what is started, and its columns that are differences. */
function cellsOf(table, name) {
  const line = table.split('\n').find((one) => one.startsWith(`| ${name} |`))
  if (line === undefined) throw new Error(`start.js does not tell of '${name}':\n${table}`)
  return line.split('|').map((cell) => cell.trim()).filter((_, at) => at % 2 === 1)
}

async function aboveBare({ start, caseOf, peersWith }, starts) {
  const asked = [['bare', 'post'], ...['post', 'call-stateless', 'a2a-send-1.0'].flatMap((name) => (
    peersWith(name).map((peer) => [peer.name, name])
  ))]
  if (asked.length === 1) return []
  const seen = new Map(asked.map(([name]) => [name, []]))
  for (let at = 0; at < starts; at++) {
    for (const [name, one] of asked) {
      const begun = performance.now()
      const server = await start(name)
      await answerOf(server, server.cases?.get(one) ?? caseOf(one))
      const ms = performance.now() - begun
      const { rss } = await server.ask('memory')
      await server.stop()
      seen.get(name).push({ ms, megabytes: rss / MB })
    }
  }
  const [bare, ...others] = [...seen].map(([name, all]) => (
    { name, ms: median(all.map(({ ms }) => ms)), megabytes: median(all.map(({ megabytes }) => megabytes)) }
  ))
  return others.map(({ name, ms, megabytes }) => (
    { name, ms: rounded(ms - bare.ms), megabytes: rounded(megabytes - bare.megabytes) }
  ))
}
