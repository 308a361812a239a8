/**
 * The rounds. In each, every case gets a slice on every server, in an order that changes: so what is measured
 * is a server that has just done other work, as a real one has, and whose code has seen all of it.
 */
import { slice } from './slice.js'

/** A slice that is not measured is so much shorter, and so many stand before one that is. */
const FILLER = 0.03
const FILLERS = 6

/** A peer's slice is cut to take about so much CPU. */
const PEER_SLICE_MS = 200

/** And it begins with so few requests, before its cost is known. */
const LEAST = 32

/**
 * Measures. `servers` begin with triport and bare; the peers after them do only some cases. Of `cases` those
 * in `chosen` are measured; the others keep the servers' code mixed in between. Resolves to a Map: the case's
 * name to a Map of the server's name to its slices, one a round.
 */
export async function measureMixed(servers, cases, chosen, effort, onRound = () => {}) {
  const { rounds, warmUps, share, isBrief } = effort
  const results = new Map(chosen.map((one) => [one.name, new Map(servers.map(({ name }) => [name, []]))]))
  const counts = new Map()
  const order = new Order(cases)
  for (let round = -warmUps; round < rounds; round++) {
    for (const one of order.next(chosen)) {
      const isMeasured = results.has(one.name)
      // Who was first is last the next time.
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        const asked = server.cases === undefined ? one : server.cases.get(one.name)
        if (asked === undefined) continue
        if (!isMeasured) {
          await slice(server, asked, Math.ceil(FILLER * one.requests), true)
          continue
        }
        const key = `${server.name} ${one.name}`
        const most = Math.ceil(share * one.requests)
        const isPeer = server.cases !== undefined
        const result = await slice(server, asked, counts.get(key) ?? (isPeer ? LEAST : most), isBrief)
        if (round >= 0) results.get(one.name).get(server.name).push(result)
        else if (isPeer) counts.set(key, affordable(most, result.micros))
      }
    }
    onRound(round)
  }
  return results
}

/** How many requests of a peer a slice has, whose cost is known by now. */
function affordable(most, micros) {
  return Math.min(most, Math.max(LEAST, Math.ceil(PEER_SLICE_MS * 1000 / micros)))
}

/** The order of the cases: another one each round, the same each run. */
class Order {
  #cases
  #state = 1

  constructor(cases) {
    this.#cases = [...cases]
  }

  /** All cases, shuffled; where few are measured, some of the others stand before each of them. */
  next(chosen) {
    if (chosen.length === this.#cases.length) return this.#shuffled(chosen)
    const others = this.#cases.filter((one) => !chosen.includes(one))
    return this.#shuffled(chosen).flatMap((one) => [...this.#shuffled(others).slice(0, FILLERS), one])
  }

  #shuffled(cases) {
    const shuffled = [...cases]
    for (let at = shuffled.length - 1; at > 0; at--) {
      // The generator of POSIX: any one would do.
      this.#state = (Math.imul(this.#state, 1103515245) + 12345) & 0x7fffffff
      const other = (this.#state >> 8) % (at + 1)
      ;[shuffled[at], shuffled[other]] = [shuffled[other], shuffled[at]]
    }
    return shuffled
  }
}
