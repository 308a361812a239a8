/**
 * What the assistant remembers: the turns of the conversation that the server hands over, nothing else.
 * In: earlier turns; out: the result that "that" means, as text that the skills read back, and the last
 * question and answer. It knows the form of the answers, not how they came about.
 */

import type { ChatMessage } from '../core/conversation.ts'
import { evaluate } from './calculate.ts'
import { unitText } from './quantity.ts'

/** What a conversation has come to; undefined where there is no such thing yet. */
export interface Memory {
  /** What "that" stands for: a number, an expression in parentheses, or a date. */
  readonly value: string | undefined
  /** The unit of `value`; empty where it has none. */
  readonly unit: string
  /** The answer that `value` is from. */
  readonly result: string | undefined
  readonly question: string | undefined
  readonly answer: string | undefined
}

/** Longest expression that is carried on instead of its rounded value. */
const maxCarried = 40
const maxAnswer = 1400

/** Reads the conversation, oldest turn first. */
export function remember(history: readonly ChatMessage[]): Memory {
  const none = { value: undefined, unit: '', result: undefined }
  return {
    ...recent(history) ?? none,
    question: history.findLast(({ role }) => role === 'user')?.content,
    answer: history.findLast(({ role }) => role === 'assistant')?.content,
  }
}

function recent(history: readonly ChatMessage[]): Pick<Memory, 'value' | 'unit' | 'result'> | undefined {
  for (const { role, content } of history.slice(-20).reverse()) {
    const value = role === 'assistant' ? valueOf(content.slice(0, maxAnswer)) : undefined
    if (value === undefined) continue
    const unit = value.startsWith('(') ? unitOf(value) ?? '' : ''
    return { value: value.replace(/^\((\d+(?:\.\d+)?)\)$/, '$1'), unit, result: content }
  }
  return undefined
}

/** The result in one answer. A rounded one is carried on as the exact expression that led to it. */
function valueOf(answer: string): string | undefined {
  if (/^(?:I |Before |Hello|There )/.test(answer)) return undefined
  const line = answer.split('\n').find((each) => / [=≈] /.test(each)) ?? ''
  const equals = line.lastIndexOf(' = ')
  const about = line.lastIndexOf(' ≈ ')
  const result = line.slice(Math.max(equals, about) + 3)
  if (equals > about && unitOf(result) !== undefined) return `(${result})`
  const left = line.slice(0, Math.max(equals, about))
  const unit = /^\S+ (.+)$/.exec(result)?.[1]
  const carried = unit === undefined || unitOf(left) === unit ? `(${left})` : `((${left}) in ${unit})`
  if (left.length < maxCarried && unitOf(carried) !== undefined) return carried
  if (unitOf(result) !== undefined) return `(${result})`
  const span = / is (\d[\w ,.]*?) (?:before|after) /.exec(answer.slice(0, 200))?.[1]
  const apart = span?.replace(/,| and/g, '')
  if (apart !== undefined && unitOf(apart) !== undefined) return `(${apart})`
  const first = answer.split('\n')[0]!
  return first.match(/\b\d{4}-\d\d-\d\d\b/g)?.at(-1) ?? /(?<![\w.])-?\d+(?:\.\d+)?(?![\w-])/.exec(first)?.[0]
}

/** The unit of an expression, empty for a plain number; undefined for what is no expression. */
function unitOf(text: string): string | undefined {
  try {
    return unitText(evaluate(text).units)
  } catch {
    return undefined
  }
}
