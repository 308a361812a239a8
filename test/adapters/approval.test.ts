import assert from 'node:assert/strict'
import test from 'node:test'
import { Approvals, askApproval, askApprovals, askEach } from '../../lib/adapters/shared/approval.ts'
import { callOf } from './house.ts'
import { costOf, costOfParsing, cpuMs } from '../fixtures/time.ts'
import type { LiveCall } from '../../lib/kernel/define/live-call.ts'
import type { ShownCall } from '../../lib/adapters/shared/approval.ts'

const paris: ShownCall = { id: 'a', tool: 'book', args: { city: 'Paris' } }
const rome: ShownCall = { id: 'b', tool: 'book', args: { city: 'Rome' } }
const other: ShownCall = { id: 'c', tool: 'pay', args: {} }

/** A call whose user answers each question by `answer`. */
function answering(answer: (message: string) => unknown, keys: unknown[] = []): LiveCall {
  return callOf({
    can: () => true,
    async ask(question) {
      keys.push(question.key)
      return answer(JSON.stringify(question))
    },
  })
}

test('an answer is found by id, name and arguments, in whatever order and however many there are', () => {
  type Case = readonly [now: readonly ShownCall[], expected: readonly (boolean | undefined)[]]
  const cases: readonly Case[] = [
    [[paris, rome], [true, false]], [[rome, paris], [false, true]],
    [[rome], [false]], [[], []],
    [[other, rome, paris], [undefined, false, true]],
    [[{ ...paris, id: 'b' }, { ...rome, id: 'a' }], [undefined, undefined]],
    [[{ ...paris, tool: 'pay' }], [undefined]], [[{ ...paris, args: {} }], [undefined]],
    [[{ ...paris, args: JSON.stringify(paris.args) }], [undefined]],
  ]
  for (const [now, expected] of cases) {
    assert.deepEqual(new Approvals([paris, rome], [true, false]).take(now), expected, JSON.stringify(now))
  }
  assert.deepEqual(new Approvals([paris, rome], []).take([paris, rome]), [false, false])
})

test('an answer counts once', () => {
  const approvals = new Approvals([paris], [true])
  assert.deepEqual(approvals.take([paris]), [true])
  assert.deepEqual(approvals.take([paris]), [undefined])
})

test('calls with one id, which a framework cannot tell apart, are approved together or not at all', () => {
  const same = { ...rome, id: 'a' }
  assert.deepEqual(new Approvals([paris, same], [true, true]).take([same, paris]), [true, true])
  assert.deepEqual(new Approvals([paris, same], [true, false]).take([paris, same]), [false, false])
  assert.deepEqual(new Approvals([paris, same], [true, false]).take([paris]), [true])
  // The second was not shown.
  assert.deepEqual(new Approvals([paris], [true]).take([paris, same]), [undefined, undefined])
  assert.deepEqual(new Approvals([paris], [true]).take([paris, paris]), [undefined, undefined])
  assert.deepEqual(new Approvals([paris], [false]).take([paris, same]), [false, undefined])
})

test('each of some calls is asked for by its own key', async () => {
  const keys: unknown[] = []
  const call = answering((message) => (
    { action: 'accept', content: { approve: message.includes('Rome') } }
  ), keys)
  const approvals = await askApprovals(call, [paris, rome], ({ id }) => `k-${id}`)
  assert.deepEqual(keys, ['k-a', 'k-b'])
  assert.deepEqual(approvals.take([paris, rome]), [false, true])
})

test('an answer of any other form is no approval', async () => {
  const answers: readonly unknown[] = [
    ...[true, 'true', 1, {}, [true], null].map((approve) => ({ action: 'accept', content: { approve } })),
    { action: 'accept' }, { action: 'accept', content: null }, { action: 'accept', content: true },
    { content: { approve: true } }, { action: 'yes', content: { approve: true } },
    { action: ['accept'], content: { approve: true } }, true, 'accept', null, undefined,
  ]
  const approved: unknown[] = []
  for (const answer of answers) {
    if (await askApproval(answering(() => answer), 'k', 'book', {})) approved.push(answer)
  }
  assert.deepEqual(approved, [{ action: 'accept', content: { approve: true } }])
})

test('the key of a call that is shown in part is of all of it', async () => {
  const long = 'x'.repeat(5_000)
  const keysOf = async (key: string | undefined, tool: string, args: unknown): Promise<unknown> => {
    const keys: unknown[] = []
    await askApproval(answering(() => ({ action: 'cancel' }), keys), key, tool, args)
    return keys[0]
  }
  assert.deepEqual([await keysOf('k', 'book', 'x'), await keysOf(undefined, 'book', 'x')], ['k', undefined])
  const keys = [
    await keysOf('k', 'book', `${long}1`), await keysOf('k', 'book', `${long}2`),
    await keysOf('l', 'book', `${long}1`),
    await keysOf('k', `${long}1`, 'x'), await keysOf('k', `${long}2`, 'x'),
    await keysOf(undefined, 'book', `${long}1`), await keysOf(undefined, 'book', { of: `${long}1` }),
  ]
  assert.equal(new Set(keys).size, keys.length)
  assert.ok(keys.every((key) => typeof key === 'string' && key.length < 40), JSON.stringify(keys))
  assert.equal(keys[0], await keysOf('k', 'book', `${long}1`))
})

test('of questions with one id different answers are none', async () => {
  const questions = [{ id: 'a', says: 1 }, { id: 'b', says: 2 }, { id: 'a', says: 3 }, { id: 'b', says: 2 }]
  assert.deepEqual(await askEach(questions, async ({ says }) => ({ says })), [
    null, { says: 2 }, null, { says: 2 },
  ])
})

test('many calls are answered in linear time', async () => {
  const calls = Array.from({ length: 30_000 }, (_, at) => ({ id: `c${at}`, tool: 'book', args: {} }))
  const limit = 40 * costOfParsing()
  const taken = costOf(() => {
    const answers = new Approvals(calls, calls.map(() => true)).take(calls.toReversed())
    assert.ok(answers.every((one) => one === true))
  }, limit)
  assert.ok(taken < limit, `${taken} ms of at most ${limit}`)
  const before = cpuMs()
  const answers = await askEach(calls, async ({ id }) => id)
  const asked = cpuMs() - before
  assert.deepEqual(answers, calls.map(({ id }) => id))
  assert.ok(asked < limit, `${asked} ms of at most ${limit}`)
})
