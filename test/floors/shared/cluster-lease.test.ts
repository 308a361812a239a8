// One process among others, where time passes when the test says so: leases, beats, and what strangers say.
import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import { ClusterMembership } from '../../../lib/floors/shared/cluster.ts'
import { createSeal } from '../../../lib/kernel/wire/seal.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { TestContext } from 'node:test'
import type { Log } from '../../../lib/kernel/define/log.ts'
import type { MemoryStore } from '../../../lib/index.ts'
import type { GuardedStore } from '../../../lib/floors/shared/guarded-store.ts'
import type { Seal } from '../../../lib/kernel/wire/seal.ts'

const SECRET = 'the secret of all'
const LEASE_MS = 1_000
const BEAT_MS = 250

/** A process, and what it has noticed. */
interface Process {
  readonly nodes: ClusterMembership
  readonly store: GuardedStore
  readonly noticed: readonly string[]
  readonly logged: readonly string[]
  /** From now on the store is not reached, or is again. */
  cut(isCut: boolean): void
  /** Its store is there again, as its guard has found out. */
  returned(): void
}

interface Scene {
  readonly memory: MemoryStore
  /** Lets time pass, and all that comes of it. */
  pass(ms: number): Promise<void>
  begin(leaseMs?: number, seal?: Seal): Process
  lease(node: string): string | undefined
  member(node: string): string | undefined
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
}

function scene(t: TestContext): Scene {
  const tick = standingTime(t)
  const memory = memoryStore({ isShared: true })
  const find = (collection: string, key: string): string | undefined => (
    memory.read({ collection, owner: '~', key })?.value
  )
  return {
    memory,
    async pass(ms) {
      for (let left = ms; left > 0; left -= 50) {
        tick(Math.min(left, 50))
        await settled()
      }
    },
    lease: (node) => find('leases', node),
    member: (node) => find('members', node),
    begin(leaseMs = LEASE_MS, seal = createSeal(SECRET)) {
      const returns: (() => void)[] = []
      let isCut = false
      const act = <T>(work: () => T): T | Promise<never> => (
        isCut ? Promise.reject(new Error('not reached')) : work()
      )
      const store: GuardedStore = {
        isShared: true, isUnavailable: false, onReturn: (listener) => { returns.push(listener) },
        read: (...all) => act(() => memory.read(...all)),
        write: (...all) => act(() => memory.write(...all)),
        remove: (...all) => act(() => memory.remove(...all)),
        list: (...all) => act(() => memory.list(...all)),
        publish: (...all) => act(() => memory.publish(...all)),
        follow: (...all) => act(() => memory.follow(...all)),
      }
      const noticed: string[] = []
      const logged: string[] = []
      const log: Log = (level, text) => { logged.push(`${level} ${text}`) }
      const nodes = new ClusterMembership(store, seal, limitsOf({ leaseMs }), log)
      nodes.onBeat(() => { noticed.push('beat') })
      nodes.onLapse(() => { noticed.push('lapse') })
      nodes.onForgotten(() => { noticed.push('forgotten') })
      nodes.onLost((isFirst) => { noticed.push(isFirst ? 'follows' : 'lost') })
      t.after(() => nodes.close(true))
      return {
        nodes, store, noticed, logged, cut: (now) => { isCut = now },
        returned: () => { for (const listener of returns) listener() },
      }
    },
  }
}

test('a lease is renewed with each beat, and lasts from when its renewal was sent', async (t) => {
  const { memory, begin, pass, lease, member } = scene(t)
  const one = begin()
  const { id } = one.nodes
  assert.deepEqual([one.nodes.isLeased, one.nodes.mayJudge, one.nodes.isOpen], [false, false, true])
  await settled()
  assert.deepEqual(one.noticed, ['follows', 'beat'])
  assert.deepEqual([one.nodes.isLeased, member(id)], [true, ''])
  assert.match(lease(id)!, /^[\w-]{16}$/)
  assert.equal(one.nodes.ready(), undefined)
  const named = memory.read({ collection: 'members', owner: '~', key: id })
  await pass(BEAT_MS - 1)
  assert.equal(one.noticed.length, 2)
  await pass(1)
  assert.deepEqual(one.noticed.slice(2), ['beat'])
  assert.deepEqual(memory.read({ collection: 'members', owner: '~', key: id }), named)
  one.cut(true)
  await pass(LEASE_MS - 1)
  assert.deepEqual([one.nodes.isLeased, await begin().nodes.isAlive(id)], [true, true])
  await pass(1)
  assert.deepEqual([one.nodes.isLeased, await begin().nodes.isAlive(id)], [false, false])
  assert.deepEqual(one.noticed.slice(3), [])
})

test('who may judge had a lease for as long as one lasts, and has one now', async (t) => {
  const { begin, pass } = scene(t)
  const one = begin()
  await settled()
  await pass(LEASE_MS - 1)
  assert.equal(one.nodes.mayJudge, false)
  await pass(1)
  assert.equal(one.nodes.mayJudge, true)
  await pass(3 * LEASE_MS)
  assert.equal(one.nodes.mayJudge, true)
  // It was silent: while it was, the others may not have been heard either.
  one.cut(true)
  await pass(LEASE_MS)
  assert.deepEqual([one.nodes.isLeased, one.nodes.mayJudge], [false, false])
  one.cut(false)
  await pass(BEAT_MS)
  assert.deepEqual([one.nodes.isLeased, one.nodes.mayJudge], [true, false])
  await pass(LEASE_MS - 1)
  assert.equal(one.nodes.mayJudge, false)
  await pass(1)
  assert.equal(one.nodes.mayJudge, true)
})

test('a beat a moment before the end of the lease is in time, one at its end is not', async (t) => {
  for (const [silentMs, isLate] of [[LEASE_MS - 1, false], [LEASE_MS, true]] as const) {
    const { begin, pass, lease } = scene(t)
    const one = begin()
    await settled()
    const before = lease(one.nodes.id)
    one.cut(true)
    await pass(silentMs)
    one.cut(false)
    one.returned()
    await settled()
    const all = ['follows', 'beat', ...isLate ? ['forgotten', 'lapse'] : [], 'beat']
    assert.deepEqual(one.noticed, all, `${silentMs}`)
    assert.equal(lease(one.nodes.id), before)
    assert.ok(one.nodes.isLeased)
    // What follows is one beat after the other.
    await pass(2 * BEAT_MS)
    assert.deepEqual(one.noticed.slice(all.length), ['beat', 'beat'])
    await one.nodes.close(true)
    t.mock.reset()
  }
})

test('a beat that takes long is the only one', async (t) => {
  const { memory, begin, pass } = scene(t)
  const one = begin()
  await settled()
  let renewals = 0
  let go = (): void => {}
  one.store.write = (...all) => {
    renewals += 1
    return new Promise<void>((resolve) => { go = resolve }).then(() => memory.write(...all))
  }
  one.returned()
  await pass(3 * BEAT_MS)
  assert.deepEqual([renewals, one.noticed], [1, ['follows', 'beat']])
  go()
  await settled()
  await pass(BEAT_MS)
  assert.deepEqual([renewals, one.noticed], [2, ['follows', 'beat', 'beat']])
  go()
})

test('a process whose lease is gone from the store, but not over, has it again at once', async (t) => {
  const { memory, begin, pass, lease } = scene(t)
  const one = begin()
  await settled()
  memory.remove({ collection: 'leases', owner: '~', key: one.nodes.id }, 'any')
  memory.remove({ collection: 'members', owner: '~', key: one.nodes.id }, 'any')
  await pass(BEAT_MS)
  assert.deepEqual(one.noticed, ['follows', 'beat', 'forgotten', 'beat'])
  assert.ok(lease(one.nodes.id))
  assert.equal(memory.read({ collection: 'members', owner: '~', key: one.nodes.id })?.value, '')
})

test('a sign of life whose answer is lost is no reason to think that another has the name', async (t) => {
  const { memory, begin, pass } = scene(t)
  const one = begin()
  await settled()
  let lost = 0
  one.store.write = async (...all) => {
    const version = memory.write(...all)
    if (lost++ < 2) throw new Error('connection reset')
    return version
  }
  await pass(3 * BEAT_MS)
  assert.deepEqual([one.nodes.isLeased, one.noticed], [true, ['follows', 'beat', 'beat']])
  assert.equal(lost, 4)
})

test('the name of a process is there before its lease', async (t) => {
  const { memory, begin, lease, member } = scene(t)
  const one = begin()
  let go = (): void => {}
  one.store.write = (key, ...rest) => (
    key.collection === 'leases' ? memory.write(key, ...rest)
      : new Promise<void>((resolve) => { go = resolve }).then(() => memory.write(key, ...rest))
  )
  await settled()
  assert.deepEqual([member(one.nodes.id), lease(one.nodes.id)], [undefined, undefined])
  go()
  await settled()
  assert.deepEqual([member(one.nodes.id), one.nodes.isLeased], ['', true])
})

test('of two processes of one name the second is none', async (t) => {
  const { memory, begin, pass, lease } = scene(t)
  const one = begin()
  const at = { collection: 'leases', owner: '~', key: one.nodes.id }
  memory.write(at, 'of another', Infinity, 'any')
  await assert.rejects(async () => one.nodes.ready(), /^Error: Two processes have one name$/)
  await pass(5 * BEAT_MS)
  assert.deepEqual([one.noticed, one.nodes.isLeased, lease(one.nodes.id)], [['follows'], false, 'of another'])
  // It ends no lease but its own.
  memory.remove(at, 'any')
  await pass(BEAT_MS)
  assert.deepEqual(one.noticed.slice(1), ['beat'])
  assert.equal(one.nodes.isLeased, true)
  memory.write(at, 'of another', Infinity, 'any')
  await one.nodes.close(true)
  assert.equal(lease(one.nodes.id), 'of another')
})

test('there are four beats in a lease, as far as timers can count', (t) => {
  const { begin } = scene(t)
  for (const [leaseMs, beatMs] of [[1_000, 250], [40, 10], [8, 10], [Infinity, 0x7fffffff]] as const) {
    assert.equal(begin(leaseMs).nodes.beatMs, beatMs)
  }
})

test('who closes gives up its lease, and its name where nothing of it is left', async (t) => {
  for (const [isEmpty, hasLeft, name] of [
    [true, false, undefined], [false, false, 'closed'], [true, true, 'closed'], [false, true, 'closed'],
  ] as const) {
    const { memory, begin, pass, lease, member } = scene(t)
    const one = begin()
    const { id } = one.nodes
    await settled()
    if (hasLeft) one.nodes.keepName()
    await one.nodes.close(isEmpty)
    assert.deepEqual([one.nodes.isOpen, lease(id), member(id)], [false, undefined, name])
    memory.write({ collection: 'members', owner: '~', key: id }, 'later', Infinity, 'any')
    await one.nodes.close(isEmpty)
    one.returned()
    const heard: unknown[] = []
    one.nodes.on('word', (body) => heard.push(body))
    memory.publish('all', createSeal(SECRET).seal('message', ['all', 'other', 1, 'word', 1], Infinity))
    await pass(2 * LEASE_MS)
    assert.deepEqual([lease(id), member(id), heard], [undefined, 'later', []])
    assert.deepEqual(one.noticed, ['follows', 'beat'])
    t.mock.reset()
  }
})

test('who closes before it was there, or where the store is away, fails nowhere', async (t) => {
  for (const way of ['as it begins', 'away from the beginning', 'away at the end'] as const) {
    const { memory, begin, pass } = scene(t)
    const one = begin()
    if (way === 'away from the beginning') one.cut(true)
    if (way === 'away at the end') await settled()
    if (way === 'away at the end') one.cut(true)
    const closed = one.nodes.close(true)
    await settled()
    await closed
    one.cut(false)
    one.nodes.on('word', () => assert.fail('it has closed'))
    memory.publish('all', createSeal(SECRET).seal('message', ['all', 'other', 1, 'word', 1], Infinity))
    await pass(2 * LEASE_MS)
    const left = ['leases', 'members'].map((collection) => memory.list(collection, '~', 10).length)
    assert.deepEqual(left, [0, way === 'away at the end' ? 1 : 0], way)
    t.mock.reset()
  }
})

test('who closes while a beat is under way gives up what that has brought', async (t) => {
  const { memory, begin, lease, member } = scene(t)
  const one = begin()
  await settled()
  let go = (): void => {}
  one.store.write = (...all) => (
    new Promise<void>((resolve) => { go = resolve }).then(() => memory.write(...all))
  )
  one.returned()
  await settled()
  const closed = one.nodes.close(true)
  await settled()
  one.store.write = memory.write
  go()
  await closed
  await settled()
  assert.deepEqual([lease(one.nodes.id), member(one.nodes.id)], [undefined, undefined])
})

test('who asks whether it is reachable after its lease waits for a new one, also as it closes', async (t) => {
  for (const closes of [false, true]) {
    const { memory, begin, pass, lease, member } = scene(t)
    const one = begin()
    await settled()
    one.cut(true)
    await pass(LEASE_MS)
    one.cut(false)
    let go = (): void => {}
    one.store.write = (...all) => (
      new Promise<void>((resolve) => { go = resolve }).then(() => memory.write(...all))
    )
    const ready = one.nodes.ready()
    assert.equal(one.nodes.ready(), ready)
    await settled()
    const closed = closes ? one.nodes.close(true) : undefined
    await settled()
    one.store.write = memory.write
    go()
    await ready
    assert.equal(one.nodes.isLeased, true)
    await closed
    const { id } = one.nodes
    assert.deepEqual([lease(id) !== undefined, member(id)], closes ? [false, undefined] : [true, ''])
    await one.nodes.close(true)
    t.mock.reset()
  }
})

test('what is asked of those who take over is asked of all, and found by one', async (t) => {
  const { nodes } = scene(t).begin()
  assert.deepEqual([nodes.heirs, await nodes.takeOver('dead')], [0, false])
  const asked: string[] = []
  for (const hasLeft of [false, true, false]) {
    nodes.onDead(async (node) => {
      asked.push(node)
      return hasLeft
    })
  }
  assert.deepEqual([nodes.heirs, await nodes.takeOver('dead'), asked], [3, true, ['dead', 'dead', 'dead']])
})

test('what another process of this deployment says to this one is taken once, and in order', async (t) => {
  const { memory, begin } = scene(t)
  const one = begin()
  await settled()
  const inbox = `node/${one.nodes.id}`
  const seal = createSeal(SECRET)
  const heard: unknown[] = []
  one.nodes.on('word', (body, from) => heard.push([body, from]))
  const said = (topic: string, ...message: readonly unknown[]): void => {
    memory.publish(topic, seal.seal('message', message, Infinity))
  }
  said(inbox, inbox, 'other', 2, 'word', 'two')
  said(inbox, inbox, 'other', 2, 'word', 'again')
  said(inbox, inbox, 'other', 1, 'word', 'one')
  said(inbox, inbox, 'other', 3, 'word', 'three')
  said(inbox, inbox, 'another', 1, 'word', 'first')
  said(inbox, 'all', 'other', 4, 'word', 'to all')
  said('all', inbox, 'other', 4, 'word', 'to one')
  said('all', 'all', 'other', 1, 'word', 'all')
  said('all', 'all', one.nodes.id, 1, 'word', 'mine')
  said(inbox, inbox, 'other', 5, 'nothing that it knows', 'five')
  assert.deepEqual(heard, [
    ['two', 'other'], ['three', 'other'], ['first', 'another'], ['all', 'other'],
  ])
  assert.deepEqual(one.logged, [])
  // What it says to itself needs no store.
  one.cut(true)
  await one.nodes.send(one.nodes.id, 'word', 'self')
  assert.deepEqual(heard.at(-1), ['self', one.nodes.id])
  await assert.rejects(one.nodes.send('other', 'word', 'away'), /not reached/)
  await assert.rejects(one.nodes.broadcast('word', 'away'), /not reached/)
})

test('so many senders are remembered, and the one that was silent for longest is not', async (t) => {
  const { memory, begin } = scene(t)
  // What is sealed here is sealed by others at a cost.
  const seal: Seal = {
    isOwn: false,
    seal: (_purpose, value) => JSON.stringify(value),
    open: (_purpose, text) => JSON.parse(text),
  }
  const { nodes } = begin(LEASE_MS, seal)
  await settled()
  const heard: unknown[] = []
  nodes.on('word', (body) => heard.push(body))
  const said = (from: string, number: number, body: string): void => {
    memory.publish('all', JSON.stringify(['all', from, number, 'word', body]))
  }
  for (const from of ['first', 'second', 'third']) said(from, 1, from)
  for (let at = 3; at < 10_000; at++) said(`other-${at}`, 1, 'other')
  said('first', 2, 'more of the first')
  // A replay is no word of its sender.
  said('second', 1, 'again')
  said('last', 1, 'last')
  for (const [from, number] of [['first', 2], ['third', 1], ['second', 1]] as const) {
    said(from, number, `again of the ${from}`)
  }
  assert.deepEqual(heard.filter((word) => word !== 'other'), [
    'first', 'second', 'third', 'more of the first', 'last', 'again of the second',
  ])
})

test('a message of no form is no message, and the first of them is logged', async (t) => {
  const { memory, begin } = scene(t)
  const seal = createSeal(SECRET)
  const wrong: readonly unknown[] = [
    'text', null, { 0: 'all', 1: 'other', 2: 1, 3: 'word' }, [], ['all', 5, 1, 'word'],
    ['all', 'other', '1', 'word'], ['all', 'other', 1, 5],
  ]
  const texts = wrong.map((message) => seal.seal('message', message, Infinity))
  const word = ['all', 'other', 1, 'word', 1]
  texts.push('no seal', seal.seal('cursor', word, Infinity))
  texts.push(createSeal('another secret of others').seal('message', word, Infinity))
  for (const text of texts) {
    const one = begin()
    await settled()
    one.nodes.on('word', () => assert.fail('it is no message'))
    memory.publish('all', text)
    memory.publish('all', text)
    assert.equal(one.logged.length, 1)
    assert.match(one.logged[0]!, /^warning A process of this deployment has another secret or name;/)
    await one.nodes.close(true)
  }
})

test('what a message breaks is logged, and the next is taken', async (t) => {
  const { begin } = scene(t)
  const [one, other] = [begin(), begin()]
  await settled()
  const heard: unknown[] = []
  one.nodes.on('word', (body) => {
    heard.push(body)
    throw new Error('odd')
  })
  for (const word of [1, 2]) await other.nodes.send(one.nodes.id, 'word', word)
  assert.deepEqual(heard, [1, 2])
  assert.deepEqual(one.logged, Array(2).fill('error What another process said could not be taken'))
})

test('events that are lost are told, of each topic', async (t) => {
  const { memory, begin } = scene(t)
  const { follow } = memory
  const lost: (() => void)[] = []
  memory.follow = (topic, from, listener, onLost) => {
    lost.push(onLost!)
    assert.equal(from, topic === 'all' ? 'now' : 'kept')
    return follow(topic, from, listener, onLost)
  }
  const one = begin()
  await settled()
  for (const tell of lost) tell()
  assert.deepEqual(one.noticed, ['follows', 'beat', 'lost', 'lost'])
})
