/**
 * One slice: so many requests of one case, over 32 connections that are opened for it, and what the server's
 * process spent on them. What belongs to a slice and is not measured (opening connections and sessions, and
 * ending them) happens before and after.
 */
import { ending, handshake, initialized } from '../cases/session.js'
import { encode, open } from './connection.js'
import { judge, load } from './load.js'

/** How many connections the load has. */
export const CONNECTIONS = 32
const FEW_CONNECTIONS = 8

/**
 * Sends a slice. Resolves to microseconds of CPU per request, and requests per second. `isBrief`: what takes
 * long to get ready (thousands of sessions) is not, and the connections
 * are few.
 */
export async function slice(server, one, count, isBrief) {
  if (one.slice !== undefined) return one.slice(server, one, count, isBrief)
  if (!isBrief) await fill(server, one)
  const most = Math.min(isBrief ? FEW_CONNECTIONS : CONNECTIONS, count)
  return withConnections(server, one, most, (connections, requests, look) => (
    measured(server, count, () => load(connections, requests, count, look))
  ))
}

/**
 * Opens so many connections, with a session each where the case has sessions, and asks once on each. `run`
 * gets them, what each is to send, and a look at answers; when it is done sessions and connections are ended.
 */
export async function withConnections(server, one, count, run) {
  const port = server.ports[one.door ?? 'open']
  const connections = await openAll(port, count)
  const sessions = one.hasSession
    ? await Promise.all(connections.map((connection) => begin(connection, server, one, port)))
    : []
  const requests = requestsOf(one, port, connections, sessions)
  const look = judge(one, server)
  const see = one.endsSessions !== true ? look : (connection, isWhole) => {
    look(connection, isWhole)
    sessions.push(sessionIn(connection.head))
  }
  await load(connections, requests, count, see, 1)
  const result = await run(connections, requests, see)
  await end(connections, server, one, port, sessions)
  await Promise.all(connections.map((connection) => connection.close()))
  return result
}

/** Runs what sends `count` requests and resolves to its seconds, and says what they cost the server. */
export async function measured(server, count, run) {
  const before = await server.ask('cpu')
  const seconds = await run()
  const after = await server.ask('cpu')
  const micros = (after.user + after.system - before.user - before.system) / count
  return { micros, perSecond: count / seconds }
}

/** One whole answer of a case, for comparison. */
export async function answerOf(server, one) {
  const port = server.ports[one.door ?? 'open']
  const connection = await open(port)
  const sessions = one.hasSession ? [await begin(connection, server, one, port)] : []
  const [request] = requestsOf(one, port, [connection], sessions)
  const answer = await connection.whole(request)
  await end([connection], server, one, port, sessions)
  await connection.close()
  return answer
}

export function openAll(port, count = CONNECTIONS) {
  return Promise.all(Array.from({ length: count }, () => open(port)))
}

function requestsOf(one, port, connections, sessions) {
  if (one.hasSession) return sessions.map((session) => encode(one, port, { 'Mcp-Session-Id': session }))
  const request = encode(one, port)
  return connections.map(() => request)
}

/** Opens a session on a connection; resolves to its id. */
async function begin(connection, server, one, port) {
  const keys = keyOf(one)
  const answer = await connection.whole(encode({ ...handshake, path: one.path }, port, keys))
  const session = sessionIn(answer.head)
  const more = { ...keys, 'Mcp-Session-Id': session }
  const { status } = await connection.whole(encode({ ...initialized, path: one.path }, port, more))
  if (status !== 202) throw new Error(`${server.name} answers notifications/initialized with ${status}`)
  return session
}

/** Ends sessions, as many at a time as there are connections. */
async function end(connections, server, one, port, sessions) {
  const left = sessions.slice()
  await Promise.all(connections.map(async (connection) => {
    for (let session = left.pop(); session !== undefined; session = left.pop()) {
      const more = { ...keyOf(one), 'Mcp-Session-Id': session }
      const { status } = await connection.whole(encode({ ...ending, path: one.path }, port, more))
      if (status >= 300) throw new Error(`${server.name} answers DELETE with ${status}`)
    }
  }))
}

/** Where a case is about a full table of sessions: fills it, once. */
async function fill(server, one) {
  if (one.fills === undefined || server.filled.has(one.name)) return
  server.filled.add(one.name)
  const port = server.ports[one.door]
  const connections = await openAll(port)
  await load(connections, connections.map(() => encode(one, port)), one.fills, () => {})
  await Promise.all(connections.map((connection) => connection.close()))
}

function keyOf({ headers }) {
  const key = headers['X-API-Key']
  return key === undefined ? {} : { 'X-API-Key': key }
}

function sessionIn(head) {
  const [, session] = /^mcp-session-id: (\S+)/im.exec(head) ?? []
  if (session === undefined) throw new Error(`An answer to initialize names no session:\n${head}`)
  return session
}
