/**
 * Real servers on private ports, their data in folders that go with them, and every client of them that a
 * store can be made of. No test itself.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgresStore, redisStore } from '../../../dist/index.js'
import { freePort } from '../start.mjs'

function inPath(program) {
  return (process.env.PATH ?? '').split(':').map((folder) => join(folder, program)).find(existsSync)
}

/** Where PostgreSQL's programs are; Debian keeps them out of the way. */
function postgresFolder() {
  const home = '/usr/lib/postgresql'
  const versions = existsSync(home) ? readdirSync(home).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((one) => join(home, one, 'bin')), ...(process.env.PATH ?? '').split(':')]
  return folders.find((folder) => (
    ['initdb', 'postgres'].every((program) => existsSync(join(folder, program)))
  ))
}

/** PostgreSQL refuses to run as root. */
function postgresUser() {
  if (process.getuid() !== 0) return {}
  try {
    const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}

/** `REDIS_SERVER` names another program that speaks the same: Valkey's, or Redis' of another version. */
const redisProgram = process.env.REDIS_SERVER ?? inPath('redis-server') ?? inPath('valkey-server')
const noPackages = !existsSync(new URL('node_modules/pg', import.meta.url))
  && 'its packages are not installed: npm ci in test/interop/scale'

/**
 * Whether what is written waits for the disk, as it is left to the engines to say. Tests have no use for
 * it: they end servers, never the machine, and the disk of a busy one may take seconds.
 */
const waitsForDisk = process.env.WAITS_FOR_DISK !== undefined

/** Why there is no server to be had; false where there is one. */
export const noRedis = noPackages || (redisProgram === undefined && 'this machine has no redis-server')
export const noPostgres = noPackages
  || ((postgresFolder() === undefined || postgresUser() === undefined) && 'this machine has no PostgreSQL')
for (const reason of new Set([noRedis, noPostgres])) {
  if (reason) console.log(`scale: skipped in part: ${reason}`)
}

/** Waits for something that throws, or answers false, until it is there. */
export async function until(what, condition, ms = 60_000) {
  const end = performance.now() + ms
  for (;;) {
    try {
      if (await condition()) return
    } catch (error) {
      if (performance.now() > end) throw error
    }
    if (performance.now() > end) throw new Error(`Nothing within ${ms} ms, waiting for ${what}`)
    await sleep(5)
  }
}

/** The processes that a process has begun. */
function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** The processes that run. */
const begun = new Set()
process.once('exit', () => { for (const child of begun) child.kill('SIGKILL') })

/** A server's process, which ends with this one at the latest: none keeps this one alive. */
function begin(program, args, options = {}) {
  const child = spawn(program, args, { ...options, stdio: 'ignore' })
  begun.add(child)
  child.once('exit', () => begun.delete(child))
  child.unref()
  return child
}

async function stop(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  child.kill(signal)
  await once(child, 'exit')
}

/** A Redis of this test's own. `kill` ends it, without a word; `start` begins it again. */
export async function startRedis() {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'triport-redis-'))
  let child
  const start = async () => {
    const args = [
      '--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes',
    ]
    if (!waitsForDisk) args.push('--appendfsync', 'no')
    child = begin(redisProgram, args)
    const { default: Client } = await import('ioredis-5')
    await until('Redis', async () => {
      const probe = new Client(port, { lazyConnect: true, retryStrategy: null })
      probe.on('error', () => {})
      try {
        return await probe.ping() === 'PONG'
      } finally {
        probe.disconnect()
      }
    })
  }
  await start()
  return {
    port, url: `redis://127.0.0.1:${port}`, start,
    signal: (name) => child.kill(name),
    kill: () => stop(child, 'SIGKILL'),
    /** As an operator does it. */
    end: () => stop(child, 'SIGTERM'),
    async close() {
      await stop(child, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Three of them that are one cluster, for clients of the kind of ioredis. Where a port was taken after all,
 * all begin again on others.
 */
export async function startRedisCluster(attempts = 3) {
  const { default: Client } = await import('ioredis-5')
  const folder = mkdtempSync(join(tmpdir(), 'triport-cluster-'))
  const slots = Array.from({ length: 16_384 }, (_, slot) => `${slot}`)
  const nodes = []
  const close = async () => {
    for (const { child } of nodes) await stop(child, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await Promise.all([0, 1, 2].map(async (at) => {
      const port = await freePort()
      const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '']
      const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', `${at}.conf`]
      const child = begin(redisProgram, [...args, ...cluster])
      const admin = new Client(port)
      admin.on('error', () => {})
      nodes.push({ port, child, admin })
      await admin.call('CLUSTER', 'ADDSLOTS', ...slots.filter((slot) => slot % 3 === at))
    }))
    const [{ port }, ...others] = nodes
    for (const { admin } of others) await admin.call('CLUSTER', 'MEET', '127.0.0.1', `${port}`)
    await until('the cluster', async () => {
      const all = await Promise.all(nodes.map(({ admin }) => admin.call('CLUSTER', 'INFO')))
      return all.every((text) => /cluster_state:ok/.test(text) && /cluster_known_nodes:3/.test(text))
    })
  } catch (error) {
    await close()
    if (attempts === 1) throw error
    return startRedisCluster(attempts - 1)
  } finally {
    for (const { admin } of nodes) admin.disconnect()
  }
  return {
    async connect(name) {
      const { Cluster } = await import(name)
      const client = new Cluster([{ host: '127.0.0.1', port: nodes[0].port }])
      client.on('error', () => {})
      return { store: redisStore(client), end: async () => client.disconnect() }
    },
    close,
  }
}

/** A PostgreSQL of this test's own. */
export async function startPostgres() {
  const port = await freePort()
  const bin = postgresFolder()
  const owner = postgresUser()
  const folder = mkdtempSync(join(tmpdir(), 'triport-postgres-'))
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
  const data = join(folder, 'data')
  const options = { ...owner, cwd: folder }
  execFileSync(join(bin, 'initdb'), [
    '-D', data, '-U', 'test', '-A', 'trust', '--encoding', 'UTF8', '--locale', 'C', '--no-sync',
  ], { ...options, stdio: 'ignore' })
  let child
  const url = `postgres://test@127.0.0.1:${port}/postgres`
  const start = async () => {
    const settings = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${folder}`]
    if (!waitsForDisk) settings.push('fsync=off')
    child = begin(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((one) => ['-c', one])], options)
    const { default: { Client } } = await import('pg')
    await until('PostgreSQL', async () => {
      const probe = new Client(url)
      probe.on('error', () => {})
      await probe.connect()
      await probe.end()
      return true
    })
  }
  await start()
  return {
    port, url, start,
    /** To all of its processes. */
    signal(name) {
      for (const pid of [child.pid, ...childrenOf(child.pid)]) {
        try {
          process.kill(pid, name)
        } catch {
          // It has ended by itself.
        }
      }
    },
    /** All of its processes, without a word. */
    kill: () => stop(child, 'SIGQUIT'),
    /** As an operator does it, who waits for no connection: so that what topics keep stays. */
    end: () => stop(child, 'SIGINT'),
    async close() {
      await stop(child, 'SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Why there is no pooler to be had; false where there is one. */
const pooler = inPath('pgbouncer') ?? ['/usr/sbin/pgbouncer'].find(existsSync)
export const noPooler = noPostgres || (pooler === undefined && 'this machine has no PgBouncer')

/** A pooler of transactions before a PostgreSQL. */
export async function startPooler(server) {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'triport-pooler-'))
  const file = join(folder, 'pooler.ini')
  writeFileSync(file, [
    '[databases]', `postgres = host=127.0.0.1 port=${server.port} user=test dbname=postgres`, '[pgbouncer]',
    'listen_addr=127.0.0.1', `listen_port=${port}`, 'auth_type=any', 'pool_mode=transaction',
    'unix_socket_dir=', 'ignore_startup_parameters=extra_float_digits', '',
  ].join('\n'))
  const { uid, gid } = postgresUser()
  if (uid !== undefined) chownSync(folder, uid, gid)
  const child = begin(pooler, [file], { uid, gid })
  const url = `postgres://test@127.0.0.1:${port}/postgres`
  const { default: { Client } } = await import('pg')
  await until('PgBouncer', async () => {
    const probe = new Client(url)
    probe.on('error', () => {})
    await probe.connect()
    await probe.end()
    return true
  })
  return {
    url,
    async close() {
      await stop(child, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Connects a client of Redis; the store that is made of it, and the end of what was opened. */
export const redisClients = {
  'ioredis 5': (...given) => callingClient('ioredis-5', ...given),
  'ioredis 6': (...given) => callingClient('ioredis-6', ...given),
  'iovalkey': (...given) => callingClient('iovalkey', ...given),
  'redis 5': (...given) => sendingClient('redis-5', ...given),
  'redis 6': (...given) => sendingClient('redis-6', ...given),
  'two functions': commandingClient,
}

/** The same for PostgreSQL. */
export const postgresClients = {
  'pg': async (url, options, settings) => {
    const { default: { Pool } } = await import('pg')
    const pool = new Pool({ connectionString: url, max: 8, ...settings })
    pool.on('error', () => {})
    return { store: postgresStore(pool, options), client: pool, end: () => pool.end() }
  },
  'postgres.js': async (url, options, settings) => {
    const { default: postgres } = await import('postgres')
    // Where it asks for types, a cut at that moment rejects a promise that nobody has.
    const sql = postgres(url, { max: 8, onnotice() {}, fetch_types: false, ...settings })
    return { store: postgresStore(sql, options), client: sql, end: () => sql.end({ timeout: 1 }) }
  },
}

async function callingClient(name, url, options, settings = {}) {
  const { default: Client } = await import(name)
  const client = new Client(url, settings)
  client.on('error', () => {})
  return { store: redisStore(client, options), client, end: async () => client.disconnect() }
}

async function sendingClient(name, url, options) {
  const { createClient } = await import(name)
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  return { store: redisStore(client, options), client, end: async () => client.destroy() }
}

/** As somebody would write it for a client that the store does not know. */
async function commandingClient(url, options) {
  const { createClient } = await import('redis-5')
  const client = createClient({ url })
  const ear = client.duplicate()
  const again = new Set()
  for (const one of [client, ear]) {
    one.on('error', () => {})
    await one.connect()
  }
  ear.on('ready', () => { for (const one of again) one() })
  const store = redisStore({
    command: (args) => client.sendCommand([...args]),
    async subscribe(channel, listener, onAgain) {
      again.add(onAgain)
      await ear.subscribe(channel, listener)
      return () => ear.unsubscribe(channel, listener)
    },
  }, options)
  return {
    store, client,
    async end() {
      ear.destroy()
      client.destroy()
    },
  }
}
