import assert from 'node:assert/strict'
import test from 'node:test'
import { createGuard, isLoopback } from '../../../lib/kernel/http/access/guard.ts'
import { readHead } from '../../../lib/kernel/http/message/headers.ts'
import { heldBytes } from '../../fixtures/heap.ts'
import type { Bind, GuardOptions } from '../../../lib/kernel/http/access/guard.ts'
import type { KnownHeaders } from '../../../lib/kernel/http/message/headers.ts'


function head(host?: string, origin?: string): KnownHeaders {
  return readHead([
    ...host === undefined ? [] : ['host', host], ...origin === undefined ? [] : ['origin', origin],
  ])
}

const hosts: readonly (readonly [
  options: Partial<GuardOptions>, bind: Bind, host: string | undefined, isFine: boolean,
])[] = [
  // A loopback address is reached by the names of a loopback address.
  [{}, 'loopback', 'localhost', true],
  [{}, 'loopback', 'LocalHost:8000', true],
  [{}, 'loopback', 'localhost.', true],
  [{}, 'loopback', '127.0.0.1:1', true],
  [{}, 'loopback', '[::1]:65535', true],
  [{}, 'loopback', '[::1]', true],
  [{}, 'loopback', '[0:0:0:0:0:0:0:1]:8000', true],
  [{}, 'loopback', '[::1::]', false],
  [{}, 'loopback', undefined, false],
  [{}, 'loopback', '', false],
  [{}, 'loopback', 'evil.example', false],
  [{}, 'loopback', 'localhost.evil.example', false],
  [{}, 'loopback', 'evil.example#localhost', false],
  [{}, 'loopback', 'localhost@evil.example', false],
  [{}, 'loopback', 'x@localhost', false],
  [{}, 'loopback', 'localhost:65536', false],
  [{}, 'loopback', 'localhost:port', false],
  [{}, 'loopback', 'localhost:', false],
  [{}, 'loopback', 'localhost, evil.example', false],
  [{}, 'loopback', '127.0.0.1.evil.example', false],
  [{}, 'loopback', '0.0.0.0', false],
  [{}, 'loopback', '::1', false],
  [{}, 'loopback', 'localhost/', false],
  [{}, 'loopback', 'toString', false],
  // Names that the operator lists are good too.
  [{ allowedHosts: ['agents.example'] }, 'loopback', 'AGENTS.example:80', true],
  [{ allowedHosts: ['agents.example'] }, 'loopback', 'localhost', true],
  [{ allowedHosts: ['agents.example'] }, 'loopback', 'www.agents.example', false],
  [{ allowedHosts: ['Agents.Example.:8000'] }, 'loopback', 'agents.example:8000', true],
  [{ allowedHosts: ['bücher.example'] }, 'loopback', 'xn--bcher-kva.example:80', true],
  [{ allowedHosts: ['BÜCHER.example:8000'] }, 'loopback', 'XN--bcher-kva.example:8000', true],
  [{ allowedHosts: ['bücher.example:443'] }, 'network', 'xn--bcher-kva.example', true],
  [{ publicUrl: new URL('https://bücher.example') }, 'network', 'xn--bcher-kva.example', true],
  [{ allowedHosts: ['bücher.example'] }, 'loopback', 'bucher.example', false],
  [{ allowedHosts: ['agents.example:8000'] }, 'loopback', 'agents.example:8001', false],
  [{ allowedHosts: ['agents.example:8000'] }, 'loopback', 'agents.example', false],
  [{ allowedHosts: ['[2001:DB8:0::1]'] }, 'network', '[2001:db8::1]:80', true],
  [{ publicUrl: new URL('https://agents.example/team') }, 'loopback', 'agents.example', true],
  [{ allowedHosts: ['*'] }, 'loopback', 'evil.example', true],
  // Beyond loopback, names are checked where there is a list.
  [{}, 'network', 'anything.example', true],
  [{}, 'network', undefined, true],
  [{ allowedHosts: ['agents.example'] }, 'network', 'agents.example', true],
  [{ allowedHosts: ['agents.example'] }, 'network', 'localhost', false],
  [{ publicUrl: new URL('https://agents.example') }, 'network', 'evil.example', false],
  // Without a socket, only where the operator asked for it.
  [{}, 'none', 'anything.example', true],
  [{ publicUrl: new URL('https://agents.example') }, 'none', 'anything.example', true],
  [{ allowedHosts: ['agents.example'] }, 'none', 'anything.example', false],
  [{ allowedHosts: [] }, 'none', 'anything.example', false],
  // The port that a scheme has anyway, the dot of the root, the forms of an address.
  [{ allowedHosts: ['agents.example:443'] }, 'network', 'agents.example', true],
  [{ allowedHosts: ['agents.example:443'] }, 'network', 'AGENTS.example.:443', true],
  [{ allowedHosts: ['agents.example:443'] }, 'network', 'agents.example:8443', false],
  [{ allowedHosts: ['agents.example:8443'] }, 'network', 'agents.example', false],
  [{ allowedHosts: ['Agents.Example.'] }, 'network', 'agents.example:443', true],
  [{ allowedHosts: ['[2001:db8::1]'] }, 'network', '[2001:DB8:0:0::1]:80', true],
  [{ publicUrl: new URL('https://agents.example./') }, 'network', 'agents.example', true],
  [{}, 'loopback', 'LOCALHOST.:8080', true], [{}, 'loopback', '[0:0:0:0:0:0:0:1]:8080', true],
]

test('a Host that is on no list is refused', () => {
  for (const [options, bind, host, isFine] of hosts) {
    const verdict = createGuard(options).check(head(host), bind, false, false)
    assert.equal(verdict.refused === undefined, isFine, `${JSON.stringify(options)} ${bind} ${host}`)
  }
})

const origins: readonly (readonly [
  options: Partial<GuardOptions>, host: string, origin: string, isFine: boolean,
])[] = [
  [{}, 'localhost', 'http://localhost:3000', true],
  [{}, 'localhost', 'https://127.0.0.1', true],
  [{}, 'localhost', 'http://[::1]:5173', true],
  [{}, 'localhost', 'http://evil.example', false],
  [{}, 'localhost', 'http://localhost.evil.example', false],
  [{}, 'localhost', 'http://localhost@evil.example', false],
  [{}, 'localhost', 'http://evil.example/localhost', false],
  [{}, 'localhost', 'null', false],
  [{}, 'localhost', '', false],
  [{}, 'localhost', 'file://', false],
  [{}, 'localhost', 'chrome-extension://abc', false],
  [{}, 'localhost', 'http://', false],
  [{}, 'localhost', 'http://localhost, http://evil.example', false],
  [{ allowedOrigins: ['https://app.example'] }, 'localhost', 'https://app.example', true],
  [{ allowedOrigins: ['https://app.example'] }, 'localhost', 'https://APP.example:443', true],
  [{ allowedOrigins: ['HTTPS://App.Example:443/'] }, 'localhost', 'https://app.example', true],
  [{ allowedOrigins: ['https://bücher.example'] }, 'localhost', 'https://xn--bcher-kva.example', true],
  [{ cors: ['https://Bücher.example/'] }, 'localhost', 'https://xn--bcher-kva.example', true],
  [{ allowedOrigins: ['https://app.example'] }, 'localhost', 'https://app.example.', true],
  [{ allowedOrigins: ['https://app.example.'] }, 'localhost', 'https://app.example', true],
  [{ cors: ['https://app.example/'] }, 'localhost', 'https://app.example', true],
  [{ publicUrl: new URL('https://app.example.:443') }, 'app.example', 'https://app.example', true],
  [{ allowedHosts: ['app.example'] }, 'APP.example.:443', 'https://app.example', true],
  [{ allowedHosts: ['app.example'] }, 'app.example:80', 'http://app.example', true],
  [{ allowedHosts: ['app.example'] }, 'app.example:80', 'https://app.example', false],
  [{}, 'localhost', 'http://LOCALHOST.:3000', true],
  [{ allowedOrigins: ['https://app.example'] }, 'localhost', 'http://app.example', false],
  [{ allowedOrigins: ['https://app.example'] }, 'localhost', 'https://app.example:8443', false],
  [{ cors: 'https://app.example' }, 'localhost', 'https://app.example', true],
  [{ cors: ['https://app.example'] }, 'localhost', 'https://other.example', false],
  [{ cors: '*' }, 'localhost', 'https://anything.example', true],
  [{ cors: ['*'] }, 'localhost', 'https://anything.example', true],
  // Pages of no origin too, as sandboxed ones: any is any.
  [{ cors: '*' }, 'localhost', 'null', true],
  [{ allowedOrigins: ['*'] }, 'localhost', 'https://anything.example', true],
  [{ allowedOrigins: ['*'] }, 'localhost', 'app://anything', true],
  [{ allowedOrigins: ['chrome-extension://abc'] }, 'localhost', 'chrome-extension://abc', true],
  [{ allowedOrigins: ['chrome-extension://abc'] }, 'localhost', 'chrome-extension://abcd', false],
  [{ allowedOrigins: ['chrome-extension://abc'] }, 'localhost', 'moz-extension://abc', false],
  [{ cors: ['App://Desk/'] }, 'localhost', 'app://desk', true],
  [{}, 'localhost', 'app://localhost', false],
  [{ allowedHosts: ['agents.example'] }, 'agents.example', 'app://agents.example', false],
  [{ publicUrl: new URL('https://agents.example/team') }, 'agents.example', 'https://agents.example', true],
  [{ publicUrl: new URL('https://agents.example/team') }, 'localhost', 'https://agents.example', true],
  [{ publicUrl: new URL('https://agents.example/team') }, 'localhost', 'http://agents.example', false],
  // The server's own pages, by a name that passed a list or where a key is asked for.
  [{ allowedHosts: ['agents.example'] }, 'agents.example', 'http://agents.example', true],
  [{ allowedHosts: ['agents.example'] }, 'agents.example:443', 'https://agents.example', true],
  [{ allowedHosts: ['agents.example'] }, 'agents.example:80', 'https://agents.example', false],
  [{ allowedHosts: ['agents.example'] }, 'agents.example', 'http://other.example', false],
  [{ allowedHosts: ['*'] }, 'agents.example', 'http://agents.example', false],
]

test('a page may call from loopback, from a listed origin, or from the server itself', () => {
  for (const [options, host, origin, isFine] of origins) {
    const verdict = createGuard(options).check(head(host, origin), 'loopback', false, false)
    assert.equal(verdict.refused === undefined, isFine, `${JSON.stringify(options)} ${host} ${origin}`)
  }
})

test('what is public is read from every page, but not under every name', () => {
  const guard = createGuard({})
  const evil = head('localhost', 'https://evil.example')
  assert.equal(guard.check(evil, 'loopback', 'public', false).refused, undefined)
  assert.deepEqual(
    guard.check(head('localhost'), 'loopback', 'public', false).headers, ['Access-Control-Allow-Origin', '*'],
  )
  assert.notEqual(guard.check(head('evil.example'), 'loopback', 'public', false).refused, undefined)
})

test('what watches a server may ask by any name, and pages may not for it', () => {
  for (const options of [{}, { publicUrl: new URL('https://agents.example') }]) {
    const guard = createGuard(options)
    assert.equal(guard.check(head('10.1.2.3:8000'), 'loopback', 'probe', false).refused, undefined)
    assert.equal(guard.check(head('10.1.2.3:8000'), 'loopback', 'probe', false).hostIsListed, false)
    assert.equal(guard.check(head('10.1.2.3:8000'), 'loopback', true, false).refused?.[0], 403)
    const evil = head('10.1.2.3:8000', 'https://evil.example')
    assert.equal(guard.check(evil, 'loopback', 'probe', false).refused?.[0], 403)
    assert.equal(guard.check(head('a b'), 'loopback', 'probe', false).refused?.[0], 400)
  }
})

test('a listed origin that is no page of the web reads answers under its own name', () => {
  const guard = createGuard({ cors: ['chrome-extension://abc'] })
  const { headers } = guard.check(head('localhost', 'chrome-extension://abc'), 'loopback', false, false)
  assert.equal(headers[headers.indexOf('Access-Control-Allow-Origin') + 1], 'chrome-extension://abc')
  const desk = createGuard({ cors: ['app://desk'] })
    .check(head('localhost', 'app://Desk'), 'loopback', false, false)
  assert.ok(desk.headers.includes('app://Desk'))
})

test('the refusal of a page names what lets it read the answer', () => {
  const evil = head('localhost', 'https://evil.example')
  const { refused } = createGuard({}).check(evil, 'loopback', false, false)
  assert.match(refused?.[1] ?? '', /cors.*allowedOrigins/)
})

test('a verdict on one name is never given for another', () => {
  const guard = createGuard({})
  for (let round = 0; round < 3; round++) {
    assert.equal(guard.check(head('localhost'), 'loopback', false, false).refused, undefined)
    assert.notEqual(guard.check(head('evil.example'), 'loopback', false, false).refused, undefined)
    assert.equal(guard.check(head('evil.example'), 'network', false, false).refused, undefined)
    assert.notEqual(
      guard.check(head('localhost', 'http://evil.example'), 'loopback', false, false).refused, undefined,
    )
  }
  // A stranger can invent names without end.
  for (let at = 0; at < 1_000; at++) {
    assert.notEqual(guard.check(head(`h${at}.example`), 'loopback', false, false).refused, undefined)
  }
})

/** Values that stand for nothing somewhere in JavaScript, or that could end one part of a key too early. */
const oddities: readonly (string | undefined)[] = [
  undefined, '', 'undefined', 'null', 'NaN', 'false', '[object Object]', '__proto__', '0', '*', 'localhost',
  'http://localhost', 'localhost\nundefined', 'evil.example',
]

test('what was said of one request changes nothing for any other, in whatever order they come', () => {
  const binds = ['loopback', 'network', 'none'] as const
  const asked = binds.flatMap((bind) => (['public', 'probe', true, false] as const).flatMap((open) =>
    oddities.flatMap((host) => oddities.map((origin) => ({ bind, open, host, origin })))))
  const guard = createGuard({ allowedOrigins: ['http://listed.example'] })
  for (const order of [asked, asked.toReversed(), asked]) {
    for (const { bind, open, host, origin } of order) {
      const fresh = createGuard({ allowedOrigins: ['http://listed.example'] })
      assert.deepEqual(
        guard.check(head(host, origin), bind, open, false),
        fresh.check(head(host, origin), bind, open, false),
        JSON.stringify({ bind, open, host, origin }),
      )
    }
  }
})

test('a stranger who sends "Origin: undefined" locks nobody out', () => {
  const guard = createGuard({})
  assert.notEqual(guard.check(head('localhost', 'undefined'), 'loopback', false, false).refused, undefined)
  assert.equal(guard.check(head('localhost'), 'loopback', false, false).refused, undefined)
  assert.notEqual(guard.check(head('undefined'), 'loopback', false, false).refused, undefined)
  assert.equal(guard.check(head(undefined), 'network', false, false).refused, undefined)
})

test('a page of the server\'s own may call as soon as a key is asked for', () => {
  for (const options of [{}, { allowedHosts: ['*'] }]) {
    const guard = createGuard(options)
    const own = head('agents.example', 'http://agents.example')
    assert.notEqual(guard.check(own, 'network', false, false).refused, undefined)
    assert.equal(guard.check(own, 'network', false, true).refused, undefined)
  }
})

test('verdicts stay right however many names are invented, and however long they are', () => {
  const guard = createGuard({})
  for (let at = 0; at < 2_000; at++) {
    assert.equal(guard.check(head(`localhost:${at}`), 'loopback', false, false).refused, undefined)
    const [status] = guard.check(head(`h${at}.${'x'.repeat(at)}`), 'network', false, false).refused ?? []
    // Names end at some length; whatever is asked before, the same name is told the same.
    assert.equal(status, `h${at}.`.length + at > 260 ? 400 : undefined)
    const { refused } = guard.check(head('localhost', `http://h${at}`), 'loopback', false, false)
    assert.notEqual(refused, undefined)
  }
  assert.equal(guard.check(head('localhost:1'), 'loopback', false, false).hostIsListed, true)
})

test('what is remembered of names is bounded, whether they are many or long', () => {
  const guard = createGuard({ allowedOrigins: ['*'] })
  for (const [count, length] of [[250, 50_000], [30_000, 300]] as const) {
    const before = heldBytes()
    for (let at = 0; at < count; at++) {
      const asked = head('localhost', `http://h${at}.${'x'.repeat(length)}`)
      assert.equal(guard.check(asked, 'loopback', false, false).refused, undefined)
    }
    const kept = heldBytes() - before
    assert.ok(kept < 3_000_000, `${kept} bytes are kept of ${count} names`)
  }
  assert.equal(guard.check(head('localhost'), 'loopback', false, false).hostIsListed, true)
})

const app = 'https://app.example'
const LOCAL = 'http://localhost:3000'

/** Who may read: the option, where the server is bound, how it was dialed, the page. */
const cors: readonly (readonly [
  cors: GuardOptions['cors'], bind: Bind, host: string, origin: string | undefined,
  allowed: string | undefined, vary: boolean,
])[] = [
  ['https://app.example', 'loopback', 'localhost', app, app, true],
  ['https://app.example', 'loopback', 'localhost', LOCAL, undefined, true],
  ['https://app.example', 'loopback', 'localhost', undefined, undefined, true],
  ['*', 'network', 'localhost', app, '*', false],
  ['*', 'loopback', 'localhost', undefined, '*', false],
  // Without the option, only from this machine to this machine.
  [undefined, 'loopback', 'localhost', LOCAL, LOCAL, true],
  [undefined, 'loopback', '127.0.0.1:8000', 'https://127.0.0.1', 'https://127.0.0.1', true],
  [undefined, 'loopback', '[::1]:8000', 'http://[::1]:5173', 'http://[::1]:5173', true],
  [undefined, 'loopback', 'localhost', undefined, undefined, false],
  [undefined, 'loopback', 'agents.example', LOCAL, undefined, true],
  [undefined, 'network', 'localhost', LOCAL, undefined, false],
  [undefined, 'none', 'localhost', LOCAL, undefined, false],
  // An empty list is a list: nobody.
  [[], 'loopback', 'localhost', LOCAL, undefined, true],
]

test('pages read where they are listed, on this machine, and never with credentials', () => {
  for (const [option, bind, host, origin, allowed, vary] of cors) {
    const guard = createGuard({ allowedHosts: ['*'], cors: option, exposes: ['x-own', 'etag', 'x-own'] })
    const row = `${option} ${bind} ${host} ${origin}`
    const { headers, refused } = guard.check(head(host, origin), bind, false, false)
    assert.equal(refused, undefined, row)
    const of = (name: string): string | undefined => headers[headers.indexOf(name) + 1]
    assert.equal(
      headers.includes('Access-Control-Allow-Origin') ? of('Access-Control-Allow-Origin') : undefined,
      allowed, row,
    )
    assert.equal(headers.includes('Vary') && of('Vary') === 'Origin', vary, row)
    assert.equal(headers.includes('Access-Control-Allow-Credentials'), false)
    const preflight = guard.preflight(head(host, origin), bind, false, ['POST'], 'content-type')
    assert.equal(preflight !== undefined, allowed !== undefined, row)
    if (allowed === undefined) continue
    const exposed = 'www-authenticate, retry-after, x-request-id, etag, x-own'
    assert.equal(of('Access-Control-Expose-Headers'), exposed)
  }
})

test('a preflight allows the headers that are asked for', () => {
  const guard = createGuard({ cors: 'https://app.example' })
  const asked = 'content-type, mcp-param-region, x-api-key'
  const page = head('localhost', app)
  const headers = guard.preflight(page, 'network', false, ['POST', 'OPTIONS'], asked) ?? []
  assert.equal(headers[headers.indexOf('Access-Control-Allow-Headers') + 1], asked)
  assert.equal(headers[headers.indexOf('Access-Control-Allow-Methods') + 1], 'POST, OPTIONS')
  for (const hostile of ['a\r\nset-cookie: b', 'ä', `x${'-'.repeat(5_000)}`]) {
    const answer = guard.preflight(page, 'network', false, ['POST'], hostile) ?? []
    assert.equal(answer.includes('Access-Control-Allow-Headers'), false)
  }
  const other = head('localhost', 'http://localhost:1')
  assert.equal(guard.preflight(other, 'network', false, ['POST'], asked), undefined)
})

test('what is no host and no origin is a mistake in the options', () => {
  const mistakes: readonly (readonly [Partial<GuardOptions>, RegExp])[] = [
    [{ allowedHosts: ['https://agents.example'] }, /allowedHosts has 'https:.*write a name/],
    [{ allowedHosts: [''] }, /allowedHosts has ''/],
    [{ allowedOrigins: ['app.example'] }, /'app.example' is no origin; write scheme and host/],
    [{ allowedOrigins: ['https://app.example/path'] }, /is no origin/],
    [{ cors: 'null' }, /'null' is no origin/],
    [{ allowedHosts: ['*', 'https://agents.example'] }, /allowedHosts has 'https:/],
    [{ allowedOrigins: ['*', 'app.example'] }, /'app.example' is no origin/],
    [{ cors: ['app.example', '*'] }, /'app.example' is no origin/],
    [{ cors: ['https://*.example'] }, /write each host by its whole name, or '\*' alone/],
  ]
  for (const [options, sentence] of mistakes) {
    assert.throws(() => createGuard(options), sentence)
  }
})

test('loopback addresses are known in every spelling', () => {
  for (const address of ['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]', '::ffff:127.0.0.1']) {
    assert.equal(isLoopback(address), true, address)
  }
  const others = [undefined, '', '0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '1127.0.0.1', 'localhost.example']
  for (const address of others) {
    assert.equal(isLoopback(address), false, address)
  }
})
