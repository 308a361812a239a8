/** What is made of the scopes of what is served, and of those of its callers. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { defineAgent, defineGroup } from '../../../lib/kernel.ts'
import { jsonOf, request, serve } from '../../fixtures/kernel.ts'

const open = defineAgent({ name: 'Open', run: (prompt) => `open ${prompt}` })
const reader = defineAgent({ name: 'Reader', scopes: ['read'], run: (prompt) => `read ${prompt}` })
const writer = defineAgent({ name: 'Writer', scopes: ['write'], run: (prompt) => `wrote ${prompt}` })
const both = defineGroup({ name: 'Both', agents: [reader, writer] })
const pick = defineGroup({
  name: 'Pick', agents: [open, writer, both], onAgentError: 'continue', mode: (query) => query.split(' '),
})

test('a caller sees and calls what its scopes allow, and is told which one is missing', async (t) => {
  const server = serve(t, {
    agents: [open, reader, writer],
    tools: [{ name: 'change', scopes: ['read', 'write'], run: () => 'changed' }],
    apiKey: [
      { id: 'ann', key: 'ann', scopes: ['read'] }, { id: 'boss', key: 'boss', scopes: ['read', 'write'] },
    ],
  })
  const callers = [['ann', 'open reader', 403], ['boss', 'open reader writer', 200]] as const
  for (const [key, seen, status] of callers) {
    const ask = (path: string, body?: object): Promise<Response> => (
      server.fetch(request(path, body, { 'x-api-key': key }))
    )
    const { agents } = await jsonOf(await ask('/agents'))
    assert.equal((agents as { id: string }[]).map(({ id }) => id).join(' '), seen)
    for (const [path, body] of [['/agents/writer', { query: 'it' }], ['/tools/change', {}]] as const) {
      const reply = await ask(path, body)
      assert.equal(reply.status, status, `${key} ${path}`)
      assert.match(await reply.text(), status === 200 ? /wrote it|changed/ : /This needs the scope write/)
    }
  }
})

test('scopes that are none are a mistake in the definition', (t) => {
  const run = (): string => ''
  for (const scopes of ['read', [7], ['a b'], {}]) {
    const wrong = { scopes: scopes as string[] }
    assert.throws(() => defineAgent({ ...wrong, name: 'A', run }), /^TypeError: The agent 'A' has/)
    assert.throws(() => defineGroup({ ...wrong, name: 'G', agents: [open] }), /^TypeError: The group 'G' has/)
  }
  assert.deepEqual(both.scopes, ['read', 'write'])
  assert.deepEqual(pick.scopes, [])
  const { scopes } = defineGroup({ name: 'G', agents: [both, pick], scopes: ['own'] })
  assert.deepEqual(scopes, ['own', 'read', 'write'])
  assert.throws(() => serve(t, { agents: [{ name: 'A', scope: ['a'], run } as never] }), /scopes/)
})

test('an operator reads that nobody can have a scope', async (t) => {
  const lines: string[] = []
  const log = (level: string, line: string): void => { lines.push(`${level} ${line}`) }
  const described = { ...open, description: 'Opens.' }
  const hidden = [reader, writer].map((agent) => ({ ...agent, description: 'Works.' }))
  serve(t, { agents: [described, ...hidden], log })
  assert.deepEqual(lines, ['warning What needs the scope read or write is hidden from all callers: without '
    + 'keys or tokens none has scopes; write apiKey or auth'])
  lines.length = 0
  serve(t, { agents: [described], log })
  serve(t, { agents: [{ ...reader, description: 'Reads.' }], apiKey: 'k', log })
  assert.deepEqual(lines, [])
})
