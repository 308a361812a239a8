import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import test from 'node:test'
import {
  pauseUntilLoopFree, markLoopBusy, turn, whenLoopIsFree,
} from '../../../lib/kernel/http/stream/loop-fairness.ts'
import { portOf } from '../../fixtures/listening.ts'
import type { Socket } from 'node:net'

const nextTurn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve) })

test('a turn that is taken is free again in the next one', async () => {
  assert.equal(turn.isTaken, false)
  markLoopBusy()
  assert.equal(turn.isTaken, true)
  await nextTurn()
  assert.equal(turn.isTaken, false)
})

test('of large pieces of work one is done in a turn, in the order in which they came', async () => {
  const done: number[] = []
  for (const piece of [1, 2, 3]) {
    whenLoopIsFree(() => {
      done.push(piece)
      markLoopBusy()
    })
  }
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await nextTurn()
    assert.deepEqual(done, expected)
  }
  await nextTurn()
  assert.equal(turn.isTaken, false)
})

test('what waits for its turn is done in the context in which it was said', async () => {
  const kept = new AsyncLocalStorage<number>()
  const found: unknown[] = []
  for (const piece of [1, 2, 3]) {
    kept.run(piece, () => whenLoopIsFree(() => {
      found.push(kept.getStore())
      markLoopBusy()
    }))
  }
  for (const _piece of [1, 2, 3, 4]) await nextTurn()
  assert.deepEqual(found, [1, 2, 3])
})

test('small pieces that have waited are done in one turn', async () => {
  const done: number[] = []
  for (const piece of [1, 2, 3]) whenLoopIsFree(() => done.push(piece))
  assert.deepEqual(done, [])
  await nextTurn()
  assert.deepEqual(done, [1, 2, 3])
})

test('of connections that give way one is read in a turn, whatever Node does meanwhile', async (t) => {
  const server = createServer()
  const port = await portOf(t, server)
  const sockets: Socket[] = []
  for (let left = 3; left > 0; left--) {
    const client = connect(port, '127.0.0.1')
    t.after(() => client.destroy())
    const [socket] = await once(server, 'connection')
    await new Promise((resolve) => { client.write('some', resolve) })
    sockets.push(socket)
  }
  const read: unknown[] = []
  for (const socket of sockets) {
    socket.on('data', () => read.push(socket))
    pauseUntilLoopFree({ socket })
    pauseUntilLoopFree({ socket })
    // As Node does where what has come was taken.
    socket.resume()
  }
  assert.deepEqual(read, [])
  let most = 0
  for (let before = 0; read.length < 3; before = read.length) {
    await nextTurn()
    most = Math.max(most, read.length - before)
  }
  assert.equal(most, 1)
  assert.deepEqual(read, sockets)
  await nextTurn()
  assert.equal(turn.isTaken, false)
  assert.deepEqual(sockets.map((socket) => socket.listenerCount('resume')), sockets.map(() => 0))
})
