import assert from 'node:assert/strict'
import test from 'node:test'
import { jsonOf, request, serve } from '../fixtures/client.ts'
import type { Json } from '../fixtures/events.ts'

const page = '<!doctype html><title>Weather</title><p id="now"></p>'
const cart = 'ui://tools/cart'

test('plain HTTP lists the pages too', async (t) => {
  const server = serve(t, { protocol: 'http', tools: [{ name: 'cart', ui: { html: page }, run: () => '' }] })
  const { tools } = await jsonOf(await server.fetch(request('/tools', undefined, {}, 'GET'))) as Json
  assert.equal(tools[0]._meta.ui.resourceUri, cart)
  const read = await server.fetch(request(`/resources/read?uri=${cart}`, undefined, {}, 'GET'))
  assert.equal(await read.text(), page)
})
