/** The real OpenTelemetry: spans and metrics of calls over every protocol, the trace context in and out. */
import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import { test } from 'node:test'
import { missing } from './start.mjs'

const skip = missing('@opentelemetry/api', '@opentelemetry/sdk-trace-base', '@opentelemetry/sdk-metrics')
if (skip) console.log(`telemetry: skipped: ${skip}`)
const load = (name) => skip ? {} : import(name)
const api = await load('@opentelemetry/api')
const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = await load(
  '@opentelemetry/sdk-trace-base',
)
const {
  AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader,
} = await load('@opentelemetry/sdk-metrics')
const { AsyncLocalStorageContextManager } = await load('@opentelemetry/context-async-hooks')
const { W3CTraceContextPropagator } = await load('@opentelemetry/core')
const { createServer, openaiAgent } = await import('../../dist/index.js')

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${TRACE}-b7ad6b7169203331-01`

/** A model that answers at once, and keeps the headers that it gets. */
async function startModel(t) {
  const asked = []
  const model = createHttpServer((request, response) => {
    asked.push(request.headers)
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(
      'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}],'
        + '"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\ndata: [DONE]\n\n',
    )
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => { model.once('listening', resolve) })
  t.after(() => model.close())
  return { baseUrl: `http://127.0.0.1:${model.address().port}/v1`, asked }
}

/** A webhook that keeps the headers that it gets. */
async function startHook(t) {
  const posted = []
  const hook = createHttpServer((request, response) => {
    posted.push(request.headers)
    request.resume().on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => { hook.once('listening', resolve) })
  t.after(() => hook.close())
  return { hook: `http://127.0.0.1:${hook.address().port}/secret`, posted }
}

async function ask(url, path, body, headers = {}) {
  const response = await fetch(url + path, {
    method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body),
  })
  return response.text()
}

test('calls are spans of the trace that they came with, and are measured', { skip }, async (t) => {
  const spans = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 1_000_000 })
  const meters = new MeterProvider({ readers: [reader] })
  api.trace.setGlobalTracerProvider(provider)
  api.metrics.setGlobalMeterProvider(meters)
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  const { baseUrl, asked } = await startModel(t)
  const { hook, posted } = await startHook(t)

  const inner = (text) => api.trace.getTracer('own').startSpan(text).end()
  const server = createServer({
    openTelemetry: api, log: false, protocol: 'all',
    a2a: { pushNotifications: { allowInsecure: true, allowPrivate: true } },
    groups: [{
      name: 'Desk', mode: 'parallel', agents: [
        { name: 'One', run: async () => { inner('of one'); return 'a' } }, { name: 'Two', run: () => 'b' },
      ],
    }],
    agents: [openaiAgent({ name: 'Model', baseUrl, log: false })],
    tools: [
      { name: 'add', inputSchema: { type: 'object' }, run: () => { inner('of add'); return '3' } },
      { name: 'fail', inputSchema: { type: 'object' }, run: () => { throw new Error('No ink') } },
    ],
  })
  const { url } = await server.listen(0)
  t.after(() => server.close())

  const call = (name, more = {}) => ({
    jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, ...more },
  })
  await ask(url, '/', { query: 'hi' }, { traceparent })
  await ask(url, '/agents/model', { query: 'hi', session_id: 'session-1' }, { traceparent })
  const accept = { accept: 'application/json, text/event-stream' }
  await ask(url, '/mcp', call('add', { _meta: { traceparent } }), accept)
  await ask(url, '/mcp', call('fail'), accept)
  const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
  const send = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  await ask(url, '/agents/model/a2a', send, { 'a2a-version': '1.0', traceparent })
  const pushed = { message, configuration: { taskPushNotificationConfig: { url: hook } } }
  await ask(url, '/a2a', { ...send, params: pushed }, { 'a2a-version': '1.0', traceparent })
  const { setTimeout: pause } = await import('node:timers/promises')
  while (posted.length === 0 || server.status().webhooks.waiting > 0) await pause(5)
  await provider.forceFlush()

  const all = spans.getFinishedSpans()
  const named = (name) => all.filter((span) => span.name === name)
  const idOf = (span) => span.spanContext().spanId
  const [desk] = named('invoke_workflow Desk')
  assert.equal(desk.spanContext().traceId, TRACE)
  assert.equal(desk.parentSpanContext.spanId, 'b7ad6b7169203331')
  assert.equal(desk.kind, api.SpanKind.SERVER)
  assert.equal(desk.attributes['gen_ai.workflow.name'], 'Desk')
  for (const name of ['invoke_agent One', 'invoke_agent Two']) {
    assert.equal(named(name)[0].parentSpanContext.spanId, idOf(desk), name)
  }
  assert.equal(named('of one')[0].parentSpanContext.spanId, idOf(named('invoke_agent One')[0]))

  const models = named('invoke_agent Model')
  assert.deepEqual(models.map((span) => span.spanContext().traceId), [TRACE, TRACE])
  assert.equal(models[0].attributes['gen_ai.conversation.id'], 'session-1')
  assert.equal(models[0].attributes['gen_ai.usage.input_tokens'], 3)
  assert.deepEqual(asked.map((headers) => headers.traceparent), models.map((span) => (
    `00-${TRACE}-${idOf(span)}-01`
  )))

  const posts = named('POST')
  assert.equal(posts.length > 0, true)
  const sent = posted.map((headers) => headers.traceparent.slice(36, 52))
  assert.deepEqual(posts.map(idOf).toSorted(), sent.toSorted())
  for (const post of posts) {
    assert.equal(post.spanContext().traceId, TRACE)
    assert.equal(post.kind, api.SpanKind.CLIENT)
    assert.equal(post.attributes['http.response.status_code'], 200)
    assert.doesNotMatch(JSON.stringify(post.attributes), /secret/)
  }

  const [add] = named('tools/call add')
  assert.equal(add.spanContext().traceId, TRACE)
  const about = ['mcp.method.name', 'gen_ai.operation.name', 'gen_ai.tool.name']
  assert.deepEqual(about.map((name) => add.attributes[name]), ['tools/call', 'execute_tool', 'add'])
  assert.equal(named('of add')[0].parentSpanContext.spanId, idOf(add))
  const [fail] = named('tools/call fail')
  assert.deepEqual([fail.status.code, fail.attributes['error.type']], [api.SpanStatusCode.ERROR, 'internal'])
  assert.match(fail.events[0].attributes['exception.message'], /No ink/)

  await reader.forceFlush()
  const measured = metrics.getMetrics()[0].scopeMetrics.flatMap((scope) => scope.metrics)
  const pointsOf = (name) => measured.find(({ descriptor }) => descriptor.name === name).dataPoints
  assert.deepEqual(pointsOf('mcp.server.operation.duration').map(({ attributes }) => (
    attributes['gen_ai.tool.name']
  )).toSorted(), ['add', 'fail'])
  const input = pointsOf('gen_ai.client.token.usage').filter(({ attributes }) => (
    attributes['gen_ai.token.type'] === 'input'
  ))
  assert.equal(input.reduce((sum, { value }) => sum + value.sum, 0), 6)
})
