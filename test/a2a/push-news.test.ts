import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../lib/define/fault.ts'
import { PushNews } from '../../lib/a2a/push/push-news.ts'
import { eventually } from '../fixtures/client.ts'
import { sharedMemory } from '../fixtures/fleet.ts'
import type { OwnedTask } from '../../lib/a2a/push/push-config.ts'
import type { Store } from '../../lib/index.ts'

/** A store that fails so often when it is asked to follow. */
function failing(times: number): { store: Store; asked: () => number } {
  const connection = sharedMemory().connect()
  let asked = 0
  const store: Store = {
    ...connection,
    follow: (...all) => {
      asked += 1
      if (asked <= times) throw new Fault('busy', 'The store does not answer')
      return connection.follow(...all)
    },
  }
  return { store, asked: () => asked }
}

test('a store that did not answer at the start is asked again, and says so once', async (t) => {
  // Nothing else does while the store is waited for.
  const alive = setInterval(() => {}, 1_000)
  t.after(() => clearInterval(alive))
  const { store, asked } = failing(2)
  const said: string[] = []
  const heard: OwnedTask[] = []
  const news = new PushNews(store, (_level, sentence) => { said.push(sentence) })
  news.hear((task) => { heard.push(task) })
  await eventually(() => asked() === 3)
  const task = { owner: 'ann', id: 't-1' }
  await eventually(() => {
    news.tell(task)
    return heard.length > 0
  })
  assert.deepEqual(heard[0], task)
  assert.deepEqual(said, ['Push configurations of other processes are not heard of for now'])
  await news.close()
})

test('closing waits for no store that does not answer', async () => {
  const { store, asked } = failing(Infinity)
  const news = new PushNews(store, () => {})
  news.hear(() => {})
  await eventually(() => asked() === 1)
  const begunAt = performance.now()
  await news.close()
  assert.ok(performance.now() - begunAt < 500)
  assert.equal(asked(), 1)
})
