/**
 * A store in a file of SQLite, which Node brings along from 22.13 on. Answers at once. Several processes of
 * one machine may share the file; what one says the others hear within a few milliseconds.
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MAX_VALUE_BYTES } from '../../state/store.ts'
import { rejectUnknown } from '../../schema/options.ts'
import { measure, requireKey, requireValueBytes } from '../shared/size.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { SqliteEntries } from './sqlite-entries.ts'
import { SqliteTopics } from './sqlite-topics.ts'
import type { MemoryStore } from '../memory/memory.ts'

/** How a store in a file is set up. */
export interface SqliteStoreOptions {
  /** Bytes of one value or event; over it `Fault('too-large')`. Left out: 16 MiB. */
  readonly maxValueBytes?: number | undefined
}

/** A store in a file; it answers at once. */
export interface SqliteStore extends MemoryStore { close(): void }

/**
 * Opens a store in a file, which is made where it is not there, for its owner alone (mode 0600); its folder
 * has to be. Beside it lie two more while it is open. The file is for one machine: a folder of the network
 * is no place for it.
 *
 * What was answered outlives the process, however that ends; the moment before a machine loses its power may
 * be lost.
 *
 * Throws `Error` before Node 22.13 and where the file cannot be opened, and `TypeError` for what is no file
 * and for an option that there is not.
 */
export function sqliteStore(file: string | URL, options: SqliteStoreOptions = {}): SqliteStore {
  rejectUnknown('sqliteStore', options, ['maxValueBytes'])
  const { maxValueBytes = MAX_VALUE_BYTES } = options
  requireValueBytes(maxValueBytes)
  const path = pathOf(file)
  const database = new SqliteDatabase(path)
  const entries = new SqliteEntries(database)
  const topics = new SqliteTopics(database, path)
  return {
    isShared: true,
    read: (place) => entries.read(place),
    write(place, value, keepMs, expected) {
      requireKey(place)
      measure(value, maxValueBytes)
      return entries.write(place, value, keepMs, expected)
    },
    remove: (place, expected) => entries.remove(place, expected),
    list: (collection, owner, limit, before) => entries.list(collection, owner, limit, before),
    publish(topic, text, keep) {
      measure(text, maxValueBytes)
      topics.publish(topic, text, keep)
    },
    follow: (topic, from, listener, onLost) => topics.follow(topic, from, listener, onLost),
    close() {
      topics.close()
      database.close()
    },
  }
}

function pathOf(file: string | URL): string {
  if (file instanceof URL && file.protocol === 'file:') return fileURLToPath(file)
  if (typeof file === 'string' && file !== '' && !/^:memory:|^file:/.test(file)) return resolve(file)
  throw new TypeError(`sqliteStore takes the path of a file, as in './triport.db'; memoryStore() needs none`)
}
