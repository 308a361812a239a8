/**
 * The source of a pattern to a tree: characters, assertions, sequences, choices, repetitions, look-arounds.
 *
 * It is given only what the runtime has taken as a regular expression, so it looks for no mistakes. What a
 * class or an escape means is left to the runtime: a leaf of the tree keeps its source.
 * Spec: ECMA-262 §22.2.1, with the `u` flag.
 */

/** A regular expression, or a piece of one. */
export type PatternTree =
  /** Reads one character, where it is one of those that the source means. */
  | { readonly kind: 'character'; readonly source: string }
  /** Reads nothing: `^`, `$`, `\b` or `\B`. */
  | { readonly kind: 'assertion'; readonly source: string }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'choice'; readonly branches: readonly PatternTree[] }
  | { readonly kind: 'repetition'; readonly part: PatternTree; readonly min: number; readonly max: number }
  | {
    readonly kind: 'look-around'
    readonly part: PatternTree
    readonly isBehind: boolean
    readonly isNegative: boolean
  }
  /** A back-reference, or syntax that is not known here. */
  | { readonly kind: 'other' }

const QUANTIFIER = '(?:(?<sign>[*+?])|\\{(?<least>\\d+)(?<comma>,?)(?<most>\\d*)\\})\\??'
const GROUP = '\\((?:\\?(?:(?<look><?[=!])|:|<[^>]*>))?'
const CLASS = '\\[(?:\\\\.|[^\\]\\\\])*\\]'
const ESCAPE = '\\\\(?:[pPu]\\{[^}]*\\}|u[dD][89abAB]..\\\\u[dD][c-fC-F]..|u....|x..|c.|k<[^>]*>|\\d+|.)'
const TOKEN = RegExp(`${QUANTIFIER}|${GROUP}|${CLASS}|${ESCAPE}|.`, 'gsu')

const ASSERTION = /^(?:\^|\$|\\b)$/i
const BEYOND = /^(?:\\[k1-9]|[*+?{])/

/** Reads the source of an expression that the runtime has taken. */
export function parsePattern(source: string): PatternTree {
  const tokens = [...source.matchAll(TOKEN)]
  let at = 0
  return choice()

  /** The token that comes next; the end of the source is like the end of a group. */
  function ahead(): string {
    return tokens[at]?.[0] ?? ')'
  }

  function choice(): PatternTree {
    const first = sequence()
    if (ahead() !== '|') return first
    const branches = [first]
    while (ahead() === '|') {
      at++
      branches.push(sequence())
    }
    return { kind: 'choice', branches }
  }

  function sequence(): PatternTree {
    const parts: PatternTree[] = []
    while (ahead() !== '|' && ahead() !== ')') parts.push(repeated(single()))
    return { kind: 'sequence', parts }
  }

  function single(): PatternTree {
    const token = tokens[at++]!
    const text = token[0]
    if (BEYOND.test(text)) return { kind: 'other' }
    if (ASSERTION.test(text)) return { kind: 'assertion', source: text }
    if (!text.startsWith('(')) return { kind: 'character', source: text }
    const part = choice()
    // Its `)`.
    at++
    const look = token.groups?.['look']
    if (look === undefined) return part
    return { kind: 'look-around', part, isBehind: look.startsWith('<'), isNegative: look.endsWith('!') }
  }

  function repeated(part: PatternTree): PatternTree {
    const { sign, least, comma, most } = tokens[at]?.groups ?? {}
    if (sign === undefined && least === undefined) return part
    at++
    if (sign !== undefined) {
      return { kind: 'repetition', part, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
    }
    const min = Number(least)
    return { kind: 'repetition', part, min, max: comma === '' ? min : Number(most || Infinity) }
  }
}
