import assert from 'node:assert/strict'
import test from 'node:test'
import { echo, listen, memoryStore, request, serve } from '../../fixtures/kernel.ts'
import { serviceOf } from '../../fixtures/house.ts'

const auth = {
  resource: 'https://a.example/mcp', authorizationServers: ['https://b.example'], verify: () => null,
}

/** What stands beside something to serve. */
const wrong: readonly (readonly [options: object, sentence: RegExp])[] = [
  [{ name: '' }, /^name is ""; write a string that is not empty$/],
  [{ name: 7 }, /^name is 7; write a string/],
  [{ version: 1 }, /^version is 1; write a string/],
  [{ description: {} }, /^description is an object; write a string$/],
  [{ apiKey: 1234 }, /^apiKey is a number; write a string, a list of strings or of \{ id, key \}/],
  [{ apiKey: null }, /^apiKey is null; write a string/],
  [{ apiKey: { id: 'a', key: 'secret' } }, /^apiKey is an object; write/],
  [{ apiKey: [undefined] }, /^The API key 1 is undefined; write a string or \{ id: 'ops', key \}/],
  [{ apiKey: ['k', 1234] }, /^The API key 2 is a number; write a string/],
  [{ apiKey: [null] }, /^The API key 1 is null; write/],
  [{ apiKey: [''] }, /^The API key 1 is empty/],
  [{ apiKey: [] }, /^apiKey is an empty list/],
  [{ apiKey: [{ id: 'a', key: 'k', scope: ['x'] }] },
    /^The API key 1 has no option 'scope'; did you mean 'scopes'\?$/],
  [{ apiKey: [{ id: 'a', key: 'k', scopes: 'x' }] }, /^The API key 1 has scopes that are none; write/],
  [{ around: [] }, /^around is an array; write async \(called, next\) => await next\(\)$/],
  [{ insecure: 'false' }, /^insecure is "false"; write true or false$/],
  [{ exposeErrors: 'false' }, /^exposeErrors is "false"; write true or false$/],
  [{ cors: true }, /^cors is true; write '\*', or a list of strings, as in \['https:/],
  [{ allowedHosts: 'a.example' }, /^allowedHosts is "a\.example"; write a list/],
  [{ allowedOrigins: [7] }, /^allowedOrigins is an array; write a list of strings, as in \['https:/],
  [{ cors: [7] }, /^cors is an array; write '\*', or a list of strings, as in \['https:/],
  [{ publicUrl: 'https://ann:secret@a.example' },
    /^publicUrl has a name or a password, which every client would see; leave them out$/],
  [{ onCall: {} }, /^onCall is an object; write a function \(info\) => \{\}$/],
  [{ log: true }, /^log is no logger; write \(level, message, fields\) => \{\}, an object with debug/],
  [{ log: { warn() {}, error() {} } }, /^log is no logger; write/],
  [{ auth: 'https://a.example' }, /^auth is "https:\/\/a\.example"; write \{ resource,/],
  [{ auth: { ...auth, scope: [] } }, /^auth has no option 'scope'; did you mean 'scopes'\?$/],
  [{ auth: { ...auth, verify: undefined } }, /^auth\.verify is missing; write \(token, request\) =>/],
  [{ auth: { ...auth, authorizationServers: 'x' } }, /^auth\.authorizationServers has no issuer, or/],
  [{ rateLimit: 60 }, /^rateLimit is 60; write \{ perMinute: 600 \}$/],
  [{ rateLimit: { perSecond: 1 } }, /^rateLimit has no option 'perSecond'/],
  [{ deployment: '' }, /^deployment is ""; write a string that is not empty$/],
  [{ store: {} }, /^store is an object; give what memoryStore\(\) returns/],
  [{ secret: 7 }, /^A secret of type number cannot seal anything/],
  [{ maxCalls: '64' }, /^maxCalls is "64"; write it as a number: 64$/],
  [{ maxBodyBytes: '4mb' }, /^maxBodyBytes is "4mb"; write a whole number above zero/],
  [{ trustProxy: [1] }, /^trustProxy is an array; write true, or how many proxies there are$/],
  [{ trustProxy: null }, /^trustProxy is null; write true, or how many proxies there are$/],
  [{ trustProxy: '1' }, /^trustProxy is "1"; write true, or how many proxies there are$/],
  [{ log: null }, /^log is no logger; write \(level, message, fields\) => \{\}, an object/],
  [{ secret: null }, /^A secret of type object cannot seal anything/],
  [{ cors: 'https://*.example.com' },
    /^'https:\/\/\*\.example\.com' is no origin; write each host by its whole name/],
  [{ allowedOrigins: ['http://*'] }, /^'http:\/\/\*' is no origin; write each host by its whole name/],
]

test('an option of the wrong type is a sentence that says what to write instead', (t) => {
  for (const [options, sentence] of wrong) {
    assert.throws(() => serve(t, { agents: [echo], ...options }), (error: Error) => {
      assert.match(error.message, sentence)
      return error instanceof TypeError || error instanceof RangeError
    })
  }
})

test('a store that others share needs a secret that they share too', (t) => {
  const store = memoryStore({ isShared: true })
  assert.throws(() => serve(t, { agents: [() => ''], store, secret: undefined }), {
    name: 'TypeError', message: /secret/,
  })
  assert.ok(serve(t, { agents: [() => ''], store, secret: 'sixteen characters' }))
})

test('no sentence shows a key', (t) => {
  for (const apiKey of [1234567, [1234567], [{ id: 'a', key: 'k1234567', scope: [] }], { key: 'k1234567' }]) {
    assert.throws(() => serve(t, { agents: [echo], apiKey: apiKey as never }), ({ message }: Error) => {
      return !message.includes('1234567')
    })
  }
})

test('only a request can be fetched', async (t) => {
  const server = serve(t, { agents: [echo] })
  const rows = [['/health', '"/health"'], [undefined, 'undefined'], [{}, 'an object']] as const
  for (const [given, shown] of rows) {
    await assert.rejects(server.fetch(given as never), {
      name: 'TypeError', message: `server.fetch takes a Request, not ${shown}; write server.fetch(`
        + `new Request('http://localhost/health')); with Hono, pass c.req.raw; with h3, event.req`,
    })
  }
  assert.equal((await server.fetch(request('/health'))).status, 200)
})

test('a console takes the log, each level by its own method', async (t) => {
  const lines: unknown[][] = []
  const logger = Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => {
    return [level, (...said: unknown[]) => lines.push([level, ...said])]
  })) as unknown as Console
  const { service } = serviceOf({ log: logger })
  const cause = new Error('no ink')
  service.log('warning', 'Two\nlines', { request: 'r-1', gone: undefined })
  service.log('error', 'It broke', { cause })
  service.log('debug', 'Hm')
  service.log('info', 'Well')
  assert.deepEqual(lines, [
    ['warn', 'Two\\nlines request=r-1'], ['error', 'It broke', cause], ['debug', 'Hm'], ['info', 'Well'],
  ])
  const { url } = await listen(t, { agents: [() => { throw cause }], log: logger })
  const answer = await fetch(url, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"hi"}',
  })
  assert.equal(answer.status, 500)
  assert.deepEqual(lines.at(-1)?.[0], 'error')
  assert.equal(lines.at(-1)?.at(-1), cause)
})
