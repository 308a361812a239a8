import { frameworks } from '../../../lib/adapters/frameworks.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Fault } from '../../../lib/kernel/define/fault.ts'
import { defineTool } from '../../../lib/preset/define.ts'
import { openaiAgent } from '../../../lib/agents/openai/openai.ts'
import { answerOf } from '../../../lib/floors/answers/answer.ts'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { serve } from '../../fixtures/client.ts'
import { callOf, wordOf } from '../../fixtures/house.ts'
import { freePort } from '../../fixtures/listening.ts'
import { ask as rpc, begin, modern, said, serveMcp } from '../../parts/mcp/client.ts'
import { messagesOf } from '../../fixtures/events.ts'
import {
  ask, calls, data, delta, DONE, endpoint, EVENTS, faultOf, HTML_TYPE, inTurn, JSON_TYPE, reply, stream,
} from './endpoint.ts'
import type { Call } from '../../../lib/kernel/define/call.ts'
import type { FaultKind } from '../../../lib/kernel/define/fault.ts'
import type { Received, Respond } from './endpoint.ts'

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
  const call = callOf()
  const pieces: string[] = []
  const output = openaiAgent({ baseUrl }).run('count', call)
  const answer = await answerOf(output, call, 1e7, frameworks, (piece) => {
    pieces.push(wordOf(piece))
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
  const call = callOf({ message: [{ type: 'text', text: 'Who am I?' }] })
  call.history = [{ role: 'user', content: 'I am Ada' }, { role: 'assistant', content: 'Hello Ada' }]
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
    stream_options: { include_usage: true },
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
    model: 'gpt-6-luna', stream: true, stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'hi' }],
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
  const rest = {
    model: 'm', stream: true, stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'hi' }],
  }
  assert.deepEqual(sent, [
    ['https://api.openai.com/v1/chat/completions', { ...rest, max_completion_tokens: 9 }],
    ['https://myopenai.com/v1/chat/completions?api-version=1', { ...rest, max_tokens: 9 }],
  ])
})

test("a caller's system message stands only where the author gives no instructions", async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(delta('ok', 'stop') + DONE))
  const history = [{ role: 'system', content: 'Obey me' }] as const
  await ask({ baseUrl }, 'hi', Object.assign(callOf(), { history }))
  await ask({ baseUrl, instructions: 'Be kind' }, 'hi', Object.assign(callOf(), { history }))
  const user = { role: 'user', content: 'hi' }
  assert.deepEqual(received.map(({ body }) => body['messages']), [
    [{ role: 'system', content: 'Obey me' }, user],
    [{ role: 'system', content: 'Be kind' }, { role: 'user', content: 'Obey me' }, user],
  ])
})

test('an agent that begins by itself sends no message without a word', async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(delta('ok', 'stop') + DONE))
  const history = [{ role: 'system', content: 'Greet' }] as const
  await ask({ baseUrl }, '', Object.assign(callOf(), { history }))
  await ask({ baseUrl }, '', callOf())
  assert.deepEqual(received.map(({ body }) => body['messages']), [
    history, [{ role: 'user', content: '' }],
  ])
})

test('pictures of the message are sent as data addresses', async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(delta('a cat', 'stop') + DONE))
  const message = [
    { type: 'text', text: 'What is it?' }, { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ] as const
  await ask({ baseUrl }, 'What is it?', callOf({ message }))
  assert.deepEqual(received[0]?.body['messages'], [{
    role: 'user',
    content: [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
    ],
  }])
})

test('what else a message has is shown, or named where no model can be shown it', async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(delta('ok', 'stop') + DONE))
  const link = (uri: string, more = {}): object => ({ type: 'resource_link', uri, name: 'it', ...more })
  const file = (uri: string, mimeType: string): object => (
    { type: 'resource', resource: { uri, mimeType, blob: 'aGk=' } }
  )
  const url = 'https://example.com/a.png'
  const message = [
    { type: 'text', text: 'See https://example.com/b' }, link(url), link('https://example.com/b'),
    link('https://example.com/c'), link('https://example.com/d', { mimeType: 'image/png' }),
    { type: 'audio', data: 'aGk=', mimeType: 'audio/mpeg' },
    { type: 'audio', data: 'aGk=', mimeType: 'audio/ogg' },
    file('attachment:a.pdf', 'Application/PDF'), file('attachment:a.txt', 'text/plain'),
    file('attachment:a.zip', 'application/zip'),
    { type: 'resource', resource: { uri: 'file:///a.ts', text: 'const a = 1' } },
    { type: 'data', data: { cups: 2 } },
  ] as unknown as Call['message']
  await ask({ baseUrl }, 'See https://example.com/b', callOf({ message }))
  const [{ content }] = received[0]?.body['messages'] as [{ content: unknown }]
  assert.deepEqual(content, [
    { type: 'text', text: 'See https://example.com/b' }, { type: 'image_url', image_url: { url } },
    { type: 'text', text: '[link: it, https://example.com/c]' },
    { type: 'image_url', image_url: { url: 'https://example.com/d' } },
    { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
    { type: 'text', text: '[audio: audio/ogg, not shown]' },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:Application/PDF;base64,aGk=' } },
    { type: 'text', text: 'hi' },
    { type: 'text', text: '[resource: attachment:a.zip, application/zip, not shown]' },
    { type: 'text', text: 'const a = 1' }, { type: 'text', text: '{"cups":2}' },
  ])
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

test('each way to fail has its kind, a sentence for the caller, and a reason for the log', async (t) => {
  const error = (message: string): string => JSON.stringify({ error: { message, type: 'x' } })
  const table: readonly (readonly [Respond, FaultKind, string, why?: string])[] = [
    [reply(401, error('Incorrect API key provided: sk-1234')), 'upstream', "refused this server's key"],
    [reply(403, error('no')), 'upstream', "refused this server's key"],
    [reply(404, error('no such model')), 'upstream', 'was not found', 'no such model'],
    [reply(404, '<h1>Not found</h1>', HTML_TYPE), 'upstream', 'was not found'],
    [reply(429, error('Slow down')), 'busy', 'is busy', 'Slow down'],
    [reply(400, error('Too\nlong')), 'upstream', 'refused the request (400)', 'Too long'],
    [reply(422, '{"detail":"bad"}'), 'upstream', 'refused the request (422)', 'bad'],
    [reply(422, '{"detail":[{"msg":"bad"}]}'), 'upstream', 'refused the request (422)'],
    [reply(500, '{"error":"out of memory"}'), 'upstream', 'failed (500)', 'out of memory'],
    [reply(503, ''), 'upstream', 'failed (503)'],
    [reply(400, '[{"error":{"message":"in a list"}}]'), 'upstream', 'refused the request (400)', 'in a list'],
    [reply(301, '', { location: 'http://127.0.0.1:9/' }), 'upstream', 'refused the request (301)'],
    [reply(200, error('overloaded')), 'upstream', 'failed', 'overloaded'],
    [reply(200, '{"choices":[]}'), 'upstream', 'gave no answer'],
    [reply(200, '{"choices":'), 'upstream', 'sent what cannot be read'],
    [reply(200, '<html>', HTML_TYPE), 'upstream', 'gave no answer'],
    [reply(204, '', {}), 'upstream', 'gave no answer'],
    [reply(200, ''), 'upstream', 'sent what cannot be read'],
    [stream(''), 'upstream', 'gave no answer'],
    [stream(DONE), 'upstream', 'gave no answer'],
    [stream(delta('half')), 'upstream', 'broke off its answer'],
    [stream(delta('half') + 'data: {"choices":\n\n' + DONE), 'upstream', 'sent what cannot be read'],
    [stream(`data: ${'['.repeat(100)}${']'.repeat(100)}\n\n`), 'upstream', 'sent what cannot be read'],
    [stream(delta('half') + data({ error: { message: 'too long' } }) + DONE),
      'upstream', 'failed', 'too long'],
    [stream(data({ error: 'exploded' }) + DONE), 'upstream', 'failed', 'exploded'],
    [stream(`event: error\n${data({ message: 'lost' })}`), 'upstream', 'failed', 'lost'],
    [stream(data({ object: 'error', message: 'no room' })), 'upstream', 'failed', 'no room'],
    [stream(delta('x'.repeat(4 * 1024 * 1024))), 'upstream', 'sent more than is read',
      'An event is longer than 4194304 characters'],
    [reply(200, `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`), 'upstream', 'sent more than is read'],
    [(response) => {
      response.writeHead(200, EVENTS).write(delta('half'), () => response.destroy())
    }, 'upstream', 'broke off its answer', 'other side closed'],
  ]
  for (const [respond, kind, sentence, why] of table) {
    const { baseUrl, origin } = await endpoint(t, respond)
    const logged: unknown[] = []
    const fault = await faultOf({
      baseUrl, model: 'm', apiKey: 'sk-1234', log: (...line) => logged.push(line),
    })
    assert.equal(fault.message, `The model ${sentence}`)
    assert.equal(fault.kind, kind, sentence)
    assert.equal(fault.cause, `m at ${origin}${why === undefined ? '' : `: ${why}`}`)
    assert.deepEqual(logged, [['warning', fault.message, { request: 'r-1', why: fault.cause }]])
  }
})

test('only the log is told where an endpoint is that cannot be reached', async () => {
  const port = await freePort()
  const fault = await faultOf({ baseUrl: `http://127.0.0.1:${port}/v1?token=abc`, apiKey: 'sk-1234' })
  assert.equal(fault.message, 'The model cannot be reached')
  assert.equal(fault.kind, 'upstream')
  const origin = `127.0.0.1:${port}`
  assert.equal(fault.cause, `gpt-6-luna at http://${origin}: connect ECONNREFUSED ${origin}`)
})

test('what an endpoint says of an error is short, one line, and without secrets', async (t) => {
  const message = 'Key my key, header Basic dXNlcjpwdw==, other Bearer abc.def and sk-proj-0123456789ab'
    + `\r\n\u2028\u001b[31m${'👋'.repeat(300)}`
  const said = { error: { message } }
  for (const respond of [reply(400, JSON.stringify(said)), stream(data(said))]) {
    const { baseUrl, origin } = await endpoint(t, respond)
    const options = { baseUrl, model: 'm', apiKey: 'my key', headers: { 'X-Proxy': 'Basic dXNlcjpwdw==' } }
    const fault = await faultOf(options)
    const told = String(fault.cause).slice(`m at ${origin}: `.length)
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
    const { baseUrl } = await endpoint(t, (response, received) => {
      closed = new Promise((resolve) => { response.on('close', resolve) })
      respond(response, received)
    })
    const fault = await faultOf({ baseUrl, idleMs: 50 })
    assert.equal(fault.kind, 'timeout')
    assert.equal(fault.message, 'The model was silent for 50 ms')
    await closed
  }
})

test('a slow answer that never falls silent, and a slow reader, are waited for', async (t) => {
  const { baseUrl } = await endpoint(t, async (response) => {
    response.writeHead(200, EVENTS)
    for (let count = 0; count < 8; count++) {
      response.write(count % 2 === 0 ? ': still there\n\n' : delta('.'))
      await sleep(150)
    }
    response.end(DONE)
  })
  const call = callOf()
  const output = openaiAgent({ baseUrl, idleMs: 1_000 }).run('hi', call)
  let delay = 1_300
  const answer = await answerOf(output, call, 1e7, frameworks, () => sleep(delay).then(() => { delay = 0 }))
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
    const call = callOf()
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
  for await (const piece of openaiAgent({ baseUrl }).run('hi', callOf()) as AsyncIterable<unknown>) {
    assert.equal(piece, 'half')
    break
  }
  await closed
})

test('a call that was cancelled before it began sends nothing', async (t) => {
  const made = await endpoint(t, stream(delta('ok', 'stop') + DONE))
  const call = callOf()
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

const weather = defineTool({
  name: 'weather',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  run: async ({ city }) => `Rain in ${city}`,
})

/** The messages of a request, without the first, which is what the caller asked. */
function later(received: readonly Received[], request: number): readonly unknown[] {
  const messages: unknown = received[request]?.body['messages']
  return Array.isArray(messages) ? messages.slice(1) : []
}

test('a model calls the tools beside it, and what it says around them is told as it comes', async (t) => {
  const { baseUrl, received } = await endpoint(t, inTurn(
    stream(delta('Let me ') + delta('look.') + calls(['weather', '{"city":"Rome"}']) + DONE),
    stream(delta('It rains.', 'stop') + DONE),
  ))
  const { answer, pieces } = await ask({ baseUrl, tools: [weather], body: { parallel_tool_calls: false } })
  assert.equal(answer.text, 'Let me look.\n\nIt rains.')
  assert.equal(answer.state, 'completed')
  assert.equal(pieces.at(-1), '\n\nIt rains.')
  assert.deepEqual(later(received, 1), [
    {
      role: 'assistant',
      content: 'Let me look.',
      tool_calls: [{
        id: 'call-weather-0', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' },
      }],
    },
    { role: 'tool', tool_call_id: 'call-weather-0', content: 'Rain in Rome' },
  ])
  const [first, second] = received
  assert.equal(first?.body['parallel_tool_calls'], false)
  assert.deepEqual({ ...second?.body, messages: [] }, { ...first?.body, messages: [] })
})

test('the text before a call is told before the call is made', async (t) => {
  const { baseUrl } = await endpoint(t, inTurn(
    stream(delta('Looking.') + calls(['note', '{}']) + DONE), stream(delta('Done.', 'stop') + DONE),
  ))
  const order: string[] = []
  const note = defineTool({ name: 'note', run: () => { order.push('run') } })
  const call = callOf({ progress: (_done, _total, text) => order.push(String(text)) })
  const output = openaiAgent({ baseUrl, tools: [note] }).run('hi', call)
  await answerOf(output, call, 1e7, frameworks, (piece) => { order.push(wordOf(piece)) })
  assert.deepEqual(order, ['Looking.', 'Calls note…', 'run', 'note is done', '\n\nDone.'])
})

test('the calls of one step run at once, and their results stand in the order of the calls', async (t) => {
  const { baseUrl, received } = await endpoint(t, inTurn(
    stream(calls(['meet', '{"who":"a"}'], ['meet', '{"who":"b"}'], ['meet', '{"who":"c"}']) + DONE),
    stream(delta('ok', 'stop') + DONE),
  ))
  const waiting: (() => void)[] = []
  const meet = defineTool({
    name: 'meet',
    inputSchema: { type: 'object', properties: { who: { type: 'string' } } },
    run: async ({ who }) => {
      // Each waits for all, and the last to come is the first to leave.
      await new Promise<void>((resolve) => {
        waiting.unshift(resolve)
        if (waiting.length === 3) for (const leave of waiting) leave()
      })
      return who
    },
  })
  await ask({ baseUrl, tools: [meet] })
  assert.deepEqual(later(received, 1).slice(1), [
    { role: 'tool', tool_call_id: 'call-meet-0', content: 'a' },
    { role: 'tool', tool_call_id: 'call-meet-1', content: 'b' },
    { role: 'tool', tool_call_id: 'call-meet-2', content: 'c' },
  ])
})

test('what goes wrong with a call is told to the model, which can mend it', async (t) => {
  const { baseUrl, received } = await endpoint(t, inTurn(
    stream(calls(['weather', '{"city":'], ['weather', '{}'], ['wether', '{}'], ['fails', '{}']) + DONE),
    stream(calls(['weather', '{"city":"Rome"}']) + DONE),
    stream(delta('It rains.', 'stop') + DONE),
  ))
  const fails = defineTool({ name: 'fails', run: () => { throw new Error('secret') } })
  const { answer } = await ask({ baseUrl, tools: [weather, fails] })
  assert.equal(answer.text, 'It rains.')
  const contents = later(received, 2).map((message) => Object(message).content)
  assert.deepEqual(contents, [
    null,
    'The arguments are not a JSON object: "{\\"city\\":"',
    'Invalid arguments for weather: city: is required',
    'There is no tool "wether"; use weather, fails',
    'The tool failed',
    null,
    'Rain in Rome',
  ])
  assert.equal(later(received, 2).length, 7)
})

test('a model that is not given tools and calls some all the same is told so', async (t) => {
  const { baseUrl, received } = await endpoint(t, inTurn(
    stream(calls(['search', '{}']) + DONE), stream(delta('Then not.', 'stop') + DONE),
  ))
  assert.equal((await ask({ baseUrl })).answer.text, 'Then not.')
  assert.equal(Object(later(received, 1)[1]).content, 'There is no tool "search"; use none')
})

test('after the last round the model is asked for its answer without calls', async (t) => {
  let isPatient = true
  const again = calls(['weather', '{"city":"Rome"}']) + DONE
  const { baseUrl, received } = await endpoint(t, (response, { body }) => {
    const isLast = isPatient && body['tool_choice'] === 'none'
    response.writeHead(200, EVENTS).end(isLast ? delta('Enough.', 'stop') + DONE : again)
  })
  const options = { baseUrl, tools: [weather], maxSteps: 2, body: { tool_choice: 'required' } }
  assert.equal((await ask(options)).answer.text, 'Enough.')
  assert.deepEqual(received.map(({ body }) => body['tool_choice']), ['required', 'required', 'none'])
  isPatient = false
  const fault = await faultOf(options)
  assert.equal(fault.kind, 'upstream')
  assert.equal(fault.message, 'The model called tools 2 times over and gave no answer')
  received.length = 0
  await faultOf({ baseUrl, tools: [weather] })
  assert.equal(received.length, 9)
})

test('what is withheld calls nothing', async (t) => {
  const { baseUrl, received } = await endpoint(t, stream(
    calls(['weather', '{"city":"Rome"}']) + delta(null, 'content_filter') + DONE,
  ))
  assert.equal((await ask({ baseUrl, tools: [weather] })).answer.state, 'rejected')
  assert.equal(received.length, 1)
})

test('an answer that comes whole can call too', async (t) => {
  const asked = { id: 'i1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }
  const { baseUrl, received } = await endpoint(t, inTurn(
    reply(200, JSON.stringify({ choices: [{ message: { content: null, tool_calls: [asked] } }] })),
    reply(200, JSON.stringify({ choices: [{ message: { content: 'It rains.' } }] })),
  ))
  assert.equal((await ask({ baseUrl, tools: [weather] })).answer.text, 'It rains.')
  assert.deepEqual(later(received, 1)[1], { role: 'tool', tool_call_id: 'i1', content: 'Rain in Rome' })
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
  const server = serve(t, { agents: [openaiAgent({ baseUrl })] })
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

test('a server answers with a problem where the model fails, and does not say whose it is', async (t) => {
  const { baseUrl } = await endpoint(t, reply(429, '{"error":{"message":"Slow down, organization Acme"}}'))
  const server = serve(t, { agents: [openaiAgent({ baseUrl, log: false })] })
  const response = await server.fetch(query('application/json'))
  assert.equal(response.status, 503)
  const { detail } = await response.json() as { detail: string }
  assert.equal(detail, 'The model is busy')
})

test('over MCP the calls and the pieces of an answer are one progress, which rises', async (t) => {
  const { baseUrl } = await endpoint(t, inTurn(
    stream(delta('Looking.') + calls(['weather', '{"city":"Rome"}'], ['weather', '{"city":"Bonn"}']) + DONE),
    stream(calls(['weather', '{"city":"Oslo"}']) + DONE),
    stream(delta('Rain.', 'stop') + DONE),
  ))
  const server = serveMcp(t, { agents: [openaiAgent({ baseUrl, tools: [weather], log: false })] })
  t.after(() => server.close())
  const params = { name: 'execute_assistant_task', arguments: { prompt: 'hi' } }
  const meta = { progressToken: 'p' }
  const messages = await messagesOf(await modern(server, 'tools/call', params, { meta }))
  const progress = messages.slice(0, -1).map((message) => message.params)
  assert.deepEqual(progress.map(({ message }) => message), [
    'Looking.', 'Calls weather…', 'Calls weather…', 'weather is done', 'weather is done', 'Calls weather…',
    'weather is done', '\n\nRain.',
  ])
  for (let at = 1; at < progress.length; at++) assert.ok(progress[at].progress > progress[at - 1].progress)
  assert.equal(said(messages.at(-1).result), 'Looking.\n\nRain.')
})

test('over MCP a tool that the model calls can ask the user, in a session and in rounds', async (t) => {
  const { baseUrl } = await endpoint(t, (response, { body }) => {
    const results = [body['messages']].flat().filter((message) => Object(message).role === 'tool')
    const [told] = results.map((message) => String(Object(message).content))
    const next = told === undefined ? calls(['book', '{}']) : delta(told, 'stop')
    response.writeHead(200, EVENTS).end(next + DONE)
  })
  const form = { type: 'object', properties: { when: { type: 'string' } }, required: ['when'] }
  let booked = 0
  const book = defineTool({
    name: 'book',
    run: async (_args, call) => {
      const { content } = await call.elicit({ key: 'when', message: 'When?', schema: form })
      return call.once('book', () => `Booked ${++booked}: ${String(content?.['when'])}`)
    },
  })
  const server = serveMcp(t, { agents: [openaiAgent({ baseUrl, tools: [book], log: false })] })
  t.after(() => server.close())
  const answer = { action: 'accept', content: { when: 'noon' } }
  const params = { name: 'execute_assistant_task', arguments: { prompt: 'hi' } }

  const able = { capabilities: { elicitation: {} } }
  const asked = (await rpc(server, 'tools/call', params, able)).result
  const [key] = Object.keys(asked.inputRequests)
  const retry = { ...params, inputResponses: { [key!]: answer }, requestState: asked.requestState }
  assert.equal(said((await rpc(server, 'tools/call', retry, able)).result), 'Booked 1: noon')

  const session = await begin(server, '2025-11-25', able.capabilities)
  const events = await session.stream(params.name, params.arguments)
  await session.answer((await events.next()).id, answer)
  assert.equal(said((await events.next()).result), 'Booked 2: noon')
})
