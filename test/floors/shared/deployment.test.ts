import assert from 'node:assert/strict'
import test from 'node:test'
import { deploymentStore } from '../../../lib/floors/shared/deployment.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import { eventually } from '../../fixtures/wire.ts'
import { deployments, sharedMemory, spacesIn } from '../../fixtures/shared-memory.ts'
import { keepingTimers } from '../../fixtures/time.ts'
import type { DeploymentStore } from '../../../lib/floors/shared/deployment.ts'
import type { MaybePromise, Store } from '../../../lib/index.ts'

const [OLD, NEW, NEXT] = ['the old secret of all', 'the new secret of all', 'the next secret of all']
const place = { collection: 'things', owner: 'ann', key: 'a' }

function storeOf(store: Store, secret: string | readonly string[], name?: string): DeploymentStore {
  return deploymentStore(store, secret, name, 1_000)
}

/** What is written by one, and whether the other reads it. */
async function meet(one: DeploymentStore, other: DeploymentStore): Promise<boolean> {
  await one.write(place, 'said', 60_000, 'any')
  return (await other.read(place))?.value === 'said'
}

test('what one deployment keeps and says is under names that no other has', async () => {
  const memory = memoryStore({ isShared: true })
  const [one, same, other] = [OLD, OLD, NEW].map((secret) => storeOf(memory, secret))
  assert.equal(await meet(one!, same!), true)
  assert.equal(await meet(one!, other!), false)
  assert.deepEqual((await same!.list('things', 'ann', 9)).map(({ value }) => value), ['said'])
  assert.deepEqual(await other!.list('things', 'ann', 9), [])
  const heard: string[] = []
  for (const [at, store] of [one, same, other].entries()) {
    await store!.follow('topic', 'now', (text) => heard.push(`${at} ${text}`))
  }
  await same!.publish('topic', 'word')
  assert.deepEqual(heard, ['0 word', '1 word'])
  assert.equal(await other!.remove(place, 'any'), false)
  assert.equal(await same!.remove(place, 'any'), true)
  for (const space of spacesIn(memory.read(deployments))) assert.match(space, /^[0-9a-f]{24}\/$/)
})

test('a name stands in the place of secrets, and is looked up nowhere', async () => {
  const memory = memoryStore({ isShared: true })
  assert.equal(await meet(storeOf(memory, OLD, 'shop'), storeOf(memory, NEW, 'shop')), true)
  assert.equal(await meet(storeOf(memory, OLD, 'bank'), storeOf(memory, OLD, 'Bank')), false)
  assert.equal(await meet(storeOf(memory, OLD, OLD), storeOf(memory, OLD)), false)
  const named = storeOf(memory, OLD, 'desk')
  assert.equal(typeof named.write(place, 'at once', 1_000, 0), 'number')
  await storeOf({ ...memory, read: () => assert.fail('It is looked up') }, OLD, 'desk').confirm()
  assert.equal(spacesIn(memory.read(deployments)).length, 1)
})

test('once the id is known, a store that answers at once does so again', async () => {
  const asked: string[] = []
  const memory = memoryStore({ isShared: true })
  const store = storeOf({ ...memory, read(key) {
    asked.push(key.collection)
    return memory.read(key)
  } }, OLD)
  await store.read(place)
  assert.equal(store.read(place), undefined)
  assert.equal(typeof store.write(place, 'a', 1_000, 0), 'number')
  assert.equal(asked.filter((name) => name === 'deployments').length, 1)
})

test('secrets are replaced one after the other, and the deployment stays what it was', async () => {
  const memory = memoryStore({ isShared: true })
  const first = storeOf(memory, OLD)
  for (const secret of [
    [OLD, NEW], [NEW, OLD], [NEW], [NEW, NEXT], [NEXT, NEW], [NEXT, NEXT], [NEXT],
  ]) assert.equal(await meet(first, storeOf(memory, secret)), true, secret.join())
  assert.equal(spacesIn(memory.read(deployments)).length, 1)
})

test('a secret that was another deployment\'s before joins the one that takes it up', async () => {
  const memory = memoryStore({ isShared: true })
  await storeOf(memory, NEW).read(place)
  const old = storeOf(memory, OLD)
  await old.read(place)
  assert.equal(await meet(old, storeOf(memory, [OLD, NEW])), true)
  assert.equal(await meet(old, storeOf(memory, [NEW, OLD])), true)
  assert.equal(await meet(old, storeOf(memory, NEW)), true)
})

test('however many begin at once, those with a secret in common have one id', async () => {
  const shared = sharedMemory()
  const secrets = [[OLD], [OLD, NEW], [NEW, OLD], [NEW, OLD], [OLD, NEW], [OLD]]
  const strangers = Array.from({ length: 20 }, (_, at) => (
     storeOf(shared.connect(), `the secret of ${at} only`)
  ))
  const stores = secrets.map((secret) => storeOf(shared.connect(), secret))
  await Promise.all([...strangers, ...stores].map((store) => store.read(place)))
  for (const store of stores) assert.equal(await meet(stores[0]!, store), true)
  assert.equal(spacesIn(shared.memory.read(deployments)).length, strangers.length + 1)
})

/** A store whose reads of the ids are answered when the test says so. */
function held(): { store: Store; readonly memory: Store; answers: ((error?: Error) => void)[] } {
  const memory = memoryStore({ isShared: true })
  const answers: ((error?: Error) => void)[] = []
  const read = (key: Parameters<Store['read']>[0]): MaybePromise<ReturnType<typeof memory.read>> => (
    key.collection !== 'deployments' ? memory.read(key)
      : new Promise((resolve, reject) => answers.push((error) => (
        error === undefined ? resolve(memory.read(key)) : reject(error)
      )))
  )
  return { store: { ...memory, read }, memory, answers }
}

test('what was said before the id was known is heard before what was said after it', async () => {
  const { store, memory, answers } = held()
  const other = storeOf(memory, OLD)
  const heard: string[] = []
  await other.follow('topic', 'now', (text) => heard.push(text))
  const one = storeOf(store, OLD)
  const said = ['1', '2', '3'].map((text) => one.publish('topic', text))
  answers[0]!()
  for (let at = 4; heard.length < 8; at++) {
    void one.publish('topic', `${at}`)
    await Promise.resolve()
  }
  await Promise.all(said)
  assert.deepEqual(heard, heard.map((_, at) => `${at + 1}`))
  assert.equal(answers.length, 1)
})

test('an answer that never comes is not waited for by who asks later', async () => {
  const { store, answers } = held()
  const one = deploymentStore(store, OLD, undefined, 20)
  void Promise.resolve(one.read(place)).catch(() => {})
  assert.equal(answers.length, 1)
  await eventually(() => {
    void Promise.resolve(one.read(place)).catch(() => {})
    return answers.length === 2
  })
  // Nor is the one that is asked for now given up for what comes of it in the end.
  const again = Promise.resolve(one.read(place))
  answers[0]!(new Error('late'))
  await new Promise((resolve) => setImmediate(resolve))
  const last = Promise.resolve(one.read(place))
  assert.equal(answers.length, 2)
  answers[1]!()
  assert.deepEqual([await again, await last], [undefined, undefined])
  await eventually(() => !(one.read(place) instanceof Promise))
})

test('no timer is left behind what was answered, or refused', async () => {
  const before = keepingTimers()
  for (const error of [undefined, new Error('ECONNREFUSED')]) {
    const { store, answers } = held()
    const asked = Promise.resolve(deploymentStore(store, OLD, undefined, 60_000).read(place))
    assert.equal(keepingTimers(), before + 1)
    answers[0]!(error)
    await asked.catch(() => {})
    assert.equal(keepingTimers(), before)
  }
})

test('who was refused asks again', async () => {
  const memory = memoryStore({ isShared: true })
  let isDown = true
  const one = storeOf({ ...memory, read(key) {
    if (isDown) throw new Error('ECONNREFUSED')
    return memory.read(key)
  } }, OLD)
  await assert.rejects(async () => one.write(place, 'a', 1_000, 0), /ECONNREFUSED/)
  isDown = false
  assert.equal(typeof await one.write(place, 'a', 1_000, 0), 'number')
})

test('the id is written again where the store has lost it, and only then', async () => {
  const memory = memoryStore({ isShared: true })
  let writes = 0
  const counted: Store = { ...memory, write(key, ...rest) {
    if (key.collection === 'deployments') writes += 1
    return memory.write(key, ...rest)
  } }
  const one = storeOf(counted, [OLD, NEW])
  // Nobody has asked for it yet.
  await one.confirm()
  assert.equal(memory.read(deployments), undefined)
  assert.equal(await meet(one, storeOf(memory, NEW)), true)
  const known = memory.read(deployments)!.value
  await one.confirm()
  assert.equal(writes, 1)
  memory.remove(deployments, 'any')
  // Another deployment is there first, and a process of this one would choose another id now.
  await storeOf(memory, NEXT).read(place)
  await one.confirm()
  assert.equal(writes, 2)
  const lines = memory.read(deployments)!.value.split('\n')
  for (const line of known.split('\n')) assert.ok(lines.includes(line))
  assert.equal(lines.length, 3)
  for (const secret of [OLD, NEW]) assert.equal(await meet(one, storeOf(memory, secret)), true)
  const away = storeOf({ ...memory, read: (key) => {
    if (writes === 0 && key.collection === 'deployments') throw new Error('ECONNREFUSED')
    return memory.read(key)
  } }, OLD)
  await away.read(place)
  writes = 0
  await assert.rejects(away.confirm(), /ECONNREFUSED/)
})

test('who is never first is told so, after a number of tries that is bounded', async () => {
  let tries = 0
  const store: Store = { ...memoryStore({ isShared: true }), write: () => void tries++ }
  await assert.rejects(async () => storeOf(store, OLD).read(place), {
    kind: 'busy', message: 'Other deployments write to the store all the time; try again later',
  })
  assert.equal(tries, 100)
})
