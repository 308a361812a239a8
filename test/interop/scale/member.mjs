/**
 * One process of a deployment, on the store that it is told; or the primary of a cluster, which begins such
 * processes when it is told to. No test itself.
 */
import cluster from 'node:cluster'
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  createServer, defineAgent, defineResource, defineTool, hostStore, memoryStore, sqliteStore, workerStore,
} from '../../../dist/index.js'
import { postgresClients, redisClients } from './servers.mjs'

process.removeAllListeners('warning')
const [kind, url, given] = process.argv.slice(2)
const { effects, port = 0, recover, ...settings } = JSON.parse(process.env.MEMBER ?? given ?? '{}')

const inputSchema = { type: 'object', properties: { a: { type: 'number' } } }
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const work = {
  type: 'object', properties: { name: { type: 'string' }, ms: { type: 'number' } }, required: ['name', 'ms'],
}

/** Bytes of the heap that something needs. */
function held() {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  for (let turn = 0; turn < 4; turn++) collect()
  return process.memoryUsage().heapUsed
}

/** Takes its time, and leaves a line behind outside of every store. */
async function labour({ name, ms }, call) {
  await sleep(ms / 2, undefined, { signal: call.signal })
  if (effects !== undefined) appendFileSync(effects, `${name}\n`)
  await sleep(ms / 2, undefined, { signal: call.signal })
  return `done ${name}`
}

/** Asks, before it does anything. */
async function greet(_args, call) {
  const { content } = await call.elicit({ message: 'Name?', schema: form })
  return `Hello ${content?.name}`
}

let cancelled = 0
const tools = [
  defineTool({ name: 'double', description: 'Doubles.', inputSchema, run: ({ a }) => String(2 * a) }),
  defineTool({ name: 'heap', description: 'Tells what is held.', run: () => String(held()) }),
  defineTool({ name: 'greet', description: 'Asks.', inputSchema, run: greet }),
  defineTool({
    name: 'count', description: 'Counts.', inputSchema,
    async run(_args, call) {
      for (let done = 1; done <= 3; done++) {
        await sleep(5)
        call.progress(done, 3)
      }
      return 'counted'
    },
  }),
  defineTool({
    name: 'job', description: 'Works, as a task.', inputSchema: work, task: 'required', recover, run: labour,
  }),
  defineTool({
    name: 'ask', description: 'Asks, as a task.', inputSchema, task: 'required',
    async run(args, call) {
      call.detach()
      await sleep(50)
      return greet(args, call)
    },
  }),
  defineTool({
    name: 'wait', description: 'Waits for its end.',
    run(_args, call) {
      call.progress(0, 1)
      return new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => {
        cancelled += 1
        reject(call.signal.reason)
      }))
    },
  }),
  defineTool({
    name: 'tell', description: 'Tells what it does.',
    run(_args, call) {
      call.log('debug', 'in detail')
      call.log('error', 'in short')
      return 'told'
    },
  }),
  defineTool({ name: 'cancelled', description: 'Counts ends.', run: () => String(cancelled) }),
  defineTool({
    name: 'touch', description: 'Changes what can be watched.',
    run() {
      server.catalog.updated('note://1')
      return 'touched'
    },
  }),
]

const agent = defineAgent({
  name: 'Worker',
  description: 'Works, asks, or says what it is told.',
  recover,
  run(prompt, call) {
    const [what, name, ms] = prompt.split(' ')
    if (what === 'history') return String(call.history.length)
    if (what === 'work') return labour({ name, ms: Number(ms) }, call)
    return what === 'greet' ? greet({}, call) : `You said ${prompt}`
  },
})

const read = () => 'noted'
const resource = defineResource({ uri: 'note://1', name: 'Note', description: 'A note.', read })

const opened = {
  sqlite: () => sqliteStore(url),
  worker: () => workerStore(),
  memory: () => memoryStore(),
}

let server
async function serve() {
  const store = opened[kind]?.() ?? (await { ...redisClients, ...postgresClients }[kind](url)).store
  server = createServer({
    name: 'Fleet', protocol: 'all', store, secret: 'the secret of the whole fleet', leaseMs: 3_000,
    log: process.env.FLEET_LOG === undefined ? false : undefined, graceMs: 5_000,
    tools, agents: [agent], resources: [resource],
    a2a: { pushNotifications: { allowPrivate: true, allowInsecure: true } }, ...settings,
  })
  const address = await server.listen(port)
  process.send({ port: address.port, pid: process.pid })
  process.on('SIGTERM', () => server.close().then(() => process.exit(0)))
}

/** Begins a worker for each port that it is told, and says when it listens. */
function lead() {
  hostStore(memoryStore({ isShared: true, maxEntries: 1_000_000, maxBytes: 2 ** 30 }))
  // Else Node forgets the connection that it was giving to a worker at the moment of its death.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ args: ['worker'] })
  process.on('message', ({ port: next }) => {
    const MEMBER = JSON.stringify({ ...JSON.parse(given ?? '{}'), port: next })
    cluster.fork({ MEMBER }).on('message', (message) => {
      if (message.port !== undefined) process.send(message)
    })
  })
  process.on('disconnect', () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGKILL')
    process.exit(0)
  })
  process.send('ready')
}

if (kind === 'primary') lead()
else if (kind !== undefined) await serve()
