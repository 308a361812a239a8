// Tasks whose process dies while they run: by default they fail, with `recover: 'rerun'` they run again.
import assert from 'node:assert/strict'
import { test } from '../../fixtures/at-once.ts'
import { eventually, gate } from '../../fixtures/client.ts'
import { listed, mortal, sharedMemory } from '../../fixtures/fleet.ts'
import { webhook } from '../../fixtures/webhook.ts'
import { Caller, serveBot, sumOf } from './caller.ts'
import type { TestContext } from 'node:test'
import type { Call, ServerOptions, TriportServer } from '../../../lib/index.ts'
import type { Connection, SharedMemory } from '../../fixtures/fleet.ts'
import type { Run } from './caller.ts'

const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const

interface Process { readonly server: TriportServer; readonly store: Connection; readonly caller: Caller }

/** One process whose agent is run again. It dies when its store is cut, and goes on running all the same. */
function processOn(
  t: TestContext, shared: SharedMemory, run: Run, options: Partial<ServerOptions> = {}, recover?: 'rerun',
): Process {
  const store = shared.connect()
  t.after(() => { store.isCut = false })
  const server = serveBot(t, run, {
    name: 'Fleet', store, log: false, ...mortal, ...options,
  }, { ...recover && { recover } })
  const headers = { 'Accept-Language': 'de', 'X-API-Key': 'ann-1234567890' }
  return { server, store, caller: new Caller(server, { headers }) }
}

const apiKey = [{ id: 'ann', key: 'ann-1234567890' }]

async function leases(shared: SharedMemory, count: number): Promise<void> {
  await eventually(() => listed(shared.memory, 'leases', '~').length === count, `${count} live`)
}

test('another process runs a task again from the top, with its request and what happened once', async (t) => {
  const shared = sharedMemory()
  const paid: number[] = []
  const seen: unknown[] = []
  const held = gate()
  const run = async function * (prompt: string, call: Call): AsyncGenerator<string> {
    const receipt = await call.once('pay', () => paid.push(1))
    yield `paid ${receipt} `
    seen.push([prompt, call.run, call.principal.id, call.headers.get('accept-language'),
      call.metadata, call.messageId])
    if (call.run === 1) await held.promise
    yield `in run ${call.run}`
  }
  const [one, two] = [1, 2].map(() => processOn(t, shared, run, { apiKey }, 'rerun'))
  await leases(shared, 2)
  const { id } = await one!.caller.task('hello', { id: 'm-1', isBlocking: false, metadata: { n: 7 } })
  await eventually(() => seen.length === 1)
  one!.store.isCut = true
  await eventually(async () => (await two!.caller.get(id)).status.state === 'completed')
  assert.equal(sumOf(await two!.caller.get(id)), 'completed: paid 1 in run 2')
  const said = ['hello', 'key:ann', 'de', { n: 7 }, 'm-1']
  const told = (at: number): unknown => [said[0], at, ...said.slice(1)]
  assert.deepEqual(seen, [told(1), told(2)])
  assert.equal(paid.length, 1)
  // What was taken for dead comes back, and has nothing more to say.
  one!.store.isCut = false
  held.open()
  await leases(shared, 2)
  await eventually(async () => sumOf(await one!.caller.get(id)) === 'completed: paid 1 in run 2')
  assert.equal(sumOf(await two!.caller.get(id)), 'completed: paid 1 in run 2')
})

test('without a word about it a task runs at most once, and has failed', async (t) => {
  const shared = sharedMemory()
  let runs = 0
  const run = (): Promise<string> => {
    runs += 1
    return new Promise(() => {})
  }
  const [one, two] = [1, 2].map(() => processOn(t, shared, run))
  await leases(shared, 2)
  const { id } = await one!.caller.task('hello', { isBlocking: false })
  one!.store.isCut = true
  await eventually(async () => (await two!.caller.get(id)).status.state === 'failed')
  const sum = sumOf(await two!.caller.get(id))
  assert.match(sum, /The process that ran it has ended; whether it took effect is not known/)
  assert.equal(runs, 1)
})

test('what ends each process that runs it is not run for ever', async (t) => {
  const shared = sharedMemory()
  const ran: number[] = []
  const all: Process[] = []
  const run = (at: number) => (_prompt: string, call: Call): Promise<string> => {
    ran.push(call.run)
    all[at]!.store.isCut = true
    return new Promise(() => {})
  }
  const options = { maxRuns: 2, storeTimeoutMs: 100 }
  for (const at of [0, 1, 2]) all.push(processOn(t, shared, run(at), options, 'rerun'))
  const agents = [{ name: 'Other', run: () => '' }]
  const last = processOn(t, shared, () => 'never', { maxRuns: 2, agents }, 'rerun')
  const reader = processOn(t, shared, () => 'never', { maxRuns: 2, protocol: 'http' }, 'rerun')
  await leases(shared, 5)
  const sent = all[0]!.caller.task('hello', { isBlocking: false }).catch(() => {})
  await eventually(() => ran.length === 2)
  const read = (): string => listed(shared.memory, 'tasks', 'anonymous')
    .map(({ value }) => JSON.parse(value)?.fault?.message ?? '').join()
  await eventually(() => read() !== '', 'it has failed')
  assert.deepEqual(ran, [1, 2])
  const why = 'The process that ran it has ended in each of its 2 runs; what took effect is not known'
  assert.equal(read(), why)
  for (const { store } of [...all, last, reader]) store.isCut = false
  await sent
})

test('only who serves it takes a task over, and without one it has failed after a while', async (t) => {
  const shared = sharedMemory()
  const run = (_prompt: string, call: Call): string | Promise<string> => (
    call.run === 1 ? new Promise<string>(() => {}) : 'again'
  )
  const other = { agents: [{ name: 'Other', run: () => 'other' }] }
  const one = processOn(t, shared, run, {}, 'rerun')
  const two = processOn(t, shared, run, other, 'rerun')
  await leases(shared, 2)
  const { id } = await one.caller.task('hello', { isBlocking: false })
  const state = (): string => JSON.parse(listed(shared.memory, 'tasks', 'anonymous')[0]!.value).status.state
  one.store.isCut = true
  await leases(shared, 1)
  await new Promise((resolve) => setTimeout(resolve, 800))
  assert.equal(state(), 'working')
  const three = processOn(t, shared, run, {}, 'rerun')
  await eventually(() => state() === 'completed')
  assert.equal(sumOf(await three.caller.get(id)), 'completed: again')

  const four = processOn(t, shared, run, {}, 'rerun')
  const five = processOn(t, shared, run, { ...other, rerunWaitMs: 300 }, 'rerun')
  await leases(shared, 4)
  await four.caller.task('hello', { isBlocking: false })
  for (const { store } of [two, three, four]) store.isCut = true
  await eventually(() => state() === 'failed')
  assert.match(listed(shared.memory, 'tasks', 'anonymous')[0]!.value, /no other serves it/)
  assert.ok(five)
})

test('a server that closes leaves to others what they can go on with', async (t) => {
  const shared = sharedMemory()
  const started = gate()
  const run = async (prompt: string, call: Call): Promise<string> => {
    if (prompt === 'ask') {
      const { content } = await call.elicit({ message: 'Name?', schema: form })
      return `Hello ${String(content?.['name'])}`
    }
    started.open()
    if (call.run === 1) await new Promise((_, reject) => { call.signal.addEventListener('abort', reject) })
    return `run ${call.run}`
  }
  // No lease runs out here: a busy machine must not look like a dead process.
  const [one, two] = [1, 2].map(() => processOn(t, shared, run, { graceMs: 20, leaseMs: 10_000 }, 'rerun'))
  await leases(shared, 2)
  const works = await one!.caller.task('work', { isBlocking: false })
  const waits = await one!.caller.task('ask')
  await started.promise
  assert.equal(waits.status.state, 'input-required')
  await one!.server.close()
  await eventually(async () => sumOf(await two!.caller.get(works.id)) === 'completed: run 2')
  assert.equal((await two!.caller.get(waits.id)).status.state, 'input-required')
  assert.equal(sumOf(await two!.caller.task('Ann', { taskId: waits.id })), 'completed: Hello Ann')
})

test('a webhook is told how a task ended whose process had died, and how its next run did', async (t) => {
  for (const recover of [undefined, 'rerun'] as const) {
    const shared = sharedMemory()
    const run = (_prompt: string, call: Call): string | Promise<string> => (
      call.run === 1 ? new Promise<string>(() => {}) : 'done'
    )
    const options = { a2a: { pushNotifications: { allowInsecure: true, allowPrivate: true } } }
    const [one, two] = [1, 2].map(() => processOn(t, shared, run, options, recover))
    await leases(shared, 2)
    const hook = await webhook(t)
    await one!.caller.task('hello', { isBlocking: false, push: hook.url })
    await hook.until(1)
    one!.store.isCut = true
    const word = recover === undefined ? /FAILED/ : /COMPLETED/
    let count = 1
    await eventually(async () => word.test((await hook.until(count)).at(-1)!.body) || (count += 1, false))
    assert.ok(two)
  }
})
