import assert from 'node:assert/strict'
import test from 'node:test'
import {
  checkMembers, mustBeText, mustBeTimeout, mustBeIcons, scopesOf, show,
} from '../../../lib/kernel/define/validate.ts'
import {
  createServer, defineAgent, defineGroup, definePrompt, defineResource, defineResourceTemplate, defineTool,
} from '../../../lib/kernel.ts'
import { onePost } from '../../fixtures/probe.ts'

test('a value is shown shortly, and never whole', () => {
  const values: readonly (readonly [value: unknown, shown: string])[] = [
    ['a "b"', '"a \\"b\\""'], ['x'.repeat(100), `"${'x'.repeat(60)}…"`], [7, '7'], [null, 'null'],
    [undefined, 'undefined'], [[1], 'an array'], [{ secret: 1 }, 'an object'], [() => 1, 'a function'],
    [Symbol('a'), 'Symbol(a)'], [7n, '7'],
  ]
  for (const [value, shown] of values) assert.equal(show(value), shown)
})

test('a time limit is a number above zero', () => {
  const check = (timeoutMs: unknown): void => {
    checkMembers('The tool', { timeoutMs }, { timeoutMs: mustBeTimeout })
  }
  for (const ms of [undefined, 1, 0.5, Infinity]) check(ms)
  for (const ms of [0, -1, NaN, '5', null]) {
    assert.throws(
      () => check(ms),
      /^TypeError: The tool has timeoutMs .*; write milliseconds above zero/,
    )
  }
})

test('a text that may be left out is a text', () => {
  const check = (title: unknown): void => checkMembers('The tool', { title }, { title: mustBeText })
  for (const value of [undefined, '', 'a']) check(value)
  for (const value of [null, 7, {}]) {
    assert.throws(() => check(value), /has title .*; write a string/)
  }
})

test('scopes are a list of names as OAuth has them', () => {
  assert.deepEqual(scopesOf('It', undefined), [])
  assert.deepEqual(scopesOf('It', ['orders:read', 'b']), ['orders:read', 'b'])
  assert.ok(Object.isFrozen(scopesOf('It', ['a'])))
  for (const scopes of ['orders:write', 7, {}, [7], [['a']]]) {
    assert.throws(() => scopesOf('It', scopes), /^TypeError: It has scopes .*; write a list of strings/)
  }
  for (const scope of ['', 'a b', 'a"b', 'a\\b', 'ä', 'a\n', 'a'.repeat(257)]) {
    assert.throws(() => scopesOf('It', ['a', scope]), /^TypeError: It has the scope ".*; write one name/)
  }
})

test('an icon lies behind an address of the web, or is in it', () => {
  const fine = [
    'https://example.com/a.png', 'http://127.0.0.1:8000/a.svg?b', 'HTTPS://example.com', 'data:,',
    'https://bücher.example/a', 'data:image/png;base64,AAAA', `data:image/svg+xml,${'x'.repeat(100_000)}`,
  ]
  for (const src of fine) mustBeIcons('It', [{ src }])
  const others = [
    '', 'a', '/a.png', './a.png', '//example.com/a.png', 'example.com/a.png', 'https:', 'https://',
    'https:/a.png', 'https://a b/', ' https://example.com/a.png', 'data:', 'data:image/png',
    'javascript:alert(1)', 'file:///a.png', 'ftp://example.com/a.png', 'ws://example.com/a.png',
    'app://a.png', 'blob:https://example.com/1',
  ]
  const remedy = `write an address, as in 'https://example.com/a.png', or the picture itself, as in `
    + `'data:image/png;base64,…'`
  for (const src of others) {
    const message = `It, in its icons, has src ${show(src)}; ${remedy}`
    assert.throws(() => mustBeIcons('It', [{ src }]), { name: 'TypeError', message })
  }
})

test('a member that is missing, and is there misspelt, is named', () => {
  const run = (): string => ''
  type Make = (given: any) => unknown
  const tries: readonly (readonly [make: Make, given: object, near: string, name: string])[] = [
    [defineAgent, { nam: 'a', run }, 'nam', 'name'], [defineAgent, { Name: 'a', run }, 'Name', 'name'],
    [defineGroup, { naem: 'a', agents: [run] }, 'naem', 'name'],
    [defineTool, { names: 'a', run }, 'names', 'name'],
    [defineResource, { url: 'a:b', name: 'a', read: run }, 'url', 'uri'],
    [defineResource, { uri: 'a:b', nme: 'a', read: run }, 'nme', 'name'],
    [defineResourceTemplate, { uritemplate: 'a:{b}', name: 'a', read: run }, 'uritemplate', 'uriTemplate'],
    [definePrompt, { nam: 'a', get: run }, 'nam', 'name'],
    [definePrompt, { name: 'a', arguments: [{ nam: 'a' }], get: run }, 'nam', 'name'],
    [createServer, { agents: [{ nam: 'a', run }], parts: [onePost()] }, 'nam', 'name'],
  ]
  for (const [make, given, near, name] of tries) {
    const message = new RegExp(`needs '${name}': .*'${near}', did you mean '${name}'\\?$`)
    assert.throws(() => make(given), { message })
  }
  assert.throws(() => defineAgent({ title: 'a', run } as never), { message: /not undefined$/ })
})
