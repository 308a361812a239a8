import assert from 'node:assert/strict'
import test from 'node:test'
import { config, house, taskOf, webhook } from '../../fixtures/webhook.ts'
import type { Fault } from '../../../lib/kernel/define/fault.ts'
import type { HostAddress } from '../../../lib/floors/outbound/host-lookups.ts'

const found: readonly HostAddress[] = [{ address: '127.0.0.1', family: 4 }]
const never = (): Promise<never> => new Promise(() => {})

test('a registration whose name is not found in time is refused with why, and delays no other', async (t) => {
  let running = 0
  const { service, push } = house(t, { timeoutMs: 100 }, undefined, {
    lookup: (name) => {
      if (name.startsWith('quick')) return Promise.resolve(found)
      running++
      return never()
    },
  })
  const refusals = await Promise.all(Array.from({ length: 40 }, (_one, nth) => (
    push.checkUrl(`https://${nth}.example.com/`, 'eve').then(() => 'taken', ({ kind }: Fault) => kind)
  )))
  assert.deepEqual([running, push.status.lookups], [1, 1])
  assert.equal(refusals.filter((kind) => kind === 'timeout').length, 1)
  assert.equal(refusals.filter((kind) => kind === 'busy').length, 39)
  await push.checkUrl('https://quick.example.com/', 'ann')
  const task = await taskOf(service)
  await push.register(task, config('https://quick.example.com:1/'), '1.0')
})

test('a name is refused where any of its addresses may not be posted to', async (t) => {
  let addresses: readonly string[] = []
  const { push } = house(t, { allowPrivate: false }, undefined, {
    lookup: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  })
  const wrong = [
    '127.0.0.1', '10.1.1.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1', '0.0.0.0', 'odd',
  ]
  const check = (): Promise<void> => push.checkUrl('https://hooks.example.com/', 'ann')
  for (const bad of wrong) {
    for (addresses of [[bad], ['8.8.8.8', bad], [bad, '8.8.8.8']]) {
      await assert.rejects(check(), { kind: 'invalid', message: /^url leads / }, bad)
    }
  }
  addresses = ['8.8.8.8', '2606:4700::1']
  await check()
})

test('an address is its own, and is not looked up', async (t) => {
  const { service, push, lines } = house(t, {}, undefined, {
    lookup: () => { throw new Error('looked up') },
  })
  const hook = await webhook(t)
  const url = `http://0x7f.1:${hook.port}/`
  await push.checkUrl(url, 'ann')
  await push.register(await taskOf(service), config(url), '1.0')
  await hook.until(1)
  assert.deepEqual(lines, [])
})
