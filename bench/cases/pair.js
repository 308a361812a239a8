/**
 * The HTTP+SSE pair, the oldest transport of MCP: a request is POSTed, and its answer comes on the stream of
 * its session, of which 1,000 are open. A round trip is over when both the POST and the request are answered.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { encode } from '../client/connection.js'
import { judge, SAMPLE, unlessStalled } from '../client/load.js'
import { measured, openAll } from '../client/slice.js'
import { posted } from './case.js'

const SESSIONS = 1000

const OPENED_AT_ONCE = 50

export const pairCase = posted({
  name: 'pair',
  title: 'SSE pair round trip, 1,000 sessions',
  aim: 0.9,
  path: '/sse',
  body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'add', arguments: { a: 2, b: 3 } } },
  status: 202,
  requests: 2000,
  check({ body }) {
    assert.equal(body, 'Accepted')
  },
  slice: pairSlice,
})

/** A slice of round trips. What is expected on the stream is the text of the sum. */
async function pairSlice(server, one, count, isBrief) {
  const port = server.ports[one.door ?? 'open']
  const streams = await openStreams(port, one.path, isBrief ? OPENED_AT_ONCE : SESSIONS)
  const connections = await openAll(port)
  const requests = streams.map(({ path }) => encode({ ...one, path }, port))
  const look = judge(one, server)
  await trips(connections, streams, requests, connections.length, look)
  const result = await measured(server, count, () => trips(connections, streams, requests, count, look))
  await Promise.all([...connections, ...streams].map((each) => each.close()))
  return result
}

/** Opens so many streams, and waits until each has said where to post to. */
export async function openStreams(port, path, count) {
  const streams = []
  while (streams.length < count) {
    const more = Math.min(OPENED_AT_ONCE, count - streams.length)
    streams.push(...await Promise.all(Array.from({ length: more }, () => openStream(port, path))))
  }
  return streams
}

function trips(connections, streams, requests, count, look) {
  return unlessStalled((resolve, reject) => {
    const begun = performance.now()
    // A session has one trip at a time, and the one that has waited for longest is next.
    const free = streams.map((_, at) => at)
    let sent = 0
    let got = 0
    const next = (connection) => {
      const isWhole = sent++ % SAMPLE === 0
      const at = free.shift()
      let isHalf = false
      const half = () => {
        if (!isHalf) {
          isHalf = true
          return
        }
        free.push(at)
        if (++got === count) resolve((performance.now() - begun) / 1000)
        else if (sent < count) next(connection)
      }
      streams[at].onMessage = half
      connection.ask(requests[at], isWhole, () => {
        try {
          look(connection, isWhole)
          half()
        } catch (error) {
          reject(error)
        }
      }, reject)
    }
    for (const connection of connections) if (sent < count) next(connection)
  })
}

function openStream(port, path) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const stream = {
      path: '',
      onMessage() {},
      close: () => new Promise((closed) => {
        socket.once('close', closed)
        socket.destroy()
      }),
    }
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.latin1Slice()
      if (stream.path === '') {
        const [, where] = /\r?\ndata: ?(\S+)\r?\n\r?\n/.exec(text) ?? []
        if (where === undefined) return
        stream.path = where.startsWith('http') ? where.slice(where.indexOf('/', 8)) : where
        text = ''
        return resolve(stream)
      }
      // An event ends with an empty line, whatever the chunks.
      const data = text.indexOf('\ndata:')
      if (data < 0 || text.indexOf('\n\n', data + 1) < 0 && text.indexOf('\n\r\n', data + 1) < 0) return
      if (!text.includes('2 + 3 = 5')) return socket.destroy(new Error(`A wrong message: ${text}`))
      text = ''
      stream.onMessage()
    })
    socket.on('error', reject)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`)
  })
}
