/**
 * Resources and prompts: read, get, complete. What a client sent is checked here, so a protocol passes it on
 * as it came. Without a promise where the author's code returns none.
 */
import { pointerOf } from '../schema/error.ts'
import { isThenable } from '../util/thenable.ts'
import { FaultList, isName, sentenceWithin } from '../wire/bounded.ts'
import { runAround } from '../define/around.ts'
import { completionOf } from '../define/completion.ts'
import { givenMembers, isGiven, isRecord } from '../define/content.ts'
import { Fault } from '../define/fault.ts'
import { requireScopes } from '../define/principal.ts'
import { promptResultOf } from '../define/prompt.ts'
import { contentsOf } from '../define/resource.ts'
import { locateResource } from './located-resource.ts'
import { runHandler } from './run-handler.ts'
import type { MaybePromise } from '../util/thenable.ts'
import type { ProblemError } from '../wire/problem.ts'
import type { Catalog } from '../define/catalog.ts'
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
 * Completes an argument. `ref` is `{ type: 'ref/prompt', name }` or `{ type: 'ref/resource', uri }`, where
 * the URI is a template's own text; `argument` is `{ name, value }`; `context`, which may be left out, is
 * `{ arguments }`. No values where there is no completer.
 *
 * Throws `Fault('invalid')` for an unknown prompt, template or argument.
 */
export function complete(
  service: Service, ref: unknown, argument: unknown, context: unknown, call: LiveCall, session?: Workload,
): MaybePromise<Completion> {
  const { name, value } = isRecord(argument) ? argument : {}
  if (!isName(name) || !isName(value)) {
    throw new Fault('invalid', `'argument' must be an object with the strings 'name' and 'value'`)
  }
  const settled = isRecord(context) ? context['arguments'] : context
  const wrong: WrongTexts = new FaultList()
  const known = { arguments: texts(settled, `The arguments of 'context'`, wrong) }
  requireNone(wrong)
  const thing = completable(service.catalog, ref, name)
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

function completable(catalog: Catalog, ref: unknown, argument: string): Prompt | Resource | ResourceTemplate {
  const { type, name, uri } = isRecord(ref) ? ref : {}
  if (type === 'ref/prompt' && isName(name)) {
    const prompt = catalog.prompt(name)
    if (prompt === undefined) throw unknownPrompt(name)
    if (prompt.arguments.some((one) => one.name === argument)) return prompt
    throw new Fault('invalid', `The prompt '${name}' has no argument '${argument}'`)
  }
  if (type === 'ref/resource' && isName(uri)) {
    // A fixed resource has nothing to complete.
    const thing = catalog.template(uri) ?? catalog.resource(uri)
    if (thing === undefined) throw new Fault('invalid', `Unknown resource template: ${uri}`)
    if (thing.kind === 'resource' || thing.matcher.variables.includes(argument)) return thing
    throw new Fault('invalid', `The resource template '${uri}' has no variable '${argument}'`)
  }
  throw new Fault('invalid', `'ref' must be { type: 'ref/prompt', name } or { type: 'ref/resource', uri }`)
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

function unknownPrompt(name: string): Fault {
  return new Fault('invalid', `Unknown prompt: ${name}`)
}

function whenSettled<T>(output: unknown, normal: (output: unknown) => T): MaybePromise<T> {
  return isThenable(output) ? Promise.resolve(output).then(normal) : normal(output)
}
