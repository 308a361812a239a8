/**
 * Names that a person wrote against the names that there are: an unknown option is refused, with the one that
 * was probably meant.
 */

/** What one sentence shows, in characters. */
const MAX_OWNER = 80
const MAX_NAME = 40
const MAX_LIST = 600

/**
 * Throws `TypeError` for the first of `given`'s own enumerable members whose name is none of `known`, even
 * where its value is undefined, and for what is no object. The sentence, of less than 1 KiB, begins with
 * `owner` and names the nearest known one, or all of them; `remedies` say what to write for some names.
 * Symbols are no options.
 */
export function rejectUnknown(
  owner: string, given: object, known: readonly string[], remedies?: ReadonlyMap<string, string>,
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const shown = given === null ? 'null' : Array.isArray(given) ? 'an array' : typeof given
    throw new TypeError(`${cut(owner, MAX_OWNER)} takes its options as an object, not ${shown}; `
      + `it has ${listOf(known)}`)
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const meant = nearest(name, known)
    const remedy = remedies?.get(name)
      ?? (meant === undefined ? `it has ${listOf(known)}` : `did you mean '${meant}'?`)
    throw new TypeError(`${cut(owner, MAX_OWNER)} has no option '${cut(name, MAX_NAME)}'; ${remedy}`)
  }
}

/**
 * The known name that a wrong one was probably meant to be: the same but for capitals, else the first of
 * those that at most `slips` of the keyboard lead to; left out: two. Undefined where none is near.
 */
export function nearest(name: string, known: readonly string[], slips = 2): string | undefined {
  const wrong = name.toLowerCase()
  let best: string | undefined
  let least = slips + 1
  for (const one of known) {
    const right = one.toLowerCase()
    // Two slips make any name of two letters out of any other, and half of one of four.
    const long = Math.max(wrong.length, right.length)
    const most = Math.min(least, wrong.length, right.length, Math.max(2, long / 2))
    if (Math.abs(wrong.length - right.length) >= most) continue
    const found = slipsBetween(wrong, right)
    if (found >= most) continue
    best = one
    least = found
  }
  return best
}

/** Letters put in, left out, changed or swapped with the next: the distance of Damerau and Levenshtein. */
export function slipsBetween(a: string, b: string): number {
  let before: readonly number[] = []
  let above: readonly number[] = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let slips = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        slips = Math.min(slips, before[j - 2]! + 1)
      }
      row.push(slips)
    }
    before = above
    above = row
  }
  return above[b.length]!
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  let text = ''
  for (const [index, name] of names.entries()) {
    const next = index === 0 ? name : `${text}, ${name}`
    if (next.length > MAX_LIST) return `${text} and ${names.length - index} more`
    text = next
  }
  return text
}

/** A text as part of a sentence: short, and on one line. */
function cut(text: string, length: number): string {
  const line = text.replace(/\p{C}+/gu, ' ')
  return line.length > length ? `${line.slice(0, length)}…` : line
}
