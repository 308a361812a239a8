/** A request of node:http, node:https or node:http2 as the gate sees it. */
import { isAtOrBelow } from '../../wire/uri.ts'
import { isLoopback } from '../access/guard.ts'
import { parseTarget } from '../message/router.ts'
import { Leaving } from './request.ts'
import type { IncomingMessage } from 'node:http'
import type { Bind } from '../access/guard.ts'
import type { RequestHead } from './request.ts'

/** A prefix under which a host mounts the server: whole segments of plain characters. */
const PREFIX = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)*$/

export class NodeRequestHead extends Leaving implements RequestHead {
  readonly method: string
  readonly target: string
  /** HTTP/2 is shown as HTTP/1.1, which every later check knows. */
  readonly httpVersion: string
  /** In HTTP/2 a connection is shared. */
  readonly isHttp2: boolean
  readonly rawHeaders: readonly string[]
  readonly bind: Bind
  readonly prefix: string
  #incoming: IncomingMessage | undefined
  #isSecure: boolean | undefined
  #address: string | undefined

  /** `bind` is undefined in a host's server. */
  constructor(incoming: IncomingMessage, bind: Bind | undefined) {
    super()
    const { httpVersion, rawHeaders } = incoming
    const isHttp2 = incoming.httpVersionMajor === 2 && 'stream' in incoming
    this.method = incoming.method ?? 'GET'
    this.target = incoming.url ?? '/'
    this.httpVersion = isHttp2 ? '1.1' : httpVersion
    this.isHttp2 = isHttp2
    this.rawHeaders = isHttp2 ? headerLines(incoming) : rawHeaders
    // In a host's server the socket's own address tells how the client came in.
    this.bind = bind ?? (isLoopback(incoming.socket.localAddress) ? 'loopback' : 'network')
    this.prefix = bind === undefined ? prefixOf(incoming) : ''
    this.#incoming = incoming
  }

  get secure(): boolean {
    return this.#isSecure ??= this.#incoming !== undefined && isEncrypted(this.#incoming.socket)
  }

  /** Kept once read: a closed socket does not know it. */
  get remoteAddress(): string | undefined { return this.#address ??= this.#incoming?.socket.remoteAddress }

  /**
   * Drops the connection, which is over. A run may keep this head; the socket would keep all that followed
   * the request.
   */
  detach(): void {
    this.#isSecure = this.secure
    void this.remoteAddress
    this.#incoming = undefined
  }
}

/**
 * The header lines of HTTP/2 as those of HTTP/1: `:authority` is Host (RFC 9113 §8.3.1), a body without a
 * length is chunked.
 */
function headerLines(incoming: IncomingMessage & { readonly stream?: unknown }): readonly string[] {
  const { rawHeaders, headers, stream } = incoming
  const lines: string[] = []
  let authority: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!, rawHeaders[at + 1]!]
    if (name === ':authority') authority = value
    // A Host that repeats it is dropped; one that differs is refused later.
    else if (!name.startsWith(':') && !(name === 'host' && value === authority)) lines.push(name, value)
  }
  const isWhole = typeof stream === 'object' && stream !== null
    && 'endAfterHeaders' in stream && stream.endAfterHeaders === true
  if (!isWhole && headers['content-length'] === undefined) lines.push('transfer-encoding', 'chunked')
  return authority === undefined ? lines : ['host', authority, ...lines]
}

/** The prefix that a host such as Express has removed from the URL. */
function prefixOf(incoming: IncomingMessage): string {
  const { url = '/' } = incoming
  const whole: unknown = 'originalUrl' in incoming ? incoming.originalUrl : undefined
  if (typeof whole !== 'string' || whole === url) return ''
  const [before, rest] = [withoutQuery(whole), withoutQuery(url)]
  // At the mount itself the rest is empty, and became a slash.
  const isMount = rest === '/' && !before.endsWith('/')
  if (!isMount && !before.endsWith(rest)) return ''
  const prefix = isMount ? before : before.slice(0, before.length - rest.length)
  return PREFIX.test(prefix) ? prefix : ''
}

export function withoutQuery(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

/** Whether a URL is outside of the mount path, so that the host answers it. */
export function isOutside(mountPath: string, target: string): boolean {
  if (mountPath === '') return false
  const path = parseTarget(target)?.path ?? withoutQuery(target)
  return !isAtOrBelow(path, mountPath)
}

/** Node has the property only where it is true, Bun on every socket. */
function isEncrypted(socket: object): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}
