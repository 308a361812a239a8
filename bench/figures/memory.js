/**
 * Memory after so many requests: what a server goes on to hold. Taken as it is, with the garbage that it lets
 * lie, and then without.
 */
import { load } from '../client/load.js'
import { CONNECTIONS, withConnections } from '../client/slice.js'
import { rounded } from '../statistics.js'

const MB = 1_000_000

export const memory = {
  name: 'memory',
  async measure({ start, caseOf, effort }) {
    const post = caseOf('post')
    const steps = effort.isBrief ? [500, 1_000] : [10_000, 100_000]
    const triport = await memoryOf(await start('triport'), post, steps)
    const bare = await memoryOf(await start('bare'), post, steps)
    return steps.flatMap((count, at) => {
      const title = `after ${count.toLocaleString('en')} requests of \`POST /\``
      return [
        { title: `MB of memory (RSS) ${title}`, triport: triport[at].rss, bare: bare[at].rss },
        { title: `MB of heap ${title}`, triport: triport[at].heap, bare: bare[at].heap },
      ]
    })
  },
}

async function memoryOf(server, one, steps) {
  const results = []
  await withConnections(server, one, CONNECTIONS, async (connections, requests, look) => {
    let sent = CONNECTIONS
    for (const count of steps) {
      await load(connections, requests, count - sent, look)
      sent = count
      const { rss } = await server.ask('memory')
      const { heapUsed } = await server.ask('held')
      results.push({ rss: rounded(rss / MB), heap: rounded(heapUsed / MB) })
    }
  })
  await server.stop()
  return results
}
