/** The members of a body that a client of a chat has sent, and what is wrong with them. */
import { isGiven } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { isName, MAX_NAME_BYTES } from '../../kernel/wire/bounded.ts'

/** What is wrong with the member at a path. `more`: what the detail has beside the path. */
export function wrongMember(at: string, demand: string, more?: object): Fault {
  return new Fault('invalid', `${at} ${demand}`, { param: at, ...more })
}

/** What is wrong with a body as a whole. */
export function wrongBody(demand: string): Fault {
  return new Fault('invalid', `The body ${demand}`)
}

/** A member that names something, as the id of a call does. Throws `Fault('invalid')` for anything else. */
export function nameIn(value: unknown, at: string): string {
  if (value !== '' && isName(value)) return value
  throw wrongMember(at, `must be a string of 1 to ${MAX_NAME_BYTES} bytes`)
}

/** A list that may be left out. Throws `Fault('invalid')` for anything else. */
export function listIn(value: unknown, at: string): readonly unknown[] {
  if (!isGiven(value)) return []
  if (Array.isArray(value)) return value
  throw wrongMember(at, 'must be a list')
}
