/**
 * The measured side: a server in a process of its own tells its parent its ports, and when asked what it
 * has used. The process ends with its parent.
 */

/** Reports a server that listens on `ports`, by name. */
export function report(ports) {
  process.on('message', (question) => { if (process.connected) process.send(answers[question]()) })
  process.on('disconnect', () => process.exit(0))
  process.send({ ports })
}

const answers = {
  /**
   * CPU time of the whole process, collector and compiler threads included. What was made and dropped since
   * the last time is collected first: so each slice pays for its own garbage, and for nobody else's.
   */
  cpu() {
    globalThis.gc?.({ type: 'minor' })
    return process.cpuUsage()
  },
  /** Memory as it is, in bytes. */
  memory: () => process.memoryUsage(),
  /** Memory without garbage, in bytes. */
  held() {
    for (let pass = 0; pass < 3; pass++) globalThis.gc?.()
    return process.memoryUsage()
  },
}
