import assert from 'node:assert/strict'
import test from 'node:test'
import { problem } from '../../../lib/kernel/wire/problem.ts'

test('a problem says its sentence twice, for clients of either habit', () => {
  assert.deepEqual(problem(404, 'No such thing', 'r-1'), {
    type: 'about:blank', title: 'Not Found', status: 404, detail: 'No such thing', error: 'No such thing',
    request_id: 'r-1',
  })
  assert.equal(problem(499, 'Odd', 'r-1')['title'], 'Error')
})

test('what is added never stands in the place of what every reader relies on', () => {
  const document = problem(
    422, 'Wrong', 'r-1', { status: 200, error: 'mine', errors: [{ path: '/a', message: 'b' }] },
  )
  assert.equal(document.status, 422)
  assert.equal(document.error, 'Wrong')
  assert.deepEqual(document.errors, [{ path: '/a', message: 'b' }])
})
