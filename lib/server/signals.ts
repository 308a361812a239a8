/**
 * The end of a process on SIGINT and SIGTERM: in order on the first, with a line of what it waits for, and at
 * once on the second. Whatever is served in one process ends together. Knows nothing of what is served.
 */

/** Something that ends in order. */
export interface Ending {
  /** Calls that run. Asked when `close` was called. */
  running(): number | Promise<number>
  close(): Promise<unknown>
}

/** All that a signal closes: the process ends after the last of them. */
const endings = new Set<Ending>()
let isEnding = false

/** Ends the process with 0 when `ending` and every other is closed; the returned function takes that back. */
export function endOnSignals(ending: Ending): () => void {
  if (endings.size === 0) {
    process.on('SIGINT', end)
    process.on('SIGTERM', end)
  }
  endings.add(ending)
  return () => {
    endings.delete(ending)
    if (endings.size > 0) return
    process.off('SIGINT', end)
    process.off('SIGTERM', end)
  }
}

function end(signal: NodeJS.Signals): void {
  // Whoever asks twice does not want to wait.
  if (isEnding) process.exit(signal === 'SIGINT' ? 130 : 143)
  isEnding = true
  const all = [...endings]
  const closed = all.map((ending) => ending.close())
  void Promise.all(all.map((ending) => ending.running())).then(tell)
  void Promise.allSettled(closed).then((results) => {
    process.exit(results.every(({ status }) => status === 'fulfilled') ? 0 : 1)
  })
}

function tell(each: readonly number[]): void {
  const running = each.reduce((sum, count) => sum + count, 0)
  if (running === 0) return
  const calls = running === 1 ? '1 call' : `${running} calls`
  process.stderr.write(`triport: waiting for ${calls}; press again to stop at once\n`)
}
