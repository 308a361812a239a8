import assert from 'node:assert/strict'
import test from 'node:test'
import { ask, message, post } from './ask.ts'
import { Caller, serveA2a, serveBot, tellOf } from './caller.ts'
import type { JsonMembers } from '../../../lib/parts/a2a/model/model.ts'
import type { Run } from '../../../lib/kernel/define/agent.ts'

const history: Run = (prompt, call) => {
  return `${call.history.map(({ role, content }) => `${role}: ${content}`).join('; ')} > ${prompt}`
}

test('a handler sees the door, the conversation, the metadata and every part', async (t) => {
  let seen: unknown
  const server = serveBot(t, (prompt, call) => {
    const { protocol, sessionId, history: said, metadata, message: blocks, requestId, trace } = call
    seen = { prompt, protocol, sessionId, said, metadata, blocks, requestId, trace, asks: call.can('elicit') }
    return 'ok'
  })
  const parts = [{ text: 'hi' }, { uri: 'https://a.example/b.png' }]
  await post(server, {
    jsonrpc: '2.0', id: '1', method: 'message/send',
    params: { message: { role: 'user', contextId: 'trip', parts }, metadata: { tenant: 'blue' } },
  }, { headers: { 'x-request-id': 'r-1', 'traceparent': '00-1' } })
  assert.deepEqual(seen, {
    prompt: 'hi',
    protocol: 'a2a',
    sessionId: 'trip',
    said: [],
    metadata: { tenant: 'blue' },
    blocks: [
      { type: 'text', text: 'hi' },
      { type: 'resource_link', uri: 'https://a.example/b.png', name: 'b.png' },
    ],
    requestId: 'r-1',
    trace: { traceparent: '00-1' },
    asks: false,
  })
})

test('what is attached to a message reaches the handler, above what its request says', async (t) => {
  const own = { tone: 'dry', deep: { a: 1 } }
  const rows: readonly (readonly [own: object | undefined, beside: object | undefined, seen: object])[] = [
    [own, undefined, own], [undefined, own, own], [{}, own, own], [undefined, undefined, {}],
    [own, { tone: 'warm', tenant: 'blue' }, { tenant: 'blue', ...own }],
  ]
  for (const replies of ['task', 'message', 'either'] as const) {
    const seen: unknown[] = []
    const server = serveBot(t, async (_, { metadata }) => {
      seen.push(metadata)
      return 'ok'
    }, {}, { replies })
    for (const dialect of ['1.0', '0.3'] as const) {
      const bot = new Caller(server, { dialect })
      for (const [message, beside, owed] of rows) {
        const attached = { message: { metadata: message as JsonMembers }, metadata: beside as JsonMembers }
        await bot.send('hi', attached)
        await (await bot.stream('hi', attached)).rest()
        const said = { parts: [{ text: 'hi' }], metadata: message }
        const params = { message: { messageId: 'm', role: 'ROLE_USER', ...said }, metadata: beside }
        await server.fetch(new Request('http://a.example/message:send', {
          method: 'POST', headers: { 'content-type': 'application/a2a+json', 'a2a-version': '1.0' },
          body: JSON.stringify(params),
        }))
        const plain = { message: { role: 'user', ...said }, metadata: beside }
        await post(server, { jsonrpc: '2.0', id: '1', method: 'message/send', params: plain })
        assert.deepEqual(seen.splice(0), [owed, owed, owed, owed], `${replies} ${dialect}`)
      }
    }
  }
})

test('a handler sees the extensions that the client asks for, known or not', async (t) => {
  const seen: unknown[] = []
  const server = serveBot(t, (_, call) => {
    seen.push(call.extensions)
    return 'ok'
  }, { a2a: { extensions: [{ uri: 'urn:a' }] } })
  for (const name of ['a2a-extensions', 'x-a2a-extensions']) {
    await post(server, message('hi'), { headers: { [name]: 'urn:a, urn:b' } })
  }
  await post(server, message('hi'))
  assert.deepEqual(seen, [['urn:a', 'urn:b'], ['urn:a', 'urn:b'], []])
})

test('a context that the client names goes on, one that it does not is made and told', async (t) => {
  const server = serveBot(t, history)
  const contextId = (await post(server, message('one'))).said?.contextId
  assert.match(contextId ?? '', /^[\da-f-]{36}$/)
  assert.equal(await ask(server, 'two', { contextId }), 'user: one; assistant:  > one > two')
  const third = await post(server, message('three', { contextId }))
  assert.equal(third.said?.contextId, contextId)
  assert.match(third.text ?? '', /user: two; .*> three$/)
  assert.notEqual((await post(server, message('four'))).said?.contextId, contextId)
  assert.equal(await ask(server, 'five'), ' > five')
})

test('each reply has an id of its own', async (t) => {
  const server = serveBot(t, () => 'ok')
  const ids = new Set<string | undefined>()
  for (let count = 0; count < 20; count++) ids.add((await post(server, message('x'))).said?.messageId)
  assert.equal(ids.size, 20)
})

test('a conversation belongs to whoever began it', async (t) => {
  const apiKey = [{ id: 'ann', key: 'key-of-ann' }, { id: 'bob', key: 'key-of-bob' }]
  const server = serveBot(t, history, { apiKey })
  const say = async (text: string, key: string): Promise<string | undefined> => {
    const said = message(text, { contextId: 'shared' })
    return (await post(server, said, { headers: { 'x-api-key': key } })).text
  }
  assert.equal(await say('one', 'key-of-ann'), ' > one')
  assert.equal(await say('two', 'key-of-bob'), ' > two')
  assert.equal(await say('three', 'key-of-ann'), 'user: one; assistant:  > one > three')
})

test('what failed or was rejected is no part of the conversation, a question is', async (t) => {
  const server = serveBot(t, (prompt, call) => {
    if (prompt === 'fail') return { text: 'no', state: 'failed' }
    if (prompt === 'reject') return { text: 'no', state: 'rejected' }
    if (prompt === 'throw') throw new Error('no')
    if (prompt === 'plan') return { text: 'Which year?', state: 'input-required' }
    return history(prompt, call)
  })
  for (const prompt of ['fail', 'reject', 'throw', 'plan']) await ask(server, prompt, { contextId: 'c' })
  assert.equal(await ask(server, '2026', { contextId: 'c' }), 'user: plan; assistant: Which year? > 2026')
})

test('a message of files alone is remembered by their names', async (t) => {
  const server = serveBot(t, history)
  const parts = [{ uri: 'https://a.example/x.png' }, { uri: 'data:,y' }]
  const params = { message: { role: 'user', contextId: 'c', parts } }
  await post(server, { jsonrpc: '2.0', id: '1', method: 'message/send', params })
  assert.equal(await ask(server, 'next', { contextId: 'c' }), 'user: x.png, data; assistant:  >  > next')
})

test('an answer in pieces is one text', async (t) => {
  const server = serveBot(t, async function* () {
    yield 'one '
    yield 'two'
    yield { type: 'resource_link', uri: 'https://a.example/x', name: 'x' }
  })
  assert.equal(await ask(server, 'go'), 'one two|https://a.example/x')
})

test('structured output alone is its JSON text', async (t) => {
  assert.equal(await ask(serveBot(t, () => ({ data: { sum: 3 } })), 'go'), '{"sum":3}')
  assert.equal(await ask(serveBot(t, () => ({ sum: 3 })), 'go'), '{"sum":3}')
  assert.equal(await ask(serveBot(t, () => ({ text: 'three', data: { sum: 3 } })), 'go'), 'three')
})

test('artifacts are parts of the answer: replaced by id, added to with append', async (t) => {
  const server = serveBot(t, (prompt, call) => {
    if (prompt === 'recall') return call.history.map(({ content }) => content).join('; ')
    call.artifact({ parts: ['loose'] })
    call.artifact({ id: 'a', parts: ['draft'] })
    call.artifact({ id: 'a', parts: ['final'] })
    const image = { type: 'image' as const, data: new Uint8Array([0]), mimeType: 'image/png' }
    call.artifact({ id: 'a', append: true, parts: [' word', image] })
    call.artifact({ parts: ['last'] })
    return 'Done.'
  })
  const answer = await ask(server, 'go', { contextId: 'c' })
  assert.equal(answer, 'Done.|loose|final| word|data:image/png;base64,AA==|last')
  assert.equal(await ask(server, 'recall', { contextId: 'c' }), 'go; Done.loosefinal wordlast')
})

test('asking the client is not supported, and says so', async (t) => {
  const question = { message: 'Which year?', schema: {} }
  const server = serveBot(t, async (_, call) => (await call.elicit(question)).action)
  const { status, code, error, data } = await post(server, message('go'))
  assert.deepEqual([status, code, error], [200, -32004, 'This operation is not supported'])
  assert.match(String(data?.['detail']), /cannot be asked: only a task waits, and this is/)
})

test('what a handler logs goes to the server, with the id of the request', async (t) => {
  const lines: unknown[] = []
  const server = serveBot(t, (_, call) => {
    call.log('warning', { disk: 'full' }, 'store')
    call.progress(1, 2)
    call.detach()
    return 'ok'
  }, { log: (level, text, fields) => lines.push([level, text, fields]) })
  await post(server, message('go'), { headers: { 'x-request-id': 'r-1' } })
  assert.deepEqual(lines, [['warning', '{"disk":"full"}', { request: 'r-1', logger: 'store' }]])
})

test('a client that leaves ends the run', async (t) => {
  let began = (): void => {}
  let ended = (_: unknown): void => {}
  const running = new Promise<void>((resolve) => { began = resolve })
  const aborted = new Promise<unknown>((resolve) => { ended = resolve })
  const server = serveBot(t, (_, call) => new Promise(() => {
    call.signal.addEventListener('abort', () => ended(call.signal.reason))
    began()
  }))
  const leaving = new AbortController()
  const answer = post(server, message('go'), { signal: leaving.signal })
  await running
  leaving.abort()
  assert.equal((await aborted as Error).message, 'The client has left')
  const { status, code } = await answer
  assert.deepEqual([status, code], [503, -32603])
})

test('a group answers with its last agent, and a failing one ends it with what was said', async (t) => {
  const one: Run = (prompt) => `${prompt}1`
  const two: Run = (prompt) => prompt === 'fail1' ? { text: 'no ink', state: 'failed' } : `${prompt}2`
  const agents = [{ name: 'One', run: one }, { name: 'Two', run: two }]
  const server = serveA2a(t, { groups: [{ name: 'Desk', agents }] })
  assert.equal(await ask(server, 'go '), 'go 12')
  const results = [{ agent: 'One', response: 'fail1' }, { agent: 'Two', error: 'no ink' }]
  assert.deepEqual((await post(server, message('fail'))).data, { results, detail: 'Two failed: no ink' })
})

test('what stands in an artifact is called like it, but for what has a name', async (t) => {
  const data = new Uint8Array([0, 1, 2])
  const parts = [
    'a joke',
    { type: 'image', data, mimeType: 'image/png' },
    { type: 'image', data, mimeType: 'image/png', _meta: { filename: 'own.png' } },
    { type: 'resource_link', uri: 'https://a.example/b.pdf', name: 'b.pdf' },
  ] as const
  const server = serveBot(t, (_prompt, call) => {
    call.artifact({ name: 'Jokes', parts })
    call.artifact({ parts: ['more'] })
    return 'ok'
  })
  const { said } = await post(server, message('go'))
  assert.deepEqual(said?.parts.map((part) => 'name' in part ? part.name : undefined), [
    undefined, 'Jokes', 'Jokes', 'own.png', undefined, undefined,
  ])
})

test('a conversation is of one tenant: another of that name has its own', async (t) => {
  for (const replies of ['task', 'message'] as const) {
    const server = serveBot(t, history, { a2a: { tenants: ['acme', 'other'] } }, { replies })
    const bot = new Caller(server)
    const tell = async (text: string, tenant?: string): Promise<string> => {
      const sent = await bot.send(text, { contextId: 'trip', ...tenant !== undefined && { tenant } })
      assert.equal(sent.what === 'task' ? sent.task.contextId : sent.message.contextId, 'trip')
      return tellOf(sent)
    }
    assert.match(await tell('secret', 'acme'), / > secret$/)
    for (const tenant of ['other', undefined]) assert.doesNotMatch(await tell('hello', tenant), /secret/)
    assert.match(await tell('again', 'acme'), /user: secret; assistant:  > secret > again$/)
  }
})
