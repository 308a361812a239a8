/**
 * What a server tells of itself at one moment, to its operator and to whoever reads its metrics.
 */

/** What a server is doing and holding at one moment. Bytes are bytes; what is counted is open or kept now. */
export interface ServerStatus {
  /**
   * `abandoned` ones have lost their place: their time was over long ago, and they have not ended. `bytes`:
   * what those that run have said so far, piece by piece.
   */
  readonly calls: { readonly running: number; readonly abandoned: number; readonly bytes: number }
  /** Response streams, and what their readers have not taken yet. */
  readonly streams: { readonly open: number; readonly queuedBytes: number }
  /** Request bodies that are being read. */
  readonly bodies: { readonly bytes: number }
  /** Those that are remembered in this process. */
  readonly conversations: { readonly count: number; readonly bytes: number }
  /** `finished`: all that are kept in this process and do not run, those that wait for a client too. */
  readonly tasks: { readonly running: number; readonly finished: number; readonly bytes: number }
  /**
   * Webhooks of A2A; undefined where there are none. `waiting`: those for which something waits; `posting`:
   * posts that are on their way; `lookups`: look-ups of names that have not ended, whether or not anybody
   * waits for them; `bytes`: what is held for all of them.
   */
  readonly webhooks: {
    readonly waiting: number
    readonly posting: number
    readonly lookups: number
    readonly bytes: number
  } | undefined
  /** Whether the store that others share answers; undefined where none is shared. */
  readonly store: 'reached' | 'away' | undefined
  /** Sessions, subscribers, and what is kept for clients that come back; undefined without the MCP door. */
  readonly mcp: {
    readonly sessions: number
    readonly subscribers: number
    readonly replayBytes: number
  } | undefined
}
