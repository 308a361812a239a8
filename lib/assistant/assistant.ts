/**
 * The agent that is served when none is given, without a model and without a network. In: a prompt and the
 * conversation; out: text, piece by piece. It finds the tool that can answer and calls it, as any client may.
 */
import { defineAgent } from '../define/agent.ts'
import { Fault } from '../define/fault.ts'
import { toolResultOf } from '../define/tool-result.ts'
import { makeTools } from './tools.ts'
import { understand } from './understand.ts'
import type { Agent } from '../define/agent.ts'
import type { Tool } from '../define/tool.ts'

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
  return defineAgent({
    name: 'Assistant',
    description: 'Calculates, converts units and number bases, answers questions about dates and time zones,'
      + ' and counts words. Remembers the conversation. Works without a language model.',
    skills,
    *run(prompt, call) {
      let fault: Fault | undefined
      for (const step of understand(prompt, call.history)) {
        if ('say' in step) return yield* pieces(step.say === 'help' ? help : step.say)
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
