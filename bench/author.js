/**
 * What an author writes: one agent and fifty tools, the agent's own among them. Every server that is
 * measured calls these same functions, so what they cost stands on both sides of every ratio.
 */
/** How many pieces the stories have. */
export const PIECES = 200
export const FEW_PIECES = 20

/** What the agent is asked. Any other query is answered with a string, at once. */
export const STORY = 'Tell me a story'
export const SHORT_STORY = 'Tell me a short story'
export const READY_STORY = 'Read me a story'
export const SHORT_READY_STORY = 'Read me a short story'
export const ERRAND = 'Look it up'

/** The agent. */
export function run(query) {
  switch (query) {
    case STORY: return story(PIECES)
    case SHORT_STORY: return story(FEW_PIECES)
    case READY_STORY: return readyStory(PIECES)
    case SHORT_READY_STORY: return readyStory(FEW_PIECES)
    case ERRAND: return errand(query)
    default: return reply(query)
  }
}

export const agent = {
  name: 'Assistant', description: 'Repeats what it hears, or tells a story.', run,
}

const twoNumbers = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
}

const row = {
  type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' }, price: { type: 'number' } },
  required: ['id', 'name', 'price'],
}

/** The tools, which are listed after the agent's own. */
export const tools = [
  { name: 'add', description: 'Adds two numbers.', inputSchema: twoNumbers, run: add },
  {
    name: 'add_later', description: 'Adds two numbers, not at once.', inputSchema: twoNumbers,
    async run(args) {
      await null
      return add(args)
    },
  },
  {
    name: 'count_characters', description: 'Counts the characters of a text.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    run: ({ text }) => `${text.length} characters`,
  },
  {
    name: 'count_rows', description: 'Counts the rows of a table.',
    inputSchema: { type: 'object', properties: { rows: { type: 'array', items: row } }, required: ['rows'] },
    run: ({ rows }) => `${rows.length} rows`,
  },
  ...Array.from({ length: 45 }, (_, index) => ({
    name: `add_${index + 1}`, description: 'Adds two numbers.', inputSchema: twoNumbers, run: add,
  })),
]

function add({ a, b }) {
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

/** Pieces that come in a turn of the event loop each, as from a model that is somewhere else. */
async function* story(pieces) {
  for (let piece = 1; piece <= pieces; piece++) {
    await new Promise(nextTurn)
    yield `Piece ${piece} of the story. `
  }
}

/** Pieces that are ready as soon as they are asked for. */
async function* readyStory(pieces) {
  for (let piece = 1; piece <= pieces; piece++) yield `Piece ${piece} of the story. `
}

function nextTurn(resolve) {
  setImmediate(resolve)
}
