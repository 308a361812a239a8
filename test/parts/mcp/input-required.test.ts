/**
 * Rounds, from the side of a client that is careless or hostile: states that are not the call's own, keys
 * that nobody asked for, and handlers that never have enough.
 */
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { defineTool } from '../../../lib/preset/define.ts'
import { eventually } from '../../fixtures/client.ts'
import { answerOf, ask, modern, said, serveMcp } from './client.ts'
import { capabilities } from '../mcp-tasks/task-client.ts'
import type { Call } from '../../../lib/index.ts'
import type { Json } from '../../fixtures/events.ts'

const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const accept = (name: string): object => ({ action: 'accept', content: { name } })
const able = { capabilities: { elicitation: {}, sampling: {}, roots: {} } }

let runs = 0
const seen: unknown[] = []

async function who(call: Call): Promise<string> {
  const { content } = await call.elicit({ key: 'who', message: 'Who?', schema: form })
  return String(content?.['name'])
}

const server = serveMcp({ after }, {
  secret: 'a secret of enough characters',
  maxStateBytes: 4_096,
  tools: [
    { name: 'hello', description: 'Asks once.', inputSchema: { type: 'object' }, async run(_args, call) {
      runs++
      return `Hello ${await who(call)}`
    } },
    { name: 'twice', description: 'Asks twice.', async run(_args, call) {
      const name = await who(call)
      const { content } = await call.elicit({ key: 'color', message: `Color, ${name}?`, schema: form })
      return `${name} ${String(content?.['name'])}`
    } },
    { name: 'never', description: 'Never has enough.', async run(_args, call) {
      for (let n = 0; ; n++) await call.elicit({ key: `n${n}`, message: 'More?', schema: form })
    } },
    { name: 'large', description: 'Remembers much.', async run(_args, call) {
      await call.once('much', () => 'x'.repeat(10_000))
      return who(call)
    } },
    { name: 'changing', description: 'Changes its mind.', async run(_args, call) {
      const { content } = await call.elicit({ key: 'who', message: `Who? ${runs++}`, schema: form })
      return `Hello ${String(content?.['name'])}`
    } },
    { name: 'after', description: 'Goes on when it should not.', async run(_args, call) {
      try {
        return await who(call)
      } catch (error) {
        seen.push((error as Error).name, call.signal.aborted, call.can('elicit'))
        call.progress(1)
        call.log('info', 'still here')
        await call.once('late', () => seen.push('late')).catch(() => {})
        await call.roots().catch(() => {})
        return 'too late'
      }
    } },
    { name: 'odd', description: 'Has odd keys.', async run(_args, call) {
      const { content } = await call.elicit({ key: '__proto__', message: 'Who?', schema: form })
      return `Hello ${String(content?.['name'])}`
    } },
  ],
  prompts: [{ name: 'hello', description: 'Asks.', get: (_args, call) => who(call) }],
})

async function first(name: string, args: object = {}, method = 'tools/call'): Promise<Json> {
  const { result } = await ask(server, method, { name, arguments: args }, able)
  assert.equal(result.resultType, 'input_required')
  return result
}

function again(
  name: string, state: unknown, responses: unknown, args: object = {}, method = 'tools/call',
): Promise<Json> {
  return ask(server, method, { name, arguments: args, inputResponses: responses, requestState: state }, able)
}

test('a round says what it asks, in a state that tells nothing', async () => {
  const result = await first('hello')
  assert.deepEqual(Object.keys(result).sort(), ['_meta', 'inputRequests', 'requestState', 'resultType'])
  assert.deepEqual(result.inputRequests, {
    who: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: form } },
  })
  assert.match(result.requestState, /^[\w-]+$/)
  const { result: done } = await again('hello', result.requestState, { who: accept('Alice') })
  assert.equal(said(done), 'Hello Alice')
  assert.equal(done.resultType, 'complete')
})

test('a state may be used twice: what comes of it is the same', async () => {
  const { requestState } = await first('hello')
  for (const name of ['Alice', 'Bob']) {
    assert.equal(said((await again('hello', requestState, { who: accept(name) })).result), `Hello ${name}`)
  }
})

test('another process with the same secret goes on with it', async (t) => {
  const { requestState } = await first('twice')
  const twin = serveMcp(t, {
    secret: ['a newer secret, put in front', 'a secret of enough characters'],
    tools: [{ name: 'twice', description: 'Asks twice.', async run(_args, call) {
      return `there: ${await who(call)}`
    } }],
  })
  const { result } = await ask(twin, 'tools/call', {
    name: 'twice', arguments: {}, inputResponses: { who: accept('Alice') }, requestState,
  }, able)
  assert.equal(said(result), 'there: Alice')
})

const tampered: readonly (readonly [string, (state: string) => unknown])[] = [
  ['a longer state', (state) => `${state}-TAMPERED`],
  ['a shorter one', (state) => state.slice(0, -4)],
  [
    'one with a letter changed',
    (state) => state.slice(0, 40) + (state[40] === 'A' ? 'B' : 'A') + state.slice(41),
  ],
  ['one with padding', (state) => `${state}==`],
  ['an empty one', () => ''],
  ['a made-up one', () => Buffer.from('{"subject":"x"}').toString('base64url')],
  ['a number', () => 7],
  ['an object', () => ({})],
]

for (const [what, change] of tampered) {
  test(`${what} is -32602, and the handler does not run`, async () => {
    const { requestState } = await first('hello')
    const before = runs
    const response = await modern(server, 'tools/call', {
      name: 'hello', arguments: {},
      inputResponses: { who: accept('Eve') }, requestState: change(requestState),
    }, able)
    assert.equal(response.status, 200)
    assert.equal((await answerOf(response)).error.code, -32602)
    assert.equal(runs, before)
  })
}

test('a state belongs to its principal, method, name and arguments', async (t) => {
  const { requestState } = await first('hello', { a: 1 })
  const answers = { who: accept('Eve') }
  assert.equal((await again('hello', requestState, answers, { a: 2 })).error.code, -32602)
  assert.equal((await again('twice', requestState, answers, { a: 1 })).error.code, -32602)
  assert.equal((await again('hello', requestState, answers, {}, 'prompts/get')).error.code, -32602)
  assert.equal(said((await again('hello', requestState, answers, { a: 1 })).result), 'Hello Eve')

  const keyed = serveMcp(t, {
    apiKey: [{ id: 'alice', key: 'key-of-alice' }, { id: 'bob', key: 'key-of-bob' }],
    tools: [{ name: 'hello', description: 'Asks.', run: (_args, call) => who(call) }],
  })
  const alice = { ...able, headers: { 'X-API-Key': 'key-of-alice' } }
  const { result } = await ask(keyed, 'tools/call', { name: 'hello' }, alice)
  const retry = { name: 'hello', inputResponses: answers, requestState: result.requestState }
  const bob = await ask(keyed, 'tools/call', retry, { ...able, headers: { 'X-API-Key': 'key-of-bob' } })
  assert.equal(bob.error.code, -32602)
  assert.equal(said((await ask(keyed, 'tools/call', retry, alice)).result), 'Eve')
})

test('a state ends with the time for its answer', async (t) => {
  const short = serveMcp(t, {
    askTimeoutMs: 30, tools: [{ name: 'hello', description: 'Asks.', run: (_args, call) => who(call) }],
  })
  const { result } = await ask(short, 'tools/call', { name: 'hello' }, able)
  await new Promise((resolve) => setTimeout(resolve, 50))
  const { error } = await ask(short, 'tools/call', {
    name: 'hello', inputResponses: { who: accept('Alice') }, requestState: result.requestState,
  }, able)
  assert.equal(error.code, -32602)
})

const responses: readonly (readonly [string, unknown, string])[] = [
  ['none', undefined, 'asked again'],
  ['an empty object', {}, 'asked again'],
  ['a key that nobody asked for', { wrong_key: accept('x') }, 'asked again'],
  ['a number for an answer', { who: 7 }, 'asked again'],
  ['null for an answer', { who: null }, 'asked again'],
  ['content of the wrong kind', { who: { action: 'accept', content: { name: 12345 } } }, 'asked again'],
  ['an answer and more', { who: accept('Alice'), extra: 1, __proto__x: {} }, 'Hello Alice'],
  ['null', null, 'asked again'],
  ['a list', [accept('x')], '-32602'],
  ['text', 'Alice', '-32602'],
]

for (const [what, given, expected] of responses) {
  test(`inputResponses: ${what}: ${expected}, with a state and on a first call`, async () => {
    const { requestState } = await first('hello')
    for (const state of [requestState, undefined]) {
      const answer = await again('hello', state, given)
      const outcome = answer.error !== undefined ? String(answer.error.code)
        : answer.result.resultType === 'input_required' ? 'asked again' : said(answer.result)
      assert.equal(outcome, expected)
    }
  })
}

test('earlier answers travel with the state: the client sends only the newest', async () => {
  const one = await first('twice')
  const { result: two } = await again('twice', one.requestState, { who: accept('Alice') })
  assert.deepEqual(Object.keys(two.inputRequests), ['color'])
  assert.equal(two.inputRequests.color.params.message, 'Color, Alice?')
  assert.notEqual(two.requestState, one.requestState)
  const { result } = await again('twice', two.requestState, { color: accept('red') })
  assert.equal(said(result), 'Alice red')
})

test('an answer cannot be given before its question, nor changed after', async () => {
  const one = await first('twice')
  const early = { who: accept('Alice'), color: accept('early') }
  const { result: two } = await again('twice', one.requestState, early)
  assert.deepEqual(Object.keys(two.inputRequests), ['color'])
  const { result } = await again('twice', two.requestState, { who: accept('Eve'), color: accept('red') })
  assert.equal(said(result), 'Alice red')
})

test('an answer counts for the question that it was given to, not for another of the same key', async () => {
  const one = await first('changing')
  const { result } = await again('changing', one.requestState, { who: accept('Alice') })
  assert.equal(result.resultType, 'input_required')
})

test('keys are data, whatever they are called', async () => {
  const one = await first('odd')
  assert.deepEqual(Object.getOwnPropertyNames(one.inputRequests), ['__proto__'])
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"odd","arguments":{},`
    + `"inputResponses":{"__proto__":{"action":"accept","content":{"name":"Alice"}}},`
    + `"requestState":"${one.requestState}","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`
    + `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
  const response = await server.fetch(new Request('http://localhost/mcp', {
    method: 'POST', body,
    headers: {
      'Content-Type': 'application/json', 'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call', 'Mcp-Name': 'odd',
    },
  }))
  assert.equal(said((await answerOf(response)).result), 'Hello Alice')
})

test('a handler that never has enough is stopped after 16 rounds, as a failed call', async () => {
  let result = await first('never')
  let rounds = 1
  while (result.resultType === 'input_required') {
    const [key] = Object.keys(result.inputRequests)
    result = (await again('never', result.requestState, { [key!]: accept('x') })).result
    if (result.resultType === 'input_required') rounds++
    assert.ok(rounds <= 16)
  }
  assert.equal(rounds, 16)
  assert.equal(result.isError, true)
  assert.match(said(result), /16 rounds/)
})

test('a client that answers so often what is no answer is told why', async () => {
  let result = await first('hello')
  while (result.resultType === 'input_required') {
    const [key] = Object.keys(result.inputRequests)
    result = (await again('hello', result.requestState, { [key!]: { action: 'yes' } })).result
  }
  assert.equal(result.isError, true)
  assert.equal(said(result), "The client's answer needs an action: accept, decline or cancel")
})

test('a state that grows too large is an error', async () => {
  const { error } = await ask(server, 'tools/call', { name: 'large' }, able)
  assert.equal(error.code, -32600)
  assert.match(error.data.detail, /4096 bytes/)
})

test('what a handler does after its round is dead', async () => {
  await first('after')
  await eventually(() => seen.length >= 3)
  await new Promise(setImmediate)
  assert.deepEqual(seen, ['AbortError', true, false])
})

test('what keeps a round from its end has the time of a run, and no more', async (t) => {
  const run = async (_args: unknown, call: Call): Promise<string> => {
    await Promise.all([call.once('never', () => new Promise(() => {})), who(call)])
    return 'never'
  }
  const slow = serveMcp(t, { toolTimeoutMs: 50, tools: [
    { name: 'call', run }, { name: 'may', task: 'optional', run },
  ] })
  for (const name of ['call', 'may']) {
    const { result } = await ask(slow, 'tools/call', { name }, { capabilities })
    assert.deepEqual([result.isError, said(result)], [true, `${name}: No result within 50 ms`])
  }
  await eventually(() => slow.status().calls.running === 0)
})

test('a question whose client has left before its round ended is not waited for', async (t) => {
  let done = (): void => {}
  const held = new Promise<void>((resolve) => { done = resolve })
  const slow = serveMcp(t, { tools: [{ name: 'slow', async run(_args, call) {
    const answer = who(call)
    await call.once('held', () => held)
    return answer
  } }] })
  const leaving = new AbortController()
  const left = modern(slow, 'tools/call', { name: 'slow' }, { ...able, signal: leaving.signal })
  await eventually(() => slow.status().calls.running === 1)
  leaving.abort()
  done()
  await left
  await eventually(() => slow.status().calls.running === 0)
})

/** A server with a tool whose calls are approved first, and what it has paid. */
function paying(t: Parameters<typeof serveMcp>[0], inner?: string): {
  readonly paid: unknown[]; call(more?: object): Promise<Json>; approval(round: Json): object
} {
  const paid: unknown[] = []
  const pay = {
    name: 'pay', description: 'Pays.', needsApproval: true,
    parameters: { type: 'object', properties: { sum: { type: 'number' } } },
    execute: (args: object) => { paid.push(args) },
  }
  const tool = defineTool(pay)
  const server = serveMcp(t, {
    secret: 'a secret of enough characters',
    tools: [inner === undefined ? tool : {
      name: 'pay', description: 'Asks more.', inputSchema: { type: 'object' }, async run(args, call) {
        const result = await tool.run(args, call)
        await call.elicit({ key: inner, message: 'Which receipt?', schema: form })
        return String(result)
      },
    }],
  })
  return {
    paid,
    call: async (more = {}) => (
      await ask(server, 'tools/call', { name: 'pay', arguments: { sum: 1 }, ...more }, able)
    ).result,
    approval({ inputRequests, requestState }) {
      const [key = ''] = Object.keys(inputRequests)
      return { requestState, inputResponses: { [key]: { action: 'accept', content: { approve: true } } } }
    },
  }
}

test('an approval counts once: sent again, it is asked for again', async (t) => {
  const { paid, call, approval } = paying(t)
  const round = await call()
  assert.match(JSON.stringify(round.inputRequests), /May the tool 'pay' run with/)
  assert.equal((await call(approval(round))).resultType, 'complete')
  assert.equal(paid.length, 1)
  const again = await call(approval(round))
  assert.equal(again.resultType, 'input_required')
  assert.equal(paid.length, 1)
  // The new state has an approval of its own.
  assert.equal((await call(approval(again))).resultType, 'complete')
  assert.equal(paid.length, 2)
  const [one, other] = [await call(), await call()]
  const all = await Promise.all([approval(one), approval(one), approval(other)].map(call))
  const types = all.map(({ resultType }) => String(resultType)).sort()
  assert.deepEqual(types, ['complete', 'complete', 'input_required'])
  assert.equal(paid.length, 4)
})

test('a state that carries an approval counts once too', async (t) => {
  const { paid, call, approval } = paying(t, 'receipt')
  const asksMore = await call(approval(await call()))
  assert.deepEqual([Object.keys(asksMore.inputRequests), paid.length], [['receipt'], 1])
  const answer = { requestState: asksMore.requestState, inputResponses: { receipt: accept('all') } }
  assert.equal((await call(answer)).resultType, 'complete')
  // The tool of the author has no call.once.
  assert.equal(paid.length, 2)
  assert.match(JSON.stringify((await call(answer)).inputRequests), /May the tool 'pay' run/)
  assert.equal(paid.length, 2)
})

test('nothing is approved that was not asked', async (t) => {
  const { paid, call, approval } = paying(t)
  const round = await call()
  const { inputResponses } = approval(round) as { inputResponses: object }
  const [key = ''] = Object.keys(inputResponses)
  const unasked = [
    { inputResponses }, { ...approval(round), arguments: { sum: 2 } },
    { requestState: round.requestState, inputResponses: { approve: { action: 'accept' } } },
    ...[null, true, 'yes', { action: 'accept' }, { action: 'accept', content: { approve: 'true' } },
      { action: 'accept', content: { approve: false } }, { action: 'decline' },
    ].map((answer) => ({ ...approval(round), inputResponses: { [key]: answer } })),
  ]
  for (const more of unasked) await call(more).catch(() => {})
  assert.deepEqual(paid, [])
})

test('the same question with the same key is asked as often as it is asked', async (t) => {
  const server = serveMcp(t, {
    secret: 'a secret of enough characters',
    tools: [{ name: 'again', description: 'Asks twice.', async run(_args, call) {
      return `${await who(call)} and ${await who(call)}`
    } }],
  })
  const send = async (more: object): Promise<Json> => (
    await ask(server, 'tools/call', { name: 'again', arguments: {}, ...more }, able)
  ).result
  const one = await send({ inputResponses: { who: accept('Alice') } })
  assert.deepEqual(Object.keys(one.inputRequests), ['who-2'])
  const two = await send({ requestState: one.requestState, inputResponses: { 'who-2': accept('Bob') } })
  assert.equal(said(two), 'Alice and Bob')
})
