import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, request, serve } from '../../fixtures/client.ts'
import { firstHeld, webhook } from '../../fixtures/webhook.ts'
import type { TriportServer } from '../../../lib/index.ts'

/** The figures of metrics that have no labels, by their names. */
async function scrape(server: TriportServer): Promise<ReadonlyMap<string, number>> {
  const text = await (await server.fetch(request('/metrics'))).text()
  return new Map([...text.matchAll(/^(\w+) (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]))
}

test('webhooks that wait are counted where there are webhooks', async (t) => {
  const waiting = 'triport_webhooks_waiting'
  const plain = serve(t, { agents: [echo], metrics: true, protocol: 'a2a' })
  assert.equal((await scrape(plain)).has(waiting), false)
  const { answer, release } = firstHeld()
  const { url, until } = await webhook(t, answer)
  t.after(release)
  const server = serve(t, {
    agents: [echo], metrics: true, protocol: 'a2a',
    a2a: { pushNotifications: { allowPrivate: true, allowInsecure: true } },
  })
  assert.equal((await scrape(server)).get(waiting), 0)
  const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
  const configuration = { taskPushNotificationConfig: { url } }
  await (await server.fetch(request('/message:send', { message, configuration }))).text()
  await until(1)
  assert.equal((await scrape(server)).get(waiting), 1)
  const { bytes, ...counts } = server.status().webhooks!
  assert.deepEqual(counts, { waiting: 1, posting: 1, lookups: 0 })
  assert.ok(bytes > 1_000 && bytes < 10_000, `${bytes} bytes`)
  assert.equal((await scrape(server)).get('triport_webhook_bytes'), bytes)
})
