/**
 * A server that is measured, in a process of its own, on a core of its own where there are two.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const hasTaskset = spawnSync('taskset', ['-V']).status === 0

/** The core of the servers, the one of the load, and all; none where they cannot be told apart. */
export const cores = chooseCores()

/** Keeps this process, which is the load, off the core of the servers. */
export function pinLoad() {
  if (cores !== undefined) spawnSync('taskset', ['-a', '-p', '-c', String(cores.load), String(process.pid)])
}

/** What stands before a command that is to run on the core of the servers, or on 'all'. */
export function on(which) {
  return cores === undefined ? [] : ['taskset', '-c', String(cores[which])]
}

/**
 * Starts a file of the benchmark as a server and waits for its ports. `env` is added to the environment,
 * `flags` go to node, `args` to the file; with `isPinned: false` it runs on any core.
 */
export async function startServer(name, file, options = {}) {
  const { env = {}, flags = [], args: own = [], isPinned = true } = options
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
  const pin = on(isPinned ? 'server' : 'all')
  const [command, ...args] = [...pin, process.execPath, '--expose-gc', ...flags, path, ...own]
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env: { ...process.env, ...env },
  })
  const [told] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => { throw new Error(`${file} ended with ${code}`) }),
  ])
  return new Server(name, child, told.ports)
}

export class Server {
  name
  ports
  /** The status and the length of a right answer, by the name of the case. */
  references = new Map()
  /** The cases whose table of sessions is full. */
  filled = new Set()
  /** What it is asked, by the name of the case; every case as it is where this is left out. */
  cases
  #child
  #isStopped = false

  constructor(name, child, ports) {
    this.name = name
    this.ports = ports
    this.#child = child
    child.on('exit', (code, signal) => {
      if (this.#isStopped) return
      console.error(`${name} has ended: ${code ?? signal}`)
      process.exit(1)
    })
  }

  /** Asks the process what it has used: 'cpu', 'memory' or 'held'. */
  async ask(question) {
    this.#child.send(question)
    const [answer] = await once(this.#child, 'message')
    return answer
  }

  /** Ends the process. */
  async stop() {
    this.#isStopped = true
    this.#child.disconnect()
    await once(this.#child, 'exit')
  }
}

function chooseCores() {
  if (!hasTaskset) return undefined
  const { stdout } = spawnSync('taskset', ['-p', '-c', String(process.pid)], { encoding: 'utf8' })
  const allowed = (stdout.split(': ')[1] ?? '').trim().split(',').flatMap((range) => {
    const [from, to = from] = range.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, at) => from + at)
  })
  return allowed.length < 2 ? undefined : {
    server: allowed[0], load: allowed[1], all: allowed.join(','),
  }
}
