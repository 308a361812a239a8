/**
 * The measured side of the benchmark: a server in a process of its own tells its parent the port, and the
 * CPU time of the whole process, collector and compiler threads included, whenever the parent asks.
 */

/** Reports a server that listens on `port`. The process ends with its parent. */
export function report(port) {
  process.on('message', () => process.send(process.cpuUsage()))
  process.on('disconnect', () => process.exit(0))
  process.send({ port })
}
