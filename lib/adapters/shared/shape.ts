/** Reads what an object of another framework looks like. Nothing of theirs is imported or called. */
import { parseJson, usualBounds } from '../../floors/bounds/parse-json.ts'

/** Any function. */
export type Fn = (...args: never[]) => unknown

/** Reads a member, of its prototype too. A getter that throws is no member. */
export type Has = (member: PropertyKey) => unknown

/** No object has it. */
const NOTHING = '\0'

/** The members of an object. A proxy that answers whatever it is asked has none. */
export function membersOf(thing: object): Has {
  const has: Has = (member) => {
    try {
      return Reflect.get(thing, member)
    } catch {
      return undefined
    }
  }
  return has(NOTHING) === undefined ? has : () => undefined
}

export function readMember(value: unknown, member: string): unknown {
  return typeof value === 'object' && value !== null ? membersOf(value)(member) : undefined
}

/** What it is, whether an object is one, and how it is taken, or what to write instead. */
export type Shape<How> = readonly [what: string, is: (has: Has) => boolean, how: How | string]

/** A thing whose shape is known. */
interface Known<How> { readonly what: string; readonly how: How | string; readonly has: Has }

/** What a thing is by the first shape that it has; undefined for one of none, and for an author's own. */
export function findShape<How>(shapes: readonly Shape<How>[], thing: unknown): Known<How> | undefined {
  if ((typeof thing !== 'object' && typeof thing !== 'function') || thing === null) return undefined
  if (isOwnDefinition(thing)) return undefined
  const has = membersOf(thing)
  const shape = shapes.find(([, is]) => is(has))
  return shape && { what: shape[0], how: shape[2], has }
}

/** Where something has what is looked for: paths to members, or a function. */
export type MemberPlace<T> = string | ((has: Has, thing: T) => unknown)

/** What is at the first of some paths where something is, as in `metadata.name name`. */
export function memberAt(has: Has, paths: string): unknown {
  const found = paths.split(' ').map((path) => {
    const [first = '', ...others] = path.split('.')
    return others.reduce(readMember, has(first))
  })
  return found.find((one) => one !== undefined && one !== null)
}

/** Whether it is a text of this form. Not every object can be made a text. */
export function isLike(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}

/** The value of a JSON text, within the bounds of a body; undefined for what is none. */
export function readJson(text: string): unknown {
  const parsed = parseJson(text, usualBounds.maxDepth, usualBounds.maxObjects)
  return parsed.ok ? parsed.value : undefined
}

/** Whether it has these members. None of them is read: some read streams when they are. */
export function hasMembers(thing: object, ...members: readonly string[]): boolean {
  try {
    return members.every((member) => member in thing)
  } catch {
    return false
  }
}

export type PlainMembers = Readonly<Record<string, unknown>>

/** A text with something in it. */
export function wordIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The text of a content that is a text, or a list of parts that have some. */
export function textOfParts(content: unknown): string {
  if (!Array.isArray(content)) return String(content)
  return content.map((part) => String(readMember(part, 'text') ?? '')).join('')
}

/** The members of a plain object; none of anything else. */
export function membersIn(value: unknown): PlainMembers {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** The items of a list; none of anything else. */
export function itemsIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function areFunctions(has: Has, ...members: readonly string[]): boolean {
  return members.every((member) => typeof has(member) === 'function')
}

/** What has a `run` is mostly an author's own. */
export function lacksRun(has: Has): boolean {
  return typeof has('run') !== 'function'
}

/** The key of an action of Genkit, as in `/flow/name`; else empty. */
export function genkitKeyOf(has: Has): string {
  return wordIn(memberAt(has, '__action.key')) ?? ''
}

/** Whether an object is an author's own definition: written as `{ … }`, with a name and a `run`. */
function isOwnDefinition(thing: object): boolean {
  try {
    return Object.hasOwn(thing, 'run') && Object.hasOwn(thing, 'name')
      && !Object.hasOwn(thing, 'input_schema') && Object.getPrototypeOf(thing) === Object.prototype
  } catch {
    // A proxy may throw on any access.
    return false
  }
}
