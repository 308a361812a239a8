import assert from 'node:assert/strict'
import test from 'node:test'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { defineTool } from '../../../lib/preset/define.ts'
import { request, serve } from '../../fixtures/client.ts'
import type { TestContext } from 'node:test'
import type { Piece } from '../../../lib/kernel/define/answer.ts'
import type { AgentOutput, Call, TriportServer } from '../../../lib/index.ts'

interface Event { readonly type: string; readonly [member: string]: unknown }

const hello = { id: '1', role: 'user', content: 'Hello' }
const usual = { threadId: 'thread-1', runId: 'run-1', messages: [hello] }

function serving(t: TestContext, run: (prompt: string, call: Call) => AgentOutput): TriportServer {
  return serve(t, { agents: [{ name: 'Agent', run }] })
}

async function run(server: TriportServer, more: object = {}, path = '/agui'): Promise<readonly Event[]> {
  const response = await server.fetch(request(path, { ...usual, ...more }))
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  const events: Event[] = []
  eventReader(({ data }) => events.push(JSON.parse(data) as Event))(await response.text())
  return events
}

/** The events in short: ids that were made are left out. */
function inShort(events: readonly Event[]): readonly (readonly unknown[])[] {
  return events.map(({ type, delta, stepName, toolCallName, content, snapshot, outcome, message }) => (
    [type, delta ?? stepName ?? toolCallName ?? content ?? snapshot ?? outcome ?? message].filter(
      (one) => one !== undefined,
    )
  ))
}

const success = ['RUN_FINISHED', { type: 'success' }]

test('an answer is a message, whole or in pieces', async (t) => {
  const whole = await run(serving(t, (prompt) => `You said ${prompt}`))
  assert.deepEqual(inShort(whole), [
    ['RUN_STARTED'], ['TEXT_MESSAGE_START'], ['TEXT_MESSAGE_CONTENT', 'You said Hello'],
    ['TEXT_MESSAGE_END'], success,
  ])
  assert.deepEqual([whole[0]?.['threadId'], whole.at(-1)?.['runId']], ['thread-1', 'run-1'])
  assert.equal(whole[0]?.['parentRunId'], undefined)
  assert.equal(new Set(whole.map(({ messageId }) => messageId).filter(Boolean)).size, 1)
  const pieces = await run(serving(t, async function * () {
    yield 'a'
    yield 'b'
  }), {}, '/agents/agent/agui')
  assert.deepEqual(inShort(pieces).slice(2, 5), [
    ['TEXT_MESSAGE_CONTENT', 'a'], ['TEXT_MESSAGE_CONTENT', 'b'], ['TEXT_MESSAGE_END'],
  ])
})

test('a run that goes on from an earlier one says which that is', async (t) => {
  const [begin, ...rest] = await run(serving(t, (prompt) => prompt), { parentRunId: 'run-0' })
  assert.deepEqual(begin, {
    type: 'RUN_STARTED', threadId: 'thread-1', runId: 'run-1', parentRunId: 'run-0',
  })
  assert.ok(rest.every((event) => event['parentRunId'] === undefined))
})

test('what an agent says of its work are events of their own, with its tokens at the end', async (t) => {
  const server = serving(t, async function * (_prompt, call): AsyncGenerator<Piece> {
    call.event({ type: 'reasoning', text: 'Let me see' })
    call.event({ type: 'tool-call', id: 'c', name: 'search', args: { of: 'tea' } })
    call.event({ type: 'tool-result', id: 'c', result: { found: 1 } })
    call.event({ type: 'usage', inputTokens: 3, outputTokens: 2 })
    yield 'Found.'
    call.artifact({ name: 'state', parts: [{ type: 'data', data: { cups: 1 } }] })
    yield { data: { sum: 5 } }
  })
  const events = await run(server)
  assert.deepEqual(inShort(events), [
    ['RUN_STARTED'], ['REASONING_START'], ['REASONING_MESSAGE_START'],
    ['REASONING_MESSAGE_CONTENT', 'Let me see'], ['REASONING_MESSAGE_END'], ['REASONING_END'],
    ['TOOL_CALL_START', 'search'], ['TOOL_CALL_ARGS', '{"of":"tea"}'], ['TOOL_CALL_END'],
    ['TOOL_CALL_RESULT', '{"found":1}'], ['TEXT_MESSAGE_START'], ['TEXT_MESSAGE_CONTENT', 'Found.'],
    ['TEXT_MESSAGE_END'], ['STATE_SNAPSHOT', { cups: 1 }], success,
  ])
  assert.deepEqual(events.at(-1)?.['usage'], [{ inputTokens: 3, outputTokens: 2 }])
  assert.deepEqual(events.at(-1)?.['result'], { sum: 5 })
})

test('a group shows its agents as steps', async (t) => {
  const agents = [{ name: 'One', run: () => 'a' }, { name: 'Two', run: () => 'b' }]
  const server = serve(t, { groups: [{ name: 'Desk', agents }] })
  assert.deepEqual(inShort(await run(server)).filter(([type]) => String(type).startsWith('STEP')), [
    ['STEP_STARTED', 'One'], ['STEP_FINISHED', 'One'], ['STEP_STARTED', 'Two'], ['STEP_FINISHED', 'Two'],
  ])
})

test('an agent sees the thread, what the client attached, and what its tools gave', async (t) => {
  let seen: unknown
  const server = serving(t, (prompt, { history, clientTools, clientToolResults, metadata, sessionId }) => {
    seen = { prompt, history, clientTools, clientToolResults, metadata, sessionId }
    if (clientToolResults.length > 0) return 'Done.'
    return { toolCalls: [{ id: 'c', name: 'find', args: { of: 'tea' } }] }
  })
  const tools = [{ name: 'find', description: 'Finds.', parameters: { type: 'object' } }]
  const events = await run(server, { tools, state: { cups: 1 }, context: [], forwardedProps: { a: 1 } })
  assert.deepEqual(inShort(events).slice(1), [
    ['TOOL_CALL_START', 'find'], ['TOOL_CALL_ARGS', '{"of":"tea"}'], ['TOOL_CALL_END'],
    ['RUN_FINISHED', { type: 'success', pendingToolCallIds: ['c'] }],
  ])
  const call = { id: 'c', type: 'function', function: { name: 'find', arguments: '{"of":"tea"}' } }
  await run(server, { tools, messages: [
    { id: '0', role: 'system', content: 'Be brief.' }, ...usual.messages,
    { id: '2', role: 'assistant', toolCalls: [call] },
    { id: '3', role: 'tool', toolCallId: 'c', content: 'Sencha' },
    { id: '4', role: 'reasoning', content: 'So' },
  ] })
  assert.deepEqual(seen, {
    prompt: 'Hello', history: [{ role: 'system', content: 'Be brief.' }],
    clientTools: [{ name: 'find', description: 'Finds.', inputSchema: { type: 'object' } }],
    clientToolResults: [{ id: 'c', name: 'find', args: { of: 'tea' }, result: 'Sencha' }],
    metadata: {}, sessionId: 'thread-1',
  })
})

test('what a client attaches reaches an agent, as an address or in place', async (t) => {
  let seen: unknown
  const server = serving(t, (_prompt, { message, history }) => {
    seen = { message, history }
    return ''
  })
  const [address, mimeType] = ['https://example.com/a.png', 'application/pdf']
  const called = { id: 'c', function: { name: 'find', arguments: '' } }
  await run(server, { messages: [
    hello, { id: '2', role: 'assistant', content: 'So.', toolCalls: [called] },
    { id: '3', role: 'tool', toolCallId: 'c', content: 'Tea' },
    { id: '4', role: 'user', content: [
      { type: 'image', source: { type: 'url', value: address } },
      { type: 'document', source: { type: 'data', value: 'AAAA', mimeType } },
    ] },
  ] })
  assert.deepEqual(seen, {
    message: [
      { type: 'resource_link', uri: address, name: 'image' },
      { type: 'resource', resource: { uri: 'attachment:document', mimeType, blob: 'AAAA' } },
    ],
    history: [
      { role: 'user', content: 'Hello' }, { role: 'assistant', content: 'So.\nfind({})' },
      { role: 'assistant', content: 'find returned: Tea' },
    ],
  })
})

test('a thread with an id of any form is a conversation', async (t) => {
  const seen: (string | undefined)[] = []
  const server = serving(t, (_prompt, { sessionId }) => {
    seen.push(sessionId)
    return ''
  })
  for (const threadId of ['t', 'My thread \u{1f375}', 't', 'x'.repeat(200)]) {
    const [start] = await run(server, { threadId })
    assert.equal(start?.['threadId'], threadId)
  }
  assert.equal(new Set(seen).size, 3)
  assert.equal(seen[0], seen[2])
  for (const id of seen) assert.match(id ?? '', /^[\w.-]{8,128}$/)
})

test('a question ends the run with an interrupt, and its answer goes on with it', async (t) => {
  let runs = 0
  const server = serving(t, async (_prompt, call) => {
    runs += 1
    const bought = await call.once('buy', () => runs)
    const schema = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] }
    const { action, content } = await call.elicit({ message: 'Which size?', schema })
    return `${action} ${String(content?.['size'])} ${bought}`
  })
  const [, end] = await run(server)
  const outcome = end?.['outcome'] as { type: string; interrupts: Event[] }
  assert.equal(outcome.type, 'interrupt')
  const [{ id: interruptId, expiresAt, ...interrupt }] = outcome.interrupts as [Event]
  assert.deepEqual(interrupt, {
    reason: 'input_required', message: 'Which size?',
    responseSchema: { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] },
  })
  assert.match(String(expiresAt), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  assert.ok(Date.parse(String(expiresAt)) > Date.now())
  const resume = (status: string, payload?: unknown): Promise<readonly Event[]> => (
    run(server, { runId: 'run-2', resume: [{ interruptId, status, payload }] })
  )
  const textOf = (events: readonly Event[]): unknown => events.find(({ delta }) => delta)?.['delta']
  assert.equal(textOf(await resume('resolved', { size: 'L' })), 'accept L 1')
  assert.equal(textOf(await resume('cancelled')), 'cancel undefined 1')
  // What does not fit is asked for again.
  const [, again] = await resume('resolved', { size: 1 })
  assert.equal((again?.['outcome'] as typeof outcome).interrupts[0]?.message, 'Which size?')
  const other = await run(server, { threadId: 'thread-2', resume: [{ interruptId, status: 'cancelled' }] })
  assert.deepEqual(other.map(({ type, code }) => [type, code]), [
    ['RUN_STARTED', undefined], ['RUN_ERROR', 'invalid'],
  ])
  assert.match(String(other[1]?.['message']), /resume\[0\]\.interruptId is not one that this server gave/)
  assert.equal(runs, 4)
})

test('a question with an address says so', async (t) => {
  const server = serving(t, async (_prompt, call) => {
    const { action } = await call.elicit({ message: 'Sign in.', url: 'https://example.com/in' })
    return action
  })
  const { interrupts: [{ reason, metadata }] } = (await run(server)).at(-1)?.['outcome'] as {
    interrupts: [Event]
  }
  assert.deepEqual([reason, metadata], ['triport:open-url', { url: 'https://example.com/in' }])
})

test('an approval over AG-UI is of the run that asked, and counts once', async (t) => {
  const paid: number[] = []
  const pay = (sum: number) => ({
    name: `pay${sum}`, description: 'Pays.', needsApproval: true, parameters: { type: 'object' },
    execute: () => { paid.push(sum) },
  })
  const tools = [1, 2].map((sum) => defineTool(pay(sum)))
  const server = serving(t, async (_prompt, call) => {
    await Promise.all(tools.map(async (tool) => tool.run({}, call)))
    return 'Done.'
  })
  const interruptsOf = (events: readonly Event[]): readonly { id: string; message: string }[] => (
    events.at(-1)?.['outcome'] as { interrupts?: { id: string; message: string }[] }
  ).interrupts ?? []
  const answer = ({ id: interruptId }: { id: string }, approve: unknown): object => (
    { interruptId, status: 'resolved', payload: { approve } }
  )
  const resumed = async (...resume: readonly object[]): Promise<readonly Event[]> => run(server, { resume })
  const refused = async (...resume: readonly object[]): Promise<void> => {
    const [, error] = await run(server, { resume })
    assert.equal(error?.type, 'RUN_ERROR')
    assert.match(String(error['message']), /resume\[1\]\.interruptId is of another run/)
  }
  const [one, two] = interruptsOf(await run(server))
  const [first] = interruptsOf(await run(server))
  await refused(answer(one!, true), answer(first!, true))
  await refused(answer(one!, true), answer(one!, false))
  for (const payload of ['true', 1, null, undefined]) {
    const left = interruptsOf(await resumed(answer(one!, payload), answer(two!, payload)))
    assert.equal(left.length, 2)
  }
  assert.deepEqual(paid, [])
  // In another order.
  assert.deepEqual(interruptsOf(await resumed(answer(two!, true), answer(one!, false))), [])
  assert.deepEqual(paid, [2])
  const again = interruptsOf(await resumed(answer(two!, true), answer(one!, true)))
  assert.deepEqual([again.map(({ message }) => message), paid], [[one!.message, two!.message], [2]])
  // One answer leaves the other question.
  const left = interruptsOf(await resumed(answer(again[1]!, true)))
  assert.deepEqual([left.map(({ message }) => message), paid], [[again[0]!.message], [2, 2]])
})

test('a failure is an event, and a wrong input a problem', async (t) => {
  const server = serving(t, () => { throw new Error('secret') })
  const events = await run(server)
  assert.deepEqual(events.map(({ type }) => type), ['RUN_STARTED', 'RUN_ERROR'])
  assert.equal(events[1]?.['code'], 'internal')
  assert.doesNotMatch(JSON.stringify(events), /secret/)
  const wrong: readonly (readonly [more: object, detail: RegExp])[] = [
    [{ threadId: 1 }, /threadId must be a string/], [{ threadId: '' }, /threadId must/],
    [{ runId: '' }, /runId must be a string/],
    [{ messages: undefined }, /messages must be a list, which may be empty/],
    [{ messages: 'Hello' }, /messages must be a list/],
    [{ messages: [{ ...hello, content: [{ type: 'image' }] }] }, /source\.type must be data or url/],
    [{ messages: [{ ...hello, content: [{ type: 'image', source: { type: 'data', value: 'AAAA' } }] }] },
      /source\.value needs a mimeType beside it/],
    [{ messages: [{ ...hello, content: [{ type: 'audio', source: { type: 'url', value: 'data:a/b' } }] }] },
      /source\.value must be base64/],
    [{ messages: [{ ...hello, content: ' ' }] }, /messages\[0\]\.content is empty/],
    [{ tools: [{}] }, /tools\[0\]\.name/],
    [{ tools: [{ name: 'f', parameters: 1 }] }, /must be a JSON Schema: an object, true or false/],
    [{ tools: 1 }, /tools must be a list/],
    [{ resume: [{ interruptId: 'a' }] }, /resume\[0\]\.status/],
  ]
  for (const [more, detail] of wrong) {
    const response = await server.fetch(request('/agui', { ...usual, ...more }))
    assert.equal(response.status, 422)
    assert.match(await response.text(), detail)
  }
  assert.equal((await server.fetch(request('/agui', '{'))).status, 400)
  assert.equal((await server.fetch(request('/agents/other/agui', usual))).status, 404)
})

const patches: readonly (readonly [patch: unknown, why: RegExp | undefined])[] = [
  [[], undefined],
  [[{ op: 'add', path: '/a~1b/~0/0/-', value: null }, { op: 'remove', path: '' }], undefined],
  [[{ op: 'replace', path: '/a', value: 1 }, { op: 'test', path: '/a', value: 1, more: 1 }], undefined],
  [[{ op: 'move', from: '/a', path: '/ab' }, { op: 'copy', from: '/a', path: '/a/b' }], undefined],
  [{ cups: 2 }, /its data is an object, and no list of operations/],
  ['text', /is "text", and no list/], [null, /is null, and no list/],
  [[1], /has an operation 0 that is no object/],
  [[{ op: 'remove', path: '/a' }, { op: 'put', path: '/a' }],
    /operation 1 with the op "put"; write one of add, remove, replace, move, copy, test$/],
  [[{ op: 'add', path: 'a', value: 1 }], 
    /operation 0 with the path "a"; write a JSON Pointer, as in '\/cups\/0'/],
  [[{ op: 'add', path: '/a~2', value: 1 }], /with the path "\/a~2"/],
  [[{ op: 'add', value: 1 }], /with the path undefined/],
  [[{ op: 'add', path: '/a' }], /that needs a value/],
  [[{ op: 'copy', path: '/a' }], /with from undefined; write a JSON Pointer/],
  [[{ op: 'move', from: '/a', path: '/a/b' }], /that moves a value into itself/],
]

test('a state that clients could not take is refused where it is given', async (t) => {
  for (const [patch, why] of patches) {
    let thrown: unknown
    const events = await run(serving(t, (_prompt, call) => {
      try {
        call.artifact({ name: 'state', append: true, parts: [{ type: 'data', data: patch }] })
      } catch (error) {
        thrown = error
      }
    }))
    const delta = events.find(({ type }) => type === 'STATE_DELTA')?.['delta']
    if (why === undefined) {
      assert.deepEqual([delta, thrown], [patch, undefined])
    } else {
      assert.ok(thrown instanceof TypeError)
      assert.match(thrown.message, /^call\.artifact 'state' with append needs a JSON Patch, as in parts: /)
      assert.match(thrown.message, why)
      assert.equal(delta, undefined)
    }
  }
  for (const parts of [[], ['a', 'b']]) {
    const events = await run(serving(t, (_prompt, call) => call.artifact({ name: 'state', parts })))
    assert.deepEqual(inShort(events).map(([type]) => type), ['RUN_STARTED', 'RUN_ERROR'])
  }
})

test('artifacts are checked, and have their bytes as base64', async (t) => {
  const data = Buffer.from('a')
  const events = await run(serving(t, (_prompt, call) => {
    const parts = ['a', { type: 'text', text: 'b' }, { type: 'image', data, mimeType: 'image/png' }] as const
    call.artifact({ name: 'report', parts })
    assert.throws(() => call.artifact({ name: 'report' } as never), /call\.artifact has parts undefined/)
    assert.throws(() => call.artifact({ parts: [{ type: 'image' }] } as never), /'image' needs 'data'/)
    return { text: 'Done.', data: null }
  }))
  const { type, name, value } = events[1]!
  assert.deepEqual([type, name, value], ['CUSTOM', 'report', [
    'a', 'b', { type: 'image', data: 'YQ==', mimeType: 'image/png' },
  ]])
  // The result of a run is never null.
  assert.equal('result' in events.at(-1)!, false)
})
