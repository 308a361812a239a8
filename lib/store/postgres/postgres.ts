/**
 * A store in PostgreSQL 13 or later, through the client that its user has. Entries and events are rows; one
 * connection listens for all topics that are followed.
 */
import { MAX_VALUE_BYTES } from '../../state/store.ts'
import { rejectUnknown } from '../../schema/options.ts'
import { postgresConnection, requireListening } from './postgres-client.ts'
import { remoteStore } from '../topics/remote.ts'
import { requireValueBytes } from '../shared/size.ts'
import type { Store } from '../../state/store.ts'
import type { PostgresPool } from './postgres-client.ts'

/** How a store in PostgreSQL is set up. */
export interface PostgresStoreOptions {
  /**
   * A second pool, to listen with, where the first one goes through a pooler of transactions. Left out:
   * the same pool, and what it is asked is prepared, once on each connection.
   */
  readonly listenWith?: PostgresPool | undefined
  /** What its tables begin with; what has another prefix is another store. Left out: `triport`. */
  readonly prefix?: string | undefined
  /** Bytes of one value or event; over it `Fault('too-large')`. Left out: 16 MiB. */
  readonly maxValueBytes?: number | undefined
}

/**
 * Makes a store of a `Pool` of pg or of what `postgres()` of postgres.js returns. It stays yours: `close`
 * ends only the connection that listens. Tables are made when they are first needed, in the schema that
 * comes first in the search path of the user; where they are there already, no right to make any is needed.
 * Give postgres.js `fetch_types: false`: a connection that is lost while it asks for types ends the process.
 *
 * Entries are as safe as everything else in the database. A crash of the server loses the events that were
 * kept on topics, and those who follow are told.
 *
 * Throws `TypeError` for what is no such client, for a pool of a single connection, and for an option that
 * there is not.
 */
export function postgresStore(pool: PostgresPool, options: PostgresStoreOptions = {}): Store {
  rejectUnknown('postgresStore', options, ['listenWith', 'prefix', 'maxValueBytes'])
  const { listenWith = pool, prefix = 'triport', maxValueBytes = MAX_VALUE_BYTES } = options
  if (typeof prefix !== 'string' || !/^[a-z_][a-z0-9_]{0,31}$/.test(prefix)) {
    throw new TypeError('prefix has 1 to 32 small letters, digits and _, and begins with no digit')
  }
  requireValueBytes(maxValueBytes)
  // A pool that can listen is behind no pooler of transactions.
  const connection = postgresConnection(pool, listenWith === pool)
  if (listenWith === pool) requireListening(pool)
  const listening = listenWith === pool ? connection : postgresConnection(listenWith, false)
  return remoteStore(async () => {
    const { PostgresCommands } = await import('./postgres-commands.ts')
    return new PostgresCommands(connection, listening, prefix)
  }, maxValueBytes)
}
