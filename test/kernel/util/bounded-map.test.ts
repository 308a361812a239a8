import assert from 'node:assert/strict'
import test from 'node:test'
import { BoundedMap } from '../../../lib/kernel/util/bounded-map.ts'

test('the oldest values make room, by number', () => {
  const map = new BoundedMap<number>(2)
  map.set('a', 1).set('b', 2).set('c', 3)
  assert.deepEqual([...map], [['b', 2], ['c', 3]])
  map.set('b', 4).set('d', 5)
  assert.deepEqual([...map], [['b', 4], ['d', 5]])
})

test('the oldest values make room, by size, and a large one stands alone', () => {
  const map = new BoundedMap<string>(10, ({ length }) => length)
  map.set('a', 'xxxx').set('b', 'xxxx').set('c', 'xx')
  assert.deepEqual([...map.keys()], ['a', 'b', 'c'])
  map.set('d', 'xxx')
  assert.deepEqual([...map.keys()], ['b', 'c', 'd'])
  map.set('e', 'x'.repeat(20))
  assert.deepEqual([...map.keys()], ['e'])
  map.set('f', 'x')
  assert.deepEqual([...map.keys()], ['f'])
  map.delete('f')
  map.set('g', 'x'.repeat(10))
  assert.deepEqual([...map.keys()], ['g'])
  map.clear()
  map.set('h', 'x'.repeat(5)).set('i', 'x'.repeat(5))
  assert.deepEqual([...map.keys()], ['h', 'i'])
})
