/**
 * What a transport lends to one request: the way back to the client. Methods know no other: Streamable
 * HTTP, the HTTP+SSE pair and stdio are three kinds of it.
 */

/** Where messages of a session go that belong to no request. */
export interface Outlet {
  /** Whether its client is there. Left out: as long as the session. */
  readonly isHeard?: boolean
  send(message: string): void
  /** Set where the session lives as long as this does: ends it. */
  end?(): void
}

/** The way back of one request. */
export interface ResponseChannel {
  /** Whether messages can go out before the answer. */
  readonly sends: boolean
  /** Whether its client is there. Left out: as long as the session. */
  readonly isHeard?: boolean
  /** Sends a message that is not the answer: a notification, or a request of ours. */
  send(message: string): void
  /** Sends the answer, once. `status` and `headers` count only where HTTP has not begun to answer. */
  finish(message: string, status?: number, headers?: readonly string[]): void
  /** Ends without an answer: the client has cancelled. */
  abandon(): void
  /** Lets the client hang up and come back; nothing where it cannot. */
  detach?(retryMs: number | undefined): void
}
