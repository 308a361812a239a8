/**
 * A store in Redis 6.2 or later, or Valkey, through the client that its user has. Entries are hashes and
 * sorted sets, topics are streams and channels; who follows a topic does so on a connection of its own.
 */
import { MAX_VALUE_BYTES } from '../../state/store.ts'
import { rejectUnknown } from '../../schema/options.ts'
import { redisConnection } from './redis-client.ts'
import { remoteStore } from '../topics/remote.ts'
import { requireValueBytes } from '../shared/size.ts'
import type { Store } from '../../state/store.ts'
import type { RedisClient } from './redis-client.ts'

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
