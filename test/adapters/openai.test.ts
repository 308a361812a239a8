import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { answerOf } from '../../lib/core/answer.ts'
import { LiveCall } from '../../lib/core/live-call.ts'
import { Fault } from '../../lib/core/fault.ts'
import { openaiAgent } from '../../lib/adapters/openai.ts'
import { anonymous } from '../../lib/core/principal.ts'
import { createServer } from '../../lib/server.ts'
import { eventReader } from '../../lib/wire/sse.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Answer } from '../../lib/core/answer.ts'
import type { CallChannel, CallFacts } from '../../lib/core/call.ts'
import type { ChatMessage } from '../../lib/core/conversation.ts'
import type { FaultKind } from '../../lib/core/fault.ts'
import type { OpenaiOptions } from '../../lib/adapters/openai.ts'

/** A request as the endpoint got it. */
interface Received { readonly request: IncomingMessage; readonly body: Readonly<Record<string, unknown>> }

interface Endpoint {
  readonly origin: string
  readonly baseUrl: string
  readonly received: Received[]
  /** How many connections were opened. */
  connections: number
}

type Respond = (response: ServerResponse, received: Received) => void

/** An endpoint that answers as `respond` says. */
async function endpoint(t: TestContext, respond: Respond): Promise<Endpoint> {
  const server = createHttpServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const received = { request, body: JSON.parse(body) as Received['body'] }
    made.received.push(received)
    respond(response, received)
  })
  server.on('connection', () => { made.connections++ })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const made: Endpoint = { origin, baseUrl: `${origin}/v1`, received: [], connections: 0 }
  return made
}

interface Lent extends CallFacts, CallChannel { readonly history: readonly ChatMessage[] }

function newCall({ history = [], ...lent }: Partial<Lent> = {}): LiveCall {
  const nothing = (): undefined => {}
  const headers = new Map<string, string>()
  const origin = { requestId: 'r1', principal: anonymous, header: nothing, headers, onGone: nothing }
  const channel = { protocol: 'http' as const, ...lent }
  return Object.assign(new LiveCall(origin, channel, channel), { history })
}

interface Said { readonly answer: Answer; readonly pieces: readonly string[] }

/** Asks an agent and tells the answer and the pieces in which it came. */
async function ask(options: OpenaiOptions, prompt = 'hi', call: LiveCall = newCall()): Promise<Said> {
  const pieces: string[] = []
  const answer = await answerOf(openaiAgent(options).run(prompt, call), call, 1e7, (piece) => {
    pieces.push(piece.type === 'text' ? piece.text : piece.type)
  })
  return { answer, pieces }
}

async function faultOf(options: OpenaiOptions): Promise<Fault> {
  const thrown = await ask(options).then(() => undefined, (error: unknown) => error)
  assert.ok(thrown instanceof Fault, `${String(thrown)} is no Fault`)
  return thrown
}

function delta(content: string | null, finish: string | null = null): string {
  return data({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

const DONE = 'data: [DONE]\n\n'
const EVENTS = { 'content-type': 'text/event-stream' }
const HTML_TYPE = { 'content-type': 'text/html' }
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

/** Answers with a stream that is written in one go. */
function stream(text: string): Respond {
  return (response) => { response.writeHead(200, EVENTS).end(text) }
}

function reply(status: number, body: string, headers: Readonly<Record<string, string>> = JSON_TYPE): Respond {
  return (response) => { response.writeHead(status, headers).end(body) }
}

test('each piece is told when it arrives, before the next is sent', async (t) => {
  let proceed = (): void => {}
  const { baseUrl } = await endpoint(t, async (response) => {
    response.writeHead(200, EVENTS).write(data({ choices: [{ delta: { role: 'assistant', content: '' } }] }))
    for (const word of ['one ', 'two ', 'three']) {
      const told = new Promise<void>((resolve) => { proceed = resolve })
      response.write(delta(word))
      await told
    }
    response.end(delta(null, 'stop') + data({ choices: [], usage: { total_tokens: 9 } }) + DONE)
  })
  const call = newCall()
  const pieces: string[] = []
  const answer = await answerOf(openaiAgent({ baseUrl }).run('count', call), call, 1e7, (piece) => {
    pieces.push(piece.type === 'text' ? piece.text : piece.type)
    proceed()
  })
  assert.deepEqual(pieces, ['one ', 'two ', 'three'])
  assert.equal(answer.text, 'one two three')
  assert.equal(answer.state, 'completed')
})

test('chunks may end anywhere, inside a letter and between the two characters of a line end', async (t) => {
  const whole = Buffer.from(`: hello\r\n\r\n${delta('grüß ')}${delta('dich 👋')}${delta('', 'stop')}${DONE}`
    .replaceAll('\n\n', '\r\n\r\n'))
  for (const size of [1, 3, 7]) {
    const { baseUrl } = await endpoint(t, async (response) => {
      response.socket?.setNoDelay()
      response.writeHead(200, EVENTS)
      for (let at = 0; at < whole.length; at += size) {
        response.write(whole.subarray(at, at + size))
        await sleep(0)
      }
      response.end()
    })
    const { answer } = await ask({ baseUrl })
    assert.equal(answer.text, 'grüß dich 👋', `chunks of ${size}`)
  }
})

test('the request holds what the options say, and the messages in order', async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(delta('ok', 'stop') + DONE))
  const call = newCall({
    history: [{ role: 'user', content: 'I am Ada' }, { role: 'assistant', content: 'Hello Ada' }],
    message: [{ type: 'text', text: 'Who am I?' }],
  })
  await ask({
    baseUrl: `${baseUrl}//`, apiKey: ' sk-secret\n', model: 'qwen3', instructions: 'Be brief.',
    temperature: 0.2, maxTokens: 50, headers: { 'X-Team': 'blue' }, body: { seed: 7, messages: 'not mine' },
  }, 'Who am I?', call)
  const [first] = received
  assert.equal(first?.request.method, 'POST')
  assert.equal(first?.request.url, '/v1/chat/completions')
  assert.equal(first?.request.headers.authorization, 'Bearer sk-secret')
  assert.equal(first?.request.headers['content-type'], 'application/json')
  assert.equal(first?.request.headers['x-team'], 'blue')
  assert.deepEqual(first?.body, {
    model: 'qwen3', temperature: 0.2, max_tokens: 50, stream: true, seed: 7,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'I am Ada' },
      { role: 'assistant', content: 'Hello Ada' },
      { role: 'user', content: 'Who am I?' },
    ],
  })
})

test('without options that are not needed nothing is sent for them', async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(delta('ok', 'stop') + DONE))
  await ask({ baseUrl, apiKey: '', model: undefined, temperature: undefined, body: undefined })
  const [first] = received
  assert.equal(first?.request.headers.authorization, undefined)
  assert.deepEqual(first?.body, {
    model: 'gpt-6-luna', stream: true, messages: [{ role: 'user', content: 'hi' }],
  })
})

test('OpenAI itself is told the limit of tokens under its newer name', async (t) => {
  const { fetch } = globalThis
  t.after(() => { globalThis.fetch = fetch })
  const sent: [string, unknown][] = []
  globalThis.fetch = async (url, init) => {
    sent.push([String(url), JSON.parse(String(init?.body))])
    return new Response(delta('ok', 'stop') + DONE, { headers: EVENTS })
  }
  await ask({ maxTokens: 9, model: 'm' })
  await ask({ maxTokens: 9, model: 'm', baseUrl: 'https://myopenai.com/v1?api-version=1' })
  const rest = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }
  assert.deepEqual(sent, [
    ['https://api.openai.com/v1/chat/completions', { ...rest, max_completion_tokens: 9 }],
    ['https://myopenai.com/v1/chat/completions?api-version=1', { ...rest, max_tokens: 9 }],
  ])
})

test("a caller's system message stands only where the author gives no instructions", async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(delta('ok', 'stop') + DONE))
  const history = [{ role: 'system', content: 'Obey me' }] as const
  await ask({ baseUrl }, 'hi', newCall({ history }))
  await ask({ baseUrl, instructions: 'Be kind' }, 'hi', newCall({ history }))
  const user = { role: 'user', content: 'hi' }
  assert.deepEqual(received.map(({ body }) => body['messages']), [
    [{ role: 'system', content: 'Obey me' }, user],
    [{ role: 'system', content: 'Be kind' }, { role: 'user', content: 'Obey me' }, user],
  ])
})

test('pictures of the message are sent as data addresses', async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(delta('a cat', 'stop') + DONE))
  const message = [
    { type: 'text', text: 'What is it?' }, { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ] as const
  await ask({ baseUrl }, 'What is it?', newCall({ message }))
  assert.deepEqual(received[0]?.body['messages'], [{
    role: 'user',
    content: [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
    ],
  }])
})

test('an answer that comes whole is taken too', async (t) => {
  const choice = { message: { role: 'assistant', content: 'All at once' }, finish_reason: 'stop' }
  const { baseUrl } = await endpoint(t, reply(200, JSON.stringify({ choices: [choice] })))
  const { answer, pieces } = await ask({ baseUrl, body: { stream: false } })
  assert.deepEqual(pieces, ['All at once'])
  assert.equal(answer.state, 'completed')
})

test('streams of many habits are read', async (t) => {
  const noChoice = data({ choices: [], usage: {} })
  const thought = data({ choices: [{ delta: { reasoning_content: 'hm' } }] })
  const table: readonly (readonly [string, string, string])[] = [
    ['no finish reason', delta('yes') + DONE, 'yes'],
    ['no last event', delta('yes', 'stop'), 'yes'],
    ['an ordinary end at the limit of tokens', delta('yes', 'length') + DONE, 'yes'],
    ['empty choices first and last', noChoice + delta('yes', 'stop') + noChoice, 'yes'],
    ['no choices', data({ prompt_filter_results: [] }) + delta('yes', 'stop') + DONE, 'yes'],
    ['an error that is null', data({ error: null, choices: [{ delta: { content: 'yes' } }] }) + DONE, 'yes'],
    ['empty finish reasons', delta('y', '') + delta('es', '') + DONE, 'yes'],
    ['comments and empty events', `: waiting\n\ndata:\n\n${delta('yes', 'stop')}${DONE}`, 'yes'],
    ['thoughts beside the text', thought + delta('yes') + DONE, 'yes'],
    ['a list of parts', data({ choices: [{ delta: { content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }, { type: 'text', text: 'yes' },
    ] } }] }) + DONE, 'yes'],
    ['nothing to say', delta('', 'stop') + DONE, ''],
  ]
  for (const [what, text, expected] of table) {
    const { baseUrl } = await endpoint(t, stream(text))
    const { answer } = await ask({ baseUrl })
    assert.equal(answer.text, expected, what)
    assert.equal(answer.state, 'completed', what)
  }
})

test('what the model withholds is rejected, with the text that it gave', async (t) => {
  const refusal = data({ choices: [{ delta: { refusal: 'I will not' } }] })
  const table: readonly (readonly [string, Respond, string])[] = [
    ['a filter', stream(delta('Well, ') + delta(null, 'content_filter') + DONE), 'Well, '],
    ['a filter at once', stream(delta(null, 'content_filter') + DONE), ''],
    ['a refusal', stream(refusal + delta(null, 'stop') + DONE), 'I will not'],
    ['a reason', stream(delta('No', 'refusal') + DONE), 'No'],
    ['a whole refusal', reply(200, '{"choices":[{"message":{"content":null,"refusal":"No"}}]}'), 'No'],
  ]
  for (const [what, respond, text] of table) {
    const { baseUrl } = await endpoint(t, respond)
    const { answer } = await ask({ baseUrl })
    assert.equal(answer.state, 'rejected', what)
    assert.equal(answer.text, text, what)
  }
})

test('each way to fail has its kind and its sentence', async (t) => {
  const error = (message: string): string => JSON.stringify({ error: { message, type: 'x' } })
  const table: readonly (readonly [Respond, FaultKind, string])[] = [
    [reply(401, error('Incorrect API key provided: sk-1234')), 'failed', 'refused the key'],
    [reply(403, error('no')), 'failed', 'refused the key'],
    [reply(404, error('no such model')), 'failed', "was not found under the name 'm': no such model"],
    [reply(404, '<h1>Not found</h1>', HTML_TYPE), 'failed', "was not found under the name 'm'"],
    [reply(429, error('Slow down')), 'busy', 'is busy: Slow down'],
    [reply(400, error('Too\nlong')), 'failed', 'refused the request (400): Too long'],
    [reply(422, '{"detail":"bad"}'), 'failed', 'refused the request (422): bad'],
    [reply(422, '{"detail":[{"msg":"bad"}]}'), 'failed', 'refused the request (422)'],
    [reply(500, '{"error":"out of memory"}'), 'failed', 'failed (500): out of memory'],
    [reply(503, ''), 'failed', 'failed (503)'],
    [reply(400, '[{"error":{"message":"in a list"}}]'), 'failed', 'refused the request (400): in a list'],
    [reply(301, '', { location: 'http://127.0.0.1:9/' }), 'failed', 'refused the request (301)'],
    [reply(200, error('overloaded')), 'failed', 'failed: overloaded'],
    [reply(200, '{"choices":[]}'), 'failed', 'gave no answer'],
    [reply(200, '{"choices":'), 'failed', 'sent what cannot be read'],
    [reply(200, '<html>', HTML_TYPE), 'failed', 'gave no answer'],
    [reply(204, '', {}), 'failed', 'gave no answer'],
    [reply(200, ''), 'failed', 'sent what cannot be read'],
    [stream(''), 'failed', 'gave no answer'],
    [stream(DONE), 'failed', 'gave no answer'],
    [stream(delta('half')), 'failed', 'broke off its answer'],
    [stream(delta('half') + 'data: {"choices":\n\n' + DONE), 'failed', 'sent what cannot be read'],
    [stream(`data: ${'['.repeat(100)}${']'.repeat(100)}\n\n`), 'failed', 'sent what cannot be read'],
    [stream(delta('half') + data({ error: { message: 'too long' } }) + DONE), 'failed', 'failed: too long'],
    [stream(data({ error: 'exploded' }) + DONE), 'failed', 'failed: exploded'],
    [stream(`event: error\n${data({ message: 'lost' })}`), 'failed', 'failed: lost'],
    [stream(data({ object: 'error', message: 'no room' })), 'failed', 'failed: no room'],
    [stream(delta('x'.repeat(4 * 1024 * 1024))), 'failed', 'sent more than is read'],
    [reply(200, `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`), 'failed', 'sent more than is read'],
    [(response) => {
      response.writeHead(200, EVENTS).write(delta('half'), () => response.destroy())
    }, 'failed', 'broke off its answer'],
  ]
  for (const [respond, kind, sentence] of table) {
    const { baseUrl, origin } = await endpoint(t, respond)
    const fault = await faultOf({ baseUrl, model: 'm', apiKey: 'sk-1234' })
    assert.equal(fault.message, `The model at ${origin} ${sentence}`)
    assert.equal(fault.kind, kind, sentence)
  }
})

test('an endpoint that is not there is named by its origin', async () => {
  const free = createHttpServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as AddressInfo
  free.close()
  await once(free, 'close')
  const fault = await faultOf({ baseUrl: `http://127.0.0.1:${port}/v1?token=abc`, apiKey: 'sk-1234' })
  assert.equal(fault.message, `The model at http://127.0.0.1:${port} cannot be reached`)
  assert.equal(fault.kind, 'failed')
})

test('what an endpoint says of an error is short, one line, and without secrets', async (t) => {
  const message = 'Key my key, header Basic dXNlcjpwdw==, other Bearer abc.def and sk-proj-0123456789ab'
    + `\r\n\u2028\u001b[31m${'👋'.repeat(300)}`
  for (const [respond, start] of [
    [reply(400, JSON.stringify({ error: { message } })), 'refused the request (400)'],
    [stream(data({ error: { message } })), 'failed'],
  ] as const) {
    const { baseUrl, origin } = await endpoint(t, respond)
    const fault = await faultOf({ baseUrl, apiKey: 'my key', headers: { 'X-Proxy': 'Basic dXNlcjpwdw==' } })
    const told = fault.message.slice(`The model at ${origin} ${start}: `.length)
    assert.match(told, /^Key \*\*\*, header Basic \*\*\*, other \*\*\* and \*\*\* \[31m👋+…$/u)
    assert.equal([...told].length, 201)
    assert.doesNotMatch(inspect(fault, { depth: 9 }), /my key|dXNl|abc\.def|0123/)
  }
})

test('an endpoint that falls silent is given up, whatever it has said before', async (t) => {
  const silent: readonly Respond[] = [
    () => {},
    (response) => { response.writeHead(200, EVENTS).flushHeaders() },
    (response) => { response.writeHead(200, EVENTS).write(delta('half')) },
    (response) => { response.writeHead(200, JSON_TYPE).write('{"choices":') },
  ]
  for (const respond of silent) {
    let closed = Promise.resolve()
    const { baseUrl, origin } = await endpoint(t, (response, received) => {
      closed = new Promise((resolve) => { response.on('close', resolve) })
      respond(response, received)
    })
    const fault = await faultOf({ baseUrl, idleMs: 50 })
    assert.equal(fault.kind, 'timeout')
    assert.equal(fault.message, `The model at ${origin} was silent for 50 ms`)
    await closed
  }
})

test('a slow answer that never falls silent, and a slow reader, are waited for', async (t) => {
  const { baseUrl } = await endpoint(t, async (response) => {
    response.writeHead(200, EVENTS)
    for (let count = 0; count < 8; count++) {
      response.write(count % 2 === 0 ? ': still there\n\n' : delta('.'))
      await sleep(80)
    }
    response.end(DONE)
  })
  const call = newCall()
  const output = openaiAgent({ baseUrl, idleMs: 400 }).run('hi', call)
  let delay = 600
  const answer = await answerOf(output, call, 1e7, () => sleep(delay).then(() => { delay = 0 }))
  assert.equal(answer.text, '....')
})

test('an answer that is over does not wait for an endpoint that keeps the stream open', async (t) => {
  for (const beatMs of [1e6, 20]) {
    const { baseUrl } = await endpoint(t, (response) => {
      response.writeHead(200, EVENTS).write(delta('ok', 'stop') + DONE)
      const beat = setInterval(() => response.write(': still there\n\n'), beatMs)
      response.on('close', () => clearInterval(beat))
    })
    const started = performance.now()
    const { answer } = await ask({ baseUrl })
    assert.equal(answer.text, 'ok')
    assert.ok(performance.now() - started < 10_000)
  }
})

test('a caller that leaves closes the connection to the endpoint', async (t) => {
  const leaving: readonly Respond[] = [
    () => {},
    (response) => { response.writeHead(200, EVENTS).write(delta('half')) },
  ]
  for (const respond of leaving) {
    const call = newCall()
    let closed = Promise.resolve()
    const { baseUrl } = await endpoint(t, (response, received) => {
      closed = new Promise((resolve) => { response.on('close', resolve) })
      respond(response, received)
      setTimeout(() => call.cancel(new Fault('cancelled', 'The client has left')), 20)
    })
    await assert.rejects(ask({ baseUrl }, 'hi', call), { kind: 'cancelled', message: 'The client has left' })
    await closed
  }
})

test('a reader that stops between two pieces closes the connection to the endpoint', async (t) => {
  let closed = Promise.resolve()
  const { baseUrl } = await endpoint(t, (response) => {
    closed = new Promise((resolve) => { response.on('close', resolve) })
    response.writeHead(200, EVENTS).write(delta('half'))
  })
  for await (const piece of openaiAgent({ baseUrl }).run('hi', newCall()) as AsyncIterable<unknown>) {
    assert.equal(piece, 'half')
    break
  }
  await closed
})

test('a call that was cancelled before it began sends nothing', async (t) => {
  const made = await endpoint(t, stream(delta('ok', 'stop') + DONE))
  const call = newCall()
  call.cancel(new Fault('cancelled', 'Too late'))
  await assert.rejects(ask({ baseUrl: made.baseUrl }, 'hi', call), { message: 'Too late' })
  await sleep(20)
  assert.equal(made.connections, 0)
})

test('a connection serves more than one question', async (t) => {
  const made = await endpoint(t, stream(delta('ok', 'stop') + DONE))
  for (let count = 0; count < 6; count++) await ask({ baseUrl: made.baseUrl })
  assert.equal(made.received.length, 6)
  // fetch opens a second one where the next question follows at once.
  assert.ok(made.connections < 4, `${made.connections} connections`)
})

test('options that cannot work are refused at once, and keys are not shown', () => {
  const table: readonly (readonly [OpenaiOptions, RegExp])[] = [
    [{ baseUrl: 'localhost:11434/v1' }, /baseUrl/],
    [{ baseUrl: 'sk-secret' }, /baseUrl/],
    [{ baseUrl: 'ftp://127.0.0.1/' }, /baseUrl/],
    [{ baseUrl: 'http://me:sk-secret@127.0.0.1/v1' }, /without a password/],
    [{ apiKey: 'sk-secret\nsk-secret' }, /authorization/],
    [{ apiKey: 'sk-secret…' }, /authorization/],
    [{ headers: { 'X-Key': 'sk-secret\n' } }, /X-Key/],
    [{ model: '' }, /'model'/],
    [{ name: '' }, /'name'/],
    [{ idleMs: 0 }, /idleMs 0/],
    [{ idleMs: NaN }, /idleMs NaN/],
  ]
  for (const [options, pattern] of table) {
    assert.throws(() => openaiAgent(options), (error) => {
      assert.ok(error instanceof TypeError)
      assert.match(error.message, pattern)
      assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /sk-secret/)
      return true
    })
  }
})

test('the agent has a name and a description of its own unless it is given others', () => {
  const { name, id, description } = openaiAgent()
  assert.deepEqual([name, id, description], ['Assistant', 'assistant', 'Answers with the model gpt-6-luna.'])
  assert.equal(openaiAgent({ name: 'Poet', description: 'Writes.' }).description, 'Writes.')
})

function query(accept: string): Request {
  const headers = { 'content-type': 'application/json', accept, 'x-session-id': 'conversation-1' }
  return new Request('http://x/', { method: 'POST', headers, body: '{"query":"hi"}' })
}

test('a server passes each piece on when it arrives, and keeps the conversation', async (t) => {
  let proceed = (): void => {}
  const { baseUrl, received } = await endpoint(t, async (response) => {
    const told = new Promise<void>((resolve) => { proceed = resolve })
    response.writeHead(200, EVENTS).write(delta('Hel'))
    await told
    response.end(delta('lo', 'stop') + DONE)
  })
  const server = createServer({ agents: [openaiAgent({ baseUrl })], log: false })
  t.after(() => server.close())
  const response = await server.fetch(query('text/event-stream'))
  assert.equal(response.status, 200)
  const events: [string, unknown][] = []
  const read = eventReader(({ event, data: json }) => {
    const { text, response: whole } = JSON.parse(json) as { text?: string; response?: string }
    events.push([event, text ?? whole])
    proceed()
  })
  const decoder = new TextDecoder()
  for await (const chunk of response.body!) read(decoder.decode(chunk as Uint8Array, { stream: true }))
  assert.deepEqual(events, [['delta', 'Hel'], ['delta', 'lo'], ['done', 'Hello']])
  const again = server.fetch(query('application/json'))
  while (received.length < 2) await sleep(5)
  proceed()
  assert.equal((await again).status, 200)
  assert.deepEqual(received[1]?.body['messages'], [
    { role: 'user', content: 'hi' }, { role: 'assistant', content: 'Hello' }, { role: 'user', content: 'hi' },
  ])
})

test('a server answers with a problem where the model fails', async (t) => {
  const { baseUrl, origin } = await endpoint(t, reply(429, '{"error":{"message":"Slow down"}}'))
  const server = createServer({ agents: [openaiAgent({ baseUrl })], log: false })
  t.after(() => server.close())
  const response = await server.fetch(query('application/json'))
  assert.equal(response.status, 503)
  const { detail } = await response.json() as { detail: string }
  assert.equal(detail, `The model at ${origin} is busy: Slow down`)
})
