import assert from 'node:assert/strict'
import test from 'node:test'
import { TaskRecord, bytesOf, bytesOfMessage } from '../../../lib/floors/tasks/task-record.ts'
import { taskOf } from '../../../lib/floors/tasks/task.ts'
import { heldBytes } from '../../fixtures/heap.ts'
import type { Artifact } from '../../../lib/kernel/define/artifact.ts'
import type { Task } from '../../../lib/floors/tasks/task.ts'

const AT = '2026-01-01T00:00:00.000Z'

function recordWith(artifacts: readonly Artifact[]): TaskRecord {
  return new TaskRecord(taskOf({
    id: 't', owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, contextId: 'c',
    sessionId: undefined, ttlMs: undefined,
  }, AT, { state: 'working', at: AT }, artifacts))
}

const artifact = (id: string, text: string): Artifact => ({ id, parts: [{ type: 'text', text }] })

test('a text that goes on is joined when the task is read, and a task that was read stays as it was', () => {
  const record = recordWith([artifact('a', 'One')])
  const before = record.task
  record.appendText('a', ' two')
  record.appendText('a', ' three')
  assert.deepEqual(record.task.artifacts, [artifact('a', 'One two three')])
  assert.equal(record.task, record.task)
  assert.deepEqual(before.artifacts, [artifact('a', 'One')])
  record.appendText('a', ' four')
  assert.deepEqual(record.task.artifacts, [artifact('a', 'One two three four')])
})

test('texts of several artifacts go on by turns', () => {
  const record = recordWith([artifact('a', 'A'), artifact('b', 'B')])
  const pieces = [['a', '1'], ['b', '2'], ['b', '3'], ['a', '4']] as const
  for (const [id, more] of pieces) record.appendText(id, more)
  assert.deepEqual(record.task.artifacts, [artifact('a', 'A14'), artifact('b', 'B23')])
})

test('text behind what is no text is a part of its own', () => {
  const data = { type: 'data', data: 1 } as const
  const record = recordWith([{ id: 'a', parts: [data] }])
  record.appendText('a', 'and ')
  record.appendText('a', 'more')
  assert.deepEqual(record.task.artifacts[0]!.parts, [data, { type: 'text', text: 'and more' }])
})

test('a task that takes the record of another has nothing of what was put aside', () => {
  const record = recordWith([artifact('a', 'A')])
  const { task } = record
  record.appendText('a', '1')
  record.task = { ...task, contextId: 'd' }
  assert.deepEqual([record.task.contextId, record.task.artifacts], ['d', [artifact('a', 'A')]])
  assert.deepEqual(['a', 'b'].map((id) => record.hasArtifact(id)), [true, false])
})

test('all who watch are told, and only where each is behind there is something to wait for', async () => {
  const record = recordWith([])
  const told: string[] = []
  assert.equal(record.notify({ what: 'forgotten' }), undefined)
  const stops = [record.watch(() => { told.push('first') })]
  assert.equal(record.notify({ what: 'forgotten' }), undefined)
  stops.push(record.watch(() => {
    told.push('second')
    return Promise.resolve()
  }))
  assert.equal(record.notify({ what: 'forgotten' }), undefined)
  let caughtUp = (): void => {}
  const first = new Promise<void>((resolve) => { caughtUp = resolve })
  for (const stop of stops) stop()
  const stopAll = [() => first, () => new Promise<void>(() => {})].map((watcher) => record.watch(watcher))
  const pace = record.notify({ what: 'forgotten' })
  assert.ok(pace instanceof Promise)
  let isBehind = true
  void pace.then(() => { isBehind = false })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isBehind, true)
  caughtUp()
  await pace
  for (const stop of stopAll) stop()
  record.watch(() => Promise.resolve())
  assert.ok(record.notify({ what: 'forgotten' }) instanceof Promise)
  assert.deepEqual(told, ['first', 'first', 'second'])
})

test('who watches hears the last event, and nothing after it', () => {
  const record = recordWith([])
  const told: string[] = []
  record.watch(({ what }) => { told.push(what) })
  record.notifyLast({ what: 'status', status: record.status })
  record.notifyLast({ what: 'forgotten' })
  assert.deepEqual(told, ['status'])
})

test('of one that has ended only the task is kept, and what ends a watching late does nothing', () => {
  const record = recordWith([])
  record.show = () => {}
  const stop = record.watch(() => {})
  record.task = { ...record.task, status: { state: 'completed', at: AT } }
  record.notifyLast({ what: 'status', status: record.status })
  stop()
  assert.deepEqual([record.watchers, record.run, record.show, record.task.status.state],
    [[], undefined, undefined, 'completed'])
})

const NOW = '2026-01-01T00:00:00.000Z'
const large = 'x'.repeat(10_000)
const seed = {
  id: 't', owner: 'ann', protocol: 'a2a' as const, runnable: { kind: 'agent' as const, name: 'bot' },
  contextId: 'c', sessionId: undefined, ttlMs: undefined,
}
const small = taskOf(seed, NOW, { state: 'working', at: NOW })
const part = { type: 'text' as const, text: large }
const message = { id: 'm', role: 'user' as const, parts: [part] }

const holders: readonly (readonly [where: string, task: Partial<Task>])[] = [
  ['its message', { status: { state: 'working', at: NOW, message } }],
  ['its history', { history: [message] }],
  ['the data of a message', {
    history: [{ ...message, parts: [{ type: 'data', data: [{ deep: large }] }] }],
  }],
  ['the metadata of a message', { history: [{ ...message, parts: [], metadata: { note: large } }] }],
  ['the extensions of a message', { history: [{ ...message, parts: [], extensions: [large] }] }],
  ['the references of a message', { history: [{ ...message, parts: [], referenceTaskIds: [large] }] }],
  ['what a part is marked with', {
    history: [{ ...message, parts: [{ type: 'text', text: '', _meta: { a: large } }] }],
  }],
  ['an artifact', { artifacts: [{ id: 'a', parts: [part] }] }],
  ['the name of an artifact', { artifacts: [{ id: 'a', name: large, parts: [] }] }],
  ['the description of an artifact', { artifacts: [{ id: 'a', description: large, parts: [] }] }],
  ['the metadata of an artifact', { artifacts: [{ id: 'a', metadata: { note: large }, parts: [] }] }],
  ['the extensions of an artifact', { artifacts: [{ id: 'a', extensions: [large], parts: [] }] }],
  ['a question', { questions: [{ key: 'q', question: { what: 'elicit', message: large, schema: {} } }] }],
  ['an answer', { turn: { messageId: 'm', metadata: undefined, answers: { q: large }, results: {} } }],
  ['what was done once', {
    turn: { messageId: 'm', metadata: undefined, answers: {}, results: { pay: large } },
  }],
  ['its result', { result: { text: large } }],
  ['its fault', { fault: { kind: 'failed', message: large } }],
  ['its owner', { owner: large }],
]

test('whatever a task holds is counted, wherever it is', () => {
  const least = bytesOf(small)
  for (const [where, more] of holders) {
    const bytes = bytesOf({ ...small, ...more }) - least
    assert.ok(bytes >= 19_000 && bytes < 21_500, `${where}: ${bytes}`)
  }
  assert.ok(least < 2_000)
})

const words = { type: 'text' as const, text: 'four' }
/** A part of four characters that is a plain text, and one that is an object like any other. */
const PLAIN = 96 + 8
const MARKED = 96 + 3 * 64 + (24 + 8) + (24 + 8) + (96 + 64 + 8)

/** What is counted for each, beside the task without it. */
const figures: readonly (readonly [what: string, more: Partial<Task>, bytes: number])[] = [
  ['nothing', {}, 0],
  ['a longer owner', { owner: 'annabel' }, 8],
  ['what is said of its state', { status: { state: 'working', at: NOW, message: { ...message, parts: [] } } },
    256],
  ['what its turn ended with', { status: { state: 'working', at: NOW, metadata: { a: 1 } } }, 96 + 64 + 8],
  ['an empty message', { history: [{ ...message, parts: [] }] }, 256],
  ['messages of plain texts', { history: [message, message].map((one) => ({ ...one, parts: [words] })) },
    2 * (256 + PLAIN)],
  ['a marked text', { history: [{ ...message, parts: [{ ...words, _meta: { a: 1 } }] }] }, 256 + MARKED],
  ['what is beside a message', { history: [{
    ...message, parts: [], metadata: {}, referenceTaskIds: ['four'], extensions: ['four', 'five'],
  }] }, 256 + 96 + (48 + 8 + 24 + 8) + (48 + 2 * (8 + 24 + 8))],
  ['an artifact', { artifacts: [{ id: 'a', parts: [words, words] }] }, 256 + 2 * PLAIN],
  ['what is beside an artifact', { artifacts: [{
    id: 'a', parts: [], name: 'four', description: '', metadata: { a: null }, extensions: [],
  }] }, 256 + (24 + 8) + 24 + (96 + 64 + 8) + 48],
  ['a question', { questions: [{ key: 'k', question: { what: 'roots' } }] },
    48 + 8 + 96 + 64 + (24 + 2) + 64 + (96 + 64 + 24 + 10)],
  ['a turn', { turn: { answers: {}, results: {} } }, 96 + 2 * (64 + 96)],
  ['a result that is a text', { result: 'four' }, 24 + 8],
  ['a result that is nothing', { result: null }, 8],
  ['a result that is a flag', { result: true }, 8],
  ['a list of lists', { result: [[], [1]] }, 48 + (8 + 48) + (8 + 48 + 8 + 8)],
  ['a fault', { fault: { kind: 'failed', message: 'four' } }, 96 + (64 + 24 + 12) + (64 + 24 + 8)],
]

test('each thing that a task holds counts for so many bytes', () => {
  assert.equal(bytesOf(small), 1_024 + 6)
  for (const [what, more, bytes] of figures) assert.equal(bytesOf({ ...small, ...more }) - 1_030, bytes, what)
})

test('a message is counted by its parts', () => {
  assert.ok(bytesOfMessage(message) - bytesOfMessage({ ...message, parts: [] }) >= 20_000)
})

let names = 0
const unique = (): string => `n${(names++).toString(36)}`

/** JSON that takes many times its text, of so many values. */
const dense: readonly (readonly [what: string, json: (count: number) => string])[] = [
  ['empty objects', (count) => `[${Array.from({ length: count }, () => '{}').join()}]`],
  ['empty lists', (count) => `[${Array.from({ length: count }, () => '[]').join()}]`],
  ['objects of one name each',
    (count) => `[${Array.from({ length: count }, () => `{"${unique()}":1}`).join()}]`],
  ['objects in objects', (count) => `[${Array.from({ length: count }, () => `{"${unique()}":{}}`).join()}]`],
  ['an object of many names',
    (count) => `{${Array.from({ length: count }, () => `"${unique()}":1`).join()}}`],
]

test('what is small and many counts for at least half of what it takes', () => {
  const all: unknown[] = []
  for (const [what, json] of dense) {
    const text = json(30_000)
    all.push(text)
    const before = heldBytes()
    const data: unknown = JSON.parse(text)
    all.push(data)
    const bytes = bytesOfMessage({ ...message, parts: [{ type: 'data', data }] })
    const held = heldBytes() - before
    assert.ok(bytes > held / 2, `${what}: ${bytes} counted, ${held} held`)
  }
  assert.equal(all.length, 2 * dense.length)
})
