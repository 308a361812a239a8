/**
 * Completion of an argument while a person types it: what an author writes beside a prompt or a resource
 * template.
 */
import { isRecord } from './content.ts'
import { isOfKind, show } from './validate.ts'
import type { Call } from './call.ts'

/** The arguments that were settled before, by name. */
export interface CompletionContext { readonly arguments: Readonly<Record<string, string>> }

/** Proposals, as an author may give them besides a bare list. */
export interface CompletionInput {
  /** The best first; of more than 100 the rest is left out. */
  readonly values: readonly string[]
  /** How many there are, those not given included. */
  readonly total?: number
  /** Whether there are more than these. True wherever the rest is left out. */
  readonly hasMore?: boolean
}

type Proposed = readonly string[] | CompletionInput

/** What a completer may return. A bare list is all there is. */
export type CompletionOutput = Proposed | PromiseLike<Proposed>

/** Proposes values for what was typed so far. */
export type Completer = (value: string, context: CompletionContext, call: Call) => CompletionOutput

export type Completers = Readonly<Record<string, Completer | undefined>>

/** Proposals in their normal form: at most 100 values. */
export type Completion = CompletionInput

/** Whether a definition was made here, or copied from one that was. */
export function hasCompleters(definition: object, kind: 'prompt' | 'resource-template'): boolean {
  return isOfKind(definition, kind) && 'completers' in definition && definition.completers instanceof Map
}

/**
 * The completers of one definition, by name. `names` are those that can be completed. Throws `TypeError`
 * for another name and for what is no function.
 */
export function completersOf(
  owner: string, complete: Completers | undefined, names: readonly string[],
): ReadonlyMap<string, Completer> {
  const completers = new Map<string, Completer>()
  if (complete === undefined) return completers
  if (!isRecord(complete)) {
    throw new TypeError(`${owner} has complete ${show(complete)}; `
      + `write complete: { name: (value) => ['one', 'two'] }`)
  }
  for (const [name, completer] of Object.entries(complete)) {
    if (completer === undefined) continue
    if (!names.includes(name)) {
      const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`
      throw new TypeError(`${owner} completes '${name}', which is none of its arguments: ${known}`)
    }
    if (typeof completer !== 'function') {
      throw new TypeError(`${owner} completes '${name}' with ${show(completer)}; `
        + `write a function (value) => ['one', 'two']`)
    }
    completers.set(name, completer)
  }
  return completers
}
