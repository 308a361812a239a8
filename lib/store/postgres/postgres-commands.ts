/**
 * The methods of a store as statements on one PostgreSQL: what they are given, and what their rows mean.
 * Tables are made when they are first needed. What has expired is forgotten now and then, after a write.
 */
import { FollowedTopics } from '../topics/followed-topics.ts'
import { stateOf } from './postgres-client.ts'
import { statements } from './postgres-statements.ts'
import { decodeNul, encodeNul, reach } from '../shared/reach.ts'
import type { Entry, StoreKey } from '../../state/store.ts'
import type { Page, Said } from '../topics/followed-topic.ts'
import type { PostgresConnection } from './postgres-client.ts'
import type { Parameter } from './postgres-listening.ts'
import type { Statements } from './postgres-statements.ts'
import type { Saying } from '../topics/publishing.ts'

/** How often what has expired is forgotten, at most. */
const SWEEP_EVERY_MS = 60_000
/** Beyond it is for ever: PostgreSQL's dates end before JavaScript's numbers. */
const FOR_EVER_MS = 1e13
/** How often a statement is tried that met another one where both had to be alone. */
const ATTEMPTS = 8

type Row = Readonly<Record<string, unknown>>

/** One store in one PostgreSQL. */
export class PostgresCommands {
  readonly followed: FollowedTopics
  readonly #connection: PostgresConnection
  readonly #listening: PostgresConnection
  readonly #prefix: string
  readonly #sql: Statements
  /** The channel of notices, once there are tables. */
  #ready: Promise<string> | undefined
  #listened: Promise<() => Promise<void>> | undefined
  #sweptAt: number = performance.now()
  #sweeping: Promise<void> | undefined
  #isClosed = false

  constructor(connection: PostgresConnection, listening: PostgresConnection, prefix: string) {
    this.#connection = connection
    this.#listening = listening
    this.#prefix = prefix
    this.#sql = statements(prefix)
    this.followed = new FollowedTopics({
      subscribe: () => this.#listen(),
      // One channel has all topics.
      unsubscribe: () => {},
      readPage: (topic, after, what) => this.#readPage(topic, after, what),
    })
  }

  async read({ collection, owner, key }: StoreKey): Promise<Entry | undefined> {
    const [row] = await this.#ask(this.#sql.read, [collection, encodeNul(owner), encodeNul(key)])
    return row && { key, value: String(row['value']), version: Number(row['version']) }
  }

  async write(
    { collection, owner, key }: StoreKey, value: string, keepMs: number, expected: number | 'any',
  ): Promise<number | undefined> {
    const { write, writeNew, writeNext } = this.#sql
    const values = [collection, encodeNul(owner), encodeNul(key), value, finite(keepMs)]
    const [row] = expected === 'any' ? await this.#ask(write, values)
      : expected === 0 ? await this.#ask(writeNew, values)
      : await this.#ask(writeNext, [...values, expected])
    this.#sweepSometimes()
    return row && Number(row['version'])
  }

  async remove({ collection, owner, key }: StoreKey, expected: number | 'any'): Promise<boolean> {
    const version = expected === 'any' ? null : expected
    const rows = await this.#ask(this.#sql.remove, [collection, encodeNul(owner), encodeNul(key), version])
    return rows.length > 0
  }

  async list(
    collection: string, owner: string, limit: number, before: number = Infinity,
  ): Promise<readonly Entry[]> {
    const rows = await this.#ask(this.#sql.list, [
      collection, encodeNul(owner), limit === Infinity ? null : limit, before === Infinity ? null : before,
    ])
    return rows.map(({ key, value, version }) => (
      { key: decodeNul(String(key)), value: String(value), version: Number(version) }
    ))
  }

  /** Says a batch in its order. */
  async say(topic: string, batch: readonly Saying[]): Promise<void> {
    const said = batch.map(({ text, keep }) => ({
      text, isKept: keep !== undefined,
      ...keep !== undefined && keep.events !== Infinity && { events: keep.events },
      ...keep !== undefined && { ms: finite(keep.ms) },
    }))
    await this.#ask(this.#sql.publish, [topic, JSON.stringify(said), await this.#channel()])
    this.#sweepSometimes()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.followed.close()
    const listened = this.#listened
    this.#listened = undefined
    try {
      await (await listened)?.()
    } catch {
      // It does not listen any more.
    }
    await this.#sweeping
  }

  async #listen(): Promise<void> {
    const channel = await this.#channel()
    const listened = this.#listened ??= this.#listening.listen(
      channel, (notice) => this.#hear(notice), () => this.followed.resume(),
    )
    try {
      const end = await reach(() => listened)
      if (this.#isClosed) await end()
    } catch (error) {
      if (this.#listened === listened) this.#listened = undefined
      throw error
    }
  }

  #hear(notice: string): void {
    const [, topic, previous, number, text] = /^(\S+) (\d+) (\d+)(?: ([^]*))?$/.exec(notice) ?? []
    if (topic === undefined) return
    this.followed.hear(topic, { number: Number(number), previous: Number(previous), text })
  }

  async #readPage(topic: string, after: number, what: 'late' | 'missed' | 'nothing'): Promise<Page> {
    const rows = await this.#ask(this.#sql.topic, [topic, after, what])
    const events: Said[] = rows.filter(({ number }) => number !== null).map((row) => (
      { number: Number(row['number']), previous: Number(row['previous']), text: String(row['text']) }
    ))
    const isCut = events.length > 0 && events.length < Number(rows[0]?.['found'])
    return { last: Number(rows[0]?.['last']), events, next: isCut ? events.at(-1)?.number : undefined }
  }

  async #ask(text: string, values: readonly Parameter[]): Promise<readonly Row[]> {
    await this.#channel()
    return await reach(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#connection.query(text, values)
        } catch (error) {
          if (attempt === ATTEMPTS || !isCollision(error)) throw error
        }
      }
    })
  }

  /** Makes sure that there are tables. Two schemas of one database have two channels. */
  #channel(): Promise<string> {
    const ready = this.#ready ??= reach(() => this.#prepare())
    ready.catch(() => {
      if (this.#ready === ready) this.#ready = undefined
    })
    return ready
  }

  async #prepare(): Promise<string> {
    const find = async (): Promise<unknown> => (await this.#connection.query(this.#sql.find))[0]?.['id']
    let id = await find()
    if (typeof id !== 'string') {
      await this.#connection.query(this.#sql.create)
      id = await find()
    }
    if (typeof id !== 'string') throw new Error(`The tables ${this.#prefix}_… are not where they were made`)
    return `${this.#prefix}_${id}`
  }

  #sweepSometimes(): void {
    const now = performance.now()
    if (this.#isClosed || now - this.#sweptAt < SWEEP_EVERY_MS) return
    this.#sweptAt = now
    this.#sweeping = this.#sweep()
  }

  async #sweep(): Promise<void> {
    try {
      for (const statement of this.#sql.sweep) await this.#connection.query(statement)
    } catch {
      // What is left is forgotten another time.
    }
  }
}

function finite(ms: number): number | null {
  return ms > FOR_EVER_MS ? null : ms
}

/** Whether a statement has failed, and changed nothing, only because others were at it too. */
function isCollision(error: unknown): boolean {
  const state = stateOf(error)
  return state === '40001' || state === '40P01'
}
