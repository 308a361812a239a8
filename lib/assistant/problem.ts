/**
 * The one way in which a skill of the assistant says no: a reason in plain words, where in the text it was
 * found, and a hint. Pure functions of this room throw it for bad input and for nothing else.
 * It does not know agents, tools or protocols; `tools.ts` and `answer.ts` translate it.
 */

/** Why a skill cannot answer; the message is one or two whole sentences. */
export class Problem extends Error {
  /** Without a full stop. */
  readonly reason: string
  /** A whole sentence that helps to do better. */
  readonly hint: string | undefined
  /** Counted from 1, in UTF-16 code units of the text that was given. */
  readonly position: number | undefined

  constructor(reason: string, hint?: string, position?: number) {
    const where = position === undefined ? '' : ` at position ${position}`
    super(`${reason}${where}.${hint === undefined ? '' : ` ${hint}`}`)
    this.name = 'Problem'
    this.reason = reason
    this.hint = hint
    this.position = position
  }
}

/** Runs `work`; a problem that does not yet say where it arose is thrown again with `position`. */
export function located<T>(position: number, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof Problem) || cause.position !== undefined) throw cause
    throw new Problem(cause.reason, cause.hint, position)
  }
}

/** Long text made short enough to be repeated in an answer. */
export function shorten(text: string, most = 40): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** A sentence that proposes the candidate most like `name`, or undefined when none is near. */
export function suggest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase()
  if (wanted.length < 2 || wanted.length > 40) return undefined
  let best: string | undefined
  let least = Math.min(3, Math.ceil(wanted.length / 3) + 1)
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= least) continue
    const steps = distance(wanted, candidate.toLowerCase())
    if (steps < least) [best, least] = [candidate, steps]
  }
  return best === undefined ? undefined : `Did you mean "${best}"?`
}

/** Levenshtein's distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}
