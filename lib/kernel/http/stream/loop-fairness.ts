/**
 * One large piece of work per iteration of the event loop. To read, parse and answer megabytes takes tens of
 * milliseconds, and dozens of such requests may come at once: short ones run in between.
 */
import { AsyncResource } from 'node:async_hooks'
import { Socket } from 'node:net'
import type { IncomingMessage } from 'node:http'

/** A body or a reply of so many bytes or characters is large. */
export const LARGE_LENGTH: number = 128 * 1024

/**
 * A body in so many chunks is large, too: one read of a socket may bring fifteen thousand of one byte each.
 */
export const MANY_CHUNKS: number = 1024

/** The event loop is shared by all servers of the process. */
const waiting: (() => void)[] = []
const state = { isTaken: false }

/** Whether large work was done in this iteration, or waits. */
export const turn: { readonly isTaken: boolean } = state

/** Large work was done: other large work waits for the next iteration. */
export function markLoopBusy(): void {
  if (state.isTaken) return
  state.isTaken = true
  setImmediate(begin)
}

/**
 * The same function, run in the context of now: what a host keeps for a request in an `AsyncLocalStorage`. An
 * event of a socket has that of another request. Node's `AsyncResource.bind` costs a hundred times as much.
 */
export function inContext<Args extends readonly unknown[]>(
  run: (...args: Args) => void,
): (...args: Args) => void {
  const context = new AsyncResource('triport')
  return (...args) => context.runInAsyncScope(run, undefined, ...args)
}

/** Runs something in a later iteration, in order and in the present context. It must not throw. */
export function whenLoopIsFree(run: () => void): void {
  waiting.push(inContext(run))
  markLoopBusy()
}

const paused = new WeakSet<Socket>()

/** Pauses the connection of a request until an iteration is free. */
export function pauseUntilLoopFree({ socket }: Pick<IncomingMessage, 'socket'>): void {
  // Streams of HTTP/2 cannot be paused.
  if (!(socket instanceof Socket) || paused.has(socket)) return
  paused.add(socket)
  // Node resumes when it has consumed what came.
  const pause = (): void => { socket.pause() }
  socket.on('resume', pause)
  socket.pause()
  whenLoopIsFree(() => {
    markLoopBusy()
    paused.delete(socket)
    socket.off('resume', pause)
    socket.resume()
  })
}

function begin(): void {
  state.isTaken = false
  while (!state.isTaken) {
    const run = waiting.shift()
    if (run === undefined) return
    run()
  }
}
