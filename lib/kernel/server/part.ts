/**
 * What a server is made of besides its kernel: parts, each of which serves a protocol, or something around
 * them. The kernel opens them in their order, and knows none by name.
 */
import type { Readable, Writable } from 'node:stream'
import type { Adapters } from '../define/adapters.ts'
import type { Around } from '../define/around.ts'
import type { KernelLimits } from '../define/limits.ts'
import type { Resource } from '../define/resource.ts'
import type { Endpoint } from '../http/message/exchange.ts'
import type { Authorization } from '../http/access/auth.ts'
import type { Observer } from '../http/server/observer.ts'
import type { OnCall } from '../run/call-observer.ts'
import type { Service, Traced } from '../run/service.ts'
import type { Gauge } from '../util/gauge.ts'
import type { Seal } from '../wire/seal.ts'
import type { Floor } from './floors.ts'

/** The copy of the kernel that a part was made with: classes and keys of two copies are not the same. */
export const kernelCopy: symbol = Symbol('triport')

/** A part as it is chosen: what makes it has checked its options. */
export interface Part {
  /** In sentences, and in `needs`: a server has one part of a name. */
  readonly name: string
  /** `kernelCopy`, of parts that import the kernel; left out where a part uses what it is given alone. */
  readonly copy?: symbol
  /** What clients know it by, and `server.protocols` lists; several parts may serve one. Left out: none. */
  readonly protocol?: string
  /** The names of the parts that have to be there too, and are opened before it. */
  readonly needs?: readonly string[]
  /** What the function that makes it takes: so a sentence can say where such an option belongs. */
  readonly optionNames?: readonly string[]
  /** The default port of a server with this protocol alone. */
  readonly port?: number
  /** What it brings to the definitions of the server, before any part is opened. */
  readonly defines?: {
    /** Served behind those of the options. */
    readonly resources?: readonly Resource[]
    /** What makes the pages of tools, where the adapters do not. */
    readonly toolUi?: NonNullable<Adapters['toolUi']>
  }
  /** Runs around each call, outside of that of the options. */
  readonly around?: Around | undefined
  /** Runs around each post to another server. */
  readonly traced?: Traced | undefined
  /** Called at the end of each call, before that of the options. */
  readonly onCall?: OnCall
  /** What listens to requests in the place of `next`, which it passes them on to. */
  readonly observe?: (next: Observer) => Observer
  /** What it serves, or why it cannot serve what the catalog has. Throws for options that cannot be meant. */
  open?(kernel: Kernel): Opened | string
  /** How it serves one client over two streams, as standard input and output; `open` is not called there. */
  readonly lines?: Lines
}

/** A protocol of one client, a message a line. */
export interface Lines {
  /** Limits that its clients need, where the options do not say them. */
  readonly defaults?: Partial<KernelLimits>
  /** As `open` of a part, with what it serves. */
  open(kernel: Kernel): OpenedLines | string
}

/** What serves one client over lines. */
export interface OpenedLines {
  /** All parts are open. Throws `TypeError` where it cannot be served. */
  ready?(): void
  /** Reads from the client, and answers it. */
  serve(input: Readable, output: Writable): Promise<LineServer>
}

/** One client that is served. */
export interface LineServer {
  /** Calls that run. */
  readonly running: number
  /** Takes no more requests, and lets calls end within `graceMs`; called again, ends them at once. */
  end(): void
  /** Resolves when the client's input has ended, or the server, and everything is sent. Never rejects. */
  readonly over: Promise<void>
}

/** Makes a curl command for a path: with a body a POST, else a GET. */
export type Curl = (path: string, body?: object) => string

/** What an open part serves, and how it ends. */
export interface Opened extends Floor {
  readonly endpoints?: readonly Endpoint[]
  /** Headers of its replies that pages of other origins may read (CORS), in lower case. */
  readonly exposes?: readonly string[]
  /** Lines for people: where it is at the server's URL, and commands to try it. */
  announce?(url: string, curl: Curl): readonly string[]
  /** All parts are open, and serve these. Throws `TypeError` where one of them cannot be. */
  ready?(all: readonly Endpoint[]): void
}

/** What a caller has to bring. */
export interface Credentials {
  /** Whether a request needs one, and whether that may be a key. A listening server may come to need one. */
  isNeeded(): boolean
  takesKeys(): boolean
  /** How tokens are checked; undefined where none are taken. */
  readonly auth: Authorization | undefined
  /** What a token for an address of this server has to be for (RFC 8707); undefined where none is taken. */
  resourceAt(address: string): string | undefined
}

/** What parts share. */
export interface Kernel extends Service {
  readonly seal: Seal
  readonly credentials: Credentials
  /** Of all parts; complete when they are open. */
  endpoints(): readonly Endpoint[]
  gauges(): readonly Gauge[]
  isDraining(): boolean
}
