/**
 * The PostgreSQL clients that people use, told apart by their shape: a client in; a way to send a statement
 * and one connection that listens out. Knows no statement of a store.
 */
import { createHash } from 'node:crypto'
import { PoolListening, SqlListening } from './postgres-listening.ts'
import type { ConnectingPool, ListeningSql, Parameter, Rows } from './postgres-listening.ts'

/** A `Pool` of pg. */
export interface QueryingPool {
  query(...args: never[]): unknown
  connect(...args: never[]): unknown
}

/** What `postgres()` of postgres.js returns. */
export interface UnsafeSql {
  unsafe(...args: never[]): unknown
  listen(...args: never[]): unknown
}

/** What `postgresStore` takes: never closed by the store. */
export type PostgresPool = QueryingPool | UnsafeSql

/** A client, whichever it is. */
export interface PostgresConnection {
  /** Sends one statement, or several that are given nothing. */
  query(text: string, values?: readonly Parameter[]): Promise<Rows>
  /**
   * Listens to a channel on a connection of its own, which is opened again where it is lost; `onAgain` is
   * called then. Resolves when it listens, with the function that ends it.
   */
  listen(channel: string, hear: (text: string) => void, onAgain: () => void): Promise<() => Promise<void>>
}

const SHAPES = 'a Pool of pg, or what postgres() of postgres.js returns'

/**
 * Tells which client it is. Throws `TypeError` where it is none. `prepares`: PostgreSQL keeps the plans of
 * what it was asked, which no connection through a pooler of transactions can count on.
 */
export function postgresConnection(client: unknown, prepares: boolean): PostgresConnection {
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
export function requireListening(client: unknown): void {
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

/** The SQLSTATE of an error. */
export function stateOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
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
