/**
 * Latency at a fixed rate: 500 requests a second over 16 connections, each sent when its time has come and a
 * connection is free, in windows that alternate between the servers. From the first byte of the request to
 * the last of the answer, as the load sees it.
 */
import { withConnections } from '../client/slice.js'
import { at, rounded } from '../statistics.js'

const PER_SECOND = 500
const CONNECTIONS = 16

export const latency = {
  name: 'latency',
  async measure({ start, caseOf, effort }) {
    const [windows, ms] = effort.isBrief ? [1, 300] : [Math.ceil(effort.rounds / 2), 2_000]
    const servers = [await start('triport'), await start('bare')]
    const rows = []
    for (const [name, title] of [['call', '`tools/call` in a session'], ['post', '`POST /`']]) {
      const one = caseOf(name)
      const seen = new Map(servers.map((server) => [server.name, []]))
      for (let window = -1; window < windows; window++) {
        for (const server of window % 2 === 0 ? servers : servers.toReversed()) {
          const times = await windowOf(server, one, ms)
          if (window >= 0) seen.get(server.name).push(...times)
        }
      }
      const sorted = (server) => seen.get(server).toSorted((first, second) => first - second)
      const [triport, bare] = [sorted('triport'), sorted('bare')]
      for (const [part, shown] of [[0.5, 'p50'], [0.99, 'p99']]) {
        rows.push({
          title: `ms latency ${shown} of ${title} at ${PER_SECOND}/s`,
          triport: rounded(at(triport, part)), bare: rounded(at(bare, part)),
        })
      }
    }
    await Promise.all(servers.map((server) => server.stop()))
    return rows
  },
}

function windowOf(server, one, ms) {
  return withConnections(server, one, CONNECTIONS, (connections, requests, look) => (
    new Promise((resolve, reject) => ratedLoad(connections, requests, look, ms, resolve, reject))
  ))
}

function ratedLoad(connections, requests, look, ms, resolve, reject) {
  const free = connections.map((_, number) => number)
  const count = Math.round(ms * PER_SECOND / 1000)
  const times = []
  const begun = performance.now()
  let due = 0
  const timer = setInterval(() => {
    const now = performance.now()
    for (; due < count && begun + due * 1000 / PER_SECOND <= now && free.length > 0; due++) send(free.pop())
  }, 1)
  const send = (number) => {
    const sent = performance.now()
    connections[number].ask(requests[number], false, (connection) => {
      times.push(performance.now() - sent)
      free.push(number)
      try {
        look(connection, false)
      } catch (error) {
        reject(error)
      }
      if (times.length < count) return
      clearInterval(timer)
      resolve(times)
    }, reject)
  }
}
