import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually, gate } from '../../fixtures/client.ts'
import { message, post } from './ask.ts'
import { Caller, callerOf, serveBot, sumOf, tellOf } from './caller.ts'
import type { Beside } from './caller.ts'
import type { Call, Content } from '../../../lib/index.ts'

/** A form with one value. */
function formOf(type: string): { readonly type: 'object'; readonly [keyword: string]: unknown } {
  return { type: 'object', properties: { value: { type } }, required: ['value'] }
}

const data = (value: unknown): readonly Content[] => [{ type: 'data', data: value }]

test('a handler sees the message, its task and its context, and what came with it', async (t) => {
  const seen: unknown[] = []
  const bot = callerOf(t, async (prompt, call) => {
    seen.push([prompt, call.protocol, call.message, call.messageId, call.taskId, call.contextId,
      call.sessionId, call.metadata, call.history])
    return prompt === 'last' ? 'done' : { text: 'Which?', state: 'input-required' }
  })
  const file = { type: 'resource_link' as const, uri: 'http://a.test/b.txt', name: 'b.txt' }
  const { id, contextId } = await bot.task(
    [{ type: 'text', text: 'first' }, file], { id: 'm-1', contextId: 'c-1', metadata: { trip: 1 } },
  )
  assert.equal(contextId, 'c-1')
  await bot.task('last', { id: 'm-2', taskId: id })
  const first = [{ type: 'text', text: 'first' }, file]
  const said = [{ role: 'user', content: 'first' }, { role: 'assistant', content: 'Which?' }]
  assert.deepEqual(seen, [
    ['first', 'a2a', first, 'm-1', id, 'c-1', 'c-1', { trip: 1 }, []],
    ['last', 'a2a', [{ type: 'text', text: 'last' }], 'm-2', id, 'c-1', 'c-1', {}, said],
  ])
})

test('a handler sees which tasks a message names, and what its client can read', async (t) => {
  const answer = (_prompt: string, call: Call) => (
    { data: [call.referenceTaskIds, call.acceptedOutputModes] }
  )
  const speeches = [{ dialect: '0.3' }, { dialect: '1.0' }] as const
  for (const replies of ['task', 'message', 'either'] as const) {
    for (const speech of speeches) {
      const bot = new Caller(serveBot(t, answer, {}, { replies }), speech)
      const said = async (beside: Beside): Promise<unknown> => {
        const result = await bot.send('hi', beside)
        const parts = result.what === 'message' ? result.message.parts : result.task.artifacts?.[0]?.parts
        return parts?.[0]?.type === 'data' ? parts[0].data : undefined
      }
      assert.deepEqual(await said({}), [[], []])
      const message = { referenceTaskIds: ['t-0', 't-1'] }
      assert.deepEqual(await said({ message, outputModes: ['image/png'] }), [['t-0', 't-1'], ['image/png']])
    }
  }
  const asking = callerOf(t, (prompt, call) => (
    { text: call.acceptedOutputModes.join(), state: prompt === 'end' ? 'completed' : 'input-required' }
  ))
  const { id } = await asking.task('one', { outputModes: ['a/b'] })
  assert.equal(sumOf(await asking.task('end', { taskId: id, outputModes: ['c/d'] })), 'completed: c/d')
})

test('a handler that answers with a message sees the ids of what it answers', async (t) => {
  const answer = (_prompt: string, call: Call): string => `${call.messageId} ${call.contextId} ${call.taskId}`
  const server = serveBot(t, answer, {}, { replies: 'message' })
  for (const dialect of ['0.3', '1.0'] as const) {
    const result = await new Caller(server, { dialect }).send('hi', { id: 'm-1', contextId: 'c-1' })
    assert.deepEqual(result.what === 'message' && result.message.parts, [
      { type: 'text', text: 'm-1 c-1 undefined' },
    ])
  }
  const { text, said } = await post(server, message('hi'))
  assert.equal(text, `undefined ${said?.contextId} undefined`)
})

test('a message with the id of another is one more, and the same once more is refused', async (t) => {
  const bot = callerOf(t, async (prompt, call) => {
    if (prompt === 'ask') return (await call.elicit({ message: 'Who?', schema: formOf('string') })).action
    return prompt === 'end' ? 'done' : { text: 'More?', state: 'input-required' }
  })
  const { id } = await bot.task('one', { id: 'm' })
  await assert.rejects(bot.task('one', { id: 'm', taskId: id }), { code: -32602, detail: /was sent before/ })
  await bot.task('two', { id: 'm', taskId: id })
  await assert.rejects(bot.task('one', { id: 'm', taskId: id }), { code: -32602, detail: /was sent before/ })
  await bot.task('one', { id: 'm', taskId: id, message: { metadata: { n: 2 } } })
  assert.equal(sumOf(await bot.task('end', { id: 'm', taskId: id })), 'completed: done')
  const { history = [] } = await bot.get(id)
  const said = history.filter((one) => one.id === 'm').flatMap(({ parts }) => parts)
  assert.deepEqual(said, ['one', 'two', 'one', 'end'].map((text) => ({ type: 'text', text })))
  // Its run is found by the id of the message that began it.
  const asked = await bot.task('ask', { id: 'm' })
  await assert.rejects(bot.task('Ann', { id: 'm', taskId: asked.id }), { detail: /was sent before/ })
  assert.equal(sumOf(await bot.task('Ann', { taskId: asked.id })), 'completed: accept')
})

test('each turn has an artifact of its own', async (t) => {
  const bot = callerOf(t, async function * (prompt) {
    yield `About ${prompt}. `
    yield { text: 'More?', state: prompt === 'b' ? 'completed' : 'input-required' }
  })
  const { id } = await bot.task('a')
  const task = await bot.task('b', { taskId: id })
  assert.equal(sumOf(task), 'completed: About a.  + About b. More?')
  assert.equal(new Set(task.artifacts?.map((one) => one.id)).size, 2)
})

test('data stands in the artifact beside the words, and artifacts of the handler stand alone', async (t) => {
  const bot = callerOf(t, async (prompt, call) => {
    if (prompt === 'made') call.artifact({ id: 'a', name: 'Notes', parts: ['1'] })
    if (prompt === 'made') call.artifact({ id: 'a', parts: ['2'], append: true })
    return prompt === 'data' ? { data: { n: 1 } } : { text: 'One', data: { n: 1 } }
  })
  assert.equal(sumOf(await bot.task('data')), 'completed: {"n":1}')
  assert.equal(sumOf(await bot.task('both')), 'completed: One|{"n":1}')
  assert.equal(sumOf(await bot.task('made')), 'completed: 1|2 + One|{"n":1}')
  const pieces = callerOf(t, async function * () {
    yield 'One'
    yield { data: { n: 1 } }
  })
  assert.equal(sumOf(await pieces.task('hello')), 'completed: One|{"n":1}')
  const alone = callerOf(t, async function * () {
    yield { data: { n: 1 } }
  })
  const { artifacts } = await alone.task('hello')
  assert.deepEqual(artifacts?.map(({ parts }) => parts), [[{ type: 'data', data: { n: 1 } }]])
  const events = await (await alone.stream('hello')).rest()
  assert.deepEqual(events.flatMap((one) => one.what === 'artifact' ? [[one.append, one.last]] : []), [
    [false, false], [false, true],
  ])
})

test('what a handler tells of its progress is the message of the state', async (t) => {
  const bot = callerOf(t, async (_prompt, call) => {
    call.progress(1, 3)
    call.progress(1, 3, 'one')
    await new Promise((resolve) => setImmediate(resolve))
    call.progress(2, 3, 'two')
    return 'done'
  })
  const events = await (await bot.stream('hello')).rest()
  assert.deepEqual(events.map(tellOf), [
    'task working', 'working (one)', 'working (two)', '=done.', 'completed',
  ])
})

const answers: readonly (readonly [
  type: string, said: string | readonly Content[], value: unknown,
])[] = [
  ['string', 'Ann', 'Ann'],
  ['string', ' Ann ', 'Ann'],
  ['string', data({ value: 'Ann' }), 'Ann'],
  ['string', [{ type: 'text', text: 'my name' }, ...data({ value: 'Ann' })], 'Ann'],
  ['string', [{ type: 'text', text: 'my name' }, ...data({ value: 1 })], 'my name'],
  ['number', '4.5', 4.5],
  ['integer', '4', 4],
  ['integer', '4.5', undefined],
  ['number', 'four', undefined],
  ['number', '', undefined],
  ['boolean', 'yes', true],
  ['boolean', 'False', false],
  ['boolean', 'perhaps', undefined],
  ['string', data({ value: 1 }), undefined],
  ['string', data(['Ann']), undefined],
  ['string', [{ type: 'image', data: 'AA==', mimeType: 'image/png' }], undefined],
]

test('a question is answered by data that fits its form, or by a text for its only value', async (t) => {
  for (const [type, said, value] of answers) {
    const bot = callerOf(t, async (_prompt, call) => (
      JSON.stringify(await call.elicit({ message: 'Value?', schema: formOf(type) }))
    ))
    const { id } = await bot.task('hello')
    const task = await bot.task(said, { taskId: id })
    const what = `${type} ${JSON.stringify(said)}`
    const answer = JSON.stringify({ action: 'accept', content: { value } })
    if (value === undefined) assert.equal(task.status.state, 'input-required', what)
    else assert.equal(sumOf(task), `completed: ${answer}`, what)
  }
})

test('of a form with several values a text fills the only string', async (t) => {
  const properties = { name: { type: 'string' }, age: { type: 'number' } }
  const bot = callerOf(t, async (prompt, call) => JSON.stringify((await call.elicit({
    message: 'Who?', schema: { type: 'object', properties, required: prompt === 'strict' ? ['age'] : [] },
  })).content))
  const loose = await bot.task('loose')
  assert.equal(sumOf(await bot.task('Ann', { taskId: loose.id })), 'completed: {"name":"Ann"}')
  const strict = await bot.task('strict')
  assert.equal((await bot.task('Ann', { taskId: strict.id })).status.state, 'input-required')
  const both = { name: 'Ann', age: 4 }
  assert.equal(sumOf(await bot.task(data(both), { taskId: strict.id })), `completed: ${JSON.stringify(both)}`)
})

test('what no client of A2A can be asked is refused with what there is instead', async (t) => {
  const bot = callerOf(t, async (prompt, call) => {
    if (prompt === 'late') call.progress(1, 2, 'Began')
    return String((await call.roots()).length)
  })
  for (const prompt of ['early', 'late']) {
    const { status: { state, message } } = await bot.task(prompt)
    const text = message?.parts[0]?.type === 'text' ? message.parts[0].text : ''
    assert.equal(state, 'failed')
    assert.match(text, /^This client cannot be asked: A2A has no such question, only forms and addresses\. /)
  }
})

test('an address to open makes the task auth-required, and whoever goes on has opened it', async (t) => {
  const bot = callerOf(t, async (_prompt, call) => (
    (await call.elicit({ message: 'Allow it', url: 'https://example.com/allow' })).action
  ))
  const task = await bot.task('hello')
  assert.equal(task.status.state, 'auth-required')
  assert.deepEqual(task.status.message?.parts, [
    { type: 'text', text: 'Allow it' },
    { type: 'resource_link', uri: 'https://example.com/allow', name: 'example.com' },
  ])
  assert.equal(sumOf(await bot.task('done', { taskId: task.id })), 'completed: accept')
})

test('questions that are asked together are answered together or one by one', async (t) => {
  const bot = callerOf(t, async (_prompt, call) => {
    const both = await Promise.all([
      call.elicit({ message: 'Name?', schema: formOf('string') }),
      call.elicit({ message: 'Age?', schema: formOf('number') }),
    ])
    return both.map(({ content }) => content?.['value']).join()
  })
  const together = await bot.task('hello')
  assert.match(sumOf(together), /^input-required \(Name\?\|.*\|Age\?\|.*\)$/)
  const parts = [...data({ value: 'Ann' }), ...data({ value: 4 })]
  assert.equal(sumOf(await bot.task(parts, { taskId: together.id })), 'completed: Ann,4')
  const { id } = await bot.task('hello')
  assert.match(sumOf(await bot.task('4', { taskId: id })), /^input-required \(Age\?/)
  assert.equal(sumOf(await bot.task('5', { taskId: id })), 'completed: 4,5')
})

test('a model and folders cannot be asked for, and a handler finds that out', async (t) => {
  const bot = callerOf(t, async (_prompt, call) => {
    const able = (['elicit', 'elicit-url', 'sample', 'roots'] as const).map((what) => call.can(what))
    return [...able, await call.roots().catch((error: { kind: string }) => error.kind)].join()
  })
  assert.equal(sumOf(await bot.task('hello')), 'completed: true,true,false,false,unsupported')
})

test('a run whose client takes its time ends, and the answer runs it again from the top', async (t) => {
  const seen: string[] = []
  let paid = 0
  const asks = async (prompt: string, call: Call): Promise<string> => {
    seen.push(`${prompt} ${call.messageId} ${JSON.stringify(call.metadata)}`)
    const receipt = await call.once('pay', async () => ({ paid: ++paid }))
    const name = await call.elicit({ message: 'Name?', schema: formOf('string') })
    const age = await call.elicit({ message: 'Age?', schema: formOf('number') })
    return `${name.content?.['value'] as string} ${age.content?.['value'] as number} ${receipt.paid}`
  }
  let parked = 0
  const bot = callerOf(t, (prompt, call) => {
    call.signal.addEventListener('abort', () => { parked += 1 })
    return asks(prompt, call)
  }, { askTimeoutMs: 20 })
  const { id } = await bot.task('hello', { id: 'm-1', metadata: { trip: 1 } })
  await eventually(() => parked === 1)
  assert.match(sumOf(await bot.get(id)), /^input-required \(Name\?/)
  const next = await bot.task('Ann', { id: 'm-2', taskId: id, metadata: { trip: 2 } })
  assert.match(sumOf(next), /^input-required \(Age\?/)
  await eventually(() => parked === 2)
  assert.match(sumOf(await bot.task('none', { id: 'm-3', taskId: id })), /^input-required \(Age\?/)
  const task = await bot.task('4', { id: 'm-4', taskId: id })
  assert.equal(sumOf(task), 'completed: Ann 4 1')
  assert.deepEqual(seen, Array.from({ length: 3 }, () => 'hello m-1 {"trip":1}'))
  assert.deepEqual(task.history?.filter(({ role }) => role === 'user').map((one) => one.id), [
    'm-1', 'm-2', 'm-3', 'm-4',
  ])
  const times = new Set(task.history?.map((one) => one.id))
  assert.equal(times.size, task.history?.length)
})

test('a run that is canceled while it asks is told so, and its question is gone', async (t) => {
  const ended: unknown[] = []
  const bot = callerOf(t, async (_prompt, call) => {
    await call.elicit({ message: 'Name?', schema: formOf('string') }).catch((error: Error) => {
      ended.push([error.name, call.signal.aborted])
      throw error
    })
  })
  const { id } = await bot.task('hello')
  await bot.cancel(id)
  assert.deepEqual(ended, [['AbortError', true]])
  await assert.rejects(bot.send('Ann', { taskId: id }), { code: -32004 })
})

test('the history is bounded in number, and never loses the message that its turn began with', async (t) => {
  const bot = callerOf(t, async (prompt, call) => {
    const { content } = await call.elicit({ message: 'Age?', schema: formOf('number') })
    return `${prompt} ${content?.['value'] as number}`
  }, { conversationMessages: 6, askTimeoutMs: 5 })
  const { id } = await bot.task('hello', { id: 'm-1' })
  for (let count = 0; count < 10; count++) await bot.task('none', { taskId: id })
  const { history } = await bot.get(id)
  assert.deepEqual([history?.length, history?.[0]?.id], [6, 'm-1'])
  await new Promise((resolve) => setTimeout(resolve, 30))
  assert.equal(sumOf(await bot.task('4', { taskId: id })), 'completed: hello 4')
})

test('the history is bounded in bytes', async (t) => {
  const bot = callerOf(t, () => ({ text: 'Which?', state: 'input-required' }), { maxResultBytes: 20_000 })
  const { id } = await bot.task('hello')
  for (let count = 0; count < 10; count++) await bot.task('x'.repeat(3_000), { taskId: id })
  const { history } = await bot.get(id)
  assert.ok(history !== undefined && history.length >= 2 && history.length < 10, String(history?.length))
})

test('artifacts over maxResultBytes fail the task, and say so', async (t) => {
  const open = gate()
  const bot = callerOf(t, async (_prompt, call) => {
    for (let count = 0; count < 10; count++) call.artifact({ parts: ['x'.repeat(10_000)] })
    await open.promise
  }, { maxResultBytes: 20_000 })
  const task = await bot.task('hello')
  assert.equal(task.status.state, 'failed')
  assert.match(sumOf(task), /^failed \(The artifacts of the task are larger than 20000 bytes\)/)
  assert.ok((task.artifacts ?? []).length > 0)
})

test('times of one task rise, whatever happens to it', async (t) => {
  const bot = callerOf(t, async (_prompt, call) => {
    for (let count = 0; count < 20; count++) call.progress(count, 20, `step ${count}`)
    await call.elicit({ message: 'Age?', schema: formOf('number') })
  })
  const asked = await (await bot.stream('hello')).rest()
  const first = asked[0]
  assert.ok(first?.what === 'task')
  const events = [...asked, ...await (await bot.stream('4', { taskId: first.task.id })).rest()]
  const times = events.flatMap((event) => (
    event.what === 'status' ? [event.status.at] : event.what === 'task' ? [event.task.status.at] : []
  ))
  assert.deepEqual(times, [...new Set(times)].toSorted())
  assert.ok(times.length >= 4)
})
