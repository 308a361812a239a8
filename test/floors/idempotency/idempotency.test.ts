import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { IDEMPOTENCY_KEY, idempotentReplies } from '../../../lib/floors/idempotency/idempotency.ts'
import { guardedStore } from '../../../lib/floors/shared/guarded-store.ts'
import { ClusterMembership } from '../../../lib/floors/shared/cluster.ts'
import { createSeal } from '../../../lib/kernel/wire/seal.ts'
import { Fault } from '../../../lib/kernel.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import { eventually } from '../../fixtures/wire.ts'
import { keptBytes } from '../../fixtures/heap.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { IdempotentReplies, KeyClaim, KeyHold } from '../../../lib/floors/idempotency/idempotency.ts'
import type { MemoryStoreOptions, Store } from '../../../lib/index.ts'

function repliesIn(store: Store, logged: unknown[] = []): IdempotentReplies {
  return idempotentReplies(limitsOf({ idempotencyKeepMs: 1_000 }), store, (...line) => logged.push(line))
}

function held(claim: KeyClaim): KeyHold {
  assert.equal(claim.state, 'held')
  return (claim as { hold: KeyHold }).hold
}

const keys: readonly (readonly [key: string, isKey: boolean])[] = [
  ['a', true], ['!', true], ['~', true], ['8e03978e-40d5-43dd-bc93-6894a57f9324', true],
  ['"8e03978e-40d5"', true], ['a'.repeat(255), true],
  ['', false], ['a'.repeat(256), false], ['a b', false], ['a, b', false], ['\u00e9', false], ['\x7f', false],
  ['a\n', false],
]

test('a key is 1 to 255 visible characters of ASCII', () => {
  for (const [key, isKey] of keys) assert.equal(IDEMPOTENCY_KEY.test(key), isKey, key)
})

const stores: readonly (readonly [what: string, make: () => Store])[] = [
  ['memory', () => memoryStore()], ['a shared store', () => sharedStore()],
]

test('one request runs, the others hear of it, and then get its reply', async () => {
  for (const [what, make] of stores) {
    const store = make()
    const [one, two] = [repliesIn(store), repliesIn(store)]
    const hold = held(await one.claim('ann', 'k', 'body', 1_000))
    assert.equal((await two.claim('ann', 'k', 'body', 1_000)).state, 'running', what)
    assert.equal((await two.claim('ann', 'k', 'another', 1_000)).state, 'other', what)
    await hold.keep('{"a":"\\u0000 é"}')
    const done = { state: 'done', reply: '{"a":"\\u0000 é"}' }
    for (const replies of [one, two]) {
      assert.deepEqual(await replies.claim('ann', 'k', 'body', 1_000), done, what)
      assert.equal((await replies.claim('ann', 'k', 'another', 1_000)).state, 'other', what)
    }
    assert.equal((await two.claim('bob', 'k', 'another', 1_000)).state, 'held', what)
    assert.equal((await two.claim('ann', 'K', 'body', 1_000)).state, 'held', what)
  }
})

test('of two that come at once, one is held', async () => {
  for (const [what, make] of stores) {
    const store = make()
    const claims = await Promise.all([1, 2, 3].map(() => repliesIn(store).claim('ann', 'k', 'body', 1_000)))
    assert.deepEqual(claims.map(({ state }) => state).toSorted(), ['held', 'running', 'running'], what)
  }
})

test('a key that was given back is free again', async () => {
  for (const [what, make] of stores) {
    const replies = repliesIn(make())
    await held(await replies.claim('ann', 'k', 'body', 1_000)).release()
    assert.equal((await replies.claim('ann', 'k', 'another', 1_000)).state, 'held', what)
  }
})

const ends = [['keep', 'done'], ['lose', 'lost'], ['release', 'held']] as const

test('of several ends the first counts', async () => {
  for (const [what, make] of stores) {
    for (const [end, state] of ends) {
      const replies = repliesIn(make())
      const hold = held(await replies.claim('ann', 'k', 'body', 1_000))
      await Promise.all([hold[end]('{}'), hold.keep('{"a":1}'), hold.release(), hold.lose()])
      const claim = await replies.claim('ann', 'k', 'body', 1_000)
      assert.equal(claim.state, state, what)
      if (claim.state === 'done') assert.equal(claim.reply, '{}')
    }
  }
})

test('in memory nothing has to be waited for', () => {
  const replies = repliesIn(memoryStore())
  const claim = replies.claim('ann', 'k', 'body', 1_000)
  assert.ok(!(claim instanceof Promise))
  assert.ok(!(held(claim).keep('{}') instanceof Promise))
  assert.ok(!(replies.claim('ann', 'k', 'body', 1_000) instanceof Promise))
})

test('a reply is kept for its time, and a run that never ended for that of its run besides', async (t) => {
  const pass = standingTime(t)
  const replies = repliesIn(memoryStore())
  held(await replies.claim('ann', 'running', 'body', 500))
  await held(await replies.claim('ann', 'done', 'body', 500)).keep('{}')
  pass(999)
  assert.equal((await replies.claim('ann', 'done', 'body', 500)).state, 'done')
  pass(2)
  assert.equal((await replies.claim('ann', 'done', 'body', 500)).state, 'held')
  assert.equal((await replies.claim('ann', 'running', 'body', 500)).state, 'running')
  pass(500)
  assert.equal((await replies.claim('ann', 'running', 'body', 500)).state, 'held')
})

test('a run without a limit counts as dead after a day', async () => {
  const keeps: number[] = []
  const memory = memoryStore()
  const replies = repliesIn({ ...memory, write(place, value, keepMs, expected) {
    keeps.push(keepMs)
    return memory.write(place, value, keepMs, expected)
  } })
  const DAY_MS = 24 * 60 * 60_000
  for (const [at, timeoutMs] of [Infinity, DAY_MS + 1, DAY_MS - 1].entries()) {
    await held(await replies.claim('ann', `${at}`, 'body', timeoutMs)).keep('{}')
  }
  assert.deepEqual(keeps, [DAY_MS + 1_000, 1_000, DAY_MS + 1_000, 1_000, DAY_MS + 999, 1_000])
})

test('a key of which cannot be read what became of it is run by nobody', async () => {
  const store = memoryStore()
  const replies = repliesIn(store)
  held(await replies.claim('ann', 'k', 'body', 1_000))
  const at = { collection: 'idempotency', owner: 'ann', key: 'k' }
  const { value } = store.read(at)!
  const wrong = [
    '', 'r', value.slice(0, -1), value.replace(/^r/, 'x'), value.slice(1), `${value.slice(0, 40)}!!!!`,
  ]
  for (const damaged of wrong) {
    store.write(at, damaged, 1_000, 'any')
    assert.equal((await replies.claim('ann', 'k', 'body', 1_000)).state, 'lost', damaged)
  }
  const rows = [['r', 'running'], ['l', 'lost'], ['d', 'done']] as const
  for (const [letter, state] of rows) {
    store.write(at, value.replace(/^r/, letter), 1_000, 'any')
    assert.equal((await replies.claim('ann', 'k', 'body', 1_000)).state, state)
    assert.equal((await replies.claim('ann', 'k', 'another', 1_000)).state, 'other')
  }
})

const bounds: readonly (readonly [what: string, options: MemoryStoreOptions, reply: string])[] = [
  ['keys', { maxEntries: 4 }, '{}'], ['bytes', { maxBytes: 4_000 }, `"${'a'.repeat(900)}"`],
]

test('where keys or bytes are short, whoever has most makes room', async () => {
  for (const [what, options, reply] of bounds) {
    const replies = repliesIn(memoryStore(options))
    await held(await replies.claim('bob', 'his', 'body', 1_000)).keep(reply)
    for (const key of ['1', '2', '3', '4', '5', '6', '7', '8']) {
      await held(await replies.claim('ann', key, 'body', 1_000)).keep(reply)
    }
    assert.equal((await replies.claim('bob', 'his', 'body', 1_000)).state, 'done', what)
    assert.equal((await replies.claim('ann', '8', 'body', 1_000)).state, 'done', what)
    assert.equal((await replies.claim('ann', '1', 'body', 1_000)).state, 'held', what)
  }
})

test('a reply that is too large to be kept is not run again', async () => {
  const replies = repliesIn(memoryStore({ maxValueBytes: 100 }))
  await held(await replies.claim('ann', 'k', 'body', 1_000)).keep('a'.repeat(200))
  assert.equal((await replies.claim('ann', 'k', 'body', 1_000)).state, 'lost')
})

test('where a key cannot be looked up, nothing is run', async () => {
  const store = sharedStore()
  store.failWith(new Error('away'))
  const thrown = { ...memoryStore(), write: () => { throw new Error('away') } }
  const mute = {
    ...sharedStore(), write: async () => undefined, read: async () => { throw new Error('away') },
  }
  for (const one of [store, thrown, mute]) {
    await assert.rejects(async () => repliesIn(one).claim('ann', 'k', 'body', 1_000), (error) => (
      error instanceof Fault && error.kind === 'busy'
        && /Idempotency-Key cannot be looked up/.test(error.message)
    ))
  }
})

test('a reply that cannot be kept is given all the same, and logged once', async () => {
  const logged: unknown[] = []
  const store = sharedStore()
  const replies = repliesIn(store, logged)
  const holds = [
    held(await replies.claim('ann', '1', 'body', 1)), held(await replies.claim('ann', '2', '', 1)),
  ]
  store.failWith(new Error('away'))
  for (const hold of holds) await hold.keep('{}')
  assert.equal(logged.length, 1)
})

test('an end that was not kept is tried once, and again only where it was too large', async () => {
  for (const [kind, tries] of [['busy', 1], ['too-large', 2]] as const) {
    const memory = memoryStore()
    let ends = 0
    const replies = repliesIn({ ...memory, write(place, value, ...rest) {
      if (value.startsWith('r')) return memory.write(place, value, ...rest)
      ends += 1
      throw new Fault(kind, 'not kept')
    } })
    await held(await replies.claim('ann', 'k', 'body', 1_000)).keep('{}')
    assert.equal(ends, tries, kind)
  }
})

test('a key that has gone meanwhile is not taken from whoever has it now', async () => {
  const store = memoryStore({ maxEntries: 1 })
  const replies = repliesIn(store)
  const first = held(await replies.claim('ann', 'k', 'body', 1_000))
  held(await replies.claim('ann', 'another', 'body', 1_000))
  const second = held(await replies.claim('ann', 'k', 'body', 1_000))
  await first.keep('"first"')
  await first.release()
  assert.equal((await replies.claim('ann', 'k', 'body', 1_000)).state, 'running')
  await second.keep('"second"')
  assert.deepEqual(await replies.claim('ann', 'k', 'body', 1_000), { state: 'done', reply: '"second"' })
})

test('a key that has just become free is one whose client asks again', async () => {
  const freed = { ...memoryStore(), write: () => undefined }
  for (const store of [freed, { ...freed, read: async () => undefined }]) {
    assert.deepEqual(await repliesIn(store).claim('ann', 'k', 'body', 1_000), { state: 'running' })
    const { nodes } = beating(true, () => false)
    const replies = idempotentReplies(limitsOf({}), store, () => {}, nodes)
    assert.deepEqual(await replies.claim('ann', 'k', 'body', 1_000), { state: 'running' })
  }
})

test('of a run whose process has died it is said that nobody knows, and it is never run again', async (t) => {
  const memory = memoryStore({ isShared: true })
  const limits = limitsOf({ leaseMs: 1_000, idempotencyKeepMs: 60_000 })
  const seal = createSeal('the secret of all servers')
  const log = (): void => {}
  const processes = [1, 2].map(() => {
    const store = guardedStore(memory, limits, log)
    const nodes = new ClusterMembership(store, seal, limits, log)
    t.after(() => nodes.close(true))
    return { nodes, replies: idempotentReplies(limits, store, log, nodes) }
  })
  const [one, two] = processes
  await Promise.all(processes.map(({ nodes }) => nodes.ready()))
  await eventually(() => two!.nodes.mayJudge)
  held(await one!.replies.claim('ann', 'k', 'body', 1_000))
  assert.equal((await two!.replies.claim('ann', 'k', 'body', 1_000)).state, 'running')
  await one!.nodes.close(true)
  const state = async (): Promise<string> => (await two!.replies.claim('ann', 'k', 'body', 1_000)).state
  // A busy machine may be late with its own sign of life, and then judges nobody.
  await eventually(async () => await state() === 'died')
  assert.equal((await two!.replies.claim('ann', 'k', 'another', 1_000)).state, 'other')
  await eventually(async () => await state() === 'died')
})

test('a reply that the store could not take is let go, and known to be lost once it is there', async (t) => {
  const memory = memoryStore({ isShared: true })
  let isUnavailable = true
  const store: Store = {
    ...memory,
    write(place, value, ...rest) {
      if (isUnavailable && !value.startsWith('r')) throw new Error('away')
      return memory.write(place, value, ...rest)
    },
  }
  const limits = limitsOf({ leaseMs: 1_000, idempotencyKeepMs: 60_000 })
  const log = (): void => {}
  const guarded = guardedStore(memory, limits, log)
  const nodes = new ClusterMembership(guarded, createSeal('the secret of all'), limits, log)
  t.after(() => nodes.close(true))
  const replies = idempotentReplies(limits, store, log, nodes)
  const perReply = await keptBytes(20, async (nth) => {
    const hold = held(await replies.claim('ann', `${nth}`, 'body', 1_000))
    await hold.keep(Buffer.alloc(100_000, 'x').toString('latin1'))
  })
  assert.ok(perReply < 20_000, `${perReply} bytes are held for each reply of 100,000`)
  isUnavailable = false
  for (const key of ['0', '79']) {
    await eventually(async () => (await replies.claim('ann', key, 'body', 1_000)).state === 'lost')
  }
})

/** A process whose beats a test makes; who is alive it says. */
function beating(mayJudge: boolean, isAlive: () => boolean): { nodes: ClusterMembership; beat: () => void } {
  const beats: (() => void)[] = []
  const nodes = {
    id: 'here', mayJudge, isAlive: async () => isAlive(),
    onBeat: (listener: () => void) => beats.push(listener),
  } as unknown as ClusterMembership
  return { nodes, beat: () => { for (const one of beats) one() } }
}

test('an end that the store did not take is tried with each beat until it is done', async () => {
  const memory = memoryStore({ isShared: true })
  let isAway = false
  const removed: string[] = []
  const store: Store = { ...memory, remove: async (place, expected) => {
    removed.push(place.key)
    if (isAway) throw new Error('away')
    return memory.remove(place, expected)
  } }
  const { nodes, beat } = beating(false, () => true)
  const replies = idempotentReplies(limitsOf({ maxIdempotencyKeys: 2 }), store, () => {}, nodes)
  const tried = async (): Promise<number> => {
    removed.length = 0
    beat()
    for (let turn = 0; turn < 6; turn++) await new Promise(setImmediate)
    return removed.length
  }
  const holds = []
  for (const key of ['1', '2', '3']) holds.push(held(await replies.claim('ann', key, 'body', 1_000)))
  isAway = true
  for (const hold of holds) await hold.release()
  assert.deepEqual([await tried(), await tried()], [1, 1], 'The first that fails ends a round')
  isAway = false
  // The third is more than may wait: it ends with its time.
  assert.deepEqual([await tried(), await tried()], [2, 0])
  const states = await Promise.all(['1', '2', '3'].map((key) => replies.claim('ann', key, 'other', 1_000)))
  assert.deepEqual(states.map(({ state }) => state), ['held', 'held', 'other'])
})

test('a run is dead where one who may judge finds its process gone, and no reply since', async () => {
  const rows = [
    [true, false, false, 'died'], [true, true, false, 'running'],
    [false, false, false, 'running'], [true, false, true, 'done'],
  ] as const
  for (const [mayJudge, isAlive, isWritten, expected] of rows) {
    const memory = memoryStore({ isShared: true })
    const limits = limitsOf({})
    const first = idempotentReplies(limits, memory, () => {}, beating(false, () => true).nodes)
    const hold = held(await first.claim('ann', 'k', 'body', 1_000))
    const { nodes } = beating(mayJudge, () => {
      if (isWritten) void hold.keep('{}')
      return isAlive
    })
    const distant: Store = { ...memory, read: async (place) => memory.read(place) }
    const second = idempotentReplies(limits, distant, () => {}, nodes)
    assert.equal((await second.claim('ann', 'k', 'other', 1_000)).state, 'other')
    assert.equal((await second.claim('bob', 'k', 'other', 1_000)).state, 'held')
    assert.equal((await second.claim('ann', 'k', 'body', 1_000)).state, expected)
  }
})
