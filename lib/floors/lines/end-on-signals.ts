/** Signals that end a process: what it serves is closed in order before. */

/** Something that closes in order. `running`, the calls that run, is asked after `close`. */
export interface Ending {
  running(): number | Promise<number>
  close(): Promise<unknown>
}

/** All that a signal closes: the process ends after the last of them. */
const endings = new Set<Ending>()
let isEnding = false

/** On SIGINT or SIGTERM closes `ending` and all others, then exits. The returned function revokes it. */
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
  // A second signal ends the process at once.
  if (isEnding) process.exit(signal === 'SIGINT' ? 130 : 143)
  isEnding = true
  const all = [...endings]
  const closed = all.map((ending) => ending.close())
  void Promise.all(all.map((ending) => ending.running())).then(reportRunning)
  void Promise.allSettled(closed).then((results) => {
    process.exit(results.every(({ status }) => status === 'fulfilled') ? 0 : 1)
  })
}

function reportRunning(each: readonly number[]): void {
  const running = each.reduce((sum, count) => sum + count, 0)
  if (running === 0) return
  const calls = running === 1 ? '1 call' : `${running} calls`
  // Who sends signals by a program has nothing to press.
  const remedy = process.stderr.isTTY ? 'press again to stop' : 'a second signal stops'
  process.stderr.write(`triport: waiting for ${calls}; ${remedy} at once\n`)
}
