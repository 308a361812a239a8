/**
 * Sessions of the HTTP+SSE pair that are open and say nothing: what one of 1,000 holds, what one of 10,000
 * holds, and what a call costs beside so many.
 */
import { openStreams } from '../cases/pair.js'
import { slice } from '../client/slice.js'
import { median, rounded } from '../statistics.js'

const KB = 1000

/** What is there once, whoever comes, is in memory by then. */
const FIRST = 100
const SOME = 1_000
const MANY = 10_000

/** One pass for so many rounds of the cases. */
const PASS_ROUNDS = 5

export const idle = {
  name: 'idle',
  async measure({ start, caseOf, peersWith, effort }) {
    const pair = caseOf('pair')
    // So many sessions are all that there may be.
    const call = caseOf('call-stateless')
    const many = effort.isBrief ? SOME : MANY
    const seen = { triport: [], bare: [] }
    for (let pass = 0; pass < Math.ceil(effort.rounds / PASS_ROUNDS); pass++) {
      for (const name of ['triport', 'bare']) {
        seen[name].push(await sessionsOf(await start(name), pair, call, many, effort))
      }
    }
    const ofPeers = {}
    for (const peer of peersWith('pair')) {
      const server = await start(peer.name)
      const { some } = await sessionsOf(server, server.cases.get('pair'), undefined, SOME, effort)
      ofPeers[peer.name] = rounded(some.heap)
    }
    const row = (title, pick, aim) => ({
      title, aim,
      triport: rounded(median(seen.triport.map(pick))), bare: rounded(median(seen.bare.map(pick))),
    })
    const shown = many.toLocaleString('en')
    return [
      { ...row('kB heap per idle SSE session, of 1,000', ({ some }) => some.heap, 6), peers: ofPeers },
      row(`kB heap per idle SSE session, of ${shown}`, ({ many }) => many.heap),
      row(`kB of memory (RSS) per idle SSE session, of ${shown}`, ({ many }) => many.rss),
      row(`CPU µs of \`tools/call\` without a session, beside ${shown} idle ones`, ({ micros }) => micros),
    ]
  },
}

/** Without a `call` none is measured. */
async function sessionsOf(server, pair, call, many, { share, isBrief }) {
  const port = server.ports[pair.door ?? 'open']
  const streams = []
  const held = async (count) => {
    streams.push(...await openStreams(port, pair.path, count - streams.length))
    return server.ask('held')
  }
  const each = (one, other, count) => (
    { heap: (other.heapUsed - one.heapUsed) / count / KB, rss: (other.rss - one.rss) / count / KB }
  )
  const first = await held(FIRST)
  const some = each(first, await held(SOME), SOME - FIRST)
  const last = each(first, await held(many), many - FIRST)
  const calls = []
  const count = call === undefined ? 0 : Math.ceil(call.requests * share)
  for (let at = 0; at < 4 && count > 0; at++) calls.push(await slice(server, call, count, isBrief))
  await Promise.all(streams.map((stream) => stream.close()))
  await server.stop()
  return { some, many: last, micros: median(calls.slice(1).map(({ micros }) => micros)) }
}
