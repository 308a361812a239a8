/**
 * Members of a request that no agent can obey, and that its client would miss: they are refused by name, on
 * chat completions and on Responses alike.
 */
import { isGiven } from '../../kernel/define/content.ts'
import { wrongMember } from '../../floors/chat/members.ts'

type Members = Readonly<Record<string, unknown>>

/** `asksNothing`: whether a value asks for nothing after all. `only`: the one that is possible, if any. */
export type RefusedMember = readonly [
  name: string, asksNothing: (value: unknown, body: Members) => boolean, why: string, only?: string,
]

/** Of a member whose every value asks for something. */
export const never = (): boolean => false

const NO_PROBABILITIES = 'an agent knows no probabilities'
const INCLUDED = 'message.output_text.logprobs'

const onBoth: readonly RefusedMember[] = [
  ['logprobs', (value) => value === false, NO_PROBABILITIES, 'false'],
  ['top_logprobs', (value) => value === 0, NO_PROBABILITIES, '0'],
  ['include', (value) => !Array.isArray(value) || !value.includes(INCLUDED),
    `${NO_PROBABILITIES}; leave "${INCLUDED}" out of it`],
  ['moderation', never, 'nothing is moderated here; leave it out'],
]

/** Throws `Fault('invalid')` for the first one that a body has. */
export function refuseMembers(body: Members, members: readonly RefusedMember[]): void {
  for (const list of [onBoth, members]) {
    for (const [name, asksNothing, why, only] of list) {
      const value = body[name]
      if (!isGiven(value) || asksNothing(value, body)) continue
      if (only === undefined) {
        throw wrongMember(name, `cannot be used: ${why}`, { code: 'unsupported_parameter' })
      }
      throw wrongMember(name, `must be ${only}, or left out: ${why}`, { code: 'unsupported_value' })
    }
  }
}
