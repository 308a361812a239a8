/**
 * A server of the benchmark in several processes, `clustered.js FILE`: a worker is the file; the first
 * process passes questions on, and adds up what they answer.
 */
import cluster from 'node:cluster'
import { once } from 'node:events'

if (cluster.isPrimary) {
  const workers = []
  let ports
  for (let count = Number(process.env.BENCH_PROCESSES); count > 0; count--) {
    const worker = cluster.fork()
    // All of them listen on the ports of the first.
    ports = (await once(worker, 'message'))[0].ports
    workers.push(worker)
  }
  process.on('message', async (question) => {
    const answers = workers.map((worker) => once(worker, 'message'))
    for (const worker of workers) worker.send(question)
    const parts = (await Promise.all(answers)).map(([answer]) => answer)
    // It hands out the connections, and that is work too.
    if (question === 'cpu') parts.push(process.cpuUsage())
    const sums = Object.keys(parts[0]).map((name) => [name, parts.reduce((sum, part) => sum + part[name], 0)])
    process.send(Object.fromEntries(sums))
  })
  process.on('disconnect', () => process.exit(0))
  process.send({ ports })
} else {
  await import(`./${process.argv[2]}`)
}
