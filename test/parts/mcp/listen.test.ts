/**
 * `subscriptions/listen`, and what follows it: nobody is told of what he may not read.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { allRevisions, begin, modern, serveMcp } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Json } from '../../fixtures/events.ts'

const guest = { 'X-API-Key': 'key-of-the-guest' }
const host = { 'X-API-Key': 'key-of-the-host' }

/** One who watches an address, and what he is told of. */
async function watcher(
  server: TriportServer, revision: string, headers: Record<string, string>, uri: string,
): Promise<() => Promise<string>> {
  let stream: EventStream
  if (revision === '2026-07-28') {
    const notifications = { resourceSubscriptions: [uri], toolsListChanged: true }
    stream = new EventStream(await modern(server, 'subscriptions/listen', { notifications }, { headers }))
    assert.match((await stream.next()).method, /acknowledged/)
  } else {
    const session = await begin(server, revision, {}, headers)
    stream = await session.listen()
    assert.deepEqual((await session.ask('resources/subscribe', { uri })).result, {})
  }
  return async () => {
    for (;;) {
      const { method, params }: Json = await stream.next()
      if (method === 'notifications/resources/updated') return params.uri
      if (method !== 'notifications/tools/list_changed') continue
      await stream.cancel()
      return 'end'
    }
  }
}

for (const revision of allRevisions) {
  test(`${revision}: a notice needs the scopes of what it is about, as they are then`, async (t) => {
    const free = { uri: 'test://docs', name: 'docs', read: () => 'free' }
    const server = serveMcp(t, {
      apiKey: [
        { id: 'guest', key: 'key-of-the-guest', scopes: [] },
        { id: 'host', key: 'key-of-the-host', scopes: ['secret'] },
      ],
      tools: [{ name: 'tool', run: () => '' }],
      resources: [free],
      resourceTemplates: [
        { uriTemplate: 'test://docs/secret/{id}', name: 'secret', scopes: ['secret'], read: () => 'secret' },
        { uriTemplate: 'test://docs/free/{id}', name: 'free', read: () => 'free' },
      ],
    })
    const [one, two] = [
      await watcher(server, revision, guest, 'test://docs'),
      await watcher(server, revision, host, 'test://docs'),
    ]
    const { catalog } = server
    // What is below a watched address is watched, though it may need more than that.
    for (const path of ['', '/secret/1', '/free/1']) catalog.updated(`test://docs${path}`)
    assert.deepEqual([await one(), await one()], ['test://docs', 'test://docs/free/1'])
    assert.deepEqual([await two(), await two(), await two()],
      ['test://docs', 'test://docs/secret/1', 'test://docs/free/1'])
    // A thing may get its scopes after somebody has begun to watch it.
    catalog.remove('resource', 'test://docs')
    catalog.add({ ...free, scopes: ['secret'] })
    catalog.updated('test://docs')
    catalog.add({ name: 'last', run: () => '' })
    const told = [await one(), await two(), await two()]
    assert.deepEqual(told, ['end', 'test://docs', 'end'])
  })
}

test('a client that reads no events is told 406, whatever it wants to hear', async (t) => {
  const server = serveMcp(t, { tools: [{ name: 'tool', run: () => '' }] })
  for (const notifications of [{}, { toolsListChanged: true }, undefined]) {
    for (const Accept of ['application/json', 'text/event-stream;q=0, application/json', 'application/*']) {
      const headers = { Accept }
      const response = await modern(server, 'subscriptions/listen', { notifications }, { headers })
      assert.equal(response.status, 406, Accept)
      assert.match((await response.json() as Json).error.data.detail, /text\/event-stream/)
    }
  }
})

test('the addresses of one listener are bounded, each and together', async (t) => {
  const server = serveMcp(t, { resources: [{ uri: 'test://r', name: 'r', read: () => '' }] })
  const address = (bytes: number, n = 0): string => `test://${n}/`.padEnd(bytes, 'x')
  const many = (count: number): string[] => Array.from({ length: count }, (_, n) => address(8_192, n))
  for (const [uris, isTaken] of [
    [[address(8_192)], true], [[address(8_193)], false], [['\u00fc'.repeat(4_097)], false],
    [many(32), true], [[...many(32), 'x'], false],
  ] as const) {
    const notifications = { resourceSubscriptions: uris }
    const response = await modern(server, 'subscriptions/listen', { notifications })
    const type = response.headers.get('content-type')
    assert.equal(type, isTaken ? 'text/event-stream' : 'application/json', String(uris.length))
    await response.body?.cancel()
  }
})
