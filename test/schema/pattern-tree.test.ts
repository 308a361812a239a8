import assert from 'node:assert/strict'
import test from 'node:test'
import { parsePattern } from '../../lib/schema/pattern.ts'
import type { PatternTree } from '../../lib/schema/pattern.ts'

/** A tree as text: `(a|b)` for a choice, `a{0,1}` for a repetition, `[a b]` for a sequence. */
function written(tree: PatternTree): string {
  switch (tree.kind) {
    case 'character': return tree.source
    case 'assertion': return `<${tree.source}>`
    case 'sequence': return tree.parts.length === 1 ? written(tree.parts[0]!)
      : `[${tree.parts.map(written).join(' ')}]`
    case 'choice': return `(${tree.branches.map(written).join('|')})`
    case 'repetition': return `${written(tree.part)}{${tree.min},${tree.max}}`
    case 'look-around': {
      const { part, isBehind, isNegative } = tree
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
  for (const [source, tree] of rows) assert.equal(written(parsePattern(source)), tree, source)
})
