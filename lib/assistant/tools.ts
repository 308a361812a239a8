/**
 * The assistant's skills as typed tools, for clients that call tools themselves. In: checked arguments; out:
 * a sentence, and the figures beside it. A `Problem` of a skill becomes a `Fault` that the caller may read.
 * It knows nothing of sentences and of the agent.
 */

import { Fault } from '../core/fault.ts'
import { defineTool } from '../core/tool.ts'
import type { Tool, ToolResultInput } from '../core/tool.ts'
import { calculate as compute } from './calculate.ts'
import type { Calculation } from './calculate.ts'
import { convert as change } from './convert.ts'
import { answerDate } from './date.ts'
import type { Clock } from './moment.ts'
import { Problem } from './problem.ts'
import { textStats as count } from './text-stats.ts'

const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

const number = { type: 'number' } as const
const integer = { type: 'integer', minimum: 0 } as const
const string = { type: 'string' } as const
const boolean = { type: 'boolean' } as const

const calculation = {
  type: 'object',
  properties: {
    expression: { ...string, description: 'What was computed.' },
    result: { ...string, description: 'The value with its unit, as text with all its digits.' },
    exact: { ...boolean, description: 'False where the digits of result are rounded.' },
    value: { ...number, description: 'The value as a double.' },
    unit: { ...string, description: 'Empty for a plain number.' },
  },
  required: ['expression', 'result', 'exact', 'value', 'unit'],
} as const

/** The time now, in the zone of this process, or UTC where the system names none that exists. */
export function systemClock(): Clock {
  return {
    now: Date.now(),
    get zone() {
      // Undefined, whatever its type says, where TZ names no zone.
      const zone: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone
      return zone ?? 'UTC'
    },
  }
}

/** Runs a skill; its figures go beside `text`. */
function answered<T extends object>(work: () => T, text: (figures: T) => string): ToolResultInput {
  try {
    const figures = work()
    return { content: [text(figures)], structuredContent: figures }
  } catch (cause) {
    throw cause instanceof Problem ? new Fault('invalid', cause.message) : cause
  }
}

const equation = ({ expression, result, exact }: Calculation): string =>
  `${expression} ${exact ? '=' : '≈'} ${result}`

/** `calculate`: arithmetic. */
export const calculate: Tool = defineTool({
  name: 'calculate',
  title: 'Calculator',
  description: 'Computes an arithmetic expression, exactly where it can: + - * / % ^ ! and parentheses,'
    + ' functions (sqrt, round, min, max, average, sin, ln, log, …), pi and e, percentages ("150 + 20%",'
    + ' "20% of 150") and units ("3 km + 200 m", "60 km/h * 90 min in miles").',
  inputSchema: {
    type: 'object',
    properties: { expression: { type: 'string', minLength: 1, description: 'For example "12 * (3 + 4)".' } },
    required: ['expression'],
    additionalProperties: false,
  },
  outputSchema: calculation,
  annotations,
  run: ({ expression }) => answered(() => compute(expression), equation),
})

/** `convert`: units and bases. */
export const convert: Tool = defineTool({
  name: 'convert',
  title: 'Converter',
  description: 'Converts between units of length, mass, temperature, time, area, volume, speed, data,'
    + ' pressure, energy, power, force and angle; and whole numbers between decimal, hex, binary, octal,'
    + ' "base 7" and "roman".',
  inputSchema: {
    type: 'object',
    properties: {
      value: { type: ['number', 'string'], description: 'Such as 3.5, "5 ft 3 in", "0xff" or "MCMXCIV".' },
      from: { type: 'string', description: 'Unit or base of the value where it has none: "mi", "hex".' },
      to: { type: 'string', minLength: 1, description: 'Such as "km", "miles per hour" or "binary".' },
    },
    required: ['value', 'to'],
    additionalProperties: false,
  },
  outputSchema: calculation,
  annotations,
  run: ({ value, from, to }) => answered(() => change(value, to, from), equation),
})

/** `date`: dates and time zones, by the clock of this machine. */
export const date: Tool = defineTool({
  name: 'date',
  title: 'Dates and times',
  description: 'The time now in a zone ("now"), a time in another zone ("convert"), how far apart two dates'
    + ' are ("difference"), a date some time before or after another ("add"), and the weekday, ISO week and'
    + ' leap year of a date ("describe"). Zones are IANA names, cities, abbreviations or offsets.',
  inputSchema: {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: ['now', 'convert', 'difference', 'add', 'describe'] },
      date: { type: 'string', description: 'Such as "2026-03-01 15:00" or "next friday"; left out, today.' },
      until: { type: 'string', description: 'For difference: the other date; left out, today.' },
      duration: { type: 'string', description: 'For add: "90 days", "1 year 2 months" or "-3 hours".' },
      zone: { type: 'string', description: 'Zone of the date: "Europe/Paris", "Tokyo" or "UTC+5:30".' },
      to_zone: { type: 'string', description: 'For convert: the zone to convert to.' },
      unit: { type: 'string', description: 'For difference: weeks, days, hours, minutes or seconds.' },
    },
    required: ['operation'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      text: string, date: string, time: string, weekday: string, week: string, day_of_year: integer,
      leap_year: boolean, zone: string, offset: string, days: number, seconds: number,
    },
    required: ['text'],
  },
  annotations: { ...annotations, idempotentHint: false },
  run: (request) => answered(() => answerDate(request, systemClock()), ({ text }) => text),
})

/** `text_stats`: what is in a text. */
export const textStats: Tool = defineTool({
  name: 'text_stats',
  title: 'Text statistics',
  description: 'Counts the characters, words, sentences, lines and paragraphs of a text; also the average'
    + ' word length, the most frequent words and the reading time.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', description: 'At most 100,000 characters.' } },
    required: ['text'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      characters: integer, characters_without_spaces: integer, code_points: integer, letters: integer,
      words: integer, sentences: integer, lines: integer, paragraphs: integer, average_word_length: number,
      longest_word: string, reading_seconds: integer,
      frequent_words: {
        type: 'array', items: { type: 'object', properties: { word: string, count: integer } },
      },
    },
  },
  annotations,
  run: ({ text }) => answered(() => count(text), (stats) =>
    `Words: ${stats.words}, characters: ${stats.characters}, sentences: ${stats.sentences}.`),
})
