import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { serveQuestions, TaskAsking, TaskStream } from '../../../lib/parts/mcp-tasks/task-asking.ts'
import type { Acceptor, PeerChannel } from '../../../lib/floors/shared/peer-channels.ts'
import type { McpRequest } from '../../../lib/parts/mcp/request/request.ts'
import type { SharedProcesses } from '../../../lib/floors/shared/shared.ts'
import type { Task } from '../../../lib/floors/tasks/task.ts'

interface Lent {
  readonly asking: TaskAsking
  readonly answers: readonly unknown[]
  /** What was said on the line. */
  readonly said: readonly unknown[]
  readonly open: () => ReturnType<Acceptor>
}

/** The questions of one task, and a line on which another process borrows them. */
function lent(): Lent {
  const answers: unknown[] = []
  const said: unknown[] = []
  const asking = new TaskAsking({
    answer: (key, answer) => answers.push([key, answer]), refuse: (key) => answers.push([key]),
  })
  let take: Acceptor | undefined
  const lines = { on: (_kind: string, taken: Acceptor) => { take = taken } }
  const shared = { channels: lines } as unknown as SharedProcesses
  serveQuestions(shared, (_owner, id) => id === 't' ? asking : undefined)
  const line: PeerChannel = { node: 'other', send: (word) => said.push(word), end() {} }
  return { asking, answers, said, open: () => take!(['ann', 't'], line) }
}

const questions = [{ key: 'name', question: { what: 'roots' } }] as const

test('what a task asks is asked on the line of another process, and answered from there', async () => {
  const { asking, answers, said, open } = lent()
  const ends = open()
  await turn()
  asking.show(questions)
  assert.deepEqual(said, [['ask', 'name', { what: 'roots' }]])
  ends?.onMessage?.(['answer', 'name', 'Ann'])
  await turn()
  assert.deepEqual(answers, [['name', 'Ann']])
  asking.show([])
  assert.deepEqual(said.slice(1), [['withdraw', 'name']])
})

test('nothing is asked on a line that has ended, not even in the turn in which it began', async () => {
  for (const waits of [0, 1]) {
    const { asking, said, open } = lent()
    const ends = open()
    if (waits > 0) await turn()
    ends?.onEnd?.()
    await turn()
    asking.show(questions)
    assert.deepEqual(said, [], `after ${waits} turns`)
  }
})

test('a question that another process withdraws owes it nothing, and can be asked again', async () => {
  const said: unknown[] = []
  let ends: ReturnType<Acceptor>
  const channels = { open: (_node: string, _kind: string, _question: unknown, listener: typeof ends) => {
    ends = listener
    return { node: 'other', send: (word: unknown) => said.push(word), end() {} }
  } }
  const sharing = { channels }
  const use = (): object => ({ remoteTasks: { nodeOf: () => 'other' } })
  const request = { mcp: { service: { sharing, use, log() {} } } } as unknown as McpRequest
  const asked: { answer: (answer: unknown) => void; withdrawn: boolean }[] = []
  const stream = new TaskStream(request, { id: 't', owner: 'ann', questions } as unknown as Task, {
    ask() {
      const one = { answer: (_answer: unknown): void => {}, withdrawn: false }
      asked.push(one)
      let refuse = (_reason: unknown): void => {}
      const answer = new Promise<unknown>((resolve, reject) => { [one.answer, refuse] = [resolve, reject] })
      return { answer, withdraw(reason) { one.withdrawn = true; refuse(reason) } }
    },
    isConnected: () => true,
  }, () => undefined)
  stream.update({ id: 't', owner: 'ann', questions } as unknown as Task)
  ends?.onMessage?.(['ask', 'name', { what: 'roots' }])
  ends?.onMessage?.(['withdraw', 'name'])
  assert.equal(asked[0]?.withdrawn, true)
  ends?.onMessage?.(['ask', 'name', { what: 'roots' }])
  await turn()
  // What came of the first would be taken for the answer to the second.
  assert.deepEqual(said, [])
  asked[1]?.answer('Ann')
  await turn()
  assert.deepEqual(said, [['answer', 'name', 'Ann']])
  ends?.onMessage?.(['ask', 'age', { what: 'roots' }])
  stream.leave()
  await turn()
  assert.deepEqual(asked.map(({ withdrawn }) => withdrawn), [true, false, true])
  assert.equal(said.length, 1)
})
