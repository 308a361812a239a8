/**
 * The command in several processes of one machine: a primary that holds the shared store and runs no
 * handlers, and workers of `node:cluster` that serve. A worker that ends is replaced. Where none is left and
 * the next one ends before it listens, the command ends with its exit code.
 */
import cluster from 'node:cluster'
import { isRecord } from '../kernel/define/content.ts'
import { kernelDefaults } from '../kernel/define/limits.ts'
import { stderrLog, verboseStderrLog } from '../kernel/define/log.ts'
import { endOnSignals } from '../floors/lines/end-on-signals.ts'
import { hostStore, workerStore } from '../stores/cluster/worker-store.ts'
import { memoryStore } from '../floors/memory/memory-store.ts'
import { noteSource, onSource } from '../floors/files/source-files.ts'
import type { Worker } from 'node:cluster'
import type { Log } from '../kernel/define/log.ts'
import type { Launched, LaunchOptions } from '../preset/launch.ts'
import type { Store } from '../kernel/store/store.ts'

/** A worker's message to its primary: it serves; at its end, how many calls run. */
interface WorkerMessage {
  readonly listens?: boolean
  readonly running?: number
  /** A file that it reads: this process may be watched. */
  readonly source?: string
  readonly readAt?: number
}

/** Marks these messages among all others on the same channel. */
const NAME = 'triport:worker'

/** A worker that served this long did not die of its start: it is replaced at once. */
const YOUNG_MS = 1_000
/** The wait for the next where several in a row died young: doubled each time. */
const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 10_000

/** A worker that listens: since when (monotonic), and how many calls run in it when it ends. */
interface Serving { readonly since: number; readonly running: Promise<number> }

/** How many workers, and the command line and environment of each. */
export interface WorkerSettings {
  readonly count: number
  readonly args: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  /** Shared by all, closed at the end. Left out: the memory of this process. */
  readonly store: Store | undefined
}

/** Starts the workers, the first alone, and runs until a signal. */
export function startWorkers({ count, args, variables, store = sharedMemory() }: WorkerSettings): void {
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
      const { listens, source, readAt } = contentOf(message) ?? {}
      if (source !== undefined) noteSource(source, readAt)
      if (listens !== true) return
      // The first signal came before it handled any.
      if (isEnding) return void worker.process.kill('SIGTERM')
      serving.set(worker, { since: performance.now(), running: runningIn(worker) })
      if (hasBegun) return
      hasBegun = true
      // Only now are the module and the port known to be good: their errors are reported once.
      for (let others = count - 1; others > 0; others--) start(0)
    })
    worker.on('exit', (code: number | null, signal: NodeJS.Signals | null) => {
      replace(worker, code, signal, deaths)
    })
    // A worker that could not start has no exit. Other errors are of messages to one that ends.
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
    process.stderr.write(`triport: worker ${worker.process.pid} ended with ${how}; starting another\n`)
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
      // One that does not listen yet ends at once.
      for (const worker of left) worker.process.kill('SIGTERM')
      return end(left)
    },
    running: () => countRunning([...serving.values()]),
  })
  // Even a worker that hangs ends with this process.
  process.on('exit', () => { for (const worker of workers()) worker.process.kill('SIGKILL') })
  start(0)
}

/** With the limits of one process in all. */
function sharedMemory(): Store {
  const { maxTasks, maxConversations, maxIdempotencyKeys } = kernelDefaults
  const { maxTasksBytes, maxConversationsBytes, maxIdempotencyBytes } = kernelDefaults
  return memoryStore({
    isShared: true,
    maxEntries: maxTasks + maxConversations + maxIdempotencyKeys,
    maxBytes: maxTasksBytes + maxConversationsBytes + maxIdempotencyBytes,
  })
}

function workers(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) => worker?.isDead() === false ? [worker] : [])
}

/** Calls that run in a worker that ends. It may end before this process does: a terminal signals both. */
function runningIn(worker: Worker): Promise<number> {
  return new Promise((resolve) => {
    worker.on('message', (message: unknown) => {
      const { running } = contentOf(message) ?? {}
      if (running !== undefined) resolve(running)
    })
    worker.on('exit', () => resolve(0))
  })
}

async function countRunning(serving: readonly Serving[]): Promise<number> {
  const counts = await Promise.all(serving.map(({ running }) => running))
  return counts.reduce((sum, count) => sum + count, 0)
}

function contentOf(message: unknown): WorkerMessage | undefined {
  return isRecord(message) && Object.hasOwn(message, NAME) ? message[NAME] as WorkerMessage : undefined
}

function send(content: WorkerMessage): void {
  process.send?.({ [NAME]: content })
}

/** Sends the primary the files that this worker's definitions are read from. */
export function reportSources(): void {
  onSource((source, readAt) => { send({ source, readAt }) })
}

/** Whether this worker reports for all. */
export function isFirstWorker(): boolean {
  return cluster.worker?.id === 1
}

/** The options of a worker. Only the first reports its start. */
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

/** Reports to the primary that this worker serves; ends in order on a signal. */
export function serveAsWorker({ server, close }: Launched): void {
  let isEnding = false
  const end = (): void => {
    // A terminal and the primary both signal.
    if (isEnding) return
    isEnding = true
    const closed = close()
    send({ running: server.status().calls.running })
    closed.then(() => process.exit(0), () => process.exit(1))
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
  isServing = true
  send({ listens: true })
}
