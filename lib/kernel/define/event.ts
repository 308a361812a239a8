/**
 * What an author's code says of its work while it runs: the tools that it calls, its reasoning, the tokens
 * that it uses. Checked, and within bounds; how it is shown is the matter of each protocol.
 */
import { beginning, WholeCharacters } from '../wire/characters.ts'
import { formatJson } from '../wire/json.ts'
import { checkMembers, must, mustBeFlag, requireDefinition, show } from './validate.ts'
import type { Checks } from './validate.ts'

/** Tokens of a model. */
export interface Usage {
  /** All that was read, from a cache too. */
  readonly inputTokens: number
  /** All that was written, the reasoning too. */
  readonly outputTokens: number
  /** How many of `inputTokens` came from a cache. */
  readonly cachedInputTokens?: number | undefined
  /** How many of `outputTokens` were reasoning. */
  readonly reasoningTokens?: number | undefined
}

/**
 * A call of a tool, at its beginning and at its end: both have one `id`, and the end has the name of the
 * beginning where it has none. Or a piece of reasoning. Or tokens that were used: they add up in one run.
 */
export type CallEvent =
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly args?: unknown }
  | {
    readonly type: 'tool-result'; readonly id: string; readonly name?: string | undefined
    readonly result?: unknown; readonly isError?: boolean | undefined
  }
  | { readonly type: 'reasoning'; readonly text: string }
  | ({ readonly type: 'usage' } & Usage)

type Of<T extends CallEvent['type']> = Extract<CallEvent, { readonly type: T }>

/** Characters of an id or a name. */
const MAX_NAME = 256
/** Characters of the JSON of arguments, or of a result. */
const MAX_VALUE = 16_384
/** Calls of tools whose end may still come without a name. */
const MAX_OPEN = 100

const mustBeString = must((value) => typeof value === 'string', 'write a string')
const mustBeName = must((value) => typeof value === 'string' && value !== '',
  'write a string that is not empty')
const mustBeCount = must((value) => Number.isSafeInteger(value) && Number(value) >= 0,
  'write a whole number, zero or above')

/** What each may have, and an example of what it may not leave out. */
const forms: { readonly [T in CallEvent['type']]: readonly [Checks<Of<T>>, needed: Partial<Of<T>>] } = {
  'tool-call': [
    { type: true, id: mustBeName, name: mustBeName, args: true }, { id: '1', name: 'search' },
  ],
  'tool-result': [
    { type: true, id: mustBeName, name: mustBeString, result: true, isError: mustBeFlag }, { id: '1' },
  ],
  'reasoning': [{ type: true, text: mustBeString }, { text: 'Let me see' }],
  'usage': [{
    type: true, inputTokens: mustBeCount, outputTokens: mustBeCount, cachedInputTokens: mustBeCount,
    reasoningTokens: mustBeCount,
  }, { inputTokens: 20, outputTokens: 5 }],
}

/** Throws `TypeError` for what is no event. */
export function checkEvent(event: CallEvent): void {
  requireDefinition('call.event', event, `{ type: 'tool-call', id: '1', name: 'search', args: { … } }`)
  const { type } = event
  if (!Object.hasOwn(forms, type)) {
    const types = Object.keys(forms).map((one) => `'${one}'`).join(', ')
    throw new TypeError(`call.event has the type ${show(type)}; write one of ${types}`)
  }
  const owner = `call.event of the type '${type}'`
  const [checks, needed] = forms[type]
  checkMembers(owner, event, checks)
  for (const [member, example] of Object.entries(needed)) {
    if (Reflect.get(event, member) !== undefined) continue
    throw new TypeError(`${owner} needs '${member}', as in ${member}: ${show(example)}`)
  }
}

const counts = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'] as const

/** Both together. What neither has counted stays left out. */
export function addUsage(sum: Usage | undefined, more: Usage): Usage {
  const total: { -readonly [N in keyof Usage]: Usage[N] } = { inputTokens: 0, outputTokens: 0, ...sum }
  for (const name of counts) {
    const count = more[name]
    if (count !== undefined) total[name] = (total[name] ?? 0) + count
  }
  return total
}

/** The tokens of a run as a member of what protocols attach to results. */
export function usageMeta(usage: Usage | undefined): Readonly<Record<string, unknown>> | undefined {
  return usage && { 'triport/usage': usage }
}

export class RunEvents {
  usage: Usage | undefined
  /** The names of tools that run, by the ids of their calls. */
  readonly #names = new Map<string, string>()
  /** The reasoning of each agent, which comes in pieces. */
  #reasoning: Map<string | undefined, WholeCharacters> | undefined

  /** An event within its bounds, the end of a call with its name; undefined: it waits. Adds up tokens. */
  take(event: CallEvent, agent?: string): CallEvent | undefined {
    if (event.type === 'usage') this.usage = addUsage(this.usage, event)
    if (event.type === 'reasoning') return this.#takeReasoning(event.text, agent)
    if (event.type === 'tool-call') {
      const id = cut(event.id)
      const name = cut(event.name)
      if (this.#names.size < MAX_OPEN) this.#names.set(id, name)
      return { type: 'tool-call', id, name, args: shown(event.args) }
    }
    if (event.type !== 'tool-result') return event
    const id = cut(event.id)
    const name = event.name === undefined ? this.#names.get(id) : cut(event.name)
    this.#names.delete(id)
    return { type: 'tool-result', id, name, result: shown(event.result), isError: event.isError === true }
  }

  #takeReasoning(piece: string, agent: string | undefined): CallEvent | undefined {
    this.#reasoning ??= new Map()
    let characters = this.#reasoning.get(agent)
    if (characters === undefined) this.#reasoning.set(agent, characters = new WholeCharacters())
    const text = characters.take(piece)
    return text === '' && piece !== '' ? undefined : { type: 'reasoning', text }
  }

  /** What waits of an agent's reasoning, where something else follows. */
  endReasoning(agent?: string): CallEvent | undefined {
    const text = this.#reasoning?.get(agent)?.rest() ?? ''
    return text === '' ? undefined : { type: 'reasoning', text }
  }

  /** The agents that have reasoned; undefined is the one of the run. */
  get reasoners(): Iterable<string | undefined> { return this.#reasoning?.keys() ?? [] }
}

function cut(text: string): string {
  return beginning(text, MAX_NAME)
}

/** A value that JSON can write: of one that is too large the beginning as a text; else undefined. */
function shown(value: unknown): unknown {
  try {
    const json: string | undefined = formatJson(value)
    if (json === undefined) return undefined
    if (json.length <= MAX_VALUE) return value
    return `${beginning(typeof value === 'string' ? value : json, MAX_VALUE)}…`
  } catch {
    return undefined
  }
}

/** What an event says in a protocol that has only texts for it; undefined: nothing. */
export function sentenceOf(event: CallEvent): string | undefined {
  if (event.type === 'tool-call') return `Calls ${event.name}…`
  if (event.type !== 'tool-result') return undefined
  return `${event.name ?? 'The tool'} ${event.isError === true ? 'failed' : 'is done'}`
}
