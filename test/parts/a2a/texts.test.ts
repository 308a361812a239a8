import assert from 'node:assert/strict'
import test from 'node:test'
import { dialects } from '../../../lib/parts/a2a/codec/dialects.ts'
import { formatJson } from '../../../lib/kernel/wire/json.ts'
import type { Message, StreamEvent, TaskView } from '../../../lib/parts/a2a/model/model.ts'
import type { Content } from '../../../lib/kernel/define/content.ts'
import type { TaskMessage } from '../../../lib/floors/tasks/task.ts'

const AT = '2026-07-28T12:00:00.000Z'
const awkward = 'He said: "no\\yes"\n\u2028\u0007 Zürich \u{1f600} \ud800'

const said = (text: string, role: 'user' | 'agent' = 'user'): TaskMessage => ({
  id: `m-${text}`, role, parts: [{ type: 'text', text }],
})
const message = (...parts: readonly Content[]): Message => ({
  id: 'm', role: 'agent', parts, contextId: 'c', taskId: undefined, metadata: undefined,
  extensions: undefined, referenceTaskIds: undefined,
})
const task: TaskView = {
  id: 't', contextId: 'c', status: { state: 'completed', at: AT }, metadata: undefined,
  artifacts: [{ id: 'a', parts: [{ type: 'text', text: 'Paris' }] }], history: [said('Where?')],
}
const text: Content = { type: 'text', text: 'Paris' }
const marked: Content = { ...text, _meta: { filename: 'city.txt' } }

/** Made of texts alone. */
const plain: readonly (readonly [what: string, result: StreamEvent])[] = [
  ['a task', { what: 'task', task }],
  ['a task without artifacts and history', {
    what: 'task', task: { ...task, artifacts: undefined, history: undefined },
  }],
  ['a task with empty lists', { what: 'task', task: { ...task, artifacts: [], history: [] } }],
  ['a task that says something', {
    what: 'task',
    task: { ...task, status: { state: 'input-required', at: AT, message: said('Which?', 'agent') } },
  }],
  ['several of each', {
    what: 'task',
    task: {
      ...task, history: [said('One'), said('Two', 'agent')],
      artifacts: [{ id: 'a', parts: [text, text] }, { id: 'b', parts: [text] }],
    },
  }],
  ['what JSON escapes', {
    what: 'task',
    task: {
      ...task, id: '"', contextId: '\\',
      artifacts: [{ id: '\n', parts: [{ type: 'text', text: awkward }] }],
    },
  }],
  ...[true, false].flatMap((flag): readonly (readonly [string, StreamEvent])[] => [
    [`a piece of an artifact, ${flag}`, {
      what: 'artifact', taskId: 't', contextId: 'c"', append: flag, last: !flag,
      artifact: { id: 'a', parts: [text] },
    }],
    [`a status, ${flag}`, {
      what: 'status', taskId: 't"', contextId: 'c', isLast: flag,
      status: { state: 'working', at: AT, ...flag && { message: said(awkward, 'agent') } },
    }],
  ]),
  ['a message', { what: 'message', message: message(text) }],
  ['a message of no context', { what: 'message', message: { ...message(text, text), contextId: undefined } }],
]

/** With more to it somewhere. */
const more: readonly (readonly [what: string, result: StreamEvent])[] = [
  ['a part with more than text', {
    what: 'task', task: { ...task, artifacts: [{ id: 'a', parts: [marked] }] },
  }],
  ['data', { what: 'task', task: { ...task, artifacts: [{ id: 'a', parts: [{ type: 'data', data: 1 }] }] } }],
  ['an artifact with a name', {
    what: 'task', task: { ...task, artifacts: [{ id: 'a', name: 'City', parts: [text] }] },
  }],
  ['a message with metadata', {
    what: 'task', task: { ...task, history: [{ ...said('x'), metadata: { a: 1 } }] },
  }],
  ['an artifact without parts', { what: 'task', task: { ...task, artifacts: [{ id: 'a', parts: [] }] } }],
  ['a message without parts', { what: 'task', task: { ...task, history: [{ ...said('x'), parts: [] }] } }],
  ['a piece with metadata', {
    what: 'artifact', taskId: 't', contextId: 'c', append: true, last: true,
    artifact: { id: 'a', parts: [text], metadata: {} },
  }],
  ['a task with metadata', { what: 'task', task: { ...task, metadata: { a: 1 } } }],
  ['a status with a file', {
    what: 'task',
    task: { ...task, status: { state: 'working', at: AT, message: { ...said('x'), parts: [marked] } } },
  }],
  ['a message with a file', { what: 'message', message: message(marked) }],
  ['a message without anything', { what: 'message', message: message() }],
]

test('a result of texts is the same text that its JSON value is', () => {
  let written = 0
  for (const { name, operations, hasTasks } of dialects) {
    for (const [what, result] of plain) {
      const isEvent = result.what === 'artifact' || result.what === 'status'
      for (const codec of isEvent ? [operations.stream] : [operations.send, operations.stream]) {
        if (codec === undefined || (!hasTasks && result.what !== 'message')) continue
        const formatted = codec.formatResult?.(result as never)
        if (formatted === undefined) continue
        assert.equal(formatted, formatJson(codec.encodeResult(result as never)), `${name}: ${what}`)
        written += 1
      }
    }
  }
  // Tasks in two dialects, whole and as the first event of a stream; other events; messages in the plain one.
  assert.equal(written, 6 * 4 + 4 * 2 + 2)
})

test('what has more to it is not taken for texts', () => {
  for (const { name, operations } of dialects) {
    for (const [what, result] of more) {
      for (const codec of [operations.send, operations.stream]) {
        assert.equal(codec?.formatResult?.(result as never), undefined, `${name}: ${what}`)
      }
    }
  }
})
