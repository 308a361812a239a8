/**
 * The agent that is served when none is given, without a model and without a network, and its skills as typed
 * tools. The agent finds the tool that can answer a prompt and calls it, as any client may.
 */
import { ownAgent } from '../../kernel/define/agent.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { toolResultOf } from '../../kernel/define/tool-result.ts'
import { ownTool } from '../../kernel/define/tool.ts'
import { calculate } from './calculate.ts'
import { answerDate } from './date.ts'
import { countText } from './text.ts'
import { understand } from './understand.ts'
import type { Agent } from '../../kernel/define/agent.ts'
import type { Tool, ToolResultInput } from '../../kernel/define/tool.ts'
import type { LocalClock } from './date.ts'

const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const string = (description: string) => ({ type: 'string', minLength: 1, description }) as const
const object = <const P extends object, const R extends readonly string[]>(properties: P, required: R) =>
  ({ type: 'object', properties, required, additionalProperties: false }) as const

const resultOf = ({ text, ...figures }: { readonly text: string }): ToolResultInput =>
  ({ content: [text], structuredContent: figures })

/** The tools. `readClock` is called whenever one of them needs the time. */
export function makeTools(readClock: () => LocalClock): readonly Tool[] {
  return [
    ownTool({
      name: 'calculate', title: 'Arithmetic', annotations,
      description: 'Computes an expression: + - * / % ^ !, sqrt, round, max, ln, sin and others, pi and e,'
        + ' percentages ("150 + 20%", "20% of 150") and units ("60 km/h * 90 min").',
      inputSchema: object({ expression: string('For example "12 * (3 + 4)".') }, ['expression']),
      run: ({ expression }) => resultOf(calculate(expression)),
    }),
    ownTool({
      name: 'convert', title: 'Conversions', annotations,
      description: 'Converts units of measure, and whole numbers between decimal, hex, octal and binary.',
      inputSchema: object({
        value: { type: ['number', 'string'], description: 'Such as 3.5, "5 ft 3 in" or "0xff".' },
        from: string('Unit of the value where it has none: "mi".'),
        to: string('Such as "km", "miles per hour" or "binary".'),
      }, ['value', 'to']),
      run: ({ value, to, from = '' }) => resultOf(calculate(`${value} ${from}`, to)),
    }),
    ownTool({
      name: 'date', title: 'Dates and times', annotations: { ...annotations, idempotentHint: false },
      description: 'The time in a zone ("now"), how far apart dates are ("difference"), a date before or'
        + ' after another ("add"), what day a date is ("describe").',
      inputSchema: object({
        operation: { type: 'string', enum: ['now', 'difference', 'add', 'describe'] },
        date: string('Such as "2026-03-01" or "next friday"; left out, today.'),
        until: string('For difference: the other date; left out, today.'),
        duration: string('For add: "90 days", "1 year 2 months" or "-3 weeks".'),
        zone: string('Where it is now: "Europe/Paris" or "Tokyo".'),
      }, ['operation']),
      run: (request) => resultOf(answerDate(request, readClock())),
    }),
    ownTool({
      name: 'text_stats', title: 'Text statistics', annotations,
      description: 'Counts words, characters, sentences and lines of a text, or how often a letter is in it.',
      inputSchema: object({ text: string('Any text.'), letter: string('What to count in it.') }, ['text']),
      run: ({ text, letter }) => resultOf(countText(text, letter)),
    }),
  ]
}

/** Questions to try, by tool. */
const examples = new Map([
  ['calculate', ['what is 12 * (3 + 4)?', '20% of 150', '60 km/h * 90 min']],
  ['convert', ['how many meters in 3.5 miles', 'convert 72 F to C', '255 in hex']],
  ['date', ['what time is it in Tokyo', 'days until christmas', 'what day was 1969-07-20']],
  ['text_stats', ['how many words in: to be or not to be', 'how many r\'s in strawberry']],
])

/** An assistant that answers with these tools. */
export function makeAssistant(tools: readonly Tool[]): Agent {
  const skills = tools.map(({ name: id, title: name = id, description }) =>
    ({ id, name, description, examples: examples.get(id) ?? [] }))
  const help = [
    'This is what I can do:', ...skills.map((skill) => `- ${skill.name}: "${skill.examples.join('", "')}"`),
    '- I remember our conversation: "and times 2?", "convert that to feet", "what did I ask before?"',
    'I am a program of fixed skills, not a language model: I cannot chat, write, or look anything up.',
  ].join('\n')
  const pieces = (text: string): readonly string[] => text.split(/(?<=\n| [=≈] |[.:] )/)
  return ownAgent({
    name: 'Assistant',
    description: 'Calculates, converts units and number bases, answers questions about dates and time zones,'
      + ' and counts words. Remembers the conversation. Works without a language model.',
    skills,
    *run(prompt, call) {
      let fault: Fault | undefined
      for (const step of understand(prompt, call.history)) {
        if ('text' in step) return yield* pieces(step.text === 'help' ? help : step.text)
        try {
          const tool = tools.find(({ name }) => name === step.tool)
          const [block] = toolResultOf(tool?.run(step.args, call)).content
          return yield* pieces(block?.type === 'text' ? block.text : '')
        } catch (cause) {
          if (!(cause instanceof Fault)) throw cause
          if (step.isSure) fault ??= cause
        }
      }
      yield* pieces(fault ? `I cannot work that out. ${fault.message}.` : `I do not understand that. ${help}`)
    },
  })
}

/** The built-in tools, by the clock and in the zone of this process, and the assistant that uses them. */
export const tools: readonly Tool[] = Object.freeze(makeTools(() =>
  ({ now: Date.now(), zone: new Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC' })))
export const assistant: Agent = makeAssistant(tools)
