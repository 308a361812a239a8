import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import test from 'node:test'
import { isSignedBy } from '../../fixtures/card-signature.ts'
import { request } from '../../fixtures/client.ts'
import { serveA2a } from './caller.ts'
import type { TriportServer } from '../../../lib/preset/create-server.ts'
import type { ServerOptions } from '../../../lib/preset/options.ts'

const NEW = '/extendedAgentCard'
const OLD = '/agent/authenticatedExtendedCard'
const agents = [
  { name: 'Bot', description: 'Helps.', run: () => 'ok' },
  { name: 'Muse', description: 'Muses.', run: () => 'ok' },
]
const apiKey = [{ id: 'ann', key: 'key-of-ann' }, { id: 'bob', key: 'key-of-bob' }]
const skill = { id: 'buy', name: 'Buy', description: 'Buys.', tags: ['shop'] }

async function get(server: TriportServer, path: string, headers: Record<string, string> = {}): Promise<{
  readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown>
}> {
  const response = await server.fetch(request(path, undefined, headers))
  return {
    status: response.status, headers: response.headers,
    body: await response.json() as Record<string, unknown>,
  }
}

const ann = { 'x-api-key': 'key-of-ann' }
const extendedCard: NonNullable<ServerOptions['a2a']>['extendedCard'] = async ({ id }, who) => {
  return id === 'key:ann' ? { description: `Sells, as ${who.id}.`, skills: [skill] } : undefined
}

test('a caller who proves who it is gets more of the card, and no cache keeps it', async (t) => {
  const server = serveA2a(t, { agents, apiKey, a2a: { extendedCard } })
  const rows = [
    [NEW, 'bot', 'supportedInterfaces'], [`/agents/muse${NEW}`, 'muse', 'supportedInterfaces'],
    [OLD, 'bot', 'url'], [`/agents/muse${OLD}`, 'muse', 'url'],
  ] as const
  for (const [path, id, member] of rows) {
    const { status, headers, body } = await get(server, path, ann)
    assert.equal(status, 200, path)
    assert.equal(headers.get('cache-control'), 'private, no-store')
    assert.equal(body['description'], `Sells, as ${id}.`)
    assert.deepEqual((body['skills'] as { id: string }[]).map((one) => one.id), ['chat', 'buy'])
    assert(member in body, path)
  }
  const { body } = await get(server, `/agents/muse${OLD}`, ann)
  assert.equal(body['url'], 'http://triport.test/agents/muse/a2a')
  // What one of them sees is not in the card for everybody.
  assert.doesNotMatch(JSON.stringify((await get(server, '/.well-known/agent-card.json')).body), /Sells|buy/)
})

test('who proves nothing, and who may see nothing more, is told so in the form of the path', async (t) => {
  const server = serveA2a(t, { agents, apiKey, a2a: { extendedCard } })
  const bob = { authorization: 'Bearer key-of-bob' }
  const rows = [
    [NEW, {}, 401, 'UNAUTHENTICATED'], [NEW, bob, 400, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
    [OLD, {}, 401, '"request_id"'], [OLD, bob, 404, 'There is no extended card for this caller'],
  ] as const
  for (const [path, headers, status, told] of rows) {
    const reply = await get(server, path, { ...headers })
    assert.equal(reply.status, status, path)
    assert(JSON.stringify(reply.body).includes(told), JSON.stringify(reply.body))
    assert.equal(reply.headers.has('www-authenticate'), status === 401)
  }
})

test('where there is no extended card the answer says so', async (t) => {
  for (const options of [{}, { apiKey }]) {
    const server = serveA2a(t, { agents, ...options })
    const reply = await get(server, NEW, ann)
    assert.equal(reply.status, 400)
    assert.match(JSON.stringify(reply.body), /"reason":"UNSUPPORTED_OPERATION"/)
    assert.equal((await get(server, OLD, ann)).status, 404)
  }
})

test('an object is the extended card of the root alone', async (t) => {
  const server = serveA2a(t, { agents, apiKey, a2a: { extendedCard: { description: 'Sells.' } } })
  assert.equal((await get(server, NEW, ann)).body['description'], 'Sells.')
  assert.equal((await get(server, `/agents/muse${NEW}`, ann)).status, 400)
})

test('what is wrong with a function stays in the log', async (t) => {
  const logged: unknown[] = []
  const broken = (): never => { throw new Error('secret') }
  const log: ServerOptions['log'] = (level, message) => logged.push([level, message])
  const server = serveA2a(t, { agents, apiKey, a2a: { extendedCard: broken }, log })
  for (const path of [NEW, OLD]) {
    const { status, body } = await get(server, path, ann)
    assert.equal(status, 500)
    assert.doesNotMatch(JSON.stringify(body), /secret/)
  }
  assert.deepEqual(logged, [
    ['error', 'A message could not be answered'], ['error', 'An extended card could not be made'],
  ])
})

test('a key signs what is asked for as 1.0, at both paths, and nothing beside older members', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const server = serveA2a(t, { agents, apiKey, a2a: { extendedCard, signingKey: privateKey } })
  const asked = { ...ann, 'a2a-version': '1.0' }
  for (const path of [NEW, OLD]) assert.ok(isSignedBy((await get(server, path, asked)).body, publicKey), path)
  assert.equal('signatures' in (await get(server, OLD, ann)).body, false)
})
