import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import type { TestContext } from 'node:test'
import type { Call, ServerOptions, TriportServer } from '../../../lib/index.ts'

type Json = Readonly<Record<string, any>>

/** Says what it has heard so far. */
const listener = {
  name: 'Agent',
  run: (prompt: string, { history }: Call) => [...history.map(({ content }) => content), prompt].join(' | '),
}

function serving(t: TestContext, options: Partial<ServerOptions> = {}): TriportServer {
  return serve(t, { agents: [listener], ...options })
}

const textOf = ({ output }: Json): unknown => output[0].content[0].text

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
  const server = serving(t)
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
  const server = serving(t, { apiKey })
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
  const server = serving(t, { maxBodyBytes: 20_000 })
  const { output: [item] } = await compacted(server, { input: 'x'.repeat(15_000) })
  assert.ok(item.encrypted_content.length < 1_000)
  const ask = async (count: number): Promise<number> => {
    const input = [...Array<Json>(count).fill(item), { role: 'user', content: 'a' }]
    return (await server.fetch(request('/v1/responses', { model: 'agent', input }))).status
  }
  assert.deepEqual([await ask(1), await ask(2), await ask(20)], [200, 413, 413])
})

test('what cannot be made into one item is refused', async (t) => {
  const server = serving(t)
  const refusals: readonly (readonly [body: object, status: number, param: string])[] = [
    [{ model: undefined, input: 'a' }, 400, 'model'],
    [{ model: 'nobody', input: 'a' }, 404, 'model'],
    [{}, 400, 'input'],
    [{ input: [] }, 400, 'input'],
    [{ input: [{ type: 'compaction_trigger' }] }, 400, 'input[0].type'],
    // It could not be read behind the item either, and nobody could mend it there.
    [{ input: [{ role: 'user', content: 1 }] }, 400, 'input[0].content'],
    [{ input: [{ role: 'user', content: 'a' }, { role: 'bot', content: 'b' }] }, 400, 'input[1].role'],
    [{ input: 'a', instructions: 1 }, 400, 'instructions'],
    [{ previous_response_id: 'resp_none' }, 400, 'previous_response_id'],
  ]
  for (const [body, status, param] of refusals) {
    const { status: got, error } = await compacted(server, body)
    assert.deepEqual([got, error.param], [status, param], JSON.stringify(body))
  }
})

test('compactions hold no more objects together than a body may', async (t) => {
  const server = serving(t, { maxObjects: 1_000 })
  const content = Array.from({ length: 600 }, () => ({ type: 'input_text', text: 'a' }))
  const { output: [item] } = await compacted(server, { input: [{ role: 'user', content }] })
  const ask = async (count: number): Promise<number> => {
    const input = [...Array<Json>(count).fill(item), { role: 'user', content: 'a' }]
    return (await server.fetch(request('/v1/responses', { model: 'agent', input }))).status
  }
  assert.deepEqual([await ask(1), await ask(2)], [200, 413])
})
