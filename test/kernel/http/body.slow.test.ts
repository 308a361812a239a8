/** What a body is counted for is what its values really take, and bodies that come in very many chunks. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { costOf } from '../../../lib/kernel/http/server/body.ts'
import { heldBytes } from '../../fixtures/heap.ts'
import { crumbled } from './crumbs.ts'
import { echo, listen } from '../../fixtures/kernel.ts'

const numbered = (make: (at: number) => string): string =>
  Array.from({ length: 40_000 }, (_, at) => make(at)).join()
const same = (text: string): string => `[${numbered(() => text)}]`

/** JSON texts of many small values, and of one large. */
const texts: readonly (readonly [what: string, text: string])[] = [
  ['empty arrays', same('[]')],
  ['empty objects', same('{}')],
  ['arrays in arrays', same('[[[[]]]]')],
  ['arrays of one', same('[1]')],
  ['small numbers', same('1')],
  ['fractions among strings', `["",${same('1.5').slice(1)}`],
  ['null', same('null')],
  ['strings of their own', `[${numbered((at) => `"${at.toString(36)}"`)}]`],
  ['one object of many names', `{${numbered((at) => `"${at.toString(36)}":1`)}}`],
  ['objects of one shape', same('{"a":1,"b":2}')],
  ['objects of many shapes', `[${numbered((at) => `{"${at.toString(36)}":1}`)}]`],
  ['objects with a number for a name', same('{"999":1}')],
  ['a string of one byte each', `"${'x'.repeat(400_000)}"`],
  ['a string of two bytes each', `"\u4e00${'x'.repeat(400_000)}"`],
]

/** What the values of a text take, measured where nothing of an earlier one is still held. */
function takenBy(text: string): number {
  const before = heldBytes()
  const value: unknown = JSON.parse(text)
  const after = heldBytes()
  assert.notEqual(value, undefined)
  return after - before
}

test('a body is counted for about what its values take, and never for much less', () => {
  for (const [what, text] of texts) {
    const bytes = Buffer.from(text)
    // What the collector takes of earlier values meanwhile makes it look like less.
    const taken = Math.max(...[1, 2, 3].map(() => takenBy(bytes.toString())))
    const ratio = costOf(bytes) / Math.max(taken, bytes.length)
    assert.ok(ratio > 0.6 && ratio < 8, `${what}: ${ratio}`)
  }
})

test('bodies that come byte by byte, at once, are each read whole', async (t) => {
  const { url } = await listen(t, { agents: [echo] })
  const queries = ['a', 'b', 'c', 'd'].map((char) => char.repeat(150_000))
  const answers = await Promise.all(queries.map((query) => crumbled(t, url, JSON.stringify({ query }))))
  for (const [at, answer] of answers.entries()) {
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.ok(answer.includes(`"You said ${queries[at]!}"`))
  }
})

test('who sends a body that is too large byte by byte hears so', async (t) => {
  const { url } = await listen(t, { agents: [echo], maxBodyBytes: 20_000 })
  const answer = await crumbled(t, url, JSON.stringify({ query: 'x'.repeat(100_000) }))
  assert.match(answer, /^HTTP\/1\.1 413 /)
})
