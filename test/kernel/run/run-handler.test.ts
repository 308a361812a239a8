import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineAgent, Fault } from '../../../lib/kernel.ts'
import { runHandler } from '../../../lib/kernel/run/run-handler.ts'
import { ask, callOf, serviceOf } from '../../fixtures/house.ts'

const never = new Promise<string>(() => {})

test('a plain value is answered at once, and counts as nothing', () => {
  const { service } = serviceOf()
  const agent = defineAgent((prompt) => `You said ${prompt}`)
  const outcome = ask(service, agent, 'hi', callOf())
  assert.ok(!(outcome instanceof Promise))
  assert.equal(outcome.text, 'You said hi')
  assert.equal(service.workload.running, 0)
})

test('only what has to be waited for counts as running', async () => {
  const { service } = serviceOf()
  const agent = defineAgent(async () => { await sleep(1); return String(service.workload.running) })
  const outcome = ask(service, agent, 'hi', callOf())
  assert.equal(service.workload.running, 1)
  assert.equal((await outcome).text, '1')
  assert.equal(service.workload.running, 0)
})

test('a run that takes too long is told so, and goes on counting until it really ends', async () => {
  const { service, logged } = serviceOf({ agentTimeoutMs: 20 })
  let release: (text: string) => void = () => {}
  let signal: AbortSignal | undefined
  const agent = defineAgent((_prompt, call) => {
    signal = call.signal
    return new Promise<string>((resolve) => { release = resolve })
  })
  await assert.rejects(
    async () => ask(service, agent, 'hi', callOf()),
    { kind: 'timeout', message: 'No result within 20 ms' },
  )
  assert.equal(signal?.aborted, true)
  assert.equal(service.workload.running, 1)
  release('late')
  await sleep(1)
  assert.equal(service.workload.running, 0)
  assert.deepEqual(logged, [])
})

test('what runs say piece by piece is bounded in all, and given back when they end', async () => {
  const { service } = serviceOf({ maxCallsBytes: 1_000 })
  const gates: (() => void)[] = []
  const agent = defineAgent(async function * () {
    yield 'x'.repeat(200)
    yield { type: 'text', text: 'y'.repeat(200), annotations: { priority: 1 } }
    await new Promise<void>((resolve) => gates.push(resolve))
    yield 'The end'
  })
  const run = (caller: string): ReturnType<typeof ask> => ask(service, agent, 'hi', callOf({}, { caller }))
  const one = run('a')
  await sleep(1)
  assert.equal(service.workload.bytes, 800)
  await assert.rejects(async () => run('a'), {
    kind: 'busy', message: 'The calls that are running hold 1000 bytes together already; try again later',
  })
  const other = run('b')
  await assert.rejects(async () => other, { kind: 'busy' }, 'one who has less gets an equal part at most')
  assert.equal(service.workload.bytes, 800)
  for (const open of gates) open()
  assert.match((await one).text, /The end$/)
  assert.deepEqual([service.workload.bytes, service.workload.running], [0, 0])
})

test('what a call gives aside counts until its run is over, whether it was waited for or not', async () => {
  const { service } = serviceOf({ maxCallsBytes: 10_000 })
  const parts = ['x'.repeat(500)]
  const sync = defineAgent((_prompt, call) => {
    call.artifact({ parts })
    return String(service.workload.bytes)
  })
  const failing = defineAgent((_prompt, call) => { call.artifact({ parts }); throw new Error('no') })
  const slow = defineAgent(async (_prompt, call) => {
    call.artifact({ parts })
    await sleep(1)
    call.artifact({ parts })
    return String(service.workload.bytes)
  })
  assert.match((await ask(service, sync, 'hi', callOf())).text, /^1054/)
  await assert.rejects(async () => ask(service, failing, 'hi', callOf()))
  assert.match((await ask(service, slow, 'hi', callOf())).text, /^2108/)
  assert.equal(service.workload.bytes, 0)
})

test('what breaks after its end is a note in the log, and no more', async () => {
  const { service, logged } = serviceOf()
  let fail: (error: Error) => void = () => {}
  const agent = defineAgent(() => new Promise<string>((_resolve, reject) => { fail = reject }))
  const call = callOf()
  const outcome = ask(service, agent, 'hi', call)
  call.cancel(new Fault('cancelled', 'Gone'))
  await assert.rejects(async () => outcome, { kind: 'cancelled', message: 'Gone' })
  fail(new Error('too late'))
  await sleep(1)
  assert.deepEqual(
    logged.map(([level, message]) => `${level} ${message}`),
    ['debug A handler failed after its run was over'],
  )
})

test('an agent may have a time of its own', async () => {
  const { service } = serviceOf({ agentTimeoutMs: 10_000 })
  const agent = defineAgent({ name: 'Slow', timeoutMs: 10, run: () => never })
  await assert.rejects(async () => ask(service, agent, 'hi', callOf()), { kind: 'timeout' })
})

test('a call that is over before it begins never runs', () => {
  const { service } = serviceOf()
  const call = callOf()
  call.cancel(new Fault('cancelled', 'Gone'))
  assert.throws(
    () => ask(service, defineAgent(() => assert.fail('it ran')), 'hi', call), { kind: 'cancelled' },
  )
})

test('a run that ends its own call leaves no clock running', async () => {
  const { service } = serviceOf()
  const call = callOf()
  const run = async (): Promise<string> => {
    call.cancel(new Fault('cancelled', 'Gone'))
    return never
  }
  const before = process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length
  const running = async (): Promise<unknown> => (
    runHandler(service, call, { kind: 'tool', name: 't' }, 60_000, run, undefined)
  )
  await assert.rejects(running, { kind: 'cancelled' })
  assert.equal(process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length, before)
})

test('a run that does not end gives its place back after one more limit, and is counted apart', async () => {
  const { service } = serviceOf({ agentTimeoutMs: 20 })
  let release: (text: string) => void = () => {}
  const agent = defineAgent(() => new Promise<string>((resolve) => { release = resolve }))
  await assert.rejects(async () => ask(service, agent, 'hi', callOf()), { kind: 'timeout' })
  assert.deepEqual([service.workload.running, service.workload.abandoned], [1, 0])
  while (service.workload.running > 0) await sleep(5)
  assert.equal(service.workload.abandoned, 1)
  release('late')
  await sleep(1)
  assert.equal(service.workload.abandoned, 0)
})

test('what the request of a run has brought is held until the run ends, or is given up', async () => {
  const { service } = serviceOf({ agentTimeoutMs: 20 })
  let held = 0
  let release: (text: string) => void = () => {}
  const agent = defineAgent((prompt) => (
    prompt === 'at once' ? prompt : new Promise<string>((resolve) => { release = resolve })
  ))
  const origin = { retain: () => { held++ }, release: () => { held-- } }
  void ask(service, agent, 'at once', callOf({}, origin))
  assert.equal(held, 0)
  const running = ask(service, agent, 'later', callOf({}, origin))
  assert.equal(held, 1)
  release('now')
  await running
  assert.equal(held, 0)
  await assert.rejects(async () => ask(service, agent, 'never', callOf({}, origin)), { kind: 'timeout' })
  assert.equal(held, 1)
  while (service.workload.running > 0) await sleep(5)
  assert.equal(held, 0)
  release('late')
  await sleep(1)
  assert.equal(held, 0)
})
