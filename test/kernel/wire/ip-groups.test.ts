import assert from 'node:assert/strict'
import test from 'node:test'
import { ipv6GroupsOf } from '../../../lib/kernel/wire/ip-groups.ts'

test('an IPv6 address is eight groups, however it is written', () => {
  assert.deepEqual(ipv6GroupsOf('2001:db8::5:0:1'), [0x2001, 0xdb8, 0, 0, 0, 5, 0, 1])
  assert.deepEqual(ipv6GroupsOf('::ffff:1.2.3.4'), [0, 0, 0, 0, 0, 0xffff, 0x102, 0x304])
  assert.deepEqual(ipv6GroupsOf('::'), [0, 0, 0, 0, 0, 0, 0, 0])
  assert.deepEqual(ipv6GroupsOf('1:2:3:4:5:6:7:8'), [1, 2, 3, 4, 5, 6, 7, 8])
})
