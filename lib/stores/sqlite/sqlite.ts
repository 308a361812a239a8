/**
 * A store in a file of SQLite, which Node has from 22.13 on. Answers at once. Several processes of one
 * machine may share the file; what one publishes the others receive within a few milliseconds.
 */
import { closeSync, openSync, watch } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Fault } from '../../kernel/define/fault.ts'
import { checkOptionsOf } from '../../kernel/define/validate.ts'
import { MAX_VALUE_BYTES } from '../../kernel/store/store.ts'
import { measure, notify, notifyAll, requireKey } from '../../floors/memory/common.ts'
import { decodeNul, encodeNul, mustBeValueBytes, unreachable } from '../engine.ts'
import type { FSWatcher } from 'node:fs'
import type { Entry, Keep, StoreKey } from '../../kernel/store/store.ts'
import type { MemoryStore } from '../../floors/memory/memory-store.ts'
import type { NumberedSubscriber } from '../../floors/memory/common.ts'

/** How a store in a file is set up. */
export interface SqliteStoreOptions {
  /** Bytes of one value or event; over it `Fault('too-large')`. Left out: 16 MiB. */
  readonly maxValueBytes?: number | undefined
}

/** A store in a file; it answers at once. */
export interface SqliteStore extends MemoryStore { close(): void }

/**
 * Opens a store in a file, which is made where it is not there, for its owner alone (mode 0600); its folder
 * has to be. Beside it lie two more while it is open. Do not put it in a folder of the network.
 *
 * What was answered outlives the process, however that ends; the moment before a machine loses its power may
 * be lost.
 *
 * Throws `Error` before Node 22.13 and where the file cannot be opened, and `TypeError` for what is no file
 * and for an option that there is not.
 */
export function sqliteStore(file: string | URL, options: SqliteStoreOptions = {}): SqliteStore {
  checkOptionsOf('sqliteStore', options, { maxValueBytes: mustBeValueBytes })
  const { maxValueBytes = MAX_VALUE_BYTES } = options
  const path = pathOf(file)
  const database = new SqliteDatabase(path)
  const topics = topicsOf(database, path, maxValueBytes)
  return {
    isShared: true,
    ...entriesOf(database, maxValueBytes),
    ...topics,
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

type Cell = string | number | null
type SqliteRow = Readonly<Record<string, Cell>>

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

interface SqliteModule { readonly DatabaseSync: new (path: string) => Connection }

/** How long to wait for another process that is writing, in milliseconds. */
const BUSY_MS = 1_000
/** Rows that have expired are deleted at later writes, so many at each. */
const SWEEP_COUNT = 16

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
      // Only its owner may read it: it holds conversations. SQLite gives the files beside it the same mode.
      closeSync(openSync(path, 'a', 0o600))
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
      throw unreachable(cause)
    }
  }

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

function sqliteModule(): SqliteModule {
  const module = process.getBuiltinModule('node:sqlite') as SqliteModule | undefined
  if (module !== undefined) return module
  throw new Error(`sqliteStore needs Node 22.13 or later, which has SQLite; this is ${process.version}`)
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

/** When something expires; SQLite's own clock is that of the machine too. */
function endAfter(now: number, ms: number): number {
  return Math.min(now + Math.ceil(ms), Number.MAX_SAFE_INTEGER)
}

function entriesOf(
  database: SqliteDatabase, maxValueBytes: number,
): Pick<SqliteStore, 'read' | 'write' | 'remove' | 'list'> {
  const live = 'collection = ? AND owner = ? AND key = ? AND expires_at > ?'
  const select = database.prepare(`SELECT value, version FROM triport_entries WHERE ${live}`)
  const next = database.prepare(
    'UPDATE triport_versions SET version = max(version + 1, ?) RETURNING version')
  const upsert = database.prepare(`INSERT INTO triport_entries
    (collection, owner, key, version, expires_at, value) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (collection, owner, key)
    DO UPDATE SET version = excluded.version, expires_at = excluded.expires_at, value = excluded.value`)
  const known = database.prepare(`SELECT version FROM triport_entries WHERE ${live}`)
  const remove = database.prepare(
    `DELETE FROM triport_entries WHERE ${live} AND version = coalesce(?, version) RETURNING version`)
  const list = database.prepare(`SELECT key, value, version FROM triport_entries
    WHERE collection = ? AND owner = ? AND version < ? AND expires_at > ? ORDER BY version DESC LIMIT ?`)
  const sweep = database.prepare(`DELETE FROM triport_entries WHERE rowid IN (
    SELECT rowid FROM triport_entries WHERE expires_at <= ? LIMIT ${SWEEP_COUNT})`)
  return {
    read: (id) => database.use(() => {
      const row = select.get(...columnsOf(id), Date.now())
      return row && entryOf(id.key, row)
    }),
    write(id, value, keepMs, expected) {
      requireKey(id)
      measure(value, maxValueBytes)
      return database.transact(() => {
        const now = Date.now()
        const columns = columnsOf(id)
        if (expected !== 'any') {
          const version = Number(known.get(...columns, now)?.['version'] ?? 0)
          if (version !== expected) return undefined
        }
        sweep.run(now)
        // Even a file that is put back from a copy goes on with higher ones.
        const version = Number(next.get(now * 1000)?.['version'])
        upsert.run(...columns, version, endAfter(now, keepMs), value)
        return version
      })
    },
    remove: (id, expected) => database.use(() => (
      remove.get(...columnsOf(id), Date.now(), expected === 'any' ? null : expected) !== undefined
    )),
    list: (collection, owner, limit, before = Infinity) => database.use(() => {
      const count = limit === Infinity ? -1 : limit
      const from = Math.min(before, Number.MAX_SAFE_INTEGER)
      const rows = list.all(collection, encodeNul(owner), from, Date.now(), count)
      return rows.map((row) => entryOf(decodeNul(String(row['key'])), row))
    }),
  }
}

function columnsOf({ collection, owner, key }: StoreKey): readonly [string, string, string] {
  return [collection, encodeNul(owner), encodeNul(key)]
}

function entryOf(key: string, row: SqliteRow): Entry {
  return { key, value: String(row['value']), version: Number(row['version']) }
}

/** How long an event is there for other processes. One that looks at nothing for longer may miss it. */
const KEEP_MS = 10_000
/** How often to look where the file is watched, and where it cannot be. */
const WATCHED_MS = 250
const UNWATCHED_MS = 10
/** For how long to look again and again after the file has changed. */
const SOON_MS = 8
const PAGE_COUNT = 256

/**
 * All topics of one file, as rows that are numbered through all of them. Who follows looks for new rows when
 * the file of what was written last changes, and besides that now and then. An event has a rank among those
 * that are kept of its topic. All are there for some seconds, for the other processes.
 */
function topicsOf(
  database: SqliteDatabase, path: string, maxValueBytes: number,
): Pick<SqliteStore, 'publish' | 'follow' | 'close'> {
  const sql = {
    insert: database.prepare(
      'INSERT INTO triport_events (topic, rank, expires_at, forget_at, text) VALUES (?, ?, ?, ?, ?)'),
    rank: database.prepare('SELECT max(rank) AS rank FROM triport_events WHERE topic = ?'),
    outrank: database.prepare(`UPDATE triport_events SET rank = NULL, forget_at = min(forget_at, ?)
      WHERE topic = ? AND rank <= ?`),
    sweep: database.prepare(`DELETE FROM triport_events WHERE number IN (
      SELECT number FROM triport_events WHERE forget_at <= ? LIMIT ${SWEEP_COUNT})`),
    last: database.prepare(`SELECT seq AS last FROM sqlite_sequence WHERE name = 'triport_events'`),
    kept: database.prepare(`SELECT text FROM triport_events
      WHERE topic = ? AND rank > 0 AND number <= ? AND expires_at > ? ORDER BY rank`),
    after: database.prepare(
      `SELECT number, topic FROM triport_events WHERE number > ? ORDER BY number LIMIT ${PAGE_COUNT}`),
    text: database.prepare('SELECT text FROM triport_events WHERE number = ?'),
    changes: database.prepare('PRAGMA data_version'),
  }
  const topics = new Map<string, Set<NumberedSubscriber>>()
  let seenChange = -1
  /** The number of the last event that was passed on here. */
  let lastNumber = 0
  let isNotifying = false
  let isAgain = false
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Timeout | undefined
  let watcher: FSWatcher | undefined
  return { publish, follow, close }

  function publish(topic: string, text: string, keep: Keep | undefined): void {
    measure(text, maxValueBytes)
    database.transact(() => {
      const now = Date.now()
      sql.sweep.run(now)
      if (keep === undefined) return void sql.insert.run(topic, null, now, now + KEEP_MS, text)
      const rank = Number(sql.rank.get(topic)?.['rank'] ?? 0) + 1
      const expiresAt = endAfter(now, keep.ms)
      sql.insert.run(topic, rank, expiresAt, Math.max(expiresAt, now + KEEP_MS), text)
      if (rank > keep.events) sql.outrank.run(now + KEEP_MS, topic, rank - keep.events)
    })
    deliver()
  }

  function follow(
    topic: string, from: 'kept' | 'now', listener: (text: string) => void, onLost: (() => void) | undefined,
  ): () => void {
    const last = database.use(() => Number(sql.last.get()?.['last'] ?? 0))
    const kept = from === 'now' ? [] : database.use(() => sql.kept.all(topic, last, Date.now()))
    if (topics.size === 0) lastNumber = last
    const subscribers = topics.get(topic) ?? new Set()
    topics.set(topic, subscribers)
    const subscriber = { listener, onLost, lastNumber: last }
    subscribers.add(subscriber)
    look()
    // What it publishes meanwhile comes after what is kept.
    const wasNotifying = isNotifying
    isNotifying = true
    for (const { text } of kept) notify(subscriber, String(text))
    isNotifying = wasNotifying
    if (isAgain) deliver()
    return () => {
      subscribers.delete(subscriber)
      if (subscribers.size === 0 && topics.get(topic) === subscribers) topics.delete(topic)
      if (topics.size === 0) unwatch()
    }
  }

  function close(): void {
    for (const subscribers of topics.values()) subscribers.clear()
    topics.clear()
    unwatch()
  }

  function look(): void {
    if (watcher === undefined) {
      try {
        watcher = watch(`${path}-wal`, { persistent: false }, () => pollSoon())
        watcher.on('error', () => {
          watcher?.close()
          watcher = undefined
          pace()
        })
      } catch {
        // Looking more often does it too.
      }
    }
    if (timer === undefined) pace()
  }

  function pace(): void {
    clearInterval(timer)
    const ms = watcher === undefined ? UNWATCHED_MS : WATCHED_MS
    timer = setInterval(() => poll(), ms).unref()
  }

  function unwatch(): void {
    clearInterval(timer)
    clearTimeout(soon)
    timer = undefined
    watcher?.close()
    watcher = undefined
  }

  /** What is being written can be seen only a moment later. */
  function pollSoon(delayMs = 1): void {
    if (poll() || delayMs > SOON_MS || topics.size === 0) return
    clearTimeout(soon)
    soon = setTimeout(() => pollSoon(delayMs * 2), delayMs).unref()
  }

  /** Passes on what others have published. Answers whether there was any change. */
  function poll(): boolean {
    if (topics.size === 0) return false
    try {
      const change = database.use(() => Number(sql.changes.get()?.['data_version']))
      if (change === seenChange) return false
      seenChange = change
      deliver()
    } catch {
      // The next look sees it.
    }
    return true
  }

  /** Passes on whatever is new; where that is being done, it goes on there. */
  function deliver(): void {
    isAgain = true
    if (isNotifying) return
    isNotifying = true
    try {
      while (isAgain && topics.size > 0) {
        const rows = database.use(() => sql.after.all(lastNumber))
        isAgain = rows.length === PAGE_COUNT
        for (const { number, topic } of rows) pass(Number(number), String(topic))
      }
    } catch {
      // What was published stays; the next look passes it on.
      seenChange = -1
    } finally {
      isNotifying = false
    }
  }

  function pass(number: number, topic: string): void {
    if (number <= lastNumber) return
    // It is not known of which topics those in between were.
    if (number > lastNumber + 1) {
      for (const subscribers of topics.values()) notifyAll(subscribers, number - 1, undefined)
    }
    lastNumber = number
    const subscribers = topics.get(topic)
    if (subscribers === undefined) return
    const text = database.use(() => sql.text.get(number)?.['text'])
    notifyAll(subscribers, number, typeof text === 'string' ? text : undefined)
  }
}
