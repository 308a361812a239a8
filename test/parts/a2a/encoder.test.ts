import assert from 'node:assert/strict'
import test from 'node:test'
import { formatJson } from '../../../lib/kernel/wire/json.ts'
import { isSettled } from '../../../lib/parts/a2a/model/task-view.ts'
import { v03 } from '../../fixtures/a2a-client/v03.ts'
import { v1 } from '../../fixtures/a2a-client/v1.ts'
import { randomOf } from '../../fixtures/random.ts'
import type { Artifact } from '../../../lib/kernel/define/artifact.ts'
import type { Content } from '../../../lib/kernel/define/content.ts'
import type { TaskMessage, TaskState, TaskStatus } from '../../../lib/floors/tasks/task.ts'
import type { JsonMembers, Message, StreamEvent, TaskView } from '../../../lib/parts/a2a/model/model.ts'

const below = randomOf(38)
const one = <T>(...choices: readonly [T, ...T[]]): T => choices[below(choices.length)]!
const some = <T>(make: () => T, least = 0): readonly T[] => Array.from({ length: least + below(3) }, make)
const maybe = <T>(value: T): T | undefined => one(value, undefined)

/** Each member of a type: of one that is added the compiler asks what a test makes of it. */
type Each<T> = { readonly [name in keyof Required<T>]: T[name] | undefined }

/** Without the members that are undefined. */
function given<T>(members: Each<T>): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T
}

const text = (): string => (
  one('a', 'Zürich \u{1f600}', 'He said: "no\\yes"\n\u2028\u0007', '__proto__', '{"a":1}')
)
const value = (): unknown => (
  one<unknown>(null, 7, false, 'x', [], [1, { a: null }], {}, { value: 1 }, { a_b: text() })
)
const metadata = (): JsonMembers => (
  one<JsonMembers>({}, { a: value() }, { usage: { inputTokens: 3 }, kind: text() })
)
const uris = (): readonly string[] => some(() => one('https://e.example/a', 'urn:b'), 1)
const at = '2026-07-28T12:00:00.000Z'
const states: readonly [TaskState, ...TaskState[]] = [
  'submitted', 'working', 'input-required', 'auth-required', 'completed', 'failed', 'canceled', 'rejected',
]

/** A block of each kind, in the form in which it is read. */
const blocks: { readonly [type in Content['type']]: () => Content } = {
  text: () => one<Content>(
    { type: 'text', text: one('', text()) },
    { type: 'text', text: text(), _meta: { filename: text(), mediaType: 'text/csv', page: 1 } },
  ),
  data: () => one<Content>(
    { type: 'data', data: value() },
    { type: 'data', data: value(), mimeType: 'a/json', _meta: { filename: text(), page: 1 } },
  ),
  image: () => ({ type: 'image', data: 'AAEC', mimeType: 'image/png', _meta: { filename: text(), page: 1 } }),
  audio: () => ({ type: 'audio', data: '+/8=', mimeType: 'audio/wav' }),
  resource: () => one<Content>(
    { type: 'resource', resource: { uri: 'attachment:file', blob: '' } },
    {
      type: 'resource', resource: { uri: 'attachment:a%20b.zip', mimeType: 'a/zip', blob: 'AAEC' },
      _meta: { page: 1 },
    },
  ),
  resource_link: () => one<Content>(
    { type: 'resource_link', uri: 'https://a.example/b.pdf', name: 'b.pdf' },
    {
      type: 'resource_link', uri: 'https://a.example/b', name: text(), mimeType: 'a/pdf', _meta: { page: 1 },
    },
  ),
}
const kinds = Object.keys(blocks) as [Content['type'], ...Content['type'][]]
const parts = (): readonly Content[] => some(() => blocks[one(...kinds)](), 1)

const said = (): Required<TaskMessage> => ({
  id: text(), role: one('user', 'agent'), parts: parts(), metadata: maybe(metadata()),
  extensions: maybe(uris()), referenceTaskIds: maybe(uris()),
})
const status = (isMarked: boolean): TaskStatus => given<TaskStatus>({
  state: one(...states), at, message: maybe(said()), metadata: isMarked ? maybe(metadata()) : undefined,
})
const artifact = (): Artifact => given<Artifact>({
  id: text(), name: maybe(text()), description: maybe(text()), parts: parts(), metadata: maybe(metadata()),
  extensions: maybe(uris()),
})
const task = (): Each<TaskView> & TaskView => ({
  id: text(), contextId: text(), status: status(false), artifacts: maybe(some(artifact)),
  history: maybe(some(said)), metadata: maybe(metadata()),
})
const message = (): Message => ({ ...said(), contextId: maybe(text()), taskId: maybe(text()) })
const event = (): StreamEvent => one<() => StreamEvent>(
  () => ({ what: 'task', task: task() }),
  () => ({ what: 'message', message: message() }),
  () => {
    const now = status(true)
    return { what: 'status', taskId: text(), contextId: text(), status: now, isLast: isSettled(now.state) }
  },
  () => ({
    what: 'artifact', taskId: text(), contextId: text(), artifact: artifact(), append: one(true, false),
    last: one(true, false),
  }),
)()

/** In a task it is the task that says where a message belongs. */
function withoutIds(read: StreamEvent): unknown {
  return JSON.parse(JSON.stringify(read), function strip(this: JsonMembers, name, member: unknown) {
    const isOfTask = 'role' in this && (name === 'contextId' || name === 'taskId')
    return isOfTask ? undefined : member
  })
}

test('every member of an event is read in each version as it was written', () => {
  for (let count = 0; count < 2_000; count++) {
    const meant = event()
    for (const { name, operations } of [v1, v03]) {
      const written = operations.stream!.formatResult(meant)
      const read = operations.stream!.decodeResult(JSON.parse(written))
      assert.deepEqual(withoutIds(read), withoutIds(meant), name)
      if (meant.what === 'message') assert.deepEqual(read, meant, name)
      // Every member once, and none that JSON has not.
      assert.equal(written, formatJson(JSON.parse(written)), name)
      if (meant.what !== 'task') continue
      assert.ok(written.includes(operations.get!.formatResult(meant.task)), name)
      assert.ok(operations.list!.formatResult({
        tasks: [meant.task, meant.task], nextPageToken: '', pageSize: 2, totalSize: 2,
      }).includes(`[${operations.get!.formatResult(meant.task)},`), name)
    }
  }
})
