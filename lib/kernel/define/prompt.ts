/**
 * A prompt, as an author defines it: a name, arguments that are text, a function that writes the messages.
 * Checked once, then frozen. How it is run is in `reading.ts`, what comes of it in `read-output.ts`.
 */
import { completersOf, hasCompleters } from './completion.ts'
import { isRecord } from './content.ts'
import {
  checkDefinition, checkMembers, describedChecks, mustBeFlag, mustBeText, requireDefinition, requireName,
  requireString, scopesOf, show,
} from './validate.ts'
import type { Call } from './call.ts'
import type { Completer, Completers } from './completion.ts'
import type { Content, ContentInput } from './content.ts'
import type { Checks, Described } from './validate.ts'

/** An argument of a prompt. Its value is always text. */
export interface PromptArgument {
  /** By what `get` finds it. */
  readonly name: string
  /** For people. Left out: clients show `name`. */
  readonly title?: string | undefined
  /** What to write there. */
  readonly description?: string | undefined
  /** Left out: false. */
  readonly required?: boolean | undefined
}

/** An argument as an author writes it. */
export interface PromptArgumentInput extends PromptArgument {
  /** Proposes values while a person types. */
  readonly complete?: Completer | undefined
}

const argumentChecks: Checks<PromptArgumentInput> = {
  name: true, title: mustBeText, description: mustBeText, required: mustBeFlag, complete: true,
}

/** The arguments that `get` receives: the required ones are there, the others may be. */
export type PromptArguments<A extends readonly PromptArgumentInput[]> =
  & { readonly [Required in Extract<A[number], { readonly required: true }>['name']]: string }
  & { readonly [Optional in Exclude<A[number], { readonly required: true }>['name']]?: string }

/** A message as an author writes it: text, or one block of content. */
export interface PromptMessageInput {
  readonly role: 'user' | 'assistant'
  readonly content: string | ContentInput
}

/** A whole result, as an author may give it. */
export interface PromptResultInput {
  readonly description?: string | undefined
  readonly messages: readonly PromptMessageInput[]
}

type Written = string | readonly PromptMessageInput[] | PromptResultInput

/** What `get` may return. A string is one message of the user. */
export type PromptOutput = Written | PromiseLike<Written>

/** A message in its normal form. */
export interface PromptMessage { readonly role: 'user' | 'assistant'; readonly content: Content }

/** A result in its normal form. */
export interface PromptResult { readonly description?: string; readonly messages: readonly PromptMessage[] }

/** What `definePrompt` takes. */
export interface PromptDefinition<
  A extends readonly PromptArgumentInput[] = readonly PromptArgumentInput[],
> extends Described {
  /** Left out; a prompt that is made already has one. */
  readonly kind?: undefined
  /** 1 to 128 of `A-Z a-z 0-9 _ . -`. */
  readonly name: string
  /** What a client fills in. Left out: nothing. */
  readonly arguments?: A | undefined
  /** What the caller's principal must have, all of it. */
  readonly scopes?: readonly string[] | undefined
  /** Completers by the argument's name; one may be in its argument instead. */
  readonly complete?: Completers | undefined
  /** Gets checked arguments, those that were not declared left out. */
  get(args: PromptArguments<A>, call: Call): PromptOutput
}

/** A prompt, ready to be served. */
export interface Prompt extends Described {
  readonly kind: 'prompt'
  readonly name: string
  readonly description: string
  readonly arguments: readonly PromptArgument[]
  readonly scopes: readonly string[]
  /** By the argument's name. */
  readonly completers: ReadonlyMap<string, Completer>
  readonly get: (args: Readonly<Record<string, string>>, call: Call) => PromptOutput
}

export const promptChecks: Checks<PromptDefinition> = {
  name: true, ...describedChecks, arguments: true, scopes: true, complete: true, get: true, kind: true,
}

const copyChecks: Checks<Prompt> & Checks<PromptDefinition> = { ...promptChecks, completers: true }

const EXAMPLE = `{ name: 'review', description: 'Reviews code.', `
  + `arguments: [{ name: 'code', required: true }], get: ({ code }) => 'Please review: ' + code }`

/**
 * Checks and freezes a prompt. Throws `TypeError`, also for a member that is not known; an object of a class
 * may have members of its own, which are its state. A copy of a prompt keeps its completers.
 */
export function definePrompt<const A extends readonly PromptArgumentInput[]>(
  definition: PromptDefinition<A> | Prompt,
): Prompt {
  requireDefinition('definePrompt', definition, EXAMPLE, arguments)
  const copied = hasCompleters(definition, 'prompt') ? definition as Prompt : undefined
  if (copied !== undefined && Object.isFrozen(copied)) return copied
  const given = definition as PromptDefinition
  const name = requireString('A prompt', 'name', given)
  const owner = `The prompt '${name}'`
  requireName(owner, name)
  checkDefinition(owner, 'prompt', given, 'get', copied === undefined ? promptChecks : copyChecks, EXAMPLE)
  const inputs = argumentsOf(name, owner, given.arguments)
  const { complete = copied && Object.fromEntries(copied.completers), ...rest } = given
  return Object.freeze<Prompt>({
    ...rest,
    kind: 'prompt',
    name,
    description: given.description ?? '',
    arguments: Object.freeze(inputs.map(({ complete: _, ...argument }) => Object.freeze(argument))),
    scopes: scopesOf(owner, given.scopes),
    completers: allCompleters(owner, inputs, complete),
    get: (args, call) => given.get(args, call),
  })
}

function argumentsOf(prompt: string, owner: string, inputs: unknown): readonly PromptArgumentInput[] {
  if (inputs === undefined) return []
  if (!Array.isArray(inputs)) {
    throw new TypeError(`${owner} has arguments ${show(inputs)}; write a list, as in `
      + `arguments: [{ name: 'code', required: true }]`)
  }
  const seen = new Set<string>()
  for (const input of inputs as readonly PromptArgumentInput[]) {
    if (!isRecord(input)) {
      const example = typeof input === 'string' ? input : 'code'
      throw new TypeError(`${owner} has the argument ${show(input)}; write { name: ${show(example)} }`)
    }
    const name = requireString(`An argument of the prompt '${prompt}'`, 'name', input)
    if (seen.has(name)) throw new TypeError(`${owner} has two arguments named '${name}'; rename one of them`)
    seen.add(name)
    checkMembers(`The argument '${name}' of the prompt '${prompt}'`, input, argumentChecks)
  }
  return inputs
}

/** The completers of single arguments, and those of the whole prompt. */
function allCompleters(
  owner: string, inputs: readonly PromptArgumentInput[], complete: Completers | undefined,
): ReadonlyMap<string, Completer> {
  const names = inputs.map(({ name }) => name)
  const beside = Object.fromEntries(inputs.map((input) => [input.name, input.complete]))
  const completers = new Map(completersOf(owner, beside, names))
  for (const [name, completer] of completersOf(owner, complete, names)) {
    if (completers.has(name)) throw new TypeError(`${owner} completes '${name}' twice; keep one of the two`)
    completers.set(name, completer)
  }
  return completers
}
