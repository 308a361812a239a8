import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import test from 'node:test'
import { defineTool, Fault, openaiAgent } from '../../../lib/index.ts'
import { postTraced } from '../../../lib/parts/telemetry/telemetry.ts'
import { request, serve } from '../../fixtures/client.ts'
import { recorded } from '../../fixtures/telemetry.ts'
import { begin } from '../mcp/client.ts'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Agent, Call, ServerOptions, Tool, TriportServer } from '../../../lib/index.ts'

/** A model that calls the tool `add` once, where it has one, and keeps the headers that it gets. */
async function modelFor(t: TestContext): Promise<{ baseUrl: string; asked: unknown[] }> {
  const asked: unknown[] = []
  const model = createHttp(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += String(chunk)
    asked.push(req.headers['traceparent'])
    const call = { index: 0, id: '1', function: { name: 'add', arguments: '{}' } }
    const isFirst = /"tools"/.test(body) && !/"role":"tool"/.test(body)
    const delta = isFirst ? { tool_calls: [call] } : { content: 'ok' }
    res.writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`data: ${JSON.stringify({ choices: [{ delta, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`)
  }).listen(0, '127.0.0.1')
  await once(model, 'listening')
  t.after(() => model.close())
  return { baseUrl: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`, asked }
}

const counts = (_prompt: string, call: Call): string => {
  call.event({ type: 'usage', inputTokens: 3, outputTokens: 2 })
  return 'ok'
}

test('an agent of a group is within its span, as a stream too, and its tokens count once', async (t) => {
  for (const accept of ['application/json', 'text/event-stream']) {
    const { api, spans, tokens } = recorded()
    const agents = [{ name: 'One', run: counts }, { name: 'Two', run: counts }]
    const server = serve(t, { openTelemetry: api, groups: [{ name: 'Desk', mode: 'parallel', agents }] })
    const headers = { accept, traceparent: 'outside' }
    await (await server.fetch(request('/', { query: 'hi' }, headers))).text()
    assert.deepEqual(spans.map(({ name, kind, parent }) => [name, kind, parent]), [
      ['invoke_workflow Desk', 1, 'outside'],
      ['invoke_agent One', 0, 'invoke_workflow Desk'], ['invoke_agent Two', 0, 'invoke_workflow Desk'],
    ], accept)
    assert.deepEqual(tokens, [6, 4], accept)
  }
})

test('each member asks its model in its own span, and tools of a model are in the agent\'s', async (t) => {
  const { baseUrl, asked } = await modelFor(t)
  const { api, spans } = recorded()
  const model = (name: string, tools: readonly Tool[] = []): Agent => (
    openaiAgent({ name, baseUrl, tools, log: false })
  )
  const add = defineTool({ name: 'add', run: () => 3 })
  const agents = [model('One'), model('Two')]
  const server = serve(t, {
    openTelemetry: api, groups: [{ name: 'Desk', mode: 'parallel', agents }], agents: [model('Lone', [add])],
  })
  assert.equal((await server.fetch(request('/', { query: 'hi' }))).status, 200)
  assert.deepEqual(asked.toSorted(), ['invoke_agent One', 'invoke_agent Two'])
  assert.equal((await server.fetch(request('/agents/lone', { query: 'hi' }))).status, 200)
  const tool = spans.at(-1)
  assert.deepEqual([tool?.name, tool?.kind, tool?.parent], ['execute_tool add', 0, 'invoke_agent Lone'])
})

interface Finished {
  readonly name: string
  readonly kind: number
  readonly attributes: Record<string, unknown>
  readonly statuses: unknown[]
  readonly exceptions: unknown[]
  ended: number
}

/** An API that keeps all that is said to it. */
function watched() {
  const spans: Finished[] = []
  const records: (readonly [name: string, value: number, attributes: Record<string, unknown>])[] = []
  const made: unknown[] = []
  const api = {
    trace: {
      getTracer: (...given: unknown[]) => {
        made.push(given)
        return {
          startSpan(name: string, { kind, attributes }: Pick<Finished, 'kind' | 'attributes'>) {
            const span: Finished = {
              name, kind, attributes: { ...attributes }, statuses: [], exceptions: [], ended: 0,
            }
            spans.push(span)
            return Object.assign(span, {
              setAttributes: (more: object) => Object.assign(span.attributes, more),
              setStatus: (status: unknown) => span.statuses.push(status),
              recordException: (error: unknown) => span.exceptions.push(error),
              end: () => { span.ended++ },
            })
          },
        }
      },
      getSpan: () => undefined, setSpan: (context: object) => context,
    },
    context: { active: () => ({}), with: (_context: object, run: () => unknown) => run() },
    propagation: { extract: (context: object) => context, inject() {} },
    metrics: {
      getMeter: () => ({
        createHistogram: (name: string) => ({
          record: (value: number, attributes: object) => { records.push([name, value, { ...attributes }]) },
        }),
      }),
    },
  }
  return { api: api as unknown as NonNullable<ServerOptions['openTelemetry']>, spans, records, made }
}

const toolError = { isError: true, content: [{ type: 'text', text: 'no' }] } as const

function watching(t: TestContext): ReturnType<typeof watched> & { readonly server: TriportServer } {
  const all = watched()
  const server = serve(t, {
    openTelemetry: all.api, protocol: 'all', version: '3.2.1',
    agents: [{ name: 'Desk', run: counts }],
    tools: [
      { name: 'add', description: 'Adds.', run: () => 'ok' },
      { name: 'wrong', description: 'Is wrong.', run: () => toolError },
      {
        name: 'late', description: 'Fails.',
        run() { throw new Fault('upstream', 'Away', undefined, { cause: new Error('why') }) },
      },
      { name: 'broken', description: 'Breaks.', run() { throw new RangeError('broken') } },
      { name: 'odd', description: 'Throws a text.', run() { throw 'no error' } },
    ],
    resources: [{ name: 'Log', uri: 'test://log', read: () => 'text' }],
    prompts: [{ name: 'greet', description: 'Greets.', get: () => 'Hello' }],
  })
  return { ...all, server }
}

async function ofMcp(server: TriportServer, method: string, params: object): Promise<unknown> {
  const headers = { accept: 'application/json, text/event-stream' }
  const reply = await server.fetch(request('/mcp', { jsonrpc: '2.0', id: 1, method, params }, headers))
  return reply.text()
}

test('a span and the metrics say what was called, over which protocol', async (t) => {
  const { server, spans, records, made } = watching(t)
  await (await server.fetch(request('/tools/add', {}))).text()
  await ofMcp(server, 'tools/call', { name: 'add', arguments: {} })
  await ofMcp(server, 'resources/read', { uri: 'test://log' })
  await ofMcp(server, 'prompts/get', { name: 'greet' })
  const shown = spans.map(({ name, kind, ended, attributes, statuses, exceptions }) => {
    const { 'triport.request.id': id, ...rest } = attributes
    assert.equal(typeof id, 'string')
    assert.deepEqual([kind, ended, statuses, exceptions], [1, 1, [], []])
    return [name, rest]
  })
  const mcp = { 'triport.protocol': 'mcp' }
  assert.deepEqual(shown, [
    ['execute_tool add', {
      'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'add', 'triport.protocol': 'http',
    }],
    ['tools/call add', {
      ...mcp, 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'add',
      'mcp.method.name': 'tools/call',
    }],
    ['resources/read Log', { ...mcp, 'mcp.method.name': 'resources/read', 'mcp.resource.uri': 'test://log' }],
    ['prompts/get greet', { ...mcp, 'gen_ai.prompt.name': 'greet', 'mcp.method.name': 'prompts/get' }],
  ])
  assert.deepEqual(records.map(([name]) => name), [
    'gen_ai.client.operation.duration', 'mcp.server.operation.duration', 'gen_ai.client.operation.duration',
    'mcp.server.operation.duration', 'mcp.server.operation.duration',
  ])
  for (const [, seconds, attributes] of records) {
    assert.ok(seconds >= 0 && seconds < 60)
    assert.equal('triport.request.id' in attributes || 'mcp.resource.uri' in attributes, false)
    assert.equal(typeof attributes['triport.protocol'], 'string')
  }
  assert.deepEqual(made, [['triport', '3.2.1']])
})

test('a conversation is in the span of an agent, and what it used in its metrics', async (t) => {
  const { server, spans, records } = watching(t)
  await (await server.fetch(request('/', { query: 'hi', session_id: 'abcdefgh' }))).text()
  const [{ name, attributes } = assert.fail()] = spans
  assert.equal(name, 'invoke_agent Desk')
  assert.equal(attributes['gen_ai.conversation.id'], 'abcdefgh')
  assert.equal('mcp.session.id' in attributes, false)
  const { 'gen_ai.usage.input_tokens': input, 'gen_ai.usage.output_tokens': output } = attributes
  assert.deepEqual([input, output], [3, 2])
  const used = records.filter(([metric]) => metric === 'gen_ai.client.token.usage')
  assert.deepEqual(used.map(([, value, more]) => [value, more['gen_ai.token.type']]),
    [[3, 'input'], [2, 'output']])
  for (const [, , more] of records) assert.equal('gen_ai.conversation.id' in more, false)
  // What used nothing has no figure of it.
  await (await server.fetch(request('/tools/add', {}))).text()
  assert.equal('gen_ai.usage.input_tokens' in spans[1]!.attributes, false)
  assert.equal(records.length, 4)
})

test('a session of MCP is in the span of a call, and in no metric', async (t) => {
  const { server, spans, records } = watching(t)
  const session = await begin(server)
  await session.call('add')
  const { 'mcp.session.id': id, 'gen_ai.conversation.id': conversation } = spans[0]!.attributes
  assert.deepEqual([id, conversation], [session.id, undefined])
  assert.equal(records.length, 2)
  for (const [, , more] of records) assert.equal('mcp.session.id' in more, false)
})

test('who uses nothing behind one who does has no figure of what that one used', async (t) => {
  const { api, spans } = watched()
  const agents = [{ name: 'One', run: counts }, { name: 'Two', run: () => 'ok' }]
  const server = serve(t, { openTelemetry: api, groups: [{ name: 'Desk', agents }] })
  await (await server.fetch(request('/', { query: 'hi' }))).text()
  const used = spans.map(({ attributes }) => attributes['gen_ai.usage.input_tokens'])
  assert.deepEqual(used, [3, 3, undefined])
})

test('what failed is said by the span and the metrics, with its cause', async (t) => {
  const { server, spans, records } = watching(t)
  const names = ['wrong', 'late', 'broken', 'odd']
  for (const name of names) await ofMcp(server, 'tools/call', { name, arguments: {} })
  const shown = spans.map(({ attributes, statuses, exceptions, ended }) => (
    [attributes['error.type'], statuses, exceptions.map(String), ended]
  ))
  assert.deepEqual(shown, [
    ['tool_error', [{ code: 2, message: 'tool_error' }], [], 1],
    ['upstream', [{ code: 2, message: 'upstream' }], ['Error: why'], 1],
    ['internal', [{ code: 2, message: 'internal' }], ['RangeError: broken'], 1],
    // What is no error is no exception of a span.
    ['internal', [{ code: 2, message: 'internal' }], [], 1],
  ])
  const types = ['tool_error', 'upstream', 'internal', 'internal']
  assert.deepEqual(records.map(([, , { 'error.type': type }]) => type), types.flatMap((one) => [one, one]))
})

test('a post to another server is a span with its place and status, without its address', async () => {
  const places: readonly (readonly [url: string, port: number])[] = [
    ['https://a.example/secret', 443], ['http://a.example/secret', 80], ['https://a.example:8443/', 8443],
  ]
  for (const [url, port] of places) {
    for (const status of [200, 399, 400, 503]) {
      const failure = status < 400 ? undefined : String(status)
      const { api, spans } = watched()
      const answer = await postTraced(api, '1', { url, trace: {} }, async () => ({ status }))
      assert.equal(answer.status, status)
      const [{ name, kind, attributes, statuses, ended } = assert.fail()] = spans
      const said = failure === undefined ? [] : [{ code: 2 }]
      assert.deepEqual([name, kind, statuses, ended], ['POST', 2, said, 1])
      assert.deepEqual(attributes, {
        'http.request.method': 'POST', 'server.address': 'a.example', 'server.port': port,
        'http.response.status_code': status, ...failure !== undefined && { 'error.type': failure },
      })
    }
  }
  const { api, spans } = watched()
  const to = { url: 'https://a.example/', trace: {} }
  await assert.rejects(postTraced(api, '1', to, () => Promise.reject(new Error('x'))), /x/)
  const [{ attributes, statuses, ended } = assert.fail()] = spans
  assert.deepEqual([attributes['error.type'], statuses, ended], ['error', [{ code: 2 }], 1])
})
