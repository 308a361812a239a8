/**
 * The store that a command line names: `sqlite:FILE`, `redis:URL` or `postgres:URL` in, an open store out.
 * The client of Redis or PostgreSQL comes from the packages beside the module; closing the store closes it
 * too.
 */
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UsageError } from './command-line.ts'
import { isRecord } from '../kernel/define/content.ts'
import type { Store } from '../kernel/store/store.ts'
import type { PostgresPool } from '../stores/postgres/postgres.ts'
import type { RedisClient } from '../stores/redis/redis.ts'

interface Connected<Client> { readonly client: Client; end(): unknown }

/** Makes a client from what its package exports. */
type Connect<Client> = (exported: Exported, url: string) => Promise<Connected<Client>>

/** What a package exports, by default or in all, with the members of every client that is used here. */
interface Exported {
  new (...args: readonly unknown[]): Exported
  (...args: readonly unknown[]): Exported
  readonly Pool: Exported
  createClient(...args: readonly unknown[]): Exported
  connect(): Promise<unknown>
  query(text: string): Promise<unknown>
  unsafe(text: string): Promise<unknown>
  on(event: 'error', listener: (error: unknown) => void): unknown
  duplicate(): unknown
  listen(): unknown
  call(): unknown
  sendCommand(): unknown
  disconnect(): unknown
  destroy(): unknown
  end(): unknown
}

/** Packages in the order in which they are tried. */
const redisClients: ReadonlyMap<string, Connect<RedisClient>> = new Map([
  ['ioredis', connectCalling], ['iovalkey', connectCalling], ['redis', connectSending],
])
const postgresClients: ReadonlyMap<string, Connect<PostgresPool>> = new Map([
  ['pg', connectPool], ['postgres', connectSql],
])

/**
 * Opens a store. Packages are looked for beside `module`, or in the working directory. Throws `UsageError`
 * for an unknown store, and `Error` where its client is not installed or the server does not answer.
 */
export async function openStore(named: string, module: string | undefined): Promise<Store> {
  const [, engine = '', rest = ''] = /^(\w+):(.*)$/s.exec(named) ?? []
  if (engine === 'sqlite' && rest !== '') {
    const { sqliteStore } = await import('../stores/sqlite/sqlite.ts')
    return sqliteStore(rest)
  }
  if (/^(?:rediss?|valkeys?)$/.test(engine) && rest !== '') {
    const { redisStore } = await import('../stores/redis/redis.ts')
    const url = urlOf(named, rest).replace(/^valkey/, 'redis')
    const { client, end } = await connect(redisClients, 'Redis', url, module)
    return closing(redisStore(client), end)
  }
  if (/^postgres(?:ql)?$/.test(engine) && rest !== '') {
    const { postgresStore } = await import('../stores/postgres/postgres.ts')
    const { client, end } = await connect(postgresClients, 'PostgreSQL', urlOf(named, rest), module)
    return closing(postgresStore(client), end)
  }
  // The rest may hold a password.
  const shown = engine === '' ? '' : ` ${engine}:…`
  throw new UsageError(`--store${shown} names no store; write sqlite:FILE, redis:URL or postgres:URL`)
}

/** Accepts `redis://host` and `redis:redis://host`. */
function urlOf(named: string, rest: string): string {
  const url = rest.startsWith('//') ? named : rest
  if (URL.canParse(url) && /^\w+:\/\//.test(url)) return url
  const remedy = 'as in redis://127.0.0.1:6379 or postgres://127.0.0.1/agents'
  throw new UsageError(`--store needs an address, ${remedy}`)
}

function closing(store: Store, end: () => unknown): Store {
  return {
    ...store,
    async close() {
      await store.close?.()
      await end()
    },
  }
}

async function connect<Client>(
  clients: ReadonlyMap<string, Connect<Client>>, engine: string, url: string, module: string | undefined,
): Promise<Connected<Client>> {
  const beside = createRequire(module === undefined ? join(process.cwd(), 'index.js') : resolve(module))
  for (const [name, make] of clients) {
    const path = resolved(beside, name)
    if (path === undefined) continue
    const exported: unknown = await import(pathToFileURL(path).href)
    const main = isRecord(exported) && 'default' in exported ? exported['default'] : exported
    try {
      return await make(main as Exported, url)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
      throw new Error(`${engine} at ${new URL(url).host} does not answer: ${reason}`, { cause })
    }
  }
  const [first, ...others] = clients.keys()
  const where = module === undefined ? 'here' : `beside ${module}`
  const remedy = `npm install ${first} (or ${others.join(', ')})`
  throw new Error(`--store needs a client of ${engine} ${where}: ${remedy}`)
}

function resolved(beside: NodeJS.Require, name: string): string | undefined {
  try {
    return beside.resolve(name)
  } catch {
    return undefined
  }
}

/** Errors between calls must not end the process: the store itself reports that it cannot be reached. */
function ignore(): void {}

async function connectCalling(Client: Exported, url: string): Promise<Connected<RedisClient>> {
  const client = new Client(url, { lazyConnect: true })
  let reason: unknown
  client.on('error', (error) => { reason = error })
  try {
    await client.connect()
  } catch (error) {
    client.disconnect()
    throw reason ?? error
  }
  return { client, end: () => client.disconnect() }
}

async function connectSending(exported: Exported, url: string): Promise<Connected<RedisClient>> {
  const client = exported.createClient({ url })
  await new Promise((resolve, reject) => {
    // It would retry for ever.
    client.on('error', reject)
    client.connect().then(resolve, reject)
  }).catch((error: unknown) => {
    client.destroy()
    throw error
  })
  return { client, end: () => client.destroy() }
}

async function connectPool({ Pool }: Exported, url: string): Promise<Connected<PostgresPool>> {
  const client = new Pool({ connectionString: url })
  client.on('error', ignore)
  await client.query('SELECT 1')
  return { client, end: () => client.end() }
}

async function connectSql(postgres: Exported, url: string): Promise<Connected<PostgresPool>> {
  // With types, a connection lost while it asks for them is an unhandled rejection.
  const client = postgres(url, { onnotice: ignore, fetch_types: false })
  await client.unsafe('SELECT 1')
  return { client, end: () => client.end() }
}
