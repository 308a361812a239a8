import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Problem, located, shorten, suggest } from '../../lib/assistant/problem.ts'

test('a problem is a sentence with its place and its hint', () => {
  assert.equal(new Problem('No').message, 'No.')
  assert.equal(new Problem('No', 'Try yes.', 4).message, 'No at position 4. Try yes.')
  assert.equal(new Problem('No').name, 'Problem')
})

test('the innermost place of a problem is kept', () => {
  const fail = (position?: number) => () => { throw new Problem('No', 'Try yes.', position) }
  assert.throws(() => located(7, fail()), { message: 'No at position 7. Try yes.' })
  assert.throws(() => located(7, fail(2)), { message: 'No at position 2. Try yes.' })
  assert.throws(() => located(7, () => { throw new RangeError('mine') }), RangeError)
  assert.equal(located(7, () => 5), 5)
})

test('long text is cut between characters', () => {
  assert.equal(shorten('short'), 'short')
  assert.equal(shorten('abcdef', 4), 'abc…')
  assert.equal(shorten('ab😀😀', 4), 'ab…')
})

test('the nearest name is proposed, and none that is far', () => {
  const names = ['meter', 'mile', 'minute']
  assert.equal(suggest('metter', names), 'Did you mean "meter"?')
  assert.equal(suggest('MINUET', names), 'Did you mean "minute"?')
  assert.equal(suggest('banana', names), undefined)
  assert.equal(suggest('x', names), undefined)
  assert.equal(suggest('m'.repeat(1000), names), undefined)
})
