/**
 * What an author writes. Both servers call these same functions, so what they cost stands on both sides
 * of every ratio.
 */
import { setImmediate } from 'node:timers/promises'

/** How many pieces a story has. */
export const PIECES = 200

/** How many pieces a short story has. */
export const FEW_PIECES = 20

/** What the agent is asked. Any other query is answered with a string, at once. */
export const STORY = 'Tell me a story'
export const SHORT_STORY = 'Tell me a short story'
export const SLOW_STORY = 'Tell me a story slowly'
export const ERRAND = 'Look it up'

/** The agent. */
export function run(query) {
  switch (query) {
    case STORY: return story(PIECES)
    case SHORT_STORY: return story(FEW_PIECES)
    case SLOW_STORY: return slowStory()
    case ERRAND: return errand(query)
    default: return reply(query)
  }
}

/** A tool. */
export function add({ a, b }) {
  return `${a} + ${b} = ${a + b}`
}

function reply(query) {
  return `You said: ${query}`
}

/** A string that has to be waited for, though not for long. */
async function errand(query) {
  await null
  return reply(query)
}

/** Pieces that are ready as soon as they are asked for. */
async function* story(pieces) {
  for (let piece = 1; piece <= pieces; piece++) yield `Piece ${piece} of the story. `
}

/** Pieces that come in a turn of the event loop each, as from a model that is somewhere else. */
async function* slowStory() {
  for await (const piece of story(PIECES)) {
    await setImmediate()
    yield piece
  }
}
