import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryStore } from '../../../lib/index.ts'
import { createSeal } from '../../../lib/kernel/wire/seal.ts'
import { request } from '../../fixtures/client.ts'
import { damagedStore, damages } from '../../fixtures/damaged-store.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import {
  callWith, codeFor, exchange, providerFor, refreshing, refusalIn, registered, serving, tokenFor, tokensFor,
  tokensIn,
} from './oauth-login.ts'
import type { TestContext } from 'node:test'
import type { Store, TriportServer } from '../../../lib/index.ts'
import type { Form, Provider } from './oauth-login.ts'

const START = Date.UTC(2026, 0, 1)
const refused = [400, 'invalid_grant']

/** A clock that passes when a test says so. */
function clockOf(t: TestContext): (ms: number) => void {
  t.mock.timers.enable({ apis: ['Date'], now: START })
  return (ms) => t.mock.timers.setTime(START + ms)
}

async function refusedBy(server: TriportServer, form: Form): Promise<readonly unknown[]> {
  return refusalIn(await tokenFor(server, form))
}

test('an exchange whose answer was lost is answered again for ten seconds, and then ends all', async (t) => {
  const at = clockOf(t)
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const form = exchange(clientId, await codeFor(server, clientId))
  const first = await tokensIn(await tokenFor(server, form))
  at(9_999)
  const again = await tokensIn(await tokenFor(server, form))
  for (const { access } of [first, again]) assert.equal((await callWith(server, access))[0], 200)
  at(10_000)
  assert.deepEqual(await refusedBy(server, form), refused)
  for (const { access, refresh } of [first, again]) {
    assert.deepEqual(await callWith(server, access), [401])
    assert.deepEqual(await refusedBy(server, refreshing(clientId, refresh)), refused)
  }
})

test('a refresh whose answer was lost is answered again for ten seconds, and then ends all', async (t) => {
  const at = clockOf(t)
  const provider = await providerFor(t)
  const server = serving(t, provider)
  const clientId = await registered(server)
  const { refresh, access } = await tokensFor(server, clientId)
  const form = refreshing(clientId, refresh)
  const next = await tokensIn(await tokenFor(server, form))
  const asked = provider.asked.length
  at(9_999)
  const again = await tokensIn(await tokenFor(server, form))
  assert.equal(provider.asked.length, asked)
  assert.notEqual(again.refresh, refresh)
  at(10_000)
  assert.equal((await callWith(server, access))[0], 200)
  assert.deepEqual(await refusedBy(server, form), refused)
  for (const token of [access, next.access, again.access]) {
    assert.deepEqual(await callWith(server, token), [401])
  }
  assert.deepEqual(await refusedBy(server, refreshing(clientId, again.refresh)), refused)
})

test('what is two turns old ends all at once, and the log says so', async (t) => {
  const logged: string[] = []
  const provider = await providerFor(t)
  const server = serving(t, provider, {}, { log: (_level: string, message: string) => logged.push(message) })
  const clientId = await registered(server)
  const code = exchange(clientId, await codeFor(server, clientId))
  const one = await tokensIn(await tokenFor(server, code))
  const two = await tokensIn(await tokenFor(server, refreshing(clientId, one.refresh)))
  assert.deepEqual(logged, [])
  assert.deepEqual(await refusedBy(server, code), refused)
  assert.deepEqual(await callWith(server, two.access), [401])
  assert.match(logged.join(), /used a second time/)
})

test('what has ended is refused from the answer on, however slow the store is', async (t) => {
  const memory = memoryStore()
  const remove: Store['remove'] = async (...entry) => {
    await sleep(50)
    return memory.remove(...entry)
  }
  const provider = await providerFor(t)
  const server = serving(t, provider, {}, { store: { ...memory, remove } })
  const clientId = await registered(server)
  const code = exchange(clientId, await codeFor(server, clientId))
  const one = await tokensIn(await tokenFor(server, code))
  const two = await tokensIn(await tokenFor(server, refreshing(clientId, one.refresh)))
  assert.deepEqual(await refusedBy(server, code), refused)
  assert.deepEqual(await callWith(server, two.access), [401])
  const other = await tokensFor(server, clientId)
  provider.answer.body = { access_token: 'nobody' }
  assert.deepEqual(await refusedBy(server, refreshing(clientId, other.refresh)), refused)
  assert.deepEqual(await callWith(server, other.access), [401])
})

test('a second use in one process ends what other processes have given', async (t) => {
  const at = clockOf(t)
  const provider = await providerFor(t)
  const store = memoryStore({ isShared: true })
  const options = { store, secret: 'the secret of all servers' }
  const [one, other] = [serving(t, provider, {}, options), serving(t, provider, {}, options)]
  const clientId = await registered(one)
  const code = exchange(clientId, await codeFor(one, clientId))
  const first = await tokensIn(await tokenFor(other, code))
  const second = await tokensIn(await tokenFor(one, refreshing(clientId, first.refresh)))
  for (const { access } of [first, second]) assert.equal((await callWith(one, access))[0], 200)
  at(10_000)
  assert.deepEqual(await refusedBy(other, refreshing(clientId, first.refresh)), refused)
  for (const { access } of [first, second]) assert.deepEqual(await callWith(one, access), [401])
  assert.deepEqual(await refusedBy(one, refreshing(clientId, second.refresh)), refused)
})

test('of two exchanges that meet in the store one gets tokens, and the other nothing', async (t) => {
  const provider = await providerFor(t)
  const memory = memoryStore({ isShared: true })
  let meeting = Infinity
  const write: (() => void)[] = []
  // Whoever writes a login waits until the other has read the same.
  const store: Store = {
    ...memory,
    async write(key, ...kept) {
      if (key.collection.endsWith('oauth') && write.length < meeting) {
        await new Promise<void>((resolve) => {
          write.push(resolve)
          if (write.length === meeting) for (const go of write) go()
        })
      }
      return memory.write(key, ...kept)
    },
  }
  const options = { store, secret: 'the secret of all servers' }
  const servers = [serving(t, provider, {}, options), serving(t, provider, {}, options)] as const
  meeting = 0
  const clientId = await registered(servers[0])
  const code = exchange(clientId, await codeFor(servers[0], clientId))
  meeting = 2
  const answers = await Promise.all(servers.map((server) => tokenFor(server, code)))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 400])
  const { access } = await tokensIn(answers.find(({ status }) => status === 200)!)
  for (const server of servers) assert.equal((await callWith(server, access))[0], 200)
})

test('a token is good in a process that has answered nothing yet', async (t) => {
  const provider = await providerFor(t)
  const options = { store: memoryStore({ isShared: true }), secret: 'the secret of all servers' }
  const one = serving(t, provider, {}, options)
  const { access } = await tokensFor(one, await registered(one))
  assert.equal((await callWith(serving(t, provider, {}, options), access))[0], 200)
})

test('what another client sends, or one without its proof, uses up and ends nothing', async (t) => {
  const at = clockOf(t)
  const server = serving(t, await providerFor(t))
  const [clientId, otherId] = [await registered(server), await registered(server, 'https://b.example/cb')]
  const code = await codeFor(server, clientId)
  const wrong: readonly Form[] = [
    { client_id: otherId }, { code_verifier: 'b'.repeat(43) }, { redirect_uri: 'https://b.example/cb' },
  ]
  const tryAll = async (): Promise<void> => {
    for (const more of wrong) {
      assert.deepEqual(await refusedBy(server, exchange(clientId, code, more)), refused, JSON.stringify(more))
    }
  }
  await tryAll()
  const { access, refresh } = await tokensIn(await tokenFor(server, exchange(clientId, code)))
  at(20_000)
  await tryAll()
  assert.deepEqual(await refusedBy(server, refreshing(otherId, refresh)), refused)
  assert.equal((await callWith(server, access))[0], 200)
  const next = await tokensIn(await tokenFor(server, refreshing(clientId, refresh)))
  at(40_000)
  assert.deepEqual(await refusedBy(server, refreshing(otherId, refresh)), refused)
  assert.equal((await callWith(server, next.access))[0], 200)
})

test('a token is none of another kind', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const code = await codeFor(server, clientId)
  assert.deepEqual(await refusedBy(server, refreshing(clientId, code)), refused)
  const { access, refresh } = await tokensIn(await tokenFor(server, exchange(clientId, code)))
  assert.deepEqual(await refusedBy(server, exchange(clientId, refresh)), refused)
  assert.deepEqual(await refusedBy(server, refreshing(clientId, access)), refused)
  for (const token of [refresh, code, clientId, 'x']) assert.deepEqual(await callWith(server, token), [401])
})

test('a login of which nothing can be read is none, and others stay', async (t) => {
  const store = damagedStore()
  const lines: unknown[] = []
  const secret = 'the secret of all servers'
  const server = serving(t, await providerFor(t), {}, {
    store, secret, log: (level, message, fields) => { lines.push([level, message.slice(0, 27), fields]) },
  })
  const clientId = await registered(server)
  const other = await codeFor(server, clientId)
  const seal = createSeal(secret, 'Shop <1>')
  const resealed = (more: object) => (value: string, key: string): string => {
    const family = seal.open('oauth family', value, key)
    assert.ok(family)
    return seal.seal('oauth family', { ...family, ...more }, Infinity, key)
  }
  const { 'of members of other types': _none, ...plain } = damages
  for (const change of [
    ...Object.values(plain), resealed({ grant: {} }), resealed({ user: {} }), resealed({ refreshToken: 5 }),
    resealed({ turn: 'a' }), resealed({ until: null }),
  ]) {
    const before = store.keys('oauth')
    const code = await codeFor(server, clientId)
    for (const key of store.keys('oauth').filter((one) => !before.includes(one))) {
      // Beside it is kept that the login is over.
      store.damage('oauth', (value) => value === '1' ? value : change(value, key), key)
    }
    assert.deepEqual(await refusedBy(server, exchange(clientId, code)), refused)
  }
  assert.equal((await tokenFor(server, exchange(clientId, other))).status, 200)
  assert.equal(lines.length, 1)
  assert.match(JSON.stringify(lines), /A kept value cannot be read",\{"collection":"oauth","version":\d+\}/)
})

test('a code is good for a minute', async (t) => {
  const at = clockOf(t)
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const [one, two] = [await codeFor(server, clientId), await codeFor(server, clientId)]
  at(59_999)
  await tokensIn(await tokenFor(server, exchange(clientId, one)))
  at(60_000)
  assert.deepEqual(await refusedBy(server, exchange(clientId, two)), refused)
})

test('a refresh token is good for its time, and so is the next one', async (t) => {
  const at = clockOf(t)
  const server = serving(t, await providerFor(t), { refreshSeconds: 100, tokenSeconds: 60 })
  const clientId = await registered(server)
  const { refresh } = await tokensFor(server, clientId)
  at(99_999)
  const next = await tokensIn(await tokenFor(server, refreshing(clientId, refresh)))
  at(199_998)
  const last = await tokensIn(await tokenFor(server, refreshing(clientId, next.refresh)))
  at(299_998)
  assert.deepEqual(await refusedBy(server, refreshing(clientId, last.refresh)), refused)
})

test('a refresh token that is good for less time than an access token ends before it', async (t) => {
  const at = clockOf(t)
  const server = serving(t, await providerFor(t), { refreshSeconds: 60, tokenSeconds: 100 })
  const clientId = await registered(server)
  const { refresh, access } = await tokensFor(server, clientId)
  at(60_000)
  assert.deepEqual(await refusedBy(server, refreshing(clientId, refresh)), refused)
  assert.equal((await callWith(server, access))[0], 200)
  at(99_999)
  assert.equal((await callWith(server, access))[0], 200)
  at(100_000)
  assert.deepEqual(await callWith(server, access), [401])
})

test('refresh tokens are good for 30 days, and access tokens for an hour, or as their user is', async (t) => {
  const at = clockOf(t)
  let expiresAt: number | undefined
  const server = serving(t, await providerFor(t), {
    identify: () => ({ subject: 'ann', scopes: ['read'], expiresAt }),
  })
  const clientId = await registered(server)
  const { refresh, access } = await tokensFor(server, clientId)
  expiresAt = START + 10_000
  const short = await tokenFor(server, exchange(clientId, await codeFor(server, clientId)))
  const { access: shortLived } = await tokensIn(short.clone())
  assert.equal((await short.json() as { expires_in: number }).expires_in, 10)
  at(9_999)
  assert.equal((await callWith(server, shortLived))[0], 200)
  at(10_000)
  assert.deepEqual(await callWith(server, shortLived), [401])
  at(3_599_999)
  assert.equal((await callWith(server, access))[0], 200)
  at(3_600_000)
  assert.deepEqual(await callWith(server, access), [401])
  expiresAt = undefined
  at(30 * 86_400_000 - 1)
  await tokensIn(await tokenFor(server, refreshing(clientId, refresh)))
})

test('without a refresh token of the provider there is none', async (t) => {
  const at = clockOf(t)
  const provider = await providerFor(t)
  provider.answer.body = { access_token: 'at-1' }
  const memory = memoryStore()
  const { mock: writes } = t.mock.method(memory, 'write')
  const server = serving(t, provider, { refreshSeconds: 86_400 }, { store: memory })
  const clientId = await registered(server)
  const { refresh, access } = await tokensFor(server, clientId)
  assert.equal(refresh, 'undefined')
  // Its family is kept for as long as its token is good, and no longer.
  assert.equal(writes.calls.at(-1)?.arguments[2], 3_600_000)
  at(3_599_999)
  assert.equal((await callWith(server, access))[0], 200)
})

test('who is not let in any more, or refused by the provider, loses all tokens', async (t) => {
  const answers: readonly Provider['answer'][] = [
    { status: 200, body: { access_token: 'nobody' } }, { status: 400, body: { error: 'invalid_grant' } },
  ]
  for (const answer of answers) {
    const provider = await providerFor(t)
    const server = serving(t, provider)
    const clientId = await registered(server)
    const { refresh, access } = await tokensFor(server, clientId)
    const before = provider.answer
    provider.answer = answer
    assert.deepEqual(await refusedBy(server, refreshing(clientId, refresh)), refused)
    assert.deepEqual(await callWith(server, access), [401])
    provider.answer = before
    assert.deepEqual(await refusedBy(server, refreshing(clientId, refresh)), refused)
  }
})

test('a refresh that failed uses up nothing, and what the provider has rotated is kept', async (t) => {
  const provider = await providerFor(t)
  let isBroken = false
  const server = serving(t, provider, {
    identify({ accessToken }) {
      if (isBroken) throw new Error('away')
      return { subject: accessToken, scopes: ['read'] }
    },
  })
  const clientId = await registered(server)
  const { refresh, access } = await tokensFor(server, clientId)
  isBroken = true
  provider.answer.body = { access_token: 'at-2', refresh_token: 'rt-2' }
  assert.deepEqual(await refusedBy(server, refreshing(clientId, refresh)), [503, 'temporarily_unavailable'])
  assert.equal((await callWith(server, access))[0], 200)
  isBroken = false
  const next = await tokensIn(await tokenFor(server, refreshing(clientId, refresh)))
  assert.equal(provider.asked.at(-1)?.get('refresh_token'), 'rt-2')
  assert.match(String((await callWith(server, next.access))[1]), /:at-2 read/)
  // A provider that does not rotate sends none.
  provider.answer.body = { access_token: 'at-3' }
  const last = await tokensIn(await tokenFor(server, refreshing(clientId, next.refresh)))
  await tokenFor(server, refreshing(clientId, last.refresh))
  assert.equal(provider.asked.at(-1)?.get('refresh_token'), 'rt-2')
})

test('two refreshes at the same time are one turn, and the provider is asked once', async (t) => {
  const provider = await providerFor(t)
  const server = serving(t, provider)
  const clientId = await registered(server)
  const { refresh } = await tokensFor(server, clientId)
  const asked = provider.asked.length
  const release = provider.hold()
  const both = [1, 2].map(() => tokenFor(server, refreshing(clientId, refresh)))
  while (provider.asked.length === asked) await new Promise(setImmediate)
  release()
  const [one, two] = await Promise.all((await Promise.all(both)).map(tokensIn))
  assert.equal(provider.asked.length, asked + 1)
  for (const { access } of [one!, two!]) assert.equal((await callWith(server, access))[0], 200)
  await tokensIn(await tokenFor(server, refreshing(clientId, two!.refresh)))
})

test('a refresh that died gives way in time, and who has waited so long is told to try again', async (t) => {
  const at = clockOf(t)
  const provider = await providerFor(t)
  const memory = memoryStore()
  let reads = 0
  const read: typeof memory.read = (key) => {
    reads++
    return memory.read(key)
  }
  const server = serving(t, provider, {}, { store: { ...memory, read } })
  const clientId = await registered(server)
  const { refresh } = await tokensFor(server, clientId)
  const release = provider.hold()
  const asked = provider.asked.length
  const asking = async (count: number): Promise<void> => {
    while (provider.asked.length < asked + count) await new Promise(setImmediate)
  }
  const looked = async (): Promise<void> => {
    const before = reads
    while (reads === before) await new Promise(setImmediate)
  }
  const dead = tokenFor(server, refreshing(clientId, refresh))
  await asking(1)
  const waiting = tokenFor(server, refreshing(clientId, refresh))
  await looked()
  at(24_999)
  await looked()
  await looked()
  assert.equal(provider.asked.length, asked + 1)
  at(25_000)
  const next = tokenFor(server, refreshing(clientId, refresh))
  await asking(2)
  assert.deepEqual(await refusalIn(await waiting), [503, 'temporarily_unavailable'])
  release()
  const answers = await Promise.all([dead, next])
  // One of them gets the turn.
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 400])
})

test('what ends while it is refreshed stays ended', async (t) => {
  const provider = await providerFor(t)
  const server = serving(t, provider)
  const clientId = await registered(server)
  const code = exchange(clientId, await codeFor(server, clientId))
  const one = await tokensIn(await tokenFor(server, code))
  const two = await tokensIn(await tokenFor(server, refreshing(clientId, one.refresh)))
  const release = provider.hold()
  const asked = provider.asked.length
  const running = tokenFor(server, refreshing(clientId, two.refresh))
  while (provider.asked.length === asked) await new Promise(setImmediate)
  assert.deepEqual(await refusedBy(server, code), refused)
  release()
  assert.deepEqual(await refusalIn(await running), refused)
  assert.deepEqual(await callWith(server, two.access), [401])
})

test('a refreshed token has the scopes that it is asked for, and no more than were granted', async (t) => {
  let scopes = ['read', 'write', 'read']
  const server = serving(t, await providerFor(t), { identify: () => ({ subject: 'ann', scopes }) })
  const clientId = await registered(server)
  const first = await tokensFor(server, clientId, { scope: 'read  write read' })
  assert.equal(first.scope, 'read write')
  const wide = refreshing(clientId, first.refresh, { scope: 'read admin' })
  assert.deepEqual(await refusedBy(server, wide), [400, 'invalid_scope'])
  const less = refreshing(clientId, first.refresh, { scope: 'write' })
  const narrow = await tokensIn(await tokenFor(server, less))
  assert.equal(narrow.scope, 'write')
  assert.match(String((await callWith(server, narrow.access))[1]), /:ann write"/)
  const all = await tokensIn(await tokenFor(server, refreshing(clientId, narrow.refresh)))
  assert.equal(all.scope, 'read write')
  // What the user has lost is lost for what is out too.
  scopes = ['read']
  const lost = refreshing(clientId, all.refresh, { scope: 'write' })
  assert.deepEqual(await refusedBy(server, lost), [400, 'invalid_scope'])
  assert.match(String((await callWith(server, all.access))[1]), /:ann read"/)
  const rest = await tokensIn(await tokenFor(server, refreshing(clientId, all.refresh)))
  assert.equal(rest.scope, 'read')
  // No token has nothing of what was asked for.
  scopes = ['other']
  assert.deepEqual(await refusedBy(server, refreshing(clientId, rest.refresh)), refused)
  assert.deepEqual(await callWith(server, rest.access), [401])
})

test('no token has an empty scope', async (t) => {
  let user: object = { subject: 'ann', scope: 'read write' }
  const server = serving(t, await providerFor(t), { identify: () => user as { subject: string } })
  const clientId = await registered(server)
  assert.equal((await tokensFor(server, clientId, { scope: 'write other' })).scope, 'write')
  assert.equal((await tokensFor(server, clientId, { scope: '' })).scope, 'read write')
  assert.match(await codeFor(server, clientId, { scope: 'other' }), /error=invalid_scope/)
  user = { subject: 'ann' }
  assert.match(await codeFor(server, clientId), /error=invalid_scope/)
  const bare = await tokensFor(server, clientId, { scope: '' })
  assert.equal(bare.scope, undefined)
  user = { subject: 'ann', scopes: ['read'] }
  const { scope } = await tokensIn(await tokenFor(server, refreshing(clientId, bare.refresh)))
  assert.equal(scope, 'read')
  // What the user has won is not won for what is out.
  assert.match(String((await callWith(server, bare.access))[1]), /:ann "/)
})

test('where the store cannot be asked a token is neither good nor wrong', async (t) => {
  const memory = memoryStore()
  let isAway = false
  const read: Store['read'] = async (key) => {
    if (isAway) throw new Error('away')
    return memory.read(key)
  }
  const server = serving(t, await providerFor(t), {}, { store: { ...memory, read } })
  const clientId = await registered(server)
  const { access, refresh } = await tokensFor(server, clientId)
  isAway = true
  const response = await server.fetch(request('/tools/who', {}, { authorization: `Bearer ${access}` }))
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1'])
  assert.deepEqual(await refusedBy(server, refreshing(clientId, refresh)), [503, 'temporarily_unavailable'])
  isAway = false
  assert.equal((await callWith(server, access))[0], 200)
})

test('a family is one entry, which says nothing to its readers, and its tokens are short', async (t) => {
  const store = sharedStore()
  const claims = { about: 'x'.repeat(16_000) }
  const provider = await providerFor(t)
  provider.answer.body = { access_token: 'at-1', refresh_token: 'refresh-of-the-provider' }
  const server = serving(t, provider, {
    identify: () => ({ subject: 'ann-of-the-provider', scopes: ['read'], claims }),
  }, { store })
  const clientId = await registered(server)
  let { access, refresh } = await tokensFor(server, clientId)
  for (let turn = 0; turn < 3; turn++) {
    ({ access, refresh } = await tokensIn(await tokenFor(server, refreshing(clientId, refresh))))
  }
  assert.equal((await callWith(server, access))[0], 200)
  assert.ok(access.length < 500 && refresh.length < 500, `${access.length}, ${refresh.length}`)
  const kept = [...store.entries].filter(([place]) => place.includes('oauth'))
  const families = kept.filter(([place]) => !place.includes('logins'))
  assert.deepEqual([kept.length, families.length], [2, 1])
  assert.doesNotMatch(JSON.stringify(kept), /of-the-provider|xxxxxxxx/)
})
