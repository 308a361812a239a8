/**
 * Checks that all definitions share: tables of what each member may be, names, and values as messages show
 * them. Every error says what to write instead.
 */
import { nearest, rejectUnknown } from '../schema/options.ts'
import { isScope } from '../wire/challenge.ts'
import { formatJson, isStrings } from '../wire/json.ts'
import { isThenable } from '../util/thenable.ts'
import { isRecord } from './content.ts'

export { nearest, rejectUnknown } from '../schema/options.ts'

/** The kinds of things that are served; `server.catalog.remove` takes one of these words. */
export type ServedKind = 'agent' | 'group' | 'tool' | 'resource' | 'resource-template' | 'prompt'

/** A picture for people. */
export interface Icon {
  /** Where it lies: an address of http or https, or a `data:` URI. */
  readonly src: string
  /** Left out: what its address answers with. */
  readonly mimeType?: string | undefined
  /** `48x48` and so on, or `any`. Left out: any. */
  readonly sizes?: readonly string[] | undefined
  /** The background that it is made for. Left out: both. */
  readonly theme?: 'light' | 'dark' | undefined
}

/** What clients show of a tool, a resource or a prompt. */
export interface Described {
  /** Its name, for people. Left out: clients show `name`. */
  readonly title?: string | undefined
  /** What it is for, for a model and for people. */
  readonly description?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  /** Anything for the client's program, beside the definition in its list. JSON. */
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/** The names of everything that a `T` may have: all of them, and no other, or it does not compile. */
export type Members<T> = Readonly<Record<keyof T, true>>

/** Throws `TypeError` for a value that a member cannot have. Is not asked about undefined. */
export type MemberCheck = (owner: string, value: unknown, member: string) => void

/** A check of each member that a `T` may have; `true`: anything, or checked by itself. */
export type Checks<T> = Readonly<Record<keyof T, MemberCheck | true>>

type AnyChecks = Readonly<Record<string, MemberCheck | true>>

/**
 * Throws `TypeError` for a member of an object that its table does not have, naming the nearest one, and for
 * a value that the table refuses. An object of a class may keep its state in members of its own.
 */
export function checkMembers(
  owner: string, given: object, checks: AnyChecks, remedies?: ReadonlyMap<string, string>,
): void {
  if (isPlain(given)) rejectUnknown(owner, given, Object.keys(checks), remedies)
  checkValues(owner, given, checks)
}

/** The same of the values alone: other members are somebody else's. */
export function checkValues(owner: string, given: object, checks: AnyChecks): void {
  for (const member of Object.keys(checks)) {
    const check = checks[member]
    if (check === undefined || check === true) continue
    const value: unknown = Reflect.get(given, member)
    if (value !== undefined) check(owner, value, member)
  }
}

/** The same of the options of `verb`. Sentences about values name the option alone. */
export function checkOptionsOf(verb: string, options: object, checks: AnyChecks): void {
  rejectUnknown(verb, options, Object.keys(checks))
  checkValues('', options, checks)
}

/**
 * The check by a predicate. `remedy` ends the sentence `The tool 'a' has timeoutMs -1; …`. `shown`: how the
 * value stands in it; `typed` where it may hold a secret.
 */
export function must(
  allows: (value: unknown) => boolean, remedy: string, shown: (value: unknown) => string = show,
): MemberCheck {
  return (owner, value, member) => {
    if (!allows(value)) throw new TypeError(`${owner} has ${member} ${shown(value)}; ${remedy}`)
  }
}

/** Throws where one of these is left out, in the words of its check. */
export function requireMembers(
  owner: string, given: object, checks: AnyChecks, names: readonly string[],
): void {
  for (const name of names) {
    const check = checks[name]
    if (typeof check === 'function' && Reflect.get(given, name) === undefined) check(owner, undefined, name)
  }
}

/** The check of an option by a predicate. `remedy` ends the sentence `rateLimit is 5; …`. */
export function mustBe(
  allows: (value: unknown) => boolean, remedy: string, Mistake: ErrorConstructor = TypeError,
): MemberCheck {
  return (owner, value, member) => {
    const path = owner === '' ? member : `${owner}.${member}`
    if (!allows(value)) throw new Mistake(`${path} is ${show(value)}; ${remedy}`)
  }
}

/** The check of an option that is on or off. */
export const mustBeSwitch: MemberCheck = mustBe((value) => typeof value === 'boolean', 'write true or false')

/** The same of an object of options, whose members are checked too. */
export function mustBeOptions(remedy: string, checks: AnyChecks): MemberCheck {
  const mustBeRecord = mustBe(isRecord, remedy)
  return (owner, value, member) => {
    mustBeRecord(owner, value, member)
    checkMembers(owner === '' ? member : `${owner}.${member}`, value as object, checks)
  }
}

export const mustBeText: MemberCheck =
  must((value) => typeof value === 'string', 'write a string, or leave it out')

export const mustBeFlag: MemberCheck =
  must((value) => typeof value === 'boolean', 'write true or false')

export const mustBeTimeout: MemberCheck = must((value) => typeof value === 'number' && value > 0,
  'write milliseconds above zero, or Infinity for no limit')

export const mustBeRecover: MemberCheck = must((value) => value === 'rerun',
  `write 'rerun', or leave it out: then it runs at most once`)

/** A list of strings, such as `example`. */
export function mustBeTexts(example: string): MemberCheck {
  return must(isStrings, `write a list of strings, as in ${example}`)
}

export function mustBeOneOf(...words: readonly string[]): MemberCheck {
  const allowed: ReadonlySet<unknown> = new Set(words)
  const list = words.map((word) => `'${word}'`).join(', ').replace(/, ('\w+')$/, ' or $1')
  return must((value) => allowed.has(value), `write ${list}`)
}

/** An object such as `example`, with members that are checked too. */
export function mustHave(checks: AnyChecks, example: string): MemberCheck {
  const mustBeRecord = must(isRecord, `write ${example}`)
  return (owner, value, member) => {
    mustBeRecord(owner, value, member)
    checkMembers(`${owner}, in its ${member},`, value as object, checks)
  }
}

/** Clients refuse to load a picture from anywhere else, and know no place that a path could begin at. */
const mustBeIconAddress = must((src) => typeof src === 'string'
  && (/^data:[^,]*,/i.test(src) || (/^https?:\/\//i.test(src) && URL.canParse(src))),
  `write an address, as in 'https://example.com/a.png', or the picture itself, as in `
  + `'data:image/png;base64,…'`)

const iconChecks: Checks<Icon> = {
  src: mustBeIconAddress, mimeType: mustBeText, sizes: mustBeTexts(`['48x48']`),
  theme: mustBeOneOf('light', 'dark'),
}

/** A list of icons, or a `TypeError`. */
export function mustBeIcons(owner: string, icons: unknown): void {
  for (const one of Array.isArray(icons) ? icons as readonly unknown[] : [undefined]) {
    if (!isRecord(one) || typeof one['src'] !== 'string') {
      throw new TypeError(`${owner} has icons without a src; `
        + `write icons: [{ src: 'https://example.com/a.png' }]`)
    }
    checkMembers(`${owner}, in its icons,`, one, iconChecks)
  }
}

const mustBeMeta = must(isRecord, `write an object, as in { 'example.com/key': 1 }`)

/** What JSON cannot represent would break a whole list. */
function checkMeta(owner: string, meta: unknown): void {
  mustBeMeta(owner, meta, '_meta')
  requireJson(`${owner} has a _meta`, meta)
}

/** Throws `TypeError` for what JSON cannot represent. `what` begins the sentence, as in `It has a _meta`. */
export function requireJson(what: string, value: unknown): void {
  try {
    formatJson(value)
  } catch (cause) {
    const why = cause instanceof Error ? ` (${cause.message.slice(0, 60).replace(/\s+/g, ' ')})` : ''
    throw new TypeError(`${what} that JSON cannot represent${why}; write plain values`, { cause })
  }
}

export const describedChecks: Checks<Described> = {
  title: mustBeText, description: mustBeText, icons: mustBeIcons, _meta: checkMeta,
}

/** A non-empty string, or a `TypeError` that says which member of what is missing, and what looks like it. */
export function requireString(owner: string, member: string, definition: object): string {
  const value: unknown = Reflect.get(definition, member)
  if (typeof value === 'string' && value !== '') return value
  const near = value === undefined ? nearest(member, Object.keys(definition), 1) : undefined
  const remedy = near === undefined ? '' : `; it has '${near}', did you mean '${member}'?`
  throw new TypeError(`${owner} needs '${member}': a non-empty string, not ${show(value)}${remedy}`)
}

/** Throws `TypeError` for a name of a tool or a prompt that clients refuse. */
export function requireName(owner: string, name: string): void {
  if (/^[A-Za-z0-9_.-]{1,128}$/.test(name)) return
  throw new TypeError(`${owner} has a name that clients refuse; use 1 to 128 of A-Z a-z 0-9 _ . -`)
}

/** Whether an object was written as `{ … }`, or is of no class at all. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * A definition as members that `checks` has. What an object of a class inherits is among them; what it keeps
 * as its state is not. Functions are not bound.
 */
export function knownMembers<T extends object>(definition: T, checks: AnyChecks): T {
  if (isPlain(definition)) return definition
  const members = Object.keys(checks).map((member) => [member, Reflect.get(definition, member)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as T
}

/**
 * Throws `TypeError` for an argument after the `most` that `verb` takes: it would be ignored. A number is
 * fine after the first: `list.map(defineTool)` gives each its index.
 */
export function rejectMore(verb: string, given: ArrayLike<unknown>, remedy: string, most = 1): void {
  const more = given[most]
  if (more === undefined || (most === 1 && typeof more === 'number')) return
  throw new TypeError(`${verb} takes ${most === 1 ? 'one argument' : 'two arguments'}, and not also `
    + `${show(more)}; ${remedy}`)
}

/** A definition object, the only one of `all` arguments, or a `TypeError` that shows one. */
export function requireDefinition(
  verb: string, value: unknown, example: string, all: ArrayLike<unknown> = [],
): asserts value is object {
  rejectMore(verb, all, `write ${verb}(${example})`)
  rejectPromise(value)
  if (isRecord(value)) return
  throw new TypeError(`${verb} takes an object, not ${show(value)}. Write ${verb}(${example})`)
}

/** Throws `TypeError` for a promise where a definition, or a list of them, has to be. */
export function rejectPromise(value: unknown): void {
  if (isThenable(value)) throw new TypeError('Cannot serve a promise: write await before it')
}

/** The list of an offer that things of a kind belong to. */
const lists: ReadonlyMap<unknown, string> = new Map<ServedKind, string>([
  ['agent', 'agents'], ['group', 'groups'], ['tool', 'tools'], ['resource', 'resources'],
  ['resource-template', 'resourceTemplates'], ['prompt', 'prompts'],
])

export function isServedKind(kind: unknown): kind is ServedKind {
  return lists.has(kind)
}

/** Throws `TypeError` where what is defined as one kind is of another, and names the list for it. */
export function requireKind(owner: string, kind: ServedKind, definition: object): void {
  const given: unknown = Reflect.get(definition, 'kind')
  if (given === undefined || given === kind || !isPlain(definition)) return
  const list = lists.get(given)
  const remedy = list === undefined ? 'leave it out' : `put it into '${list}'`
  throw new TypeError(`${owner} has the kind ${show(given)}; ${remedy}`)
}

/** What others call the function of a definition; an object of a class inherits it. */
const otherNames = ['handler', 'execute', 'call', 'run'] as const

/** The name of a function in a definition that is none of the `known` ones; undefined where there is none. */
export function strayFunction(definition: object, known: object): string | undefined {
  return [...Object.keys(definition), ...otherNames]
    // What `invoke` takes is no prompt and no arguments alone: another name would not mend it.
    .find((name) => name !== 'invoke' && !Object.hasOwn(known, name)
      && typeof Reflect.get(definition, name) === 'function')
}

/**
 * Checks the kind, the function `member` and all other members of a definition. Where there is no such
 * function the `TypeError` shows one, or names the one that was given under another name; `remedies` say what
 * to write for some names of others.
 */
export function checkDefinition(
  owner: string, kind: ServedKind, definition: object, member: string, checks: AnyChecks, example: string,
  remedies?: ReadonlyMap<string, string>,
): void {
  requireKind(owner, kind, definition)
  const value: unknown = Reflect.get(definition, member)
  if (typeof value !== 'function') {
    const other = value === undefined ? strayFunction(definition, checks) : undefined
    const remedy = other === undefined ? `Write ${example}` : `Rename its '${other}' to '${member}'`
    throw new TypeError(`${owner} needs '${member}': a function, not ${show(value)}. ${remedy}`)
  }
  checkMembers(owner, definition, checks, remedies)
}

/** Whether a definition has this kind: made here, or by an author who copied one. */
export function isOfKind(definition: object, kind: ServedKind): boolean {
  return 'kind' in definition && definition.kind === kind
}

/** Scopes as a frozen list, or a `TypeError`. Left out: none. */
export function scopesOf(owner: string, scopes: unknown = []): readonly string[] {
  if (!isStrings(scopes)) {
    throw new TypeError(`${owner} has scopes ${show(scopes)}; write a list of strings, as in ['orders:read']`)
  }
  const odd = scopes.find((scope) => !isScope(scope))
  if (odd === undefined) return Object.freeze([...scopes])
  const remedy = 'write one name for each string: visible ASCII without spaces, quotes and backslashes'
  throw new TypeError(`${owner} has the scope ${show(odd)}; ${remedy}`)
}

/** A value in an error message: short, and never a whole object. */
export function show(value: unknown): string {
  if (typeof value === 'string') return formatJson(value.length > 60 ? value.slice(0, 60) + '…' : value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}

/** The same where it may be a secret: what a value is, without any of it. */
export function typed(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'object') return show(value)
  return `a ${typeof value}`
}

/**
 * The end of a sentence that says what may be sent: what came instead, and nobody would have read. Nothing,
 * where that is undefined, `null` or empty.
 */
export function unseen(what: unknown): string {
  return what === undefined || what === null || what === '' ? '' : `: ${show(what)} would not be seen`
}

/** A path of the server; undefined where it is the root. */
export function pathOf(option: string, path: string | undefined): string | undefined {
  if (path === undefined || path === '' || path === '/') return undefined
  // Clients resolve . and .. before they send a path.
  if (/^(?:\/(?!\.\.?(?:\/|$))[\w.~-]+)+$/.test(path)) return path
  const isOdd = /^\/.*[^/]$/.test(path)
  throw new TypeError(`${option} is ${show(path)}; write a path ${isOdd
    ? `of names of letters, digits, '-', '_', '.' and '~', as in '/team/agents'`
    : 'that begins, and does not end, with a slash'}`)
}
