import assert from 'node:assert/strict'
import test from 'node:test'
import { StoppingText } from '../../lib/rest/chat-stop.ts'

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

test('a text ends before the first of its sequences, however it comes in pieces', () => {
  for (const [what, stops, said, told] of cases) {
    for (let length = 1; length <= said.length; length++) {
      const text = new StoppingText(stops)
      let heard = ''
      for (let at = 0; at < said.length; at += length) heard += text.take(said.slice(at, at + length))
      assert.equal(text.isOver, told !== said, what)
      assert.equal(heard + text.rest(), told, `${what}, ${length} at a time`)
    }
  }
})

test('only what may begin a sequence is held back', () => {
  const text = new StoppingText(['END'])
  assert.deepEqual([text.take('one E'), text.take('N'), text.take('d'), text.rest()], ['one', ' ', 'E', 'Nd'])
})

test('no half of a character is told alone', () => {
  const text = new StoppingText(['!!'])
  assert.deepEqual([text.take('a😀'), text.take('b'), text.rest()], ['a', '😀', 'b'])
})
