import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LiveCall } from '../../../lib/kernel/define/live-call.ts'
import { anonymous } from '../../../lib/kernel/define/principal.ts'
import { callOf, serviceOf } from '../../fixtures/house.ts'
import { standingTime } from '../../fixtures/time.ts'
import { Fault } from '../../../lib/kernel.ts'
import type { ArtifactInput } from '../../../lib/kernel/define/artifact.ts'
import type { CallChannel } from '../../../lib/kernel/define/call.ts'
import type { Question } from '../../../lib/kernel/define/question.ts'
import type { Principal } from '../../../lib/kernel.ts'

const facts = { protocol: 'http' } as const
const gone = new Fault('cancelled', 'The client has left')

test('nothing of a request is read before a handler wants it', () => {
  const read: string[] = []
  const call = new LiveCall({
    get requestId(): string { read.push('requestId'); return 'r-1' },
    get principal(): Principal { read.push('principal'); return anonymous },
    get headers(): ReadonlyMap<string, string> { read.push('headers'); return new Map() },
    header: (name) => { read.push(name); return undefined },
    onDisconnect: () => { read.push('onDisconnect') },
  }, facts, {})
  assert.equal(call.protocol, 'http')
  assert.deepEqual(read, [])
  assert.deepEqual(call.trace, {})
  assert.equal(call.headers.size, 0)
  assert.deepEqual(read, ['traceparent', 'tracestate', 'baggage', 'headers'])
})

test('a handler may take its call apart', async () => {
  const told: unknown[] = []
  const channel: CallChannel = {
    can: () => true, ask: async () => [],
    progress: (...all) => told.push(all), log: (...all) => told.push(all),
  }
  const call = callOf(channel)
  const { progress, event, log, can, roots, once, artifact, detach, signal, requestId } = call
  progress(1, 2, 'half')
  event({ type: 'tool-call', id: '1', name: 'find' })
  log('info', 'a')
  detach()
  artifact({ parts: ['b'] })
  assert.deepEqual(told, [
    [1, 2, 'half'], [1.000001, undefined, 'Calls find…'], ['info', 'a', undefined],
  ])
  assert.deepEqual([can('roots'), await roots(), await once('k', () => 3)], [true, [], 3])
  assert.equal(await call.once('k', () => 4), 3)
  assert.deepEqual([signal.aborted, requestId, call.takeArtifacts().length], [false, call.requestId, 1])
})

test('progress and lines of log are what clients can read, whatever is said', () => {
  const told: unknown[] = []
  const call = callOf({ progress: (...all) => told.push(all), log: (...all) => told.push(all) })
  const progress = call.progress as (...all: unknown[]) => void
  const log = call.log as (...all: unknown[]) => void
  for (const done of [NaN, Infinity, '1', undefined, null]) progress(done)
  assert.deepEqual(told.splice(0), [])
  progress(1, NaN, 7)
  progress(2, null, null)
  progress(3, 4, 'x')
  assert.deepEqual(told.splice(0), [[1, undefined, undefined], [2, undefined, undefined], [3, 4, 'x']])
  log('error', new TypeError('No ink'), 7)
  log('info', Symbol('a'))
  log('info', { a: 1 }, 'printer')
  assert.deepEqual(told, [
    ['error', 'TypeError: No ink', undefined], ['info', 'Symbol(a)', undefined],
    ['info', { a: 1 }, 'printer'],
  ])
})

test('what is asked without saying what is refused with how it is asked', async () => {
  const call = callOf({ can: () => true, ask: () => assert.fail('asked') })
  for (const question of [undefined, null, 'name?']) {
    await assert.rejects(call.elicit(question as never), {
      name: 'TypeError',
      message: /^call\.elicit takes an object; write call\.elicit\(\{ message: 'Your name\?'/,
    })
  }
  const use = {
    name: 'TypeError', message: /^call\.once takes a name and a function, as in call\.once\('order'/,
  }
  await assert.rejects(call.once('a', undefined as never), use)
  await assert.rejects(call.once((() => 1) as never, undefined as never), use)
})

test('what a protocol does not have is nothing, and never missing', () => {
  const call = callOf()
  assert.deepEqual(
    [call.history, call.message, call.metadata, call.client, call.sessionId],
    [[], [], {}, undefined, undefined],
  )
  call.progress(1)
  call.log('info', 'a')
  call.detach()
  assert.equal(call.can('elicit'), false)
})

test('an end aborts the signal, before it is asked for and after', () => {
  const early = callOf()
  early.cancel(gone)
  assert.equal(early.signal.aborted, true)
  const late = callOf()
  const { signal } = late
  assert.equal(signal.aborted, false)
  late.cancel(gone)
  late.cancel(new Fault('timeout', 'too late'))
  for (const { reason } of [early.signal, signal]) {
    assert.equal((reason as DOMException).name, 'AbortError')
    assert.equal((reason as DOMException).message, 'The client has left')
  }
  assert.equal(late.reason, gone)
})

test('as many as a handler likes may wait for the end, without a warning', async (t) => {
  const warnings: string[] = []
  const hear = ({ name }: Error): void => { warnings.push(name) }
  process.on('warning', hear)
  t.after(() => process.off('warning', hear))
  const { signal } = callOf()
  for (let count = 0; count < 12; count++) signal.addEventListener('abort', () => {})
  await new Promise((resolve) => { setImmediate(resolve) })
  assert.deepEqual(warnings.filter((name) => name === 'MaxListenersExceededWarning'), [])
})

test('whoever waits for the end is told once, or at once', () => {
  const told: unknown[] = []
  const waiting = callOf()
  waiting.onCancel((reason) => told.push(reason))
  waiting.cancel(gone)
  waiting.cancel(gone)
  const ended = callOf()
  ended.cancel(gone)
  ended.onCancel((reason) => told.push(reason))
  assert.deepEqual(told, [gone, gone])
  const finished = callOf()
  finished.over = true
  finished.cancel(gone)
  assert.equal(finished.reason, undefined)
})

test('after the end whatever a handler says goes nowhere', async () => {
  const said: string[] = []
  const call = callOf({
    can: () => true,
    ask: async () => { said.push('ask'); return [] },
    progress: () => { said.push('progress') },
    log: () => { said.push('log') },
    detach: () => { said.push('detach') },
    artifact: () => { said.push('artifact') },
    once: async () => { said.push('once') },
  })
  call.cancel(gone)
  call.progress(1)
  call.log('info', 'a')
  call.detach()
  call.artifact({ parts: ['a'] })
  assert.equal(call.can('elicit'), false)
  const dead = [
    call.elicit({ message: 'a', schema: {} }), call.sample({ messages: [], maxTokens: 1 }), call.roots(),
    call.once('a', () => said.push('run')),
  ]
  for (const question of dead) {
    await assert.rejects(question, { name: 'AbortError', message: 'The client has left' })
  }
  assert.deepEqual(said, [])
})

const mistaken: readonly (readonly [say: (call: LiveCall) => unknown, sentence: RegExp])[] = [
  [(call) => call.elicit({ message: '', schema: { type: 'object', properties: {} }, keys: 'a' } as never),
    /^call\.elicit has no option 'keys'; did you mean 'key'\?$/],
  [(call) => call.elicit({ message: '', url: 'https://x.example', elicitationID: 'a' } as never),
    /^call\.elicit has no option 'elicitationID'; did you mean 'elicitationId'\?$/],
  [(call) => call.roots({ name: 'a' } as never), /^call\.roots has no option 'name'; it has key$/],
  [(call) => call.artifact({ part: ['a'] } as never),
    /^call\.artifact has no option 'part'; did you mean 'parts'\?$/],
  [(call) => call.artifact({ parts: 'a' } as never),
    /^call\.artifact has parts "a"; write a list, as in \['Done\.'\]$/],
  [(call) => call.artifact('a' as never),
    /^call\.artifact takes an object, not "a"\. Write call\.artifact\(\{ name/],
]

test('a mistake in what is asked or given says what to write instead', async () => {
  for (const [say, message] of mistaken) {
    const call = callOf({ can: () => true, ask: async () => assert.fail('It was asked') })
    await assert.rejects(async () => say(call), { name: 'TypeError', message })
  }
})

test('a question is carried by the channel, and the clock stands still for it', async (t) => {
  const pass = standingTime(t)
  const asked: Question[] = []
  const line: Partial<CallChannel> = {
    can: (what) => what !== 'roots',
    async ask(question) {
      asked.push(question)
      await new Promise((resolve) => { setImmediate(resolve) })
      pass(60)
      return 'yes'
    },
  }
  const call = callOf(line)
  call.clock.limit(20, () => call.cancel(new Fault('timeout', 'late')))
  assert.equal(await call.elicit({ message: 'Who?', schema: { type: 'object', properties: {} } }), 'yes')
  const where = { message: 'Where?', url: 'https://x.example', key: 'k', elicitationId: 'e' }
  assert.equal(await call.elicit(where), 'yes')
  assert.equal(await call.sample({ messages: [], maxTokens: 7, temperature: 0 }), 'yes')
  assert.equal(call.over, false)
  call.clock.clear()
  assert.deepEqual(asked, [
    { what: 'elicit', message: 'Who?', schema: { type: 'object', properties: {} } },
    { what: 'elicit-url', message: 'Where?', url: 'https://x.example', key: 'k', elicitationId: 'e' },
    { what: 'sample', messages: [], maxTokens: 7, temperature: 0 },
  ])
  await assert.rejects(
    call.roots(), { kind: 'unsupported', detail: { ability: 'roots' }, message: /call\.can\('roots'\)/ },
  )
})

test('a side effect runs once, even where it is asked for twice at one time', async () => {
  let count = 0
  const call = callOf()
  const effect = async (): Promise<number> => { await sleep(1); return ++count }
  assert.deepEqual(
    await Promise.all([call.once('a', effect), call.once('a', effect), call.once('b', effect)]), [1, 1, 2],
  )
  assert.equal(await call.once('a', () => assert.fail('again')), 1)
  await assert.rejects(call.once('c', () => { throw new Error('broken') }), /broken/)
  const kept = callOf({ once: async (key) => `kept ${key}` })
  assert.equal(await kept.once('a', () => assert.fail('run') as string), 'kept a')
})

test('an artifact is content where the protocol has none', () => {
  const call = callOf()
  call.artifact({
    name: 'Notes', parts: ['a', { type: 'image', data: Uint8Array.of(0), mimeType: 'image/png' }],
  })
  const [artifact, ...others] = call.takeArtifacts()
  assert.deepEqual([artifact?.name, artifact?.parts, others], [
    'Notes', [{ type: 'text', text: 'a' }, { type: 'image', data: 'AA==', mimeType: 'image/png' }], [],
  ])
  assert.deepEqual(call.takeArtifacts(), [])
})

test('artifacts that are more than a result may be are refused as they come, and the others stay', () => {
  const { service } = serviceOf({ maxResultBytes: 1_000 })
  const call = callOf()
  call.host = service
  const artifact = (length: number): ArtifactInput => (
    { id: 'draft', parts: [{ type: 'text', text: 'a'.repeat(length) }], append: true }
  )
  call.artifact(artifact(600))
  assert.throws(() => call.artifact(artifact(600)), {
    kind: 'too-large', message: 'The artifacts of the answer are larger than 1000 bytes',
  })
  call.artifact(artifact(100))
  // What is replaced does not count.
  for (let round = 0; round < 3; round++) call.artifact({ ...artifact(200), append: false, id: 'other' })
  assert.deepEqual(call.takeArtifacts().map(({ parts }) => parts.length), [2, 1])
})
