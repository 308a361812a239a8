/**
 * node:http made safe: timeouts, connection counts, what Node itself refuses, an orderly end, and the
 * last catch. Hands each request through the gate, its body reader and its endpoint to the reply writer.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { problem } from '../wire/problem.ts'
import { readBody } from './body.ts'
import { isSource } from './exchange.ts'
import { refuse, tooLarge } from './gate.ts'
import { isLoopback } from './guard.ts'
import { discard, sendReply } from './reply.ts'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Limits } from '../core/defaults.ts'
import type { Log } from '../core/log.ts'
import type { BodyBudget, BodyFailure } from './body.ts'
import type { Reply } from './exchange.ts'
import type { Arrival, Gate, Visit } from './gate.ts'
import type { Bind } from './guard.ts'
import type { Streams } from './sink.ts'

/** What a listener works with. */
export interface ListenerOptions {
  readonly gate: Gate
  readonly streams: Streams
  readonly budget: BodyBudget
  readonly limits: Limits
  readonly log: Log
}

/** A request handler for node:http, and a server of our own around it. */
export interface Listener {
  /** Answers one request of somebody else's server. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void
  /** Opens a socket. Rejects with a sentence where it cannot. */
  listen(port: number, host: string): Promise<AddressInfo>
  /** No new connections; every answer from now on ends its connection. */
  drain(): void
  /** Resolves when no request is being answered, or after `ms`. */
  idle(ms: number): Promise<void>
  /** Destroys what is left. */
  destroy(): Promise<void>
}

type Bound = Bind | undefined

/** Makes a listener; nothing is opened yet. */
export function createListener(options: ListenerOptions): Listener {
  const { gate, streams, budget, limits, log } = options
  const running = new Set<ServerResponse>()
  let onIdle: (() => void) | undefined
  let server: Server | undefined
  let isDraining = false

  function receive(request: IncomingMessage, response: ServerResponse, bind: Bound, mayContinue: boolean): void {
    running.add(response)
    response.on('close', () => {
      running.delete(response)
      if (running.size === 0) onIdle?.()
    })
    // Without a listener an error of one socket would end the process.
    response.on('error', ignore)
    try {
      const visit = gate(new NodeArrival(request, response, bind))
      if (visit instanceof Promise) visit.then((later) => go(request, response, later, mayContinue), failed)
      else go(request, response, visit, mayContinue)
    } catch (error) {
      failed(error)
    }

    function failed(error: unknown): void {
      log('error', 'A request could not be handled', { cause: error })
      response.destroy()
    }
  }

  function go(request: IncomingMessage, response: ServerResponse, visit: Visit, mayContinue: boolean): void {
    const { endpoint } = visit
    if (visit.refusal !== undefined || endpoint === undefined) {
      if (visit.refusal !== undefined) send(visit.refusal)
      return
    }
    if (endpoint.accepts === undefined || visit.method === 'GET' || visit.method === 'HEAD') return run()
    if (mayContinue) response.writeContinue()
    readBody(request, limits.maxBodyBytes, budget, (text, failure) => {
      if (failure === undefined) {
        visit.body = text
        return run()
      }
      const refusal = bodyRefusal(visit, failure, limits)
      if (refusal !== undefined) send(refusal)
    })

    function run(): void {
      try {
        const reply = endpoint!.handle(visit)
        if (reply instanceof Promise) reply.then(send, failed)
        else send(reply)
      } catch (error) {
        failed(error)
      }
    }

    function send(reply: Reply): void {
      if (isSource(reply.body) && streams.isFull) {
        discard(reply.body)
        const full = refuse(visit, 503, 'Too many streams are open; try again later', ['Retry-After', '5'])
        return sendReply(request, response, visit, full.refusal!, streams, isDraining)
      }
      sendReply(request, response, visit, reply, streams, isDraining)
    }

    function failed(error: unknown): void {
      log('error', 'An endpoint failed', { request: visit.requestId, path: visit.path, cause: error })
      if (response.headersSent) response.destroy()
      else send(refuse(visit, 500, `Internal error (request ${visit.requestId})`).refusal!)
    }
  }

  function open(port: number, host: string): Promise<AddressInfo> {
    const bind: Bind = isLoopback(host) ? 'loopback' : 'network'
    server = createServer({
      headersTimeout: limits.headersTimeoutMs === Infinity ? 0 : limits.headersTimeoutMs,
      requestTimeout: limits.bodyTimeoutMs === Infinity ? 0 : limits.bodyTimeoutMs,
      connectionsCheckingInterval: Math.min(limits.checkIntervalMs, 0x7fffffff),
      keepAliveTimeout: Math.min(limits.keepAliveMs, 0x7fffffff),
      maxHeaderSize: Math.min(limits.maxHeaderBytes, 0x7fffffff),
    })
    // Node would drop the lines beyond its count in silence; ours is checked where it can be refused.
    server.maxHeadersCount = 0
    server.maxConnections = connectionLimit(limits.maxConnections)
    server.on('request', (request, response) => receive(request, response, bind, false))
    server.on('checkContinue', (request, response) => receive(request, response, bind, true))
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseUnparsed(error, socket, log))
    const opened = server
    return new Promise((resolve, reject) => {
      opened.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, port, host)))
      opened.listen(port, host, () => {
        opened.removeAllListeners('error')
        opened.on('error', (error) => log('warning', 'The listening socket failed', { cause: error }))
        const address = opened.address()
        if (typeof address === 'object' && address !== null) resolve(address)
      })
    })
  }

  return {
    handler: (request, response) => receive(request, response, undefined, false),
    listen: open,
    drain() {
      isDraining = true
      server?.close()
      server?.closeIdleConnections()
    },
    idle(ms) {
      if (running.size === 0) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = ms === Infinity ? undefined : setTimeout(resolve, ms)
        onIdle = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    async destroy() {
      for (const response of running) response.destroy()
      const closing = server
      if (closing === undefined) return
      closing.closeAllConnections()
      if (closing.listening) await new Promise((resolve) => closing.close(resolve))
    },
  }
}

/** The head of a node:http request. */
class NodeArrival implements Arrival {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #bind: Bound

  constructor(request: IncomingMessage, response: ServerResponse, bind: Bound) {
    this.#request = request
    this.#response = response
    this.#bind = bind
  }

  get method(): string { return this.#request.method ?? 'GET' }
  get target(): string { return this.#request.url ?? '/' }
  get httpVersion(): string { return this.#request.httpVersion }
  get rawHeaders(): readonly string[] { return this.#request.rawHeaders }
  get secure(): boolean { return 'encrypted' in this.#request.socket }
  get remoteAddress(): string | undefined { return this.#request.socket.remoteAddress }

  /** In somebody else's server the socket's own address tells how the client came in. */
  get bind(): Bind {
    return this.#bind ?? (isLoopback(this.#request.socket.localAddress) ? 'loopback' : 'network')
  }

  onGone(listener: () => void): void {
    const response = this.#response
    if (response.destroyed && !response.writableFinished) return listener()
    response.on('close', () => {
      if (!response.writableFinished) listener()
    })
  }
}

function bodyRefusal(visit: Visit, failure: BodyFailure, limits: Limits): Reply | undefined {
  switch (failure) {
    case 'too-large': return refuse(visit, 413, tooLarge(limits)).refusal
    case 'no-room': return refuse(visit, 503, 'Too many bodies are being read; try again later', ['Retry-After', '1']).refusal
    case 'not-utf8': return refuse(visit, 400, 'The body is not valid UTF-8', undefined, true).refusal
    case 'gone': return undefined
  }
}

/** What Node's parser, or its clock, refused before there was a request. */
function refuseUnparsed(error: NodeJS.ErrnoException, socket: Duplex, log: Log): void {
  log('debug', 'A connection sent no readable request', { code: error.code })
  // A response that has begun on this socket owns it: more bytes would be read as part of that answer.
  const begun = '_httpMessage' in socket && socket._httpMessage !== null && socket._httpMessage !== undefined
  if (error.code === 'ECONNRESET' || !socket.writable || begun) {
    socket.destroy()
    return
  }
  const [status, line] = refusals.get(error.code ?? '') ?? [400, '400 Bad Request']
  const body = JSON.stringify(problem(status, sentences.get(status) ?? 'The request is not HTTP', 'none'))
  socket.end(`HTTP/1.1 ${line}\r\nContent-Type: application/problem+json\r\n`
    + `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
}

const refusals: ReadonlyMap<string, readonly [number, string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, '431 Request Header Fields Too Large']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, '413 Payload Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, '408 Request Timeout']],
])

const sentences: ReadonlyMap<number, string> = new Map([
  [408, 'The request took too long to arrive'],
  [413, 'The chunk extensions are too large'],
  [431, 'The header lines are too large'],
])

function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const remedy = error.code === 'EADDRINUSE' ? `Port ${port} is in use; stop what uses it, or choose another port`
    : error.code === 'EACCES' ? `Port ${port} may not be opened by this user; choose one above 1023`
      : error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' ? `'${host}' is no address of this machine; choose another host`
        : `Cannot listen on ${host}:${port}`
  return Object.assign(new Error(remedy, { cause: error }), { code: error.code })
}

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
