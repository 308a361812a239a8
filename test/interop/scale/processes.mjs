/**
 * Several processes of one machine on one store without a server, as the test beside it starts them: on a
 * file, or as the workers of a cluster. No test itself.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { checkStore, hostStore, memoryStore, sqliteStore, workerStore } from '../../../dist/index.js'
import { until } from './servers.mjs'

const COUNT = 3_000
const NAMES = ['a', 'b', 'c']
const keep = { events: 100_000, ms: 60_000 }
const sum = { collection: 'things', owner: 'all', key: 'sum' }
const program = fileURLToPath(import.meta.url)

const [what, file, name] = process.argv.slice(2)

/** Does what a file refuses to whom the others have kept from it for a second, as on a busy machine. */
function insist(act) {
  const end = performance.now() + 30_000
  for (;;) {
    try {
      return act()
    } catch (error) {
      if (error.cause?.message !== 'database is locked' || performance.now() > end) throw error
      console.log('# a process was kept from the file for a second')
    }
  }
}

/** Says much without waiting, and adds to a sum that others add to. */
async function speak(store, own) {
  const answers = []
  for (let at = 0; at < COUNT; at++) answers.push(insist(() => store.publish('topic', `${own} ${at}`, keep)))
  await Promise.all(answers)
  for (let done = 0; done < 50;) {
    const { value = '0', version = 0 } = await store.read(sum) ?? {}
    const write = () => store.write(sum, `${Number(value) + 1}`, 60_000, version)
    if (await insist(write) !== undefined) done++
  }
}

/** Hears three processes from the first event to the last, all in one order. */
async function hear(store, start) {
  const heard = []
  await store.follow('topic', 'now', (text) => heard.push(text), () => heard.push('lost'))
  await start()
  await until('all of it', () => heard.length >= COUNT * NAMES.length, 60_000)
  const late = []
  await store.follow('topic', 'kept', (text) => late.push(text))
  await until('all that is kept', () => late.length >= COUNT * NAMES.length, 60_000)
  assert.deepEqual(late, heard)
  for (const one of NAMES) {
    const own = heard.filter((text) => text.startsWith(one))
    assert.deepEqual(own, Array.from({ length: COUNT }, (_, at) => `${one} ${at}`))
  }
  assert.equal((await store.read(sum)).value, `${50 * NAMES.length}`)
}

const roles = {
  async file() {
    process.removeAllListeners('warning')
    const speaking = async () => {
      const children = NAMES.map((one) => fork(program, ['speaker', file, one]))
      const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
      assert.deepEqual(codes, NAMES.map(() => 0))
    }
    // All of them find no file, and make it at once.
    const opening = NAMES.map((one) => fork(program, ['opener', file, one]))
    await Promise.all(opening.map(async (child) => assert.deepEqual(await once(child, 'exit'), [0, null])))
    const store = sqliteStore(file)
    await hear(store, speaking)
    const killed = fork(program, ['writer', file, 'k'])
    await until('the writer to write', () => store.read({ ...sum, key: 'written' }) !== undefined)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    const { version } = store.read({ ...sum, key: 'written' })
    assert.ok(store.write({ ...sum, key: 'written' }, 'after', 60_000, version) > version)
    store.close()
    const { failed } = await checkStore(() => sqliteStore(file))
    assert.deepEqual(failed, [])
  },
  async opener() {
    sqliteStore(file).close()
  },
  async speaker() {
    const store = sqliteStore(file)
    await speak(store, name)
    store.close()
  },
  async writer() {
    const store = sqliteStore(file)
    for (;;) {
      store.write({ ...sum, key: 'written' }, 'x'.repeat(100_000), 60_000, 'any')
      await new Promise(setImmediate)
    }
  },
  async cluster() {
    if (cluster.isPrimary) {
      hostStore(memoryStore({ isShared: true }))
      const listener = cluster.fork({ NAME: 'listener' })
      // The questions to the store arrive there too.
      let message
      while (message !== 'ready') [message] = await once(listener, 'message')
      const codes = once(listener, 'exit')
      for (const one of NAMES) cluster.fork({ NAME: one })
      process.exitCode = (await codes)[0]
      return
    }
    const store = workerStore()
    if (process.env.NAME !== 'listener') {
      await speak(store, process.env.NAME)
      process.send('done')
      return process.disconnect()
    }
    await hear(store, async () => {
      process.send('ready')
      await until('the sum', async () => (await store.read(sum))?.value === `${50 * NAMES.length}`, 60_000)
    })
    process.exit(0)
  },
}

await roles[what]?.()
