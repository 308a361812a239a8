/**
 * Entries as rows of SQLite. What has expired is not seen any more, and forgotten at later writes, a few
 * rows at each.
 */
import { decodeNul, encodeNul } from '../shared/reach.ts'
import { endAfter } from './sqlite-database.ts'
import type { Entry, StoreKey } from '../../state/store.ts'
import type { SqliteRow, SqliteDatabase, Statement } from './sqlite-database.ts'

const SWEEP_COUNT = 16

/** All entries of one file; the methods are those of `Store`. */
export class SqliteEntries {
  readonly #database: SqliteDatabase
  readonly #read: Statement
  readonly #known: Statement
  readonly #next: Statement
  readonly #write: Statement
  readonly #remove: Statement
  readonly #list: Statement
  readonly #sweep: Statement

  constructor(database: SqliteDatabase) {
    this.#database = database
    const place = 'collection = ? AND owner = ? AND key = ? AND expires_at > ?'
    this.#read = database.prepare(`SELECT value, version FROM triport_entries WHERE ${place}`)
    this.#known = database.prepare(`SELECT version FROM triport_entries WHERE ${place}`)
    this.#next = database.prepare(
      'UPDATE triport_versions SET version = max(version + 1, ?) RETURNING version')
    this.#write = database.prepare(`INSERT INTO triport_entries
      (collection, owner, key, version, expires_at, value) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (collection, owner, key)
      DO UPDATE SET version = excluded.version, expires_at = excluded.expires_at, value = excluded.value`)
    this.#remove = database.prepare(
      `DELETE FROM triport_entries WHERE ${place} AND version = coalesce(?, version) RETURNING version`)
    this.#list = database.prepare(`SELECT key, value, version FROM triport_entries
      WHERE collection = ? AND owner = ? AND version < ? AND expires_at > ? ORDER BY version DESC LIMIT ?`)
    this.#sweep = database.prepare(`DELETE FROM triport_entries WHERE rowid IN (
      SELECT rowid FROM triport_entries WHERE expires_at <= ? LIMIT ${SWEEP_COUNT})`)
  }

  read({ collection, owner, key }: StoreKey): Entry | undefined {
    return this.#database.use(() => {
      const row = this.#read.get(collection, encodeNul(owner), encodeNul(key), Date.now())
      return row && entryOf(key, row)
    })
  }

  write(
    { collection, owner, key }: StoreKey, value: string, keepMs: number, expected: number | 'any',
  ): number | undefined {
    return this.#database.transact(() => {
      const now = Date.now()
      const place = [collection, encodeNul(owner), encodeNul(key)] as const
      if (expected !== 'any') {
        const known = Number(this.#known.get(...place, now)?.['version'] ?? 0)
        if (known !== expected) return undefined
      }
      this.#sweep.run(now)
      // Even a file that is put back from a copy goes on with higher ones.
      const version = Number(this.#next.get(now * 1000)?.['version'])
      this.#write.run(...place, version, endAfter(now, keepMs), value)
      return version
    })
  }

  remove({ collection, owner, key }: StoreKey, expected: number | 'any'): boolean {
    return this.#database.use(() => {
      const version = expected === 'any' ? null : expected
      const place = [collection, encodeNul(owner), encodeNul(key)] as const
      return this.#remove.get(...place, Date.now(), version) !== undefined
    })
  }

  list(
    collection: string, owner: string, limit: number, before: number = Number.MAX_SAFE_INTEGER,
  ): readonly Entry[] {
    return this.#database.use(() => {
      const count = limit === Infinity ? -1 : limit
      const from = Math.min(before, Number.MAX_SAFE_INTEGER)
      const rows = this.#list.all(collection, encodeNul(owner), from, Date.now(), count)
      return rows.map((row) => entryOf(decodeNul(String(row['key'])), row))
    })
  }
}

function entryOf(key: string, row: SqliteRow): Entry {
  return { key, value: String(row['value']), version: Number(row['version']) }
}
