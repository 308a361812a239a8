// A secret is replaced in one process after the other, and nobody who is in the middle of something notices.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer, defineTool } from '../lib/index.ts'
import { request } from './fixtures/client.ts'
import { fleetOf, sharedMemory } from './fixtures/fleet.ts'
import { ask, begin, LegacySession, said } from './parts/mcp/client.ts'
import type { TriportServer } from '../lib/index.ts'

const OLD = 'the old secret of all'
const NEW = 'the new secret of all'

/** What two processes know at one moment. */
const moments: readonly (readonly [when: string, secrets: readonly (readonly string[])[]])[] = [
  ['before', [[OLD], [OLD]]],
  ['while all learn to open with the new one', [[OLD], [OLD, NEW]]],
  ['while all begin to seal with it', [[OLD, NEW], [NEW, OLD]]],
  ['while the old one is given up', [[NEW, OLD], [NEW]]],
]

const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const greet = defineTool({
  name: 'greet', description: 'Asks.', inputSchema: { type: 'object' },
  async run(_args, call) {
    const { content } = await call.elicit({ key: 'name', message: 'Name?', schema: form })
    return `Hello ${content?.['name'] as string}`
  },
})

/** The same session, by way of another server. */
function via(server: TriportServer, { headers, opened }: LegacySession): LegacySession {
  return new LegacySession(server, headers, opened)
}

const ann = { action: 'accept', content: { name: 'Ann' } }

test('at each moment of a rotation every process goes on with what any other has begun', async (t) => {
  for (const [when, secrets] of moments) {
    const { servers } = await fleetOf(t, 2, (at) => ({ tools: [greet], secret: secrets[at] }))
    for (const [one, other] of [servers, servers.toReversed()] as [TriportServer, TriportServer][]) {
      const session = await begin(one, '2025-11-25', { elicitation: {} })
      const stream = await session.stream('greet')
      const { id } = await stream.next() ?? {}
      assert.equal((await via(other, session).answer(id, ann)).status, 202, when)
      assert.equal(said((await stream.next()).result), 'Hello Ann', when)

      const capabilities = { elicitation: {} }
      const round = await ask(one, 'tools/call', { name: 'greet', arguments: {} }, { capabilities })
      const { inputRequests, requestState } = round.result
      const [key = ''] = Object.keys(inputRequests)
      const answered = await ask(other, 'tools/call', {
        name: 'greet', arguments: {}, inputResponses: { [key]: ann }, requestState,
      }, { capabilities })
      assert.equal(said(answered.result), 'Hello Ann', when)
    }
    for (const server of servers) await server.close()
  }
})

test('a session that was begun with the old secret ends only when that is given up', async (t) => {
  const shared = sharedMemory()
  const { servers: [first] } = await fleetOf(t, 1, { tools: [greet], secret: OLD }, shared)
  const session = await begin(first!, '2025-11-25', {})
  for (const [secret, status] of [[[OLD, NEW], 200], [[NEW, OLD], 200], [[NEW], 404]] as const) {
    const { servers: [later] } = await fleetOf(t, 1, { tools: [greet], secret }, shared)
    assert.equal((await via(later!, session).send('tools/list')).status, status, secret.join())
  }
})

test('in the environment commas join several secrets', async (t) => {
  t.after(() => { delete process.env['TRIPORT_SECRET'] })
  const shared = sharedMemory()
  const serving = (variable: string): TriportServer => {
    process.env['TRIPORT_SECRET'] = variable
    const server = createServer({
      name: 'Fleet', tools: [greet], protocol: 'mcp', log: false, store: shared.connect(),
    })
    t.after(() => server.close())
    return server
  }
  const session = await begin(serving(OLD), '2025-11-25', {})
  assert.equal((await via(serving(` ${NEW}, ${OLD},`), session).send('tools/list')).status, 200)
  assert.equal((await via(serving(NEW), session).send('tools/list')).status, 404)
  assert.throws(() => serving(`${NEW},short`), /^TypeError: TRIPORT_SECRET: A secret of 5 characters cannot/)
  assert.throws(() => serving(' , '), /A store that is shared needs a secret/)
  assert.equal((await serving(OLD).fetch(request('/health'))).status, 200)
})
