/**
 * One large piece of work in each turn of the event loop. To read, parse and answer megabytes takes tens of
 * milliseconds, and dozens of such requests may come at once: what is short has its turn in between.
 */
import { Socket } from 'node:net'
import { inContext } from '../message/context.ts'
import type { IncomingMessage } from 'node:http'

/** Bytes, or characters, from which on a body or a reply is a large one. */
export const LARGE_LENGTH: number = 128 * 1024

/**
 * A body that comes in so many chunks is a large one, too. Of one byte each, one read of a socket may bring
 * fifteen thousand, and each costs as much as one of kilobytes.
 */
export const MANY_CHUNKS: number = 1024

/** The event loop is one, whoever's server it runs. */
const waiting: (() => void)[] = []
const state = { isTaken: false }

/** Looked at before each body: whether something large was done in this turn, or waits already. */
export const turn: { readonly isTaken: boolean } = state

/** Says that something large was done: what else could be large waits for the next turn. */
export function markLoopBusy(): void {
  if (state.isTaken) return
  state.isTaken = true
  setImmediate(begin)
}

/** Does something in a later turn, in the order and the context in which it was said. It must not throw. */
export function whenLoopIsFree(run: () => void): void {
  waiting.push(inContext(run))
  markLoopBusy()
}

/** Connections that are not read before a turn is free. */
const givingWay = new WeakSet<Socket>()

/** Reads the connection of a request not before a turn is free, and nothing else large in that turn. */
export function pauseUntilLoopFree({ socket }: Pick<IncomingMessage, 'socket'>): void {
  // What is no socket of Node's own, as of HTTP/2, cannot be stopped.
  if (!(socket instanceof Socket) || givingWay.has(socket)) return
  givingWay.add(socket)
  // Node goes on reading when what has come was taken.
  const pause = (): void => { socket.pause() }
  socket.on('resume', pause)
  socket.pause()
  whenLoopIsFree(() => {
    markLoopBusy()
    givingWay.delete(socket)
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
