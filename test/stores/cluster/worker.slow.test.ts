import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import test from 'node:test'
import { hostStore, memoryStore, workerStore } from '../../../lib/index.ts'
import type { Worker } from 'node:cluster'
import type { TestContext } from 'node:test'
import type { Store } from '../../../lib/index.ts'

cluster.setupPrimary({
  exec: fileURLToPath(new URL('../../fixtures/store-worker.js', import.meta.url)), silent: true,
})

interface Working { readonly worker: Worker; readonly told: unknown[]; next(): Promise<unknown> }

/** A worker that does one job. */
function work(t: TestContext, job: string): Working {
  const worker = cluster.fork({ JOB: job })
  t.after(() => { worker.process.kill('SIGKILL') })
  const told: unknown[] = []
  let awaited: () => void = () => {}
  worker.on('message', (message: object) => {
    if (Object.hasOwn(message, 'triport:store')) return
    told.push(message)
    awaited()
  })
  const next = async (): Promise<unknown> => {
    if (told.length === 0) await new Promise<void>((resolve) => { awaited = resolve })
    return told.shift()
  }
  return { worker, told, next }
}

function host(t: TestContext, store: Store): void {
  t.after(hostStore(store))
}

test('the store of a worker keeps every rule of a store', async (t) => {
  host(t, memoryStore({ isShared: true, maxValueBytes: 8_000 }))
  const report = await work(t, 'check').next() as { readonly passed: unknown[]; readonly failed: unknown[] }
  assert.deepEqual(report.failed, [])
  assert.ok(report.passed.length > 30)
})

test('a worker hears what the primary and other workers say, and what is kept', async (t) => {
  const store = memoryStore({ isShared: true })
  host(t, store)
  store.publish('topic', 'before', { events: 9, ms: 60_000 })
  const one = work(t, 'follow')
  assert.deepEqual([await one.next(), await one.next()], ['before', 'follows'])
  store.publish('topic', 'after')
  assert.equal(await one.next(), 'after')
  const two = work(t, 'forEver')
  assert.deepEqual(await one.next(), 'kept')
  const [entry] = await two.next() as readonly { readonly value: string }[]
  assert.equal(entry?.value, 'always')
})

test('what a worker has followed is left when it dies', async (t) => {
  const memory = memoryStore({ isShared: true })
  let count = 0
  host(t, {
    ...memory,
    follow(...heard) {
      const leave = memory.follow(...heard)
      count++
      return () => {
        count--
        leave()
      }
    },
  })
  const { worker, next } = work(t, 'follow')
  assert.equal(await next(), 'follows')
  assert.equal(count, 2)
  worker.process.kill('SIGKILL')
  await once(worker, 'disconnect')
  assert.equal(count, 0)
})

test('what a worker was about to follow when its store was no longer hosted is left', async (t) => {
  const memory = memoryStore({ isShared: true })
  let asked = (): void => {}
  let go = (): void => {}
  const isAsked = new Promise<void>((resolve) => { asked = resolve })
  const mayGo = new Promise<void>((resolve) => { go = resolve })
  const isLeft = new Promise<void>((resolve) => {
    const end = hostStore({
      ...memory,
      async follow() {
        asked()
        await mayGo
        return resolve
      },
    })
    work(t, 'follow')
    void isAsked.then(() => {
      end()
      go()
    })
  })
  const late = new Promise((resolve) => { setTimeout(resolve, 2_000, 'late') })
  assert.equal(await Promise.race([isLeft, isAsked.then(() => late)]), undefined)
})

test('a refusal arrives as it is, and any other failure as a store that was not reached', async (t) => {
  const memory = memoryStore({ isShared: true, maxValueBytes: 8_000 })
  host(t, { ...memory, read() { throw new Error('the disk is full') } })
  assert.deepEqual(await work(t, 'fail').next(), [
    'too-large: The store takes 8000 bytes at most in one value, not 9000',
    'busy: The store cannot be reached; try again later, for the disk is full',
  ])
})

test('a worker whose primary has gone is told, and refused', async (t) => {
  host(t, memoryStore({ isShared: true }))
  const { worker } = work(t, 'disconnect')
  let output = ''
  worker.process.stdout?.on('data', (text) => { output += text })
  await once(worker.process, 'close')
  assert.equal(output, '1 busy: The store is closed, or the primary has gone')
})

test('a worker whose primary hosts no store is told what to call', async (t) => {
  assert.equal(await work(t, 'ask').next(), 'busy: The primary does not answer: let it call hostStore(store)')
})

test('a primary hosts only what others may share, and others than workers have no store of it', () => {
  assert.throws(() => hostStore(memoryStore()), {
    name: 'TypeError', message: /memoryStore\(\{ isShared: true/,
  })
  assert.throws(() => workerStore(), {
    name: 'Error', message: /node:cluster has started; hostStore for its/,
  })
})
