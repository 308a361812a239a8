import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { jsonOf, request } from '../../fixtures/client.ts'
import { sharedStore } from '../../fixtures/shared-store.ts'
import {
  authorizePath, Browser, callbackFor, callWith, codeFor, exchange, providerFor, refreshing,
  refusalIn, registered, serving, tokenFor, tokensIn,
} from './oauth-login.ts'
import type { Form } from './oauth-login.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }

function basic(text: string): Form {
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` }
}

test('each refusal of a token has its code, is not stored, and uses up nothing', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const good = exchange(clientId, await codeFor(server, clientId))
  const refuses = async (
    more: Form, expected: readonly unknown[], headers: Form = {}, twice: string = '', from = good,
  ): Promise<void> => {
    const body = String(new URLSearchParams({ ...from, ...more })) + twice
    const reply = await tokenFor(server, body, headers)
    const what = JSON.stringify([more, headers, twice])
    assert.equal(reply.headers.get('cache-control'), 'no-store', what)
    const isUnnamed = reply.status !== 401
    assert.equal(reply.headers.get('www-authenticate'), isUnnamed ? null : 'Basic realm="oauth"', what)
    assert.equal(reply.headers.get('content-type'), 'application/json')
    const { error, error_description: why } = await jsonOf(reply)
    assert.match(String(why), /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/)
    assert.deepEqual([reply.status, error], expected, what)
  }
  const shared = async (from: Form): Promise<void> => {
    for (const name of [...Object.keys(from), 'resource', 'scope', 'x']) {
      await refuses({ [name]: from[name] ?? 'a' }, [400, 'invalid_request'], {}, `&${name}=b`, from)
      await refuses({ [name]: from[name] ?? '' }, [400, 'invalid_request'], {}, `&${name}=`, from)
    }
    await refuses({ client_id: '' }, [400, 'invalid_client'], {}, '', from)
    await refuses({ client_id: 'x' }, [400, 'invalid_client'], {}, '', from)
    await refuses({ client_secret: 'x' }, [400, 'invalid_client'], {}, '', from)
    await refuses({ client_secret: 'x' }, [401, 'invalid_client'], basic(`${clientId}:`), '', from)
    await refuses({ grant_type: '' }, [400, 'invalid_request'], {}, '', from)
    await refuses({ grant_type: 'password' }, [400, 'unsupported_grant_type'], {}, '', from)
    await refuses({ resource: 'https://other.example' }, [400, 'invalid_target'], {}, '', from)
    await refuses({ resource: 'none' }, [400, 'invalid_target'], {}, '', from)
    await refuses({ scope: 'other' }, [400, 'invalid_scope'], {}, '', from)
    for (const value of ['Bearer x', 'Basic', 'Basic !', 'Digest a=b']) {
      await refuses({ client_id: '' }, [401, 'invalid_client'], { authorization: value }, '', from)
    }
    for (const text of ['', ':', clientId, `${clientId}:secret`, 'x:', `:${clientId}`, '%zz:']) {
      await refuses({ client_id: '' }, [401, 'invalid_client'], basic(text), '', from)
    }
    await refuses({}, [401, 'invalid_client'], basic(`${clientId}:secret`), '', from)
    await refuses({}, [400, 'invalid_request'], basic('x:'), '', from)
  }
  await shared(good)
  for (const name of ['code', 'code_verifier']) await refuses({ [name]: '' }, [400, 'invalid_request'])
  await refuses({ code: 'x' }, [400, 'invalid_grant'])
  const { access, refresh } = await tokensIn(await tokenFor(server, good))
  const again = refreshing(clientId, refresh)
  await shared(again)
  await refuses({ refresh_token: '' }, [400, 'invalid_request'], {}, '', again)
  await refuses({ refresh_token: 'x' }, [400, 'invalid_grant'], {}, '', again)
  assert.equal((await callWith(server, access))[0], 200)
  await tokensIn(await tokenFor(server, again))
})

test('a client may name itself by HTTP Basic, encoded as in a form', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const encoded = [...clientId].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')
  for (const [id, named] of [[clientId, ''], [encoded, ''], [encoded, clientId]] as const) {
    const body = exchange(clientId, await codeFor(server, clientId), { client_id: named })
    await tokensIn(await tokenFor(server, body, basic(`${id}:`)))
    const authorization = basic(`${id}:`)['authorization']?.replace('Basic ', 'basic  ') ?? ''
    const other = exchange(clientId, await codeFor(server, clientId), { client_id: named })
    await tokensIn(await tokenFor(server, other, { authorization }))
  }
  // A space is a plus there; no id has one.
  const plus = exchange(clientId, 'x', { client_id: 'a b' })
  assert.deepEqual(await refusalIn(await tokenFor(server, plus, basic('a+b:'))), [401, 'invalid_client'])
})

test('the redirect address may be left out with a code, and the resource be spelled otherwise', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const spellings: readonly Form[] = [{ redirect_uri: '' }, { resource: 'HTTPS://triport.test/mcp/' }]
  for (const more of spellings) {
    await tokensIn(await tokenFor(server, exchange(clientId, await codeFor(server, clientId), more)))
  }
})

test('a proof that is too short, too long or of other characters is none', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const wrong = ['a'.repeat(42), 'a'.repeat(129), `${'a'.repeat(42)}/`]
  const good = ['a'.repeat(43), 'a'.repeat(128), `${'a'.repeat(40)}-._~`]
  for (const code_verifier of [...wrong, ...good]) {
    const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
    const code = await codeFor(server, clientId, { code_challenge })
    const { status } = await tokenFor(server, exchange(clientId, code, { code_verifier }))
    assert.equal(status, good.includes(code_verifier) ? 200 : 400, code_verifier)
  }
})

test('what a path does not answer is refused by a code of OAuth, without a key', async (t) => {
  const server = serving(t, await providerFor(t), {}, { maxBodyBytes: 1_000 })
  const posted = ['/oauth/token', '/oauth/register', '/oauth/consent']
  const got = ['/oauth/authorize', '/oauth/callback', '/.well-known/oauth-authorization-server']
  for (const [paths, allow, methods] of [
    [posted, 'POST', ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']],
    [got, 'GET, HEAD', ['POST', 'PUT', 'DELETE', 'PATCH']],
  ] as const) {
    for (const path of paths) {
      for (const method of methods) {
        const reply = await server.fetch(request(path, undefined, {}, method))
        assert.deepEqual([reply.status, reply.headers.get('allow')], [405, allow], `${method} ${path}`)
        assert.equal(reply.headers.get('cache-control'), 'no-store')
        if (method !== 'HEAD') assert.equal((await jsonOf(reply))['error'], 'invalid_request')
      }
    }
  }
  for (const path of posted) {
    const type = path === '/oauth/register' ? 'application/json' : form['content-type']
    const wrong: readonly (readonly [headers: Form, body: string | Uint8Array, status: number])[] = [
      [{ 'content-type': 'text/plain' }, 'a', 415], [{ 'content-type': `${type}; charset=latin1` }, 'a', 415],
      [{ 'content-type': type, 'content-encoding': 'gzip' }, 'a', 415],
      [{ 'content-type': type }, 'a'.repeat(1_001), 413],
      [{ 'content-type': type }, new Uint8Array([0xff]), 400],
    ]
    for (const [headers, body, status] of wrong) {
      const reply = await server.fetch(request(path, body, headers))
      assert.deepEqual(await refusalIn(reply), [status, 'invalid_request'], `${path} ${status}`)
      assert.equal(reply.headers.get('cache-control'), 'no-store')
    }
  }
})

test('a form of more than 64 KiB is too large, and one of them is none too many', async (t) => {
  const server = serving(t, await providerFor(t))
  const clientId = await registered(server)
  const body = String(new URLSearchParams(exchange(clientId, await codeFor(server, clientId), { x: '' })))
  const filler = 65_536 - body.length
  const large = await tokenFor(server, body.replace('x=', `x=${'a'.repeat(filler + 1)}`))
  assert.deepEqual(await refusalIn(large), [413, 'invalid_request'])
  await tokensIn(await tokenFor(server, body.replace('x=', `x=${'a'.repeat(filler)}`)))
})

test('every request that works or asks counts against the rate, and is refused before it does', async (t) => {
  const provider = await providerFor(t)
  const rateLimit = { perMinute: 1, burst: 7 }
  const server = serving(t, provider, {}, { rateLimit })
  const clientId = await registered(server)
  const browser = new Browser(server)
  const callback = `${await callbackFor(browser, clientId)}&code=pc`
  // The registration, the page and the decision are three.
  for (let count = 0; count < 4; count++) {
    assert.equal((await browser.go(authorizePath(clientId))).status, 200)
  }
  const limited: readonly (readonly [path: string, form?: Form])[] = [
    [callback], [authorizePath(clientId)], ['/oauth/consent', { decision: 'allow' }],
    ['/oauth/token', exchange(clientId, 'x')],
  ]
  for (const [path, body] of limited) {
    const reply = await browser.go(path, body)
    assert.ok(Number(reply.headers.get('retry-after')) > 0)
    assert.match(reply.headers.get('cache-control') ?? '', /no-store/)
    assert.deepEqual(await refusalIn(reply), [429, 'temporarily_unavailable'], path)
  }
  assert.deepEqual(provider.asked, [])
})

test('a rate that processes share counts logins too, and lets them go on', async (t) => {
  const options = { rateLimit: { perMinute: 1, burst: 8 }, store: sharedStore() }
  const server = serving(t, await providerFor(t), {}, options)
  const clientId = await registered(server)
  const browser = new Browser(server)
  const callback = `${await callbackFor(browser, clientId)}&code=pc`
  assert.equal((await browser.go(callback)).status, 303)
  const statuses = new Set<number>()
  for (let count = 0; count < 20; count++) statuses.add((await browser.go(authorizePath(clientId))).status)
  assert.deepEqual([...statuses], [200, 429])
})
