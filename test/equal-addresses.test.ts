/** An address is one by every spelling that its specification calls equal. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { begin, serveMcp } from './parts/mcp/client.ts'

const spellings: readonly (readonly [own: string, ...others: readonly string[]])[] = [
  ['https://example.com', 'https://example.com/', 'HTTPS://Example.COM:443', 'https://example.com./'],
  ['https://example.com/', 'https://example.com'],
  ['http://example.com:80/a%7Eb', 'http://EXAMPLE.com/a~b', 'http://example.com:080/a%7eb'],
  ['file:///notes/a.md', 'file:/notes/a.md', 'FILE://localhost/notes/a.md'],
  ['docs://Readme', 'DOCS://Readme'],
]

test('a resource is read and watched by every spelling of its address', async (t) => {
  for (const [own, ...others] of spellings) {
    const server = serveMcp(t, { resources: [{ uri: own, name: 'a', read: () => 'content' }] })
    for (const uri of [own, ...others]) {
      const session = await begin(server, '2025-11-25')
      const { result } = await session.ask('resources/read', { uri })
      assert.equal(result?.contents[0].text, 'content', `${own} ${uri}`)
      const stream = await session.listen()
      await session.ask('resources/subscribe', { uri })
      server.catalog.updated(own)
      assert.deepEqual((await stream.next()).params, { uri: own })
      await session.ask('resources/unsubscribe', { uri: own })
      await stream.cancel()
    }
  }
})

test('a template takes the host of the web in any case, and its variables as they are', async (t) => {
  const server = serveMcp(t, { resourceTemplates: [{
    uriTemplate: 'https://API.example.com/users/{id}', name: 'user', read: ({ id }) => String(id),
  }] })
  const session = await begin(server, '2025-11-25')
  for (const uri of ['https://api.example.com/users/Ann', 'HTTPS://API.EXAMPLE.COM/users/Ann']) {
    const { result } = await session.ask('resources/read', { uri })
    assert.equal(result?.contents[0].text, 'Ann', uri)
  }
})
