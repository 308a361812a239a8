// Workers and their primary in one process: what one sends the other gets, as JSON, when the test lets it.
import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import test from 'node:test'
import { Fault, hostStore, memoryStore, workerStore } from '../../../lib/index.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { Worker } from 'node:cluster'
import type { TestContext } from 'node:test'
import type { MemoryStore, Store } from '../../../lib/index.ts'

const place = { collection: 'things', owner: 'ann', key: 'a' }

/** A worker, as its primary and as it itself sees the two. */
interface Pair {
  readonly worker: Worker
  /** What the worker has sent, and what was sent to it. */
  readonly asked: unknown[]
  readonly told: unknown[]
  /** Whether what is sent arrives. */
  isDeaf: boolean
  isConnected: boolean
  /** What sending fails with. */
  failure: Error | null
}

function pair(t: TestContext): Pair {
  const copy = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  const one: Pair = {
    worker: {
      isConnected: () => one.isConnected,
      send(message: unknown, callback: () => void) {
        one.told.push(copy(message))
        process.emit('message', copy(message), undefined)
        callback()
        return true
      },
    } as unknown as Worker,
    asked: [], told: [], isDeaf: false, isConnected: true, failure: null,
  }
  type Done = (error: Error | null) => void
  const send = (message: unknown, _handle: unknown, _options: unknown, done: Done): void => {
    if (one.failure === null) one.asked.push(copy(message))
    if (one.failure === null && !one.isDeaf) cluster.emit('message', one.worker, copy(message), undefined)
    done(one.failure)
  }
  const before = ['send', 'connected'].map((name) => (
    [name, Object.getOwnPropertyDescriptor(process, name)] as const
  ))
  Object.defineProperty(process, 'send', { value: send, configurable: true, writable: true })
  Object.defineProperty(process, 'connected', { get: () => one.isConnected, configurable: true })
  t.after(() => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(process, name)
      else Object.defineProperty(process, name, descriptor)
    }
  })
  return one
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
}

/** A store that a primary hosts, and one of its workers. */
function hosted(
  t: TestContext, store: Partial<Store> = {},
): Pair & { readonly memory: MemoryStore; readonly store: Store; end(): void } {
  const memory = memoryStore({ isShared: true, maxValueBytes: 100 })
  const one = pair(t)
  const end = hostStore({ ...memory, ...store })
  const made = workerStore()
  t.after(() => {
    one.isConnected = true
    void made.close?.()
    end()
  })
  return Object.assign(one, { memory, store: made, end })
}

test('every method of a worker is answered out of the store of its primary', async (t) => {
  const { memory, store } = hosted(t)
  const version = await store.write(place, 'one', Infinity, 0)
  assert.equal(version, memory.read(place)?.version)
  assert.equal(await store.write(place, 'two', 60_000, 0), undefined)
  assert.deepEqual(await store.read(place), memory.read(place))
  assert.equal(await store.read({ ...place, key: 'b' }), undefined)
  await store.write({ ...place, key: 'b' }, 'other', 60_000, 'any')
  assert.deepEqual((await store.list('things', 'ann', Infinity)).map(({ key }) => key), ['b', 'a'])
  assert.deepEqual((await store.list('things', 'ann', 1)).map(({ key }) => key), ['b'])
  const [first] = await store.list('things', 'ann', 1)
  assert.deepEqual((await store.list('things', 'ann', 9, first!.version)).map(({ key }) => key), ['a'])
  assert.deepEqual([await store.remove(place, 1e9), await store.remove(place, version!)], [false, true])
  await store.publish('topic', 'lost')
  await store.publish('topic', 'kept', { events: Infinity, ms: Infinity })
  const kept: string[] = []
  memory.follow('topic', 'kept', (text) => kept.push(text))
  assert.deepEqual(kept, ['kept'])
})

test('a refusal is told as it is, and what else fails as a store that was not reached', async (t) => {
  const away = new Fault('busy', 'Away', undefined, { cause: new Error('ECONNRESET') })
  const failures: readonly (readonly [
    error: unknown, kind: string, message: RegExp, cause: string | undefined,
  ])[] = [
    [new Fault('too-large', 'Too much'), 'too-large', /^Too much$/, undefined],
    [away, 'busy', /^Away$/, 'ECONNRESET'],
    [new Error('the disk is full'), 'busy', /^The store cannot be reached/, 'the disk is full'],
    ['a text', 'busy', /^The store cannot be reached/, 'a text'],
  ]
  let failure: unknown
  const { store, asked } = hosted(t, { read() { throw failure }, follow: () => Promise.reject(failure) })
  for (const [error, kind, message, cause] of failures) {
    failure = error
    for (const act of [() => store.read(place), () => store.follow('topic', 'now', () => {})]) {
      await assert.rejects(async () => act(), (fault) => {
        assert.ok(fault instanceof Fault)
        assert.deepEqual([fault.kind, (fault.cause as Error | undefined)?.message], [kind, cause])
        assert.match(fault.message, message)
        return true
      })
    }
  }
  await assert.rejects(async () => store.write(place, 'x'.repeat(101), 1, 0), { kind: 'too-large' })
  // The primary may have got to what it did not answer: it is left.
  const last = asked.at(-2) as { readonly 'triport:store': { readonly content: { readonly method: string } } }
  assert.equal(last['triport:store'].content.method, 'leave')
})

test('a primary hosts only what others may share, and others than workers have no store of it', () => {
  for (const store of [memoryStore(), undefined, null, 'redis']) {
    assert.throws(() => hostStore(store as Store), { name: 'TypeError', message: /that others may share/ })
  }
  assert.throws(() => workerStore(), { name: 'Error', message: /for a worker that node:cluster has started/ })
})

test('a worker hears what it follows, and what is lost, until it leaves, which it does once', async (t) => {
  const lose: (() => void)[] = []
  let left = 0
  const inner = memoryStore({ isShared: true })
  const { store, asked } = hosted(t, {
    publish: inner.publish,
    async follow(topic, from, listener, onLost) {
      lose.push(onLost!)
      const leave = inner.follow(topic, from, listener)
      return () => {
        left += 1
        leave()
      }
    },
  })
  inner.publish('topic', 'before', { events: 9, ms: 60_000 })
  const heard: string[] = []
  const leave = await store.follow('topic', 'kept', (text) => heard.push(text), () => heard.push('lost'))
  await store.follow('topic', 'now', (text) => heard.push(`other ${text}`))
  inner.publish('topic', 'after')
  lose[0]!()
  lose[1]!()
  assert.deepEqual(heard, ['before', 'after', 'other after', 'lost'])
  const before = asked.length
  leave()
  leave()
  await settled()
  assert.deepEqual([asked.length - before, left], [1, 1])
  inner.publish('topic', 'last')
  assert.deepEqual(heard.slice(4), ['other last'])
})

test('messages of others on the same channel, and of other stores, are left alone', async (t) => {
  const { store, worker, asked, told } = hosted(t)
  const other = workerStore()
  t.after(() => other.close?.())
  const heard: string[] = []
  await store.follow('topic', 'now', (text) => heard.push(text))
  await other.follow('topic', 'now', (text) => heard.push(`other ${text}`))
  await store.publish('topic', 'x')
  assert.deepEqual(heard, ['x', 'other x'])
  const count = told.length
  const inherited: unknown = Object.create({ 'triport:store': {} })
  for (const message of [undefined, null, 5, 'text', {}, { 'triport': 1 }, inherited]) {
    cluster.emit('message', worker, message, undefined)
    process.emit('message', message, undefined)
  }
  await settled()
  assert.deepEqual([told.length, asked.length], [count, 3])
  assert.equal(await store.read(place), undefined)
})

test('what a worker follows, or is about to, is left when it ends, or is hosted no more', async (t) => {
  for (const way of ['the worker ends', 'the primary ends it', 'the worker leaves'] as const) {
    await t.test(way, async (t) => {
      const begins: (() => void)[] = []
      let left = 0
      const one = hosted(t, {
        follow: () => new Promise((resolve) => { begins.push(() => resolve(() => { left += 1 })) }),
      })
      const followed = Promise.resolve(one.store.follow('topic', 'now', () => {}))
      begins.shift()!()
      await followed
      const late = Promise.resolve(one.store.follow('topic', 'now', () => {})).catch(() => {})
      const count = one.told.length
      if (way === 'the worker ends') {
        one.isConnected = false
        cluster.emit('disconnect', one.worker)
      } else if (way === 'the primary ends it') {
        one.end()
      } else {
        await one.store.close?.()
      }
      await settled()
      assert.equal(left, 1)
      begins.shift()!()
      await settled()
      assert.equal(left, 2)
      // Who has gone is sent nothing.
      if (way === 'the worker ends') assert.equal(one.told.length, count)
      await Promise.race([late, settled()])
      // Whoever asks now, is not answered.
      if (way !== 'the primary ends it') return
      void Promise.resolve(one.store.read(place)).catch(() => {})
      await settled()
      assert.equal(one.told.length, count + 1)
    })
  }
})

test('a worker that cannot send, or whose primary has gone, is refused, and told what is lost', async (t) => {
  const one = hosted(t)
  const { store } = one
  const lost: string[] = []
  await store.follow('topic', 'now', () => {}, () => lost.push('lost'))
  one.failure = new Error('EPIPE')
  await assert.rejects(async () => store.read(place), (fault) => (
    fault instanceof Fault && fault.kind === 'busy' && fault.cause === one.failure
      && fault.message === 'The primary cannot be reached; try again later'
  ))
  one.failure = null
  one.isDeaf = true
  const pending = [store.read(place), store.follow('other', 'now', () => {}, () => lost.push('other lost'))]
  const gone = { kind: 'busy', message: 'The primary has gone' }
  const refused = pending.map((answer) => assert.rejects(async () => answer, gone))
  one.isConnected = false
  process.emit('disconnect')
  process.emit('disconnect')
  await Promise.all(refused)
  assert.deepEqual(lost, ['lost', 'other lost'])
  await assert.rejects(async () => store.read(place), {
    kind: 'busy', message: 'The store is closed, or the primary has gone',
  })
})

test('a store that is closed says so, leaves what it follows, and hears nothing more', async (t) => {
  const one = hosted(t)
  const heard: string[] = []
  await one.store.follow('topic', 'now', (text) => heard.push(text), () => heard.push('lost'))
  one.isDeaf = true
  const refused = assert.rejects(async () => one.store.read(place), { message: 'The store is closed' })
  one.isDeaf = false
  const before = one.asked.length
  await one.store.close?.()
  await one.store.close?.()
  await refused
  assert.equal(one.asked.length, before + 1)
  one.memory.publish('topic', 'x')
  process.emit('disconnect')
  assert.deepEqual(heard, [])
  assert.deepEqual([process.listenerCount('disconnect'), process.listenerCount('message')], [0, 0])
})

test('a primary that never answered is given five seconds, one that has as long as it takes', async (t) => {
  const pass = standingTime(t)
  const one = hosted(t)
  one.isDeaf = true
  const outcomes: string[] = []
  const ask = (): void => {
    Promise.resolve(one.store.read(place)).then(() => outcomes.push('answer'), ({ kind, message }: Fault) => (
      outcomes.push(`${kind}: ${message}`)
    ))
  }
  const silent = 'busy: The primary does not answer: let it call hostStore(store)'
  ask()
  pass(2_000)
  ask()
  pass(2_999)
  await settled()
  assert.deepEqual(outcomes.splice(0), [])
  pass(1)
  await settled()
  assert.deepEqual(outcomes.splice(0), [silent, silent])
  // It is asked anew, and each time as long.
  ask()
  pass(4_999)
  await settled()
  assert.deepEqual(outcomes, [])
  one.isDeaf = false
  ask()
  await settled()
  pass(60_000)
  await settled()
  assert.deepEqual(outcomes.splice(0), ['answer'])
  one.isDeaf = true
  ask()
  pass(60_000)
  await settled()
  assert.deepEqual(outcomes, [])
})
