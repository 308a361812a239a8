/** What an agent says of its work, as it is on the wire in each dialect. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { eventReader } from '../../../lib/floors/outbound/event-reader.ts'
import { jsonOf, request } from '../../fixtures/client.ts'
import { serveBot } from './caller.ts'
import type { Run } from './caller.ts'
import type { Json } from '../../fixtures/events.ts'
import type { TriportServer } from '../../../lib/index.ts'

/** The same in the words of two dialects. */
const dialects = [
  {
    send: 'SendMessage', stream: 'SendStreamingMessage', get: 'GetTask', role: 'ROLE_USER',
    text: { text: 'pears' }, task: (result: Json): Json => result['task'],
    status: (result: Json): Json => result['statusUpdate'],
  },
  {
    send: 'message/send', stream: 'message/stream', get: 'tasks/get', role: 'user',
    text: { kind: 'text', text: 'pears' }, task: (result: Json): Json => result,
    status: (result: Json): Json => result['kind'] === 'status-update' ? result : undefined,
  },
] as const

const usage = { inputTokens: 30, outputTokens: 5, reasoningTokens: 1 }
const metadata = { 'triport/usage': usage }

const clerk: Run = async (prompt, call) => {
  call.event({ type: 'reasoning', text: 'Look it up.' })
  call.event({ type: 'tool-call', id: '1', name: 'price', args: { of: prompt } })
  call.event({ type: 'usage', inputTokens: 10, outputTokens: 2 })
  await new Promise((resolve) => setImmediate(resolve))
  call.event({ type: 'tool-result', id: '1', result: 6, isError: prompt === 'none' })
  call.event({ type: 'usage', inputTokens: 20, outputTokens: 3, reasoningTokens: 1 })
  return 'Six.'
}

/** Counts, and ends at once in a state. */
const inState = (state: string): Run => (_prompt, call) => {
  call.event({ type: 'usage', ...usage })
  return { text: 'a', state }
}

async function call(server: TriportServer, method: string, params: object): Promise<Json> {
  const body = { jsonrpc: '2.0', id: 1, method, params }
  return (await jsonOf(await server.fetch(request('/a2a', body))))['result'] as Json
}

async function stream(server: TriportServer, method: string, params: object): Promise<readonly Json[]> {
  const response = await server.fetch(request('/a2a', { jsonrpc: '2.0', id: 1, method, params }))
  const results: Json[] = []
  eventReader(({ data }) => results.push((JSON.parse(data) as Json)['result']))(await response.text())
  return results
}

test('a call of a tool and its end are messages of the state; the last event has the tokens', async (t) => {
  for (const { stream: method, get, role, text, task, status } of dialects) {
    const server = serveBot(t, clerk)
    const message = { messageId: 'm', role, parts: [text], kind: 'message' }
    const results = await stream(server, method, { message })
    const updates = results.flatMap((result) => status(result) ?? [])
    const said = updates.map((one) => one['status'].message?.parts[0].text as unknown)
    assert.deepEqual(said, ['Calls price…', 'price is done', undefined], method)
    assert.deepEqual(updates.map((one) => one['metadata'] as unknown), [undefined, undefined, metadata])
    assert.doesNotMatch(JSON.stringify(results), /Look it up/)
    const { id } = task(results[0]!)
    const shown = await call(server, get, { id })
    assert.deepEqual([shown['metadata'], shown['status'].message], [metadata, undefined], get)
  }
})

test('however a task ends, at once or later, its tokens are its metadata', async (t) => {
  const states = ['completed', 'failed', 'rejected', 'input-required']
  for (const { send, get, role, text, task } of dialects) {
    for (const state of states) {
      const later: Run = async (prompt, own) => inState(state)(prompt, own)
      for (const run of [inState(state), later]) {
        const message = { messageId: 'm', role, parts: [text], kind: 'message' }
        const server = serveBot(t, run)
        const shown = task(await call(server, send, { message }))
        assert.deepEqual(shown['metadata'], metadata, `${send} ${state}`)
        const read = await call(server, get, { id: shown['id'] })
        assert.deepEqual(read['metadata'], metadata, `${get} ${state}`)
      }
    }
  }
})

test('a task that fails has them, and one whose agent counts nothing has no metadata', async (t) => {
  const failing: Run = (_prompt, own) => {
    own.event({ type: 'usage', ...usage })
    throw new Error('a')
  }
  for (const { send, role, text, task } of dialects) {
    const message = { messageId: 'm', role, parts: [text], kind: 'message' }
    const failed = task(await call(serveBot(t, failing), send, { message }))
    assert.deepEqual(failed['metadata'], metadata, send)
    assert.ok(!('metadata' in task(await call(serveBot(t, () => 'a'), send, { message }))), send)
  }
})

test('a message has them as its metadata, in the plain dialect too', async (t) => {
  for (const { send, role, text } of dialects) {
    const message = { messageId: 'm', role, parts: [text], kind: 'message' }
    const result = await call(serveBot(t, clerk, {}, { replies: 'message' }), send, { message })
    const reply: Json = result['message'] ?? result
    assert.deepEqual(reply['metadata'], metadata, send)
  }
  const plain = { message: { role: 'user', parts: [{ type: 'text', text: 'pears' }] } }
  const { message } = await call(serveBot(t, clerk), 'message/send', plain)
  assert.deepEqual([message.parts[0].text, message.metadata], ['Six.', metadata])
})
