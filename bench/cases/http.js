/**
 * Plain HTTP: queries, whole and streamed, a tool, and health.
 */
import assert from 'node:assert/strict'
import {
  ERRAND, FEW_PIECES, PIECES, READY_STORY, SHORT_READY_STORY, SHORT_STORY, STORY,
} from '../author.js'
import { EVENT_STREAM, messagesOf, posted, QUESTION } from './case.js'

export const httpCases = [
  asked('post', '`POST /`', 0.92, QUESTION),
  asked('post-async', '`POST /`, the agent is async', undefined, ERRAND),
  streamed('stream-20', 'stream of 20 pieces', 0.95, SHORT_STORY, FEW_PIECES, 400),
  streamed('stream-200', 'stream of 200 pieces', undefined, STORY, PIECES, 50),
  // Nobody has to wait for these, so they leave as one chunk.
  streamed(
    'ready-20', 'stream of 20 pieces that are all there', undefined, SHORT_READY_STORY, FEW_PIECES, 1000,
  ),
  streamed('ready-200', 'stream of 200 pieces that are all there', undefined, READY_STORY, PIECES, 200),
  {
    name: 'health',
    title: '`GET /health`',
    aim: 0.95,
    method: 'GET',
    path: '/health',
    headers: { 'Accept': '*/*' },
    requests: 4000,
    check({ body }) {
      assert.equal(JSON.parse(body).status, 'ok')
    },
  },
  posted({
    name: 'tool',
    title: '`POST /tools/<name>`',
    aim: 0.92,
    path: '/tools/add',
    body: { a: 2, b: 3 },
    requests: 3000,
    check({ body }) {
      assert.equal(JSON.parse(body).result, '2 + 3 = 5')
    },
  }),
]

function asked(name, title, aim, query) {
  return posted({
    name, title, aim, path: '/', body: { query }, requests: 3000,
    check({ body }) {
      assert.equal(JSON.parse(body).response, `You said: ${query}`)
    },
  })
}

function streamed(name, title, aim, query, pieces, requests) {
  return posted({
    name, title, aim, path: '/', accept: EVENT_STREAM, body: { query }, requests,
    check(answer) {
      const messages = messagesOf(answer)
      assert.equal(messages.length, pieces + 1)
      assert.equal(messages[0].text, 'Piece 1 of the story. ')
      assert.ok(messages.at(-1).response.endsWith(`Piece ${pieces} of the story. `))
    },
  })
}
