/**
 * Topics as rows of SQLite, numbered through all of them. Whoever follows looks for new rows when the file
 * of what was written last changes, and besides that now and then.
 *
 * An event has a rank among those that are kept of its topic, for who follows later. All are there for
 * some seconds, for the other processes to hear.
 */
import { watch } from 'node:fs'
import { tell, tellAll } from '../shared/listener.ts'
import { endAfter } from './sqlite-database.ts'
import type { FSWatcher } from 'node:fs'
import type { Keep } from '../../state/store.ts'
import type { NumberedFollower, TopicListener } from '../shared/listener.ts'
import type { SqliteDatabase, Statement } from './sqlite-database.ts'

/** How long an event is there for other processes. One that looks at nothing for longer may miss it. */
const HEAR_MS = 10_000
/** How often to look where the file is watched, and where it cannot be. */
const WATCHED_MS = 250
const UNWATCHED_MS = 10
/** For how long to look again and again after the file has changed. */
const SOON_MS = 8
const SWEEP_COUNT = 16
const PAGE_COUNT = 256

/** All topics of one file; the methods are those of `Store`. */
export class SqliteTopics {
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
