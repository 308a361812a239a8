/**
 * One large piece of work in each turn of the event loop. To read, parse and answer megabytes takes tens of
 * milliseconds, and dozens of such requests may come at once: what is short has its turn in between.
 */
/** Bytes, or characters, from which on a body or a reply is a large one. */
export const LARGE_LENGTH: number = 128 * 1024

/** The event loop is one, whoever's server it runs. */
const waiting: (() => void)[] = []
const state = { isTaken: false }

/** Looked at before each body: whether something large was done in this turn, or waits already. */
export const turn: { readonly isTaken: boolean } = state

/** Says that something large was done: what else could be large waits for the next turn. */
export function takeTurn(): void {
  if (state.isTaken) return
  state.isTaken = true
  setImmediate(begin)
}

/** Does something in a later turn, in the order in which it was said. It must not throw. */
export function whenTurnIsFree(run: () => void): void {
  waiting.push(run)
  takeTurn()
}

function begin(): void {
  state.isTaken = false
  while (!state.isTaken) {
    const run = waiting.shift()
    if (run === undefined) return
    run()
  }
}
