import assert from 'node:assert/strict'
import test from 'node:test'
import { heldBytes } from '../../fixtures/heap.ts'
import { authorityOf, forwarded, networkOf, parseHost } from '../../../lib/kernel/http/message/address.ts'

test('a host is read with its port, or not at all', () => {
  assert.deepEqual(parseHost('Agents.Example.'), { name: 'agents.example', port: undefined })
  assert.deepEqual(parseHost('[::1]:65535'), { name: '[::1]', port: '65535' })
  for (const host of ['', 'a:', 'a:65536', 'a:1:2', 'a b', 'x@a', '::1', 'a/', '-a', 'a-', 'ä']) {
    assert.equal(parseHost(host), undefined, host)
  }
})

test('a name of which no address can be made is no authority', () => {
  for (const host of ['a', 'a.example:80', '[2001:db8::1]', '127.0.0.1:8000']) {
    assert.equal(authorityOf(host), host)
  }
  for (const host of [undefined, '', '[::::]', '999.999.999.999', 'a:99999']) {
    assert.equal(authorityOf(host), undefined, host)
  }
})

const lists: readonly (readonly [list: string | undefined, proxies: number, said: string | undefined])[] = [
  [undefined, 1, undefined],
  ['a', 0, undefined],
  ['a', 1, 'a'],
  ['a, b', 1, 'b'],
  ['a, b', 2, 'a'],
  ['a , b , c', 2, 'b'],
  ['a', 5, 'a'],
  ['a, b', 5, 'a'],
  ['', 1, undefined],
  [',', 1, undefined],
  [',,,', 9, undefined],
  ['a,', 1, undefined],
]

test('of a list that proxies add to, the client\'s own part is not believed', () => {
  for (const [list, proxies, said] of lists) {
    assert.equal(forwarded(list, proxies), said, `${list} ${proxies}`)
  }
})

const networks: readonly (readonly [address: string | undefined, network: string | undefined])[] = [
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['[2001:db8::1]:443', '2001:db8:0:0::/64'],
  ['[2001:db8::1]', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  [undefined, undefined],
  ['', undefined],
  ['unknown', undefined],
  ['_hidden', undefined],
  ['192.0.2.256', undefined],
  ['2001:db8:::1', undefined],
  ['[192.0.2.1', undefined],
]

test('one client is one IPv4 address, or one /64', () => {
  for (const [address, network] of networks) assert.equal(networkOf(address), network, address)
})

test('a network that is kept does not keep the list that it was read from', () => {
  const before = heldBytes()
  const kept = Array.from({ length: 500 }, (_, n) => {
    const list = Buffer.from(`${'x'.repeat(12_000)}, 203.113.100.${n % 256}`).toString('latin1')
    return networkOf(forwarded(list, 1))
  })
  const held = heldBytes() - before
  assert.equal(kept[7], '203.113.100.7')
  assert.ok(held < 2_000_000, `${held} for 500 addresses`)
})
