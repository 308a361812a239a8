import assert from 'node:assert/strict'
import test from 'node:test'
import { composeCard, extendCard, hasExtendedCard, securityOf } from '../../../lib/parts/a2a/card/card.ts'
import { createService } from '../../../lib/kernel/server/service.ts'
import { kernelOptionsOf } from '../../../lib/preset/create-server.ts'
import type { Card } from '../../../lib/parts/a2a/model/model.ts'
import type { A2aServerOptions } from '../../../lib/parts/a2a/model/options.ts'
import type { ServerOptions } from '../../../lib/preset/options.ts'

const agent = { name: 'Bot', description: 'Helps.', run: () => 'ok' }
const URL = 'https://a.example/x'

/** The card of the root, or of somebody else by id. */
function cardOf(options: Partial<ServerOptions> = {}, more: A2aServerOptions = {}, id?: string): Card {
  const { service } = createService(kernelOptionsOf({ agents: [agent], log: false, ...options }))
  const who = id === undefined ? service.catalog.root! : service.catalog.runnable(id)!
  return composeCard(service, { ...more, takesKeys: () => false }, who, URL, id === undefined)
}

test('an agent that says little of itself has a whole card', () => {
  const { interfaces, ...card } = cardOf({ version: '2.1.0' })
  assert.deepEqual(card, {
    name: 'Bot', description: 'Helps.', version: '2.1.0', provider: undefined, documentationUrl: undefined,
    iconUrl: undefined, streams: true, pushes: false, hasExtendedCard: false, extensions: [],
    inputModes: ['text/plain'], outputModes: ['text/plain'],
    skills: [{ id: 'chat', name: 'Chat', description: 'General conversation', tags: ['chat'] }],
    schemes: new Map(), security: [],
  })
  assert(interfaces.length > 0)
})

test('the addresses are those of each binding and version, those of tenants behind them', () => {
  const { service } = createService(kernelOptionsOf({ agents: [agent], log: false }))
  const addresses = (tenants: readonly string[]): readonly string[] => {
    const options = { tenants, takesKeys: () => false }
    const { interfaces } = composeCard(service, options, service.catalog.root!, URL, true)
    return interfaces.map((one) => [one.binding, one.version, one.url, one.tenant].join(' ').trim())
  }
  const old = `JSONRPC 0.3 ${URL}/a2a`
  const both = [`JSONRPC 1.0 ${URL}/a2a`, `HTTP+JSON 1.0 ${URL}`]
  assert.deepEqual(addresses([]), [...both, old])
  assert.deepEqual(addresses(['a', 'b']), [
    ...both, old, ...both.map((one) => `${one} a`), ...both.map((one) => `${one} b`),
  ])
})

test('what an agent says of itself stands in its card', () => {
  const skills = [
    { id: 'sum', name: 'Sum', description: 'Adds.', tags: ['math'], examples: ['1 + 1'] },
    { id: 'plot', name: 'Plot', description: 'Draws.', outputModes: ['image/png'] },
    { id: 'cut', name: 'Cut', description: 'Cuts.', tags: [] },
  ]
  const modes = { inputModes: ['text/plain', 'image/png'], outputModes: ['text/html'] }
  const card = cardOf({ agents: [{ ...agent, ...modes, version: '3.0.0', skills }], version: '2.1.0' })
  assert.equal(card.version, '3.0.0')
  // Tags are a must of the card, not of the author.
  const [sum, plot, cut] = skills
  assert.deepEqual(card.skills, [sum, { ...plot, tags: ['plot'] }, { ...cut, tags: ['cut'] }])
  assert.deepEqual(card.inputModes, modes.inputModes)
  assert.deepEqual(card.outputModes, modes.outputModes)
})

test('what the operator says stands in every card', () => {
  const more: A2aServerOptions = {
    provider: { organization: 'Example', url: 'https://example.com' }, iconUrl: 'https://example.com/i',
    documentationUrl: 'https://example.com/d', extensions: [{ uri: 'urn:x', required: true }],
    pushNotifications: true,
  }
  for (const id of [undefined, 'bot']) {
    const { provider, iconUrl, documentationUrl, extensions, pushes } = cardOf({}, more, id)
    assert.deepEqual({ provider, iconUrl, documentationUrl, extensions, pushNotifications: pushes }, more)
  }
})

test('the agents of a group are its skills', () => {
  const desk = { name: 'Desk', agents: [agent, { name: 'Muse', run: () => 'ok' }] }
  const card = cardOf({ agents: [], groups: [desk] })
  assert.equal(card.name, 'Desk')
  assert.equal(card.description, 'Runs Bot, Muse.')
  assert.deepEqual(card.skills, [
    { id: 'bot', name: 'Bot', description: 'Helps.', tags: ['bot'] },
    { id: 'muse', name: 'Muse', description: 'Muse', tags: ['muse'] },
  ])
})

const tools = [
  { name: 'add', title: 'Addition', description: 'Adds.', run: () => 1 }, { name: 'chat', run: () => 'hi' },
]

test('the tools of the server are skills of the root, whoever answers there, and of nobody else', () => {
  const modes = {
    tags: ['tool'], inputModes: ['application/json'], outputModes: ['application/json', 'text/plain'],
  }
  const skills = [
    { id: 'chat', name: 'chat', description: 'chat', ...modes },
    { id: 'add', name: 'Addition', description: 'Adds.', ...modes },
  ]
  // A tool that is called like a skill is what runs under that name.
  assert.deepEqual(cardOf({ tools }).skills, skills)
  assert.deepEqual(cardOf({ tools }, {}, 'bot').skills.map(({ id }) => id), ['chat'])
  const groups = [{ name: 'Desk', agents: [agent] }]
  assert.deepEqual(cardOf({ agents: [], groups, tools }).skills.map(({ id }) => id), ['bot', 'add', 'chat'])
})

test('a description is never empty', () => {
  const bare = { name: 'Bot', run: () => 'ok' }
  const agents = [bare, { name: 'Second', run: () => 'ok' }]
  assert.equal(cardOf({ agents, description: 'Helps with orders.' }).description, 'Helps with orders.')
  assert.equal(cardOf({ agents, description: 'Helps with orders.' }, {}, 'second').description, 'Second')
  assert.equal(cardOf({ agents: [bare] }).description, 'Bot')
})

test('an object is the extended card of the root, a function of everybody', () => {
  const agents = [agent, { name: 'Muse', run: () => 'ok' }]
  const { service } = createService(kernelOptionsOf({ agents, log: false }))
  const [bot, muse] = service.catalog.agents
  const rows = [[undefined, false, false], [{}, true, false], [() => ({}), true, true]] as const
  for (const [extendedCard, ofBot, ofMuse] of rows) {
    const options = { extendedCard, takesKeys: () => true }
    assert.equal(hasExtendedCard(service, options, bot!), ofBot)
    assert.equal(hasExtendedCard(service, options, muse!), ofMuse)
    assert.equal(composeCard(service, options, muse!, URL, false).hasExtendedCard, ofMuse)
  }
})

test('an extended card has more skills, and others in the place of those with the same id', () => {
  const card = cardOf({ tools })
  const add = { id: 'add', name: 'Add', description: 'Adds more.', tags: ['math'] }
  const extended = extendCard(card, { name: 'Bob', skills: [add, { ...add, id: 'sub', tags: [] }] })
  assert.deepEqual(extended, {
    ...card, name: 'Bob', skills: [card.skills[0], add, { ...add, id: 'sub', tags: ['sub'] }],
  })
  const nothing = { name: undefined, skills: undefined } as object
  assert.deepEqual(extendCard(card, nothing), card)
})

const apiKey = { kind: 'apiKey', name: 'X-API-Key' }
const bearer = { kind: 'http', scheme: 'bearer' }
const auth = {
  resource: 'https://a.example/mcp', verify: () => null, scopes: ['read'],
  authorizationServers: ['https://login.example.com', 'https://b.example/tenant/7'],
}
const oauth = {
  kind: 'oauth2', metadataUrl: 'https://login.example.com/.well-known/oauth-authorization-server',
}
const oauth2 = {
  kind: 'oauth2', metadataUrl: 'https://b.example/.well-known/oauth-authorization-server/tenant/7',
}

test('a scheme is named exactly where it lets a caller in, and any one is enough', () => {
  const rows = [
    [false, undefined, {}, []],
    [true, undefined, { apiKey, bearer }, [{ apiKey: [] }, { bearer: [] }]],
    [false, auth, { oauth, 'oauth-2': oauth2 }, [{ oauth: ['read'] }, { 'oauth-2': ['read'] }]],
    [true, { ...auth, scopes: [], authorizationServers: ['https://login.example.com/'] },
      { apiKey, bearer, oauth },
      [{ apiKey: [] }, { bearer: [] }, { oauth: [] }]],
  ] as const
  for (const [isKeyed, given, schemes, ways] of rows) {
    const found = securityOf({ auth: given, takesKeys: () => isKeyed })
    assert.deepEqual(Object.fromEntries(found.schemes), schemes)
    assert.deepEqual(found.security.map((way) => Object.fromEntries(way)), ways)
  }
})
