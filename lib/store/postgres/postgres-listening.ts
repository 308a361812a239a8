/**
 * The connection on which a process listens to PostgreSQL, and how it notices that it hears nothing any more.
 * Knows nothing of what is said.
 */
import { randomBytes, randomUUID } from 'node:crypto'

/** What a statement is given. */
export type Parameter = string | number | null

/** What it answers. */
export type Rows = readonly Readonly<Record<string, unknown>>[]

/** What listening takes of a `Pool` of pg. */
export interface ConnectingPool {
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
export interface ListeningSql {
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
export class PoolListening {
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
export class SqlListening {
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
