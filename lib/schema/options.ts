/**
 * Names that nobody knows, in options or in a definition: each is an author's mistake, and is told with the
 * name that was probably meant.
 */
import { cut } from './error.ts'

/** How many letters may be wrong: left out, put in, replaced, or swapped with the next. */
const MAX_DISTANCE = 2
/** Bytes of a list of names in a message. */
const MAX_LIST = 400

/**
 * Throws a TypeError for the first name in `given` that is not known. `owner` starts the sentence:
 * `compile has no option` gives `compile has no option 'fromats'; did you mean 'formats'?`.
 */
export function rejectUnknown(owner: string, given: object, known: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const [nearest] = known
      .map((one) => ({ one, off: distance(one.toLowerCase(), name.slice(0, 64).toLowerCase()) }))
      .filter(({ one, off }) => off <= MAX_DISTANCE && off < one.length - 1)
      .sort((a, b) => a.off - b.off)
    const remedy = nearest === undefined
      ? `known are ${cut(known.map((one) => `'${one}'`).join(', '), MAX_LIST)}`
      : `did you mean '${nearest.one}'?`
    throw new TypeError(`${owner} '${cut(name, 64)}'; ${remedy}`)
  }
}

/** The Damerau–Levenshtein distance, of which no letter is part of two swaps. */
function distance(one: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      const swapped = isSwapped ? before[j - 2]! + 1 : Infinity
      next[j] = Math.min(row[j - 1]! + (isSame ? 0 : 1), row[j]! + 1, next[j - 1]! + 1, swapped)
    }
    before = row
    row = next
  }
  return row[other.length]!
}
