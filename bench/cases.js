/**
 * What is measured, one entry a case: the request, how its answer is known to be right, and how a server
 * that is written by hand answers it.
 *
 * By hand means: what triport has to put together for each request, ids included, is put together there
 * too; only where triport may send the same bytes every time (health) are they kept.
 */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { ERRAND, PIECES, run, SLOW_STORY, STORY } from './author.js'

const JSON_TYPE = 'application/json'
const EVENT_STREAM = 'text/event-stream'

/**
 * `requests` is how many one slice of a round sends. `check` gets `{ status, lines, body }` and throws
 * where that is wrong. `answer` is the server by hand: response, parsed body, headers.
 */
export const cases = [
  // The agent returns a string, at once; then a promise of one.
  asked('post', 'What is the capital of France?', 3000),
  asked('post-async', ERRAND, 3000),
  // It tells a story of 200 pieces, which are all ready; then one in each turn of the event loop.
  streamed('stream', STORY, 150),
  streamed('stream-slow', SLOW_STORY, 40),
  {
    name: 'health',
    method: 'GET',
    path: '/health',
    headers: { 'Accept': '*/*' },
    requests: 4000,
    check({ body }) {
      assert.equal(JSON.parse(body).status, 'ok')
    },
    answer(response) {
      send(response, requestId(), health)
    },
  },
]

const health = JSON.stringify({
  status: 'ok',
  endpoints: ['/', '/health', '/healthz', '/ready', '/docs', '/openapi.json', '/agents', '/agents/list'],
  name: 'Assistant',
  version: '1.0.0',
})

function asked(name, query, requests) {
  return {
    name,
    method: 'POST',
    path: '/',
    headers: { 'Content-Type': JSON_TYPE, 'Accept': '*/*' },
    body: JSON.stringify({ query }),
    requests,
    check({ body }) {
      assert.equal(JSON.parse(body).response, `You said: ${query}`)
    },
    answer(response, message) {
      const id = requestId()
      const reply = (text) => send(response, id, JSON.stringify(replyTo(message.query, text, id)))
      const text = run(message.query)
      if (text instanceof Promise) text.then(reply)
      else reply(text)
    },
  }
}

function streamed(name, query, requests) {
  return {
    name,
    method: 'POST',
    path: '/',
    headers: { 'Content-Type': JSON_TYPE, 'Accept': EVENT_STREAM },
    body: JSON.stringify({ query }),
    requests,
    check({ body }) {
      assert.equal(body.match(/^event: delta$/gm).length, PIECES)
      assert.match(body, /\nevent: done\ndata: {"response":"Piece 1 [^\n]+\n\n$/)
    },
    async answer(response, message) {
      const id = requestId()
      response.writeHead(200, {
        'Content-Type': EVENT_STREAM, 'X-Request-Id': id,
        'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no',
      })
      let text = ''
      let events = 0
      for await (const piece of run(message.query)) {
        text += piece
        response.write(`id: ${++events}\nevent: delta\ndata: ${JSON.stringify({ text: piece })}\n\n`)
      }
      const done = JSON.stringify(replyTo(message.query, text, id))
      response.end(`id: ${++events}\nevent: done\ndata: ${done}\n\n`)
    },
  }
}

const prefix = randomBytes(5).toString('hex')
let count = 0

function requestId() {
  return `${prefix}-${(++count).toString(36)}`
}

function replyTo(query, text, id) {
  return { response: text, agent: 'Assistant', query, session_id: randomUUID(), request_id: id }
}

function send(response, id, body) {
  response.writeHead(200, {
    'Content-Type': JSON_TYPE, 'X-Request-Id': id, 'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
}
