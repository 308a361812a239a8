import assert from 'node:assert/strict'
import test from 'node:test'
import { kernelDefaults, limitsIn, limitsOf } from '../../../lib/kernel/define/limits.ts'
import { createServer } from '../../../lib/kernel.ts'
import { onePost } from '../../fixtures/probe.ts'
import type { KernelLimits, LimitTable } from '../../../lib/kernel/define/limits.ts'

interface Bounds { readonly maxOne: number; readonly maxAll: number; readonly pauseMs: number }

const bounds: LimitTable<Bounds> = {
  defaults: { maxOne: 10, maxAll: 100, pauseMs: 0 }, mayBeZero: ['pauseMs'], ordered: [['maxOne', 'maxAll']],
}

test('limits that are not given are those of the table', () => {
  assert.deepEqual(limitsIn(bounds, {}), bounds.defaults)
  assert.deepEqual(limitsIn(bounds, { maxOne: undefined } as object), bounds.defaults)
  assert.deepEqual(limitsIn(bounds, { pauseMs: Infinity }), { ...bounds.defaults, pauseMs: Infinity })
  assert.deepEqual(limitsIn(bounds, { other: 'x' } as object), bounds.defaults)
  assert.ok(Object.isFrozen(limitsIn(bounds, {})))
  assert.deepEqual(limitsOf({}), kernelDefaults)
  assert.ok(Object.isFrozen(kernelDefaults))
})

test('what is no limit is refused by its name, which in a part is that of its option', () => {
  for (const value of [NaN, -1, 1.5, -Infinity, '5', null, {}, 2 ** 60]) {
    for (const [owner, name] of [[undefined, 'maxOne'], ['probe', 'probe.maxOne']] as const) {
      assert.throws(() => limitsIn(bounds, { maxOne: value } as Partial<Bounds>, owner), (error) => (
        error instanceof RangeError && error.message.startsWith(`${name} is `)
      ))
    }
  }
  assert.throws(() => limitsIn(bounds, { maxOne: 0 }), /^RangeError: maxOne is 0; write a whole number above/)
  assert.throws(() => limitsIn(bounds, { maxOne: '7' as never }), /maxOne is "7"; write it as a number: 7$/)
  assert.equal(limitsIn(bounds, { pauseMs: 0 }).pauseMs, 0)
  assert.throws(
    () => createServer({ agents: [{ name: 'A', run: () => '' }], parts: [onePost()], maxBodyBytes: NaN }),
    /^RangeError: maxBodyBytes is NaN; write a whole number above zero/,
  )
})

test('two limits that contradict each other are refused; where one is given the other follows', () => {
  assert.throws(() => limitsIn(bounds, { maxOne: 20, maxAll: 10 }), {
    name: 'RangeError', message: 'maxOne (20) is larger than maxAll (10); raise maxAll',
  })
  assert.throws(() => limitsIn(bounds, { maxOne: 20, maxAll: 10 }, 'probe'), {
    name: 'RangeError', message: 'probe.maxOne (20) is larger than probe.maxAll (10); raise probe.maxAll',
  })
  assert.deepEqual(limitsIn(bounds, { maxOne: 200 }), { maxOne: 200, maxAll: 200, pauseMs: 0 })
  assert.deepEqual(limitsIn(bounds, { maxAll: 1 }), { maxOne: 1, maxAll: 1, pauseMs: 0 })
  const pairs: readonly (readonly [small: keyof KernelLimits, large: keyof KernelLimits])[] = [
    ['maxBodyBytes', 'maxBodiesBytes'], ['headersTimeoutMs', 'bodyTimeoutMs'],
    ['maxStreams', 'maxConnections'], ['maxStreamBytes', 'maxQueuedBytes'],
    ['conversationBytes', 'maxConversationsBytes'],
  ]
  for (const [small, large] of pairs) assert.throws(() => limitsOf({ [small]: 2, [large]: 1 }), small)
})
