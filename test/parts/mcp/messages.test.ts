import assert from 'node:assert/strict'
import test from 'node:test'
import { defaults } from '../../../lib/index.ts'
import { readMessage, takeMessage } from '../../../lib/parts/mcp/session/messages.ts'
import { ReplayBudget } from '../../../lib/floors/kept-streams/replay-budget.ts'
import { Session } from '../../../lib/parts/mcp/session/session.ts'
import { Quota } from '../../../lib/kernel/util/quota.ts'
import { oldest } from '../../../lib/parts/mcp/protocol/revisions.ts'
import { callOf } from '../../fixtures/house.ts'
import type { Fault } from '../../../lib/index.ts'
import type { LiveCall } from '../../../lib/kernel/define/live-call.ts'
import type { McpMessage } from '../../../lib/parts/mcp/session/messages.ts'

const rows: readonly (readonly [what: string, message: object | null, kind: string, id?: unknown])[] = [
  ['a request', { id: 1, method: 'm' }, 'request', 1],
  ['a request with params', { id: 'a', method: 'm', params: {} }, 'request', 'a'],
  ['a notification', { method: 'm' }, 'notification'],
  ['a response', { id: 1, result: {} }, 'response', 1],
  ['null for an id', { id: null, method: 'm' }, 'malformed', undefined],
  ['an answer to nobody', { id: null, result: {} }, 'malformed', undefined],
  ['a fraction for an id', { id: 1.5, method: 'm' }, 'malformed', undefined],
  ['an id that is too long', { id: 'x'.repeat(257), method: 'm' }, 'malformed', undefined],
  ['a method that is too long', { id: 1, method: 'x'.repeat(257) }, 'malformed', 1],
  ['a list for params', { id: 1, method: 'm', params: [] }, 'malformed', 1],
  ['null for params', { id: 1, method: 'm', params: null }, 'request', 1],
  ['a list for the params of a notification', { method: 'm', params: [] }, 'malformed', undefined],
  ['no method', { id: 1 }, 'malformed', 1],
  ['nothing', null, 'malformed', undefined],
]

test('a message is what MCP lets be one, and an id is kept where it could be read', () => {
  for (const [what, message, kind, id] of rows) {
    const read = readMessage(message === null ? null : { jsonrpc: '2.0', ...message }, 256)
    assert.equal(read.kind, kind, what)
    assert.strictEqual('id' in read ? read.id : undefined, id, what)
    if (read.kind === 'malformed') assert.ok(read.why.length > 10, what)
  }
})

const budget = new ReplayBudget(defaults.maxReplayBytes)
const terms = { limits: defaults, budget, watched: new Quota('addresses', 1_000_000), mark: '' }
const session = (): Session => new Session('me', oldest, terms)
const cancelled = (requestId: unknown): McpMessage => (
  { kind: 'notification', method: 'notifications/cancelled', params: { requestId } }
)

test('a cancellation ends the call of its id and no other, and the id is free at once', () => {
  const here = session()
  const calls = new Map<string | number, LiveCall>([[1, callOf()], ['1', callOf()]])
  for (const [id, call] of calls) here.running.set(id, call)
  for (const id of ['2', 2, null, undefined, {}, [1]]) takeMessage(here, cancelled(id))
  takeMessage(here, { kind: 'notification', method: 'notifications/initialized', params: { requestId: 1 } })
  takeMessage(undefined, cancelled(1))
  assert.equal(here.running.size, 2)
  takeMessage(here, cancelled(1))
  assert.deepEqual([...here.running.keys()], ['1'])
  assert.deepEqual([calls.get(1)?.reason?.kind, calls.get('1')?.reason], ['cancelled', undefined])
})

test('an answer goes to whoever asked, once; one to nothing is passed over', () => {
  const here = session()
  const heard: unknown[] = []
  const listen = (id: string): void => {
    here.asked.set(id, {
      resolve: (result) => heard.push(result),
      reject: ({ message }: Fault) => heard.push(message),
    })
  }
  listen('ask-1')
  listen('ask-2')
  const answer = (id: string | number, more: object): boolean => (
    takeMessage(here, { kind: 'response', id, result: undefined, error: undefined, ...more } as McpMessage)
  )
  assert.deepEqual([
    answer('ask-3', { result: 'none' }), answer(1, { result: 'none' }), answer('ask-1', { result: 'one' }),
    answer('ask-1', { result: 'again' }), answer('ask-2', { error: { code: -1, message: 'not now' } }),
  ], [false, false, true, false, true])
  assert.deepEqual(heard, ['one', 'The client refused to answer: not now'])
  assert.equal(here.asked.size, 0)
})
