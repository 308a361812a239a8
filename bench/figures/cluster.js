/**
 * Two processes under node:cluster: how many requests a second they answer, beside what one does, and what
 * one request costs there. Nobody has a core of its own here; a real machine has more.
 */
import { slice } from '../client/slice.js'
import { median, rounded } from '../statistics.js'

export const cluster = {
  name: 'cluster',
  async measure({ start, caseOf, effort }) {
    const { rounds, share, isBrief } = effort
    const post = caseOf('post')
    const servers = new Map()
    for (const name of ['triport', 'bare']) {
      for (const processes of [1, 2]) {
        const env = { BENCH_PROCESSES: String(processes) }
        servers.set(`${name} ${processes}`, await start(name, { isClustered: true, isPinned: false, env }))
      }
    }
    const seen = new Map([...servers.keys()].map((key) => [key, []]))
    for (let round = -1; round < Math.min(rounds, 9); round++) {
      const keys = [...servers.keys()]
      for (const key of round % 2 === 0 ? keys : keys.toReversed()) {
        const result = await slice(servers.get(key), post, Math.ceil(post.requests * share * 2), isBrief)
        if (round >= 0) seen.get(key).push(result)
      }
    }
    await Promise.all([...servers.values()].map((server) => server.stop()))
    const of = (key, pick) => median(seen.get(key).map(pick))
    const gain = (name) => rounded(
      of(`${name} 2`, ({ perSecond }) => perSecond) / of(`${name} 1`, ({ perSecond }) => perSecond),
    )
    const micros = (name) => rounded(of(`${name} 2`, (result) => result.micros))
    const row = (title, figure) => ({ title, triport: figure('triport'), bare: figure('bare') })
    return [
      row('throughput of `POST /` with 2 processes under node:cluster, by that with 1', gain),
      row('CPU µs of `POST /` with 2 processes under node:cluster', micros),
    ]
  },
}
