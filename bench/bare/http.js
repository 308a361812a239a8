/**
 * Plain HTTP by hand: a query, whole or streamed, a tool, and health.
 */
import { randomUUID } from 'node:crypto'
import { agent, run, tools } from '../author.js'
import { Call, eachPiece, EventStream, refuse, requestId, send } from './reply.js'

const healthText = process.env.BENCH_HEALTH ?? '{}'
const [add] = tools

/** `GET /health`. */
export function health(response) {
  send(response, requestId(), healthText)
}

/** `POST /tools/add`. */
export function tool(response, args) {
  const id = requestId()
  send(response, id, JSON.stringify({ tool: add.name, result: add.run(args), request_id: id }))
}

/** `POST /`. */
export function query(response, message, headers) {
  if (typeof message?.query !== 'string') return refuse(response)
  const id = requestId()
  if (headers.accept === 'text/event-stream') return stream(response, message, id)
  const reply = (text) => send(response, id, JSON.stringify(replyTo(message.query, text, id)))
  const text = run(message.query, new Call(response))
  if (text instanceof Promise) text.then(reply)
  else reply(text)
}

async function stream(response, message, id) {
  const events = new EventStream(response, id)
  let text = ''
  let count = 0
  await eachPiece(response, run(message.query, new Call(response)), (piece) => {
    text += piece
    events.write(`id: ${++count}\nevent: delta\ndata: ${JSON.stringify({ text: piece })}\n\n`)
  })
  const done = JSON.stringify(replyTo(message.query, text, id))
  events.end(`id: ${++count}\nevent: done\ndata: ${done}\n\n`)
}

function replyTo(query, text, id) {
  return { response: text, agent: agent.name, query, session_id: randomUUID(), request_id: id }
}
