import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RunWriter } from '../../../lib/floors/reply/run.ts'
import { Fault } from '../../../lib/kernel.ts'
import { callOf, serviceOf } from '../../fixtures/house.ts'
import type { Emit, RunEvent } from '../../../lib/floors/answers/run-event.ts'
import type { KeyHold } from '../../../lib/floors/idempotency/idempotency.ts'
import type { Execute, Face } from '../../../lib/floors/reply/run.ts'
import type { KernelOptions } from '../../../lib/kernel.ts'
import type { Sink } from '../../../lib/kernel/http/message/exchange.ts'

/** A face of words: what it is given, each between angle brackets. */
const words: Face<string> = {
  begin: () => '<begin>',
  event: (event: RunEvent) => event.type === 'piece' && event.content.type === 'text'
    ? `<${event.content.text}>` : '',
  end: (result) => `<end ${result}>`,
  failed: ({ message }) => `<failed ${message}>`,
  whole: (result) => `"${result}"`,
}

const piece = (text: string): Parameters<Emit>[0] => (
  { type: 'piece', content: { type: 'text', text }, state: 'completed' }
)

/** A reader that tells what it gets; `isSlow`: it has never room. */
class Reader implements Sink {
  closed = false
  readonly told: string[]
  readonly isSlow: boolean
  proceed = (): void => {}

  constructor(told: string[], isSlow = false) {
    this.told = told
    this.isSlow = isSlow
  }

  write(text: string): boolean {
    this.told.push(text)
    return !this.isSlow
  }

  ready(): Promise<void> { return new Promise((resolve) => { this.proceed = resolve }) }

  end(text = ''): void { this.told.push(text, 'over') }
}

/** A key whose store takes a while, and tells. */
function holdOf(told: string[]): KeyHold {
  const settle = (how: string) => async (): Promise<void> => {
    await turn()
    told.push(how)
  }
  return { keep: (reply) => settle(`kept ${reply}`)(), lose: settle('lost'), release: settle('free') }
}

interface Given {
  readonly face?: Face<string>
  readonly hold?: KeyHold
  readonly options?: Partial<KernelOptions>
}

function writerOf(execute: Execute<string>, { face = words, hold, options }: Given = {}): RunWriter<string> {
  const { service } = serviceOf(options)
  return new RunWriter(service, callOf().origin, { protocol: 'http' }, face, execute, hold)
}

test('what a run says is written as it comes, and one that can wait does so for its reader', async () => {
  const told: string[] = []
  const reader = new Reader(told, true)
  writerOf(async (call, emit) => {
    const wait = emit!(piece('a'))
    assert.ok(wait instanceof Promise)
    await wait
    call.event({ type: 'reasoning', text: 'nothing is shown of it' })
    return 'z'
  }).open(reader)
  await turn()
  assert.deepEqual(told, ['<begin>', '<a>'])
  reader.proceed()
  await turn()
  assert.deepEqual(told, ['<begin>', '<a>', '<end z>', 'over'])
})

test('a run without a promise has its whole reply, and its stream, at once', () => {
  const told: string[] = []
  const run: Execute<string> = (_call, emit) => {
    void emit?.(piece('a'))
    return 'z'
  }
  assert.deepEqual(writerOf(run).reply(), { status: 200, type: 'application/json', body: '"z"' })
  writerOf(run).open(new Reader(told))
  assert.deepEqual(told, ['<begin>', '<a>', '<end z>', 'over'])
})

test('a key has what was sent before the end of it is told, and is free before a failure is', async () => {
  const rows: readonly (readonly [Execute<string>, Face<string>, readonly string[]])[] = [
    [() => 'z', words, ['<begin>', 'kept <begin><end z>', '<end z>', 'over']],
    [() => 'z', { ...words, keepsWhole: true }, ['<begin>', 'kept "z"', '<end z>', 'over']],
    [() => { throw new Fault('failed', 'No ink') }, words, ['<begin>', 'free', '<failed No ink>', 'over']],
    [async () => { throw new Fault('failed', 'No ink') }, words,
      ['<begin>', 'free', '<failed No ink>', 'over']],
    [() => 'z', { ...words, end() { throw new Fault('too-large', 'So much') } },
      ['<begin>', 'free', '<failed So much>', 'over']],
  ]
  for (const [execute, face, expected] of rows) {
    const told: string[] = []
    const leave = writerOf(execute, { face, hold: holdOf(told) }).open(new Reader(told))
    assert.equal(leave, undefined, 'it goes on without its reader')
    await turn()
    await turn()
    await turn()
    assert.deepEqual(told, expected)
  }
})

test('events that are more than a key may keep are sent, and the key is lost', async () => {
  const told: string[] = []
  const given = { hold: holdOf(told), options: { maxResultBytes: 1_024 } }
  writerOf((_call, emit) => {
    void emit?.(piece('a'.repeat(2_000)))
    return 'z'
  }, given).open(new Reader(told))
  await turn()
  await turn()
  assert.deepEqual(told.slice(-3), ['lost', '<end z>', 'over'])
})

test('nothing follows an event that is the end, no failure either', async () => {
  const told: string[] = []
  const state = { isOver: false }
  const face: Face<string> = {
    ...words,
    get isOver() { return state.isOver },
    event(event, call) {
      state.isOver = true
      return words.event(event, call)
    },
  }
  writerOf(async (_call, emit) => {
    void emit!(piece('a'))
    void emit!(piece('b'))
    throw new Error('too late')
  }, { face }).open(new Reader(told))
  await turn()
  assert.deepEqual(told, ['<begin>', '<a>', 'over'])
})

test('a reader that has left before its stream begins runs nothing, and frees the key', async () => {
  const told: string[] = []
  const reader = new Reader(told)
  reader.closed = true
  writerOf(() => assert.fail('It ran'), { hold: holdOf(told) }).open(reader)
  await turn()
  await turn()
  assert.deepEqual(told, ['free'])
})
