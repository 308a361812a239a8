/**
 * What holds for methods whichever they are: the scopes of the thing that they are about, the code of a
 * resource that is not there, what is said of params of the wrong type, and the token of progress.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '../../../lib/index.ts'
import { revisionByName } from '../../../lib/parts/mcp/protocol/revisions.ts'
import { allRevisions, answerOf, ask, begin, legacyRevisions, modern, serveMcp } from './client.ts'
import { messagesOf } from '../../fixtures/events.ts'
import type { TriportServer } from '../../../lib/index.ts'
import type { Scope } from '../../fixtures/client.ts'
import type { LegacySession } from './client.ts'
import type { Json } from '../../fixtures/events.ts'

const guest = { 'X-API-Key': 'key-of-the-guest' }
const host = { 'X-API-Key': 'key-of-the-host' }

/** A server on which everything needs two scopes, of which the guest has one. */
function guarded(t: Scope): TriportServer {
  const scopes = ['read', 'secret']
  return serveMcp(t, {
    apiKey: [
      { id: 'guest', key: 'key-of-the-guest', scopes: ['read'] },
      { id: 'host', key: 'key-of-the-host', scopes },
    ],
    tools: [{ name: 'tool', description: 'Runs.', scopes, run(_args, call) {
      // What is told before the answer must not come before the refusal.
      call.progress(1)
      return 'opened'
    } }],
    prompts: [{
      name: 'prompt', scopes, get: () => 'opened', arguments: [{ name: 'a', complete: () => ['opened'] }],
    }],
    resources: [{ uri: 'test://fixed', name: 'fixed', scopes, read: () => 'opened' }],
    resourceTemplates: [
      {
        uriTemplate: 'test://below/{id}', name: 'template', scopes, read: () => 'opened',
        complete: { id: () => ['opened'] },
      },
      // A wider one is no way round it.
      { uriTemplate: 'test://{+all}', name: 'wide', read: () => 'wide' },
    ],
  })
}

const touching: readonly (readonly [what: string, method: string, params: object, since?: string])[] = [
  ['a call', 'tools/call', { name: 'tool', _meta: { progressToken: 1 } }],
  ['a prompt', 'prompts/get', { name: 'prompt' }],
  ['a read', 'resources/read', { uri: 'test://fixed' }],
  ['a read in another spelling', 'resources/read', { uri: 'TEST://fixed' }],
  ['a read of a template', 'resources/read', { uri: 'test://below/7' }],
  [
    'completion of a prompt', 'completion/complete',
    { ref: { type: 'ref/prompt', name: 'prompt' }, argument: { name: 'a', value: '' } },
  ],
  [
    'completion of a template', 'completion/complete',
    { ref: { type: 'ref/resource', uri: 'test://below/{id}' }, argument: { name: 'id', value: '' } },
  ],
  [
    'completion of a resource', 'completion/complete',
    { ref: { type: 'ref/resource', uri: 'test://fixed' }, argument: { name: 'id', value: '' } },
  ],
]

/** Those of the sessions alone. */
const watching: typeof touching = [
  ['a subscription', 'resources/subscribe', { uri: 'test://fixed' }],
  ['a subscription to what a template reads', 'resources/subscribe', { uri: 'test://below/7' }],
]

/** Those of 2026-07-28 alone. */
const listening: typeof touching = [
  ['listening', 'subscriptions/listen', { notifications: { resourceSubscriptions: ['test://fixed'] } }],
  [
    'listening to one of several', 'subscriptions/listen',
    { notifications: { toolsListChanged: true, resourceSubscriptions: ['test://free', 'test://below/7'] } },
  ],
]

async function assertRefused(response: Response, what: string): Promise<void> {
  assert.equal(response.status, 403, what)
  assert.equal(response.headers.get('content-type'), 'application/json', what)
  const challenge = response.headers.get('www-authenticate') ?? ''
  assert.match(challenge, /error="insufficient_scope".*scope="read secret"/, what)
  assert.equal((await response.json() as Json).error.code, -32600, what)
}

/** Sends a request in a session, or alone. */
function send(
  server: TriportServer, method: string, params: Json, headers: Record<string, string>,
  session: LegacySession | undefined,
): Promise<Response> {
  return session === undefined ? modern(server, method, params, { headers, meta: params._meta ?? {} })
    : session.send(method, params)
}

for (const revision of allRevisions) {
  test(`${revision}: what touches a thing needs its scopes, or is refused before any byte`, async (t) => {
    const server = guarded(t)
    const isModern = revision === '2026-07-28'
    const open = (headers: Record<string, string>): Promise<LegacySession> => (
      begin(server, revision, {}, headers)
    )
    for (const [what, method, params] of [...touching, ...isModern ? listening : watching]) {
      const sessions = isModern ? undefined : [await open(guest), await open(host)]
      await assertRefused(await send(server, method, params, guest, sessions?.[0]), what)
      const allowed = await send(server, method, params, host, sessions?.[1])
      assert.equal(allowed.status, 200, what)
      if (method === 'subscriptions/listen') await allowed.body?.cancel()
      else assert.equal((await answerOf(allowed)).error, undefined, what)
    }
  })
}

test('lists show what a client may touch, and nothing else', async (t) => {
  const server = guarded(t)
  for (const [method, member, shown, hidden] of [
    ['tools/list', 'tools', [], ['tool']], ['prompts/list', 'prompts', [], ['prompt']],
    ['resources/list', 'resources', [], ['fixed']],
    ['resources/templates/list', 'resourceTemplates', ['wide'], ['template']],
  ] as const) {
    // Twice, since what is kept for one caller is not for the other.
    for (const [headers, names] of [
      [guest, shown], [host, [...hidden, ...shown]], [guest, shown], [host, [...hidden, ...shown]],
    ] as const) {
      const { result } = await ask(server, method, {}, { headers })
      assert.deepEqual(result[member].map(({ name }: Json) => name), names, method)
    }
  }
})

test('pages of a list leave out what a client may not touch, and a cursor outlives a change', async (t) => {
  const tools = ['a', 'b', 'c', 'd', 'e'].map((name, at) => (
    { name, scopes: at % 2 === 0 ? [] : ['secret'], run: () => name }
  ))
  const server = serveMcp(t, {
    apiKey: [
      { id: 'guest', key: 'key-of-the-guest' },
      { id: 'host', key: 'key-of-the-host', scopes: ['secret'] },
    ],
    tools, mcp: { pageSize: 2, cache: { ttlMs: 1_000, scope: 'public' } },
  })
  const pages = async (headers: Record<string, string>, between = (): void => {}): Promise<string[]> => {
    const seen: string[] = []
    for (let cursor: unknown; ;) {
      const { result } = await ask(server, 'tools/list', cursor === undefined ? {} : { cursor }, { headers })
      assert.equal(result.cacheScope ?? 'private', 'private')
      seen.push(result.tools.map(({ name }: Json) => name).join(''))
      cursor = result.nextCursor
      if (cursor === undefined) return seen
      between()
    }
  }
  assert.deepEqual(await pages(guest), ['ac', 'e'])
  assert.deepEqual(await pages(host), ['ab', 'cd', 'e'])
  assert.deepEqual(await pages(guest, () => { server.catalog.remove('tool', 'c') }), ['ac', 'e'])
})

test('what an author finds not to be there has the code of a resource that is not there', async (t) => {
  const nothing = (): never => { throw new Fault('not-found', 'No such book', { shelf: 3 }) }
  const server = serveMcp(t, {
    resources: [
      { uri: 'test://now', name: 'now', read: nothing },
      { uri: 'test://later', name: 'later', read: async () => nothing() },
      { uri: 'test://bare', name: 'bare', read: () => { throw new Fault('not-found', 'No such book') } },
      {
        uri: 'test://aside', name: 'aside',
        read: () => { throw new Fault('not-found', 'No such book', { uri: 'test://elsewhere' }) },
      },
    ],
    resourceTemplates: [
      { uriTemplate: 'test://book/{id}', name: 'book', read: nothing },
      { uriTemplate: 'test://roll/{id}', name: 'roll', read: async () => nothing() },
    ],
    prompts: [{ name: 'prompt', get: nothing }],
  })
  for (const revision of allRevisions) {
    const session = revision === '2026-07-28' ? undefined : await begin(server, revision)
    const told = async (method: string, params: Json): Promise<Json> => (
      (await answerOf(await send(server, method, params, {}, session))).error
    )
    const uris = ['now', 'later', 'bare', 'aside', 'book/7', 'roll/7'].map((path) => `test://${path}`)
    for (const uri of uris) {
      const { code, data } = await told('resources/read', { uri })
      assert.equal(code, session === undefined ? -32602 : -32002, `${uri} in ${revision}`)
      assert.deepEqual([data.detail, data.uri], ['No such book', uri])
    }
    // What names nothing may be long, and is not sent back whole.
    for (const uri of [`test://book/${'7'.repeat(8_000)}`, `none:${'7'.repeat(8_000)}`]) {
      const { data } = await told('resources/read', { uri })
      assert.ok(JSON.stringify(data).length < 2_200, `${JSON.stringify(data).length} characters`)
      assert.ok(uri.startsWith(String(data.uri).slice(0, -1)))
    }
    // Of anything else that is not there the code is that of bad params.
    assert.equal((await told('prompts/get', { name: 'prompt' })).code, -32602)
  }
})

/** What each member of the params must be, as it is told, and which values are none of it. */
const noText = [[], {}, 7, true, { a: [[{}]] }]
const noObject = [[], 'x', 7, true, [{ a: 1 }]]
const members: readonly (readonly [
  method: string, member: string, params: Json, wrong: readonly unknown[], says: RegExp,
])[] = [
  ['ping', '_meta', {}, noObject, /^params\._meta must be an object$/],
  ['tools/list', '_meta', {}, noObject, /^params\._meta must be an object$/],
  ['tools/list', 'cursor', {}, [[], {}, 7, 'x', ''], /^params\.cursor is not one that this server gave/],
  ['tools/call', 'name', {}, noText, /^params\.name must be a string$/],
  ['tools/call', 'arguments', { name: 'work' }, noObject, /^params\.arguments must be an object$/],
  ['tools/call', 'inputResponses', { name: 'work' }, noObject, /^params\.inputResponses must be an object$/],
  ['tools/call', 'requestState', { name: 'work' }, [...noText, 'x'], /^params\.requestState is not one that/],
  ['tools/call', 'task', { name: 'work' }, [...noObject, { ttl: '1' }],
    /^params\.task must be an object, its/],
  ['resources/read', 'uri', {}, noText, /^params\.uri must be a string$/],
  ['resources/subscribe', 'uri', {}, noText, /^params\.uri must be a string$/],
  ['resources/unsubscribe', 'uri', {}, noText, /^params\.uri must be a string$/],
  ['prompts/get', 'name', {}, noText, /^params\.name must be a string$/],
  ['prompts/get', 'arguments', { name: 'p' }, noObject,
    /^The arguments of the prompt 'p' must be an object$/],
  ['completion/complete', 'ref', { argument: { name: 'a', value: '' } }, [...noObject, {}],
    /^'ref' must be \{ type: 'ref\/prompt', name \} or \{ type: 'ref\/resource', uri \}$/],
  ['completion/complete', 'argument', { ref: { type: 'ref/prompt', name: 'p' } }, [...noObject, {}],
    /^'argument' must be an object with the strings 'name' and 'value'$/],
  ['logging/setLevel', 'level', {}, [...noText, 'loud'], /^params\.level must be a severity, from debug to/],
  ...['get', 'result', 'cancel', 'update'].map((verb) => (
    [`tasks/${verb}`, 'taskId', {}, noText, /^params\.taskId must be a string$/] as const
  )),
  ['subscriptions/listen', 'notifications', {}, noObject, /^params\.notifications must be an object$/],
]

for (const revision of allRevisions) {
  test(`${revision}: params of the wrong type are -32602, with what to send`, async (t) => {
    const server = serveMcp(t, {
      tools: [{ name: 'work', description: 'Works.', task: 'optional', run: () => 'done' }],
      prompts: [{ name: 'p', get: () => 'x', arguments: [{ name: 'a', complete: () => [] }] }],
      resources: [{ uri: 'test://a', name: 'a', read: () => 'x' }],
    })
    const row = revisionByName.get(revision)!
    const session = revision === '2026-07-28' ? undefined : await begin(server, revision)
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
    for (const [method, member, params, wrong, says] of members) {
      const isKnown = member === 'task' ? row.tasks === 'augmentation'
        : member === 'inputResponses' || member === 'requestState' ? row.ask === 'round'
        // Where a request stands alone, what it says of itself is read before.
        : member === '_meta' ? row.opening === 'initialize' : true
      if (!isKnown || !row.methods.has(method)) continue
      for (const value of wrong) {
        const sent = { ...params, [member]: value }
        const { error } = session === undefined ? await ask(server, method, sent, { capabilities })
          : await session.ask(method, sent)
        const what = `${method} ${member} ${JSON.stringify(value)}`
        assert.equal(error?.code, -32602, what)
        assert.match(error.data.detail, says, what)
      }
    }
  })
}

const tokens: readonly (readonly [token: unknown, isOne: boolean])[] = [
  ['a', true], ['', true], ['x'.repeat(256), true], [0, true], [-7, true], [1e15, true],
  ['x'.repeat(257), false], ['\u00fc'.repeat(129), false], [1.5, false], [true, false],
  [{}, false], [[1], false],
]

test('a token of progress is a bounded string or an integer, and comes back with its type', async (t) => {
  const server = serveMcp(t, { tools: [{ name: 'work', description: 'Works.', run(_args, call) {
    call.progress(1)
    return 'done'
  } }] })
  for (const revision of [...legacyRevisions, '2026-07-28'] as const) {
    const session = revision === '2026-07-28' ? undefined : await begin(server, revision)
    for (const [progressToken, isOne] of tokens) {
      const params = { name: 'work', arguments: {}, _meta: { progressToken } }
      const response = await send(server, 'tools/call', params, {}, session)
      const messages = await messagesOf(response)
      const what = `${JSON.stringify(progressToken)} in ${revision}`
      if (isOne) assert.strictEqual(messages[0].params.progressToken, progressToken, what)
      else assert.deepEqual([messages.length, messages[0].error?.code], [1, -32602], what)
    }
  }
})
