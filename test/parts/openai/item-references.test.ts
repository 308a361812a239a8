import assert from 'node:assert/strict'
import test from 'node:test'
import { memoryStore } from '../../../lib/index.ts'
import { eventually, jsonOf, request, serve } from '../../fixtures/client.ts'
import type { Call, ServerOptions, TriportServer } from '../../../lib/index.ts'

type Json = Readonly<Record<string, any>>

/** Says what it was asked, and what it has heard before. */
const listener = {
  name: 'Agent',
  run(prompt: string, call: Call) {
    const { history, clientTools: [tool], clientToolResults: [done] } = call
    call.event({ type: 'reasoning', text: 'Let me see.' })
    if (tool !== undefined && done === undefined) {
      return { toolCalls: [{ name: tool.name, args: { of: 'tea' } }] }
    }
    const heard = [...history.map(({ content }) => content), prompt]
    return (done === undefined ? heard : [...heard, done.result]).join(' | ')
  },
}
const find = { type: 'function', name: 'find', parameters: { type: 'object' } }
const hello = { role: 'user', content: 'Hello' }

async function ask(server: TriportServer, body: object, headers = {}, path = ''): Promise<Json> {
  const asked = request(`/v1/responses${path}`, { model: 'agent', ...body }, headers)
  const response = await server.fetch(asked)
  return { status: response.status, ...await jsonOf(response) }
}

async function asked(server: TriportServer, body: object, headers = {}): Promise<Json> {
  const response = await ask(server, body, headers)
  assert.equal(response['status'], 'completed', JSON.stringify(response))
  return response
}

function referred(id: unknown): Json { return { type: 'item_reference', id } }
function idsOf({ output }: Json): readonly Json[] { return output.map(({ id }: Json) => referred(id)) }
function textOf({ output }: Json): unknown { return output.at(-1).content?.[0].text }

test('a reference is the item that was given, over turns, with reasoning and a tool', async (t) => {
  const server = serve(t, { agents: [listener] })
  const first = await asked(server, { input: [hello], tools: [find] })
  assert.deepEqual(first['output'].map(({ type }: Json) => type), ['reasoning', 'function_call'])
  const result = { type: 'function_call_output', call_id: first['output'][1].call_id, output: 'Sencha' }
  const sofar = [hello, ...idsOf(first), result]
  const second = await asked(server, { input: sofar, tools: [find] })
  assert.equal(textOf(second), 'Hello | Sencha')
  const input = [...sofar, ...idsOf(second), { role: 'user', content: 'And now?' }]
  const third = await asked(server, { input })
  const heard = 'Hello | find({"of":"tea"}) | find returned: Sencha | Hello | Sencha | And now?'
  assert.equal(textOf(third), heard)
  // A response goes on from one whose items were referred to.
  const again = { role: 'user', content: 'And then?' }
  const fourth = await asked(server, { previous_response_id: third['id'], input: [again] })
  assert.equal(textOf(fourth), `${heard} | ${heard} | And then?`)
  // They are shown as what they are.
  const path = `/v1/responses/${third['id']}/input_items?order=asc`
  const { data } = await jsonOf(await server.fetch(request(path))) as Json
  assert.deepEqual(data.map(({ type }: Json) => type), [
    'message', 'reasoning', 'function_call', 'function_call_output', 'reasoning', 'message', 'message',
  ])
  // So are those of a list taken back.
  const taken = await asked(server, { input: [referred(data[5].id), again] })
  assert.equal(textOf(taken), 'Hello | Sencha | And then?')
})

test('each item of a response has an id of its own, which no other has', async (t) => {
  const server = serve(t, { agents: [listener] })
  const responses = await Promise.all([1, 2].map(() => asked(server, { input: [hello] })))
  const ids = responses.flatMap(({ output }) => output.map(({ id }: Json) => id))
  assert.deepEqual([new Set(ids).size, ids.length], [4, 4])
  for (const id of ids) assert.match(id, /^(?:rs|msg)_[0-9a-f]+$/)
})

test('a reference without its type is one, and one that comes twice is one item', async (t) => {
  const server = serve(t, { agents: [listener] })
  const first = await asked(server, { input: [hello] })
  const [, { id }] = first['output']
  const more = { role: 'user', content: 'More' }
  assert.equal(textOf(await asked(server, { input: [{ id }, referred(id), more] })), 'Hello | More')
  const next = { previous_response_id: first['id'], input: [referred(id), more] }
  assert.equal(textOf(await asked(server, next)), 'Hello | Hello | More')
  const compacted = await ask(server, { input: [hello, referred(id)] }, {}, '/compact')
  assert.equal(textOf(await asked(server, { input: [...compacted['output'], more] })), 'Hello | Hello | More')
})

test('an item that the caller does not have is not found, by its id', async (t) => {
  const server = serve(t, {
    agents: [listener],
    apiKey: [{ key: 'a'.repeat(24), id: 'one' }, { key: 'b'.repeat(24), id: 'two' }],
  })
  const [one, two] = ['a', 'b'].map((letter) => ({ 'x-api-key': letter.repeat(24) }))
  const kept = await asked(server, { input: [hello] }, one)
  const unkept = await asked(server, { input: [hello], store: false }, one)
  const missing = async (id: unknown, headers = one): Promise<void> => {
    const { status, error } = await ask(server, { input: [referred(id), hello] }, headers)
    assert.deepEqual([status, error.param, error.code], [404, 'input[0].id', 'not_found'])
    assert.match(error.message, /^Item with id '.{1,80}' not found/)
  }
  const [{ id }] = kept['output']
  await missing(id, two)
  await missing(unkept['output'][0].id)
  await missing(`${id}ff`)
  for (const made of ['msg_1', 'item', 'x'.repeat(200), `msg_${'0'.repeat(34)}`]) await missing(made)
  assert.equal((await ask(server, { input: [referred(1), hello] }, one))['status'], 400)
  await asked(server, { input: [referred(id), hello] }, one)
  await server.fetch(request(`/v1/responses/${kept['id']}`, undefined, one, 'DELETE'))
  await missing(id)
})

test('another process of the same store takes a reference back', async (t) => {
  const store = { ...memoryStore(), isShared: true }
  const options: ServerOptions = { agents: [listener], store }
  const [one, other] = [serve(t, options), serve(t, options)]
  const first = await asked(one, { input: [hello] })
  const next = { input: [...idsOf(first), { role: 'user', content: 'More' }] }
  assert.equal(textOf(await asked(other, next)), 'Hello | More')
})

test('what is referred to holds no more together than a body may', async (t) => {
  const agents = [{ name: 'Agent', run: () => 'x'.repeat(20_000) }]
  const server = serve(t, { agents, maxBodyBytes: 50_000 })
  const items: Json[] = []
  for (let count = 0; count < 3; count++) items.push(...idsOf(await asked(server, { input: [hello] })))
  const statuses: unknown[] = []
  for (const count of [1, 2, 3]) {
    statuses.push((await ask(server, { input: [...items.slice(0, count), hello] }))['status'])
  }
  assert.deepEqual(statuses, ['completed', 'completed', 413])
})

test('what a client has seen of a response is taken back, also where it failed or was left', async (t) => {
  let isLeft: (signal: AbortSignal) => void = () => {}
  const left = new Promise<AbortSignal>((resolve) => { isLeft = resolve })
  const server = serve(t, { agents: [{
    name: 'Agent',
    async* run(prompt, { history, signal }) {
      yield `${history.map(({ content }) => content).join(' | ')} ${prompt}`
      if (prompt === 'Fail') throw new Error('secret')
      if (prompt !== 'Leave') return
      isLeft(signal)
      await new Promise((resolve) => { signal.addEventListener('abort', resolve) })
      signal.throwIfAborted()
    },
  }] })
  const stream = async (prompt: string): Promise<Response> => {
    const body = { model: 'agent', input: prompt, stream: true }
    return server.fetch(request('/v1/responses', body))
  }
  const idIn = (events: string): string => /"item_id":"(msg_[0-9a-f]+)"/.exec(events)![1]!
  const goOn = async (id: string): Promise<unknown> => {
    const input = [hello, referred(id), { role: 'user', content: 'More' }]
    return textOf(await asked(server, { input }))
  }
  const failed = await (await stream('Fail')).text()
  const { response: { status, output } } = JSON.parse(/\{"type":"response.failed".*/.exec(failed)![0]) as Json
  assert.deepEqual([status, output[0].status, output[0].content[0].text], ['failed', 'incomplete', ' Fail'])
  assert.equal(await goOn(idIn(failed)), 'Hello |  Fail More')

  const reader = (await stream('Leave')).body!.getReader()
  const decoder = new TextDecoder()
  let events = ''
  while (!events.includes('output_text.delta')) events += decoder.decode((await reader.read()).value)
  const signal = await left
  await reader.cancel()
  if (!signal.aborted) await new Promise((resolve) => { signal.addEventListener('abort', resolve) })
  const id = idIn(events)
  await eventually(async () => {
    const { status: state } = await ask(server, { input: [hello, referred(id)] })
    return state === 'completed'
  })
  assert.equal(await goOn(id), 'Hello |  Leave More')
})

test('a reference beside the item itself says nothing', async (t) => {
  const server = serve(t, { agents: [listener] })
  const first = await asked(server, { input: [hello] })
  const [reasoning, message] = first['output']
  const [itself, thought] = [referred(message.id), referred(reasoning.id)]
  for (const input of [[message, itself], [itself, message, thought]]) {
    const again = await asked(server, { input: [hello, ...input, { role: 'user', content: 'Again' }] })
    assert.equal(textOf(again), 'Hello | Hello | Again')
  }
})
