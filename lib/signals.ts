/**
 * The end of a process on SIGINT and SIGTERM: in order on the first, with a line of what it waits for, and at
 * once on the second. Knows nothing of what is served.
 */

/** Something that ends in order. */
export interface Ending {
  /** Calls that run. Asked when `close` was called. */
  running(): number | Promise<number>
  close(): Promise<unknown>
}

/** Ends the process with 0 when `ending` is closed; the returned function takes that back. */
export function endOnSignals(ending: Ending): () => void {
  let isEnding = false
  const end = (signal: NodeJS.Signals): void => {
    // Whoever asks twice does not want to wait.
    if (isEnding) process.exit(signal === 'SIGINT' ? 130 : 143)
    isEnding = true
    const closed = ending.close()
    const running = ending.running()
    if (typeof running === 'number') tell(running)
    else void running.then(tell)
    closed.then(() => process.exit(0), () => process.exit(1))
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
  return () => {
    process.off('SIGINT', end)
    process.off('SIGTERM', end)
  }
}

function tell(running: number): void {
  if (running === 0) return
  const calls = running === 1 ? '1 call' : `${running} calls`
  process.stderr.write(`triport: waiting for ${calls}; press again to stop at once\n`)
}
