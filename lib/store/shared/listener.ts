/**
 * Who follows a topic, and how those are told: one who stops following meanwhile is not told any more, and
 * what one throws is nobody else's mistake, but it is not kept secret.
 */

/** What hears the events of a topic. */
export type TopicListener = (text: string) => void

/** One who follows a topic. */
export interface Follower {
  readonly listener: TopicListener
  readonly onLost: (() => void) | undefined
}

/** One who follows a topic whose events have numbers that rise. */
export interface NumberedFollower extends Follower {
  /** The number of the last event that is no news to it. */
  heard: number
}

/** Tells all to whom it is news what the event of a number says; with `undefined`, that it is gone. */
export function tellAll(
  followers: ReadonlySet<NumberedFollower>, number: number, text: string | undefined,
): void {
  for (const follower of followers) {
    if (follower.heard >= number) continue
    follower.heard = number
    tell(follower, text)
  }
}

/** Tells one an event, or with `undefined` that something is gone for good. What it throws is a warning. */
export function tell({ listener, onLost }: Follower, text: string | undefined): void {
  try {
    if (text === undefined) onLost?.()
    else listener(text)
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}
