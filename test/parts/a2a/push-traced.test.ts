import assert from 'node:assert/strict'
import test from 'node:test'
import { request, serve } from '../../fixtures/client.ts'
import { recorded } from '../../fixtures/telemetry.ts'
import { webhook } from '../../fixtures/webhook.ts'
import type { Received } from '../../fixtures/webhook.ts'

test('a webhook gets the trace of the post to it', async (t) => {
  const { api, spans } = recorded()
  const hook = await webhook(t)
  const server = serve(t, {
    openTelemetry: api, protocol: 'a2a', agents: [{ name: 'One', run: () => 'ok' }],
    a2a: { pushNotifications: { allowPrivate: true, allowInsecure: true } },
  })
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
  const configuration = { taskPushNotificationConfig: { url: hook.url } }
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  await server.fetch(request('/message:send', { message, configuration }, { traceparent }))
  const [{ headers }] = await hook.until(1) as [Received]
  assert.equal(headers['traceparent'], 'POST')
  const post = spans.find(({ name }) => name === 'POST')
  assert.deepEqual([post?.kind, post?.parent], [2, traceparent])
})
