/**
 * The words of an arithmetic expression. In: text as people type it (×, ÷, "times", "divided by", 1,234.5);
 * out: tokens with their positions. Linear in the length, which is bounded. It knows no values of names.
 */

import { parseReal } from './number.ts'
import type { Real } from './number.ts'
import { Problem, located, shorten } from './problem.ts'

/** One number, name or symbol. */
export interface Token {
  readonly kind: 'number' | 'name' | 'symbol' | 'end'
  /** Symbols in one spelling: + - * / ^ % ! ( ) , */
  readonly text: string
  /** Counted from 1. */
  readonly at: number
  readonly value?: Real
}

/** In UTF-16 code units. */
export const maxExpression = 1000

const alike = new Map([['×', '*'], ['⋅', '*'], ['·', '*'], ['÷', '/'], ['−', '-'], ['–', '-'], ['√', 'sqrt']])

/** "x" between two values. */
const cross = /x(?=\s*[\d(.])/iy

/** Words that stand for a symbol; the longer ones first. */
const words: readonly (readonly [RegExp, string])[] = [
  [cross, '*'],
  [/multiplied by\b|times\b|of\b/iy, '*'],
  [/divided by\b|over\b|per\b/iy, '/'],
  [/(?:raised )?to the power(?: of)?\b|\*\*/iy, '^'],
  [/squared\b|²/iy, '^2'],
  [/cubed\b|³/iy, '^3'],
  [/plus\b/iy, '+'],
  [/minus\b/iy, '-'],
  [/modulo\b|mod\b/iy, 'mod'],
  [/percent\b/iy, '%'],
]
const numbers = /0x[\da-f]+|0b[01]+|0o[0-7]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy
const grouped = /\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?(?:e[+-]?\d+)?/iy
const names = /°?[\p{L}µ_][\p{L}\d_]*|[°'"′″’”$€£¥₹]/uy

/** Splits `text`, ending in one `end` token. Throws a `Problem` for what belongs to no expression. */
export function tokenize(text: string): readonly Token[] {
  if (text.length > maxExpression) throw new Problem(`An expression has at most ${maxExpression} characters`)
  const tokens: Token[] = []
  const calls: boolean[] = []
  let index = 0
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = index
    return pattern.exec(text)?.[0]
  }
  while (index < text.length) {
    const at = index + 1
    const last = tokens.at(-1)
    const blank = match(/\s+/y)
    if (blank !== undefined) {
      index += blank.length
      continue
    }
    // Between the arguments of a function a comma separates; elsewhere it groups thousands.
    const digits = (calls.at(-1) ? undefined : match(grouped)) ?? match(numbers)
    if (digits !== undefined) {
      const value = located(at, () => parseReal(digits.replaceAll(',', '')))
      tokens.push({ kind: 'number', text: digits, at, value })
      index += digits.length
      continue
    }
    const afterValue = last !== undefined && (last.kind !== 'symbol' || last.text === ')')
    const word = words.find(([pattern]) => (afterValue || pattern !== cross) && match(pattern) !== undefined)
    const found = match(word?.[0] ?? names) ?? String.fromCodePoint(text.codePointAt(index)!)
    const symbol = word?.[1] ?? alike.get(found) ?? found
    index += found.length
    if (symbol === '^2' || symbol === '^3') {
      tokens.push({ kind: 'symbol', text: '^', at })
      tokens.push({ kind: 'number', text: symbol.slice(1), at, value: parseReal(symbol.slice(1)) })
    } else if (/^(?:[-+*/^%!(),]|mod)$/.test(symbol)) {
      if (symbol === '(') calls.push(last?.kind === 'name')
      if (symbol === ')') calls.pop()
      tokens.push({ kind: 'symbol', text: symbol, at })
    } else if (/^[°\p{L}µ_'"′″’”$€£¥₹]/u.test(symbol)) {
      tokens.push({ kind: 'name', text: symbol, at })
    } else {
      throw new Problem(`Unexpected "${shorten(found)}"`, undefined, at)
    }
  }
  return [...tokens, { kind: 'end', text: 'the end', at: text.length + 1 }]
}
