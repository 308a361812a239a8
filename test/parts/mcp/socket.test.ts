/**
 * The MCP door over real sockets, where these make a difference: connections that break, readers that do
 * not keep up, and the end of the server.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import test from 'node:test'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { defineTool } from '../../../lib/index.ts'
import { eventually, gate } from '../../fixtures/client.ts'
import { begin, serveMcp, withMeta } from './client.ts'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { ServerEvent } from '../../../lib/floors/outbound/event-reader.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { Json } from '../../fixtures/events.ts'

/** A request whose answer is read event by event, or not at all. */
interface Open {
  readonly sent: ClientRequest
  readonly answer: IncomingMessage
  readonly events: ServerEvent[]
  /** Everything that came, as it came. */
  readonly text: () => string
}

async function open(
  url: string, method: string, headers: Record<string, string>, body?: object, isRead = true,
): Promise<Open> {
  const sent = request(`${url}/mcp`, { method, headers: { 'Content-Type': 'application/json', ...headers } })
  sent.on('error', () => {})
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [answer] = await once(sent, 'response') as [IncomingMessage]
  answer.on('error', () => {})
  const events: ServerEvent[] = []
  let text = ''
  const feed = eventReader((event) => events.push(event))
  if (isRead) {
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      feed(chunk)
    })
  }
  return { sent, answer, events, text: () => text }
}

const listen = (list: string): object => ({
  jsonrpc: '2.0', id: list, method: 'subscriptions/listen',
  params: withMeta({ notifications: { [list]: true } }),
})
const modernHeaders = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' }

async function listening(t: Scope, options: object): Promise<{ server: TriportServer; url: string }> {
  const server = serveMcp(t, options)
  const { url } = await server.listen(0)
  return { server, url }
}

test('a connection that breaks in the midst of a call is come back to, and nothing is lost', async (t) => {
  const tell: ((n: number) => void)[] = []
  const end = gate()
  const { server, url } = await listening(t, { tools: [{ name: 'tell', async run(_args: unknown, call: Json) {
    tell.push((n) => call.progress(n))
    await end.promise
    return 'done'
  } }] })
  const session = await begin(server)
  const sent = open(url, 'POST', session.headers, {
    jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'tell', _meta: { progressToken: 'p' } },
  })
  await eventually(() => tell.length === 1)
  tell[0]!(1)
  const first = await sent
  await eventually(() => first.events.length === 2)
  first.sent.destroy()
  await new Promise((resolve) => setTimeout(resolve, 20))
  tell[0]!(2)
  const again = await open(url, 'GET', { ...session.headers, 'Last-Event-ID': first.events[1]!.id })
  tell[0]!(3)
  end.open()
  await once(again.answer, 'end')
  const messages = again.events.map(({ data }) => JSON.parse(data))
  assert.deepEqual(messages.map(({ params, id }) => params?.progress ?? id), [2, 3, 1])
  await server.close()
})

test('a reader that does not keep up is dropped, and the others hear on', async (t) => {
  const { server, url } = await listening(t, {
    maxStreamBytes: 100_000, maxQueuedBytes: 10_000_000, tools: [defineTool({ name: 't', run: () => '' })],
    resources: [{ uri: 'test://r', name: 'r', read: () => '' }],
  })
  const uri = `test://r/${'x'.repeat(8_000)}`
  const watch = {
    jsonrpc: '2.0', id: 1, method: 'subscriptions/listen',
    params: withMeta({ notifications: { resourceSubscriptions: ['test://r'] } }),
  }
  const slow = await open(url, 'POST', modernHeaders, watch, false)
  const quick = await open(url, 'POST', modernHeaders, watch)
  let isGone = false
  slow.answer.on('close', () => { isGone = true })
  slow.answer.pause()
  for (let n = 0; n < 2_000; n++) {
    server.catalog.updated(uri)
    if (n % 10 === 9) await new Promise(setImmediate)
  }
  // What the kernel holds for it can still be read; then it is over, without the end that is due.
  slow.answer.resume()
  await eventually(() => isGone, 'the end of the slow reader')
  assert.equal(slow.answer.complete, false)
  await eventually(() => quick.events.length === 2_001, 'the last of the news')
  quick.sent.destroy()
  await server.close()
})

test('silence on a stream is broken by comments', async (t) => {
  const tools = [defineTool({ name: 't', run: () => '' })]
  const { server, url } = await listening(t, { heartbeatMs: 40, tools })
  const session = await begin(server)
  for (const stream of [
    await open(url, 'GET', { ...session.headers, Accept: 'text/event-stream' }),
    await open(url, 'POST', modernHeaders, listen('toolsListChanged')),
  ]) {
    await eventually(() => (stream.text().match(/^: \n\n/gm) ?? []).length >= 3, 'three comments')
    stream.sent.destroy()
  }
  await server.close()
})

test('the end of the server is the proper end of what waits', async (t) => {
  const { server, url } = await listening(t, { tools: [defineTool({ name: 't', run: () => '' })] })
  const session = await begin(server)
  const streams = [
    await open(url, 'GET', { ...session.headers, Accept: 'text/event-stream' }),
    await open(url, 'POST', modernHeaders, listen('toolsListChanged')),
  ]
  const ended = streams.map(({ answer }) => once(answer, 'end'))
  await server.close()
  await Promise.all(ended)
  for (const { answer } of streams) assert.equal(answer.complete, true)
  const last = JSON.parse(streams[1]!.events.at(-1)!.data)
  assert.equal(last.id, 'toolsListChanged')
  assert.equal(last.result.resultType, 'complete')
})

test('two hundred clients at one time, each on a connection of its own, get their own answers', async (t) => {
  const { server, url } = await listening(t, { tools: [{
    name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    async run({ text }: Json, call: Json) {
      call.progress(1)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
      return text
    },
  }] })
  const session = await begin(server)
  const said = await Promise.all(Array.from({ length: 200 }, async (_, n) => {
    const params = { name: 'echo', arguments: { text: `n${n}` }, _meta: { progressToken: 'same' } }
    const isModern = n % 2 === 0
    const headers = isModern
      ? { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'echo' }
      : n % 4 === 1 ? { ...session.headers } : {}
    const { answer, events } = await open(url, 'POST', headers as Record<string, string>, {
      jsonrpc: '2.0', id: n % 4 === 1 ? n : 1, method: 'tools/call',
      params: isModern ? withMeta(params, { meta: { progressToken: 'same' } }) : params,
    })
    await once(answer, 'end')
    const { result } = JSON.parse(events.at(-1)!.data)
    return result.content[0].text
  }))
  assert.deepEqual(said, Array.from({ length: 200 }, (_, n) => `n${n}`))
  await server.close()
})
