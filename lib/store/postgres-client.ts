/**
 * The PostgreSQL clients that people use, told apart by their shape: a client in; a way to send a statement
 * and one connection that listens out. Knows no statement of a store.
 */

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

/** What a statement is given. */
export type Parameter = string | number | null

/** A client, whichever it is. */
export interface PostgresConnection {
  /** Sends one statement, or several that are given nothing. */
  query(text: string, values?: readonly Parameter[]): Promise<readonly Readonly<Record<string, unknown>>[]>
  /**
   * Listens to a channel on a connection of its own, which is opened again where it is lost; `onAgain` is
   * called then. Resolves when it listens, with the function that ends it.
   */
  listen(channel: string, hear: (text: string) => void, onAgain: () => void): Promise<() => Promise<void>>
}

const SHAPES = 'a Pool of pg, or what postgres() of postgres.js returns'

/** Tells which client it is. Throws `TypeError` where it is none. */
export function postgresConnection(client: unknown): PostgresConnection {
  if (isSql(client)) {
    return {
      query: (text, values = []) => client.unsafe(text, [...values]),
      listen: (channel, hear, onAgain) => listenBySql(client, channel, hear, onAgain),
    }
  }
  if (isPool(client)) {
    return {
      query: async (text, values) => (await client.query(text, values && [...values])).rows ?? [],
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

type Rows = readonly Readonly<Record<string, unknown>>[]

interface Pool {
  readonly options?: { readonly max?: unknown } | undefined
  query(text: string, values?: readonly Parameter[]): Promise<{ readonly rows?: Rows }>
  connect(): Promise<PoolClient>
}

interface PoolClient {
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  query(text: string): Promise<unknown>
  /** True: it is not to be used again. */
  release(isBroken: boolean): void
}

interface Sql {
  unsafe(text: string, values: readonly Parameter[]): Promise<Rows>
  listen(
    channel: string, hear: (text: string) => void, onListen: () => void,
  ): Promise<{ unlisten(): Promise<unknown> }>
}

/** How long to wait before listening again. */
const RETRY_MS = 100
/** How often one who listens asks something, to notice a dead connection, and how long it waits for that. */
const PULSE_MS = 30_000
const PULSE_WAIT_MS = 10_000

/** One client of a pool that listens for as long as the store is open. */
class PoolListening {
  readonly #pool: Pool
  readonly #channel: string
  readonly #hear: (text: string) => void
  readonly #onAgain: () => void
  #client: PoolClient | undefined
  #isOver = false
  #isTrying = false
  #pulse: NodeJS.Timeout | undefined

  constructor(pool: Pool, channel: string, hear: (text: string) => void, onAgain: () => void) {
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

/** postgres.js listens again by itself, on a connection that it shares among all who listen. */
async function listenBySql(
  sql: Sql, channel: string, hear: (text: string) => void, onAgain: () => void,
): Promise<() => Promise<void>> {
  let isOver = false
  let isAgain = false
  const { unlisten } = await sql.listen(channel, (text) => {
    if (!isOver) hear(text)
  }, () => {
    if (isAgain && !isOver) onAgain()
    isAgain = true
  })
  return async () => {
    isOver = true
    await unlisten()
  }
}

function has(value: unknown, ...methods: readonly string[]): value is object {
  const isObject = (typeof value === 'object' || typeof value === 'function') && value !== null
  return isObject && methods.every((method) => typeof Reflect.get(value, method) === 'function')
}

function isSql(client: unknown): client is Sql {
  return has(client, 'unsafe', 'listen')
}

function isPool(client: unknown): client is Pool {
  // A single client has these two as well, but cannot listen and be asked at once for long.
  return has(client, 'query', 'connect') && Reflect.has(client, 'totalCount')
}
