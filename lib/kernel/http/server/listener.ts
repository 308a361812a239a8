/**
 * node:http made safe: timeouts, connection counts, what Node itself refuses, pipelining, an orderly end.
 * Makes a transaction of each request, of its own server or of a host's.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { IdleWaiters, MAX_TIMER_MS, minutely } from '../../util/clock.ts'
import { LinkedList } from '../../util/linked-list.ts'
import { inContext } from '../stream/loop-fairness.ts'
import { isLoopback } from '../access/guard.ts'
import { formatJson } from '../../wire/json.ts'
import { problem, PROBLEM_JSON } from '../../wire/problem.ts'
import { IdleSweep, PipelineQueue, responseOn } from './connection.ts'
import { isOutside } from './node-request.ts'
import { LATE } from './request.ts'
import { Transaction } from './transaction.ts'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { KernelLimits } from '../../define/limits.ts'
import type { Bind } from '../access/guard.ts'
import type { Means } from './gate.ts'

/**
 * Answers one request of a node:http, node:https or node:http2 server. Where a `next` is given it is called,
 * and nothing is answered, for a path outside of the mount path. Throws `TypeError` for what is neither a
 * request nor a response of Node's.
 */
export interface Handler {
  (incoming: IncomingMessage, response: ServerResponse, next?: () => void): void
  (incoming: Http2ServerRequest, response: Http2ServerResponse, next?: () => void): void
}

export interface Listener {
  /** Answers one request of a host's server. */
  readonly handler: Handler
  /** Opens a socket, once. Rejects with a sentence where that fails; then it can be tried again. */
  listen(port: number, host: string): Promise<AddressInfo>
  /** Refuses new connections; each answer from now on closes its connection. */
  drain(): void
  /** Resolves when no request is being answered, or after `ms`. */
  idle(ms: number): Promise<void>
  /** Destroys the connections that are left. */
  destroy(): void
}

type AnyRequest = IncomingMessage | Http2ServerRequest
type AnyResponse = ServerResponse | Http2ServerResponse

/** The largest value that Node takes. */
const MAX_HEADER_SIZE = 2 ** 31 - 1

export function createListener(means: Means): Listener {
  const { limits, log, mountPath } = means
  const running = new LinkedList<Transaction>()
  const turns = new PipelineQueue(limits.maxWaitingRequests)
  const idle = new IdleWaiters()
  const seldom = minutely()
  let server: Server | undefined
  let isDraining = false

  function receive(
    incoming: IncomingMessage, response: ServerResponse, bind: Bind | undefined,
  ): void {
    // What follows a request that closed the connection is dropped.
    if (incoming.socket.destroyed) return
    // Node's clock has run while it waited.
    const isFree = response.socket !== null || responseOn(incoming.socket) === undefined
    if (isFree) return answer(incoming, response, bind, bind === undefined)
    turns.wait(incoming, response, inContext(() => answer(incoming, response, bind, true)))
  }

  function answer(
    incoming: IncomingMessage, response: ServerResponse, bind: Bind | undefined, isTimed: boolean,
  ): void {
    const transaction = new Transaction(incoming, response, bind, isTimed, means)
    if (isDraining) transaction.end()
    running.add(transaction)
    response.on('close', over.bind(undefined, transaction))
    // Without a listener an error of one socket would end the process.
    response.on('error', ignore)
    transaction.begin()
  }

  /**
   * Node's parser has let go of a connection that asks for another protocol. Without this listener it would
   * drop what has come behind the head.
   */
  function upgrade(incoming: IncomingMessage, first: Buffer): void {
    const { socket } = incoming
    whenAnswered(socket, () => {
      socket.unshift(withoutUpgrade(incoming, first))
      server!.emit('connection', socket)
    })
  }

  function over(transaction: Transaction): void {
    running.remove(transaction)
    transaction.closed()
    if (running.first === undefined) idle.notify()
  }

  /**
   * Node's parser or its clock has given a connection up. A running request answers that itself; one that has
   * arrived whole is answered first, and what follows it is dropped.
   */
  function giveUp(error: NodeJS.ErrnoException, socket: Duplex): void {
    log('debug', 'A connection sent no readable request', { code: error.code })
    const why = reasons.get(error.code ?? '') ?? NOT_HTTP
    const response = responseOn(socket)
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    if (response === undefined) return answerUnread(socket, ...why)
    for (const transaction of running) {
      if (transaction.response === response && transaction.giveUp(...why)) return
    }
    socket.destroy()
  }

  function open(port: number, host: string): Promise<AddressInfo> {
    if (isDraining) return Promise.reject(closedError())
    if (server !== undefined) {
      return Promise.reject(new Error('This server listens already; make another one for another address'))
    }
    const bind: Bind = isLoopback(host) ? 'loopback' : 'network'
    const opened = limitedServer(limits)
    server = opened
    // Without a listener of the last two Node would answer what is expected before it is known who asks.
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      opened.on(event, (incoming, response) => receive(incoming, response, bind))
    }
    opened.on('upgrade', (incoming, _socket, first) => upgrade(incoming, first))
    opened.on('connect', ({ socket }) => whenAnswered(socket, () => socket.destroySoon()))
    opened.on('clientError', giveUp)
    opened.on('drop', () => seldom(() => {
      log('warning', 'Connections are turned away: too many are open', { limit: opened.maxConnections })
    }))
    return new Promise((resolve, reject) => {
      opened.once('error', (error: NodeJS.ErrnoException) => {
        server = undefined
        reject(listenError(error, port, host))
      })
      opened.once('close', () => reject(closedError()))
      opened.listen(port, host, () => {
        opened.removeAllListeners('error')
        // Closed before its name was looked up, it listens all the same.
        if (isDraining) return void opened.close()
        opened.on('error', (error) => log('warning', 'The listening socket failed', { cause: error }))
        const address = opened.address()
        if (typeof address === 'object' && address !== null) resolve(address)
      })
    })
  }

  return {
    handler(incoming: AnyRequest, response: AnyResponse, next) {
      if (!isRequest(incoming) || !isResponse(response)) {
        const remedy = 'with Fastify, pass request.raw and reply.raw; with Koa, context.req and context.res'
        throw new TypeError(`handler takes a request and a response of Node; ${remedy}`)
      }
      if (typeof next === 'function' && isOutside(mountPath, incoming.url ?? '/')) next()
      else receive(incoming, response, undefined)
    },
    listen: open,
    drain() {
      isDraining = true
      for (const transaction of running) transaction.end()
      server?.close()
      server?.closeIdleConnections()
    },
    idle(ms) {
      return running.first === undefined ? Promise.resolve() : idle.wait(ms)
    },
    destroy() {
      for (const { response } of running) response.destroy()
      server?.closeAllConnections()
    },
  }
}

function limitedServer(limits: KernelLimits): Server {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs === Infinity ? 0 : limits.headersTimeoutMs,
    requestTimeout: limits.bodyTimeoutMs === Infinity ? 0 : limits.bodyTimeoutMs,
    connectionsCheckingInterval: Math.min(limits.checkIntervalMs, MAX_TIMER_MS),
    keepAliveTimeout: Math.min(limits.keepAliveMs, MAX_TIMER_MS),
    maxHeaderSize: Math.min(limits.maxHeaderBytes, MAX_HEADER_SIZE),
    // The gate refuses a request without a Host.
    requireHostHeader: false,
  })
  // Node would drop lines beyond its count in silence; the gate checks them and refuses.
  server.maxHeadersCount = 0
  server.maxConnections = connectionLimit(limits.maxConnections)
  const sweep = new IdleSweep(server.keepAliveTimeout)
  server.on('connection', (socket) => {
    sweep.watch(socket)
    // Read now, the address is known after the socket has closed: runs go on and count for its network.
    void socket.remoteAddress
  })
  server.on('close', () => sweep.end())
  return server
}

/** Runs something when all that was asked before on a connection, which nobody reads, has its answer. */
function whenAnswered(socket: Socket, run: () => void): void {
  // Node has taken its own listeners away; the same connection may come again.
  socket.off('error', ignore).on('error', ignore)
  const drain = (): void => { responseOn(socket)?.emit('drain') }
  socket.on('drain', drain)
  const look = (): void => {
    if (socket.destroyed) return
    const running = responseOn(socket)
    if (running !== undefined) return void running.once('close', look)
    socket.off('drain', drain)
    if (socket.writable) run()
  }
  look()
}

/**
 * A request that asks for a protocol that is not spoken here, as clients of Java do for HTTP/2, without that:
 * it is answered as any other. RFC 9110 §7.8.
 */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage, rest: Buffer): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rest])
}

/** A request of HTTP/2 has every member of HTTP/1 that is used here. */
function isRequest(incoming: AnyRequest | undefined): incoming is IncomingMessage {
  return Array.isArray(incoming?.rawHeaders)
}

function isResponse(response: AnyResponse | undefined): response is ServerResponse {
  return typeof response?.writeHead === 'function'
}

export function closedError(): Error {
  return new Error('This server is closed; make a new one')
}

/** Why nothing listens there, with a way out. */
export function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const remedy = remedies.get(error.code ?? '')
  const sentence = remedy?.(port, host) ?? `Cannot listen on ${host}:${port}: ${error.message}`
  return Object.assign(new Error(sentence, { cause: error }), { code: error.code })
}

const foreign = (_port: number, host: string): string =>
  `'${host}' is no address of this machine; choose another host (--host)`

const remedies: ReadonlyMap<string, (port: number, host: string) => string> = new Map([
  ['EADDRINUSE', (port) => `Port ${port} is in use; stop what uses it, or choose another (--port)`],
  ['EACCES', (port) => `Port ${port} may not be opened by this user; choose one above 1023 (--port)`],
  ['EADDRNOTAVAIL', foreign],
  ['ENOTFOUND', foreign],
])

/** The wanted limit, below what the open files of the process allow. */
function connectionLimit(wanted: number): number {
  try {
    const files = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return files === undefined ? wanted : Math.min(wanted, Math.max(Number(files) - 100, 1))
  } catch {
    // Not Linux.
    return wanted
  }
}

/** How long a client may take to read its answer. */
const UNREAD_MS = 1_000

type Unread = readonly [status: number, detail: string]

/** By the error codes of Node, which has rejected it before there was a request. */
const reasons: ReadonlyMap<string, Unread> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'The header lines are too large']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'The chunk extensions are too large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, LATE]],
])
const NOT_HTTP: Unread = [400, 'The request is not HTTP']

/** Answers on a socket without a response, and closes it. */
function answerUnread(socket: Duplex, ...[status, detail]: Unread): void {
  const document = problem(status, detail, 'none')
  const body = formatJson(document)
  socket.end(`HTTP/1.1 ${status} ${document.title}\r\nContent-Type: ${PROBLEM_JSON}\r\n`
    + `Content-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\n`
    + `Connection: close\r\n\r\n${body}`)
  // The other half is closed by the client, or here.
  setTimeout(() => socket.destroy(), UNREAD_MS).unref()
}

function ignore(): void {}
