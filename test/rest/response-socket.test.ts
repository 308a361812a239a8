import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../lib/index.ts'
import { jsonOf, listen, request } from '../fixtures/client.ts'
import { openWebSocket } from '../fixtures/web-socket.ts'
import type { TestContext } from 'node:test'
import type { Call, ServerOptions, TriportServer } from '../../lib/index.ts'
import type { WebSocketClient } from '../fixtures/web-socket.ts'

type Json = Readonly<Record<string, any>>

/** Says what it has heard so far. */
const listener = {
  name: 'Agent',
  run: (prompt: string, { history }: Call) => [...history.map(({ content }) => content), prompt].join(' | '),
}

interface Served {
  readonly server: TriportServer
  open(headers?: Record<string, string>): Promise<WebSocketClient>
}

async function serving(t: TestContext, options: Partial<ServerOptions> = {}): Promise<Served> {
  const { server, port } = await listen(t, { agents: [listener], ...options })
  return {
    server,
    async open(headers) {
      const client = await openWebSocket(port, '/v1/responses', headers)
      t.after(() => client.socket.destroy())
      return client
    },
  }
}

const create = (input: unknown, more: object = {}): object => ({
  type: 'response.create', model: 'agent', store: false, input, ...more,
})

/** The response that a turn ends with. */
async function responded(client: WebSocketClient, message: object): Promise<Json> {
  const last = (await client.turn(message)).at(-1)!
  assert.equal(last['type'], 'response.completed', JSON.stringify(last))
  return last['response']
}

/** The error that a message is answered with, alone. */
async function refused(client: WebSocketClient, message: unknown): Promise<Json> {
  const [error, ...more] = await client.turn(message)
  assert.deepEqual(more, [])
  assert.equal(error!['type'], 'error', JSON.stringify(error))
  return { status: error!['status'], ...error!['error'] }
}

const textOf = ({ output }: Json): unknown => output[0].content[0].text

test('the events of a response are those of a stream over HTTP', async (t) => {
  const { server, open } = await serving(t)
  const events = await (await open()).turn(create('Hello'))
  const asked = { ...create('Hello'), type: undefined, stream: true }
  const streamed = await (await server.fetch(request('/v1/responses', asked))).text()
  const lines = streamed.split('\n').filter((line) => line.startsWith('data: {'))
  const bare = (event: Json): unknown => JSON.parse(JSON.stringify(event, (name, value: unknown) => (
    /^(?:id|item_id|created_at|completed_at)$/.test(name) ? undefined : value
  )))
  assert.deepEqual(events.map(bare), lines.map((line) => bare(JSON.parse(line.slice(6)) as Json)))
  assert.deepEqual(events.map((event) => event['sequence_number']), [...events.keys()])
})

test('a response that is not stored is gone on with on its connection alone, the last one', async (t) => {
  const { server, open } = await serving(t)
  const [one, two] = [await open(), await open()]
  const first = await responded(one, create('cobalt'))
  const goOn = (id: unknown): object => create('next', { previous_response_id: id })
  assert.equal((await refused(two, goOn(first['id'])))['code'], 'previous_response_not_found')
  const second = await responded(one, goOn(first['id']))
  assert.equal(textOf(second), 'cobalt | cobalt | next')
  assert.deepEqual([second['previous_response_id'], second['store']], [first['id'], false])
  // Only the last one is kept.
  const gone = await refused(one, goOn(first['id']))
  assert.deepEqual([gone['status'], gone['code'], gone['param']],
    [400, 'previous_response_not_found', 'previous_response_id'])
  const third = await responded(one, goOn(second['id']))
  assert.equal(textOf(third), 'cobalt | cobalt | next | cobalt | cobalt | next | next')
  assert.equal((await server.fetch(request(`/v1/responses/${third['id']}`))).status, 404)
})

test('what fails is not gone on with from the same place', async (t) => {
  const { open } = await serving(t, {
    agents: [listener, { name: 'Broken', run: () => { throw new Fault('failed', 'It broke') } }],
  })
  const client = await open()
  const lost = [{ type: 'function_call_output', call_id: 'unknown', output: '' }]
  for (const wrong of [{ input: lost }, { model: 'nobody' }, { model: 'broken' }, { input: [] }]) {
    const { id } = await responded(client, create('ember'))
    const events = await client.turn(create('next', { previous_response_id: id, ...wrong }))
    assert.match(String(events.at(-1)!['type']), /error|failed/)
    const again = await refused(client, create('next', { previous_response_id: id }))
    assert.equal(again['code'], 'previous_response_not_found')
  }
  // What fails elsewhere leaves it.
  const { id } = await responded(client, create('ember'))
  await refused(client, create('next', { previous_response_id: 'resp_other' }))
  const next = create('next', { previous_response_id: id })
  assert.equal(textOf(await responded(client, next)), 'ember | ember | next')
})

test('a response that is stored is gone on with from anywhere', async (t) => {
  const { server, open } = await serving(t)
  const { id } = await responded(await open(), create('cobalt', { store: true }))
  const more = { previous_response_id: id }
  assert.equal(textOf(await responded(await open(), create('next', more))), 'cobalt | cobalt | next')
  const asked = { model: 'agent', input: 'next', ...more }
  const over = await jsonOf(await server.fetch(request('/v1/responses', asked)))
  assert.equal(textOf(over), 'cobalt | cobalt | next')
})

const wrongs: readonly (readonly [what: string, message: unknown, param: string | null])[] = [
  ['no JSON', '{', null],
  ['no object', '[1]', 'type'],
  ['another type', { type: 'response.cancel' }, 'type'],
  ['no model', { type: 'response.create', input: 'a' }, 'model'],
  ['a whole answer', create('a', { stream: false }), 'stream'],
  ['the background', create('a', { background: true }), 'background'],
  ['a response without an answer', create('a', { generate: false }), 'generate'],
  ['no input', create(undefined), 'input'],
]

test('a message that is wrong is answered with an error, and the next one is read', async (t) => {
  const { open } = await serving(t)
  const client = await open()
  for (const [what, message, param] of wrongs) {
    const { status, code, message: text, param: named } = await refused(client, message)
    assert.deepEqual([status, named, typeof code], [400, param, 'string'], what)
    assert.ok(text.length > 10, what)
  }
  const unknown = await refused(client, create('a', { model: 'nobody' }))
  assert.deepEqual([unknown['status'], unknown['code']], [404, 'model_not_found'])
  assert.equal(textOf(await responded(client, create('a', { stream: true, background: false }))), 'a')
})

test('messages are answered one after another, whatever waits', async (t) => {
  const running: string[] = []
  const { open } = await serving(t, {
    agents: [{
      name: 'Agent',
      run: async (prompt) => {
        running.push(`${prompt} begins`)
        await new Promise((resolve) => { setTimeout(resolve, 5) })
        running.push(`${prompt} ends`)
        return prompt
      },
    }],
  })
  const client = await open()
  for (const input of ['1', '2', '3']) client.send(create(input))
  await client.until(() => client.messages.filter(({ type }) => type === 'response.completed').length === 3)
  assert.deepEqual(running, ['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends'])
})

test('scopes and rates hold for each message', async (t) => {
  const { open } = await serving(t, {
    agents: [listener, { name: 'Closed', scopes: ['secret'], run: () => '' }],
    apiKey: [{ id: 'ann', key: 'the key of ann', scopes: [] }], rateLimit: { perMinute: 60, burst: 2 },
  })
  const client = await open({ 'x-api-key': 'the key of ann' })
  assert.equal((await refused(client, create('a', { model: 'closed' })))['status'], 403)
  const { id } = await responded(client, create('a'))
  const { status, code, message } = await refused(client, create('a', { previous_response_id: id }))
  assert.deepEqual([status, code], [429, 'rate_limit_exceeded'])
  assert.match(message, /try again in \d+ s/)
})

test('what an agent throws is in the response, and nothing of a defect is', async (t) => {
  const { open } = await serving(t, { agents: [{ name: 'Agent', run: () => { throw new Error('secret') } }] })
  const events = await (await open()).turn(create('a'))
  assert.equal(events.at(-1)!['type'], 'response.failed')
  assert.equal(events.at(-1)!['response'].error.code, 'server_error')
  assert.doesNotMatch(JSON.stringify(events), /secret/)
})

test('what connections keep is bounded, all together', async (t) => {
  const { open } = await serving(t, {
    agents: [{ name: 'Agent', run: () => 'x'.repeat(100_000) }],
    conversationBytes: 500_000, maxConversationsBytes: 1_000_000,
  } as Partial<ServerOptions>)
  const clients = await Promise.all(Array.from({ length: 12 }, () => open()))
  const codes: unknown[] = []
  for (const client of clients) {
    const { id } = await responded(client, create('a'))
    const [event] = await client.turn(create('b', { previous_response_id: id }))
    codes.push(event!['error']?.code)
  }
  assert.equal(codes[0], undefined)
  assert.equal(codes.at(-1), 'previous_response_not_found')
})

test('after an hour no response begins any more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let go: (answer: string) => void = () => {}
  const { open } = await serving(t, {
    agents: [{ name: 'Agent', run: () => new Promise<string>((resolve) => { go = resolve }) }],
    agentTimeoutMs: 2 * 60 * 60_000,
  })
  const [idle, busy] = [await open(), await open()]
  busy.send(create('a'))
  busy.send(create('b'))
  await busy.until(() => busy.messages.length === 2)
  t.mock.timers.tick(60 * 60_000)
  await idle.until(() => idle.closeCode !== undefined)
  const [{ status, error } = {} as Json] = idle.messages
  assert.deepEqual([status, error.code, idle.closeCode], [400, 'websocket_connection_limit_reached', 1000])
  go('done')
  await busy.until(() => busy.closeCode !== undefined)
  assert.deepEqual(busy.messages.slice(-2).map(({ type }) => type), ['response.completed', 'error'])
  t.mock.timers.reset()
})

async function compacted(server: TriportServer, body: object, headers = {}): Promise<Json> {
  const response = await server.fetch(request('/v1/responses/compact', { model: 'agent', ...body }, headers))
  return { status: response.status, ...await jsonOf(response) }
}

const talk = [
  { role: 'user', content: 'The word is slate.' },
  { type: 'reasoning', summary: [], content: [] },
  { type: 'function_call', call_id: 'c1', name: 'paint', arguments: '{}', id: 'fc_1', status: 'completed' },
  { type: 'function_call_output', call_id: 'c1', output: 'green' },
  { role: 'assistant', content: [{ type: 'output_text', text: 'OK.', annotations: [], logprobs: [] }] },
]

test('a conversation becomes one item, of which the agent reads the same', async (t) => {
  const { server, open } = await serving(t)
  const { status, id, object, created_at: created, output, usage } = await compacted(server, { input: talk })
  assert.deepEqual([status, object, usage.total_tokens], [200, 'response.compaction', 0])
  assert.match(id, /^resp_/)
  assert.ok(Number.isSafeInteger(created))
  assert.deepEqual(output.map(({ type }: Json) => type), ['compaction'])
  const next = { role: 'user', content: 'Which?' }
  const ask = async (input: unknown, more = {}): Promise<unknown> => (
    textOf(await jsonOf(await server.fetch(request('/v1/responses', { model: 'agent', input, ...more }))))
  )
  const whole = await ask([...talk, next])
  assert.match(String(whole), /slate.*green.*OK\. \| Which\?/)
  assert.equal(await ask([...output, next]), whole)
  assert.equal(textOf(await responded(await open(), create([...output, next]))), whole)
  // It is kept as what it is, gone on with, and made into one again.
  const asked = { model: 'agent', input: [...output, next] }
  const first = await jsonOf(await server.fetch(request('/v1/responses', asked)))
  const goOn = { previous_response_id: first['id'] }
  assert.match(String(await ask('More', goOn)), /slate.*Which\?.*More/)
  const again = await compacted(server, { ...goOn, input: 'Thanks' })
  assert.match(String(await ask([...again['output'], next])), /slate.*Which\?.*Thanks \| Which\?/)
  const long = await compacted(server, { input: 'The same again. '.repeat(1_000) })
  assert.ok(long['output'][0].encrypted_content.length < 1_000)
})

test('a compaction opens for who has it made, and only as it is', async (t) => {
  const apiKey = ['a', 'b'].map((id) => ({ id, key: `the key of ${id}` }))
  const { server } = await serving(t, { apiKey })
  const [one, two] = apiKey.map(({ key }) => ({ 'x-api-key': key }))
  const { output: [item] } = await compacted(server, { input: 'secret words' }, one)
  assert.doesNotMatch(JSON.stringify(item), /secret/)
  const ask = async (given: object, headers = one): Promise<Json> => {
    const body = { model: 'agent', input: [given, { role: 'user', content: 'a' }] }
    const response = await server.fetch(request('/v1/responses', body, headers))
    return { status: response.status, ...(await jsonOf(response))['error'] as Json }
  }
  assert.equal((await ask(item))['status'], 200)
  const cut = item.encrypted_content.slice(0, -2)
  for (const [given, headers] of [
    [item, two], [{ ...item, encrypted_content: cut }, one], [{ type: 'compaction' }, one],
  ] as const) {
    const { status, code, param } = await ask(given, headers)
    assert.deepEqual([status, code, param],
      [400, 'invalid_encrypted_content', 'input[0].encrypted_content'])
  }
})

test('compactions hold no more together than a body may', async (t) => {
  const { server } = await serving(t, { maxBodyBytes: 20_000 })
  const { output: [item] } = await compacted(server, { input: 'x'.repeat(15_000) })
  assert.ok(item.encrypted_content.length < 1_000)
  const ask = async (count: number): Promise<number> => {
    const input = [...Array<Json>(count).fill(item), { role: 'user', content: 'a' }]
    return (await server.fetch(request('/v1/responses', { model: 'agent', input }))).status
  }
  assert.deepEqual([await ask(1), await ask(2), await ask(20)], [200, 413, 413])
})

test('what cannot be made into one item is refused', async (t) => {
  const { server } = await serving(t)
  const refusals: readonly (readonly [body: object, status: number, param: string])[] = [
    [{ model: undefined, input: 'a' }, 400, 'model'],
    [{ model: 'nobody', input: 'a' }, 404, 'model'],
    [{}, 400, 'input'],
    [{ input: [] }, 400, 'input'],
    [{ input: [{ type: 'web_search_call' }] }, 400, 'input[0].type'],
    [{ input: 'a', instructions: 1 }, 400, 'instructions'],
    [{ previous_response_id: 'resp_none' }, 400, 'previous_response_id'],
  ]
  for (const [body, status, param] of refusals) {
    const { status: got, error } = await compacted(server, body)
    assert.deepEqual([got, error.param], [status, param], JSON.stringify(body))
  }
})
