import assert from 'node:assert/strict'
import test from 'node:test'
import { Conversations } from '../../lib/state/conversation.ts'
import { limitsOf } from '../../lib/define/limits.ts'
import { memoryStore } from '../../lib/index.ts'
import type { LogLevel } from '../../lib/define/log.ts'
import type { ChatMessage, Limits, Log, MemoryStore, Store } from '../../lib/index.ts'

const user = (content: string): ChatMessage => ({ role: 'user', content })
const contents = (messages: readonly ChatMessage[]): readonly string[] => (
  messages.map(({ content }) => content)
)

interface Counted extends Store { readonly calls: Record<'read' | 'write', number> }

/** A store that answers later, over a memory that others share, and counts what it is asked. */
function connect(memory: MemoryStore): Counted {
  const calls = { read: 0, write: 0 }
  return {
    ...memory,
    calls,
    read: async (place) => {
      calls.read++
      return memory.read(place)
    },
    write: async (...kept) => {
      calls.write++
      return memory.write(...kept)
    },
  }
}

interface Process { readonly all: Conversations; readonly store: Counted }

/** Two processes. */
function pair(limits: Partial<Limits> = {}): readonly Process[] {
  const memory = memoryStore({ isShared: true })
  return [1, 2].map(() => {
    const store = connect(memory)
    return { store, all: new Conversations(limitsOf(limits), store) }
  })
}

test('what one process has heard another knows, of its owner alone', async () => {
  const [one, other] = pair()
  await one!.all.record('ann', 'a', [user('1'), user('2')])
  assert.deepEqual(await other!.all.history('ann', 'a'), [user('1'), user('2')])
  assert.deepEqual(await other!.all.history('bob', 'a'), [])
  assert.deepEqual(await other!.all.history('ann', 'b'), [])
  await other!.all.record('ann', 'a', [user('3')])
  assert.deepEqual(contents(await one!.all.history('ann', 'a')), ['1', '2', '3'])
  assert.deepEqual([one!.all.count, one!.all.bytes], [0, 0])
})

test('a turn costs one read and one write, the first turn of all one write', async () => {
  const { all, store } = pair()[0]!
  await all.record('ann', 'a', [user('1')])
  assert.deepEqual(store.calls, { read: 0, write: 1 })
  const known = await all.history('ann', 'a')
  await all.record('ann', 'a', [user('2')], known)
  assert.deepEqual(store.calls, { read: 1, write: 2 })
  await all.record('ann', 'a', [user('3')], known)
  assert.deepEqual(contents(await all.history('ann', 'a')), ['1', '2', '3'])
})

test('what an author does to the list that it got changes nothing', async () => {
  const [one, other] = pair()
  await one!.all.record('ann', 'a', [user('1')])
  const known = await one!.all.history('ann', 'a') as ChatMessage[]
  known.push(user('invented'))
  await one!.all.record('ann', 'a', [user('2')], known)
  assert.deepEqual(contents(await other!.all.history('ann', 'a')), ['1', '2'])
})

test('nothing is lost where many add at one time', async () => {
  const processes = pair()
  const said = Array.from({ length: 40 }, (_, at) => `${at}`)
  await Promise.all(said.map((content, at) => processes[at % 2]!.all.record('ann', 'a', [user(content)])))
  const kept = await processes[0]!.all.history('ann', 'a')
  assert.deepEqual(contents(kept).toSorted(), said.toSorted())
})

test('the limits of a conversation hold, and its time begins anew with each turn', async () => {
  const [one] = pair({ conversationMessages: 3, conversationBytes: 100 })
  for (const content of ['1', '2', '3', '4']) await one!.all.record('ann', 'a', [user(content)])
  assert.deepEqual(contents(await one!.all.history('ann', 'a')), ['2', '3', '4'])
  await one!.all.record('ann', 'a', [user('x'.repeat(80))])
  assert.deepEqual(contents(await one!.all.history('ann', 'a')), ['3', '4', 'x'.repeat(80)])
  const times: number[] = []
  const memory = memoryStore({ isShared: true })
  const store: Store = {
    ...memory,
    write: (place, value, keepMs, expected) => {
      times.push(keepMs)
      return memory.write(place, value, keepMs, expected)
    },
  }
  await new Conversations(limitsOf({ conversationIdleMs: 1_234 }), store).record('ann', 'a', [user('1')])
  assert.deepEqual(times, [1_234])
})

test('ids and owners of any length and form are told apart', async () => {
  const [one, other] = pair()
  const names = ['~', '#', 'x'.repeat(600), `${'x'.repeat(600)}y`, '\ud800', '\ud801', 'a\0b', 'ann']
  for (const name of names) {
    await one!.all.record(name, 'id', [user(`owner ${name}`)])
    await one!.all.record('owner', name, [user(`id ${name}`)])
  }
  for (const name of names) {
    assert.deepEqual(await other!.all.history(name, 'id'), [user(`owner ${name}`)])
    assert.deepEqual(await other!.all.history('owner', name), [user(`id ${name}`)])
  }
})

test('a history that cannot be read is never taken for none', async () => {
  const memory = memoryStore({ isShared: true })
  const wrong = ['not JSON', '{}', '[{"role":"boss","content":"x"}]', '[{"role":"user"}]', '[null]']
  const reads: readonly Store['read'][] = [
    () => { throw new Error('away') },
    () => Promise.reject(new Error('away')),
    ...wrong.map((value) => () => ({ key: 'a', value, version: 1 })),
  ]
  for (const read of reads) {
    const all = new Conversations(limitsOf({}), { ...memory, read })
    await assert.rejects(async () => all.history('ann', 'a'), { kind: 'busy' })
  }
})

test('what cannot be kept is logged once until it can be again, and nobody is rejected', async () => {
  const lines: (readonly [LogLevel, string, unknown])[] = []
  const memory = memoryStore({ isShared: true })
  let cause: Error | undefined
  const store: Store = {
    ...memory,
    write: (...kept) => {
      if (cause !== undefined) throw cause
      return memory.write(...kept)
    },
  }
  const all = new Conversations(limitsOf({}), store, (level, message, fields) => {
    lines.push([level, message, fields?.['cause']])
  })
  const first = cause = new Error('away')
  for (const content of ['1', '2', '3']) await all.record('ann', 'a', [user(content)])
  cause = undefined
  await all.record('ann', 'a', [user('4')])
  const second = cause = new Error('away again')
  await all.record('ann', 'a', [user('5')])
  const message = 'A conversation could not be kept: what follows will not know of it'
  assert.deepEqual(lines, [['warning', message, first], ['warning', message, second]])
  assert.deepEqual(contents(await all.history('ann', 'a')), ['4'])
})

test('one that is never first gives up, after a number of attempts that is bounded', async () => {
  const causes: unknown[] = []
  let attempts = 0
  const store: Store = { ...memoryStore({ isShared: true }), write: () => void attempts++ }
  const log: Log = (_level, _message, fields) => { causes.push(fields?.['cause']) }
  const all = new Conversations(limitsOf({}), store, log)
  await all.record('ann', 'a', [user('1')])
  assert.equal(attempts, 64)
  assert.match(String(causes), /Somebody else was first 64 times/)
})
