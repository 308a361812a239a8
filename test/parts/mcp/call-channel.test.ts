/**
 * What a handler says while its request is open, and after: on the stream of the call, on that of the
 * session, or nowhere.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { allRevisions, begin, modern, said, serveMcp } from './client.ts'
import { EventStream, messagesOf } from '../../fixtures/events.ts'
import { gate } from '../../fixtures/wire.ts'
import type { Call, TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/wire.ts'
import type { Json } from '../../fixtures/events.ts'

const able = { elicitation: { form: {}, url: {} } }
const url = 'https://example.com/connect'

/** A server with one tool. */
function working(t: Scope, run: (call: Call) => unknown, task?: 'optional'): TriportServer {
  return serveMcp(t, {
    tools: [{ name: 'work', description: 'Works.', ...task && { task }, run: (_args, call) => run(call) }],
  })
}

test('progress goes to whoever gave a token, upwards only, with words if a revision has them', async (t) => {
  const server = working(t, (call) => {
    for (const [done, text] of [[1, 'a'], [1, 'again'], [0.5, 'back'], [NaN, 'none'], [2, 'b']] as const) {
      call.progress(done, 2, text)
    }
    return 'done'
  })
  for (const revision of allRevisions) {
    const session = revision === '2026-07-28' ? undefined : await begin(server, revision)
    const call = async (meta: object): Promise<Json[]> => messagesOf(await (
      session === undefined ? modern(server, 'tools/call', { name: 'work' }, { meta })
        : session.send('tools/call', { name: 'work', _meta: meta })
    ))
    const hasText = revision >= '2025-03-26'
    const told = (await call({ progressToken: 't' })).slice(0, -1)
    const wanted = [[1, 'a'], [2, 'b']].map(([done, text]) => [
      'notifications/progress',
      { progressToken: 't', progress: done, total: 2, ...hasText && { message: text } },
    ])
    assert.deepEqual(told.map(({ method, params }) => [method, params]), wanted, revision)
    assert.equal((await call({})).length, 1, revision)
  }
})

test('a line of log goes out from the level that is wanted; one that is no JSON is dropped', async (t) => {
  const logged: string[] = []
  const server = serveMcp(t, {
    log: (_level, message) => { logged.push(message) },
    tools: [{ name: 'work', description: 'Works.', run(_args, call) {
      call.log('debug', 'small')
      call.log('warning', { disk: 'full' }, 'disk')
      call.log('error', undefined)
      call.log('emergency', { big: 1n })
      return 'done'
    } }],
  })
  const lines = (messages: readonly Json[]): Json[] => messages.slice(0, -1).map(({ params }) => params)
  const wanted = [
    { level: 'warning', logger: 'disk', data: { disk: 'full' } }, { level: 'error', data: null },
  ]
  const params = { name: 'work' }
  const session = await begin(server)
  assert.deepEqual(lines(await messagesOf(await session.send('tools/call', params))), wanted)
  await session.ask('logging/setLevel', { level: 'error' })
  assert.deepEqual(lines(await messagesOf(await session.send('tools/call', params))), wanted.slice(1))
  const meta = { 'io.modelcontextprotocol/logLevel': 'warning' }
  assert.deepEqual(lines(await messagesOf(await modern(server, 'tools/call', params, { meta }))), wanted)
  assert.equal((await messagesOf(await modern(server, 'tools/call', params))).length, 1)
  assert.ok(logged.every((line) => line === 'A notifications/message is not JSON') && logged.length > 0)
})

test('a line of log of a level that is none is dropped, and the server says which it was', async (t) => {
  const logged: string[] = []
  const server = serveMcp(t, {
    log: (_level, message) => { logged.push(message) },
    tools: [{ name: 'work', description: 'Works.', run(_args, call) {
      call.log('loud' as 'error', 'x')
      return 'done'
    } }],
  })
  const session = await begin(server)
  assert.equal((await messagesOf(await session.send('tools/call', { name: 'work' }))).length, 1)
  assert.deepEqual(logged, ['call.log has the level "loud"; write one from debug to emergency'])
})

test('an address that was opened is known by its id, and its end is told by it', async (t) => {
  const known: (string | undefined)[] = []
  const server = working(t, async (call) => {
    for (let n = 0; n < 2; n++) {
      const { elicitationId } = await call.elicit({ message: 'In', url })
      known.push(elicitationId)
      call.completeElicitation(elicitationId!)
    }
    return 'done'
  })
  for (let n = 0; n < 2; n++) {
    const session = await begin(server, '2025-11-25', able)
    const stream = await session.stream('work')
    for (let question = 0; question < 2; question++) {
      const { id, params } = await stream.next()
      await session.answer(id, { action: 'accept' })
      assert.deepEqual(await stream.next(), {
        jsonrpc: '2.0', method: 'notifications/elicitation/complete',
        params: { elicitationId: params.elicitationId },
      })
      assert.equal(known.at(-1), params.elicitationId)
    }
    assert.equal(said((await stream.next()).result), 'done')
  }
  assert.equal(new Set(known).size, 4)
})

for (const [what, task] of [['a call', undefined], ['a task', 'optional']] as const) {
  test(`the end of ${what} is not the end of what it let a user open`, async (t) => {
    const done = gate()
    const server = working(t, async (call) => {
      const { elicitationId } = await call.elicit({ message: 'In', url })
      void done.promise.then(() => call.completeElicitation(elicitationId!))
      return 'opened'
    }, task)
    const session = await begin(server, '2025-11-25', able)
    const outlet = await session.listen()
    const params = { name: 'work', ...task && { task: {} } }
    const stream = task === undefined ? new EventStream(await session.send('tools/call', params)) : outlet
    if (task !== undefined) await session.ask('tools/call', params)
    let question = await stream.next()
    while (question.method !== 'elicitation/create') question = await stream.next()
    await session.answer(question.id, { action: 'accept' })
    if (task === undefined) assert.equal(said((await stream.next()).result), 'opened')
    done.open()
    let notice = await outlet.next()
    while (notice.method !== 'notifications/elicitation/complete') notice = await outlet.next()
    assert.deepEqual(notice.params, { elicitationId: question.params.elicitationId })
    await outlet.cancel()
  })
}

test('a revision without a word for it is told nothing of an end', async (t) => {
  const server = working(t, (call) => {
    call.completeElicitation('some-id')
    return 'done'
  })
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    const session = await begin(server, revision, able)
    assert.equal((await messagesOf(await session.send('tools/call', { name: 'work' }))).length, 1, revision)
  }
  assert.equal((await messagesOf(await modern(server, 'tools/call', { name: 'work' }))).length, 1)
})
