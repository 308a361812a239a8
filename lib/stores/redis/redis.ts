/**
 * A store in Redis 6.2 or later, or Valkey, through the client that its user has, known by its shape.
 * Entries are hashes and sorted sets, topics are streams and channels; a connection of its own subscribes.
 */
import { checkOptionsOf, mustBe } from '../../kernel/define/validate.ts'
import { MAX_VALUE_BYTES } from '../../kernel/store/store.ts'
import { has, mustBeValueBytes } from '../engine.ts'
import { remoteStore } from '../remote/remote.ts'
import type { Checks } from '../../kernel/define/validate.ts'
import type { Store } from '../../kernel/store/store.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { RedisConnection, RedisSubscriber } from './redis-commands.ts'

/** ioredis 5 and 6, iovalkey. */
interface CallingClient { call(...args: never[]): unknown; duplicate(...args: never[]): unknown }

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
   * Subscribes to a channel on a connection of its own. Resolves when that is done, with the function that
   * ends it. Subscribes again after a lost connection, and then calls `onAgain`.
   */
  subscribe(
    channel: string, listener: (text: string) => void, onAgain: () => void,
  ): Promise<() => MaybePromise<void>>
}

/** What `redisStore` takes: connected already, and never closed by the store. */
export type RedisClient = CallingClient | SendingClient | CommandingClient

/** How a store in Redis is set up. */
export interface RedisStoreOptions {
  /** What its keys and channels begin with; what has another prefix is another store. Left out: `triport`. */
  readonly prefix?: string | undefined
  /** Bytes of one value or event; over it `Fault('too-large')`. Left out: 16 MiB. */
  readonly maxValueBytes?: number | undefined
}

const checks: Checks<RedisStoreOptions> = {
  prefix: mustBe((value) => typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value),
    'write 1 to 64 letters, digits, and _ . : -'),
  maxValueBytes: mustBeValueBytes,
}

/**
 * Makes a store of a client of ioredis, iovalkey or redis, which is connected, or of two functions of your
 * own. The client stays yours: `close` ends only the connection that the store has opened to follow topics.
 *
 * What is kept is as safe as Redis is configured to keep it: without an append-only file a crash of Redis
 * loses what was written last, and any `maxmemory-policy` but `noeviction` what is there.
 *
 * Throws `TypeError` for what is no such client, and for an option that there is not.
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store {
  checkOptionsOf('redisStore', options, checks)
  const { prefix = 'triport', maxValueBytes = MAX_VALUE_BYTES } = options
  const connection = redisConnection(client)
  return remoteStore(async () => {
    const { redisCommands } = await import('./redis-commands.ts')
    return redisCommands(connection, prefix)
  }, maxValueBytes)
}

function redisConnection(client: unknown): RedisConnection {
  if (isCalling(client)) {
    return {
      command: ([name = '', ...args]) => client.call(name, ...args),
      open: (receive, onAgain) => callingSubscriber(client.duplicate(followerOptions), receive, onAgain),
    }
  }
  if (isSending(client)) {
    return {
      command: (args) => client.sendCommand(args),
      open: (receive, onAgain) => {
        const socket = { ...client.options?.socket, reconnectStrategy: pauseMs }
        return sendingSubscriber(client.duplicate({ socket, disableOfflineQueue: false }), receive, onAgain)
      },
    }
  }
  if (isCommanding(client)) {
    return {
      command: (args) => client.command(args),
      open: (receive, onAgain) => commandingSubscriber(client, receive, onAgain),
    }
  }
  throw new TypeError(`redisStore takes ${has(client, 'sendCommand')
    ? 'of redis a plain client that can subscribe: no pool, no cluster; for those give { command, subscribe }'
    : 'a connected client of ioredis, iovalkey or redis (createClient), or { command, subscribe }'}`)
}

interface Calling {
  call(name: string, ...args: readonly string[]): Promise<unknown>
  duplicate(options: object): CallingFollower
}

interface CallingFollower {
  on(event: 'message', listener: Receive): unknown
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

type Receive = Parameters<RedisConnection['open']>[0]

/** How long to wait before connecting again: a follower never gives up. */
function pauseMs(attempt: number): number {
  return Math.min(attempt * 50, 1000)
}

/**
 * The channels are subscribed again here, so that it is known when that is done. A connection that is silent
 * for long is kept alive, else what lies between may drop it unnoticed.
 */
const followerOptions = {
  lazyConnect: false, enableOfflineQueue: true, autoResubscribe: false, maxRetriesPerRequest: null,
  keyPrefix: '', keepAlive: 10_000, retryStrategy: pauseMs,
}

function onReadyAgain(client: Pick<SendingFollower, 'on'>, onAgain: () => void): void {
  let wasReady = false
  client.on('error', ignore)
  client.on('ready', () => {
    if (wasReady) onAgain()
    wasReady = true
  })
}

function callingSubscriber(client: CallingFollower, receive: Receive, onAgain: () => void): RedisSubscriber {
  const channels = new Set<string>()
  client.on('message', receive)
  onReadyAgain(client, () => {
    const subscribing = channels.size > 0 ? client.subscribe(...channels) : Promise.resolve()
    // A connection that is lost meanwhile is ready again later.
    subscribing.then(onAgain, ignore)
  })
  return {
    async subscribe(channel) {
      channels.add(channel)
      await client.subscribe(channel)
    },
    unsubscribe(channel) {
      channels.delete(channel)
      return client.unsubscribe(channel)
    },
    close: async () => client.disconnect(),
  }
}

function sendingSubscriber(client: SendingFollower, receive: Receive, onAgain: () => void): RedisSubscriber {
  const listener = (text: string, channel: string): void => receive(channel, text)
  // It has subscribed again by then.
  onReadyAgain(client, onAgain)
  const connected = client.connect()
  connected.catch(ignore)
  return {
    async subscribe(channel) {
      await connected
      await client.subscribe(channel, listener)
    },
    unsubscribe: (channel) => client.unsubscribe(channel, listener),
    close: async () => client.destroy(),
  }
}

function commandingSubscriber(
  client: CommandingClient, receive: Receive, onAgain: () => void,
): RedisSubscriber {
  const ends = new Map<string, Promise<() => MaybePromise<void>>>()
  const unsubscribe = async (channel: string): Promise<void> => {
    const end = ends.get(channel)
    ends.delete(channel)
    await (await end)?.()
  }
  return {
    unsubscribe,
    async subscribe(channel) {
      const end = ends.get(channel) ?? client.subscribe(channel, (text) => receive(channel, text), onAgain)
      ends.set(channel, end)
      try {
        await end
      } catch (error) {
        if (ends.get(channel) === end) ends.delete(channel)
        throw error
      }
    },
    async close() {
      await Promise.allSettled([...ends.keys()].map(unsubscribe))
    },
  }
}

function ignore(): void {}

function isCalling(client: unknown): client is Calling {
  return has(client, 'call', 'duplicate', 'subscribe')
}

function isSending(client: unknown): client is Sending {
  return has(client, 'sendCommand', 'duplicate', 'subscribe') && !has(client, 'getSlotRandomNode')
}

function isCommanding(client: unknown): client is CommandingClient {
  // Those of redis have a method for each command, `command` among them.
  return has(client, 'command', 'subscribe') && !has(client, 'sendCommand')
}
