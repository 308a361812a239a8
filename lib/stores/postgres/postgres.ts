/**
 * A store in PostgreSQL 13 or later, through the client that its user has, known by its shape. Entries
 * and events are rows; one connection listens for all topics that are followed.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { checkOptionsOf, mustBe } from '../../kernel/define/validate.ts'
import { MAX_VALUE_BYTES } from '../../kernel/store/store.ts'
import { has, mustBeValueBytes, retry, stateOf } from '../engine.ts'
import { remoteStore } from '../remote/remote.ts'
import type { Checks } from '../../kernel/define/validate.ts'
import type { Store } from '../../kernel/store/store.ts'
import type { Parameter, PostgresConnection, Rows } from './postgres-commands.ts'

/** A `Pool` of pg. */
interface QueryingPool { query(...args: never[]): unknown; connect(...args: never[]): unknown }

/** What `postgres()` of postgres.js returns. */
interface UnsafeSql { unsafe(...args: never[]): unknown; listen(...args: never[]): unknown }

/** What `postgresStore` takes: never closed by the store. */
export type PostgresPool = QueryingPool | UnsafeSql

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

const checks: Checks<PostgresStoreOptions> = {
  listenWith: true, // checked as a client
  prefix: mustBe((value) => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,31}$/.test(value),
    'write 1 to 32 small letters, digits and _, and no digit first'),
  maxValueBytes: mustBeValueBytes,
}

/**
 * Makes a store of a `Pool` of pg or of what `postgres()` of postgres.js returns. It stays yours: `close`
 * ends only the connection that listens. Tables are made when they are first needed, in the schema that
 * comes first in the search path of the user; where they are there already, no right to make any is needed.
 * Give postgres.js `fetch_types: false`: a connection that is lost while it asks for types ends the process.
 *
 * Entries are as safe as everything else in the database. A crash of the server loses the events that were
 * kept on topics, and subscribers get `onLost`.
 *
 * Throws `TypeError` for what is no such client, for a pool of a single connection, and for an option that
 * there is not.
 */
export function postgresStore(pool: PostgresPool, options: PostgresStoreOptions = {}): Store {
  checkOptionsOf('postgresStore', options, checks)
  const { listenWith = pool, prefix = 'triport', maxValueBytes = MAX_VALUE_BYTES } = options
  // A pool that can listen is behind no pooler of transactions.
  const connection = postgresConnection(pool, listenWith === pool)
  if (listenWith === pool && isPool(pool) && pool.options?.max === 1) {
    throw new TypeError('postgresStore takes a pool of 2 connections at least: one of them listens')
  }
  const listening = listenWith === pool ? connection : postgresConnection(listenWith, false)
  return remoteStore(async () => {
    const { postgresCommands } = await import('./postgres-commands.ts')
    return postgresCommands(connection, listening, prefix)
  }, maxValueBytes)
}

/**
 * Throws `TypeError` where it is no client. `prepares`: PostgreSQL keeps the plans of what it was asked,
 * which no connection through a pooler of transactions can count on.
 */
function postgresConnection(client: unknown, prepares: boolean): PostgresConnection {
  if (isSql(client)) {
    return {
      query: (text, values = []) => client.unsafe(text, [...values], { prepare: prepares }),
      listen: (...given) => listenBySql(client, ...given),
    }
  }
  if (isPool(client)) {
    return { query: querying(client, prepares), listen: (...given) => listenByPool(client, ...given) }
  }
  throw new TypeError('postgresStore takes a Pool of pg, or what postgres() of postgres.js returns')
}

interface Pool {
  readonly options?: { readonly max?: unknown } | undefined
  /** A statement with a name is prepared: once on each connection. */
  query(asked: { readonly text: string; readonly values?: Parameter[]; readonly name?: string }):
    Promise<{ readonly rows?: Rows }>
  connect(): Promise<PoolClient>
}

interface PoolClient {
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  query(text: string): Promise<unknown>
  /** True: it is not to be used again. */
  release(isBroken: boolean): void
}

interface ListeningSql {
  unsafe(
    text: string, values: readonly Parameter[], options: { readonly prepare: boolean },
  ): Promise<Rows>
  listen(
    channel: string, receive: (text: string) => void, onListen: () => void,
  ): Promise<{ readonly state: { readonly pid: number }; unlisten(): Promise<unknown> }>
}

/** A connection no longer knows a statement, or knows an older one of that name. Nothing was done. */
const UNPREPARED: ReadonlySet<unknown> = new Set(['26000', '42P05', '0A000'])

/** Planning what is published on a topic takes PostgreSQL longer than doing it: plans are kept. */
function querying(pool: Pool, prepares: boolean): PostgresConnection['query'] {
  // The name of each statement, until a connection has lost one that it had.
  let names = prepares ? new Map<string, string>() : undefined
  // A pool can have several stores, of several versions: a name stands for its whole text.
  const nameOf = (text: string): string | undefined => {
    const known = names?.get(text)
    if (known !== undefined || names === undefined) return known
    const name = `triport_${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`
    names.set(text, name)
    return name
  }
  return async (text, values) => {
    const asked = { text, ...values && { values: [...values] } }
    const name = values && nameOf(text)
    try {
      return (await pool.query(name === undefined ? asked : { ...asked, name })).rows ?? []
    } catch (error) {
      if (name === undefined || !UNPREPARED.has(stateOf(error))) throw error
      names = undefined
      return (await pool.query(asked)).rows ?? []
    }
  }
}

/**
 * Asks for a sign of life now and then, to notice a dead connection. `lost` is called where none comes in
 * time, or asking fails, and never rejects. Returns the function that ends it.
 */
function startPulse(
  everyMs: number, waitMs: number, ask: () => Promise<unknown>, lost: () => unknown,
): () => void {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const rest = (): void => {
    clearTimeout(timer)
    if (!isOver) timer = setTimeout(beat, everyMs).unref()
  }
  const fail = async (): Promise<void> => {
    clearTimeout(timer)
    await lost()
    rest()
  }
  const beat = (): void => {
    timer = setTimeout(fail, waitMs).unref()
    ask().then(rest, fail)
  }
  rest()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/** Listens with one client of a pool; with another one where that is lost. */
async function listenByPool(
  pool: Pool, channel: string, receive: (text: string) => void, onAgain: () => void,
): Promise<() => Promise<void>> {
  let client: PoolClient | undefined
  let endPulse = (): void => {}
  let isOver = false
  let isTrying = false
  const drop = (): void => {
    endPulse()
    client?.release(true)
    client = undefined
  }
  const begin = async (): Promise<void> => {
    const one = await pool.connect()
    const lost = (): void => {
      if (client !== one) return
      drop()
      void again()
    }
    one.on('error', lost)
    one.on('end', lost)
    one.on('notification', ({ payload = '' }) => {
      if (client === one) receive(payload)
    })
    client = one
    try {
      await one.query(`LISTEN "${channel}"`)
    } catch (error) {
      if (client === one) drop()
      throw error
    }
    if (isOver) drop()
    else if (client === one) endPulse = startPulse(30_000, 10_000, () => one.query('SELECT 1'), lost)
  }
  const again = async (): Promise<void> => {
    if (isTrying) return
    isTrying = true
    while (!isOver && client === undefined) await retry(begin, () => isOver)
    isTrying = false
    if (!isOver) onAgain()
  }
  const end = async (): Promise<void> => {
    isOver = true
    drop()
  }
  try {
    await begin()
  } catch (error) {
    // Where the connection was lost, another one is being tried by now.
    await end()
    throw error
  }
  return end
}

/**
 * Listens on the connection that postgres.js shares among all who listen. That listens again by itself where
 * it is lost; but where its first statement on the next connection fails, nothing arrives any more, and no
 * one learns of it. So now and then a message of its own is sent on the channel.
 */
async function listenBySql(
  sql: ListeningSql, channel: string, receive: (text: string) => void, onAgain: () => void,
): Promise<() => Promise<void>> {
  const ping = `ping ${randomUUID()}`
  let arrived = (): void => {}
  let isAgain = false
  let isOver = false
  const ask = (text: string, values: readonly Parameter[]): Promise<Rows> => (
    sql.unsafe(text, values, { prepare: false })
  )
  const { unlisten } = await sql.listen(channel, (text) => {
    if (isOver) return
    if (text === ping) arrived()
    else receive(text)
  }, () => {
    if (isAgain && !isOver) onAgain()
    isAgain = true
  })
  const pong = (): Promise<void> => new Promise((resolve) => {
    arrived = resolve
    // What cannot be sent cannot arrive either.
    ask('SELECT pg_notify($1, $2)', [channel, ping]).catch(() => resolve())
  })
  // Ends the connection: postgres.js then makes another, and listens there to all that it listened to.
  const revive = async (): Promise<void> => {
    try {
      // Only one who listens gets to know which connection that is.
      const probe = await sql.listen(`${channel}_${randomBytes(4).toString('hex')}`, () => {}, () => {})
      await probe.unlisten()
      await ask('SELECT pg_terminate_backend($1)', [probe.state.pid])
    } catch {
      // It is tried again.
    }
  }
  const endPulse = startPulse(10_000, 5_000, pong, revive)
  return async () => {
    isOver = true
    endPulse()
    await unlisten()
  }
}

function isSql(client: unknown): client is ListeningSql {
  return has(client, 'unsafe', 'listen')
}

function isPool(client: unknown): client is Pool {
  // A single client has these two as well, but cannot listen and be asked at once for long.
  return has(client, 'query', 'connect') && Reflect.has(client, 'totalCount')
}
