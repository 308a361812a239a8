import assert from 'node:assert/strict'
import test from 'node:test'
import {
  MAX_STOP_LENGTH, MAX_STOPS, SEARCHED_AT_ONCE, StoppingText,
} from '../../../lib/parts/openai/chat-stop.ts'

const cases: readonly (readonly [what: string, stops: readonly string[], said: string, told: string])[] = [
  ['no sequence', [], 'One two.', 'One two.'],
  ['a sequence that does not come', ['###'], 'One ## two #', 'One ## two #'],
  ['a sequence in the middle', ['###'], 'One ### two ### three', 'One '],
  ['a sequence at the beginning', ['One'], 'One two', ''],
  ['a sequence at the end', ['two'], 'One two', 'One '],
  ['a line end', ['\n'], 'One\ntwo', 'One'],
  ['the first of several', ['three', 'two'], 'One two three', 'One '],
  ['one that begins with the end of another', ['xab', 'bc'], 'xabc', ''],
  ['one that almost begins before it comes', ['aab'], 'aaab!', 'a'],
  ['characters of two halves', ['!'], '😀😁😂! 😃', '😀😁😂'],
]

/** What a text tells as a whole; of what is short nothing is a promise. */
function taken(text: StoppingText, piece: string): string {
  const told = text.take(piece)
  assert.ok(typeof told === 'string')
  return told
}

/** The same, searched at each place for each of the sequences. */
function naive(stops: readonly string[], said: string): string {
  for (let end = 0; end <= said.length; end++) {
    const found = stops.filter((stop) => stop !== '' && said.slice(0, end).endsWith(stop))
    if (found.length > 0) {
      const told = said.slice(0, end - Math.max(...found.map(({ length }) => length)))
      return /^[\udc00-\udfff]/.test(said.slice(told.length)) ? told.replace(/[\ud800-\udbff]$/, '') : told
    }
  }
  return said
}

test('a text ends before the first of its sequences, however it comes in pieces', () => {
  for (const [what, stops, said, told] of cases) {
    for (let length = 1; length <= said.length; length++) {
      const text = new StoppingText(stops)
      let heard = ''
      for (let at = 0; at < said.length; at += length) heard += taken(text, said.slice(at, at + length))
      assert.equal(text.isOver, told !== said, what)
      assert.equal(heard + text.rest(), told, `${what}, ${length} at a time`)
    }
  }
})

test('only what may begin a sequence is held back', () => {
  const text = new StoppingText(['END'])
  assert.deepEqual([text.take('one E'), text.take('N'), text.take('d'), text.rest()], ['one ', '', 'ENd', ''])
})

test('no half of a character is told alone', () => {
  const text = new StoppingText(['!!'])
  assert.deepEqual([text.take('a\ud83d'), text.take('\ude00b'), text.rest()], ['a', '😀b', ''])
  assert.deepEqual([text.take('c\ud83d'), text.take('d\ud83d'), text.rest()], ['c', '\ud83dd', '\ud83d'])
})

test('the sequence that is complete first ends the text, and of two the longer one', () => {
  for (const length of [1, 2, 3, 4]) {
    const heard = (stops: readonly string[], said: string): string => {
      const text = new StoppingText(stops)
      let told = ''
      for (let at = 0; at < said.length; at += length) told += taken(text, said.slice(at, at + length))
      return told + text.rest()
    }
    assert.equal(heard(['abcd', 'bc'], 'abcd'), 'a')
    assert.equal(heard(['bc', 'abc'], 'abcd'), '')
    assert.equal(heard(['', 'c'], 'abcd'), 'ab')
  }
})

test('texts of few letters, cut anywhere, end where a plain search ends them', () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
  let state = seed
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
  const letters = ['a', 'b', 'a', '😀', '😁', '\ud83d', '\ude00']
  const some = (most: number): string => (
    Array.from({ length: random(most + 1) }, () => letters[random(letters.length)]).join('')
  )
  for (let round = 0; round < 20_000; round++) {
    const stops = Array.from({ length: 1 + random(4) }, () => some(5))
    const said = some(24)
    const text = new StoppingText(stops)
    let heard = ''
    for (let at = 0, length = 0; at < said.length; at += length) {
      length = 1 + random(6)
      heard += taken(text, said.slice(at, at + length))
    }
    assert.equal(heard + text.rest(), naive(stops, said), JSON.stringify({ seed, round, stops, said }))
  }
})

test('each character costs the same, whatever is searched in whatever', async () => {
  const length = 4 * SEARCHED_AT_ONCE
  const spent = async (stops: readonly string[], said: string): Promise<number> => {
    let best = Infinity
    for (let round = 0; round < 3; round++) {
      const text = new StoppingText(stops)
      const begunAt = process.cpuUsage()
      const told = await text.take(said)
      best = Math.min(best, process.cpuUsage(begunAt).user)
      assert.equal((told + text.rest()).length, said.length)
    }
    return best
  }
  const long = 'a'.repeat(MAX_STOP_LENGTH - 1)
  const plain = await spent(Array.from({ length: MAX_STOPS }, () => 'b'), 'a'.repeat(length))
  for (const stop of [`b${long}`, `${long}b`, `${long.slice(500)}b${long.slice(500)}`]) {
    const each = await spent(Array.from({ length: MAX_STOPS }, () => stop), 'a'.repeat(length))
    assert.ok(each < 10 * plain + 20_000, `${each} µs against ${plain} µs`)
  }
})

test('a long text is searched in turns, and the end of one begins in one and ends in the next', async () => {
  const before = 'x'.repeat(2 * SEARCHED_AT_ONCE - 2)
  const text = new StoppingText(['stop here'])
  const told = text.take(`${before}stop here${before}`)
  assert.ok(typeof told !== 'string')
  let turns = 0
  setImmediate(() => { turns++ })
  assert.equal(await told, before)
  assert.equal(turns, 1)
  assert.equal(text.isOver, true)
  assert.equal(text.rest(), '')
})

test('many pieces that come at once are searched in turns too', async () => {
  const text = new StoppingText(['stop here'])
  const piece = 'x'.repeat(SEARCHED_AT_ONCE / 4)
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  for (let at = 0; at < 16; at++) assert.equal(await text.take(piece), piece)
  isOver = true
  assert.ok(turns >= 3, `${turns} turns`)
})
