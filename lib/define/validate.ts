/**
 * What all definitions have in common: names, checks with a sentence that says what to write instead,
 * and the mark by which one kind is told from another.
 */
import { rejectUnknown } from '../schema/options.ts'
import { isStrings } from '../wire/json.ts'
import { isScope } from '../wire/challenge.ts'
import { isRecord } from './content.ts'

export { nearest, rejectUnknown } from '../schema/options.ts'

/** The kinds of things that are served; `server.catalog.remove` takes one of these words. */
export type ServedKind = 'agent' | 'group' | 'tool' | 'resource' | 'resource-template' | 'prompt'

/** A picture for people (MCP `Icon`). */
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

/** The names of everything that a `T` may have: all of them, and no other, or it does not compile. */
export type Members<T> = Readonly<Record<keyof T, true>>

/** Names of members, whosever. */
type Names = Readonly<Record<string, true>>

const icon: Members<Icon> = { src: true, mimeType: true, sizes: true, theme: true }

/** Longest id, in characters: `execute_<id>_task` stays within the 64 that many clients allow a tool. */
const MAX_ID = 48

/**
 * The id of a name: NFKD, marks dropped, lower case, every run outside `[a-z0-9]` one `-`, ends trimmed.
 * Throws `TypeError` where nothing or too much is left, and for `list`, which is a path of its own.
 */
export function slug(name: string): string {
  // Most names are ASCII, and the table of all marks takes a millisecond to be made.
  const letters = /^[\0-\x7f]*$/.test(name) ? name : name.normalize('NFKD').replace(/\p{M}/gu, '')
  const id = letters.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
  if (id === '') {
    const remedy = `give an id, as in { id: 'helper' }`
    throw new TypeError(`The name '${name}' has no letter or digit to make an id of; ${remedy}`)
  }
  if (id.length > MAX_ID) {
    const remedy = `give a shorter name, or an id of at most ${MAX_ID}`
    throw new TypeError(`The id '${id}' has ${id.length} characters; ${remedy}`)
  }
  if (id === 'list') throw new TypeError(`The id 'list' is taken by the list of agents; choose another name`)
  return id
}

/** A non-empty string, or a `TypeError` that says which member of what is missing. */
export function requireString(owner: string, member: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new TypeError(`${owner} needs '${member}': a non-empty string, not ${show(value)}`)
}

/** Throws `TypeError` for a name of a tool or a prompt that clients refuse. */
export function requireName(owner: string, name: string): void {
  if (/^[A-Za-z0-9_.-]{1,128}$/.test(name)) return
  throw new TypeError(`${owner} has a name that clients refuse; use 1 to 128 of A-Z a-z 0-9 _ . -`)
}

/** A string or nothing, or a `TypeError` that says which member of what is neither. */
export function requireText(owner: string, member: string, value: unknown): void {
  if (value === undefined || typeof value === 'string') return
  throw new TypeError(`${owner} has ${member} ${show(value)}; write a string, or leave it out`)
}

/**
 * Throws `TypeError` for a member of a definition that is none of `known`, by the nearest one. Only a plain
 * object is looked at: an object of a class may keep its state in members of its own.
 */
export function rejectUnknownMembers(owner: string, definition: object, known: Names): void {
  if (isPlain(definition)) rejectUnknown(owner, definition, Object.keys(known))
}

/** Whether an object was written as `{ … }`, or is of no class at all. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** What others call the function of a definition; an object of a class inherits it. */
const elsewhere = ['handler', 'execute', 'call', 'run'] as const

/** The name of a function in a definition that is none of the `known` ones; undefined where there is none. */
export function strayFunction(definition: object, known: Names): string | undefined {
  return [...Object.keys(definition), ...elsewhere]
    // What `invoke` takes is no prompt and no arguments alone: another name would not mend it.
    .find((name) => name !== 'invoke' && !Object.hasOwn(known, name)
      && typeof Reflect.get(definition, name) === 'function')
}

/**
 * Throws `TypeError` where `member` of a definition is no function: it shows how to write it, or names the
 * one that was given under a name that is not `known`.
 */
export function requireFunction(
  owner: string, member: string, definition: object, known: Names, example: string,
): void {
  const value: unknown = Reflect.get(definition, member)
  if (typeof value === 'function') return
  const other = value === undefined ? strayFunction(definition, known) : undefined
  const remedy = other === undefined ? `Write ${example}` : `Rename its '${other}' to '${member}'`
  throw new TypeError(`${owner} needs '${member}': a function, not ${show(value)}. ${remedy}`)
}

/** Throws `TypeError` for a class where a function is meant: it could not be called. */
export function rejectClass(owner: string, given: Function): void {
  if (!/^class\b/.test(Function.prototype.toString.call(given))) return
  throw new TypeError(`${owner} is the class ${given.name || 'itself'}; write new ${given.name || 'Agent'}()`)
}

/**
 * Throws `TypeError` for an argument after the `most` that `verb` takes: what somebody has written there
 * would be ignored. A number is none: `list.map(defineTool)` gives each its place in the list.
 */
export function rejectMore(verb: string, given: ArrayLike<unknown>, remedy: string, most = 1): void {
  const more = given[most]
  if (more === undefined || typeof more === 'number') return
  throw new TypeError(`${verb} takes ${most === 1 ? 'one argument' : 'two arguments'}, and not also `
    + `${show(more)}; ${remedy}`)
}

/** A definition object, or a `TypeError` that shows one. */
export function requireDefinition(verb: string, value: unknown, example: string): asserts value is object {
  if (isRecord(value)) return
  throw new TypeError(`${verb} takes an object, not ${show(value)}. Write ${verb}(${example})`)
}

/** Throws `TypeError` where what is defined as one kind is of another, and says where it belongs. */
export function requireKind(owner: string, kind: ServedKind, definition: object): void {
  const given: unknown = Reflect.get(definition, 'kind')
  if (given === undefined || given === kind || !isPlain(definition)) return
  const list = typeof given === 'string' ? lists.get(given) : undefined
  const remedy = list === undefined ? 'leave it out' : `put it into '${list}'`
  throw new TypeError(`${owner} has the kind ${show(given)}; ${remedy}`)
}

/** The list of an offer that things of a kind belong to. */
const lists: ReadonlyMap<string, string> = new Map<ServedKind, string>([
  ['agent', 'agents'], ['group', 'groups'], ['tool', 'tools'], ['resource', 'resources'],
  ['resource-template', 'resourceTemplates'], ['prompt', 'prompts'],
])

/** A time limit in milliseconds, or a `TypeError`. */
export function requireTimeout(owner: string, value: unknown): void {
  if (value === undefined || (typeof value === 'number' && value > 0)) return
  const remedy = 'write milliseconds above zero, or Infinity for no limit'
  throw new TypeError(`${owner} has timeoutMs ${show(value)}; ${remedy}`)
}

/** What becomes of a task whose process dies, or a `TypeError`. */
export function requireRecover(owner: string, value: unknown): void {
  if (value === undefined || value === 'rerun') return
  const remedy = "write 'rerun', or leave it out: then it runs at most once"
  throw new TypeError(`${owner} has recover ${show(value)}; ${remedy}`)
}

/** A list of strings or nothing, or a `TypeError` that shows one. */
export function requireTexts(owner: string, member: string, value: unknown, example: string): void {
  if (value === undefined || isStrings(value)) return
  throw new TypeError(`${owner} has ${member} ${show(value)}; write a list of strings, as in ${example}`)
}

/** A list of icons or nothing, or a `TypeError`. */
export function requireIcons(owner: string, icons: unknown): void {
  if (icons === undefined) return
  const list: readonly unknown[] = Array.isArray(icons) ? icons : [undefined]
  for (const one of list) {
    if (!isRecord(one) || typeof one['src'] !== 'string') {
      throw new TypeError(`${owner} has icons without a src; `
        + `write icons: [{ src: 'https://example.com/a.png' }]`)
    }
    const which = `${owner}, in its icons,`
    rejectUnknownMembers(which, one, icon)
    const { src, mimeType, sizes, theme } = one
    requireIconAddress(which, src)
    requireText(which, 'mimeType', mimeType)
    requireTexts(which, 'sizes', sizes, `['48x48']`)
    if (theme === undefined || theme === 'light' || theme === 'dark') continue
    throw new TypeError(`${which} has theme ${show(theme)}; write 'light' or 'dark'`)
  }
}

/** Clients refuse to load a picture from anywhere else, and know no place that a path could begin at. */
function requireIconAddress(owner: string, src: unknown): void {
  const isFine = typeof src === 'string'
    && (/^data:[^,]*,/i.test(src) || (/^https?:\/\//i.test(src) && URL.canParse(src)))
  if (isFine) return
  const remedy = `write an address, as in 'https://example.com/a.png', or the picture itself, as in `
    + `'data:image/png;base64,…'`
  throw new TypeError(`${owner} has src ${show(src)}; ${remedy}`)
}

/** What clients read in `_meta`, or nothing; else a `TypeError`: one of these would break a whole list. */
export function requireMeta(owner: string, meta: unknown): void {
  if (meta === undefined) return
  if (!isRecord(meta)) {
    throw new TypeError(`${owner} has _meta ${show(meta)}; write an object, as in { 'example.com/key': 1 }`)
  }
  try {
    JSON.stringify(meta)
  } catch (cause) {
    const why = cause instanceof Error ? ` (${cause.message.slice(0, 60).replace(/\s+/g, ' ')})` : ''
    throw new TypeError(`${owner} has a _meta that JSON cannot say${why}; write plain values`, { cause })
  }
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
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? value.slice(0, 60) + '…' : value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}

/** The same where it may be a secret: what a value is, without any of it. */
export function typed(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'object') return show(value)
  return `a ${typeof value}`
}
