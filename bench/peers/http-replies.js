/**
 * What the peers of plain HTTP answer: what triport does.
 */
import { randomUUID } from 'node:crypto'
import { agent } from '../author.js'

const health = JSON.parse(process.env.BENCH_HEALTH ?? '{"status":"ok"}')

/** The answer to a query. */
export function replyTo(query, text, id) {
  return { response: text, agent: agent.name, query, session_id: randomUUID(), request_id: id }
}

export function healthOf() {
  return health
}
