import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeNul, encodeNul, lazily, retry } from '../../lib/stores/engine.ts'
import { standingTime } from '../fixtures/time.ts'

test('a column of text holds what it cannot by another spelling, and each text by its own', () => {
  const texts = ['', 'a', '\0', '\\', '\\0', '\\\0', '0', 'a\0b\\c', '\0\0']
  const spelled = texts.map(encodeNul)
  assert.equal(new Set(spelled).size, texts.length)
  for (const one of spelled) assert.ok(!one.includes('\0'))
  assert.deepEqual(spelled.map(decodeNul), texts)
})

test('what could not be made is made again, and what was made is not', async () => {
  let tries = 0
  const make = lazily(async () => {
    tries += 1
    if (tries === 1) throw new Error('away')
    return tries
  })
  const both = [make(), make()]
  for (const one of both) await assert.rejects(one, /away/)
  assert.deepEqual([await make(), await make(), tries], [2, 2, 2])
})

test('what fails is tried again each tenth of a second until it succeeds, or is over', async (t) => {
  const pass = standingTime(t)
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  for (const isGivenUp of [false, true]) {
    let tries = 0
    let isOver = false
    const done = retry(async () => {
      tries += 1
      if (tries < 3) throw new Error('away')
      return tries
    }, () => isOver)
    await turn()
    pass(99)
    await turn()
    assert.equal(tries, 1)
    pass(1)
    await turn()
    assert.equal(tries, 2)
    isOver = isGivenUp
    pass(100)
    assert.deepEqual([await done, tries], isGivenUp ? [undefined, 2] : [3, 3])
  }
  assert.equal(await retry(() => assert.fail('it is over'), () => true), undefined)
})
