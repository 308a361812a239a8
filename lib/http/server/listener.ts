/**
 * node:http made safe: timeouts, connection counts, what Node itself refuses, whose turn it is, an orderly
 * end. Makes a transaction of each request, of a server of its own or of somebody else's.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { MAX_TIMER_MS } from '../../util/clock.ts'
import { LinkedList } from '../../util/linked-list.ts'
import { inContext } from '../message/context.ts'
import { isLoopback } from '../access/guard.ts'
import { IdleSweep, PipelineQueue, responseOn } from './connection.ts'
import { isOutside } from './node-request.ts'
import { Transaction } from './transaction.ts'
import { answerUnread, unreadOf } from './unread.ts'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Limits } from '../../define/limits.ts'
import type { Log } from '../../define/log.ts'
import type { Bind } from '../access/guard.ts'
import type { Expectation, Means } from './transaction.ts'

/** What a listener works with. */
export interface ListenerOptions extends Means {
  /** '' or a path with a leading and no final `/`. */
  readonly mountPath: string
}

/**
 * Answers one request of a node:http, node:https or node:http2 server. Where a `next` is given it is called,
 * and nothing is answered, for a path outside of the mount path. Throws `TypeError` for what is neither a
 * request nor a response of Node's.
 */
export interface Handler {
  (incoming: IncomingMessage, response: ServerResponse, next?: () => void): void
  (incoming: Http2ServerRequest, response: Http2ServerResponse, next?: () => void): void
}

/** A request handler for node:http, and a server of our own around it. */
export interface Listener {
  /** Answers one request of somebody else's server. */
  readonly handler: Handler
  /** Opens a socket, once. Rejects with a sentence where it cannot; then it can be tried again. */
  listen(port: number, host: string): Promise<AddressInfo>
  /** No new connections; every answer from now on ends its connection. */
  drain(): void
  /** Resolves when no request is being answered, or after `ms`. */
  idle(ms: number): Promise<void>
  /** Destroys what is left. */
  destroy(): Promise<void>
}

type AnyRequest = IncomingMessage | Http2ServerRequest
type AnyResponse = ServerResponse | Http2ServerResponse

/** The largest that Node takes. */
const MAX_HEADER_SIZE = 2 ** 31 - 1
const DROP_LOG_MS = 60_000

/** Makes a listener; nothing is opened yet. */
export function createListener(options: ListenerOptions): Listener {
  const { limits, log, mountPath } = options
  /** What is being answered. */
  const running = new LinkedList<Transaction>()
  const turns = new PipelineQueue(limits.maxWaitingRequests)
  let onIdle: (() => void) | undefined
  let server: Server | undefined
  let isDraining = false

  function receive(
    incoming: IncomingMessage, response: ServerResponse, bind: Bind | undefined, expects: Expectation,
  ): void {
    // Of what one read has brought, some may come behind the request that had the connection closed.
    if (incoming.socket.destroyed) return
    // Node's clock has run while it waited; in somebody else's server nobody knows what runs.
    const isFree = response.socket !== null || responseOn(incoming.socket) === undefined
    if (isFree) return answer(incoming, response, bind, expects, bind === undefined)
    // An earlier request of the connection is still being answered.
    turns.wait(incoming, response, inContext(() => answer(incoming, response, bind, expects, true)))
  }

  function answer(
    incoming: IncomingMessage, response: ServerResponse, bind: Bind | undefined, expects: Expectation,
    isTimed: boolean,
  ): void {
    const transaction = new Transaction(incoming, response, bind, expects, isTimed, options)
    if (isDraining) transaction.end()
    running.add(transaction)
    response.on('close', over.bind(undefined, transaction))
    // Without a listener an error of one socket would end the process.
    response.on('error', ignore)
    transaction.begin()
  }

  function over(transaction: Transaction): void {
    running.remove(transaction)
    transaction.closed()
    if (running.first === undefined) onIdle?.()
  }

  /** Whose response it is; looked for only where a connection fails. */
  function transactionOf(response: ServerResponse): Transaction | undefined {
    for (const transaction of running) if (transaction.response === response) return transaction
    return undefined
  }

  /**
   * Node's parser or its clock has given a connection up. A request that is under way answers it itself; one
   * that has come whole is answered first, and what came behind it is not.
   */
  function giveUp(error: NodeJS.ErrnoException, socket: Duplex): void {
    log('debug', 'A connection sent no readable request', { code: error.code })
    const { status, detail } = unreadOf(error.code)
    const response = responseOn(socket)
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    if (response === undefined) return answerUnread(socket, { status, detail })
    if (transactionOf(response)?.giveUp(status, detail) !== true) socket.destroy()
  }

  function open(port: number, host: string): Promise<AddressInfo> {
    if (server !== undefined) {
      return Promise.reject(new Error('This server listens already; make another one for another address'))
    }
    const bind: Bind = isLoopback(host) ? 'loopback' : 'network'
    const opened = limitedServer(limits)
    server = opened
    opened.on('request', (incoming, response) => receive(incoming, response, bind, 'nothing'))
    opened.on('checkContinue', (incoming, response) => receive(incoming, response, bind, 'continue'))
    opened.on('checkExpectation', (incoming, response) => receive(incoming, response, bind, 'unknown'))
    opened.on('clientError', giveUp)
    logDrops(opened, log)
    return new Promise((resolve, reject) => {
      opened.once('error', (error: NodeJS.ErrnoException) => {
        server = undefined
        reject(listenError(error, port, host))
      })
      opened.listen(port, host, () => {
        opened.removeAllListeners('error')
        opened.on('error', (error) => log('warning', 'The listening socket failed', { cause: error }))
        const address = opened.address()
        if (typeof address === 'object' && address !== null) resolve(address)
      })
    })
  }

  return {
    handler(incoming: AnyRequest, response: AnyResponse, next) {
      if (!isRequest(incoming) || !isResponse(response)) {
        const remedy = 'with Fastify, pass request.raw and reply.raw'
        throw new TypeError(`handler takes a request and a response of Node; ${remedy}`)
      }
      if (typeof next === 'function' && isOutside(mountPath, incoming.url ?? '/')) next()
      else receive(incoming, response, undefined, 'nothing')
    },
    listen: open,
    drain() {
      isDraining = true
      for (const transaction of running) transaction.end()
      server?.close()
      server?.closeIdleConnections()
    },
    idle(ms) {
      if (running.first === undefined) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS))
        onIdle = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    async destroy() {
      for (const { response } of running) response.destroy()
      const closing = server
      if (closing === undefined) return
      closing.closeAllConnections()
      if (closing.listening) await new Promise((resolve) => closing.close(resolve))
    },
  }
}

/** A server of node:http that keeps to the limits. */
function limitedServer(limits: Limits): Server {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs === Infinity ? 0 : limits.headersTimeoutMs,
    requestTimeout: limits.bodyTimeoutMs === Infinity ? 0 : limits.bodyTimeoutMs,
    connectionsCheckingInterval: Math.min(limits.checkIntervalMs, MAX_TIMER_MS),
    keepAliveTimeout: Math.min(limits.keepAliveMs, MAX_TIMER_MS),
    maxHeaderSize: Math.min(limits.maxHeaderBytes, MAX_HEADER_SIZE),
    // The gate refuses a request without a Host in words of its own.
    requireHostHeader: false,
  })
  // Node would drop the lines beyond its count in silence; ours is checked where it can be refused.
  server.maxHeadersCount = 0
  server.maxConnections = connectionLimit(limits.maxConnections)
  const sweep = new IdleSweep(server.keepAliveTimeout)
  server.on('connection', (socket) => {
    sweep.watch(socket)
    // Asked for now, its address is known when it has closed, too: runs go on, and count as its network's.
    void socket.remoteAddress
  })
  server.on('close', () => sweep.end())
  return server
}

/** Says now and then that connections are turned away. */
function logDrops(server: Server, log: Log): void {
  let loggedAt = -Infinity
  server.on('drop', () => {
    if (performance.now() - loggedAt < DROP_LOG_MS) return
    loggedAt = performance.now()
    log('warning', 'Connections are turned away: too many are open', { limit: server.maxConnections })
  })
}

/** One of HTTP/2 has every member that is used here of one of HTTP/1. */
function isRequest(incoming: AnyRequest): incoming is IncomingMessage {
  return Array.isArray(incoming.rawHeaders)
}

function isResponse(response: AnyResponse): response is ServerResponse {
  return typeof response.writeHead === 'function'
}

function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const remedy = remedies.get(error.code ?? '')
  const sentence = remedy?.(port, host) ?? `Cannot listen on ${host}:${port}: ${error.message}`
  return Object.assign(new Error(sentence, { cause: error }), { code: error.code })
}

const foreign = (_port: number, host: string): string =>
  `'${host}' is no address of this machine; choose another host`

const remedies: ReadonlyMap<string, (port: number, host: string) => string> = new Map([
  ['EADDRINUSE', (port) => `Port ${port} is in use; stop what uses it, or choose another port`],
  ['EACCES', (port) => `Port ${port} may not be opened by this user; choose one above 1023`],
  ['EADDRNOTAVAIL', foreign],
  ['ENOTFOUND', foreign],
])

/** The wanted limit, but never so many that the process runs out of files. */
function connectionLimit(wanted: number): number {
  try {
    const files = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return files === undefined ? wanted : Math.min(wanted, Math.max(Number(files) - 100, 1))
  } catch {
    // Not Linux: the limit cannot be read, and stays the operator's.
    return wanted
  }
}

function ignore(): void {}
