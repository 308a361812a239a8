/**
 * A store in PostgreSQL 13 or later, through the client that its user has. Entries and events are rows; one
 * connection listens for all topics that are followed.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { rejectUnknown } from '../../schema/options.ts'
import { MAX_VALUE_BYTES } from '../../state/store.ts'
import { requireValueBytes, stateOf } from '../shared/common.ts'
import { remoteStore } from '../shared/remote.ts'
import type { Parameter, PostgresConnection, Rows } from './postgres-commands.ts'
import type { Store } from '../../state/store.ts'

/** What listening takes of a `Pool` of pg. */
interface ConnectingPool {
  connect(): Promise<PoolClient>
}

interface PoolClient {
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  query(text: string): Promise<unknown>
  /** True: it is not to be used again. */
  release(isBroken: boolean): void
}

/** What is taken of `postgres()` of postgres.js. */
interface ListeningSql {
  unsafe(
    text: string, values: readonly Parameter[], options: { readonly prepare: boolean },
  ): Promise<Rows>
  listen(
    channel: string, hear: (text: string) => void, onListen: () => void,
  ): Promise<{ readonly state: { readonly pid: number }; unlisten(): Promise<unknown> }>
}

/** How long to wait before listening again. */
const RETRY_MS = 100
/** How often one who listens asks something, to notice a dead connection, and how long it waits for that. */
const PULSE_MS = 30_000
const PULSE_WAIT_MS = 10_000

/** One client of a pool that listens for as long as the store is open. */
class PoolListening {
  readonly #pool: ConnectingPool
  readonly #channel: string
  readonly #hear: (text: string) => void
  readonly #onAgain: () => void
  #client: PoolClient | undefined
  #isOver = false
  #isTrying = false
  #pulse: NodeJS.Timeout | undefined

  constructor(pool: ConnectingPool, channel: string, hear: (text: string) => void, onAgain: () => void) {
    this.#pool = pool
    this.#channel = channel
    this.#hear = hear
    this.#onAgain = onAgain
  }

  async begin(): Promise<void> {
    const client = await this.#pool.connect()
    const lost = (): void => {
      if (this.#client !== client) return
      this.#client = undefined
      clearTimeout(this.#pulse)
      client.release(true)
      void this.#again()
    }
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ payload = '' }) => {
      if (this.#client === client) this.#hear(payload)
    })
    this.#client = client
    try {
      await client.query(`LISTEN "${this.#channel}"`)
    } catch (error) {
      if (this.#client === client) client.release(true)
      this.#client = undefined
      throw error
    }
    if (this.#isOver) this.end()
    else this.#await(client, lost)
  }

  end(): void {
    this.#isOver = true
    clearTimeout(this.#pulse)
    const client = this.#client
    this.#client = undefined
    client?.release(true)
  }

  #await(client: PoolClient, lost: () => void): void {
    if (this.#client !== client) return
    this.#pulse = setTimeout(() => {
      this.#pulse = setTimeout(lost, PULSE_WAIT_MS).unref()
      client.query('SELECT 1').then(() => {
        clearTimeout(this.#pulse)
        this.#await(client, lost)
      }, lost)
    }, PULSE_MS).unref()
  }

  async #again(): Promise<void> {
    if (this.#isTrying) return
    this.#isTrying = true
    while (!this.#isOver && this.#client === undefined) {
      try {
        await this.begin()
      } catch {
        await new Promise<void>((resolve) => { setTimeout(resolve, RETRY_MS).unref() })
      }
    }
    this.#isTrying = false
    if (!this.#isOver) this.#onAgain()
  }
}

/** How often one on a shared connection says a word to itself, and how long it waits to hear that. */
const WORD_MS = 10_000
const WORD_WAIT_MS = 5_000

/**
 * One channel on the connection that postgres.js shares among all who listen. That listens again by itself
 * where it is lost; but where its first statement on the next connection fails, it hears nothing any more,
 * and tells nobody. So now and then it says a word to itself on the channel.
 */
class SqlListening {
  readonly #sql: ListeningSql
  readonly #channel: string
  readonly #hear: (text: string) => void
  readonly #onAgain: () => void
  readonly #word: string = `word ${randomUUID()}`
  #unlisten: (() => Promise<unknown>) | undefined
  #isOver = false
  #timer: NodeJS.Timeout | undefined

  constructor(sql: ListeningSql, channel: string, hear: (text: string) => void, onAgain: () => void) {
    this.#sql = sql
    this.#channel = channel
    this.#hear = hear
    this.#onAgain = onAgain
  }

  async begin(): Promise<void> {
    let isAgain = false
    const { unlisten } = await this.#sql.listen(this.#channel, (text) => {
      if (this.#isOver) return
      if (text === this.#word) this.#speakLater()
      else this.#hear(text)
    }, () => {
      if (isAgain && !this.#isOver) this.#onAgain()
      isAgain = true
    })
    this.#unlisten = unlisten
    this.#speakLater()
  }

  async end(): Promise<void> {
    this.#isOver = true
    clearTimeout(this.#timer)
    await this.#unlisten?.()
  }

  #speakLater(): void {
    clearTimeout(this.#timer)
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#speak(), WORD_MS).unref()
  }

  async #speak(): Promise<void> {
    this.#timer = setTimeout(() => void this.#revive(), WORD_WAIT_MS).unref()
    try {
      await this.#ask('SELECT pg_notify($1, $2)', [this.#channel, this.#word])
    } catch {
      // Nobody can be heard who cannot be spoken to.
      this.#speakLater()
    }
  }

  /** Ends the connection: postgres.js then makes another, and listens there to all that it listened to. */
  async #revive(): Promise<void> {
    try {
      // Only one who listens is told which connection that is.
      const channel = `${this.#channel}_${randomBytes(4).toString('hex')}`
      const { state, unlisten } = await this.#sql.listen(channel, () => {}, () => {})
      await unlisten()
      await this.#ask('SELECT pg_terminate_backend($1)', [state.pid])
    } catch {
      // It is tried again.
    }
    this.#speakLater()
  }

  #ask(text: string, values: readonly Parameter[]): Promise<Rows> {
    return this.#sql.unsafe(text, values, { prepare: false })
  }
}

/** A `Pool` of pg. */
interface QueryingPool {
  query(...args: never[]): unknown
  connect(...args: never[]): unknown
}

/** What `postgres()` of postgres.js returns. */
interface UnsafeSql {
  unsafe(...args: never[]): unknown
  listen(...args: never[]): unknown
}

/** What `postgresStore` takes: never closed by the store. */
export type PostgresPool = QueryingPool | UnsafeSql

const SHAPES = 'a Pool of pg, or what postgres() of postgres.js returns'

/**
 * Tells which client it is. Throws `TypeError` where it is none. `prepares`: PostgreSQL keeps the plans of
 * what it was asked, which no connection through a pooler of transactions can count on.
 */
function postgresConnection(client: unknown, prepares: boolean): PostgresConnection {
  if (isSql(client)) {
    return {
      query: (text, values = []) => client.unsafe(text, [...values], { prepare: prepares }),
      async listen(channel, hear, onAgain) {
        const listening = new SqlListening(client, channel, hear, onAgain)
        await listening.begin()
        return () => listening.end()
      },
    }
  }
  if (isPool(client)) {
    const asking = new PoolAsking(client, prepares)
    return {
      query: (text, values) => asking.query(text, values),
      async listen(channel, hear, onAgain) {
        const listening = new PoolListening(client, channel, hear, onAgain)
        try {
          await listening.begin()
        } catch (error) {
          listening.end()
          throw error
        }
        return async () => listening.end()
      },
    }
  }
  throw new TypeError(`postgresStore takes ${SHAPES}`)
}

/** Throws `TypeError` for a pool that has no connection left where one listens. */
function requireListening(client: unknown): void {
  if (!isPool(client) || client.options?.max !== 1) return
  throw new TypeError('postgresStore takes a pool of 2 connections at least: one of them listens')
}

interface Pool extends ConnectingPool {
  readonly options?: { readonly max?: unknown } | undefined
  query(asked: Asked): Promise<{ readonly rows?: Rows }>
}

/** A statement with a name is prepared: once on each connection. */
interface Asked {
  readonly text: string
  readonly values?: Parameter[]
  readonly name?: string
}

/** What a connection says that knows a statement no more, or an older one of that name. Nothing was done. */
const UNPREPARED: ReadonlySet<unknown> = new Set(['26000', '42P05', '0A000'])

/** Asks a pool. Planning what is said to a topic takes PostgreSQL longer than doing it: plans are kept. */
class PoolAsking {
  readonly #pool: Pool
  /** The name of each statement, until a connection has lost one that it had. */
  #names: Map<string, string> | undefined

  constructor(pool: Pool, prepares: boolean) {
    this.#pool = pool
    if (prepares) this.#names = new Map()
  }

  async query(text: string, values?: readonly Parameter[]): Promise<Rows> {
    const asked = { text, ...values && { values: [...values] } }
    const name = values && this.#nameOf(text)
    try {
      return (await this.#pool.query(name === undefined ? asked : { ...asked, name })).rows ?? []
    } catch (error) {
      if (name === undefined || !UNPREPARED.has(stateOf(error))) throw error
      this.#names = undefined
      return (await this.#pool.query(asked)).rows ?? []
    }
  }

  /** A pool can have several stores, of several versions: a name says all of its text. */
  #nameOf(text: string): string | undefined {
    if (this.#names === undefined) return undefined
    let name = this.#names.get(text)
    if (name === undefined) {
      name = `triport_${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`
      this.#names.set(text, name)
    }
    return name
  }
}

function has(value: unknown, ...methods: readonly string[]): value is object {
  const isObject = (typeof value === 'object' || typeof value === 'function') && value !== null
  return isObject && methods.every((method) => typeof Reflect.get(value, method) === 'function')
}

function isSql(client: unknown): client is ListeningSql {
  return has(client, 'unsafe', 'listen')
}

function isPool(client: unknown): client is Pool {
  // A single client has these two as well, but cannot listen and be asked at once for long.
  return has(client, 'query', 'connect') && Reflect.has(client, 'totalCount')
}

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
