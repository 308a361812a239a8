/**
 * Responses over a WebSocket, with the clients of OpenAI, of `ws` and of Bun: what the compliance program of
 * Open Responses checks of this transport and of compaction.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { missing, modules } from './start.mjs'

const skip = missing('openai', 'ws')
if (skip) console.log(`responses-socket: skipped: ${skip}`)
const skipBun = skip || missing('bun')
const { default: OpenAI } = skip ? {} : await import('openai')
const { ResponsesWS } = skip ? {} : await import('openai/resources/responses/ws')
const { WebSocket } = skip ? {} : await import('ws')
const { createServer } = await import('../../dist/index.js')

const KEY = 'the key of a client'
let aborted = 0
const agents = [
  {
    name: 'Echo',
    async* run(prompt, { history }) {
      yield [...history.map(({ content }) => content), ''].join(' | ')
      yield prompt
    },
  },
  {
    name: 'Slow',
    async run(_prompt, { signal }) {
      await new Promise((resolve) => { signal.addEventListener('abort', resolve) })
      aborted++
    },
  },
]
const server = createServer({ agents, log: false, apiKey: KEY, graceMs: 0 })
const { url } = await server.listen(0)
test.after(() => server.close())
const client = skip ? undefined : new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0 })
const address = `${url.replace('http', 'ws')}/v1/responses`

/** A connection of OpenAI's client. */
function connected(t) {
  const socket = new ResponsesWS(client)
  socket.on('error', () => {})
  t.after(() => socket.close())
  return socket
}

/** The events of one response, the last of them its end or an error. */
async function turn(socket, input, more = {}) {
  const events = []
  const ended = new Promise((resolve) => {
    const take = (event) => {
      events.push(event)
      if (!/^(?:error|response\.(?:completed|failed))$/.test(event.type)) return
      socket.off('event', take)
      resolve()
    }
    socket.on('event', take)
  })
  socket.send({ type: 'response.create', model: 'echo', store: false, input, ...more })
  await ended
  return events
}

const textOf = ({ response }) => response.output.at(-1).content[0].text
const codeOf = ({ error }) => error?.code

test('responses of one connection, one after another', { skip }, async (t) => {
  const socket = connected(t)
  for (const input of ['first', 'second']) {
    const events = await turn(socket, input)
    assert.equal(events[0].type, 'response.created')
    assert.deepEqual(events.map((event) => event.sequence_number), [...events.keys()])
    assert.equal(textOf(events.at(-1)), input)
  }
})

test('a response that is not stored is gone on with on its connection alone', { skip }, async (t) => {
  const [one, two] = [connected(t), connected(t)]
  const { response } = (await turn(one, 'cobalt')).at(-1)
  const more = { previous_response_id: response.id }
  assert.match(textOf((await turn(one, 'Which?', more)).at(-1)), /cobalt.*Which\?$/)
  const [error] = await turn(two, 'Which?', more)
  assert.deepEqual([error.type, error.status, codeOf(error)], ['error', 400, 'previous_response_not_found'])
  assert.equal((await turn(two, 'recovered')).at(-1).type, 'response.completed')
})

test('a turn that fails is not gone on with from the same place', { skip }, async (t) => {
  const socket = connected(t)
  const more = { previous_response_id: (await turn(socket, 'ember')).at(-1).response.id }
  const lost = [{ type: 'function_call_output', call_id: 'unknown', output: 'nothing' }]
  assert.equal((await turn(socket, lost, more)).at(-1).type, 'error')
  assert.equal(codeOf((await turn(socket, 'stale', more)).at(-1)), 'previous_response_not_found')
})

test('a compaction begins a new conversation', { skip }, async (t) => {
  const { object, output } = await client.responses.compact({
    model: 'echo',
    input: [{ role: 'user', content: 'The word is slate.' }, { role: 'assistant', content: 'OK.' }],
  })
  assert.deepEqual([object, output.map(({ type }) => type)], ['response.compaction', ['compaction']])
  const events = await turn(connected(t), [...output, { role: 'user', content: 'Which?' }])
  assert.match(textOf(events.at(-1)), /slate.*OK\..*Which\?$/)
  const nameless = client.post('/responses/compact', { body: { input: 'a' } })
  await assert.rejects(nameless, { status: 400, param: 'model' })
})

test('ws: large messages in parts, pings, close codes, a run that is left', { skip }, async () => {
  const headers = { authorization: `Bearer ${KEY}` }
  const open = async () => {
    const socket = new WebSocket(address, { headers })
    await once(socket, 'open')
    return socket
  }
  const socket = await open()
  assert.equal(socket.extensions, '')
  const word = randomBytes(300_000).toString('hex')
  const message = JSON.stringify({ type: 'response.create', model: 'echo', input: word })
  for (let at = 0; at < message.length; at += 100_000) {
    socket.send(message.slice(at, at + 100_000), { fin: at + 100_000 >= message.length })
    if (at === 0) socket.ping('hi')
  }
  assert.equal(String((await once(socket, 'pong'))[0]), 'hi')
  let last
  while (last?.type !== 'response.completed') last = JSON.parse(String((await once(socket, 'message'))[0]))
  assert.ok(textOf(last).endsWith(word))
  socket.send(Buffer.from('{}'))
  assert.equal((await once(socket, 'close'))[0], 1003)

  const leaver = await open()
  leaver.send(JSON.stringify({ type: 'response.create', model: 'slow', input: 'a' }))
  await once(leaver, 'message')
  leaver.terminate()
  while (aborted === 0) await new Promise((resolve) => { setTimeout(resolve, 5) })

  const stranger = new WebSocket(address)
  const [, { statusCode }] = await once(stranger, 'unexpected-response')
  assert.equal(statusCode, 401)
  stranger.on('error', () => {})
  stranger.terminate()
})

test('Bun: a response', { skip: skipBun }, async () => {
  const program = `
    const socket = new WebSocket(${JSON.stringify(address)}, { headers: { authorization: 'Bearer ${KEY}' } })
    socket.onopen = () => socket.send('{"type":"response.create","model":"echo","input":"hi"}')
    socket.onmessage = ({ data }) => {
      const { type, response } = JSON.parse(data)
      if (type === 'response.completed') { console.log(response.output[0].content[0].text); socket.close() }
    }
    socket.onclose = ({ code }) => console.log(code)`
  const { stdout } = await promisify(execFile)(`${modules}.bin/bun`, ['-e', program])
  assert.equal(stdout, 'hi\n1000\n')
})
