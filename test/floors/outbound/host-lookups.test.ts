import assert from 'node:assert/strict'
import { promises as dns } from 'node:dns'
import test from 'node:test'
import { HostLookups, hostLookups, lookupBy } from '../../../lib/floors/outbound/host-lookups.ts'
import { eventually } from '../../fixtures/wire.ts'
import type { HostAddress, Inquirer } from '../../../lib/floors/outbound/host-lookups.ts'

const found: readonly HostAddress[] = [{ address: '127.0.0.1', family: 4 }]
const never = (): Promise<never> => new Promise(() => {})
const anything = (): void => {}

function by(owner: string, signal: AbortSignal = new AbortController().signal): Inquirer {
  return { owner, signal }
}

/** Look-ups that end when they are told to, and the names that they are of. */
function held(): { readonly lookups: HostLookups; readonly asked: string[]; readonly ends: (() => void)[] } {
  const asked: string[] = []
  const ends: (() => void)[] = []
  const lookups = new HostLookups((name) => new Promise((resolve) => {
    asked.push(name)
    ends.push(() => resolve(found))
  }))
  return { lookups, asked, ends }
}

test('look-ups that never end are bounded, in all and for one owner, and count until they end', async () => {
  const { lookups, asked, ends } = held()
  const gone = new AbortController()
  const all = Array.from({ length: 100 }, (_one, nth) => (
    lookups.find(`${nth}.test`, by(`owner ${nth % 5}`, gone.signal), anything).catch(() => 0)
  ))
  await eventually(() => lookups.waiting === 98)
  assert.deepEqual([lookups.running, asked], [2, ['0.test', '1.test']])
  gone.abort(new Error('gone'))
  await Promise.all(all)
  assert.deepEqual([lookups.running, lookups.waiting], [2, 0])
  const late = new AbortController()
  const other = lookups.find('late.test', by('new', late.signal), anything)
  late.abort(new Error('late'))
  await assert.rejects(other, { kind: 'busy' })
  ends[0]!()
  await eventually(() => lookups.running === 1)
  const next = lookups.find('late.test', by('new'), anything)
  await eventually(() => ends.length === 3)
  ends[2]!()
  assert.deepEqual(await next, found)
})

test('whose look-up never ends waits for it, and nobody else does', async () => {
  const { lookups, asked, ends } = held()
  const gone = new AbortController()
  for (let nth = 0; nth < 10; nth++) {
    lookups.find(`${nth}.test`, by('eve', gone.signal), anything).catch(() => 0)
  }
  for (const owner of ['ann', 'bob', 'ann']) {
    const finding = lookups.find(`${owner}.test`, by(owner), anything)
    await eventually(() => asked.at(-1) === `${owner}.test`)
    ends.at(-1)!()
    assert.deepEqual(await finding, found)
  }
  assert.deepEqual(asked, ['0.test', 'ann.test', 'bob.test', 'ann.test'])
})

test('a name that no name server has answered for rests for its owner, and delays no other', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: string[] = []
  const lookups = new HostLookups(async (name) => {
    asked.push(name)
    if (name !== 'good.test') now += name === 'dead.test' ? 1_001 : 1_000
    if (name === 'good.test') return found
    throw new Error('no answer')
  })
  const find = (name: string, owner = 'eve'): Promise<unknown> => lookups.find(name, by(owner), anything)
  await assert.rejects(find('dead.test'), { message: 'no answer' })
  await assert.rejects(find('dead.test'), { kind: 'timeout', message: /No name server answers/ })
  assert.deepEqual(await find('good.test'), found)
  for (let nth = 0; nth < 2; nth++) await assert.rejects(find('bad.test'), { message: 'no answer' })
  await assert.rejects(find('dead.test', 'ann'), { message: 'no answer' })
  assert.deepEqual(asked, ['dead.test', 'good.test', 'bad.test', 'bad.test', 'dead.test'])
  t.mock.timers.tick(4_003)
  await assert.rejects(find('dead.test'), { kind: 'timeout' })
  t.mock.timers.tick(1)
  await assert.rejects(find('dead.test'), { message: 'no answer' })
  assert.deepEqual([asked.length, lookups.running, lookups.waiting], [6, 0, 0])
})

test('where too many wait one more is refused at once', async () => {
  const lookups = new HostLookups(never)
  const gone = new AbortController()
  const ask = (nth: number): Promise<unknown> => (
    lookups.find(`${nth}.test`, by('ann', gone.signal), anything)
  )
  const all = Array.from({ length: 65 }, (_one, nth) => ask(nth).catch(() => 0))
  await eventually(() => lookups.waiting === 64)
  await assert.rejects(ask(100), { kind: 'busy', message: /Too many names/ })
  gone.abort(new Error('gone'))
  await Promise.all(all)
})

test('each address of a name is checked, and a name without any leads nowhere', async () => {
  const addresses = ['8.8.8.8', '::ffff:127.0.0.1', 'fd00::1', 'odd', 'fe80::1%lo0']
  const lookups = new HostLookups(async (name) => name === 'none.test' ? [] : (
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  ))
  const kinds: string[] = []
  await lookups.find('a.test', by('ann'), (kind) => { kinds.push(kind) })
  assert.deepEqual(kinds, ['public', 'loopback', 'private', 'reserved', 'link-local'])
  const refuse = (): void => { throw new Error('inside') }
  await assert.rejects(lookups.find('a.test', by('ann'), refuse), /inside/)
  await assert.rejects(lookups.find('none.test', by('ann'), refuse), /has no address/)
})

test('a connection goes where the name was found to lead, without the dot of the root', async () => {
  const asked: string[] = []
  const addresses = [{ address: '8.8.8.8', family: 4 }, { address: '2606:4700::1', family: 6 }]
  const lookup = lookupBy(async (name) => {
    asked.push(name)
    if (name === 'inside.test') throw new Error('inside')
    return addresses
  })
  const of = (name: string, all: boolean): Promise<unknown> => new Promise((resolve) => {
    lookup(name, { all }, (error, ...more) => resolve(error ?? more))
  })
  assert.deepEqual(await of('a.test.', true), [addresses])
  assert.deepEqual(await of('a.test', false), ['8.8.8.8', 4])
  assert.match(String(await of('inside.test', true)), /inside/)
  assert.deepEqual(asked, ['a.test', 'a.test', 'inside.test'])
})

test('the system is asked, and localhost is this machine wherever it is listed', async (t) => {
  let code = 'EAI_AGAIN'
  t.mock.method(dns, 'lookup', async (name: string) => {
    if (name === 'a.test') return [{ address: '10.0.0.1', family: 4 }]
    throw Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code })
  })
  const find = (name: string): Promise<readonly HostAddress[]> => (
    hostLookups.find(name, by('ann'), anything)
  )
  assert.deepEqual(await find('a.test'), [{ address: '10.0.0.1', family: 4 }])
  await assert.rejects(find('silent.test'), { kind: 'timeout', message: /No name server answers/ })
  code = 'ENOTFOUND'
  await assert.rejects(find('none.test'), { code: 'ENOTFOUND' })
  for (const name of ['localhost', 'a.localhost']) {
    assert.deepEqual((await find(name)).map(({ address }) => address), ['127.0.0.1', '::1'])
  }
})
