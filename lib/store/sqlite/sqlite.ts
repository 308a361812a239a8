/**
 * A store in a file of SQLite, which Node brings along from 22.13 on. Answers at once. Several processes of
 * one machine may share the file; what one says the others hear within a few milliseconds.
 */
import { closeSync, openSync, watch } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Fault } from '../../define/fault.ts'
import { rejectUnknown } from '../../schema/options.ts'
import { MAX_VALUE_BYTES } from '../../state/store.ts'
import {
  decodeNul, encodeNul, measure, requireKey, requireValueBytes, tell, tellAll,
} from '../shared/common.ts'
import type { FSWatcher } from 'node:fs'
import type { Entry, Keep, StoreKey } from '../../state/store.ts'
import type { MemoryStore } from '../memory/memory.ts'
import type { NumberedFollower, TopicListener } from '../shared/common.ts'

/** What a statement is given, and what a row has. */
type Cell = string | number | null
type SqliteRow = Readonly<Record<string, Cell>>

/** A statement that was prepared once. */
interface Statement {
  run(...values: readonly Cell[]): unknown
  get(...values: readonly Cell[]): SqliteRow | undefined
  all(...values: readonly Cell[]): readonly SqliteRow[]
}

interface Connection {
  prepare(text: string): Statement
  exec(text: string): void
  close(): void
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => Connection
}

/** How long to wait for another process that is writing, in milliseconds. */
const BUSY_MS = 1_000

/** Beyond it nothing expires. */
const FOR_EVER = Number.MAX_SAFE_INTEGER

const tables = `
  CREATE TABLE IF NOT EXISTS triport_entries (
    collection TEXT NOT NULL, owner TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL,
    expires_at INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (collection, owner, key));
  CREATE INDEX IF NOT EXISTS triport_entries_by_version ON triport_entries (collection, owner, version);
  CREATE INDEX IF NOT EXISTS triport_entries_by_expiry ON triport_entries (expires_at);
  CREATE TABLE IF NOT EXISTS triport_versions (version INTEGER NOT NULL);
  INSERT INTO triport_versions SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM triport_versions);
  CREATE TABLE IF NOT EXISTS triport_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, rank INTEGER, expires_at INTEGER NOT NULL,
    forget_at INTEGER NOT NULL, text TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS triport_events_by_rank ON triport_events (topic, rank);
  CREATE INDEX IF NOT EXISTS triport_events_by_end ON triport_events (forget_at)`

/** An open file. */
export class SqliteDatabase {
  readonly #connection: Connection
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #rollback: Statement
  #isClosed = false

  /** Throws `Error` where this Node has no SQLite, and where the file cannot be opened. */
  constructor(path: string) {
    const { DatabaseSync } = sqliteModule()
    try {
      makePrivate(path)
      this.#connection = new DatabaseSync(path)
      this.#connection.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
      whileLocked(() => this.#connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL'))
      whileLocked(() => this.#connection.exec(`BEGIN IMMEDIATE; ${tables}; COMMIT`))
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`The store ${path} cannot be opened: ${reason}`, { cause })
    }
    this.#begin = this.prepare('BEGIN IMMEDIATE')
    this.#commit = this.prepare('COMMIT')
    this.#rollback = this.prepare('ROLLBACK')
  }

  prepare(text: string): Statement {
    return this.#connection.prepare(text)
  }

  /** Does something with the file. Throws `Fault('busy')` for whatever SQLite fails with. */
  use<T>(work: () => T): T {
    if (this.#isClosed) throw new Fault('busy', 'The store is closed')
    try {
      return work()
    } catch (cause) {
      throw new Fault('busy', 'The store cannot be reached; try again later', undefined, { cause })
    }
  }

  /** The same, with all of it done or nothing. */
  transact<T>(work: () => T): T {
    return this.use(() => {
      this.#begin.run()
      try {
        const result = work()
        this.#commit.run()
        return result
      } catch (error) {
        try {
          this.#rollback.run()
        } catch {
          // Some failures have ended the transaction already.
        }
        throw error
      }
    })
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#connection.close()
  }
}

/** When something ends that is kept for so long; SQLite's own clock is that of the machine too. */
function endAfter(now: number, ms: number): number {
  return Math.min(now + Math.ceil(ms), FOR_EVER)
}

/**
 * Makes a file that only its owner may read: what people say to agents is in it. SQLite gives the files
 * beside it the same mode. One that is there keeps the mode that somebody has given it.
 */
function makePrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
}

function sqliteModule(): SqliteModule {
  const module: unknown = process.getBuiltinModule('node:sqlite')
  if (isSqlite(module)) return module
  throw new Error(`sqliteStore needs Node 22.13 or later, which has SQLite; this is ${process.version}`)
}

function isSqlite(module: unknown): module is SqliteModule {
  return typeof module === 'object' && module !== null && 'DatabaseSync' in module
}

/** Processes that open a new file at once meet locks for which SQLite itself does not wait. */
function whileLocked(work: () => void): void {
  const end = performance.now() + BUSY_MS * 5
  for (;;) {
    try {
      return work()
    } catch (error) {
      const isLocked = error instanceof Error && /locked|busy/i.test(error.message)
      if (!isLocked || performance.now() > end) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

const SWEEP_COUNT = 16

/** All entries of one file; the methods are those of `Store`. */
class SqliteEntries {
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

/** How long an event is there for other processes. One that looks at nothing for longer may miss it. */
const HEAR_MS = 10_000
/** How often to look where the file is watched, and where it cannot be. */
const WATCHED_MS = 250
const UNWATCHED_MS = 10
/** For how long to look again and again after the file has changed. */
const SOON_MS = 8
const PAGE_COUNT = 256

/** All topics of one file; the methods are those of `Store`. */
class SqliteTopics {
  readonly #database: SqliteDatabase
  readonly #path: string
  readonly #topics = new Map<string, Set<NumberedFollower>>()
  readonly #say: Statement
  readonly #rank: Statement
  readonly #outrank: Statement
  readonly #sweep: Statement
  readonly #last: Statement
  readonly #kept: Statement
  readonly #news: Statement
  readonly #text: Statement
  readonly #changes: Statement
  #seenChange = -1
  /** The number of the last event that was passed on here. */
  #heard = 0
  #isTelling = false
  #isAgain = false
  #timer: NodeJS.Timeout | undefined
  #soon: NodeJS.Timeout | undefined
  #watcher: FSWatcher | undefined

  /** `path` is where the file is. */
  constructor(database: SqliteDatabase, path: string) {
    this.#database = database
    this.#path = path
    this.#say = database.prepare(
      'INSERT INTO triport_events (topic, rank, expires_at, forget_at, text) VALUES (?, ?, ?, ?, ?)')
    this.#rank = database.prepare('SELECT max(rank) AS rank FROM triport_events WHERE topic = ?')
    this.#outrank = database.prepare(`UPDATE triport_events SET rank = NULL, forget_at = min(forget_at, ?)
      WHERE topic = ? AND rank <= ?`)
    this.#sweep = database.prepare(`DELETE FROM triport_events WHERE number IN (
      SELECT number FROM triport_events WHERE forget_at <= ? LIMIT ${SWEEP_COUNT})`)
    this.#last = database.prepare(`SELECT seq AS last FROM sqlite_sequence WHERE name = 'triport_events'`)
    this.#kept = database.prepare(`SELECT text FROM triport_events
      WHERE topic = ? AND rank > 0 AND number <= ? AND expires_at > ? ORDER BY rank`)
    this.#news = database.prepare(
      `SELECT number, topic FROM triport_events WHERE number > ? ORDER BY number LIMIT ${PAGE_COUNT}`)
    this.#text = database.prepare('SELECT text FROM triport_events WHERE number = ?')
    this.#changes = database.prepare('PRAGMA data_version')
  }

  publish(topic: string, text: string, keep: Keep | undefined): void {
    this.#database.transact(() => {
      const now = Date.now()
      this.#sweep.run(now)
      if (keep === undefined) return void this.#say.run(topic, null, now, now + HEAR_MS, text)
      const rank = Number(this.#rank.get(topic)?.['rank'] ?? 0) + 1
      const expiresAt = endAfter(now, keep.ms)
      this.#say.run(topic, rank, expiresAt, Math.max(expiresAt, now + HEAR_MS), text)
      if (rank > keep.events) this.#outrank.run(now + HEAR_MS, topic, rank - keep.events)
    })
    this.#tell()
  }

  follow(
    topic: string, from: 'kept' | 'now', listener: TopicListener, onLost: (() => void) | undefined,
  ): () => void {
    const last = this.#database.use(() => Number(this.#last.get()?.['last'] ?? 0))
    const kept = from === 'now' ? [] : this.#database.use(() => this.#kept.all(topic, last, Date.now()))
    if (this.#topics.size === 0) this.#heard = last
    const followers = this.#topics.get(topic) ?? new Set()
    this.#topics.set(topic, followers)
    const follower = { listener, onLost, heard: last }
    followers.add(follower)
    this.#look()
    for (const { text } of kept) tell(follower, String(text))
    return () => {
      followers.delete(follower)
      if (followers.size === 0 && this.#topics.get(topic) === followers) this.#topics.delete(topic)
      if (this.#topics.size === 0) this.#rest()
    }
  }

  close(): void {
    for (const followers of this.#topics.values()) followers.clear()
    this.#topics.clear()
    this.#rest()
  }

  /** Begins to look for what others say. */
  #look(): void {
    if (this.#watcher === undefined) {
      try {
        this.#watcher = watch(`${this.#path}-wal`, { persistent: false }, () => this.#pollSoon())
        this.#watcher.on('error', () => {
          this.#watcher?.close()
          this.#watcher = undefined
          this.#pace()
        })
      } catch {
        // Looking more often does it too.
      }
    }
    if (this.#timer === undefined) this.#pace()
  }

  #pace(): void {
    clearInterval(this.#timer)
    const ms = this.#watcher === undefined ? UNWATCHED_MS : WATCHED_MS
    this.#timer = setInterval(() => this.#poll(), ms).unref()
  }

  #rest(): void {
    clearInterval(this.#timer)
    clearTimeout(this.#soon)
    this.#timer = undefined
    this.#watcher?.close()
    this.#watcher = undefined
  }

  /** Something is being written, and is there to be seen only a moment later. */
  #pollSoon(delayMs = 1): void {
    if (this.#poll() || delayMs > SOON_MS || this.#topics.size === 0) return
    clearTimeout(this.#soon)
    this.#soon = setTimeout(() => this.#pollSoon(delayMs * 2), delayMs).unref()
  }

  /** Passes on what others have said. Answers whether there was any change. */
  #poll(): boolean {
    if (this.#topics.size === 0) return false
    try {
      const change = this.#database.use(() => Number(this.#changes.get()?.['data_version']))
      if (change === this.#seenChange) return false
      this.#seenChange = change
      this.#tell()
    } catch {
      // The next look sees it.
    }
    return true
  }

  /** Passes on whatever is new, unless that is being done: then it has its turn there. */
  #tell(): void {
    this.#isAgain = true
    if (this.#isTelling) return
    this.#isTelling = true
    try {
      while (this.#isAgain && this.#topics.size > 0) {
        const rows = this.#database.use(() => this.#news.all(this.#heard))
        this.#isAgain = rows.length === PAGE_COUNT
        for (const { number, topic } of rows) this.#pass(Number(number), String(topic))
      }
    } catch {
      // What was said is said; the next look passes it on.
      this.#seenChange = -1
    } finally {
      this.#isTelling = false
    }
  }

  #pass(number: number, topic: string): void {
    if (number <= this.#heard) return
    // Nobody knows of which topic those in between were.
    if (number > this.#heard + 1) {
      for (const followers of this.#topics.values()) tellAll(followers, number - 1, undefined)
    }
    this.#heard = number
    const followers = this.#topics.get(topic)
    if (followers === undefined) return
    const text = this.#database.use(() => this.#text.get(number)?.['text'])
    tellAll(followers, number, typeof text === 'string' ? text : undefined)
  }
}

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
