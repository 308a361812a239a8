/**
 * A file of SQLite, opened through Node's own module: a path in; statements and transactions out. Whatever
 * SQLite fails with afterwards is that the store could not do it now.
 */
import { closeSync, openSync } from 'node:fs'
import { Fault } from '../../define/fault.ts'

/** What a statement is given, and what a row has. */
export type Cell = string | number | null
export type SqliteRow = Readonly<Record<string, Cell>>

/** A statement that was prepared once. */
export interface Statement {
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
export function endAfter(now: number, ms: number): number {
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
