import assert from 'node:assert/strict'
import test from 'node:test'
import { ipKindOf } from '../../../lib/floors/outbound/ip.ts'
import { ipv6GroupsOf } from '../../../lib/kernel/wire/ip-groups.ts'
import type { IpKind } from '../../../lib/floors/outbound/ip.ts'

/** The first and the last address of each network, and its neighbours on both sides. */
const rows: readonly (readonly [kind: IpKind, ...addresses: readonly string[]])[] = [
  ['reserved', '0.0.0.0', '0.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.2.1', '192.88.99.1',
    '198.51.100.7', '203.0.113.255', '240.0.0.0', '255.255.255.255'],
  ['private', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255', '172.16.0.0', '172.31.255.255',
    '192.168.0.0', '192.168.255.255', '198.18.0.0', '198.19.255.255'],
  ['loopback', '127.0.0.0', '127.0.0.1', '127.255.255.255'],
  ['link-local', '169.254.0.0', '169.254.169.254', '169.254.255.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['public', '1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255',
    '128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0',
    '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255', '8.8.8.8'],
  ['loopback', '::1', '0:0:0:0:0:0:0:1'],
  ['private', 'fc00::', 'fdff:ffff::1', 'fec0::1', 'FD12:3456::1'],
  ['link-local', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  ['multicast', 'ff00::', 'ff02::1'],
  ['reserved', '::', '::2', '::127.0.0.1', '::8.8.8.8', '::ffff:0:8.8.8.8', '100::1', '2001::1',
    '2001:1ff::1', '2001:db8::1', '3fff::1', '3fff:fff::1', '4000::', '64:ff9b:1::8.8.8.8', '5f00::1',
    '2606:4700::1%eth0'],
  ['public', '2000::1', '2001:200::1', '2001:4860:4860::8888', '2606:4700::1', '3fff:1000::1'],
]

test('an address is told by the network that it is in, at both ends of it', () => {
  for (const [kind, ...addresses] of rows) {
    for (const address of addresses) assert.equal(ipKindOf(address), kind, address)
  }
})

/**
 * IANA's two registries of special-purpose addresses as of 2026, and what was given back. Those that are
 * globally reachable lead to the nearest of many machines: nothing is posted there either.
 */
const special: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8], ['0.0.0.0', 32], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16],
  ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.0.0.0', 29], ['192.0.0.8', 32], ['192.0.0.9', 32],
  ['192.0.0.10', 32], ['192.0.0.170', 32], ['192.0.0.171', 32], ['192.0.2.0', 24], ['192.31.196.0', 24],
  ['192.52.193.0', 24], ['192.88.99.0', 24], ['192.88.99.2', 32], ['192.168.0.0', 16], ['192.175.48.0', 24],
  ['198.18.0.0', 15], ['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 4], ['240.0.0.0', 4],
  ['255.255.255.255', 32],
  ['::', 128], ['::1', 128], ['::', 96], ['::ffff:0:0', 104], ['::ffff:127.0.0.0', 104],
  ['::ffff:0:0:0', 96], ['64:ff9b::a00:0', 104], ['64:ff9b::c0a8:0', 112], ['64:ff9b:1::', 48], ['100::', 64],
  ['100:0:0:1::', 64], ['2001::', 23], ['2001::', 32], ['2001:1::1', 128], ['2001:1::2', 128],
  ['2001:1::3', 128], ['2001:2::', 48], ['2001:3::', 32], ['2001:4:112::', 48], ['2001:10::', 28],
  ['2001:20::', 28], ['2001:30::', 28], ['2001:db8::', 32], ['2002:a00::', 24], ['2002:7f00::', 24],
  ['2620:4f:8000::', 48], ['3ffe::', 16], ['3fff::', 20], ['5f00::', 16], ['fc00::', 7], ['fe80::', 10],
  ['fec0::', 10], ['ff00::', 8],
]

/** The first and the last address of a network. */
function endsOf(network: string, bits: number): readonly string[] {
  const [size, all] = network.includes(':') ? [16, 128] : [8, 32]
  const groups = size === 16 ? ipv6GroupsOf(network) : network.split('.').map(Number)
  const last = groups.map((group, at) => {
    const fixed = Math.min(size, Math.max(0, bits - at * size))
    return group | (1 << (size - fixed)) - 1
  })
  assert.equal(groups.length * size, all)
  return [groups, last].map((one) => size === 16 ? one.map((group) => group.toString(16)).join(':')
    : one.join('.'))
}

test('nothing that the registries of special-purpose addresses hold is public, at both ends of it', () => {
  for (const [network, bits] of special) {
    for (const address of endsOf(network, bits)) {
      assert.notEqual(ipKindOf(address) ?? 'public', 'public', `${address} of ${network}/${bits}`)
    }
  }
})

test('an address of a tunnel leads where the address at its end leads, and its network', () => {
  const ends = [['127.0.0.1', 'loopback'], ['10.0.0.1', 'private'], ['8.8.8.8', 'public']] as const
  for (const [end, kind] of ends) {
    assert.equal(ipKindOf(`2606:4700::5efe:${end}`), kind)
    assert.equal(ipKindOf(`2606:4700::200:5efe:${end}`), kind)
    assert.equal(ipKindOf(`fe80::5efe:${end}`), 'link-local')
  }
})

test('an IPv6 address that carries an IPv4 one leads where that one leads', () => {
  const carried: readonly (readonly [dotted: string, hex: string])[] = [
    ['127.0.0.1', '7f00:1'], ['10.1.2.3', 'a01:203'], ['169.254.169.254', 'a9fe:a9fe'], ['0.0.0.0', '0:0'],
    ['224.0.0.1', 'e000:1'], ['8.8.8.8', '808:808'],
  ]
  for (const [dotted, hex] of carried) {
    const forms = [`::ffff:${dotted}`, `::FFFF:${hex}`, `64:ff9b::${dotted}`, `64:ff9b::${hex}`,
      `2002:${hex}::`, `2002:${hex}:1::5`]
    for (const form of forms) assert.equal(ipKindOf(form), ipKindOf(dotted), form)
  }
})

test('what is no address has no kind', () => {
  const texts = ['', 'localhost', '127.1', '0x7f.0.0.1', '2130706433', '127.0.0.1.', '[::1]', '::1::']
  for (const text of texts) {
    assert.equal(ipKindOf(text), undefined, text)
  }
})
