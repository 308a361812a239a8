/**
 * What chat clients and front ends speak: OpenAI's chat completions and Responses, AG-UI, the AI SDK's chat.
 */
import assert from 'node:assert/strict'
import { FEW_PIECES, SHORT_STORY } from '../author.js'
import { EVENT_STREAM, messagesOf, posted, QUESTION } from './case.js'

const search = {
  name: 'search', description: 'Searches.',
  parameters: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
}
const answer = `You said: ${QUESTION}`
const inPieces = `, ${FEW_PIECES} pieces`

export const faceCases = [
  posted({
    name: 'chat', title: '`POST /v1/chat/completions`, with a tool', aim: 0.9, path: '/v1/chat/completions',
    body: {
      model: 'assistant', messages: [{ role: 'user', content: QUESTION }],
      tools: [{ type: 'function', function: search }],
    },
    requests: 3000,
    check({ body }) {
      assert.equal(JSON.parse(body).choices[0].message.content, answer)
    },
  }),
  posted({
    name: 'chat-20', title: `\`POST /v1/chat/completions\`${inPieces}`, aim: 0.9,
    path: '/v1/chat/completions',
    body: { model: 'assistant', messages: [{ role: 'user', content: SHORT_STORY }], stream: true },
    requests: 400,
    check(given) {
      assert.equal(messagesOf(given).filter(({ choices: [{ delta }] }) => delta.content).length, FEW_PIECES)
    },
  }),
  responded('responses', '`POST /v1/responses`', 0.9, { store: false }),
  // The bare server keeps nothing, so there is nothing to aim at.
  responded('responses-kept', '`POST /v1/responses`, which is kept', undefined, {}),
  posted({
    name: 'responses-20', title: `\`POST /v1/responses\`${inPieces}`, aim: 0.9, path: '/v1/responses',
    body: { model: 'assistant', input: SHORT_STORY, store: false, stream: true },
    requests: 400,
    check(given) {
      assert.equal(messagesOf(given).flatMap(({ delta = [] }) => delta).length, FEW_PIECES)
    },
  }),
  ...streamed('agui', '`POST /agui`', aguiBody),
  ...streamed('ui', '`POST /ui-stream`', uiBody),
]

function responded(name, title, aim, more) {
  return posted({
    name, title, aim, path: '/v1/responses', body: { model: 'assistant', input: QUESTION, ...more },
    requests: 3000,
    check({ body }) {
      assert.equal(JSON.parse(body).output[0].content[0].text, answer)
    },
  })
}

/** A whole answer as events, and a stream of pieces. */
function streamed(name, title, bodyOf) {
  const one = (more, what, query, pieces, requests) => posted({
    name: name + more, title: title + what, aim: 0.9, path: title.slice(6, -1), accept: EVENT_STREAM,
    body: bodyOf(query), requests,
    check(given) {
      const deltas = messagesOf(given).flatMap(({ delta = [] }) => delta)
      assert.equal(deltas.length, pieces)
    },
  })
  return [
    one('', '', QUESTION, 1, 3000), one('-20', inPieces, SHORT_STORY, FEW_PIECES, 400),
  ]
}

function aguiBody(content) {
  return {
    threadId: 'thread-1', runId: 'run-1', messages: [{ id: '1', role: 'user', content }],
    tools: [], context: [], state: {}, forwardedProps: {},
  }
}

function uiBody(text) {
  const messages = [{ id: '1', role: 'user', parts: [{ type: 'text', text }] }]
  return { id: 'thread-1', messages, trigger: 'submit-message' }
}
