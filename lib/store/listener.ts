/**
 * How a listener is called: its mistake is nobody else's, but it is not kept secret.
 */

/** What hears the events of a topic. */
export type TopicListener = (text: string) => void

/** Calls a listener. What it throws becomes a warning of the process. */
export function call(listener: TopicListener, text: string): void {
  try {
    listener(text)
  } catch (error) {
    warn(error)
  }
}

/** Tells one who follows that something is gone for good. What it throws becomes a warning too. */
export function callLost(onLost: (() => void) | undefined): void {
  try {
    onLost?.()
  } catch (error) {
    warn(error)
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}
