/** What the owner of conversations sees of them in a list. */
import { Fault } from '../../kernel/define/fault.ts'
import type { ChatMessage } from '../../kernel/define/call.ts'

/** Ids that clients may choose. */
export const CONVERSATION_ID: RegExp = /^[\w.-]{8,128}$/

/** A conversation in a list. */
export interface ConversationSummary {
  readonly id: string
  /** How many messages are kept. */
  readonly messages: number
  /** The beginning of the first of them. */
  readonly preview: string
}

/** Some conversations of one owner, the one that was used last first. */
export interface ConversationPage {
  readonly conversations: readonly ConversationSummary[]
  /** What the next page is asked for with; undefined: there is none. */
  readonly next: string | undefined
}

const PREVIEW_LENGTH = 120

/** Refuses what a page is asked for with. */
export function rejectCursor(): never {
  const message = 'must be the next_cursor of a page before it'
  throw new Fault('invalid', `The cursor ${message}`, { errors: [{ path: 'cursor', message }] })
}

export function summaryOf(id: string, messages: readonly ChatMessage[]): ConversationSummary {
  const text = messages[0]?.content ?? ''
  const isCut = text.length > PREVIEW_LENGTH
  // A character that the cut goes through is left out.
  const preview = isCut ? `${text.slice(0, PREVIEW_LENGTH).replace(/[\ud800-\udbff]$/, '')}…` : text
  return { id, messages: messages.length, preview }
}
