import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import test from 'node:test'
import { defineTool, openaiAgent } from '../../lib/index.ts'
import { request, serve } from '../fixtures/client.ts'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Agent, Call, ServerOptions, Tool } from '../../lib/index.ts'

interface Made { readonly name: string; readonly kind: number; readonly parent: string; readonly id: string }
interface Context { readonly span?: Made; readonly from?: string }

/** An API that keeps no context, as without a context manager: all goes by what is handed on. */
function recorded() {
  const spans: Made[] = []
  const tokens: number[] = []
  const api = {
    trace: {
      getTracer: () => ({
        startSpan(name: string, { kind }: { kind: number }, { span, from = '' }: Context) {
          const made = { name, kind, parent: span?.name ?? from, id: name }
          spans.push(made)
          return { ...made, setAttributes() {}, setStatus() {}, recordException() {}, end() {} }
        },
      }),
      getSpan: ({ span }: Context) => span,
      setSpan: (context: Context, span: Made): Context => ({ ...context, span }),
    },
    context: { active: (): Context => ({}), with: (_context: Context, run: () => unknown) => run() },
    propagation: {
      extract: (context: Context, { traceparent: from }: { traceparent?: string }): Context => (
        from === undefined ? context : { ...context, from }
      ),
      inject({ span }: Context, carrier: Record<string, string>) {
        carrier['traceparent'] = span?.name ?? ''
      },
    },
    metrics: {
      getMeter: () => ({
        createHistogram: (name: string) => ({
          record(value: number) { if (name === 'gen_ai.client.token.usage') tokens.push(value) },
        }),
      }),
    },
  }
  return { api: api as unknown as NonNullable<ServerOptions['openTelemetry']>, spans, tokens }
}

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
