import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, jsonOf, request, serve } from '../../fixtures/client.ts'

const refused: readonly (readonly [path: string, status: number, allow?: string])[] = [
  ['/agents/echo/agui', 405, 'POST'], ['/agents/nobody/agui', 404], ['/agents/echo/agui/more', 404],
]

test('what is not served says so in a problem document', async (t) => {
  const server = serve(t, { agents: [echo] })
  for (const [path, status, allow = null] of refused) {
    const response = await server.fetch(request(path))
    assert.equal(response.status, status, path)
    assert.equal(response.headers.get('allow'), allow, path)
    assert.equal((await jsonOf(response))['status'], status)
  }
})

test('where there are tools alone, there is nothing to run', async (t) => {
  const server = serve(t, { tools: [{ name: 'price', run: () => 2 }], protocol: 'http' })
  const response = await server.fetch(request('/agui', {}))
  assert.equal(response.status, 404)
  assert.equal(response.headers.get('content-type'), 'application/problem+json')
  assert.match(String((await jsonOf(response))['detail']), /There is no agent here, but tools/)
})
