import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeTask } from '../../../lib/floors/tasks/stored-task.ts'
import { taskOf } from '../../../lib/floors/tasks/task.ts'
import type { Content } from '../../../lib/index.ts'
import type { Question } from '../../../lib/kernel/define/question.ts'
import type { Task, TaskMessage } from '../../../lib/floors/tasks/task.ts'

const AT = '2026-01-01T00:00:00.000Z'

const parts: readonly Content[] = [
  { type: 'text', text: 'a', _meta: { a: 1 } },
  { type: 'image', data: 'AAAA', mimeType: 'image/png' },
  { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
  { type: 'resource', resource: { uri: 'file:///a', text: 'a' } },
  { type: 'resource_link', uri: 'file:///a', name: 'a' },
  { type: 'data', data: { a: 1 } },
]

const message: TaskMessage = {
  id: 'm', role: 'user', parts, metadata: { a: 1 }, extensions: ['e'], referenceTaskIds: ['t'],
}

/** A task with everything that one can have. */
const full: Task = {
  id: 't', owner: 'ann', node: 'node-one', protocol: 'mcp', runnable: { kind: 'tool', name: 'work' },
  isReserved: false, tenant: 'a', contextId: 'c', sessionId: 's', createdAt: AT, ttlMs: 1,
  status: { state: 'working', at: AT, message: { ...message, role: 'agent' }, metadata: { a: 1 } },
  artifacts: [{ id: 'a', parts, name: 'n', description: 'd', metadata: { a: 1 }, extensions: ['e'] }],
  history: [message],
  questions: [{ key: 'q', question: { what: 'elicit', message: 'm', schema: {} } }],
  turn: {
    messageId: 'm', metadata: { a: 1 }, isRerun: true, run: 2, earlier: ['a'], artifactId: 'a',
    request: {
      requestId: 'r', principal: { id: 'ann', scopes: ['s'], expiresAt: 1 }, headers: [['a', 'b']], said: [1],
    },
    answers: { q: 1 }, results: { r: 1 },
  },
  result: { content: [{ type: 'text', text: 'a' }] }, fault: { kind: 'internal', message: 'm', detail: 1 },
}

/** What may have any form, or is looked at in a test of its own. */
const FREE = /^(?:turn\.request\.said|result|fault\.detail)\b|parts\.5\.data|resource\.text$/
/** What may be any object. */
const OPEN = /(?:metadata|_meta|answers|results|schema)$/
const NUMBERS = /(?:expiresAt|ttlMs)$/
const LEFT_OUT = /^(?:node|isReserved|tenant|sessionId|ttlMs|turn|result|fault)$/

/** Every member of a value, by its path, with the value in which it is another one. */
function * changed(
  value: unknown, other: unknown, path: readonly string[] = [],
): Generator<readonly [path: string, whole: unknown]> {
  if (path.length > 0) yield [path.join('.'), other]
  if (typeof value !== 'object' || value === null || OPEN.test(path.join('.'))) return
  for (const [name, member] of Object.entries(value)) {
    for (const [at, changedMember] of changed(member, other, [...path, name])) {
      const whole: unknown = Array.isArray(value)
        ? value.map((one: unknown, index) => `${index}` === name ? changedMember : one)
        : { ...value, [name]: changedMember }
      yield [at, JSON.parse(JSON.stringify(whole))]
    }
  }
}

test('a kept task is read as it is, and a tombstone as null', () => {
  const kept: unknown = JSON.parse(JSON.stringify(full))
  assert.equal(decodeTask(kept), kept)
  assert.equal(decodeTask(null), null)
  const seed = {
    owner: 'ann', protocol: 'a2a', runnable: { kind: 'agent', name: 'bot' }, contextId: 'c',
    sessionId: undefined, ttlMs: undefined,
  } as const
  const least: unknown = JSON.parse(JSON.stringify(taskOf(seed, AT, { state: 'submitted', at: AT })))
  assert.equal(decodeTask(least), least)
  for (const value of [undefined, 1, 'text', [], {}, [kept]]) assert.equal(decodeTask(value), undefined)
})

test('a task of which any member has another form is none', () => {
  for (const other of [null, 5.5, { odd: [] }]) {
    let count = 0
    for (const [path, whole] of changed(full, other)) {
      const isFine = FREE.test(path) || (other === 5.5 && NUMBERS.test(path))
        || (typeof other === 'object' && other !== null && OPEN.test(path))
      if (isFine) continue
      count += 1
      assert.equal(decodeTask(whole), undefined, `${path} is ${JSON.stringify(other)}`)
    }
    assert.ok(count > 60, String(count))
  }
})

test('a task that lacks a member which every task has is none', () => {
  for (const name of Object.keys(full)) {
    const { [name as keyof Task]: _gone, ...rest } = full
    const isThere = decodeTask(rest) !== undefined
    assert.equal(isThere, LEFT_OUT.test(name), name)
  }
})

test('times, states, roles, protocols and kinds of a task are those that there are', () => {
  const wrong: readonly Partial<Record<keyof Task, unknown>>[] = [
    { createdAt: 'yesterday' }, { status: { state: 'working', at: '' } },
    { status: { state: 'odd', at: AT } }, { protocol: 'smtp' }, { fault: { kind: 'odd', message: 'm' } },
    { history: [{ ...message, role: 'boss' }] },
    { questions: [{ key: 'q', question: { what: 'odd' } }] }, { artifacts: [{ id: 'a', parts: ['a'] }] },
    { artifacts: [{ id: 'a', parts: [{ type: 'odd' }] }] },
    { artifacts: [{ id: 'a', parts: [{ type: 'resource', resource: {} }] }] },
    { artifacts: [{ id: 'a', parts: [{ type: 'text', text: 'a', _meta: [] }] }] },
    { turn: { ...full.turn, request: { ...full.turn?.request, headers: [['a']] } } },
    { turn: { ...full.turn, run: 1.5 } }, { turn: { ...full.turn, isRerun: 'yes' } },
    { result: { content: [1] } }, { result: { content: 'text' } },
  ]
  for (const more of wrong) assert.equal(decodeTask({ ...full, ...more }), undefined, JSON.stringify(more))
  for (const state of [
    'submitted', 'working', 'input-required', 'auth-required', 'completed', 'failed', 'canceled', 'rejected',
  ]) {
    assert.ok(decodeTask({ ...full, status: { state, at: AT } }), state)
  }
  const asked: readonly Question[] = [
    { what: 'elicit', message: 'm', schema: {} },
    { what: 'elicit-url', message: 'm', url: 'https://a.example' },
    { what: 'sample', messages: [{ role: 'user', content: 'a' }], maxTokens: 1 },
    { what: 'roots' },
  ]
  for (const question of asked) {
    assert.ok(decodeTask({ ...full, questions: [{ key: 'q', question }] }), question.what)
    for (const name of Object.keys(question)) {
      if (name === 'maxTokens') continue
      const damaged = { ...question, [name]: 1 }
      assert.equal(decodeTask({ ...full, questions: [{ key: 'q', question: damaged }] }), undefined, name)
    }
  }
  // What the others have as a result they never encode.
  for (const protocol of ['http', 'a2a', 'acp']) {
    assert.ok(decodeTask({ ...full, protocol, result: { content: [1] } }), protocol)
  }
  assert.ok(decodeTask({ ...full, result: { other: 1 } }))
})
