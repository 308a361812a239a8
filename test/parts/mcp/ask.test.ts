/**
 * Asking the client: one handler, both ways of asking. Before 2026-07-28 by a request on the running
 * stream; since then by ending the call with the questions, and running it again with the answers.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../../lib/index.ts'
import { eventually } from '../../fixtures/client.ts'
import { answerOf, begin, modern, post, said, serveMcp } from './client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { Call, ToolDefinition, TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { Json } from '../../fixtures/events.ts'

const nameForm = {
  type: 'object', properties: { name: { type: 'string', minLength: 1 } }, required: ['name'],
}

/** A server with one tool that asks. */
function asking(t: Scope, run: (call: Call) => unknown, options: object = {}): TriportServer {
  const tool: ToolDefinition = { name: 'ask', description: 'Asks.', run: (_args, call) => run(call) }
  return serveMcp(t, { tools: [tool], ...options })
}

const able = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }

/** What a client answers, by the method it is asked with; or a function of the question. */
type Answers = (method: string, params: Json) => object | { readonly error: object } | undefined

interface Heard {
  readonly questions: { method: string; params: Json }[]; readonly answer: Json; readonly status: number
}

/** A client that is asked by requests. */
async function inSession(
  server: TriportServer, answers: Answers, capabilities: object = able, revision = '2025-11-25',
): Promise<Heard> {
  const session = await begin(server, revision, capabilities)
  const response = await session.send('tools/call', { name: 'ask' })
  const questions: Heard['questions'] = []
  if (!response.headers.get('content-type')?.includes('event-stream')) {
    return { questions, answer: await answerOf(response), status: response.status }
  }
  const stream = new EventStream(response)
  for (;;) {
    const message = await stream.next()
    if (message.method === undefined) return { questions, answer: message, status: response.status }
    if (message.id === undefined) continue
    questions.push({ method: message.method, params: message.params })
    const answer = answers(message.method, message.params)
    if (answer === undefined) continue
    const reply = 'error' in answer ? answer : { result: answer }
    assert.equal((await session.post({ jsonrpc: '2.0', id: message.id, ...reply })).status, 202)
  }
}

/** A client that is asked by rounds. */
async function byRounds(
  server: TriportServer, answers: Answers, capabilities: object = able,
): Promise<Heard> {
  const questions: Heard['questions'] = []
  let params: Json = { name: 'ask' }
  for (let round = 0; ; round++) {
    const response = await modern(server, 'tools/call', params, { capabilities })
    const answer = await answerOf(response)
    const isOver = answer.result?.resultType !== 'input_required' || round > 20
    if (isOver) return { questions, answer, status: response.status }
    const inputResponses: Record<string, object> = {}
    for (const [key, question] of Object.entries(answer.result.inputRequests as Json)) {
      const { method, params } = question as Json
      questions.push({ method, params })
      const given = answers(method, params)
      if (given !== undefined) inputResponses[key] = given
    }
    params = { name: 'ask', inputResponses, requestState: answer.result.requestState }
  }
}

const eras = [['in a session', inSession], ['by rounds', byRounds]] as const

const accept = { action: 'accept', content: { name: 'Alice' } }
const sampled = {
  role: 'assistant', model: 'm', content: { type: 'text', text: 'tea' }, stopReason: 'endTurn',
}
const roots = [{ uri: 'file:///home', name: 'home' }]

for (const [how, client] of eras) {
  test(`${how}: a form is asked for and its content handed over`, async (t) => {
    const server = asking(t, async (call) => {
      const { action, content } = await call.elicit({ message: 'Who?', schema: nameForm })
      return `${action} ${String(content?.['name'])}`
    })
    const { questions, answer } = await client(server, () => accept)
    assert.equal(questions.length, 1)
    assert.equal(questions[0]!.method, 'elicitation/create')
    assert.equal(questions[0]!.params.message, 'Who?')
    assert.deepEqual(questions[0]!.params.requestedSchema, nameForm)
    assert.equal(said(answer.result), 'accept Alice')
  })

  for (const action of ['decline', 'cancel']) {
    test(`${how}: ${action} is an answer like any other`, async (t) => {
      const server = asking(t, async (call) => {
        const answer = await call.elicit({ message: 'Who?', schema: nameForm })
        return JSON.stringify(answer)
      })
      const { answer } = await client(server, () => ({ action, content: { name: 'x' } }))
      assert.equal(said(answer.result), JSON.stringify({ action }))
    })
  }

  test(`${how}: an address is asked to be opened`, async (t) => {
    const server = asking(t, async (call) => (
      JSON.stringify(await call.elicit({ message: 'Sign in', url: 'https://example.com/in' }))
    ))
    const { questions, answer } = await client(server, () => ({ action: 'accept' }))
    const { mode, url, message, elicitationId } = questions[0]!.params
    assert.deepEqual([mode, url, message], ['url', 'https://example.com/in', 'Sign in'])
    assert.equal(typeof elicitationId, how === 'in a session' ? 'string' : 'undefined')
    assert.deepEqual(JSON.parse(said(answer.result)), {
      action: 'accept', ...elicitationId !== undefined && { elicitationId },
    })
  })

  test(`${how}: the model is asked, with every parameter passed on and text as a block`, async (t) => {
    const server = asking(t, async (call) => {
      const { content } = await call.sample({
        messages: [{ role: 'user', content: 'tea?' }],
        maxTokens: 10, systemPrompt: 'Be brief.', temperature: 0.5,
      })
      return (content as { text: string }).text
    })
    const { questions, answer } = await client(server, () => sampled)
    assert.deepEqual(questions, [{
      method: 'sampling/createMessage',
      params: {
        messages: [{ role: 'user', content: { type: 'text', text: 'tea?' } }],
        maxTokens: 10, systemPrompt: 'Be brief.', temperature: 0.5,
      },
    }])
    assert.equal(said(answer.result), 'tea')
  })

  test(`${how}: the roots are asked for`, async (t) => {
    const server = asking(t, async (call) => JSON.stringify(await call.roots()))
    const { questions, answer } = await client(server, () => ({ roots }))
    assert.equal(questions[0]!.method, 'roots/list')
    assert.deepEqual(JSON.parse(said(answer.result)), roots)
  })

  test(`${how}: questions that are asked together go out together`, async (t) => {
    const server = asking(t, async (call) => {
      const [name, model, list] = await Promise.all([
        call.elicit({ message: 'Who?', schema: nameForm }),
        call.sample({ messages: [], maxTokens: 1 }),
        // A helper may take a few turns before it asks.
        Promise.resolve().then(() => Promise.resolve()).then(() => call.roots()),
      ])
      return `${name.action} ${model.model} ${list.length}`
    })
    const { questions, answer } = await client(server, (method) => (
      method === 'roots/list' ? { roots } : method === 'elicitation/create' ? accept : sampled
    ))
    assert.equal(questions.length, 3)
    assert.equal(said(answer.result), 'accept m 1')
  })

  test(`${how}: one question after the other, each answer remembered`, async (t) => {
    const server = asking(t, async (call) => {
      const names = []
      for (const n of [1, 2, 3]) {
        const { content } = await call.elicit({ message: `Name ${n}?`, schema: nameForm })
        names.push(content?.['name'])
      }
      return names.join()
    })
    let n = 0
    const { questions, answer } = await client(
      server, () => ({ action: 'accept', content: { name: `n${++n}` } }),
    )
    assert.deepEqual(questions.map(({ params }) => params.message), ['Name 1?', 'Name 2?', 'Name 3?'])
    assert.equal(said(answer.result), 'n1,n2,n3')
  })

  test(`${how}: the same question asked twice is two`, async (t) => {
    const server = asking(t, async (call) => {
      const ask = (): Promise<Json> => call.elicit({ message: 'Name?', schema: nameForm })
      const [one, two] = await Promise.all([ask(), ask()])
      const three = await ask()
      return [one, two, three].map(({ content }) => content.name).join()
    })
    let n = 0
    const { questions, answer } = await client(
      server, () => ({ action: 'accept', content: { name: `n${++n}` } }),
    )
    assert.equal(questions.length, 3)
    assert.equal(said(answer.result), 'n1,n2,n3')
  })

  test(`${how}: call.once runs once, however often the handler runs`, async (t) => {
    let ran = 0
    let runs = 0
    const server = asking(t, async (call) => {
      runs++
      const [id, same] = await Promise.all([call.once('order', () => ++ran), call.once('order', () => ++ran)])
      await call.elicit({ message: 'Sure?', schema: nameForm })
      await call.elicit({ message: 'Really?', schema: nameForm })
      return `order ${id} ${same}, undefined is ${await call.once('nothing', () => undefined)}`
    })
    const { answer } = await client(server, () => accept)
    assert.match(said(answer.result), /^order 1 1, undefined is (?:null|undefined)$/)
    assert.equal(ran, 1)
    assert.equal(runs, how === 'in a session' ? 1 : 3)
  })

  test(`${how}: a call.once that takes a while keeps the question waiting`, async (t) => {
    const server = asking(t, async (call) => {
      const question = call.elicit({ message: 'Sure?', schema: nameForm })
      const id = await call.once('slow', async () => {
        await sleep(15)
        return 7
      })
      return `${(await question).action} ${id}`
    })
    const { questions, answer } = await client(server, () => accept)
    assert.equal(questions.length, 1)
    assert.equal(said(answer.result), 'accept 7')
  })

  test(`${how}: call.once that fails, fails the call, and runs again the next time`, async (t) => {
    let ran = 0
    const server = asking(t, (call) => call.once('x', () => {
      if (ran++ === 0) throw new Fault('failed', 'not yet')
      return 'done'
    }))
    assert.equal(said((await client(server, () => accept)).answer.result), 'not yet')
    assert.equal(said((await client(server, () => accept)).answer.result), 'done')
  })

  test(`${how}: what the handler has opened is closed, and nothing is left hanging`, async (t) => {
    let opened = 0
    let closed = 0
    const server = asking(t, async (call) => {
      opened++
      try {
        await call.elicit({ message: 'Who?', schema: nameForm })
        return 'done'
      } finally {
        closed++
      }
    })
    await client(server, () => accept)
    await eventually(() => closed === opened)
    assert.equal(opened, how === 'in a session' ? 1 : 2)
  })

  test(`${how}: a handler that does not wait for its question is answered all the same`, async (t) => {
    const server = asking(t, async (call) => {
      void call.elicit({ message: 'Who?', schema: nameForm }).catch(() => {})
      return 'I do not care'
    })
    const { answer } = await client(server, () => undefined)
    assert.equal(said(answer.result), 'I do not care')
  })

  test(`${how}: the clock of the call stands still while the client is asked`, async (t) => {
    const pass = standingTime(t)
    const server = asking(t, async (call) => {
      const { action } = await call.elicit({ message: 'Who?', schema: nameForm })
      return action
    }, { toolTimeoutMs: 40 })
    const { answer } = await client(server, () => {
      pass(70)
      return accept
    })
    assert.equal(said(answer.result), 'accept')
  })

  const lacks: readonly (readonly [string, object, (call: Call) => Promise<unknown>, object])[] = [
    [
      'forms', { sampling: {} }, (call) => call.elicit({ message: 'Who?', schema: nameForm }),
      { elicitation: { form: {} } },
    ],
    [
      'forms, though it opens addresses', { elicitation: { url: {} } },
      (call) => call.elicit({ message: 'Who?', schema: nameForm }), { elicitation: { form: {} } },
    ],
    [
      'addresses', { elicitation: {} }, (call) => call.elicit({ message: 'In', url: 'https://x.test' }),
      { elicitation: { url: {} } },
    ],
    ['a model', { elicitation: {} }, (call) => call.sample({ messages: [], maxTokens: 1 }), { sampling: {} }],
    [
      'tools for its model', { sampling: {} },
      (call) => call.sample({ messages: [], maxTokens: 1, tools: [] }), { sampling: { tools: {} } },
    ],
    ['roots', { elicitation: {} }, (call) => call.roots(), { roots: {} }],
    ['anything at all', {}, (call) => call.roots(), { roots: {} }],
  ]

  for (const [what, capabilities, ask, required] of lacks) {
    test(`${how}: a client without ${what} is not asked`, async (t) => {
      const { questions, answer, status } = await client(asking(t, ask), () => accept, capabilities)
      assert.deepEqual(questions, [])
      if (how === 'in a session') {
        assert.equal(status, 200)
        assert.equal(answer.result.isError, true)
        return
      }
      assert.equal(status, 400)
      assert.equal(answer.error.code, -32021)
      assert.deepEqual(answer.error.data.requiredCapabilities, required)
    })
  }

  test(`${how}: a handler can find out first, and do without`, async (t) => {
    const server = asking(t, async (call) => call.can('elicit') ? 'asks' : 'does without')
    assert.equal(said((await client(server, () => accept, {})).answer.result), 'does without')
    assert.equal(said((await client(server, () => accept, { elicitation: {} })).answer.result), 'asks')
  })

  test(`${how}: an agent may ask too`, async (t) => {
    const server = serveMcp(t, {
      agents: [{ name: 'Asker', async run(prompt, call) {
        const { content } = await call.elicit({ message: prompt, schema: nameForm })
        return `Hello ${String(content?.['name'])}`
      } }],
    })
    const tool = 'execute_asker_task'
    if (how === 'in a session') {
      const session = await begin(server, '2025-11-25', able)
      const stream = await session.stream(tool, { prompt: 'Who?' })
      const question = await stream.next()
      await session.answer(question.id, accept)
      assert.equal(said((await stream.next()).result), 'Hello Alice')
      return
    }
    const params = { name: tool, arguments: { prompt: 'Who?' } }
    const { result } = await answerOf(await modern(server, 'tools/call', params, { capabilities: able }))
    const [key] = Object.keys(result.inputRequests)
    const again = { ...params, inputResponses: { [key!]: accept }, requestState: result.requestState }
    const { result: last } = await answerOf(await modern(server, 'tools/call', again, { capabilities: able }))
    assert.equal(said(last), 'Hello Alice')
  })
}

const unfit: readonly (readonly [string, (call: Call) => Promise<unknown>, unknown])[] = [
  [
    'content that does not fit the form', (call) => call.elicit({ message: 'Who?', schema: nameForm }),
    { action: 'accept', content: { name: 1 } },
  ],
  [
    'content without what is required', (call) => call.elicit({ message: 'Who?', schema: nameForm }),
    { action: 'accept' },
  ],
  [
    'an action that is none', (call) => call.elicit({ message: 'Who?', schema: nameForm }),
    { action: 'maybe' },
  ],
  ['a number', (call) => call.elicit({ message: 'Who?', schema: nameForm }), 7],
  ['null', (call) => call.elicit({ message: 'Who?', schema: nameForm }), null],
  [
    'a sample without a role', (call) => call.sample({ messages: [], maxTokens: 1 }),
    { content: { type: 'text', text: 'x' }, model: 'm' },
  ],
  [
    'a sample of what is no content', (call) => call.sample({ messages: [], maxTokens: 1 }),
    { role: 'assistant', content: 'tea', model: 'm' },
  ],
  ['roots that are no list', (call) => call.roots(), { roots: 'file:///' }],
  ['roots without an address', (call) => call.roots(), { roots: [{}] }],
]

for (const [what, ask, answer] of unfit) {
  test(`${what}: a failed call in a session, asked again by rounds, never accepted`, async (t) => {
    const server = asking(t, ask)
    const session = await begin(server, '2025-11-25', able)
    const stream = await session.stream('ask')
    const question = await stream.next()
    await session.post({ jsonrpc: '2.0', id: question.id, result: answer })
    assert.equal((await stream.next()).result.isError, true)

    const first = await answerOf(await modern(server, 'tools/call', { name: 'ask' }, { capabilities: able }))
    const [key] = Object.keys(first.result.inputRequests)
    const params = {
      name: 'ask', inputResponses: { [key!]: answer }, requestState: first.result.requestState,
    }
    const again = await answerOf(await modern(server, 'tools/call', params, { capabilities: able }))
    assert.equal(again.result.resultType, 'input_required')
    assert.deepEqual(Object.keys(again.result.inputRequests), [key])
  })
}

test('in a session: a client that refuses to answer fails the call, with its reason', async (t) => {
  const server = asking(t, (call) => call.sample({ messages: [], maxTokens: 1 }))
  const { answer } = await inSession(
    server, () => ({ error: { code: -1, message: 'User rejected sampling request' } }),
  )
  assert.equal(answer.result.isError, true)
  assert.match(said(answer.result), /User rejected sampling request/)
})

test('in a session: an answer whose error is null is no refusal; without a result it is none', async (t) => {
  const server = asking(t, async (call) => (await call.elicit({ message: 'Who?', schema: nameForm })).action)
  const answers = [[accept, 'accept'], [null, "The client's answer is not an object"]] as const
  for (const [result, heard] of answers) {
    const session = await begin(server, '2025-11-25', able)
    const stream = await session.stream('ask')
    const { id } = await stream.next()
    await session.post({ jsonrpc: '2.0', id, result, error: null })
    assert.equal(said((await stream.next()).result), heard)
  }
})

test('in a session: a client that does not answer in time is told, and the call fails', async (t) => {
  const server = asking(t, (call) => call.roots(), { askTimeoutMs: 20 })
  const session = await begin(server, '2025-11-25', able)
  const stream = await session.stream('ask')
  const question = await stream.next()
  const notice = await stream.next()
  assert.equal(notice.method, 'notifications/cancelled')
  assert.equal(notice.params.requestId, question.id)
  assert.equal((await stream.next()).result.isError, true)
  // The late answer is taken and passed over.
  assert.equal((await session.answer(question.id, { roots: [] })).status, 202)
})

test('in a session: a cancelled call takes its question back', async (t) => {
  const server = asking(t, (call) => call.roots())
  const session = await begin(server, '2025-11-25', able)
  const stream = await session.stream('ask', {}, undefined, 'the-call')
  const question = await stream.next()
  await session.notify('notifications/cancelled', { requestId: 'the-call' })
  const notice = await stream.next()
  assert.equal(notice.method, 'notifications/cancelled')
  assert.equal(notice.params.requestId, question.id)
  assert.equal(await stream.next(), undefined)
})

test('in a session: an answer counts only in the session that was asked', async (t) => {
  const server = asking(t, async (call) => JSON.stringify(await call.roots()))
  const [one, two] = [await begin(server, '2025-11-25', able), await begin(server, '2025-11-25', able)]
  const [first, second] = [await one.stream('ask'), await two.stream('ask')]
  const [asked, alsoAsked] = [await first.next(), await second.next()]
  assert.equal(asked.id, alsoAsked.id)
  await two.answer(alsoAsked.id, { roots: [{ uri: 'file:///two' }] })
  await one.answer(asked.id, { roots: [{ uri: 'file:///one' }] })
  assert.match(said((await first.next()).result), /one/)
  assert.match(said((await second.next()).result), /two/)
})

test('without a session nobody is asked before 2026-07-28', async (t) => {
  const server = asking(t, (call) => call.roots())
  const { result } = await answerOf(await post(server, {
    jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' },
  }))
  assert.equal(result.isError, true)
  assert.match(said(result), /^This client cannot be asked: that takes a session, which begins with init/)
})

test('a client that reads only JSON is not asked by a request, and is by rounds', async (t) => {
  const server = asking(t, (call) => call.roots())
  const session = await begin(server, '2025-11-25', able)
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } }
  const { result } = await answerOf(await session.post(call, { Accept: 'application/json' }))
  assert.equal(result.isError, true)
  assert.match(said(result), /that takes a stream, and Accept must allow text\/event-stream/)
  const json = { capabilities: able, headers: { Accept: 'application/json' } }
  const round = await answerOf(await modern(server, 'tools/call', { name: 'ask' }, json))
  assert.equal(round.result.resultType, 'input_required')
})

test('2024-11-05 and 2025-03-26 have no elicitation, whatever the client declares', async (t) => {
  for (const revision of ['2024-11-05', '2025-03-26']) {
    const server = asking(t, (call) => call.elicit({ message: 'Who?', schema: nameForm }))
    const { questions, answer } = await inSession(server, () => accept, able, revision)
    assert.deepEqual(questions, [])
    assert.equal(answer.result.isError, true)
  }
})

test('a prompt and a resource may ask as well', async (t) => {
  const server = serveMcp(t, {
    prompts: [{ name: 'p', description: 'Asks.', async get(_args, call) {
      const { content } = await call.elicit({ key: 'k', message: 'Who?', schema: nameForm })
      return `for ${String(content?.['name'])}`
    } }],
    resources: [{ uri: 'test://r', name: 'r', async read(call) {
      const { content } = await call.elicit({ key: 'k', message: 'Who?', schema: nameForm })
      return `for ${String(content?.['name'])}`
    } }],
  })
  for (const [method, params, textOf] of [
    ['prompts/get', { name: 'p' }, (result: Json) => result.messages[0].content.text],
    ['resources/read', { uri: 'test://r' }, (result: Json) => result.contents[0].text],
  ] as const) {
    const options = { capabilities: able }
    const { result } = await answerOf(await modern(server, method, params, options))
    assert.equal(result.resultType, 'input_required')
    assert.equal('ttlMs' in result, false)
    const again = { ...params, inputResponses: { k: accept }, requestState: result.requestState }
    assert.equal(textOf((await answerOf(await modern(server, method, again, options))).result), 'for Alice')

    const session = await begin(server, '2025-11-25', able)
    const stream = new EventStream(await session.send(method, params))
    const question = await stream.next()
    await session.answer(question.id, accept)
    assert.equal(textOf((await stream.next()).result), 'for Alice')

    const mute = await begin(server, '2025-11-25', {})
    const refused = await mute.send(method, params)
    assert.equal(refused.status, 200, 'clients of that age do not read the body of an error')
    assert.ok((await answerOf(refused)).error)
  }
})

test('nothing else may ask: a completer cannot', async (t) => {
  const server = serveMcp(t, {
    prompts: [{
      name: 'p', description: 'Completes.', get: () => 'text',
      arguments: [
        { name: 'a', complete: (_value, _context, call) => [call.can('elicit') ? 'can' : 'cannot'] },
      ],
    }],
  })
  const ref = { type: 'ref/prompt', name: 'p' }
  const { result } = await answerOf(await modern(server, 'completion/complete', {
    ref, argument: { name: 'a', value: '' },
  }, { capabilities: able }))
  assert.deepEqual(result.completion.values, ['cannot'])
})

test('a question that the handler did not wait for is taken back when the call ends', async (t) => {
  const server = asking(t, async (call) => {
    void call.roots()
    await sleep(5)
    return 'done'
  })
  const session = await begin(server, '2025-11-25', able)
  const stream = await session.stream('ask')
  const [question, notice, answer] = await stream.rest()
  assert.equal(notice.method, 'notifications/cancelled')
  assert.equal(notice.params.requestId, question.id)
  assert.equal(said(answer.result), 'done')
  assert.equal((await session.answer(question.id, { roots: [] })).status, 202)
})

test('a handler may look at its question late: nothing is lost, and the process lives', async (t) => {
  const server = asking(t, async (call) => {
    const question = call.roots()
    await sleep(20)
    return JSON.stringify(await question)
  })
  assert.equal(said((await inSession(server, () => ({ error: { code: -1, message: 'no' } }))).answer.result),
    'The client refused to answer: no')
  assert.equal(said((await byRounds(server, () => ({ roots }))).answer.result), JSON.stringify(roots))
  assert.equal((await inSession(server, () => undefined, {})).answer.result.isError, true)
})
