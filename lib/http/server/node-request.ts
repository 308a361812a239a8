/**
 * A request of node:http, node:https or node:http2 as the gate sees it, whoever's server it came in by.
 */
import { isAtOrBelow } from '../../wire/uri.ts'
import { isLoopback } from '../access/guard.ts'
import { parseTarget } from '../message/router.ts'
import type { IncomingMessage } from 'node:http'
import type { Log } from '../../define/log.ts'
import type { Bind } from '../access/guard.ts'
import type { RequestHead } from './request.ts'

/** What a host may let a request come under: whole segments of plain characters. */
const PREFIX = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)*$/

/** The head of a node:http request. */
export class NodeRequestHead implements RequestHead {
  readonly method: string
  readonly target: string
  /** What came by HTTP/2 is told as HTTP/1.1, as every check behind this knows it. */
  readonly httpVersion: string
  /** Whether it did: there a connection is nobody's own. */
  readonly isHttp2: boolean
  readonly rawHeaders: readonly string[]
  readonly bind: Bind
  readonly prefix: string
  #incoming: IncomingMessage | undefined
  #isSecure: boolean | undefined
  #address: string | undefined
  #onDisconnect: (() => void)[] | undefined
  #isGone = false

  /** `bind` is undefined in somebody else's server. */
  constructor(incoming: IncomingMessage, bind: Bind | undefined) {
    const { httpVersion, rawHeaders } = incoming
    // A number alone is only a claim.
    const isHttp2 = incoming.httpVersionMajor === 2 && 'stream' in incoming
    this.method = incoming.method ?? 'GET'
    this.target = incoming.url ?? '/'
    this.httpVersion = isHttp2 ? '1.1' : httpVersion
    this.isHttp2 = isHttp2
    this.rawHeaders = isHttp2 ? headerLines(incoming) : rawHeaders
    // In somebody else's server the socket's own address tells how the client came in.
    this.bind = bind ?? (isLoopback(incoming.socket.localAddress) ? 'loopback' : 'network')
    this.prefix = bind === undefined ? prefixOf(incoming) : ''
    this.#incoming = incoming
  }

  get secure(): boolean {
    return this.#isSecure ??= this.#incoming !== undefined && isEncrypted(this.#incoming.socket)
  }

  /** Kept, once it was asked for: a socket that has closed does not know it any more. */
  get remoteAddress(): string | undefined { return this.#address ??= this.#incoming?.socket.remoteAddress }

  onDisconnect(listener: () => void): void {
    if (this.#isGone) listener()
    // Most have one: a list that was empty would get room for sixteen.
    else if (this.#onDisconnect === undefined) this.#onDisconnect = [listener]
    else this.#onDisconnect.push(listener)
  }

  /**
   * Lets go of the connection, which is over. A run may go on and hold this head; the socket would hold all
   * that came behind the request.
   */
  letGo(): void {
    this.#isSecure = this.secure
    void this.remoteAddress
    this.#incoming = undefined
  }

  /**
   * Tells all who want to know that the client has left without its whole answer. Not at once: an error that
   * is made of it keeps what called for it, and so the socket, until somebody reads its stack.
   */
  left(log: Log): void {
    this.#isGone = true
    const listeners = this.#onDisconnect ?? []
    this.#onDisconnect = undefined
    queueMicrotask(() => {
      try {
        for (const listener of listeners) listener()
      } catch (error) {
        log('error', 'What was to end with a request did not', { cause: error })
      }
    })
  }
}

/**
 * The header lines of HTTP/2 without its own, of which `:authority` is what Host was (RFC 9113 §8.3.1). Of a
 * body without a length they tell as those of HTTP/1 would.
 */
function headerLines(incoming: IncomingMessage & { readonly stream?: unknown }): readonly string[] {
  const { rawHeaders, headers, stream } = incoming
  const lines: string[] = []
  let authority: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!, rawHeaders[at + 1]!]
    if (name === ':authority') authority = value
    // A Host that says the same is one too many; one that says something else is refused for that.
    else if (!name.startsWith(':') && !(name === 'host' && value === authority)) lines.push(name, value)
  }
  const isWhole = typeof stream === 'object' && stream !== null
    && 'endAfterHeaders' in stream && stream.endAfterHeaders === true
  if (!isWhole && headers['content-length'] === undefined) lines.push('transfer-encoding', 'chunked')
  return authority === undefined ? lines : ['host', authority, ...lines]
}

/** Under which path a host has mounted this server: what Express and Connect have taken off the address. */
function prefixOf(incoming: IncomingMessage): string {
  const { url = '/' } = incoming
  const whole: unknown = 'originalUrl' in incoming ? incoming.originalUrl : undefined
  if (typeof whole !== 'string' || whole === url) return ''
  const [before, rest] = [withoutQuery(whole), withoutQuery(url)]
  // The address of the mount itself has lost all that it had, and got a slash for it.
  const isMount = rest === '/' && !before.endsWith('/')
  if (!isMount && !before.endsWith(rest)) return ''
  const prefix = isMount ? before : before.slice(0, before.length - rest.length)
  return PREFIX.test(prefix) ? prefix : ''
}

/** The path of a request target, as it came. */
export function withoutQuery(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

/** Whether an address is outside of the mount path, and so its host's and not ours to answer. */
export function isOutside(mountPath: string, target: string): boolean {
  if (mountPath === '') return false
  // Whose escapes are broken is refused by whoever it was meant for.
  const path = parseTarget(target)?.path ?? withoutQuery(target)
  return !isAtOrBelow(path, mountPath)
}

/** Node.js has the property only where it is true, Bun on every socket. */
function isEncrypted(socket: object): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}
