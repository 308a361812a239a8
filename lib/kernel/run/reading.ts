/**
 * Resources and prompts: read, get, complete. What a client sent is checked here, so a protocol passes it on
 * as it came. Without a promise where the author's code returns none.
 */
import { pointerOf } from '../schema/error.ts'
import { whenSettled } from '../util/thenable.ts'
import { FaultList, sentenceWithin } from '../wire/bounded.ts'
import { runAround } from '../define/around.ts'
import { givenMembers, isGiven, isRecord } from '../define/content.ts'
import { Fault } from '../define/fault.ts'
import { requireScopes } from '../define/principal.ts'
import { isServedKind } from '../define/validate.ts'
import { locateResource } from './located-resource.ts'
import { completionOf, contentsOf, promptResultOf } from './read-output.ts'
import { runHandler } from './run-handler.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { ProblemError } from '../wire/problem.ts'
import type { Completion } from '../define/completion.ts'
import type { ResourceContents } from '../define/content.ts'
import type { LiveCall } from '../define/live-call.ts'
import type { Prompt, PromptResult } from '../define/prompt.ts'
import type { Resource, ResourceTemplate } from '../define/resource.ts'
import type { Service } from './service.ts'
import type { Workload } from './workload.ts'

/**
 * Reads a resource: a fixed one of that URI, else by the first template that the URI fits.
 * Throws `Fault('not-found')` where there is none.
 */
export function readResource(
  service: Service, uri: string, call: LiveCall, session?: Workload,
): MaybePromise<readonly ResourceContents[]> {
  const located = locateResource(service.catalog, uri)
  if (located === undefined) {
    const shown = sentenceWithin(uri)
    throw new Fault('not-found', `Resource not found: ${shown}`, { uri: shown })
  }
  const { thing, variables, scopes } = located
  requireScopes(call.origin, scopes)
  const { around, limits: { toolTimeoutMs } } = service
  const normal = (read: unknown): readonly ResourceContents[] => contentsOf(read, uri, thing)
  const work = (): MaybePromise<readonly ResourceContents[]> => (
    whenSettled(thing.kind === 'resource' ? thing.read(call) : thing.read(variables, call), normal)
  )
  return runHandler(service, call, thing, toolTimeoutMs, around === undefined ? work : () => {
    const { kind, name } = thing
    const input = kind === 'resource' ? { uri } : { uri, variables }
    return runAround(around, { kind, name, input, call }, work, normal)
  }, undefined, session)
}

/**
 * Gets a prompt with its arguments, text by name. Throws `Fault('invalid')` for an unknown prompt, a
 * required argument that is missing, and a value that is not text; the detail of the last two lists them as
 * `errors`. The prompt gets only the arguments that it declares.
 */
export function getPrompt(
  service: Service, name: string, args: unknown, call: LiveCall, session?: Workload,
): MaybePromise<PromptResult> {
  const prompt = service.catalog.prompt(name)
  if (prompt === undefined) throw unknownPrompt(name)
  requireScopes(call.origin, prompt.scopes)
  const checked = argumentsOf(prompt, args)
  const { around, limits: { toolTimeoutMs } } = service
  const work = (): MaybePromise<PromptResult> => whenSettled(prompt.get(checked, call), promptResultOf)
  return runHandler(service, call, prompt, toolTimeoutMs, around === undefined ? work : () => (
    runAround(around, { kind: 'prompt', name, input: checked, call }, work, promptResultOf)
  ), undefined, session)
}

function argumentsOf(prompt: Prompt, args: unknown): Readonly<Record<string, string>> {
  const wrong: WrongTexts = new FaultList()
  const given = texts(args, `The arguments of the prompt '${prompt.name}'`, wrong)
  const taken: Record<string, string> = Object.create(null)
  for (const { name, required } of prompt.arguments) {
    const value = given[name]
    const path = pointerOf([name])
    if (value !== undefined) taken[name] = value
    else if (required === true && !wrong.items.some((one) => one.path === path)) {
      const sentence = `The prompt '${prompt.name}' needs the argument '${name}'`
      wrong.add({ path, message: 'is missing', sentence })
    }
  }
  requireNone(wrong)
  return taken
}

/**
 * Completes an argument of a prompt, or a variable of a template. `settled`: those that have a value already,
 * text by name, which may be left out. No values where there is no completer, and for a fixed resource.
 *
 * Throws `Fault('invalid')` for an argument that there is not, and for values that are not text; `TypeError`
 * for what is no such thing.
 */
export function complete(
  service: Service, thing: Prompt | Resource | ResourceTemplate, name: string, value: string,
  settled: unknown, call: LiveCall, session?: Workload,
): MaybePromise<Completion> {
  const isKnown = isRecord(thing) && isServedKind(thing.kind)
  if (!isKnown || typeof name !== 'string' || typeof value !== 'string') {
    throw new TypeError('complete takes a prompt, a template or a resource of the catalog, and two texts; '
      + `write complete(kernel, kernel.catalog.prompt('praise'), 'article', 'pe', { other: 'text' }, call)`)
  }
  requireArgument(thing, name)
  const wrong: WrongTexts = new FaultList()
  const known = { arguments: texts(settled, 'The arguments of the context', wrong) }
  requireNone(wrong)
  requireScopes(call.origin, thing.scopes)
  const completer = thing.kind === 'resource' ? undefined : thing.completers.get(name)
  const { around, limits: { toolTimeoutMs } } = service
  const work = (): MaybePromise<Completion> => (
    whenSettled(completer === undefined ? [] : completer(value, known, call), completionOf)
  )
  return runHandler(service, call, thing, toolTimeoutMs, around === undefined || completer === undefined
    ? work : () => {
      const input = { argument: name, value, arguments: known.arguments }
      return runAround(around, { kind: 'completion', name: thing.name, input, call }, work, completionOf)
    }, undefined, session)
}

function requireArgument(thing: Prompt | Resource | ResourceTemplate, name: string): void {
  if (thing.kind === 'prompt' && !thing.arguments.some((one) => one.name === name)) {
    throw new Fault('invalid', `The prompt '${thing.name}' has no argument '${name}'`)
  }
  if (thing.kind === 'resource-template' && !thing.matcher.variables.includes(name)) {
    throw new Fault('invalid', `The resource template '${thing.uriTemplate}' has no variable '${name}'`)
  }
}

type WrongTexts = FaultList<ProblemError & { readonly sentence: string }>

/** The strings of an object, in one without a prototype. Others go into `wrong`; null is none. */
function texts(value: unknown, what: string, wrong: WrongTexts): Readonly<Record<string, string>> {
  const taken: Record<string, string> = Object.create(null)
  if (!isGiven(value)) return taken
  if (!isRecord(value)) {
    const errors = [{ path: '', message: 'must be an object' }]
    throw new Fault('invalid', `${what} must be an object`, { errors })
  }
  for (const [name, text] of Object.entries(givenMembers(value))) {
    if (typeof text === 'string') {
      taken[name] = text
    } else {
      const sentence = `${what} must be strings, and '${name}' is not`
      wrong.add({ path: pointerOf([name]), message: 'must be a string', sentence })
    }
  }
  return taken
}

function requireNone({ items }: WrongTexts): void {
  if (items.length === 0) return
  const errors = items.map(({ path, message }) => ({ path, message }))
  throw new Fault('invalid', items.map(({ sentence }) => sentence).join('; '), { errors })
}

export function unknownPrompt(name: string): Fault {
  return new Fault('invalid', `Unknown prompt: ${name}`)
}
