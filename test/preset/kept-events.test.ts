import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../lib/index.ts'
import { eventually, jsonOf, listen, request, serve } from '../fixtures/client.ts'
import { sharedStore } from '../fixtures/shared-store.ts'
import type { AgentOutput, Call, ServerOptions } from '../../lib/index.ts'

/** A way to ask an agent, as the protocols that have no key of their own ask. */
interface Face {
  readonly name: string
  readonly path: string
  readonly isStream: boolean
  /** Whether refusals have OpenAI's form. */
  readonly isOpenai?: boolean
  body(prompt: string): object
}

const model = 'agent'
const faces: readonly Face[] = [
  ...[false, true].flatMap((stream): readonly Face[] => [{
    name: `chat-${stream}`, path: '/v1/chat/completions', isStream: stream, isOpenai: true,
    body: (content) => ({ model, stream, messages: [{ role: 'user', content }] }),
  }, {
    name: `responses-${stream}`, path: '/v1/responses', isStream: stream, isOpenai: true,
    body: (input) => ({ model, stream, input }),
  }]),
  {
    name: 'agui', path: '/agui', isStream: true,
    body: (content) => ({ threadId: 'thread-1', runId: 'r', messages: [{ id: '1', role: 'user', content }] }),
  },
  {
    name: 'ui-stream', path: '/ui-stream', isStream: true,
    body: (text) => (
      { id: 'chat-0001', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text }] }] }
    ),
  },
]
const streams = faces.filter(({ isStream }) => isStream)

/** The ways of an agent to answer, by what it is asked; `runs` are those that wait. */
function agentOf(): { readonly options: ServerOptions; readonly runs: Waiting[]; count(): number } {
  let count = 0
  const runs: Waiting[] = []
  const answer = async (prompt: string, call: Call): Promise<string> => {
    if (prompt === 'wait') {
      return new Promise((resolve) => { runs.push({ call, end: () => resolve('done') }) })
    }
    if (prompt === 'reject') throw new Fault('failed', `failed ${count}`)
    return `later ${count}`
  }
  const many = async function* (): AsyncGenerator<string> {
    for (let piece = 0; piece < 100; piece++) yield 'x'
  }
  const pieces = async function* (): AsyncGenerator<string> {
    yield 'one '
    yield `two ${count}`
    yield ' STOP three'
  }
  const run = (prompt: string, call: Call): AgentOutput => {
    count++
    if (prompt === 'throw') throw new Fault('failed', `failed ${count}`)
    if (prompt === 'large') return 'x'.repeat(3_000)
    if (prompt === 'many') return many()
    if (prompt === 'pieces') return pieces()
    return prompt === 'now' ? `now ${count}` : answer(prompt, call)
  }
  return { runs, count: () => count, options: { agents: [{ name: 'Agent', run }, { name: 'Other', run }] } }
}

interface Waiting { readonly call: Call; end(): void }

function ask(face: Face, prompt: string, key = 'k', path = face.path): Request {
  return request(path, face.body(prompt), { 'idempotency-key': key })
}

function isReplayed({ headers }: Response): boolean {
  return headers.get('idempotent-replayed') === 'true'
}

/** The headers that do not belong to one request alone. */
function lasting({ headers }: Response): object {
  const own = ['x-request-id', 'date', 'idempotent-replayed']
  return Object.fromEntries([...headers].filter(([name]) => !own.includes(name)))
}

async function refusal(face: Face, response: Response): Promise<readonly [status: number, sentence: string]> {
  const document = await jsonOf(response)
  if (face.isOpenai !== true) {
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    return [response.status, String(document['detail'])]
  }
  const { type, message } = document['error'] as Record<string, unknown>
  assert.equal(type, 'invalid_request_error')
  return [response.status, String(message)]
}

test('what is sent again is replied to as the first time, and runs once', async (t) => {
  for (const store of [undefined, sharedStore()]) {
    const { options, count } = agentOf()
    const server = serve(t, { ...options, ...store !== undefined && { store } })
    const other = store === undefined ? server : serve(t, { ...options, store })
    for (const face of faces) {
      for (const prompt of ['now', 'later', 'pieces']) {
        const before = count()
        const first = await server.fetch(ask(face, prompt, face.name + prompt))
        const said = await first.text()
        const again = await other.fetch(ask(face, prompt, face.name + prompt))
        assert.deepEqual([first.status, again.status], [200, 200], face.name)
        assert.deepEqual([isReplayed(first), isReplayed(again)], [false, true], face.name)
        assert.deepEqual(lasting(again), lasting(first))
        assert.equal(await again.text(), said, face.name)
        assert.equal(count(), before + 1)
      }
      const without = await Promise.all([1, 2].map(() => server.fetch(request(face.path, face.body('now')))))
      const [one, two] = await Promise.all(without.map(async (reply) => reply.text()))
      assert.notEqual(one, two)
    }
  }
})

test('a key stands for one request', async (t) => {
  const { options, count } = agentOf()
  const server = serve(t, options)
  for (const [number, face] of faces.entries()) {
    const key = face.name
    await (await server.fetch(ask(face, 'now', key))).text()
    const ran = count()
    const other = await server.fetch(ask(face, 'later', key))
    assert.equal(other.headers.get('x-should-retry'), null)
    assert.deepEqual(await refusal(face, other), [
      422, 'This Idempotency-Key belongs to another request; make a new key for each',
    ])
    const next = faces[(number + 1) % faces.length]!
    assert.equal((await refusal(next, await server.fetch(ask(next, 'now', key))))[0], 422)
    const malformed = await refusal(face, await server.fetch(ask(face, 'now', 'k k')))
    assert.deepEqual(malformed, [400, 'The Idempotency-Key must be 1 to 255 visible ASCII characters'])
    if (face.isOpenai !== true) {
      const toOther = await server.fetch(ask(face, 'now', key, `/agents/other${face.path}`))
      assert.equal((await refusal(face, toOther))[0], 422)
      assert.ok(isReplayed(await server.fetch(ask(face, 'now', key, `/agents/agent${face.path}`))))
    }
    assert.equal(count(), ran)
  }
})

test('a failure is not kept: the request runs again', async (t) => {
  for (const store of [undefined, sharedStore()]) {
    const { options } = agentOf()
    const server = serve(t, { ...options, ...store !== undefined && { store } })
    for (const face of faces) {
      for (const prompt of ['throw', 'reject']) {
        const numbers = []
        for (let time = 0; time < 2; time++) {
          const response = await server.fetch(ask(face, prompt, face.name + prompt))
          assert.equal(response.status, face.isStream ? 200 : 500, face.name)
          assert.equal(isReplayed(response), false)
          numbers.push(Number(/failed (\d+)/.exec(await response.text())?.[1]))
        }
        assert.equal(numbers[1], numbers[0]! + 1, face.name)
      }
    }
  }
})

test('a run with a key goes on when its client leaves, and is replied to when it comes back', async (t) => {
  for (const face of faces) {
    const { options, runs, count } = agentOf()
    const { url } = await listen(t, options)
    const send = (signal?: AbortSignal): Promise<Response> => fetch(url + face.path, {
      method: 'POST', body: JSON.stringify(face.body('wait')), ...signal !== undefined && { signal },
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
    })
    const leaving = new AbortController()
    const left = send(leaving.signal).then(async (response) => response.text()).catch(() => 'left')
    await eventually(() => runs.length === 1)
    leaving.abort()
    assert.equal(await left, 'left')
    const second = await send()
    assert.equal(second.headers.get('retry-after'), '1')
    // Clients of OpenAI ask again by themselves.
    assert.equal(second.headers.get('x-should-retry'), null)
    assert.deepEqual(await refusal(face, second), [
      409, 'The request of this Idempotency-Key is running; ask again later',
    ])
    assert.equal(runs[0]!.call.signal.aborted, false)
    runs[0]!.end()
    await eventually(async () => (await send()).status === 200)
    const last = await send()
    assert.ok(isReplayed(last))
    assert.match(await last.text(), /done/, face.name)
    assert.equal(count(), 1)
  }
})

test('a reply that is too large to be kept is sent, and is not run again', async (t) => {
  const cases = [
    // The store takes no reply of this length; and events that are more than a result may be.
    ['large', faces, { maxIdempotencyBytes: 2_000 }], ['many', streams, { maxResultBytes: 4_000 }],
  ] as const
  for (const [prompt, whose, limits] of cases) {
    const { options, count } = agentOf()
    const server = serve(t, { ...options, ...limits })
    for (const face of whose) {
      const first = await server.fetch(ask(face, prompt, face.name))
      assert.match(await first.text(), /x{3000}|"x"/)
      const again = await server.fetch(ask(face, prompt, face.name))
      assert.equal(again.headers.get('x-should-retry'), face.isOpenai === true ? 'false' : null)
      assert.deepEqual(await refusal(face, again), [
        409, 'The request of this Idempotency-Key has run, but its reply could not be kept',
      ])
    }
    assert.equal(count(), whose.length)
  }
})

test('who may not ask the agent any more does not hear what it said', async (t) => {
  const { options: { agents } } = agentOf()
  const [agent] = agents as readonly [{ readonly name: string; run(): AgentOutput }]
  let scopes = ['chat']
  const apiKey = (): { id: string; scopes: string[] } => ({ id: 'ann', scopes })
  const server = serve(t, { agents: [{ ...agent, scopes: ['chat'] }], apiKey })
  for (const face of faces) {
    const send = async (): Promise<number> => {
      const headers = { 'idempotency-key': face.name, 'x-api-key': 'key' }
      const response = await server.fetch(request(face.path, face.body('now'), headers))
      await response.text()
      return response.status
    }
    scopes = ['chat']
    assert.equal(await send(), 200)
    scopes = []
    assert.equal(await send(), 403)
  }
})

test('a stream for which there is no room, and a full server, leave the key free', async (t) => {
  for (const face of streams) {
    for (const full of [{ maxStreams: 1 }, { maxCalls: 1 }]) {
      const { options, runs } = agentOf()
      const { url } = await listen(t, { ...options, ...full })
      const send = (key: string): Promise<Response> => fetch(url + face.path, {
        method: 'POST', body: JSON.stringify(face.body('wait')),
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
      })
      const first = await send('1')
      for (let time = 0; time < 2; time++) assert.equal((await send('2')).status, 503)
      runs[0]!.end()
      await first.text()
      const again = send('2')
      await eventually(() => runs.length === 2)
      runs[1]!.end()
      assert.equal((await again).status, 200)
      await (await again).text()
    }
  }
})

test('a chat that a stop sequence ends is kept up to there', async (t) => {
  const { options, count } = agentOf()
  const server = serve(t, options)
  const body = { model, stream: true, stop: 'STOP', messages: [{ role: 'user', content: 'pieces' }] }
  const send = (): Response | Promise<Response> => (
    server.fetch(request('/v1/chat/completions', body, { 'idempotency-key': 'k' }))
  )
  const said = await (await send()).text()
  assert.match(said, /"finish_reason":"stop"[\s\S]*\[DONE\]\n\n$/)
  assert.doesNotMatch(said, /three/)
  const again = await send()
  assert.ok(isReplayed(again))
  assert.equal(await again.text(), said)
  assert.equal(count(), 1)
})

test('a run of AG-UI that asks asks the same when it is sent again', async (t) => {
  let count = 0
  const run = async (_prompt: string, call: Call): Promise<string> => {
    count++
    await call.elicit({ message: 'Sure?', schema: { type: 'object', properties: {} } })
    return 'done'
  }
  const server = serve(t, { agents: [{ name: 'Agent', run }] })
  const face = faces.find(({ name }) => name === 'agui')!
  const said = await (await server.fetch(ask(face, 'hi'))).text()
  assert.match(said, /"type":"interrupt"/)
  const again = await server.fetch(ask(face, 'hi'))
  assert.ok(isReplayed(again))
  assert.equal(await again.text(), said)
  assert.equal(count, 1)
})

test('a response in the background is begun once', async (t) => {
  const { options, runs, count } = agentOf()
  const server = serve(t, options)
  const send = (): Response | Promise<Response> => server.fetch(request(
    '/v1/responses', { model, input: 'wait', background: true }, { 'idempotency-key': 'k' },
  ))
  const begun = await jsonOf(await send())
  assert.deepEqual(await jsonOf(await send()), begun)
  assert.equal(count(), 1)
  runs[0]!.end()
  const path = `/v1/responses/${String(begun['id'])}`
  await eventually(async () => (await jsonOf(await server.fetch(request(path))))['status'] === 'completed')
})

test('after a response before it is missed, the key is free', async (t) => {
  const { options, count } = agentOf()
  const server = serve(t, options)
  const send = (): Response | Promise<Response> => server.fetch(request(
    '/v1/responses', { model, input: 'now', previous_response_id: 'resp_none' }, { 'idempotency-key': 'k' },
  ))
  for (let time = 0; time < 2; time++) assert.equal((await send()).status, 400)
  assert.equal(count(), 0)
})

test('where a key cannot be looked up, nothing is run', async (t) => {
  const { options, count } = agentOf()
  const store = sharedStore()
  const server = serve(t, { ...options, store })
  store.failWith(new Error('away'))
  for (const face of faces) {
    const response = await server.fetch(ask(face, 'now'))
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1'])
    const document = await jsonOf(response)
    const { message } = face.isOpenai === true ? document['error'] as { message: unknown }
      : { message: document['detail'] }
    assert.match(String(message), /Idempotency-Key cannot be looked up now/)
  }
  assert.equal(count(), 0)
})

test('the description lists the key where it is taken', async (t) => {
  const { options } = agentOf()
  const server = serve(t, options)
  const { paths } = await jsonOf(await server.fetch(request('/openapi.json')))
  for (const { path } of [...faces, { path: '/' }, { path: '/agents/agent/agui' }]) {
    const { post } = (paths as Record<string, { post: Record<string, unknown> }>)[path]!
    const parameters = post!['parameters'] as readonly Record<string, unknown>[]
    assert.ok(parameters.some(({ name }) => name === 'Idempotency-Key'), path)
    const responses = post!['responses'] as Record<string, Record<string, unknown>>
    assert.ok('Idempotent-Replayed' in (responses['200']!['headers'] as object), path)
    assert.ok('409' in responses && '422' in responses, path)
  }
})
