/**
 * The command in several processes of one machine: a primary, which holds the store that all share and runs
 * nobody's code, and workers of `node:cluster`, which serve. A worker that ends is replaced; where none is
 * left and the next ends before it listens, the command ends as that one did. Knows no flag.
 */
import cluster from 'node:cluster'
import { isRecord } from '../define/content.ts'
import { defaults } from '../define/limits.ts'
import { stderrLog, verboseStderrLog } from '../define/log.ts'
import { endOnSignals } from '../server/launch.ts'
import { hostStore, workerStore } from '../store/cluster/worker-store.ts'
import { memoryStore } from '../store/memory/memory.ts'
import type { Worker } from 'node:cluster'
import type { Log } from '../define/log.ts'
import type { Launched, LaunchOptions } from '../server/launch.ts'
import type { Store } from '../state/store.ts'

/** What a worker tells its primary: that it serves, and at its end how many calls run. */
interface News { readonly listens?: boolean; readonly running?: number }

/** Tells these messages from all others on the same channel. */
const NAME = 'triport:worker'

/** A worker that has served for so long did not die of its start: another takes its place at once. */
const YOUNG_MS = 1_000
/** How long to wait for the next where several in a row died young: twice as long each time. */
const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 10_000

/** A worker that listens. */
interface Serving {
  /** Monotonic milliseconds. */
  readonly since: number
  /** How many calls run in it, when it ends. */
  readonly running: Promise<number>
}

/** How many there are, and what they are started with. */
export interface Crew {
  readonly count: number
  /** The command line of each. */
  readonly args: readonly string[]
  /** What stands in the environment of each, a secret among it. */
  readonly variables: Readonly<Record<string, string>>
  /** What they share; it is closed at the end. Left out: the memory of this process. */
  readonly store: Store | undefined
}

/** Starts the workers of this process, the first alone, and runs until the process is told to end. */
export function startWorkers({ count, args, variables, store = sharedMemory() }: Crew): void {
  const serving = new Map<Worker, Serving>()
  const waits = new Set<NodeJS.Timeout>()
  let isEnding = false
  let hasBegun = false
  let hasFailed = false
  hostStore(store)
  cluster.setupPrimary({ args: [...args] })

  function start(deaths: number): void {
    const worker = cluster.fork(variables)
    worker.on('message', (message: unknown) => {
      if (newsIn(message)?.listens !== true) return
      // It was told to end before it could hear that.
      if (isEnding) return void worker.process.kill('SIGTERM')
      serving.set(worker, { since: performance.now(), running: runningIn(worker) })
      if (hasBegun) return
      hasBegun = true
      // Only now is it known that the module and the port are good: what is wrong with them is said once.
      for (let others = count - 1; others > 0; others--) start(0)
    })
    worker.on('exit', (code: number | null, signal: NodeJS.Signals | null) => {
      replace(worker, code, signal, deaths)
    })
    // One that could not be started has no exit. Any other failure is of a message to one that ends.
    worker.on('error', () => {
      if (worker.process.pid === undefined) replace(worker, 1, null, deaths)
    })
  }

  function replace(
    worker: Worker, code: number | null, signal: NodeJS.Signals | null, deaths: number,
  ): void {
    const since = serving.get(worker)?.since
    serving.delete(worker)
    if (isEnding) {
      hasFailed ||= code !== null && code !== 0
      return
    }
    if (since === undefined && serving.size === 0) process.exit(code ?? 1)
    const isYoung = since === undefined || performance.now() - since < YOUNG_MS
    const waitMs = isYoung ? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** deaths) : 0
    const how = signal ?? `code ${code}`
    process.stderr.write(`triport: worker ${worker.process.pid} ended with ${how}; another takes its place\n`)
    const wait = setTimeout(() => {
      waits.delete(wait)
      start(isYoung ? deaths + 1 : 0)
    }, waitMs)
    waits.add(wait)
  }

  async function end(left: readonly Worker[]): Promise<void> {
    await Promise.all(left.map((worker) => new Promise((resolve) => worker.once('exit', resolve))))
    await store.close?.()
    if (hasFailed) throw new Error('A worker could not end in order')
  }

  endOnSignals({
    close() {
      isEnding = true
      for (const wait of waits) clearTimeout(wait)
      const left = workers()
      // One that has not got so far as to listen has nothing to end in order.
      for (const worker of left) worker.process.kill('SIGTERM')
      return end(left)
    },
    running: () => countRunning([...serving.values()]),
  })
  // Not even one that is stuck outlives this process.
  process.on('exit', () => { for (const worker of workers()) worker.process.kill('SIGKILL') })
  start(0)
}

/** As much as one process has in all for what is kept there. */
function sharedMemory(): Store {
  const { maxTasks, maxConversations, maxIdempotencyKeys } = defaults
  const { maxTasksBytes, maxConversationsBytes, maxIdempotencyBytes } = defaults
  return memoryStore({
    isShared: true,
    maxEntries: maxTasks + maxConversations + maxIdempotencyKeys,
    maxBytes: maxTasksBytes + maxConversationsBytes + maxIdempotencyBytes,
  })
}

/** Those that live. */
function workers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) => worker?.isDead() === false ? [worker] : [])
}

/** Calls that run in one that ends, as soon as it has told or has gone: a terminal may tell it first. */
function runningIn(worker: Worker): Promise<number> {
  return new Promise((resolve) => {
    worker.on('message', (message: unknown) => {
      const { running } = newsIn(message) ?? {}
      if (running !== undefined) resolve(running)
    })
    worker.on('exit', () => resolve(0))
  })
}

async function countRunning(serving: readonly Serving[]): Promise<number> {
  const counts = await Promise.all(serving.map(({ running }) => running))
  return counts.reduce((sum, count) => sum + count, 0)
}

function newsIn(message: unknown): News | undefined {
  return isRecord(message) && Object.hasOwn(message, NAME) ? message[NAME] as News : undefined
}

function tell(news: News): void {
  process.send?.({ [NAME]: news })
}

/** Whether this worker reports for all while none serves yet. */
export function isFirstWorker(): boolean {
  return cluster.worker?.id === 1
}

/** The options of a worker. What the first has told of the start, the others do not tell again. */
export function workerOptions(options: LaunchOptions): LaunchOptions {
  const isFirst = isFirstWorker()
  const write = options.accessLog === true ? verboseStderrLog : stderrLog
  const log: Log = (level, message, fields) => {
    if (isFirst || isServing) write(level, message, fields)
  }
  const quiet = options.quiet === true || !isFirst
  return { ...options, quiet, log, store: workerStore(), signals: false }
}

let isServing = false

/** Tells the primary that this worker serves, and ends in order when it says so, and with it. */
export function serveAsWorker({ server, close }: Launched): void {
  let isEnding = false
  const end = (): void => {
    // A terminal and the primary both say so.
    if (isEnding) return
    isEnding = true
    const closed = close()
    tell({ running: server.status().calls.running })
    closed.then(() => process.exit(0), () => process.exit(1))
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
  isServing = true
  tell({ listens: true })
}
