import assert from 'node:assert/strict'
import test from 'node:test'
import { createRouter, parseTarget } from '../../../lib/kernel/http/message/router.ts'
import type { Endpoint } from '../../../lib/kernel/http/message/exchange.ts'

function endpoint(path: string, ...methods: string[]): Endpoint {
  return { path, methods, handle: () => ({ status: 200 }), refuse: ({ status }) => ({ status }) }
}

const router = createRouter([
  endpoint('/', 'GET'), endpoint('/', 'POST'), endpoint('/agents', 'GET', 'POST'),
  endpoint('/agents/list', 'GET'), endpoint('/agents/{agent}', 'POST'), endpoint('/agents/{agent}', 'GET'),
  endpoint('/agents/{agent}/a2a', 'POST'), endpoint('/tasks/{id}', 'GET'),
  endpoint('/files/{folder}', 'GET'), endpoint('/files/{folder}/{file*}', 'GET'),
  endpoint('/messages/', 'POST'),
  endpoint('/tasks/{id}:cancel', 'POST'), endpoint('/tasks/{id}:subscribe', 'GET', 'POST'),
])

const found: readonly (readonly [method: string, path: string, endpoint: string, params?: object])[] = [
  ['GET', '/', '/'],
  ['HEAD', '/', '/'],
  ['POST', '/', '/'],
  ['GET', '/agents/list', '/agents/list'],
  ['GET', '/agents/helper', '/agents/{agent}', { agent: 'helper' }],
  ['HEAD', '/agents/helper', '/agents/{agent}', { agent: 'helper' }],
  ['POST', '/agents/__proto__', '/agents/{agent}', { agent: '__proto__' }],
  ['POST', '/agents/helper/a2a', '/agents/{agent}/a2a', { agent: 'helper' }],
  ['GET', '/files/a', '/files/{folder}', { folder: 'a' }],
  ['GET', '/files/a/b', '/files/{folder}/{file*}', { folder: 'a', file: 'b' }],
  ['GET', '/files/a/b//c', '/files/{folder}/{file*}', { folder: 'a', file: 'b//c' }],
  ['GET', '/tasks/7', '/tasks/{id}', { id: '7' }],
  ['POST', '/tasks/7:cancel', '/tasks/{id}:cancel', { id: '7' }],
  ['GET', '/tasks/7:subscribe', '/tasks/{id}:subscribe', { id: '7' }],
  ['GET', '/tasks/urn:7', '/tasks/{id}', { id: 'urn:7' }],
  ['GET', '/tasks/:cancelled', '/tasks/{id}', { id: ':cancelled' }],
  ['POST', '/agents/one:cancel', '/agents/{agent}', { agent: 'one:cancel' }],
  // With or without a final slash.
  ['POST', '/agents/', '/agents'],
  ['GET', '/agents/helper/', '/agents/{agent}', { agent: 'helper' }],
  ['POST', '/tasks/7:cancel/', '/tasks/{id}:cancel', { id: '7' }],
  ['POST', '/messages/', '/messages/'],
  ['POST', '/messages', '/messages/'],
]

test('method and path lead to one endpoint, with what its names stand for', () => {
  for (const [method, path, expected, params = {}] of found) {
    const match = router(method, path)
    assert.equal(match.endpoint?.path, expected, `${method} ${path}`)
    assert.deepEqual(Object.fromEntries(match.params), params)
  }
})

const missed: readonly (readonly [method: string, path: string, allowed: readonly string[]])[] = [
  ['GET', '/nothing', []],
  ['GET', '', []],
  ['GET', '//', []],
  ['GET', '/agents//', []],
  ['GET', '//agents', []],
  ['GET', '/./agents', []],
  ['GET', '/agents/../agents', []],
  ['GET', '/__proto__', []],
  ['GET', '/constructor', []],
  ['GET', '/tasks/', []],
  ['POST', '/tasks/:cancel', []],
  ['DELETE', '/', ['GET', 'HEAD', 'POST']],
  ['get', '/', ['GET', 'HEAD', 'POST']],
  ['POST', '/agents/list', ['GET', 'HEAD']],
  ['PUT', '/agents/helper', ['POST', 'GET', 'HEAD']],
  ['GET', '/tasks/7:cancel', ['POST']],
]

test('what stands outside the mount path is found there, and everything else below it', () => {
  const endpoints = [
    endpoint('/', 'GET'), endpoint('/a/{id}', 'GET'), { ...endpoint('/b', 'GET'), refusesBelow: '/b/' },
    { ...endpoint('/.well-known/x', 'GET'), outsideMount: true },
  ]
  const whole = createRouter(endpoints)
  assert.equal(whole('GET', '/.well-known/x').endpoint?.path, '/.well-known/x')
  const mounted = createRouter(endpoints, '/team')
  for (const path of ['/team', '/team/']) assert.equal(mounted('GET', path).endpoint?.path, '/')
  assert.equal(mounted('GET', '/team/a/7').params.get('id'), '7')
  assert.equal(mounted('GET', '/team/b/c').neighbor?.path, '/b')
  assert.equal(mounted('GET', '/.well-known/x').endpoint?.path, '/.well-known/x')
  assert.equal(mounted('POST', '/.well-known/x').neighbor?.path, '/.well-known/x')
  for (const path of ['/team/.well-known/x', '/', '/a/7', '/b/c', '/teama/7', '/team//']) {
    assert.deepEqual(mounted('GET', path), whole('GET', '//'), path)
  }
})

test('what is not there says which methods the path has', () => {
  for (const [method, path, allowed] of missed) {
    const match = router(method, path)
    assert.equal(match.endpoint, undefined, `${method} ${path}`)
    assert.deepEqual(match.allowed, allowed, `${method} ${path}`)
  }
})

const meetings: readonly (readonly [Endpoint, Endpoint])[] = [
  [endpoint('/ask', 'POST'), endpoint('/ask', 'POST')],
  [endpoint('/ask', 'GET'), endpoint('/ask', 'HEAD')],
  [endpoint('/a/{id}', 'GET'), endpoint('/a/{id}', 'GET')],
  [endpoint('/tasks/{id}', 'POST'), endpoint('/tasks/{agent}', 'POST')],
]

test('two endpoints on one path and method are a mistake, whatever their names are called', () => {
  for (const pair of meetings) {
    assert.throws(() => createRouter(pair), /^TypeError: Two routes meet at .*; change/)
  }
  createRouter([
    endpoint('/tasks/{id}', 'GET'), endpoint('/tasks/{agent}', 'POST'),
    endpoint('/messages/', 'POST'),
  endpoint('/tasks/{id}:cancel', 'POST'),
  ])
})

test('a name that nothing can have is an unknown path for each method that is not served there', () => {
  const task = { ...endpoint('/tasks/{id}', 'GET'), mayName: () => false }
  const table = createRouter([task, endpoint('/tasks/{id}/notes', 'GET')])
  const { endpoint: none, neighbor, allowed } = table('POST', '/tasks/7')
  assert.deepEqual([none, neighbor, allowed], [undefined, task, []])
  assert.equal(table('GET', '/tasks/7').endpoint, task)
  // A page may ask before each of them.
  assert.deepEqual(table('OPTIONS', '/tasks/7').allowed, ['GET', 'HEAD'])
  assert.deepEqual(table('POST', '/tasks/7/notes').allowed, ['GET', 'HEAD'])
})

test('what is not there may be refused in the form of its neighbourhood, and nowhere else', () => {
  const models = { ...endpoint('/v1/models', 'GET'), refusesBelow: '/v1/' }
  const table = createRouter([models, endpoint('/v1/models/{id}', 'GET'), endpoint('/', 'GET')])
  for (const path of ['/v1/', '/v1/other', '/v1/other/deeper', '/v1/models/a/b']) {
    const { endpoint: found, neighbor, allowed } = table('GET', path)
    assert.deepEqual([found, neighbor, allowed], [undefined, models, []], path)
  }
  assert.deepEqual(table('POST', '/v1/models/a').allowed, ['GET', 'HEAD'])
  for (const path of ['/v1', '/v1models', '/other', '/v']) {
    assert.equal(table('GET', path).neighbor, undefined, path)
  }
})

const targets: readonly (readonly [target: string, path: string, query: string])[] = [
  ['/', '/', ''],
  ['/a?b=c?d', '/a', 'b=c?d'],
  ['/a?', '/a', ''],
  ['/h%65llo', '/hello', ''],
  ['/h%2565llo', '/h%65llo', ''],
  ['/%C3%BCber', '/über', ''],
  ['/a%3Fb?c', '/a?b', 'c'],
  ['//a/../b/./c', '//a/../b/./c', ''],
  ['/a%2e%2e', '/a..', ''],
]

test('a target is decoded once, and never resolved', () => {
  for (const [target, path, query] of targets) assert.deepEqual(parseTarget(target), { path, query }, target)
})

test('a target that could be read in two ways is refused', () => {
  const bad = [
    '/a%2Fb', '/a%2fb', '/a%5Cb', '/a%5cb', '/a\\b', '/a%00', '/a%', '/a%4', '/a%zz', '/a%C3', '/a\tb',
    '/a%0Ab', '/a%7f',
  ]
  for (const target of bad) assert.equal(parseTarget(target), undefined, target)
})
