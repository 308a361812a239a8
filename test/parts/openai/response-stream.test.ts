/** Responses in the background as streams: read while they run, left, read again from any place. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { Fault } from '../../../lib/index.ts'
import { eventually, jsonOf, request, serve } from '../../fixtures/client.ts'
import { fleetOf } from '../../fixtures/fleet.ts'
import type { AgentOutput, Call, ServerOptions, TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'

type Json = Record<string, unknown>

const DELTA = 'response.output_text.delta'

/** Steps of an agent that a test takes one by one. */
class Gate {
  #open: () => void = () => {}
  #next = this.#closed()
  #closed(): Promise<void> { return new Promise((resolve) => { this.#open = resolve }) }
  get step(): Promise<void> { return this.#next }
  pass(): void {
    const open = this.#open
    this.#next = this.#closed()
    open()
  }
}

function serving(
  t: Scope, run: (prompt: string, call: Call) => AgentOutput, more: Partial<ServerOptions> = {},
): TriportServer {
  return serve(t, { agents: [{ name: 'Agent', run }], ...more })
}

function respond(server: TriportServer, more: object = {}, headers = {}): Promise<Response> {
  const body = { model: 'agent', input: 'Hello', background: true, stream: true, ...more }
  return server.fetch(request('/v1/responses', body, headers))
}

function again(server: TriportServer, id: unknown, query = '', headers = {}): Promise<Response> {
  return server.fetch(request(`/v1/responses/${String(id)}?stream=true${query}`, undefined, headers))
}

/** Events as they come, and whether the stream has ended as streams do. */
class Reading {
  readonly events: Json[] = []
  isDone = false
  isOver = false
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>

  constructor(response: Response) {
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    this.#reader = response.body!.getReader()
    void this.#read()
  }

  async #read(): Promise<void> {
    const feed = eventReader(({ event, data }) => {
      if (data === '[DONE]') return void (this.isDone = true)
      const one = JSON.parse(data) as Json
      assert.equal(one['type'], event)
      this.events.push(one)
    })
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await this.#reader.read().catch(() => ({ done: true, value: undefined }))
      if (done || value === undefined) break
      feed(decoder.decode(value, { stream: true }))
    }
    this.isOver = true
  }

  get id(): unknown { return (this.events[0]?.['response'] as Json | undefined)?.['id'] }
  get types(): readonly unknown[] { return this.events.map(({ type }) => type) }
  get text(): string {
    return this.events.flatMap(({ type, delta }) => type === DELTA ? [delta] : []).join('')
  }
  has(type: string, count = 1): boolean { return this.types.filter((one) => one === type).length >= count }
  leave(): Promise<void> { return this.#reader.cancel() }
  async whole(): Promise<this> {
    await eventually(() => this.isOver)
    return this
  }
}

async function* talking(_prompt: string, call: Call): AsyncGenerator<string> {
  call.event({ type: 'reasoning', text: 'Let me ' })
  call.event({ type: 'reasoning', text: 'see.' })
  yield 'One '
  call.event({ type: 'reasoning', text: 'Is that all?' })
  yield 'two\n'
  yield ''
  yield '\ud83c\udf75.'
}

test('a response in the background streams the events of any other, and can be read again', async (t) => {
  const server = serving(t, talking)
  const inShort = ({ events }: Reading): unknown => events.map(({ response, ...event }) => (
    response === undefined ? JSON.stringify(event).replace(/_[0-9a-f]{32}/g, '') : event
  ))
  const plain = await new Reading(await respond(server, { background: false })).whole()
  const whole = await new Reading(await respond(server)).whole()
  assert.deepEqual(inShort(whole), inShort(plain))
  assert.ok(whole.isDone)
  assert.equal(whole.text, 'One two\n🍵.')
  assert.deepEqual(whole.events.map((event) => event['sequence_number']), [...whole.events.keys()])
  const response = await jsonOf(await server.fetch(request(`/v1/responses/${String(whole.id)}`)))
  assert.deepEqual(whole.events.at(-1)?.['response'], response)
  assert.equal(response['background'], true)
  const read = await new Reading(await again(server, whole.id)).whole()
  assert.deepEqual(read.events, whole.events)
  for (const place of whole.events.keys()) {
    const rest = await new Reading(await again(server, whole.id, `&starting_after=${place}`)).whole()
    assert.deepEqual(rest.events, whole.events.slice(place + 1))
    assert.ok(rest.isDone)
  }
})

test('files that an agent sends by the way are in the answer, and are no pieces of it', async (t) => {
  const server = serving(t, async function* (_prompt, call) {
    yield 'One'
    call.artifact({ id: 'pieces', parts: ['two'] })
  })
  const [plain, whole] = [await respond(server, { background: false }), await respond(server)]
  const texts = [await new Reading(plain).whole(), await new Reading(whole).whole()].map(({ text }) => text)
  assert.equal(texts[0], texts[1])
  assert.equal(texts[0], 'Onetwo')
})

test('the run goes on without its reader, and each who comes reads on from any place', async (t) => {
  const gate = new Gate()
  let isAborted = false
  const server = serving(t, async function* (_prompt, { signal }) {
    signal.addEventListener('abort', () => { isAborted = true })
    for (const word of ['One ', 'two ', 'three ', 'four.']) {
      yield word
      await gate.step
    }
  })
  const first = new Reading(await respond(server))
  await eventually(() => first.has(DELTA))
  await first.leave()
  gate.pass()
  const { id } = first
  await sleep(5)
  const now = await jsonOf(await server.fetch(request(`/v1/responses/${String(id)}`)))
  assert.equal(now['status'], 'in_progress')
  const last = Number(first.events.at(-1)?.['sequence_number'])
  const second = new Reading(await again(server, id, `&starting_after=${last}`))
  const third = new Reading(await again(server, id))
  await eventually(() => second.has(DELTA) && third.has(DELTA, 2))
  assert.equal(second.text, 'two ')
  assert.equal(second.events[0]?.['sequence_number'], last + 1)
  gate.pass()
  await eventually(() => second.has(DELTA, 2))
  gate.pass()
  await eventually(() => second.has(DELTA, 3))
  gate.pass()
  await Promise.all([second.whole(), third.whole()])
  assert.equal(first.text + second.text, 'One two three four.')
  assert.equal(third.text, 'One two three four.')
  assert.deepEqual([...first.events, ...second.events], third.events)
  assert.equal(third.types.at(-1), 'response.completed')
  assert.equal(isAborted, false)
})

test('one that was not streamed, or not in the background, is read as it ended', async (t) => {
  const schema = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] }
  const format = { text: { format: { type: 'json_schema', name: 'sum', schema } } }
  const tools = [{ type: 'function', name: 'find', parameters: { type: 'object' } }]
  const runs: readonly (readonly [run: (prompt: string, call: Call) => AgentOutput, more: object])[] = [
    [talking, {}], [() => '', {}], [() => 'Whole.', {}], [() => '{"sum":5}', format], [() => 'Five.', format],
    [(_prompt, call) => {
      call.event({ type: 'reasoning', text: 'Hm.' })
      return { text: 'Let me look.', toolCalls: [{ id: 'c', name: 'find', args: { of: 'tea' } }] }
    }, { tools }],
    [talking, { reasoning: { summary: 'auto' } }],
  ]
  for (const [run, more] of runs) {
    const server = serving(t, run)
    for (const asked of [{ background: true, stream: false }, { background: false, stream: false }]) {
      const { id } = await jsonOf(await respond(server, { ...asked, ...more }))
      const at = `/v1/responses/${String(id)}`
      const read = await new Reading(await again(server, id)).whole()
      const response = await jsonOf(await server.fetch(request(at)))
      assert.equal(response['status'], 'completed')
      const kinds = (response['output'] as readonly Json[]).map(({ type }) => type)
      if (run === talking) assert.deepEqual(kinds, ['reasoning', 'message'])
      assert.deepEqual(read.events.at(-1)?.['response'], response)
      const items = read.events.filter(({ type }) => type === 'response.output_item.done')
      assert.deepEqual(items.map(({ item }) => item), response['output'])
      assert.deepEqual(read.events.map((event) => event['sequence_number']), [...read.events.keys()])
    }
    const streamed = await new Reading(await respond(server, more)).whole()
    const { output } = streamed.events.at(-1)?.['response'] as { readonly output: unknown }
    const items = streamed.events.filter(({ type }) => type === 'response.output_item.done')
    assert.deepEqual(items.map(({ item }) => item), output)
  }
})

test('who comes back when the pieces are forgotten gets the end, behind what was read', async (t) => {
  const server = serving(t, talking, { taskKeepMs: 5 })
  const whole = await new Reading(await respond(server)).whole()
  await sleep(20)
  // Tasks that have ended are forgotten, for which another may be needed.
  await new Reading(await respond(server)).whole()
  const rest = await new Reading(await again(server, whole.id, '&starting_after=7')).whole()
  assert.deepEqual(rest.types, ['response.completed'])
  assert.equal(rest.events[0]?.['sequence_number'], 8)
  assert.deepEqual(rest.events[0]?.['response'], whole.events.at(-1)?.['response'])
  const read = await new Reading(await again(server, whole.id)).whole()
  assert.equal(read.text, whole.text)
})

test('any process reads the stream of a response, and cancels it', async (t) => {
  const gate = new Gate()
  const run = async function* (_prompt: string, call: Call): AsyncGenerator<string> {
    call.event({ type: 'reasoning', text: 'Hm.' })
    for (const word of ['One ', 'two ', 'three.']) {
      yield word
      await gate.step
    }
  }
  const { servers: [one, two, three] } = await fleetOf(t, 3, { agents: [{ name: 'Agent', run }] })
  const first = new Reading(await respond(one!))
  await eventually(() => first.has(DELTA))
  await first.leave()
  const last = Number(first.events.at(-1)?.['sequence_number'])
  const second = new Reading(await again(two!, first.id, `&starting_after=${last}`))
  const third = new Reading(await again(three!, first.id))
  await eventually(() => third.has(DELTA))
  gate.pass()
  await eventually(() => second.has(DELTA) && third.has(DELTA, 2))
  gate.pass()
  await eventually(() => second.has(DELTA, 2))
  gate.pass()
  await Promise.all([second.whole(), third.whole()])
  assert.equal(third.text, 'One two three.')
  assert.deepEqual([...first.events, ...second.events], third.events)
  const later = await new Reading(await again(two!, first.id)).whole()
  assert.deepEqual(later.events, third.events)
  const cancelled = new Reading(await respond(one!))
  await eventually(() => cancelled.has(DELTA))
  const reader = new Reading(await again(two!, cancelled.id))
  await eventually(() => reader.has(DELTA))
  await three!.fetch(request(`/v1/responses/${String(cancelled.id)}/cancel`, {}))
  for (const { events } of [await cancelled.whole(), await reader.whole()]) {
    assert.equal((events.at(-1)?.['response'] as Json)['status'], 'cancelled')
  }
})

test('an answer of which there is no room for the pieces ends all the same', async (t) => {
  const server = serving(t, async function* () {
    for (let count = 0; count < 40; count++) yield 'x'.repeat(1_000)
  }, { maxTasksBytes: 60_000 })
  const read = await new Reading(await respond(server)).whole()
  assert.deepEqual([read.types.at(-1), read.text.length], ['response.completed', 40_000])
})

test('a cancelled one, a failed one and one that is deleted end their streams', async (t) => {
  const server = serving(t, async function* (prompt) {
    yield 'One'
    if (prompt === 'Fail') throw new Fault('failed', 'No tea')
    await new Promise(() => {})
  })
  const failed = await new Reading(await respond(server, { input: 'Fail' })).whole()
  const [told, end] = failed.events.slice(-2)
  assert.deepEqual([told?.['type'], told?.['message']], ['error', 'No tea'])
  assert.equal(end?.['type'], 'response.failed')
  assert.deepEqual((await new Reading(await again(server, failed.id)).whole()).events, failed.events)
  const cancelled = new Reading(await respond(server))
  await eventually(() => cancelled.has(DELTA))
  const at = `/v1/responses/${String(cancelled.id)}`
  const answer = await jsonOf(await server.fetch(request(`${at}/cancel`, {})))
  assert.equal(answer['status'], 'cancelled')
  await cancelled.whole()
  const last = cancelled.events.at(-1)
  assert.equal(last?.['type'], 'response.incomplete')
  assert.deepEqual(last['response'], answer)
  assert.ok(cancelled.isDone)
  const deleted = new Reading(await respond(server))
  await eventually(() => deleted.has(DELTA))
  const remove = request(`/v1/responses/${String(deleted.id)}`, undefined, {}, 'DELETE')
  assert.equal((await server.fetch(remove)).status, 200)
  await deleted.whole()
  assert.equal((await again(server, deleted.id)).status, 404)
})

test('nobody but its owner reads the stream, and a place is a number', async (t) => {
  const server = serving(t, talking, {
    apiKey: [{ key: 'a'.repeat(24), id: 'one' }, { key: 'b'.repeat(24), id: 'two' }],
  })
  const [one, two] = ['a', 'b'].map((letter) => ({ 'x-api-key': letter.repeat(24) }))
  const { id } = await new Reading(await respond(server, {}, one)).whole()
  assert.equal((await again(server, id, '', two)).status, 404)
  for (const place of ['-1', 'x', '1.5', '']) {
    const refused = await again(server, id, `&starting_after=${place}`, one)
    assert.equal(refused.status, 400, place)
    const { error } = await jsonOf(refused) as { error: Json }
    assert.equal(error['param'], 'starting_after')
  }
  const late = await new Reading(await again(server, id, '&starting_after=999', one)).whole()
  assert.deepEqual([late.events, late.isDone], [[], true])
})

test('a request with a key that is sent again reads the same stream', async (t) => {
  let runs = 0
  const server = serving(t, async function* () {
    runs++
    yield 'One '
    await sleep(20)
    yield 'two.'
  })
  const headers = { 'idempotency-key': 'k' }
  const first = new Reading(await respond(server, {}, headers))
  await eventually(() => first.has(DELTA))
  await first.leave()
  const response = await respond(server, {}, headers)
  assert.equal(response.headers.get('idempotent-replayed'), 'true')
  const second = await new Reading(response).whole()
  assert.deepEqual([second.id, second.text, runs], [first.id, 'One two.', 1])
})
