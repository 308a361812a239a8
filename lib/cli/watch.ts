/**
 * Runs a command line in a child process, and restarts it when a file of a module changes, or one that its
 * definitions were read from: of those the child sends the paths.
 *
 * The files are polled twice a second: that also works for folders shared with a container, and for editors
 * that replace a file.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat, unwatchFile, watchFile } from 'node:fs'
import { relative } from 'node:path'
import { isRecord } from '../kernel/define/content.ts'
import { onSource } from '../floors/files/source-files.ts'
import { localFiles, MAX_LOCAL_FILES } from './files.ts'
import type { ChildProcess } from 'node:child_process'

const INTERVAL_MS = 500

/** Marks a process as watched; its value does not count. */
const WATCHED = 'TRIPORT_WATCHED'

/** The members of a message of the child that name a file which it reads, and say when. */
const SOURCE = 'triportSource'
const READ_AT = 'readAt'

/** Running calls may take this long to end at a restart. */
const RESTART_MS = 2_000

/** Runs until a signal. `argsOf` makes the command line; `variables` are added to the environment. */
export function watchModule(
  module: string, argsOf: (isLater: boolean) => readonly string[],
  variables: Readonly<Record<string, string>>,
): void {
  const watched = new Set<string>()
  let isChanging = false
  /** The signal that has ended this process. */
  let endedBy: NodeJS.Signals | undefined
  let wasUp = false
  let child = start()

  function start(): ChildProcess {
    for (const file of localFiles(module)) follow(file)
    const program = [...process.execArgv, process.argv[1] ?? '']
    const started = spawn(process.execPath, [...program, ...argsOf(wasUp)], {
      env: { ...process.env, ...variables, [WATCHED]: '1' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // In a process group of its own it gets a signal of the terminal once, from here.
      detached: process.platform !== 'win32',
    })
    started.on('message', (message) => {
      if (isRecord(message) && typeof message[SOURCE] === 'string') {
        follow(message[SOURCE], Number(message[READ_AT]))
      }
    })
    started.on('exit', (code, signal) => {
      // No file mends a wrong command line. A child that died of the signal had nothing to close.
      const isAsked = signal === endedBy || signal === 'SIGTERM'
      if (endedBy !== undefined || code === 2) process.exit(code ?? (isAsked ? 0 : 1))
      if (!isChanging) report('ended; it starts again when a file changes')
    })
    return started
  }

  /** `readAt`: what has changed since then has changed for the child. */
  function follow(file: string, readAt?: number): void {
    if (isChanging || endedBy !== undefined || watched.has(file) || watched.size >= MAX_LOCAL_FILES) return
    watched.add(file)
    watchFile(file, { interval: INTERVAL_MS }, (now, before) => {
      if (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino) void restart(file)
    })
    if (readAt === undefined) return
    const reader = child
    stat(file, (error, found) => {
      if (error === null && child === reader && found.mtimeMs > readAt) void restart(file)
    })
  }

  function unfollow(): void {
    for (const one of watched) unwatchFile(one)
    watched.clear()
  }

  async function restart(file: string): Promise<void> {
    if (isChanging || endedBy !== undefined) return
    isChanging = true
    unfollow()
    report(`${relative('', file)} has changed; starting again`)
    if (child.exitCode === null && child.signalCode === null) {
      wasUp = true
      const late = setTimeout(() => { if (endedBy === undefined) child.kill('SIGKILL') }, RESTART_MS)
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
      clearTimeout(late)
    }
    isChanging = false
    if (endedBy === undefined) child = start()
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // A second signal would end the child at once, and a child that is restarting has got its first.
      const isAsked = isChanging && endedBy === undefined
      endedBy ??= signal
      unfollow()
      if (child.exitCode !== null || child.signalCode !== null) process.exit(0)
      if (!isAsked) child.kill(signal)
    })
  }
}

/** Ends this process in order when its watcher is gone, however that ended. */
export function endWithWatcher(): void {
  if (process.env[WATCHED] === undefined) return
  const end = (): void => { process.kill(process.pid, 'SIGTERM') }
  // No event comes if the watcher is gone already. Without a channel the variable is only inherited.
  if (process.connected === false) return end()
  process.once('disconnect', end)
  onSource((path, readAt) => {
    if (process.connected) process.send?.({ [SOURCE]: path, [READ_AT]: readAt })
  })
  // The channel alone must not keep the process alive.
  process.channel?.unref()
}

function report(what: string): void {
  process.stderr.write(`triport: ${what}\n`)
}
