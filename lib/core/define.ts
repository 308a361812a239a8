/**
 * What all definitions have in common: names, checks with a sentence that says what to write instead,
 * and the mark by which one kind is told from another.
 */
import { isScope, isStrings } from '../wire/scope.ts'
import { isRecord } from './content.ts'

/** The kinds of things that are served; `server.catalog.remove` takes one of these words. */
export type ServedKind = 'agent' | 'group' | 'tool' | 'resource' | 'resource-template' | 'prompt'

/** A picture for people (MCP `Icon`). */
export interface Icon {
  readonly src: string
  readonly mimeType?: string
  readonly sizes?: readonly string[]
  readonly theme?: 'light' | 'dark'
}

/** Longest id, in characters: an MCP name of 64 less `execute_` and `_workflow`. */
const MAX_ID = 48

/**
 * The id of a name: NFKD, marks dropped, lower case, every run outside `[a-z0-9]` one `-`, ends trimmed.
 * Throws `TypeError` where nothing or too much is left, and for `list`, which is a path of its own.
 */
export function slug(name: string): string {
  const id = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
    .replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
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

/** A string or nothing, or a `TypeError` that says which member of what is neither. */
export function requireText(owner: string, member: string, value: unknown): void {
  if (value === undefined || typeof value === 'string') return
  throw new TypeError(`${owner} has ${member} ${show(value)}; write a string, or leave it out`)
}

/** A function, or a `TypeError` that shows how to write it. */
export function requireFunction(owner: string, member: string, value: unknown, example: string): void {
  if (typeof value !== 'function') {
    throw new TypeError(`${owner} needs '${member}': a function, not ${show(value)}. Write ${example}`)
  }
}

/** A definition object, or a `TypeError` that shows one. */
export function requireDefinition(verb: string, value: unknown, example: string): void {
  if (isRecord(value)) return
  throw new TypeError(`${verb} takes an object, not ${show(value)}. Write ${verb}(${example})`)
}

/** A time limit in milliseconds, or a `TypeError`. */
export function requireTimeout(owner: string, value: unknown): void {
  if (value === undefined || (typeof value === 'number' && value > 0)) return
  const remedy = 'write milliseconds above zero, or Infinity for no limit'
  throw new TypeError(`${owner} has timeoutMs ${show(value)}; ${remedy}`)
}

/** Scopes as a frozen list, or a `TypeError`. Left out: none. */
export function scopesOf(owner: string, scopes: unknown): readonly string[] {
  const list: unknown = scopes ?? []
  if (!isStrings(list)) {
    throw new TypeError(`${owner} has scopes ${show(scopes)}; write a list of strings, as in ['orders:read']`)
  }
  const odd = list.find((scope) => !isScope(scope))
  if (odd === undefined) return Object.freeze([...list])
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
