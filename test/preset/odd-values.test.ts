/** Bodies of every face, in which each member in turn is something else: refused or taken, never a defect. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonOf, request, serve } from '../fixtures/client.ts'

type Json = Readonly<Record<string, any>>

/** What has no text, no members, no items, or means something elsewhere. */
const odd: readonly unknown[] = [
  null, 0, '', '\ud800', [], [null], { toString: 1 },
]

const schema = { type: 'object', properties: { a: { type: 'string' } } }
const called = { name: 'paint', arguments: '{}' }
const image = 'data:image/png;base64,YQ=='
const user = { id: '1', role: 'user' }

/** Bodies with all that each face knows. `item`: a compaction. */
function bodies(item: Json, previous: string): readonly (readonly [path: string, body: object])[] {
  const input = [
    { type: 'message', role: 'user', content: [
      { type: 'input_text', text: 'a' }, { type: 'input_image', image_url: image },
      { type: 'input_file', filename: 'a', file_data: image },
    ] },
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'a' }] },
    { type: 'function_call', call_id: 'c1', ...called, content: [{}] },
    { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'a' }] },
    item,
  ]
  const tool = { type: 'function', name: 'paint', parameters: schema }
  const format = { type: 'json_schema', name: 'a', schema }
  const response = { model: 'bot', input, tools: [tool], tool_choice: 'auto', text: { format } }
  return [
    ['/v1/responses', { ...response, store: false, stream: true, metadata: { a: 'b' }, instructions: 'a' }],
    ['/v1/responses', { ...response, text: {}, previous_response_id: previous }],
    ['/v1/responses/compact', { model: 'bot', input, previous_response_id: previous }],
    ['/v1/chat/completions', {
      model: 'bot', stream: true, stream_options: { include_usage: true }, stop: ['x'], metadata: { a: 'b' },
      messages: [
        { role: 'system', content: 'a' },
        { role: 'user', content: [
          { type: 'text', text: 'a' }, { type: 'image_url', image_url: { url: image } },
          { type: 'input_audio', input_audio: { data: 'YQ==', format: 'wav' } },
          { type: 'file', file: { file_data: image, filename: 'a' } },
        ] },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: called }] },
        { role: 'tool', tool_call_id: 'c1', content: 'a' },
      ],
      tools: [{ type: 'function', function: { name: 'paint', parameters: schema } }], tool_choice: 'auto',
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
    }],
    ['/agui', {
      threadId: 'thread-0001', runId: 'a', state: { a: 1 }, forwardedProps: { a: 1 }, resume: [],
      context: [{ description: 'a', value: 'b' }], tools: [{ name: 'paint', parameters: schema }],
      messages: [
        { ...user, content: [
          { type: 'text', text: 'a' },
          { type: 'image', source: { type: 'data', value: 'YQ==', mimeType: 'image/png' } },
        ] },
        { id: '2', role: 'assistant', content: 'a', toolCalls: [
          { id: 'c1', type: 'function', function: called },
        ] },
        { id: '3', role: 'tool', toolCallId: 'c1', content: 'a' },
      ],
    }],
    ['/ui-stream', {
      id: 'chat-0001', trigger: 'submit-message', tools: [{ name: 'paint', parameters: schema }],
      messages: [
        { ...user, parts: [
          { type: 'text', text: 'a' }, { type: 'file', mediaType: 'image/png', url: image, filename: 'a' },
        ] },
        { id: '2', role: 'assistant', parts: [
          { type: 'tool-paint', toolCallId: 'c1', state: 'output-available', input: {}, output: { a: 1 } },
          { type: 'dynamic-tool', toolName: 'b', toolCallId: 'c2', state: 'output-error', errorText: 'a' },
        ] },
      ],
    }],
    ['/agents/bot', {
      query: 'a', stream: true, conversation_id: 'conv-0001', metadata: { a: 1 },
      history: [{ role: 'user', content: 'a' }],
    }],
  ]
}

/** The same value, once for each of its members and odd values. */
function * changed(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    for (const other of [...odd, ...changed(member)]) {
      if (Array.isArray(value)) yield value.with(Number(name), other)
      else yield { ...value, [name]: other }
    }
  }
}

test('no member of a body is a defect, whatever it is', async (t) => {
  const defects: unknown[] = []
  const server = serve(t, {
    agents: [{ name: 'Bot', description: 'Says it again.', run: (prompt) => prompt }],
    log: (level, sentence, fields) => { if (level === 'error') defects.push([sentence, fields?.cause]) },
  })
  const ask = async (path: string, body: unknown): Promise<Json> => (
    await jsonOf(await server.fetch(request(path, body)))
  )
  const { output: [item] } = await ask('/v1/responses/compact', { model: 'bot', input: 'a' })
  const { id } = await ask('/v1/responses', { model: 'bot', input: 'a' })
  for (const [path, body] of bodies(item, id)) {
    const whole = await server.fetch(request(path, body))
    assert.equal(whole.status, 200, await whole.text())
    for (const one of changed(body)) {
      const response = await server.fetch(request(path, one))
      await response.text()
      const said = `${path} ${JSON.stringify(one)}`
      assert.deepEqual(defects, [], said)
      assert.ok(response.status < 500, said)
    }
  }
})
