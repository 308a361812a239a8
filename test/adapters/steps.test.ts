import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { askApproval } from '../../lib/adapters/shared/approval.ts'
import { runSteps } from '../../lib/adapters/shared/steps.ts'
import { callOf } from './house.ts'
import type { LiveCall } from '../../lib/kernel/define/live-call.ts'
import type { Shown } from '../../lib/kernel/define/adapters.ts'
import type { AgentStep } from '../../lib/adapters/shared/steps.ts'

/** Calls of one handler that runs again and again: what happened once is known to all of them. */
function rerun(): () => LiveCall {
  const results = new Map<string, unknown>()
  return () => callOf({
    async once(key, fn) {
      if (!results.has(key)) results.set(key, JSON.parse(JSON.stringify(await fn())))
      return results.get(key)
    },
  })
}

async function shownBy(run: AsyncIterable<Shown>): Promise<readonly Shown[]> {
  const all: Shown[] = []
  for await (const shown of run) all.push(shown)
  return all
}

/** An agent that counts to `last`, and asks between any two numbers. */
function counting(ran: number[], last: number): (state?: number) => AgentStep<number> {
  return async function* (state = 0) {
    ran.push(state + 1)
    yield `${state + 1} `
    return state + 1 < last ? state + 1 : undefined
  }
}

test('steps run one after the other, and what is asked comes between them', async () => {
  const [ran, asked]: [number[], number[]] = [[], []]
  const run = runSteps(callOf(), 'a', counting(ran, 3), async (state) => { asked.push(state) })
  assert.deepEqual(await shownBy(run), ['1 ', '\n\n2 ', '\n\n3 '])
  assert.deepEqual([ran, asked], [[1, 2, 3], [1, 2]])
})

test('a handler that runs again shows what its steps have shown, and runs none of them twice', async () => {
  const ran: number[] = []
  const calls = rerun()
  const step = counting(ran, 3)
  for (const answered of [0, 1]) {
    const all: Shown[] = []
    await assert.rejects(async () => {
      const run = runSteps(calls(), 'a', step, async (state) => {
        if (state > answered) throw new Error('The client is being asked')
      })
      for await (const shown of run) all.push(shown)
    }, /is being asked/)
    assert.deepEqual(all, ['1 ', '\n\n2 '].slice(0, answered + 1))
  }
  assert.deepEqual(await shownBy(runSteps(calls(), 'a', step, async () => {})), ['1 ', '\n\n2 ', '\n\n3 '])
  assert.deepEqual(ran, [1, 2, 3])
  // Another agent of a group has asked since.
  assert.deepEqual(await shownBy(runSteps(calls(), 'a', step, async () => {})), ['1 ', '\n\n2 ', '\n\n3 '])
  assert.deepEqual(ran, [1, 2, 3])
})

test('a step is a paragraph, also where the handler runs again, and no blank line is doubled', async () => {
  const calls = rerun()
  async function* step(state?: number): AgentStep<number> {
    if (state === undefined) yield ''
    yield { text: state === undefined ? 'I ' : '\n\nIt ', data: 1 }
    yield state === undefined ? 'ask.' : 'is.'
    return state === undefined ? 1 : undefined
  }
  const shown = ['', { text: 'I ', data: 1 }, 'ask.', { text: '\n\nIt ', data: 1 }, 'is.']
  for (const _ of [1, 2]) {
    assert.deepEqual(await shownBy(runSteps(calls(), 'a', step, async () => {})), shown)
  }
})

test('what is too large to be kept is an answer all the same, but nothing to go on from', async () => {
  const call = (): LiveCall => callOf({
    async once(_key, fn) {
      const kept = String(await fn())
      if (kept.length > 100) throw new Error('It is too large')
      return kept
    },
  })
  const long = randomBytes(300).toString('hex')
  async function* step(state = 0): AgentStep<number | string> {
    yield state === 1 ? long : 'short'
    return state === 0 ? 1 : undefined
  }
  const run = runSteps(call(), 'a', (state) => step(Number(state ?? 0)), async () => {})
  assert.deepEqual(await shownBy(run), ['short', `\n\n${long}`])
  const large = runSteps(call(), 'a', async function* (): AgentStep<string> { return long }, async () => {})
  await assert.rejects(async () => shownBy(large), /too large/)
})

test('agents of one call do not take each other\'s steps, nor does one that runs twice', async () => {
  const calls = rerun()
  for (const _ of [1, 2]) {
    const call = calls()
    for (const [owner, last] of [['a', 2], ['b', 3], ['a', 3]] as const) {
      const expected = ['1 ', '\n\n2 ', '\n\n3 '].slice(0, last)
      assert.deepEqual(await shownBy(runSteps(call, owner, counting([], last), async () => {})), expected)
    }
  }
})

test('a step that fails is run again, and one whose reader leaves is ended', async () => {
  let ended = 0
  async function* step(): AgentStep<number> {
    try {
      yield 'one'
      yield 'two'
      throw new Error('gone')
    } finally {
      ended++
    }
  }
  const calls = rerun()
  await assert.rejects(shownBy(runSteps(calls(), 'a', step, async () => {})), /gone/)
  for await (const shown of runSteps(calls(), 'a', step, async () => {})) {
    assert.equal(shown, 'one')
    break
  }
  assert.equal(ended, 2)
})

test('a long conversation is kept in little room', async () => {
  let size = 0
  const call = callOf({
    async once(_key, fn) {
      const kept = await fn()
      size = JSON.stringify(kept).length
      return kept
    },
  })
  const long = Array.from({ length: 200 }, (_, at) => ({ role: 'user', content: `The message number ${at}` }))
  await shownBy(runSteps(call, 'a', async function* (state?: object): AgentStep<object> {
    return state === undefined ? { long } : undefined
  }, async () => {}))
  assert.ok(size > 0 && size < JSON.stringify(long).length / 5, `${size} bytes`)
})

test('only a user who says so approves, and where none can be asked nothing is approved', async () => {
  const asked: unknown[] = []
  const answering = (answer: object): LiveCall => callOf({
    can: () => true, ask: async (question) => { asked.push(question); return answer },
  })
  const approve = (call: LiveCall): Promise<boolean> => askApproval(call, 'k', 'book', { city: 'Paris' })
  assert.equal(await approve(answering({ action: 'accept', content: { approve: true } })), true)
  assert.match(JSON.stringify(asked), /'book' run with \{\\"city\\":\\"Paris\\"\}\?/)
  for (const answer of [
    { action: 'accept', content: { approve: false } }, { action: 'accept', content: {} },
    { action: 'decline' }, { action: 'cancel' },
  ]) assert.equal(await approve(answering(answer)), false, JSON.stringify(answer))
  await assert.rejects(approve(callOf()), { kind: 'unsupported' })
})

test('what is kept is not unpacked without end, and what would be too large is not kept', async () => {
  const large = 'a'.repeat(65 * 1024 * 1024)
  const packed = deflateRawSync(JSON.stringify({ shown: [], state: large })).toString('base64')
  const kept = callOf({ once: async () => packed })
  const step = async function* (): AgentStep<string> { return large }
  const ask = async (): Promise<void> => { throw new Error('It is asked') }
  await assert.rejects(shownBy(runSteps(kept, 'a', step, ask)), { code: 'ERR_BUFFER_TOO_LARGE' })
  await assert.rejects(shownBy(runSteps(rerun()(), 'a', step, ask)), /is larger than \d+ bytes/)
})
