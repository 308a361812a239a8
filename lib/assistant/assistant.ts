/**
 * The agent that is served when none is given, and its skills as tools: arithmetic, conversions, dates and
 * text statistics, without a model and without a network. In: a prompt and the conversation; out: text, piece
 * by piece. It knows no protocol.
 */

import { defineAgent } from '../core/agent.ts'
import type { Agent } from '../core/agent.ts'
import type { Call } from '../core/call.ts'
import type { Tool } from '../core/tool.ts'
import { answer, skills } from './answer.ts'
import { calculate, convert, date, systemClock, textStats } from './tools.ts'

/** The built-in assistant. What it is asked must fit its skills; it says so when it does not. */
export const assistant: Agent = defineAgent({
  name: 'Assistant',
  description: 'Calculates, converts units and number bases, answers questions about dates and time zones,'
    + ' and counts words. Remembers the conversation. Works without a language model.',
  skills,
  *run(prompt: string, call: Call) {
    yield* answer(prompt, call.history, systemClock())
  },
})

/** The same skills, for clients that call tools: `calculate`, `convert`, `date`, `text_stats`. */
export const tools: readonly Tool[] = Object.freeze([calculate, convert, date, textStats])
