/**
 * What the assistant says. In: a prompt, the earlier turns and a clock; out: the answer piece by piece, each
 * as soon as it is known. Problems become sentences here. It knows no protocol and no server.
 */

import type { Skill } from '../core/agent.ts'
import type { ChatMessage } from '../core/conversation.ts'
import { calculate } from './calculate.ts'
import type { Calculation } from './calculate.ts'
import { convert } from './convert.ts'
import { answerDate } from './date.ts'
import { remember } from './memory.ts'
import type { Memory } from './memory.ts'
import type { Clock } from './moment.ts'
import { Problem, shorten } from './problem.ts'
import { occurrences, textStats } from './text-stats.ts'
import { understand } from './understand.ts'
import type { Intent } from './understand.ts'

/** What it can do, with questions to try: the skills on the agent's card. */
export const skills: readonly Skill[] = [
  {
    id: 'calculate', name: 'Arithmetic', tags: ['math', 'units'],
    description: 'Works out expressions with precedence, percentages, functions and units.',
    examples: ['what is 12 * (3 + 4)?', '20% of 150', '60 km/h * 90 min'],
  },
  {
    id: 'convert', name: 'Conversions', tags: ['units', 'conversion'],
    description: 'Converts units of measure, number bases and Roman numerals.',
    examples: ['how many meters in 3.5 miles', 'convert 72 F to C', '255 in hex'],
  },
  {
    id: 'date', name: 'Dates and times', tags: ['date', 'time zones'],
    description: 'Tells the time in any zone, converts times, counts days and finds weekdays.',
    examples: ['what time is it in Tokyo', 'days until christmas', 'what day was 1969-07-20'],
  },
  {
    id: 'text_stats', name: 'Text statistics', tags: ['text'],
    description: 'Counts characters, words, sentences and lines, and finds the most frequent words.',
    examples: ['how many words in: to be or not to be'],
  },
]

const followUps = '"and times 2?", "convert that to feet", "what did I ask before?"'

const nothingBefore = 'There is nothing before this in our conversation.'

/** Answers one prompt. Never throws for what a prompt says. */
export function* answer(prompt: string, history: readonly ChatMessage[], clock: Clock): Generator<string, void> {
  const memory = remember(history)
  const intent = understand(prompt, memory)
  try {
    yield* respond(intent, memory, clock)
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause
    const subject = intent.skill === 'calculate' ? `out "${shorten(intent.expression, 200)}"` : 'that out'
    yield `I cannot work ${subject}. `
    yield cause.message
  }
}

function* respond(intent: Intent, memory: Memory, clock: Clock): Generator<string, void> {
  switch (intent.skill) {
    case 'calculate': return yield* equation(calculate(intent.expression))
    case 'convert': return yield* equation(convert(intent.value, intent.to))
    case 'date': return yield answerDate(intent.request, clock).text
    case 'text_stats': return yield* statistics(intent)
    case 'greeting':
      yield 'Hello! I calculate, convert, tell dates and times, and count words. '
      return yield 'Try "what is 12 * (3 + 4)?", or ask "what can you do?".'
    case 'thanks': return yield 'You are welcome.'
    case 'farewell': return yield 'Goodbye!'
    case 'recall':
      if (memory.question === undefined) return yield nothingBefore
      return yield `Before this you said: "${shorten(memory.question, 500)}"`
    case 'result': return yield memory.result ?? memory.answer ?? nothingBefore
    case 'last': return yield memory.answer ?? nothingBefore
    case 'lost': return yield 'There is no earlier result in this conversation that I could go on from.'
    case 'help': return yield* help('I am the assistant that comes with triport, and this is what I can do:')
    case 'unknown': return yield* help('I did not understand that. This is what I can do:')
  }
}

function* help(lead: string): Generator<string, void> {
  yield lead
  for (const { name, examples = [] } of skills) yield `\n- ${name}: "${examples.join('", "')}"`
  yield `\n- I remember our conversation: ${followUps}`
  yield '\nI am a program of fixed skills, not a language model: I cannot chat, write, or look anything up.'
}

/** `12 * 7 = 84`; ≈ where the digits are rounded. `memory.ts` reads this form back. */
function* equation({ expression, result, exact }: Calculation): Generator<string, void> {
  yield expression
  yield ` ${exact ? '=' : '≈'} `
  yield result
}

function* statistics(intent: Extract<Intent, { skill: 'text_stats' }>): Generator<string, void> {
  const { text, count, letter } = intent
  if (letter !== undefined) {
    return yield `"${letter}" occurs ${plural(occurrences(text, letter), 'time')} in "${shorten(text, 100)}".`
  }
  const stats = textStats(text)
  const figures = new Map([
    ['word', stats.words], ['character', stats.characters], ['sentence', stats.sentences],
    ['line', stats.lines], ['paragraph', stats.paragraphs], ['letter', stats.letters],
    ['code point', stats.code_points],
  ])
  const texts = Array.from(figures, ([noun, size]) => plural(size, noun))
  const [words, characters, sentences, lines, paragraphs] = texts
  if (count !== undefined) {
    const noun = figures.has(count) ? count : 'character'
    const wanted = plural(figures.get(noun)!, noun)
    return yield `${wanted} (${[words, characters, sentences].filter((each) => each !== wanted).join(', ')}).`
  }
  const frequent = stats.frequent_words.map(({ word, count: times }) => `${word} (${times})`).join(', ')
  yield `${words}, average length ${stats.average_word_length}.`
  yield `\n${characters}, ${stats.characters_without_spaces} without spaces.`
  yield `\n${sentences}, ${lines}, ${paragraphs}.`
  yield `\nMost frequent: ${frequent || 'no words'}.`
  yield `\nReading time: about ${plural(stats.reading_seconds, 'second')}.`
}

function plural(size: number, noun: string): string {
  return `${size} ${noun}${size === 1 ? '' : 's'}`
}
