import assert from 'node:assert/strict'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import { echo, request, serve } from '../fixtures/client.ts'

const encodings: readonly (readonly [accepted: string | undefined, isPacked: boolean])[] = [
  ['gzip', true], ['gzip, deflate, br, zstd', true], ['br;q=1.0, GZIP;q=0.8, *;q=0.1', true],
  ['deflate,gzip', true], ['gzip ; q=0.01', true], ['gzip;q=0', false], ['gzip; q=0.000, br', false],
  ['br', false], ['x-gzip', false], ['gzipped', false], ['identity', false], ['', false], [undefined, false],
]

test('what stays the same for long is packed for those who take it so', async (t) => {
  const server = serve(t, { agents: [echo] })
  for (const path of ['/docs', '/openapi.json']) {
    const page = await (await server.fetch(request(path))).text()
    assert.ok(page.length > 1_000)
    for (const [accepted, isPacked] of encodings) {
      const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
      const response = await server.fetch(request(path, undefined, headers))
      const body = Buffer.from(await response.arrayBuffer())
      assert.equal(response.headers.get('content-encoding'), isPacked ? 'gzip' : null, accepted)
      assert.match(String(response.headers.get('vary')), /Accept-Encoding/)
      assert.equal(String(isPacked ? gunzipSync(body) : body), page, accepted)
    }
  }
})
