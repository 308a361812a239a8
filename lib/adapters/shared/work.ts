/**
 * What agents of other frameworks say: of their work, as events, and their texts as one. What a model has
 * left out, or has counted wrongly, is passed over: the answer must not fail for it.
 */
import { memberAt, readMember, wordIn } from './shape.ts'
import type { Call } from '../../kernel/define/call.ts'
import type { Usage } from '../../kernel/define/event.ts'

/** Some models leave ids empty. */
const NO_ID = 'call'

/** What is no text says nothing. */
export function sayThought(call: Call, text: unknown): void {
  if (typeof text === 'string' && text !== '') call.event({ type: 'reasoning', text })
}

const REASONED = /^response\.reasoning(?:_summary)?_text\.delta$/

/** The reasoning in the events of a response. Of an item's text and summary the first that comes counts. */
export class ResponseThoughts {
  #item: unknown
  #type: unknown

  /** Nothing for other events. */
  say(call: Call, event: unknown): void {
    const type = wordIn(readMember(event, 'type')) ?? ''
    if (!REASONED.test(type)) return
    const item = readMember(event, 'item_id')
    if (item !== this.#item) this.#type = undefined
    this.#item = item
    this.#type ??= type
    if (type === this.#type) sayThought(call, readMember(event, 'delta'))
  }
}

export function sayToolCall(call: Call, id: unknown, name: unknown, args: unknown): void {
  call.event({ type: 'tool-call', id: wordIn(id) ?? NO_ID, name: wordIn(name) ?? 'tool', args })
}

/** Where there is no name, it is that of the call. */
export function sayToolResult(
  call: Call, id: unknown, name: unknown, result?: unknown, isError = false,
): void {
  call.event({ type: 'tool-result', id: wordIn(id) ?? NO_ID, name: wordIn(name), result, isError })
}

/** Tokens, as somebody has counted them. Where none were counted, some have zeros. */
export function sayUsage(call: Call, given: { readonly [N in keyof Usage]: unknown }): void {
  const inputTokens = countIn(given.inputTokens)
  const outputTokens = countIn(given.outputTokens)
  const cachedInputTokens = countIn(given.cachedInputTokens)
  const reasoningTokens = countIn(given.reasoningTokens)
  if (inputTokens + outputTokens === 0) return
  call.event({
    type: 'usage', inputTokens, outputTokens,
    ...cachedInputTokens > 0 && { cachedInputTokens }, ...reasoningTokens > 0 && { reasoningTokens },
  })
}

/** The same of an object that has counts: each is at the first of some paths where something is. */
export function sayUsageOf(
  call: Call, usage: unknown, input: string, output: string, cached: string = '', reasoning: string = '',
): void {
  if (typeof usage !== 'object' || usage === null) return
  const at = (paths: string): unknown => memberAt((member) => readMember(usage, String(member)), paths)
  sayUsage(call, {
    inputTokens: at(input), outputTokens: at(output), cachedInputTokens: at(cached),
    reasoningTokens: at(reasoning),
  })
}

/** A count; zero for what is none. */
export function countIn(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0
}

/** The texts of several messages as one: between two of them stands a blank line. */
export class Paragraphs {
  #last: unknown
  #isBegun = false

  /** A piece of the message `id`, with the blank line before it, where it does not begin with one. */
  next(id: unknown, text: string): string {
    if (text === '') return ''
    const isNext = this.#isBegun && id !== this.#last && !text.startsWith('\n\n')
    this.#isBegun = true
    this.#last = id
    return isNext ? `\n\n${text}` : text
  }
}
