// A stream that is left at one process, and resumed at another.
import assert from 'node:assert/strict'
import { test as alone } from 'node:test'
import { defineTool } from '../../../lib/index.ts'
import { test } from '../../fixtures/at-once.ts'
import { eventually, gate } from '../../fixtures/wire.ts'
import { deployments, fleetOf, mortal, patient, spacesIn } from '../../fixtures/fleet.ts'
import { begin, LegacySession, said } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { TestContext } from 'node:test'
import type { ServerOptions, TriportServer } from '../../../lib/index.ts'
import type { Fleet } from '../../fixtures/fleet.ts'
import type { Gate } from '../../fixtures/wire.ts'

/** The same session, by way of another server. */
function via(server: TriportServer, { headers, opened }: LegacySession): LegacySession {
  return new LegacySession(server, headers, opened)
}


/** Several servers with a tool that counts, and stops before each number until it may go on. */
async function counting(
  t: TestContext, count: number, options: Partial<ServerOptions> = {},
): Promise<Fleet & { readonly gates: readonly Gate<void>[] }> {
  const gates = [1, 2, 3].map(() => gate())
  const counter = defineTool({
    name: 'count', description: 'Counts.', inputSchema: { type: 'object' },
    async run(_args, call) {
      for (const [at, { promise }] of gates.entries()) {
        call.log('info', at)
        await promise
      }
      return 'done'
    },
  })
  return { ...await fleetOf(t, count, { tools: [counter], ...patient, ...options }), gates }
}

/** Begins to count, and leaves after the first number: the id of that event. */
async function left(session: LegacySession): Promise<string> {
  const stream = await session.stream('count', {}, undefined, 'r-1')
  let last = ''
  for (let event = await stream.event(); event !== undefined; event = await stream.event()) {
    last = event.id
    if (event.data !== '') break
  }
  await stream.cancel()
  return last
}

/** What a stream says to its end, numbers and results alike. */
async function told(stream: EventStream): Promise<readonly unknown[]> {
  return (await stream.rest()).map(({ params, result, error }) => params?.data ?? error?.code ?? said(result))
}

test('a stream goes on at another process, from the event heard last, with its own ids', async (t) => {
  const { servers: [one, two], gates } = await counting(t, 2)
  const session = await begin(one!)
  const last = await left(session)
  assert.match(last, /^[\w-]{16}-\d+@[\w-]{8}[\w-]+$/)
  gates[0]!.open()
  const stream = await via(two!, session).listen({ 'Last-Event-ID': last })
  const first = await stream.event()
  assert.deepEqual([first!.id, first!.data], [last, ''])
  const next = await stream.event()
  assert.equal(JSON.parse(next!.data).params.data, 1)
  assert.equal(next!.id.split('@')[1], last.split('@')[1])
  await stream.cancel()
  gates[1]!.open()
  const again = await via(one!, session).listen({ 'Last-Event-ID': next!.id })
  gates[2]!.open()
  assert.deepEqual(await told(again), [2, 'done'])
  // What has ended is told too.
  const whole = await via(two!, session).listen({ 'Last-Event-ID': last })
  assert.deepEqual(await told(whole), [1, 2, 'done'])
})

// Megabytes that are written and read keep the processor from others for longer than a short lease lasts.
alone('a large result arrives at another process as it does at its own', async (t) => {
  const { open, promise } = gate<void>()
  // Quotes and what is beyond ASCII take more room on the way than here.
  const text = 'x'.repeat(9 * 1024 * 1024) + '"\n🙂'.repeat(100_000)
  const large = defineTool({
    name: 'count', description: 'Says much.', inputSchema: { type: 'object' },
    async run(_args, call) {
      call.log('info', 0)
      await promise
      return text
    },
  })
  const { servers: [one, two] } = await fleetOf(t, 2, { tools: [large], ...patient })
  const session = await begin(one!)
  const last = await left(session)
  const stream = await via(two!, session).get({ 'Last-Event-ID': last })
  open()
  const events = await stream.text()
  assert.ok(events.includes(JSON.stringify(text)), `${events.length} characters arrived`)
})

test('clients of revisions that know no event without data are sent none when they come back', async (t) => {
  for (const revision of ['2025-03-26', '2025-06-18']) {
    const { servers, gates } = await counting(t, 2)
    const session = await begin(servers[0]!, revision)
    const last = await left(session)
    const streams = await Promise.all(servers.map((one) => via(one, session).get({ 'Last-Event-ID': last })))
    for (const { open } of gates) open()
    // The one that came later has it; the other ends.
    const events = (await Promise.all(streams.map((one) => one.text()))).join('')
    assert.match(events, /"data":2/, revision)
    assert.doesNotMatch(events, /^data: ?$/m, revision)
  }
})

test('what is nobody\'s stream, or another\'s, is not resumed', async (t) => {
  const apiKey = [{ id: 'ann', key: 'key-of-ann-1234' }, { id: 'bob', key: 'key-of-bob-1234' }]
  const { servers: [one, two] } = await counting(t, 2, { apiKey })
  const ann = await begin(one!, '2025-11-25', {}, { 'X-API-Key': 'key-of-ann-1234' })
  const bob = await begin(one!, '2025-11-25', {}, { 'X-API-Key': 'key-of-bob-1234' })
  const last = await left(ann)
  for (const id of [last, last.replace(/^.{16}/, 'A'.repeat(16)), last.replace(/@.*/, ''), 'no id']) {
    const response = await via(two!, bob).get({ 'Last-Event-ID': id })
    assert.equal(response.status, 400, id)
  }
})

test('when the process of a stream has died, each request that is owed there gets an error', async (t) => {
  const { servers: [one, two], connections: [first] } = await counting(t, 2, mortal)
  const session = await begin(one!)
  const last = await left(session)
  first!.isCut = true
  // Within the lease nobody knows yet.
  const stream = await via(two!, session).listen({ 'Last-Event-ID': last })
  const [error] = await stream.rest()
  assert.deepEqual([error.id, error.error.code], ['r-1', -32603])
  assert.match(error.error.data.detail, /has ended; whether it took effect is not known/)
  assert.deepEqual(await told(await via(two!, session).listen({ 'Last-Event-ID': last })), [-32603])
})

test('the stream of a session begins anew where its process has died', async (t) => {
  const { servers: [one, two], connections: [first] } = await counting(t, 2, mortal)
  const session = await begin(one!)
  const stream = await session.listen()
  const { id } = (await stream.event())!
  first!.isCut = true
  let again: EventStream | undefined
  await eventually(async () => {
    again = await via(two!, session).listen({ 'Last-Event-ID': id })
    const event = await again.event()
    if (event?.id !== id) return true
    await again.cancel()
    return false
  })
  two!.catalog.add(defineTool({
    name: 'new', description: 'New.', inputSchema: { type: 'object' }, run: () => '',
  }))
  assert.equal((await again!.next()).method, 'notifications/tools/list_changed')
  await again!.cancel()
})

test('what was not read before a process closed is read at another', async (t) => {
  const { servers: [one, two], gates } = await counting(t, 2)
  const session = await begin(one!)
  const last = await left(session)
  for (const { open } of gates) open()
  await eventually(() => one!.status().calls.running === 0)
  await one!.close()
  assert.deepEqual(await told(await via(two!, session).listen({ 'Last-Event-ID': last })), [1, 2, 'done'])
})

test('what a closed process has left and nobody can read counts as not left', async (t) => {
  const { servers: [one, two], gates, memory } = await counting(t, 2)
  const session = await begin(one!)
  const last = await left(session)
  for (const { open } of gates) open()
  await eventually(() => one!.status().calls.running === 0)
  await one!.close()
  const [space] = spacesIn(memory.read(deployments))
  const place = { collection: `${space}streams`, owner: 'anonymous' }
  const [entry] = memory.list(place.collection, place.owner, 9)
  for (const value of ['', 'null', '{}', '[[1]]', '[["1","text"]]', entry!.value.slice(0, -9)]) {
    memory.write({ ...place, key: entry!.key }, value, 60_000, 'any')
    const resumed = await told(await via(two!, session).listen({ 'Last-Event-ID': last }))
    assert.deepEqual(resumed, [-32603], value)
  }
})

test('without its store a process tells that what is elsewhere cannot be resumed now', async (t) => {
  const { servers: [one, two], connections: [, second] } = await counting(t, 2, { storeTimeoutMs: 500 })
  const session = await begin(one!)
  const last = await left(session)
  await via(two!, session).ask('ping')
  second!.isCut = true
  const response = await via(two!, session).get({ 'Last-Event-ID': last })
  assert.equal(response.status, 503)
  assert.ok(response.headers.get('retry-after'))
})

test('without a limit, whether a stream is known elsewhere is waited for as long as it takes', async (t) => {
  const { servers: [one, two], connections: [first] } = await counting(t, 2, { storeTimeoutMs: Infinity })
  const session = await begin(one!)
  const last = await left(session)
  const { publish } = first!
  first!.publish = async (...said) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return publish(...said)
  }
  const response = await via(two!, session).get({ 'Last-Event-ID': last.replace(/^.{16}/, 'A'.repeat(16)) })
  assert.equal(response.status, 400)
})
