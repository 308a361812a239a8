/**
 * A command line run in a process of its own, which is ended and started again each time that a file of a
 * module changes. Knows no command.
 *
 * The files are looked at twice a second: that also works where a folder is shared with a container, and
 * where an editor puts a new file in the place of the old one.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { unwatchFile, watchFile } from 'node:fs'
import { relative } from 'node:path'
import { localFiles } from './load.ts'
import type { ChildProcess } from 'node:child_process'

const INTERVAL_MS = 500

/** Says to a process that it is watched; what it is set to does not count. */
const WATCHED = 'TRIPORT_WATCHED'

/** What still runs when a file changes gets so long to end. */
const RESTART_MS = 2_000

/**
 * Runs until the process is told to end. `argsOf` makes the command line, of a later start or the first;
 * `variables` stand in the environment of each.
 */
export function watchModule(
  module: string, argsOf: (isLater: boolean) => readonly string[],
  variables: Readonly<Record<string, string>>,
): void {
  let watched: readonly string[] = []
  let isChanging = false
  /** What has told this process to end. */
  let told: NodeJS.Signals | undefined
  let wasUp = false
  let child = start()

  function start(): ChildProcess {
    watched = localFiles(module)
    for (const file of watched) {
      watchFile(file, { interval: INTERVAL_MS }, (now, before) => {
        if (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino) void restart(file)
      })
    }
    const program = [...process.execArgv, process.argv[1] ?? '']
    const started = spawn(process.execPath, [...program, ...argsOf(wasUp)], {
      env: { ...process.env, ...variables, [WATCHED]: '1' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // In a group of its own, a signal of the terminal reaches it once: from here.
      detached: process.platform !== 'win32',
    })
    started.on('exit', (code, signal) => {
      // A wrong command line is not mended by a file. What dies of the signal had nothing to end in order.
      const isAsked = signal === told || signal === 'SIGTERM'
      if (told !== undefined || code === 2) process.exit(code ?? (isAsked ? 0 : 1))
      if (!isChanging) say('ended; it starts again when a file changes')
    })
    return started
  }

  async function restart(file: string): Promise<void> {
    if (isChanging || told !== undefined) return
    isChanging = true
    for (const one of watched) unwatchFile(one)
    say(`${relative('', file)} has changed; starting again`)
    if (child.exitCode === null && child.signalCode === null) {
      wasUp = true
      const late = setTimeout(() => { if (told === undefined) child.kill('SIGKILL') }, RESTART_MS)
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
      clearTimeout(late)
    }
    isChanging = false
    if (told === undefined) child = start()
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Whoever is asked twice ends at once, and one that ends for its next start has been asked already.
      const isAsked = isChanging && told === undefined
      told ??= signal
      for (const one of watched) unwatchFile(one)
      if (child.exitCode !== null || child.signalCode !== null) process.exit(0)
      if (!isAsked) child.kill(signal)
    })
  }
}

/** Ends this process in order when the one that watches it is gone, however that ended. */
export function endWithWatcher(): void {
  if (process.env[WATCHED] === undefined) return
  const end = (): void => { process.kill(process.pid, 'SIGTERM') }
  // Nobody is told of what was over before. Without a channel there never was one: the variable is inherited.
  if (process.connected === false) return end()
  process.once('disconnect', end)
  // That nobody has left yet is no reason to go on.
  process.channel?.unref()
}

function say(what: string): void {
  process.stderr.write(`triport: ${what}\n`)
}
