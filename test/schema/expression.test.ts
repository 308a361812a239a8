import assert from 'node:assert/strict'
import test from 'node:test'
import { parseExpression } from '../../lib/schema/expression.ts'
import type { Expression } from '../../lib/schema/expression.ts'

/** A tree as text: `(a|b)` for a choice, `a{0,1}` for a repetition, `[a b]` for a sequence. */
function written(expression: Expression): string {
  switch (expression.kind) {
    case 'character': return expression.source
    case 'assertion': return `<${expression.source}>`
    case 'sequence': return expression.parts.length === 1 ? written(expression.parts[0]!)
      : `[${expression.parts.map(written).join(' ')}]`
    case 'choice': return `(${expression.branches.map(written).join('|')})`
    case 'repetition': return `${written(expression.part)}{${expression.min},${expression.max}}`
    case 'look-around': {
      const { part, isBehind, isNegative } = expression
      return `look${isBehind ? ' behind' : ''}${isNegative ? ' not' : ''} ${written(part)}`
    }
    case 'other': return '?'
  }
}

const rows: readonly (readonly [source: string, tree: string])[] = [
  ['', '[]'],
  ['abc', '[a b c]'],
  ['a|bc|', '(a|[b c]|[])'],
  ['(?:a|b)c', '[(a|b) c]'],
  ['(a)(?<name>b)', '[a b]'],
  ['a*b+?c?d{2}e{3,}f{4,5}?', '[a{0,Infinity} b{1,Infinity} c{0,1} d{2,2} e{3,Infinity} f{4,5}]'],
  ['(ab)*', '[a b]{0,Infinity}'],
  ['^a$|\\b\\B', '([<^> a <$>]|[<\\b> <\\B>])'],
  ['(?=a)(?!b)(?<=c)(?<!d)', '[look a look not b look behind c look behind not d]'],
  ['[a(|)\\]*]+', '[a(|)\\]*]{1,Infinity}'],
  ['[^]]', '[[^] ]]'],
  ['\\.\\(\\p{L}\\u{1F600}\\u0041\\x41\\cA\\0', '[\\. \\( \\p{L} \\u{1F600} \\u0041 \\x41 \\cA \\0]'],
  ['\\ud83d\\ude00*', '\\ud83d\\ude00{0,Infinity}'],
  ['😀+', '😀{1,Infinity}'],
  ['(a)\\1\\k<name>', '[a ? ?]'],
  ['(?i:a)', '[? i : a]'],
]

test('the tree of a pattern has what the pattern says', () => {
  for (const [source, tree] of rows) assert.equal(written(parseExpression(source)), tree, source)
})
