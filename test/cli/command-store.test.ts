import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { openStore } from '../../lib/cli/command-store.ts'
import { UsageError } from '../../lib/cli/command-line.ts'
import { modules } from '../fixtures/modules.ts'

/** What each client looks like from outside; `said` has what was asked of it. */
const calling = `
  exports.default = class {
    constructor(url) { this.url = url; globalThis.said.push('new ' + url) }
    on(event, listener) { if (this.url.includes('down')) listener(new Error('refused')) }
    async connect() { if (this.url.includes('down')) throw new Error('Connection is closed.') }
    call(name) { globalThis.said.push(name); return Promise.resolve([]) }
    subscribe() {} duplicate() {} disconnect() { globalThis.said.push('end') }
  }
  module.exports = exports.default`
const sending = `
  exports.createClient = ({ url }) => ({
    on(event, listener) { if (url.includes('down')) listener(new Error('refused')) },
    connect: async () => { globalThis.said.push('new ' + url) },
    sendCommand: async ([name]) => { globalThis.said.push(name); return [] },
    subscribe() {}, duplicate() {}, destroy() { globalThis.said.push('end') },
  })`
const pool = `
  exports.Pool = class {
    constructor({ connectionString: url }) { this.url = url; globalThis.said.push('new ' + url) }
    get totalCount() { return 0 }
    on() {} connect() {}
    async query(text) {
      if (this.url.includes('down')) throw new Error('refused')
      globalThis.said.push(text.split(' ')[0])
      return { rows: [] }
    }
    async end() { globalThis.said.push('end') }
  }`
const sql = `
  module.exports = (url, { fetch_types: asksTypes = true }) => {
    globalThis.said.push('new ' + url)
    // The real one asks on each connection, and that promise has no handler.
    if (asksTypes) globalThis.said.push('types')
    return {
      listen() {}, end: async () => { globalThis.said.push('end') },
      async unsafe(text) {
        if (url.includes('down')) throw new Error('refused')
        globalThis.said.push(text.split(' ')[0])
        return []
      },
    }
  }`

const packages: Readonly<Record<string, string>> = {
  ioredis: calling, iovalkey: calling, redis: sending, pg: pool, postgres: sql,
}

declare global {
  var said: string[]
}

const rows: readonly (readonly [installed: readonly string[], named: string, said: string])[] = [
  [['redis', 'ioredis'], 'redis://a:1/2', 'new redis://a:1/2 end'],
  [['redis', 'iovalkey'], 'redis:rediss://a', 'new rediss://a end'],
  [['redis'], 'valkeys://a', 'new rediss://a end'],
  [['redis'], 'valkey:valkey://a', 'new redis://a end'],
  [['postgres', 'pg'], 'postgres://a/b', 'new postgres://a/b SELECT end'],
  [['postgres'], 'postgresql:postgres://a/b', 'new postgres://a/b SELECT end'],
]

test('the client beside the module is taken, and closed with the store', async (t) => {
  for (const [installed, named, said] of rows) {
    globalThis.said = []
    const folder = modules(t, Object.fromEntries(
      installed.map((name) => [`node_modules/${name}/index.js`, packages[name]!]),
    ))
    const store = await openStore(named, join(folder, 'agent.js'))
    assert.equal(store.isShared, true)
    await store.close?.()
    assert.equal(globalThis.said.join(' '), said, named)
  }
})

test('a server that does not answer is named without its password', async (t) => {
  globalThis.said = []
  for (const [name, text] of Object.entries(packages)) {
    const folder = modules(t, { [`node_modules/${name}/index.js`]: text })
    const [engine, scheme] = name.startsWith('p') ? ['PostgreSQL', 'postgres'] : ['Redis', 'redis']
    await assert.rejects(openStore(`${scheme}://me:secret@down:1`, join(folder, 'agent.js')),
      { message: `${engine} at down:1 does not answer: refused` })
  }
})

test('where no client is installed the sentence names those that would do', async (t) => {
  const module = join(modules(t, {}), 'agent.js')
  await assert.rejects(openStore('redis://a', module), {
    message: `--store needs a client of Redis beside ${module}: npm install ioredis (or iovalkey, redis)`,
  })
  await assert.rejects(
    openStore('postgres://a', module), /beside .*agent\.js: npm install pg \(or postgres\)$/,
  )
  await assert.rejects(openStore('postgres://a', undefined), /PostgreSQL here: npm install pg/)
})

test('what names no store is a wrong command line, and is not repeated whole', async () => {
  for (const named of ['', 'file', 'sqlite:', 'redis:', 'mysql://me:secret@a']) {
    await assert.rejects(openStore(named, undefined), (error) => error instanceof UsageError
      && /names no store; write sqlite:FILE, redis:URL or postgres:URL$/.test(error.message)
      && !error.message.includes('secret'))
  }
  for (const named of ['redis:localhost', 'postgres:a/b']) {
    await assert.rejects(openStore(named, undefined), (error) => error instanceof UsageError
      && error.message.startsWith('--store needs an address, as in redis://127.0.0.1:6379'))
  }
})
