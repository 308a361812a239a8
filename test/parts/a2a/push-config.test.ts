import assert from 'node:assert/strict'
import test from 'node:test'
import {
  checkPushConfig, pageOfPushConfigs, pushConfigBytes, PushConfigs, pushConfigOf, shownPushConfig,
} from '../../../lib/parts/a2a/push/push-config.ts'
import { memoryStore } from '../../../lib/index.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import type { PushConfig } from '../../../lib/parts/a2a/model/model.ts'
import type { OwnedTask } from '../../../lib/parts/a2a/push/push-config.ts'
import type { Store, StoreKey } from '../../../lib/index.ts'

const task: OwnedTask = { owner: 'ann', id: 'task-1' }

function config(id: string | undefined, more: Partial<PushConfig> = {}): PushConfig {
  return {
    id, taskId: undefined, url: 'https://hooks.example.com/', token: undefined, authentication: undefined,
    ...more,
  }
}

function idsOf(configs: readonly PushConfig[]): readonly (string | undefined)[] {
  return configs.map(({ id }) => id)
}

for (const [name, store] of [['memory', memoryStore()], ['shared', sharedStore()]] as const) {
  test(`configurations are of one task and one owner, in the order in which they came: ${name}`, async () => {
    const configs = new PushConfigs(store)
    for (const id of ['a', 'b', 'c']) await configs.put(task, config(id), '1.0', Infinity)
    assert.deepEqual(idsOf(await configs.of(task)), ['a', 'b', 'c'])
    assert.deepEqual(await configs.of({ owner: 'bob', id: 'task-1' }), [])
    assert.deepEqual(await configs.of({ owner: 'ann', id: 'task-2' }), [])
    const before = (await configs.of(task))[1]!
    const other = config('b', { url: 'https://other.example.com/' })
    const replaced = await configs.put(task, other, '0.3', Infinity)
    assert.notEqual(replaced.stamp, before.stamp)
    const after = await configs.of(task)
    assert.deepEqual(idsOf(after), ['a', 'b', 'c'])
    assert.deepEqual([after[1]!.url, after[1]!.dialect], ['https://other.example.com/', '0.3'])
    assert.equal((await configs.remove(task, undefined, Infinity))?.id, 'a')
    assert.deepEqual(idsOf(await configs.of(task)), ['b', 'c'])
  })
}

test('an id that is left out is made, another each time', async () => {
  const configs = new PushConfigs(memoryStore())
  const one = await configs.put(task, config(undefined), '1.0', 9)
  const two = await configs.put(task, config(undefined), '1.0', 9)
  assert.match(one.id, /^[\da-f-]{36}$/)
  assert.notEqual(one.id, two.id)
})

test('those that are added at one time are all there', async () => {
  const configs = new PushConfigs(sharedStore(1))
  await Promise.all(['a', 'b', 'c', 'd'].map(async (id) => configs.put(task, config(id), '1.0', Infinity)))
  assert.deepEqual(idsOf(await configs.of(task)).toSorted(), ['a', 'b', 'c', 'd'])
})

/** A store in which another process is faster, so many times. */
function overtaken(times: number): { readonly store: Store; readonly tried: () => number } {
  const store = memoryStore({ isShared: true })
  let tried = 0
  const other = async (key: StoreKey): Promise<void> => {
    const entry = await store.read(key)
    if (tried++ < times) await store.write(key, entry?.value ?? '[]', 60_000, 'any')
  }
  return {
    tried: () => tried,
    store: {
      ...store,
      async write(key, value, keepMs, expected) {
        await other(key)
        return store.write(key, value, keepMs, expected)
      },
      async remove(key, expected) {
        await other(key)
        return store.remove(key, expected)
      },
    },
  }
}

test('what another process overtakes is tried again, and not for ever', async () => {
  const { store, tried } = overtaken(3)
  const configs = new PushConfigs(store)
  await configs.put(task, config('a'), '1.0', 60_000)
  assert.deepEqual([idsOf(await configs.of(task)), tried()], [['a'], 4])
  const gone = overtaken(4)
  const others = new PushConfigs(gone.store)
  await others.put(task, config('a'), '1.0', 60_000)
  await others.put(task, config('b'), '1.0', 60_000)
  assert.equal(gone.tried(), 6)
  const last = overtaken(15)
  await new PushConfigs(last.store).put(task, config('a'), '1.0', 60_000)
  const never = overtaken(Infinity)
  const busy = { kind: 'busy', message: /change too fast; try again later/ }
  await assert.rejects(async () => new PushConfigs(never.store).put(task, config('a'), '1.0', 60_000), busy)
  assert.deepEqual([last.tried(), never.tried()], [16, 16])
})

test('one is removed also where another process is faster, and with the last all of the task', async () => {
  const inner = memoryStore({ isShared: true })
  const all = new PushConfigs(inner)
  for (const id of ['a', 'b']) await all.put(task, config(id), '1.0', 60_000)
  const other = new PushConfigs(inner)
  let isFirst = true
  const configs = new PushConfigs({ ...inner, async remove(key, expected) {
    if (isFirst) await other.put(task, config('c'), '1.0', 60_000)
    isFirst = false
    return inner.remove(key, expected)
  } })
  assert.equal((await configs.remove(task, 'a', 60_000))?.id, 'a')
  assert.equal((await configs.remove(task, 'b', 60_000))?.id, 'b')
  assert.deepEqual(idsOf(await configs.of(task)), ['c'])
  assert.equal(await configs.remove(task, 'b', 60_000), undefined)
  await configs.remove(task, 'c', 60_000)
  assert.deepEqual(inner.list('push-configs', 'ann', 9), [])
})

test('what an owner removes, all at once or one, is of that owner and task alone', async () => {
  const configs = new PushConfigs(sharedStore())
  const all = [task, { ...task, id: 'task-2' }, { owner: 'bob', id: 'task-1' }]
  for (const one of all) await configs.put(one, config('a'), '1.0', 60_000)
  await configs.removeAll({ owner: 'eve', id: task.id })
  assert.equal(await configs.remove({ owner: 'eve', id: task.id }, 'a', 60_000), undefined)
  await configs.removeAll(task)
  const counts = await Promise.all(all.map(async (one) => (await configs.of(one)).length))
  assert.deepEqual(counts, [0, 1, 1])
})

test('there is room for one that is replaced, and none for one more', async () => {
  const configs = new PushConfigs(sharedStore())
  for (let at = 0; at < 15; at++) await configs.put(task, config(`${at}`), '1.0', 60_000)
  await configs.requireRoom(task, 'more')
  await configs.put(task, config('more'), '1.0', 60_000)
  await configs.requireRoom(task, 'more')
  await assert.rejects(configs.requireRoom(task, 'one more'), { kind: 'too-large' })
})

test('the trace of a request is kept where it is one', async () => {
  const configs = new PushConfigs(memoryStore())
  const traces = [`00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, '00-a-b-01', undefined]
  for (const trace of traces) {
    const kept = await configs.put(task, config('a'), '1.0', 60_000, trace)
    assert.equal(kept.traceparent, trace === traces[0] ? trace : undefined)
  }
})

test('what one takes is counted with all its texts', async () => {
  const configs = new PushConfigs(memoryStore())
  const bare = pushConfigBytes(await configs.put(task, config('a'), '1.0', 60_000))
  const full = pushConfigBytes(await configs.put(task, config('a', {
    token: 't'.repeat(1_000), authentication: { schemes: ['Bearer', 'Basic'], credentials: 'c'.repeat(100) },
  }), '1.0', 60_000))
  assert.equal(full - bare, 2 * (1_000 + 'BearerBasic'.length + 100))
})

test('a task has at most 16, one of which can always be replaced', async () => {
  const configs = new PushConfigs(memoryStore())
  for (let at = 0; at < 16; at++) await configs.put(task, config(`${at}`), '1.0', Infinity)
  const more = (): unknown => configs.put(task, config('one more'), '1.0', Infinity)
  assert.throws(more, /at most 16 push configurations; delete/)
  await configs.put(task, config('3'), '1.0', Infinity)
  await configs.put({ ...task, id: 'task-2' }, config('a'), '1.0', Infinity)
  assert.equal((await configs.of(task)).length, 16)
})

test('they are kept no longer than they are told to be', async () => {
  const store = memoryStore()
  const writes: number[] = []
  const configs = new PushConfigs({ ...store, write(key, value, keepMs, expected) {
    writes.push(keepMs)
    return store.write(key, value, keepMs, expected)
  } })
  await configs.put(task, config('a'), '1.0', Infinity)
  await configs.keepFor(task, 60_000)
  await configs.keepFor({ ...task, id: 'without any' }, 60_000)
  assert.deepEqual(writes, [Infinity, 60_000])
})

const secret = 'a-secret-value'

const wrong: readonly (readonly [given: Partial<PushConfig>, complaint: RegExp])[] = [
  ...['', 'a/b', 'a\\b', 'a\0b', 'a'.repeat(257)].map((id) => (
    [{ id }, /^id must be 1 to 256 bytes without/] as const
  )),
  ...['', ' a', 'a ', `${secret}\r\nX: y`, `${secret}\n`, `${secret}\0`, `${secret}é`, secret.repeat(100)]
    .map((token) => [{ token }, /^token must be 1 to 1024 visible/] as const),
  ...[[], ['Bea rer'], ['Bearer:'], ['Bearer\r\n'], [''], ['é'], ['a'.repeat(65)],
    Array<string>(9).fill('Bearer')]
    .map((schemes) => (
      [{ authentication: { schemes, credentials: secret } }, /^authentication must name a scheme/] as const
    )),
  ...['', `${secret}\r\nHost: evil.test`, `${secret}\u2028`, secret.repeat(300)].map((credentials) => (
    [{ authentication: { schemes: ['Bearer'], credentials } }, /^authentication.credentials must be/] as const
  )),
]

test('what cannot be put into a header is refused, and not shown', () => {
  for (const [given, complaint] of wrong) {
    assert.throws(() => checkPushConfig(config('a', given)), (error: Error) => {
      assert.match(error.message, complaint, JSON.stringify(given).slice(0, 80))
      assert.doesNotMatch(error.message, new RegExp(secret))
      return true
    })
  }
  checkPushConfig(config(undefined))
  // As much as may be, and what is one more.
  const most = { id: 'ä'.repeat(128), token: 't'.repeat(1_024) }
  const schemes = Array<string>(8).fill('S'.repeat(64))
  const authentication = { schemes, credentials: 'c'.repeat(4_096) }
  checkPushConfig(config('a', { ...most, authentication }))
  for (const more of [{ id: `${most.id}a` }, { token: `${most.token}t` },
    { authentication: { schemes, credentials: `${authentication.credentials}c` } }]) {
    assert.throws(() => checkPushConfig(config('a', more)), { kind: 'invalid' }, Object.keys(more)[0])
  }
  checkPushConfig(config('a b:c', {
    token: 'a token',
    authentication: { schemes: ['Digest', 'Bearer'], credentials: 'username="a", realm="b"' },
  }))
})

test('what is shown of one has neither token nor credentials', async () => {
  const configs = new PushConfigs(memoryStore())
  const kept = await configs.put(task, config('a', {
    token: secret, authentication: { schemes: ['Bearer'], credentials: secret },
  }), '1.0', Infinity)
  assert.equal(kept.token, secret)
  assert.deepEqual(shownPushConfig(kept), {
    id: 'a', taskId: 'task-1', url: 'https://hooks.example.com/', token: undefined,
    authentication: { schemes: ['Bearer'], credentials: undefined },
  })
})

test('without an id the first is meant, and one that is not there is not found', async () => {
  const configs = new PushConfigs(memoryStore())
  for (const id of ['a', 'b']) await configs.put(task, config(id), '0.3', Infinity)
  const all = await configs.of(task)
  assert.equal(pushConfigOf(all, undefined).id, 'a')
  assert.equal(pushConfigOf(all, 'b').id, 'b')
  for (const [from, id] of [[all, 'c'], [[], undefined]] as const) {
    assert.throws(() => pushConfigOf(from, id), { reason: 'TASK_NOT_FOUND' })
  }
})

test('the one that was given no id is called default too, unless another is', async () => {
  const configs = new PushConfigs(memoryStore())
  await configs.put(task, config('a'), '0.3', Infinity)
  const first = await configs.of(task)
  assert.throws(() => pushConfigOf(first, 'default'), { reason: 'TASK_NOT_FOUND' })
  await configs.put(task, config(task.id), '0.3', Infinity)
  assert.equal(pushConfigOf(await configs.of(task), 'default').id, task.id)
  await configs.put(task, config('default'), '0.3', Infinity)
  assert.equal(pushConfigOf(await configs.of(task), 'default').id, 'default')
})

test('what is read as default is removed as default', async () => {
  const configs = new PushConfigs(memoryStore())
  await configs.put(task, config(task.id), '0.3', Infinity)
  const read = pushConfigOf(await configs.of(task), 'default')
  assert.deepEqual(await configs.remove(task, 'default', Infinity), read)
  assert.deepEqual(await configs.of(task), [])
})

test('pages follow each other without a gap, even where what they stood behind is gone', async () => {
  const configs = new PushConfigs(memoryStore())
  for (const id of ['a', 'b', 'c', 'd', 'e']) await configs.put(task, config(id), '1.0', Infinity)
  const all = await configs.of(task)
  const first = pageOfPushConfigs(all, 2, '')
  assert.deepEqual(idsOf(first.configs), ['a', 'b'])
  await configs.remove(task, 'b', Infinity)
  const second = pageOfPushConfigs(await configs.of(task), 2, first.nextPageToken)
  assert.deepEqual(idsOf(second.configs), ['c', 'd'])
  const last = pageOfPushConfigs(all, 2, second.nextPageToken)
  assert.deepEqual([idsOf(last.configs), last.nextPageToken], [['e'], ''])
  for (const size of [undefined, 0, 5, 100]) {
    const page = pageOfPushConfigs(all, size, '')
    assert.deepEqual([page.configs.length, page.nextPageToken], [5, ''], String(size))
  }
  for (const token of ['0', '-1', '1.5', '1e3', 'abc', ' 1', '01', '9'.repeat(40)]) {
    assert.throws(() => pageOfPushConfigs(all, 2, token), { kind: 'invalid' }, token)
  }
})

test('what is no configuration in the store counts as none, and the others of its task stay', async () => {
  const store = memoryStore()
  const lines: unknown[] = []
  const configs = new PushConfigs(store, (level, _message, fields) => lines.push([level, fields]))
  const key = { collection: 'push-configs', owner: 'ann', key: 'task-1' }
  for (const value of ['', '{}', 'null', '[1]', '[{"id":"a"}]', '"a"', '[null', '[null]']) {
    const version = store.write(key, value, 60_000, 'any')
    assert.deepEqual(await configs.of(task), [], value)
    assert.equal(await configs.remove(task, undefined, 1_000), undefined)
    assert.deepEqual(lines.splice(0), version === 1 ? [
      ['warning', { collection: 'push-configs', version }],
    ] : [], value)
    const { id } = await configs.put(task, config('a'), '1.0', 60_000)
    assert.deepEqual((await configs.of(task)).map((one) => one.id), [id], value)
  }
  const [good] = await configs.of(task)
  const full = { ...good, token: 't', authentication: { schemes: ['a'], credentials: 'c' }, traceparent: 't' }
  for (const [name, wrong] of Object.entries({
    id: 1, taskId: null, url: 'no address', token: 1, authentication: 'a', dialect: '0.2', position: '1',
    stamp: undefined, traceparent: 5,
  })) {
    store.write(key, JSON.stringify([good, { ...full, [name]: wrong }, full]), 60_000, 'any')
    assert.deepEqual(await configs.of(task), [good, full], name)
  }
  for (const authentication of [{ schemes: 'a' }, { schemes: ['a'], credentials: 1 }, { credentials: 'c' }]) {
    store.write(key, JSON.stringify([{ ...full, authentication }]), 60_000, 'any')
    assert.deepEqual(await configs.of(task), [])
  }
  await configs.keepFor(task, 1_000)
  assert.equal(store.read(key), undefined)
})
