import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import { echo, listen, request } from '../../fixtures/client.ts'
import type { IncomingMessage } from 'node:http'

const encodings: readonly (readonly [accepted: string | undefined, isPacked: boolean])[] = [
  ['gzip', true], ['gzip, deflate, br, zstd', true], ['br;q=1.0, GZIP;q=0.8, *;q=0.1', true],
  ['deflate,gzip', true], ['gzip ; q=0.01', true], ['gzip;q=0', false], ['gzip; q=0.000, br', false],
  ['br', false], ['x-gzip', false], ['gzipped', false], ['identity', false], ['', false], [undefined, false],
]

test('what stays the same for long is packed for those who take it so', async (t) => {
  const { url } = await listen(t, { agents: [echo] })
  for (const path of ['/docs', '/openapi.json']) {
    const page = await (await fetch(url + path)).text()
    assert.ok(page.length > 1_000)
    for (const [accepted, isPacked] of encodings) {
      const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
      const [response] = await once(get(url + path, { headers }), 'response') as [IncomingMessage]
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      assert.equal(response.headers['content-encoding'], isPacked ? 'gzip' : undefined, accepted)
      assert.match(String(response.headers.vary), /Accept-Encoding/)
      assert.equal(String(isPacked ? gunzipSync(body) : body), page, accepted)
    }
  }
})

test('without a socket nothing is packed: that is the matter of hosts', async (t) => {
  const { server } = await listen(t, { agents: [echo] })
  const response = await server.fetch(request('/docs', undefined, { 'accept-encoding': 'gzip' }))
  assert.equal(response.headers.get('content-encoding'), null)
  assert.match(await response.text(), /^<!doctype html>/i)
})
