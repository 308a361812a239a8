import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault, memoryStore } from '../../../lib/index.ts'
import { Metrics } from '../../../lib/parts/metrics/metrics.ts'
import { echo, eventually, jsonOf, listen, request, serve } from '../../fixtures/client.ts'
import type { CallInfo, RequestSummary, TriportServer } from '../../../lib/index.ts'

interface Line { readonly family: string; readonly labels: ReadonlyMap<string, string> }

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y

/** The figures by their lines. Throws for anything that the format does not have. */
function parse(text: string): ReadonlyMap<string, number> {
  assert.ok(text.endsWith('\n'))
  const figures = new Map<string, number>()
  const types = new Map<string, string>()
  let family = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const [, what, name = ''] = /^# (HELP|TYPE) (\S+) .+$/.exec(line) ?? []
    if (what === 'HELP') {
      assert.ok(NAME.test(name) && name !== family && !types.has(name), line)
      family = name
    } else if (what === 'TYPE') {
      assert.ok(name === family && /(counter|gauge|histogram)$/.test(line), line)
      types.set(name, line.split(' ').at(-1)!)
    } else {
      const [, full = '', labels = '', value] = LINE.exec(line) ?? []
      const suffix = types.get(family) === 'histogram' ? /_(?:bucket|sum|count)$/ : /$^/
      assert.equal(full.replace(suffix, ''), family, line)
      assert.deepEqual(labelsOf(labels).has('le'), full.endsWith('_bucket'), line)
      assert.ok(!figures.has(`${full}{${labels}}`), `twice: ${line}`)
      figures.set(`${full}{${labels}}`, Number(value))
    }
  }
  for (const [name, type] of types) assert.equal(name.endsWith('_total'), type === 'counter', name)
  return figures
}

function labelsOf(text: string): Line['labels'] {
  const labels = new Map<string, string>()
  for (LABEL.lastIndex = 0; LABEL.lastIndex < text.length;) {
    const [, name, value] = LABEL.exec(text) ?? assert.fail(`no label in ${text}`)
    assert.ok(!labels.has(name!), text)
    labels.set(name!, value!)
  }
  return labels
}

async function scrape(server: TriportServer): Promise<ReadonlyMap<string, number>> {
  return parse(await (await server.fetch(request('/metrics'))).text())
}

test('requests and calls are counted, timed, and shown in the text format of Prometheus', async (t) => {
  const agent = { name: 'Echo', run: (prompt: string) => {
    if (prompt === 'no') throw new Fault('forbidden', 'Not you')
    return prompt
  } }
  const server = serve(t, {
    agents: [agent],
    tools: [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' }, run: () => 3 }],
    metrics: true, protocol: 'all', name: 'A "quoted"\nname',
  })
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: {} } }
  const asked: readonly (readonly [path: string, body?: unknown, method?: string])[] = [
    ['/health'], ['/agents/echo'], ['/agents/nobody'], ['/nothing/1'], ['/nothing/2'], ['/health', {}],
    ['/agents/echo', { query: 'a' }], ['/agents/echo', { query: 'b' }], ['/agents/echo', { query: 'no' }],
    ['/messages/', call], ['/health', undefined, 'PROPFIND'], ['/health', undefined, 'REPORT'],
  ]
  for (const [path, body, method] of asked) {
    await (await server.fetch(request(path, body, {}, method))).text()
  }
  const figures = await scrape(server)
  const promised: readonly (readonly [line: string, value: number])[] = [
    ['triport_http_requests_total{method="GET",route="/health",status="200"}', 1],
    ['triport_http_requests_total{method="POST",route="/health",status="405"}', 1],
    ['triport_http_requests_total{method="other",route="/health",status="405"}', 2],
    ['triport_http_requests_total{method="GET",route="none",status="404"}', 2],
    ['triport_http_requests_total{method="GET",route="/agents/{agent}",status="200"}', 1],
    ['triport_http_requests_total{method="GET",route="/agents/{agent}",status="404"}', 1],
    ['triport_http_requests_total{method="POST",route="/agents/{agent}",status="200"}', 2],
    ['triport_http_requests_total{method="POST",route="/agents/{agent}",status="403"}', 1],
    ['triport_http_request_duration_seconds_count{method="POST",route="/agents/{agent}"}', 3],
    ['triport_http_request_duration_seconds_bucket{method="POST",route="/agents/{agent}",le="300"}', 3],
    ['triport_calls_total{kind="agent",name="Echo",protocol="http",outcome="ok"}', 2],
    ['triport_calls_total{kind="agent",name="Echo",protocol="http",outcome="forbidden"}', 1],
    ['triport_calls_total{kind="tool",name="add",protocol="mcp",outcome="ok"}', 1],
    ['triport_call_duration_seconds_count{kind="agent",name="Echo"}', 3],
    ['triport_call_duration_seconds_bucket{kind="tool",name="add",le="+Inf"}', 1],
    ['triport_info{name="A \\"quoted\\"\\nname",version="1.0.0"}', 1],
    ['triport_calls_running{}', 0], ['triport_tasks{state="running"}', 0], ['triport_mcp_sessions{}', 0],
    ['triport_conversations{}', server.status().conversations.count],
  ]
  for (const [line, value] of promised) assert.equal(figures.get(line), value, line)
  assert.equal([...figures.keys()].filter((line) => line.includes('nothing')).length, 0)
})

test('what runs now, and the process, are shown at each scrape', async (t) => {
  let resolve = (_text: string): void => {}
  const promise = new Promise<string>((done) => { resolve = done })
  const { server, url } = await listen(t, { agents: [() => promise], metrics: true, graceMs: 0 })
  const answer = fetch(`${url}/`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"a","stream":true}',
  })
  await eventually(async () => (await scrape(server)).get('triport_streams_open{}') === 1, 'a stream')
  const figures = await scrape(server)
  assert.equal(figures.get('triport_calls_running{}'), 1)
  assert.equal(figures.get('triport_mcp_sessions{}'), undefined, 'MCP is not served')
  assert.ok(figures.get('process_cpu_seconds_total{}')! > 0)
  assert.ok(figures.get('process_resident_memory_bytes{}')! > 1e6)
  assert.ok(Math.abs(figures.get('process_start_time_seconds{}')! - Date.now() / 1_000) < 3_600)
  assert.ok(figures.get('nodejs_active_resources{type="TCPServerWrap"}')! >= 1)
  resolve('done')
  await (await answer).text()
  const over = 'triport_http_requests_total{method="POST",route="/",status="200"}'
  await eventually(async () => (await scrape(server)).get(over) === 1, 'the stream is over')
  assert.equal((await scrape(server)).get('triport_streams_open{}'), 0)
})

const lag = 'nodejs_eventloop_lag_max_seconds{}'

test('how late the event loop was is shown from one scrape to the next', async (t) => {
  const server = serve(t, { agents: [echo], metrics: true })
  assert.equal((await scrape(server)).get(lag), 0, 'nothing was measured yet')
  // Each is blocked right after a scrape, where Node's own monitor would miss it.
  for (let round = 1; round <= 3; round++) {
    const end = performance.now() + 60
    while (performance.now() < end);
    // It looks with the timers.
    await new Promise((resolve) => setTimeout(resolve, 1))
    const late = (await scrape(server)).get(lag)!
    assert.ok(late >= 0.03, `a loop that was held up is late, round ${round}: ${late}`)
  }
  const figures = await scrape(server)
  for (const what of ['mean', 'p50', 'p99', 'max']) {
    const value = figures.get(`nodejs_eventloop_lag_${what}_seconds{}`)
    assert.ok(value !== undefined && value >= 0, `${what} ${value}`)
  }
})

test('whether a shared store answers is shown where there is one', async (t) => {
  const store = memoryStore({ isShared: true })
  const shared = serve(t, { agents: [echo], metrics: true, store })
  assert.equal((await scrape(shared)).get('triport_store_up{}'), 1)
  const alone = serve(t, { agents: [echo], metrics: true })
  assert.equal((await scrape(alone)).has('triport_store_up{}'), false)
})

test('calls of more than 300 names are timed as one of another name, and 2,000 are counted', () => {
  const metrics = new Metrics()
  const call = { kind: 'tool', protocol: 'mcp', outcome: 'ok', durationMs: 1 } as const
  for (let at = 0; at < 2_002; at++) metrics.countCall({ ...call, name: `tool-${at}` } as CallInfo)
  const facts = { name: 'a', version: '1', gauges: () => [], tasks: { running: 0, finished: 0 } as never }
  const reply = metrics.endpoint(facts).handle({} as never)
  const figures = parse(String(Reflect.get(reply, 'body')))
  const timed = [...figures.keys()].filter((line) => line.startsWith('triport_call_duration_seconds_count'))
  const counted = [...figures.keys()].filter((line) => line.startsWith('triport_calls_total'))
  assert.deepEqual([timed.length, counted.length], [301, 2_001])
  assert.equal(figures.get('triport_call_duration_seconds_count{kind="other",name="other"}'), 1_702)
  metrics.close()
})

test('metrics are there only when they are asked for, and behind the key', async (t) => {
  const off = serve(t, { agents: [echo], metrics: false })
  assert.equal((await off.fetch(request('/metrics'))).status, 404)
  assert.equal((await serve(t, { agents: [echo] }).fetch(request('/metrics'))).status, 404)

  const server = serve(t, { agents: [echo], metrics: true, apiKey: 'k', mountPath: '/team' })
  assert.equal((await server.fetch(request('/team/metrics'))).status, 401)
  const key = { 'x-api-key': 'k' }
  const response = await server.fetch(request('/team/metrics', undefined, key))
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const head = await server.fetch(request('/team/metrics', undefined, key, 'HEAD'))
  assert.deepEqual([head.status, await head.text()], [200, ''])
  assert.equal((await server.fetch(request('/team/metrics', {}, key))).status, 405)
  const { paths } = await jsonOf(await server.fetch(request('/team/openapi.json', undefined, key)))
  assert.ok('/metrics' in (paths as object))
})

test('listeners to requests and calls are called with metrics too', async (t) => {
  const seen: (RequestSummary | CallInfo)[] = []
  const server = serve(t, {
    agents: [echo], metrics: true,
    onCall: (info) => { seen.push(info) }, onRequest: (summary) => { seen.push(summary) },
  })
  await (await server.fetch(request('/', { query: 'a' }))).text()
  await eventually(() => seen.length === 2, 'both')
  assert.ok('outcome' in seen[0]! && 'route' in seen[1]!)
})
