/**
 * The server inside Express, Connect, Fastify, Koa, h3, Hono and a plain server of Node: below a prefix,
 * behind body parsers, beside routes of the host's own. Skips itself, and says so, where they are not
 * installed.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createNode } from 'node:http'
import { test } from 'node:test'
import { missing } from './start.mjs'

const packages = [
  'express', 'express-4', 'connect', 'fastify', 'hono', '@hono/node-server', 'koa', 'koa-bodyparser',
  'koa-mount', 'h3', 'h3-1',
]
const skip = missing(...packages)
if (skip) console.log(`mounting: skipped: ${skip}`)

const load = (path) => (skip ? {} : import(path))
const [
  { default: express }, { default: express4 }, { default: connect }, { default: fastify }, { Hono }, honoNode,
  { default: Koa }, { default: koaParser }, { default: koaMount }, h3, h31,
] = await Promise.all(packages.map(load))
const h3Node = await load('h3/node')
const { createServer } = await load('../../dist/index.js')

/** Signals of the runs of the agent, the newest last. */
const signals = []

const agent = {
  name: 'Echo',
  async *run(prompt, call) {
    signals.push(call.signal)
    yield `You said ${prompt}`
    if (prompt === 'stay') await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
  },
}

const make = (options = {}) => createServer({
  agents: [agent], protocol: 'all', log: false, maxBodyBytes: 50_000, graceMs: 0, ...options,
})

/** A host that listens. Most are listeners of node:http; Fastify and h3 have their own. */
async function listening(server) {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

/** An app with a route of its own, and the server below `/tools/agents`. */
const hosts = [
  ['Express', () => {
    const app = express()
    app.get('/own', (_request, response) => response.send('own'))
    app.use('/tools/agents', make().handler)
    return listening(createNode(app))
  }],
  ['Express with body parsers', () => {
    // Express prints what its own parsers refuse, but for this environment.
    const app = express().set('env', 'test')
    app.use(express.json(), express.urlencoded({ extended: true }))
    app.get('/own', (_request, response) => response.send('own'))
    app.use('/tools/agents', make().handler)
    return listening(createNode(app))
  }],
  ['Express with a body parser for text, and a mount path', () => {
    const app = express()
    app.use(express.text({ type: '*/*' }))
    app.use(make({ mountPath: '/tools/agents' }).handler)
    app.get('/own', (_request, response) => response.send('own'))
    return listening(createNode(app))
  }],
  ['Express with a router in a router, and a mount path below it', () => {
    const app = express()
    const router = express.Router()
    router.use(express.raw({ type: 'application/json' }), make({ mountPath: '/agents' }).handler)
    app.use('/tools', router)
    app.get('/own', (_request, response) => response.send('own'))
    return listening(createNode(app))
  }],
  ['Express 4', () => {
    const app = express4()
    app.get('/own', (_request, response) => response.send('own'))
    app.use('/tools/agents', make().handler)
    return listening(createNode(app))
  }],
  ['Express 4 with body parsers', () => {
    const app = express4().set('env', 'test')
    app.use(express4.json(), express4.urlencoded({ extended: true }))
    app.get('/own', (_request, response) => response.send('own'))
    app.use('/tools/agents', make().handler)
    return listening(createNode(app))
  }],
  ['Koa', () => {
    const app = new Koa()
    const { handler } = make({ mountPath: '/tools/agents' })
    app.use((context, next) => {
      if (!/^\/tools\/agents(?:\/|$)/.test(context.path)) return next()
      context.respond = false
      handler(context.req, context.res)
    })
    app.use((context) => { if (context.path === '/own') context.body = 'own' })
    return listening(createNode(app.callback()))
  }],
  ['Koa with a body parser', () => {
    const app = new Koa().on('error', () => {})
    const { handler } = make({ mountPath: '/tools/agents' })
    app.use(koaParser())
    app.use((context, next) => {
      if (!/^\/tools\/agents(?:\/|$)/.test(context.path)) return next()
      context.respond = false
      context.req.body = context.request.body
      handler(context.req, context.res)
    })
    app.use((context) => { if (context.path === '/own') context.body = 'own' })
    return listening(createNode(app.callback()))
  }],
  ['Koa by koa-mount', () => {
    const app = new Koa()
    const { handler } = make()
    app.use(koaMount('/tools/agents', (context) => {
      context.respond = false
      context.req.originalUrl = context.originalUrl
      handler(context.req, context.res)
    }))
    app.use((context) => { if (context.path === '/own') context.body = 'own' })
    return listening(createNode(app.callback()))
  }],
  ['h3', () => {
    const app = new h3.H3()
    const server = make({ mountPath: '/tools/agents' })
    app.get('/own', () => 'own')
    app.all('/tools/agents', (event) => server.fetch(event.req))
    app.all('/tools/agents/**', (event) => server.fetch(event.req))
    return listening(createNode(h3Node.toNodeHandler(app)))
  }],
  ['h3, version 1', () => {
    const app = h31.createApp()
    const { handler } = make()
    app.use('/own', h31.defineEventHandler(() => 'own'))
    app.use('/tools/agents', h31.fromNodeMiddleware(handler))
    return listening(createNode(h31.toNodeListener(app)))
  }],
  ['h3, version 1, that reads bodies', () => {
    const app = h31.createApp()
    const { handler } = make()
    app.use('/own', h31.defineEventHandler(() => 'own'))
    app.use('/tools/agents', h31.defineEventHandler(async (event) => {
      if (event.method === 'POST') event.node.req.body = await h31.readRawBody(event)
    }))
    app.use('/tools/agents', h31.fromNodeMiddleware(handler))
    return listening(createNode(h31.toNodeListener(app)))
  }],
  ['a server of Node that reads bodies', () => {
    const { handler } = make({ mountPath: '/tools/agents' })
    return listening(createNode(async (request, response) => {
      if (request.url === '/own') return response.end('own')
      if (!request.url.startsWith('/tools/agents')) return response.writeHead(404).end()
      const chunks = []
      if (request.method === 'POST') for await (const chunk of request) chunks.push(chunk)
      request.body = Buffer.concat(chunks)
      handler(request, response)
    }))
  }],
  ['Connect', () => {
    const app = connect()
    app.use('/own', (_request, response) => response.end('own'))
    app.use('/tools/agents', make().handler)
    return listening(createNode(app))
  }],
  ['Connect with a mount path', () => {
    const app = connect()
    app.use(make({ mountPath: '/tools/agents' }).handler)
    app.use('/own', (_request, response) => response.end('own'))
    return listening(createNode(app))
  }],
  ['Fastify that reads JSON itself', async () => {
    const app = fastify()
    const { handler } = make({ mountPath: '/tools/agents' })
    const route = (request, reply) => {
      reply.hijack()
      request.raw.body = request.body
      handler(request.raw, reply.raw)
    }
    app.get('/own', () => 'own')
    app.all('/tools/agents', route)
    app.all('/tools/agents/*', route)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server
  }],
  ['Fastify that leaves bodies alone', async () => {
    const app = fastify()
    const { handler } = make({ mountPath: '/tools/agents' })
    app.get('/own', () => 'own')
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      const route = (request, reply) => { reply.hijack(); handler(request.raw, reply.raw) }
      scope.all('/tools/agents', route)
      scope.all('/tools/agents/*', route)
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server
  }],
  ['Hono', () => {
    const app = new Hono()
    const server = make({ mountPath: '/tools/agents' })
    app.get('/own', (c) => c.text('own'))
    app.all('/tools/agents', (c) => server.fetch(c.req.raw))
    app.all('/tools/agents/*', (c) => server.fetch(c.req.raw))
    return listening(honoNode.createAdaptorServer({ fetch: app.fetch }))
  }],
]

const json = { 'content-type': 'application/json' }

async function eventually(isSo, what) {
  for (const end = performance.now() + 10_000; !isSo();) {
    assert.ok(performance.now() < end, what)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

for (const [name, host] of hosts) {
  test(`in ${name}, everything is where it should be, and is named so`, { skip }, async (t) => {
    const printed = []
    for (const way of ['log', 'info', 'warn', 'error']) {
      t.mock.method(console, way, (...args) => { printed.push(args) })
    }
    const server = await host()
    t.after(() => { server.closeAllConnections(); server.close() })
    const origin = `http://127.0.0.1:${server.address().port}`
    const at = `${origin}/tools/agents`
    const get = async (path) => (await fetch(at + path)).json()
    const post = (body, more = {}) => fetch(at, {
      method: 'POST', headers: json, body: typeof body === 'string' ? body : JSON.stringify(body), ...more,
    })

    assert.equal(await (await fetch(`${origin}/own`)).text(), 'own')
    assert.equal((await fetch(`${origin}/elsewhere`)).status, 404)
    assert.equal((await get('/health')).endpoints[0], '/tools/agents/')
    assert.equal((await get('')).docs, '/tools/agents/docs')
    assert.deepEqual((await get('/openapi.json')).servers, [{ url: at }])
    assert.equal((await get('/.well-known/agent-card.json')).url, `${at}/a2a`)
    assert.equal((await (await post({ query: 'hello' })).json()).response, 'You said hello')
    const streamed = await (await post({ query: 'hello', stream: true })).text()
    assert.match(streamed, /event: done\ndata: \{"response":"You said hello"/)
    assert.equal((await post('{')).status, 400)
    assert.equal((await post({ query: 'x'.repeat(60_000) })).status, 413)

    const events = await fetch(`${at}/sse`, { headers: { accept: 'text/event-stream' } })
    const reader = events.body.getReader()
    const { value } = await reader.read()
    assert.ok(Buffer.from(value).toString().includes('data: /tools/agents/messages/?session_id='))
    await reader.cancel()

    for (const stream of [true, false]) {
      const leaving = new AbortController()
      const before = signals.length
      const answer = post({ query: 'stay', stream }, { signal: leaving.signal })
      answer.catch(() => {})
      await eventually(() => signals.length > before, 'it runs')
      if (stream) await answer
      leaving.abort()
      await eventually(() => signals.at(-1).aborted, 'a client that leaves ends its run')
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.equal((await get('/health')).status, 'ok')
    assert.deepEqual(printed, [])
  })
}

test('mounted by Hono it answers below the prefix', { skip }, async (t) => {
  const app = new Hono()
  app.mount('/tools/agents', make().fetch)
  const server = await listening(honoNode.createAdaptorServer({ fetch: app.fetch }))
  t.after(() => { server.closeAllConnections(); server.close() })
  const at = `http://127.0.0.1:${server.address().port}/tools/agents`
  assert.equal((await (await fetch(`${at}/health`)).json()).status, 'ok')
  const answer = await fetch(at, { method: 'POST', headers: json, body: '{"query":"hello"}' })
  assert.equal((await answer.json()).response, 'You said hello')
})
