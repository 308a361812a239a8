import assert from 'node:assert/strict'
import test from 'node:test'
import { anonymous } from '../../../lib/kernel/define/principal.ts'
import { kernelDefaults } from '../../../lib/kernel/define/limits.ts'
import { createAuthenticator, Unavailable } from '../../../lib/kernel/http/access/auth.ts'
import { BodyBudget } from '../../../lib/kernel/http/server/body.ts'
import { PlainLease } from '../../../lib/kernel/util/quota.ts'
import { createGate } from '../../../lib/kernel/http/server/gate.ts'
import { createGuard } from '../../../lib/kernel/http/access/guard.ts'
import { Streams } from '../../../lib/kernel/http/stream/sink.ts'
import { createRouter } from '../../../lib/kernel/http/message/router.ts'
import type { Endpoint, Refusal, Reply } from '../../../lib/kernel/http/message/exchange.ts'
import type { Authenticator } from '../../../lib/kernel/http/access/auth.ts'
import type { Gate, GateOptions } from '../../../lib/kernel/http/server/gate.ts'
import type { RequestHead, HttpRequest } from '../../../lib/kernel/http/server/request.ts'

function endpoint(path: string, methods: readonly string[], more: Partial<Endpoint> = {}): Endpoint {
  const refuse = ({ status, detail, headers }: Refusal): Reply =>
    ({ status, body: `${path} refuses: ${detail}`, ...headers !== undefined && { headers } })
  return { path, methods, refuse, handle: () => ({ status: 200 }), ...more }
}

const endpoints = [
  endpoint('/', ['GET'], { open: true, always: true }),
  endpoint('/', ['POST'], { accepts: ['application/json', 'application/a2a+json'] }),
  endpoint('/list', ['GET']),
  endpoint('/card', ['GET'], { open: 'public' }),
]

function answerOf(options: Partial<GateOptions>, incoming: Partial<RequestHead>): ReturnType<Gate> {
  const gate = createGate({
    name: 'Test "House"', limits: kernelDefaults, budget: new BodyBudget(kernelDefaults),
    log: () => {}, anonymous, listing: '/',
    router: createRouter(endpoints), guard: createGuard({}),
    state: { authenticator: undefined, isDraining: false },
    mountPath: '', publicUrl: undefined, proxies: 0, rateLimits: undefined,
    streams: new Streams(kernelDefaults, () => {}), ...options,
  })
  return gate({
    method: 'GET', target: '/', httpVersion: '1.1', rawHeaders: ['host', 'localhost'], bind: 'loopback',
    secure: false,
    remoteAddress: '127.0.0.1', onDisconnect: () => {}, ...incoming,
  })
}

/** The same, where nobody has to be waited for. */
function requestOf(options: Partial<GateOptions>, incoming: Partial<RequestHead>): HttpRequest {
  const request = answerOf(options, incoming)
  assert.ok(!(request instanceof Promise))
  return request
}

const bare = (...headers: readonly string[]): Partial<RequestHead> =>
  ({ method: 'POST', rawHeaders: ['host', 'localhost', ...headers] })
const post = (...headers: readonly string[]): Partial<RequestHead> =>
  bare('content-length', '2', ...headers)
const FOREIGN_HOST = ['host', 'evil.example']
const FOREIGN_ORIGIN = ['host', 'localhost', 'origin', 'http://evil.example']
const authenticator = createAuthenticator({ apiKey: 'k', limits: kernelDefaults })
const keyed: Partial<GateOptions> = { state: { authenticator, isDraining: false } }
const draining: Partial<GateOptions> = { state: { authenticator: undefined, isDraining: true } }
const finding = (find: Authenticator['find']): GateOptions['state'] => (
  { authenticator: { ...authenticator, find }, isDraining: false }
)
const JSON_BODY = ['content-type', 'application/json'] as const

type Row = readonly [what: string, incoming: Partial<RequestHead>, status: number | undefined]

const frames: readonly Row[] = [
  ['HTTP/1.0', { httpVersion: '1.0' }, undefined],
  ['chunks in HTTP/1.0',
    { httpVersion: '1.0', rawHeaders: ['host', 'localhost', 'transfer-encoding', 'chunked'] }, 400],
  ['HTTP/0.9', { httpVersion: '0.9' }, 505],
  ['HTTP/2 in name only', { httpVersion: '2.0' }, 505],
  ['no Host', { rawHeaders: [] }, 400],
  ['no Host in HTTP/1.0, where a name is asked for', { httpVersion: '1.0', rawHeaders: [] }, 403],
  ['200 header lines', { rawHeaders: ['host', 'localhost', ...Array(199).fill(['x', 'y']).flat()] },
    undefined],
  ['201 header lines', { rawHeaders: ['host', 'localhost', ...Array(200).fill(['x', 'y']).flat()] }, 431],
  ['two Host lines', { rawHeaders: ['host', 'localhost', 'Host', 'evil.example'] }, 400],
  ['two equal Host lines', { rawHeaders: ['host', 'localhost', 'Host', 'localhost'] }, 400],
  ['an absolute target', { target: 'http://localhost/list' }, undefined],
  ['an absolute target in capitals', { target: 'HTTP://LOCALHOST/list' }, undefined],
  ['an absolute target without a path', { target: 'http://localhost' }, undefined],
  ['an absolute target without a path, with a query', { target: 'http://localhost?a=b' }, undefined],
  ['an absolute target with the port of its scheme', { target: 'http://localhost:80/list' }, undefined],
  ['an absolute target with the dot of the root', { target: 'http://localhost./list' }, undefined],
  ['an absolute target with another port', { target: 'http://localhost:81/list' }, 400],
  ['an absolute target elsewhere', { target: 'http://evil.example/list' }, 400],
  ['an absolute target with a name in it', { target: 'http://localhost@evil.example/list' }, 400],
  ['an absolute target without a host', { target: 'http:///list' }, 400],
  ['an absolute target that Host contradicts',
    { target: 'http://localhost/', rawHeaders: ['host', 'evil.example'] }, 400],
  ['a broken escape', { target: '/%zz' }, 400],
  ['an escaped slash', { target: '/%2Flist' }, 400],
  ['a foreign Host', { rawHeaders: FOREIGN_HOST }, 403],
  ['a foreign Origin', { rawHeaders: FOREIGN_ORIGIN }, 403],
  ['a foreign Origin on what is public',
    { target: '/card', rawHeaders: ['host', 'localhost', 'origin', 'http://evil.example'] }, undefined],
  ['no such path', { target: '/nothing' }, 404],
  ['a final slash', { target: '/list/' }, undefined],
  ['a slash too many', { target: '/list//' }, 404],
  ['dots', { target: '/../list' }, 404],
  ['no such method', { method: 'DELETE', target: '/list' }, 405],
  ['TRACE', { method: 'TRACE', target: '/' }, 405],
  ['HEAD', { method: 'HEAD', target: '/list' }, undefined],
  ['HEAD where there is no GET', { method: 'HEAD', target: '/nothing' }, 404],
]

test('a frame, a name or a place that is not good ends the matter before any body is read', () => {
  for (const [what, incoming, status] of frames) {
    assert.equal(requestOf({}, incoming).refusal?.status, status, what)
  }
})

const bodies: readonly Row[] = [
  ['JSON', post(...JSON_BODY), undefined],
  ['JSON in UTF-8', post('content-type', 'Application/JSON; charset="UTF-8"'), undefined],
  ['another type that is taken', post('content-type', 'application/a2a+json'), undefined],
  ['no body', { method: 'POST' }, undefined],
  ['a body of no length', { method: 'POST', rawHeaders: ['host', 'localhost', 'content-length', '0'] },
    undefined],
  ['identity', post(...JSON_BODY, 'content-encoding', 'Identity'), undefined],
  ['chunks', bare(...JSON_BODY, 'transfer-encoding', 'Chunked'), undefined],
  ['no type', post(), 415],
  ['text', post('content-type', 'text/plain'), 415],
  ['text that names JSON', post('content-type', 'text/plain; a=application/json'), 415],
  ['a form', post('content-type', 'application/x-www-form-urlencoded'), 415],
  ['parts', post('content-type', 'multipart/form-data; boundary=x'), 415],
  ['one type twice', post(...JSON_BODY, ...JSON_BODY), undefined],
  ['one type twice, in two spellings',
    post(...JSON_BODY, 'content-type', 'Application/JSON; charset=UTF-8'), undefined],
  ['one type in two charsets', post('content-type',
    'application/json; charset=utf-8, application/json; charset=latin1'), 415],
  ['identity twice', post(...JSON_BODY, 'content-encoding', 'identity', 'content-encoding', 'Identity'),
    undefined],
  ['a coding that is empty', post(...JSON_BODY, 'content-encoding', ''), undefined],
  ['two types', post(...JSON_BODY, 'content-type', 'text/plain'), 415],
  ['another charset', post('content-type', 'application/json; charset=latin1'), 415],
  ['no body, but a type', bare('content-type', 'text/plain'), 415],
  ['a body of no length, of another type', bare('content-length', '0', 'content-type', 'text/plain'), 415],
  ['no body, but compressed', bare(...JSON_BODY, 'content-encoding', 'gzip'), 415],
  ['gzip', post(...JSON_BODY, 'content-encoding', 'gzip'), 415],
  ['gzip in chunks', bare(...JSON_BODY, 'transfer-encoding', 'gzip, chunked'), 400],
  ['gzip twice', post(...JSON_BODY, 'content-encoding', 'identity, gzip'), 415],
  ['a chunked body of no type',
    { method: 'POST', rawHeaders: ['host', 'localhost', 'transfer-encoding', 'chunked'] }, 415],
  ['too long',
    { method: 'POST', rawHeaders: ['host', 'localhost', ...JSON_BODY, 'content-length', '4194305'] }, 413],
  ['as long as allowed',
    { method: 'POST', rawHeaders: ['host', 'localhost', ...JSON_BODY, 'content-length', '4194304'] },
    undefined],
  ['a GET with any body', { target: '/list', rawHeaders: ['host', 'localhost', 'content-length', '9999999'] },
    undefined],
]

test('a body is judged by its headers', () => {
  for (const [what, incoming, status] of bodies) {
    assert.equal(requestOf({}, incoming).refusal?.status, status, what)
  }
})

test('a body that finds no room beside the others is not begun', () => {
  const budget = new BodyBudget({ ...kernelDefaults, maxBodiesBytes: 10 })
  const caller = 'from 127.0.0.1'
  const other = new PlainLease(caller)
  budget.hold(other, 9)
  const { refusal } = requestOf({ budget }, post(...JSON_BODY))
  assert.equal(refusal?.status, 503)
  assert.deepEqual(refusal?.headers, ['Retry-After', '1'])
  other.close()
})

test('a refusal has the form of the endpoint that it concerns', () => {
  assert.match(
    String(requestOf({}, post()).refusal?.body), /^\/ refuses: The body must be application\/json or/,
  )
  assert.match(
    String(requestOf({}, { method: 'PUT', target: '/list' }).refusal?.body),
    /^\/list refuses: This path answers GET/,
  )
  const nowhere = requestOf({}, { target: '/nothing' }).refusal
  assert.equal(nowhere?.type, 'application/problem+json')
})

test('a path says which methods it has', () => {
  assert.deepEqual(requestOf({}, { method: 'PUT' }).refusal?.headers, ['Allow', 'GET, HEAD, POST'])
  assert.deepEqual(
    requestOf({}, { method: 'OPTIONS' }).refusal,
    { status: 204, headers: ['Allow', 'GET, HEAD, POST, OPTIONS'] },
  )
  assert.deepEqual(requestOf({}, { method: 'OPTIONS', target: '*' }).refusal,
    { status: 204, headers: ['Allow', 'GET, POST, OPTIONS'] })
  assert.equal(requestOf({}, { method: 'OPTIONS', target: '/nothing' }).refusal?.status, 404)
})

/** What is wrong with a request, more of it in each row, and the one thing that it is told. */
const order: readonly (readonly [
  what: string, incoming: Partial<RequestHead>, options: Partial<GateOptions>, status: number,
])[] = [
  ['drains', post(...JSON_BODY), draining, 503],
  ['drains, bad body', post('content-type', 'text/plain'), draining, 503],
  ['no method, drains', { method: 'PUT' }, draining, 405],
  ['no path, no key', { target: '/nothing' }, keyed, 401],
  ['no method, no key', { method: 'DELETE', target: '/list' }, keyed, 401],
  ['no method of what needs no key, no key', { method: 'DELETE', target: '/card' }, keyed, 405],
  ['bad body, no key', post('content-type', 'text/plain'), keyed, 401],
  ['foreign Origin, no key', { target: '/list', rawHeaders: FOREIGN_ORIGIN }, keyed, 403],
  ['foreign Host, unknown path, no key', { target: '/nothing', rawHeaders: FOREIGN_HOST }, keyed, 403],
  ['OPTIONS of a foreign page', { method: 'OPTIONS', rawHeaders: FOREIGN_ORIGIN }, {}, 403],
]

test('guard, key, place, load, body: whatever comes first is what a request is told', () => {
  for (const [what, incoming, options, status] of order) {
    assert.equal(requestOf(options, incoming).refusal?.status, status, what)
  }
})

test('who has no key is told how to bring one', () => {
  const request = requestOf(keyed, { target: '/list' })
  assert.equal(request.refusal?.status, 401)
  assert.equal(request.challenge(), 'Bearer realm="Test House"')
})

const keys: readonly (readonly [what: string, headers: readonly string[], target: string, said: string])[] = [
  ['nothing', [], '/list', 'A valid key is needed'],
  ['another key', ['x-api-key', 'other'], '/list', 'A valid key is needed'],
  ['the key beside another', ['x-api-key', 'k', 'authorization', 'Bearer j'], '/list',
    'X-API-Key and Authorization say two different things'],
  ['the key in a scheme of its own', ['authorization', 'Key k'], '/list', 'Authorization must be Bearer'],
  ['the key beside another scheme', ['x-api-key', 'k', 'authorization', 'Basic ags='], '/list',
    'Authorization must be Bearer'],
  ['the key in the address', ['x-api-key', 'k'], '/list?api_key=k', 'A key must not stand in the address'],
]

test('who brings a key in a way that is not taken is told which, whether or not it is good', () => {
  for (const [what, headers, target, said] of keys) {
    const { refusal } = requestOf(keyed, { target, rawHeaders: ['host', 'localhost', ...headers] })
    assert.equal(refusal?.status, 401, what)
    assert.ok(String(refusal?.body).includes(said), `${what}: ${String(refusal?.body)}`)
  }
})

const tokens: readonly (readonly [headers: readonly string[], target: string, said: string])[] = [
  [[], '/list', 'A valid token is needed: send it as Authorization: Bearer'],
  [['x-api-key', 'k'], '/list', 'A valid token is needed: send it as Authorization: Bearer'],
  [['authorization', 'Basic ags='], '/list', 'Authorization must be Bearer and one token'],
  [[], '/list?access_token=k', 'A token must not stand in the address, which is logged'],
]

test('where there are tokens alone, nobody is told to send a key', () => {
  const auth = {
    resource: 'https://agents.example.com', authorizationServers: ['https://login.example.com'],
    verify: () => undefined,
  }
  const state = { authenticator: createAuthenticator({ auth, limits: kernelDefaults }), isDraining: false }
  for (const [headers, target, said] of tokens) {
    const rawHeaders = ['host', 'localhost', ...headers]
    const { refusal } = requestOf({ state }, { target, rawHeaders })
    assert.ok(String(refusal?.body).includes(said), `${said}: ${String(refusal?.body)}`)
  }
})

test('what is open needs no key, and a closing server still answers what always answers', () => {
  assert.equal(requestOf(keyed, {}).refusal, undefined)
  assert.equal(requestOf(keyed, { target: '/card' }).refusal, undefined)
  assert.equal(requestOf(draining, {}).refusal, undefined)
})

test('where nobody needs a key everybody is anonymous, whatever they bring', () => {
  const request = requestOf(
    {}, { rawHeaders: ['host', 'localhost', 'authorization', 'Bearer x', 'x-api-key', 'y'] },
  )
  assert.equal(request.refusal, undefined)
  assert.equal(request.principal, anonymous)
})

test('a check of keys that breaks lets nobody in and shows nothing', async () => {
  const logged: unknown[] = []
  const checks = [
    () => { throw new Error('database down') }, () => Promise.reject(new Error('database down')),
  ]
  for (const check of checks) {
    const { refusal } = await answerOf({
      log: (level, message) => logged.push(level, message), state: finding(check),
    }, { target: '/list' })
    assert.equal(refusal?.status, 500)
    assert.match(String(refusal?.body), /^\/list refuses: Internal error \(request [\w-]+\)$/)
  }
  assert.deepEqual(logged, ['error', 'Authentication failed to run', 'error', 'Authentication failed to run'])
})

test('whom nobody can be told at the moment is 503, in the form of the door', async () => {
  const logged: unknown[] = []
  const unavailable = new Unavailable('Come back', 7, 'warning')
  for (const check of [() => { throw unavailable }, () => Promise.reject(unavailable)]) {
    const { refusal } = await answerOf({
      log: (level, message) => logged.push(level, message), state: finding(check),
    }, { target: '/list' })
    assert.equal(refusal?.status, 503)
    assert.deepEqual(refusal?.headers, ['Retry-After', '7'])
    assert.equal(refusal?.body, '/list refuses: Come back')
  }
  assert.deepEqual(logged, ['warning', 'Come back', 'warning', 'Come back'])
})

const mounted: readonly (readonly [target: string, path: string, status: number | undefined])[] = [
  ['/team', '/', undefined],
  ['/team/', '/', undefined],
  ['/team/list?a=b', '/list', undefined],
  ['/', '\0', 404],
  ['/list', '\0', 404],
  ['/teamlist', '\0', 404],
]

test('below a mount path everything is where it was, above it is nothing', () => {
  for (const [target, path, status] of mounted) {
    const request = requestOf({ mountPath: '/team', router: createRouter(endpoints, '/team') }, { target })
    assert.equal(request.path, path, target)
    assert.equal(request.refusal?.status, status, target)
  }
})
