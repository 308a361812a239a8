import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import test, { after } from 'node:test'
import { serveA2a } from './caller.ts'
import type { AgentOutput } from '../../../lib/kernel/define/answer.ts'
import type { Call } from '../../../lib/kernel/define/call.ts'

interface Golden {
  /** A JSON-RPC body for `POST /a2a`, or a request line of a GET. */
  readonly request: unknown
  readonly status?: number
  readonly response: unknown
}

// From the root of the checkout, where tests are started: compiled ones lie elsewhere than what they read.
const folder = 'test/fixtures/a2a/plain'

const report = {
  type: 'resource_link', uri: 'https://example.com/report.pdf', name: 'Report', mimeType: 'application/pdf',
}

const acts = new Map<string, (call: Call) => AgentOutput>([
  ['files', (call) => JSON.stringify(call.message)],
  ['metadata', (call) => JSON.stringify(call.metadata)],
  ['nothing', () => undefined],
  ['question', () => ({ text: 'Which year?', state: 'input-required' })],
  ['fail', () => ({ text: 'The archive is closed', state: 'failed' })],
  ['reject', () => ({ text: 'I do not give advice', state: 'rejected' })],
  ['throw', () => { throw new Error('the password is swordfish') }],
  ['image', () => ({ type: 'image', data: new Uint8Array([0, 1, 2]), mimeType: 'image/png' })],
  ['link', () => ({ text: 'Here it is.', content: [report] })],
])

const server = serveA2a({ after }, {
  agents: [{
    name: 'Golden',
    description: 'Answers as it is told.',
    run(prompt, call) {
      const act = acts.get(prompt)
      return act === undefined ? `You said ${prompt}` : act(call)
    },
  }],
})

function requestOf(request: unknown): Request {
  if (typeof request === 'string') return new Request(`http://agents.test${request.slice('GET '.length)}`)
  return new Request('http://agents.test/a2a', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'golden' },
    body: JSON.stringify(request),
  })
}

/** Members that are made anew each time become their names; one that the client gave stays. */
function normal(body: string): unknown {
  const made = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
  return JSON.parse(body, (name, value: unknown) => {
    if (name !== 'messageId' && name !== 'contextId') return value
    return made.test(String(value)) ? `<${name}>` : value
  })
}

for (const file of readdirSync(folder).sort()) {
  const { request, status = 200, response } = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Golden
  test(`plain/${file} is answered as it stands there`, async () => {
    const reply = await server.fetch(requestOf(request))
    assert.equal(reply.headers.get('content-type'), 'application/json')
    assert.deepEqual(normal(await reply.text()), response)
    assert.equal(reply.status, status)
  })
}
