/**
 * The store that a command line names: `sqlite:FILE`, `redis:URL` or `postgres:URL` in, an open store out.
 * A client of Redis or PostgreSQL is taken from the packages beside the module that is served; it is the
 * command's own, so that closing the store closes it too.
 */
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UsageError } from './command-line.ts'
import { isRecord } from '../define/content.ts'
import type { Store } from '../state/store.ts'
import type { PostgresPool } from '../store/postgres/postgres.ts'
import type { RedisClient } from '../store/redis/redis.ts'

/** A client that is connected, and its end. */
interface Connected<Client> { readonly client: Client; end(): unknown }

/** How a client is made of what its package exports. */
type Connect<Client> = (exported: Exported, url: string) => Promise<Connected<Client>>

/** Whatever a package has as its default, or all of it: its shape is known by its name. */
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

/** Those that are looked for, in this order. */
const redisClients: ReadonlyMap<string, Connect<RedisClient>> = new Map([
  ['ioredis', connectCalling], ['iovalkey', connectCalling], ['redis', connectSending],
])
const postgresClients: ReadonlyMap<string, Connect<PostgresPool>> = new Map([
  ['pg', connectPool], ['postgres', connectSql],
])

/**
 * Opens the store that is named. `module`: beside which packages are looked for; left out, the working
 * directory. Throws `UsageError` for what names no store, and `Error` where its client is not installed or
 * the server does not answer.
 */
export async function openStore(named: string, module: string | undefined): Promise<Store> {
  const [, engine = '', rest = ''] = /^(\w+):(.*)$/s.exec(named) ?? []
  if (engine === 'sqlite' && rest !== '') {
    const { sqliteStore } = await import('../store/sqlite/sqlite.ts')
    return sqliteStore(rest)
  }
  if (/^(?:rediss?|valkeys?)$/.test(engine) && rest !== '') {
    const { redisStore } = await import('../store/redis/redis.ts')
    const url = urlOf(named, rest).replace(/^valkey/, 'redis')
    const { client, end } = await connect(redisClients, 'Redis', url, module)
    return closing(redisStore(client), end)
  }
  if (/^postgres(?:ql)?$/.test(engine) && rest !== '') {
    const { postgresStore } = await import('../store/postgres/postgres.ts')
    const { client, end } = await connect(postgresClients, 'PostgreSQL', urlOf(named, rest), module)
    return closing(postgresStore(client), end)
  }
  // It may hold a password.
  const shown = engine === '' ? '' : ` ${engine}:…`
  throw new UsageError(`--store${shown} names no store; write sqlite:FILE, redis:URL or postgres:URL`)
}

/** `redis://host` is a whole address, `redis:redis://host` has one behind the name of the engine. */
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
    const exported = exportedBy(await import(pathToFileURL(path).href))
    try {
      return await make(exported, url)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
      throw new Error(`${engine} at ${new URL(url).host} does not answer: ${reason}`, { cause })
    }
  }
  const [first, ...others] = clients.keys()
  const place = module === undefined ? 'here' : `beside ${module}`
  const remedy = `npm install ${first} (or ${others.join(', ')})`
  throw new Error(`--store needs a client of ${engine} ${place}: ${remedy}`)
}

function resolved(beside: NodeJS.Require, name: string): string | undefined {
  try {
    return beside.resolve(name)
  } catch {
    return undefined
  }
}

function exportedBy(module: unknown): Exported {
  const whole = isRecord(module) && 'default' in module ? module['default'] : module
  return whole as Exported
}

/** Who is told of nothing else must not end the process: the store says itself that it cannot be reached. */
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
    // It would try again for ever.
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
  // A connection that is lost while it asks for types rejects a promise that nobody has.
  const client = postgres(url, { onnotice: ignore, fetch_types: false })
  await client.unsafe('SELECT 1')
  return { client, end: () => client.end() }
}
