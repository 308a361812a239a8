/**
 * What a transport lends to one request, and what is known of the client behind it. Methods know no
 * other way back: streamable HTTP, the SSE pair and stdio are three kinds of link.
 */
import type { ClientInfo, Severity } from '../core/call.ts'
import type { Revision } from './revisions.ts'
import type { Session } from './session.ts'

/** The way back of one request. */
export interface Link {
  /** Whether messages can go out before the answer. */
  readonly sends: boolean
  /** Sends a message that is not the answer: a notification, or a request of ours. */
  send(message: string): void
  /** Sends the answer, once. `status` and `headers` count only where HTTP has not begun to answer. */
  finish(message: string, status?: number, headers?: readonly string[]): void
  /** Ends without an answer: the client has cancelled. */
  abandon(): void
  /** Lets the client hang up and come back; nothing where it cannot. */
  detach?(retryMs: number | undefined): void
}

/** What is known of the client of one request. */
export interface Peer {
  readonly revision: Revision
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly client: ClientInfo | undefined
  /** What it wants to hear of logs; undefined: nothing. */
  readonly logLevel: Severity | undefined
  readonly session: Session | undefined
}
