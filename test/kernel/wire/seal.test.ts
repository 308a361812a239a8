import assert from 'node:assert/strict'
import test from 'node:test'
import { createSeal } from '../../../lib/kernel/wire/seal.ts'

const OLD = 'an old secret of some length'
const NEW = 'a new secret of some length'

const later = (): number => Date.now() + 60_000

test('what is sealed is opened again, whatever JSON value it is', () => {
  const seal = createSeal(NEW)
  for (const value of [{ page: 2, of: ['é', null] }, 'text', 0, false, null, [], '']) {
    const text = seal.seal('cursor', value, later())
    assert.match(text, /^[\w-]+$/)
    assert.deepEqual(seal.open('cursor', text), value)
  }
})

test('nothing of the value can be read, and no two seals are alike', () => {
  const seal = createSeal(NEW)
  const one = seal.seal('state', { password: 'tulip' }, later())
  assert.notEqual(one, seal.seal('state', { password: 'tulip' }, later()))
  assert.ok(!Buffer.from(one, 'base64url').toString('latin1').includes('tulip'))
})

test('every changed character, every cut and every addition is refused', () => {
  const seal = createSeal(NEW)
  const text = seal.seal('state', { n: 1 }, later())
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === 'A' ? 'B' : 'A'
    const changed = text.slice(0, at) + other + text.slice(at + 1)
    assert.equal(seal.open('state', changed), undefined, `changed at ${at}`)
    assert.equal(seal.open('state', text.slice(0, at)), undefined, `cut at ${at}`)
  }
  for (const more of ['-TAMPERED', 'A', 'AAAA', '=', '==', '\n', ' ', '.', '!', '\0', text]) {
    assert.equal(seal.open('state', text + more), undefined, JSON.stringify(more))
  }
  for (const text of ['', 'x', 'not base64 at all!', 'A'.repeat(58), 'A'.repeat(60), 'A'.repeat(4_000_000)]) {
    assert.equal(seal.open('state', text), undefined)
  }
})

test('another spelling of the same bytes is refused', () => {
  const seal = createSeal(NEW)
  const spare = ['state', 'states', 'statess'].map((value) => seal.seal('state', value, later()))
  for (const text of spare) {
    if (text.length % 4 === 0) continue
    assert.equal(seal.open('state', text + '='.repeat(4 - text.length % 4)), undefined)
    const last = text.at(-1)!
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const twin = letters[letters.indexOf(last) ^ 1]!
    assert.equal(seal.open('state', text.slice(0, -1) + twin), undefined)
  }
})

test('a purpose must be the same, and so must the service', () => {
  const seal = createSeal(NEW, 'orders')
  const text = seal.seal('cursor', 1, later())
  assert.equal(createSeal(NEW, 'orders').open('cursor', text), 1)
  assert.equal(seal.open('state', text), undefined)
  assert.equal(createSeal(NEW, 'invoices').open('cursor', text), undefined)
})

test('a seal ends at its expiry', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const seal = createSeal(NEW)
  const text = seal.seal('state', 1, 1_000_100)
  const forever = seal.seal('state', 2, Infinity)
  assert.equal(seal.open('state', text), 1)
  t.mock.timers.tick(99)
  assert.equal(seal.open('state', text), 1)
  t.mock.timers.tick(1)
  assert.equal(seal.open('state', text), undefined)
  assert.equal(seal.open('state', forever), 2)
})

test('the first secret seals, all open', () => {
  const before = createSeal(OLD).seal('state', 'before', later())
  const rotated = createSeal([NEW, OLD])
  const after = rotated.seal('state', 'after', later())
  assert.equal(rotated.open('state', before), 'before')
  assert.equal(rotated.open('state', after), 'after')
  assert.equal(createSeal(NEW).open('state', after), 'after')
  assert.equal(createSeal(OLD).open('state', after), undefined)
  assert.equal(createSeal(NEW).open('state', before), undefined)
})

test('replicas with one secret open each other\'s seals, those without never do', () => {
  const text = createSeal(NEW).seal('event', 7, later())
  assert.equal(createSeal(NEW).open('event', text), 7)
  const own = createSeal(undefined)
  assert.equal(own.open('event', own.seal('event', 7, later())), 7)
  assert.equal(createSeal(undefined).open('event', own.seal('event', 7, later())), undefined)
})

test('a weak secret says what to write, and does not show itself', () => {
  for (const secret of ['', 'short', [NEW, ''], ['tiny']]) {
    assert.throws(() => createSeal(secret), (error: unknown) => {
      assert.ok(error instanceof TypeError)
      assert.match(error.message, /write at least 16 random characters/)
      assert.doesNotMatch(error.message, /short|tiny/)
      return true
    })
  }
  assert.throws(() => createSeal([]), /TypeError: secret is an empty list; write/)
})

test('what JSON cannot represent, and an expiry that is no number, are refused', () => {
  const seal = createSeal(NEW)
  assert.throws(() => seal.seal('state', undefined, later()), TypeError)
  assert.throws(() => seal.seal('state', () => 1, later()), TypeError)
  assert.throws(() => seal.seal('state', 1n, later()), TypeError)
  assert.throws(() => seal.seal('state', 1, NaN), TypeError)
})
