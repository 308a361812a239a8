import assert from 'node:assert/strict'
import test from 'node:test'
import { config, house, taskOf } from '../../fixtures/webhook.ts'
import type { Fault } from '../../../lib/kernel/define/fault.ts'
import type { HostAddress } from '../../../lib/floors/outbound/host.ts'

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
  assert.deepEqual([running, push.status.lookups], [8, 8])
  assert.equal(refusals.filter((kind) => kind === 'timeout').length, 8)
  assert.equal(refusals.filter((kind) => kind === 'busy').length, 32)
  await push.checkUrl('https://quick.example.com/', 'ann')
  const task = await taskOf(service)
  await push.register(task, config('https://quick.example.com:1/'), '1.0')
})
