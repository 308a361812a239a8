/**
 * A2A over JSON-RPC: the plain message and its reply; tasks, whole and streamed, in 0.3 and in 1.0.
 */
import assert from 'node:assert/strict'
import { FEW_PIECES, SHORT_READY_STORY, SHORT_STORY } from '../author.js'
import { EVENT_STREAM, messagesOf, posted, QUESTION } from './case.js'

export const a2aCases = [
  sent('a2a-plain', 'plain A2A send', 0.85, 'message/send', 3000, {
    role: 'user', parts: [{ type: 'text', text: QUESTION }],
  }),
  // A task is made, run, kept and answered; by hand it is only written.
  sent('a2a-send-0.3', 'A2A send, 0.3', 0.8, 'message/send', 2000, {
    kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: QUESTION }],
  }),
  sent('a2a-send-1.0', 'A2A send, 1.0', 0.8, 'SendMessage', 2000, {
    messageId: 'm1', role: 'ROLE_USER', parts: [{ text: QUESTION }],
  }),
  streamed('a2a-stream-0.3', 'A2A stream of 20 pieces, 0.3', 0.95, 'message/stream', {
    kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: SHORT_STORY }],
  }),
  streamed('a2a-stream-1.0', 'A2A stream of 20 pieces, 1.0', 0.95, 'SendStreamingMessage', {
    messageId: 'm1', role: 'ROLE_USER', parts: [{ text: SHORT_STORY }],
  }),
  streamed(
    'a2a-ready', 'A2A stream of 20 pieces that are all there, 1.0', undefined, 'SendStreamingMessage',
    { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: SHORT_READY_STORY }] },
  ),
]

function sent(name, title, aim, method, requests, message) {
  return posted({
    name, title, aim, path: '/a2a', requests,
    headers: versionOf(method),
    body: { jsonrpc: '2.0', id: '1', method, params: { message } },
    check({ body }) {
      assert.ok(body.includes(`"text":"You said: ${QUESTION}"`), body)
    },
  })
}

function streamed(name, title, aim, method, message) {
  return posted({
    name, title, aim, path: '/a2a', accept: EVENT_STREAM, requests: 300,
    headers: versionOf(method),
    body: { jsonrpc: '2.0', id: 1, method, params: { message } },
    check(answer) {
      const results = messagesOf(answer).map(({ result }) => result)
      const pieces = results.filter((result) => JSON.stringify(result).includes('"text":"Piece '))
      assert.equal(pieces.length, FEW_PIECES)
      assert.match(JSON.stringify(results.at(-1)), /"state":"(TASK_STATE_COMPLETED|completed)"/)
    },
  })
}

/** Clients of 1.0 name their version; without it a server takes them for older ones. */
function versionOf(method) {
  return method.startsWith('message/') ? {} : { 'A2A-Version': '1.0' }
}
