/**
 * A store in Redis 6.2 or later, or Valkey, through the client that its user has. Entries are hashes and
 * sorted sets, topics are streams and channels; who follows a topic does so on a connection of its own.
 */
import { rejectUnknown } from '../../schema/options.ts'
import { MAX_VALUE_BYTES } from '../../state/store.ts'
import { requireValueBytes } from '../shared/common.ts'
import { remoteStore } from '../shared/remote.ts'
import type { RedisConnection, RedisEar } from './redis-commands.ts'
import type { Store } from '../../state/store.ts'
import type { MaybePromise } from '../../util/thenable.ts'

/**
 * The Redis clients that people use, told apart by their shape: a client in; a way to send commands and a
 * connection of its own for what is said out. Knows no command but those of subscribing.
 */

/** ioredis 5 and 6, iovalkey. */
interface CallingClient {
  call(...args: never[]): unknown
  duplicate(...args: never[]): unknown
}

/** node-redis 5 and 6. */
interface SendingClient {
  sendCommand(...args: never[]): unknown
  duplicate(...args: never[]): unknown
}

/** Any other client, in two functions of your own. */
interface CommandingClient {
  /** Sends one command, its name first, and answers what Redis answers, texts as strings. */
  command(args: readonly string[]): Promise<unknown>
  /**
   * Hears a channel on a connection of its own. Resolves when it is heard, with the function that ends
   * that. Subscribes again after a lost connection, and then calls `onAgain`.
   */
  subscribe(
    channel: string, listener: (text: string) => void, onAgain: () => void,
  ): Promise<() => MaybePromise<void>>
}

/** What `redisStore` takes: connected already, and never closed by the store. */
export type RedisClient = CallingClient | SendingClient | CommandingClient

const SHAPES = 'a connected client of ioredis, iovalkey or redis (createClient), or { command, subscribe }'

/** Tells which client it is. Throws `TypeError` where it is none. */
function redisConnection(client: unknown): RedisConnection {
  if (!isObject(client)) throw new TypeError(`redisStore takes ${SHAPES}`)
  if (isCalling(client)) {
    return {
      command: ([name = '', ...args]) => client.call(name, ...args),
      open: (hear, onAgain) => new CallingEar(client.duplicate(follower), hear, onAgain),
    }
  }
  if ('sendCommand' in client && !isSending(client)) {
    const what = 'of redis a plain client that can subscribe: no pool, no cluster'
    throw new TypeError(`redisStore takes ${what}; for those give { command, subscribe }`)
  }
  if (isSending(client)) {
    return {
      command: (args) => client.sendCommand(args),
      open: (hear, onAgain) => {
        const socket = { ...client.options?.socket, reconnectStrategy: pauseMs }
        return new SendingEar(client.duplicate({ socket, disableOfflineQueue: false }), hear, onAgain)
      },
    }
  }
  if (isCommanding(client)) {
    return {
      command: (args) => client.command(args),
      open: (hear, onAgain) => new CommandingEar(client, hear, onAgain),
    }
  }
  throw new TypeError(`redisStore takes ${SHAPES}`)
}

interface Calling {
  call(name: string, ...args: readonly string[]): Promise<unknown>
  duplicate(options: object): CallingFollower
}

interface CallingFollower {
  on(event: 'message', listener: (channel: string, text: string) => void): unknown
  on(event: 'ready' | 'error', listener: () => void): unknown
  subscribe(...channels: readonly string[]): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  disconnect(): void
}

interface Sending {
  readonly options?: { readonly socket?: object | undefined } | undefined
  sendCommand(args: readonly string[]): Promise<unknown>
  duplicate(options: object): SendingFollower
}

interface SendingFollower {
  on(event: 'ready' | 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  subscribe(channel: string, listener: (text: string, channel: string) => void): Promise<unknown>
  unsubscribe(channel: string, listener: (text: string, channel: string) => void): Promise<unknown>
  destroy(): void
}

/** How long to wait before connecting again: a follower never gives up. */
function pauseMs(attempt: number): number {
  return Math.min(attempt * 50, 1000)
}

/**
 * The channels are subscribed again here, so that it is known when they are heard. A connection on which
 * nothing is said for long is kept alive, else what lies between may drop it without a word.
 */
const follower = {
  lazyConnect: false, enableOfflineQueue: true, autoResubscribe: false, maxRetriesPerRequest: null,
  keyPrefix: '', keepAlive: 10_000, retryStrategy: pauseMs,
}

class CallingEar implements RedisEar {
  readonly #client: CallingFollower
  readonly #channels = new Set<string>()
  #wasReady = false

  constructor(client: CallingFollower, hear: (channel: string, text: string) => void, onAgain: () => void) {
    this.#client = client
    client.on('error', ignore)
    client.on('message', hear)
    client.on('ready', () => {
      if (this.#wasReady) void this.#again(onAgain)
      this.#wasReady = true
    })
  }

  async subscribe(channel: string): Promise<void> {
    this.#channels.add(channel)
    await this.#client.subscribe(channel)
  }

  unsubscribe(channel: string): Promise<unknown> {
    this.#channels.delete(channel)
    return this.#client.unsubscribe(channel)
  }

  async close(): Promise<void> {
    this.#client.disconnect()
  }

  /** A connection that is lost meanwhile is ready again later. */
  async #again(onAgain: () => void): Promise<void> {
    try {
      if (this.#channels.size > 0) await this.#client.subscribe(...this.#channels)
      onAgain()
    } catch {
      // As above.
    }
  }
}

class SendingEar implements RedisEar {
  readonly #client: SendingFollower
  readonly #connected: Promise<unknown>
  readonly #hear: (text: string, channel: string) => void
  #wasReady = false

  constructor(client: SendingFollower, hear: (channel: string, text: string) => void, onAgain: () => void) {
    this.#client = client
    this.#hear = (text, channel) => hear(channel, text)
    client.on('error', ignore)
    // It has subscribed again by then.
    client.on('ready', () => {
      if (this.#wasReady) onAgain()
      this.#wasReady = true
    })
    this.#connected = client.connect()
    this.#connected.catch(ignore)
  }

  async subscribe(channel: string): Promise<void> {
    await this.#connected
    await this.#client.subscribe(channel, this.#hear)
  }

  unsubscribe(channel: string): Promise<unknown> {
    return this.#client.unsubscribe(channel, this.#hear)
  }

  async close(): Promise<void> {
    this.#client.destroy()
  }
}

class CommandingEar implements RedisEar {
  readonly #client: CommandingClient
  readonly #hear: (channel: string, text: string) => void
  readonly #onAgain: () => void
  readonly #ends = new Map<string, Promise<() => MaybePromise<void>>>()

  constructor(client: CommandingClient, hear: (channel: string, text: string) => void, onAgain: () => void) {
    this.#client = client
    this.#hear = hear
    this.#onAgain = onAgain
  }

  async subscribe(channel: string): Promise<void> {
    const known = this.#ends.get(channel)
    const end = known ?? this.#client.subscribe(channel, (text) => this.#hear(channel, text), this.#onAgain)
    this.#ends.set(channel, end)
    try {
      await end
    } catch (error) {
      if (this.#ends.get(channel) === end) this.#ends.delete(channel)
      throw error
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    const end = this.#ends.get(channel)
    this.#ends.delete(channel)
    await (await end)?.()
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#ends.keys()].map((channel) => this.unsubscribe(channel)))
  }
}

function ignore(): void {}

function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === 'object' || typeof value === 'function') && value !== null
}

function has(client: object, ...methods: readonly string[]): boolean {
  return methods.every((method) => typeof Reflect.get(client, method) === 'function')
}

function isCalling(client: object): client is Calling {
  return has(client, 'call', 'duplicate', 'subscribe')
}

function isSending(client: object): client is Sending {
  return has(client, 'sendCommand', 'duplicate', 'subscribe') && !has(client, 'getSlotRandomNode')
}

function isCommanding(client: object): client is CommandingClient {
  return has(client, 'command', 'subscribe')
}

/** How a store in Redis is set up. */
export interface RedisStoreOptions {
  /** What its keys and channels begin with; what has another prefix is another store. Left out: `triport`. */
  readonly prefix?: string | undefined
  /** Bytes of one value or event; over it `Fault('too-large')`. Left out: 16 MiB. */
  readonly maxValueBytes?: number | undefined
}

/**
 * Makes a store of a client of ioredis, iovalkey or redis, which is connected, or of two functions of your
 * own. The client stays yours: `close` ends only the connection that the store has opened to follow topics.
 *
 * What is kept is as safe as Redis was told to keep it: without an append-only file a crash of Redis loses
 * what was written last, and any `maxmemory-policy` but `noeviction` what is there.
 *
 * Throws `TypeError` for what is no such client, and for an option that there is not.
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store {
  rejectUnknown('redisStore', options, ['prefix', 'maxValueBytes'])
  const { prefix = 'triport', maxValueBytes = MAX_VALUE_BYTES } = options
  if (typeof prefix !== 'string' || !/^[\w.:-]{1,64}$/.test(prefix)) {
    throw new TypeError('prefix has 1 to 64 letters, digits, and _ . : -')
  }
  requireValueBytes(maxValueBytes)
  const connection = redisConnection(client)
  return remoteStore(async () => {
    const { RedisCommands } = await import('./redis-commands.ts')
    return new RedisCommands(connection, prefix)
  }, maxValueBytes)
}
