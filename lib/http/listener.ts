/**
 * node:http made safe: timeouts, connection counts, what Node itself refuses, an orderly end, and the
 * last catch. Hands each request through the gate, its body reader and its endpoint to the reply writer.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { MAX_TIMER_MS } from '../core/clock.ts'
import { isThenable } from '../core/thenable.ts'
import { mustWait, NodeRequestHead, responseOn } from './node-request.ts'
import { readBody } from './body.ts'
import { isSource } from './exchange.ts'
import { endingAt } from './expiry.ts'
import { NO_ROOM, tooLarge } from './gate.ts'
import { isLoopback } from './guard.ts'
import { discard, sendReply } from './reply.ts'
import { answerUnread, unreadOf } from './unread.ts'
import { refusalOf } from './request.ts'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Limits } from '../core/defaults.ts'
import type { Log } from '../core/log.ts'
import type { BodyBudget, BodyFailure } from './body.ts'
import type { Reply } from './exchange.ts'
import type { Gate } from './gate.ts'
import type { Bind } from './guard.ts'
import type { Streams } from './sink.ts'
import type { HttpRequest } from './request.ts'

/** What a listener works with. */
export interface ListenerOptions {
  readonly gate: Gate
  readonly streams: Streams
  readonly budget: BodyBudget
  readonly limits: Limits
  readonly log: Log
}

/** Answers one request of a node:http server. */
export type Handler = (incoming: IncomingMessage, response: ServerResponse) => void

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

/** What a client wants to hear before it sends its body. */
type Expectation = 'nothing' | 'continue' | 'unknown'

/** The largest that Node takes. */
const MAX_HEADER_SIZE = 2 ** 31 - 1
const DROP_LOG_MS = 60_000

/** Makes a listener; nothing is opened yet. */
export function createListener(options: ListenerOptions): Listener {
  const { gate, streams, budget, limits, log } = options
  /** What is being answered; a response has no request while its caller is being identified. */
  const running = new Map<ServerResponse, HttpRequest | undefined>()
  let onIdle: (() => void) | undefined
  let server: Server | undefined
  let isDraining = false
  let dropsLoggedAt = -Infinity

  function receive(
    incoming: IncomingMessage, response: ServerResponse, bind: Bind | undefined, expects: Expectation,
  ): void {
    if (mustWait(incoming, response)) {
      response.once('socket', () => receive(incoming, response, bind, expects))
      return
    }
    response.on('close', () => {
      running.delete(response)
      if (running.size === 0) onIdle?.()
    })
    // Without a listener an error of one socket would end the process.
    response.on('error', ignore)
    try {
      const request = gate(new NodeRequestHead(incoming, response, bind))
      if (!(request instanceof Promise)) return go(incoming, response, request, expects)
      running.set(response, undefined)
      request.then((later) => go(incoming, response, later, expects)).catch(failed)
    } catch (error) {
      failed(error)
    }

    function failed(error: unknown): void {
      log('error', 'A request could not be handled', { cause: error })
      response.destroy()
    }
  }

  function go(incoming: IncomingMessage, response: ServerResponse, request: HttpRequest, expects: Expectation): void {
    if (response.closed) return
    running.set(response, request)
    const { endpoint } = request
    if (request.refusal !== undefined || endpoint === undefined) {
      if (request.refusal !== undefined) send(request.refusal)
      return
    }
    if (expects === 'unknown') return send(refusalOf(request, 417, 'Nothing but 100-continue can be expected'))
    if (endpoint.accepts === undefined || request.method === 'GET' || request.method === 'HEAD') return run()
    if (expects === 'continue') response.writeContinue()
    readBody(incoming, limits.maxBodyBytes, budget, (text, failure) => {
      if (failure === undefined) {
        request.body = text
        return run()
      }
      const refusal = bodyRefusal(request, failure, options)
      if (refusal !== undefined) send(refusal)
    })

    function run(): void {
      try {
        const reply = endpoint!.handle(request)
        if (isThenable(reply)) reply.then(send, failed)
        else send(reply)
      } catch (error) {
        failed(error)
      }
    }

    function send(reply: Reply): void {
      try {
        if (!isSource(reply.body) || !streams.isFull) return deliver(reply)
        discard(reply.body)
        const detail = 'Too many streams are open; try again later'
        deliver(refusalOf(request, 503, detail, ['Retry-After', '5']))
      } catch (error) {
        failed(error)
      }
    }

    function deliver(reply: Reply): void {
      const { expiresAt } = request.principal
      sendReply(incoming, response, request, endingAt(reply, expiresAt), streams, isDraining)
    }

    /** What broke before a word was sent is told; what breaks while that is told is not. */
    function failed(error: unknown): void {
      log('error', 'An endpoint failed', { request: request.requestId, path: request.path, cause: error })
      try {
        if (response.headersSent) response.destroy()
        else deliver(refusalOf(request, 500, `Internal error (request ${request.requestId})`))
      } catch {
        response.destroy()
      }
    }
  }

  /** Node's parser or its clock has given a connection up. A request that is under way answers it itself. */
  function giveUp(error: NodeJS.ErrnoException, socket: Duplex): void {
    log('debug', 'A connection sent no readable request', { code: error.code })
    const { status, detail } = unreadOf(error.code)
    const response = responseOn(socket)
    const request = response === undefined ? undefined : running.get(response)
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else if (response === undefined) answerUnread(socket, { status, detail })
    // An answer that has begun owns the socket, and so does the one that is still to come to a whole request.
    else if (request === undefined || response.headersSent || response.req.complete) socket.destroy()
    else sendReply(response.req, response, request, refusalOf(request, status, detail), streams, true)
  }

  function open(port: number, host: string): Promise<AddressInfo> {
    if (server !== undefined) {
      return Promise.reject(new Error('This server listens already; make another one for another address'))
    }
    const bind: Bind = isLoopback(host) ? 'loopback' : 'network'
    const opened = createServer({
      headersTimeout: limits.headersTimeoutMs === Infinity ? 0 : limits.headersTimeoutMs,
      requestTimeout: limits.bodyTimeoutMs === Infinity ? 0 : limits.bodyTimeoutMs,
      connectionsCheckingInterval: Math.min(limits.checkIntervalMs, MAX_TIMER_MS),
      keepAliveTimeout: Math.min(limits.keepAliveMs, MAX_TIMER_MS),
      maxHeaderSize: Math.min(limits.maxHeaderBytes, MAX_HEADER_SIZE),
      // The gate refuses a request without a Host in words of its own.
      requireHostHeader: false,
    })
    server = opened
    // Node would drop the lines beyond its count in silence; ours is checked where it can be refused.
    opened.maxHeadersCount = 0
    opened.maxConnections = connectionLimit(limits.maxConnections)
    opened.on('request', (incoming, response) => receive(incoming, response, bind, 'nothing'))
    opened.on('checkContinue', (incoming, response) => receive(incoming, response, bind, 'continue'))
    opened.on('checkExpectation', (incoming, response) => receive(incoming, response, bind, 'unknown'))
    opened.on('clientError', giveUp)
    opened.on('drop', () => {
      if (performance.now() - dropsLoggedAt < DROP_LOG_MS) return
      dropsLoggedAt = performance.now()
      log('warning', 'Connections are turned away: too many are open', { limit: opened.maxConnections })
    })
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
    handler: (incoming, response) => receive(incoming, response, undefined, 'nothing'),
    listen: open,
    drain() {
      isDraining = true
      server?.close()
      server?.closeIdleConnections()
    },
    idle(ms) {
      if (running.size === 0) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS))
        onIdle = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    async destroy() {
      for (const response of running.keys()) response.destroy()
      const closing = server
      if (closing === undefined) return
      closing.closeAllConnections()
      if (closing.listening) await new Promise((resolve) => closing.close(resolve))
    },
  }
}

function bodyRefusal(request: HttpRequest, failure: BodyFailure, options: ListenerOptions): Reply | undefined {
  switch (failure) {
    case 'too-large': return refusalOf(request, 413, tooLarge(options.limits))
    case 'no-room': return refusalOf(request, 503, NO_ROOM, ['Retry-After', '1'])
    case 'not-utf8': return refusalOf(request, 400, 'The body is not valid UTF-8', undefined, true)
    case 'gone': return undefined
    case 'taken':
      options.log('error', 'A body was read before the handler got it; mount the handler before body parsers')
      return refusalOf(request, 500, `Internal error (request ${request.requestId})`)
  }
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
