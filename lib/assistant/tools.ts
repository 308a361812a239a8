/**
 * The assistant's skills as typed tools: for the assistant, and for clients that call tools themselves. In:
 * checked arguments; out: a sentence for people, and the figures in it for machines.
 */
import { defineTool } from '../define/tool.ts'
import { calculate } from './calculate.ts'
import { answerDate } from './date.ts'
import { countText } from './text.ts'
import type { Tool, ToolResultInput } from '../define/tool.ts'
import type { LocalClock } from './date.ts'

const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const string = (description: string) => ({ type: 'string', minLength: 1, description }) as const
const object = <const P extends object, const R extends readonly string[]>(properties: P, required: R) =>
  ({ type: 'object', properties, required, additionalProperties: false }) as const

const told = ({ text, ...figures }: { readonly text: string }): ToolResultInput =>
  ({ content: [text], structuredContent: figures })

/** The tools. `readClock` says what time it is, whenever one of them has to know. */
export function makeTools(readClock: () => LocalClock): readonly Tool[] {
  return [
    defineTool({
      name: 'calculate', title: 'Arithmetic', annotations,
      description: 'Computes an expression: + - * / % ^ !, sqrt, round, max, ln, sin and others, pi and e,'
        + ' percentages ("150 + 20%", "20% of 150") and units ("60 km/h * 90 min").',
      inputSchema: object({ expression: string('For example "12 * (3 + 4)".') }, ['expression']),
      run: ({ expression }) => told(calculate(expression)),
    }),
    defineTool({
      name: 'convert', title: 'Conversions', annotations,
      description: 'Converts units of measure, and whole numbers between decimal, hex, octal and binary.',
      inputSchema: object({
        value: { type: ['number', 'string'], description: 'Such as 3.5, "5 ft 3 in" or "0xff".' },
        from: string('Unit of the value where it has none: "mi".'),
        to: string('Such as "km", "miles per hour" or "binary".'),
      }, ['value', 'to']),
      run: ({ value, to, from = '' }) => told(calculate(`${value} ${from}`, to)),
    }),
    defineTool({
      name: 'date', title: 'Dates and times', annotations: { ...annotations, idempotentHint: false },
      description: 'The time in a zone ("now"), a time in another zone ("convert"), how far apart dates are'
        + ' ("difference"), a date before or after another ("add"), what day a date is ("describe").',
      inputSchema: object({
        operation: { type: 'string', enum: ['now', 'convert', 'difference', 'add', 'describe'] },
        date: string('Such as "2026-03-01 15:00" or "next friday"; left out, today.'),
        until: string('For difference: the other date; left out, today.'),
        duration: string('For add: "90 days", "1 year 2 months" or "-3 hours".'),
        zone: string('Zone of the date: "Europe/Paris", "Tokyo" or "UTC+5:30".'),
        to_zone: string('For convert: the zone to convert to.'),
      }, ['operation']),
      run: (request) => told(answerDate(request, readClock())),
    }),
    defineTool({
      name: 'text_stats', title: 'Text statistics', annotations,
      description: 'Counts words, characters, sentences and lines of a text, or how often a letter is in it.',
      inputSchema: object({ text: string('Any text.'), letter: string('What to count in it.') }, ['text']),
      run: ({ text, letter }) => told(countText(text, letter)),
    }),
  ]
}
