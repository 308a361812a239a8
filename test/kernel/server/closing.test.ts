/** In which order a server ends what it holds, and what it waits for when it begins. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { serveStdio } from '../../../lib/index.ts'
import { echo, eventually, gate, jsonOf, request, serve } from '../../fixtures/client.ts'
import { fleetOf, listed, sharedMemory } from '../../fixtures/fleet.ts'
import { begin, modern, withMeta } from '../../parts/mcp/client.ts'
import { EventStream } from '../../fixtures/events.ts'
import type { TestContext } from 'node:test'
import type { Call, Store } from '../../../lib/index.ts'

const SWEEP_MS = 50
const empty = { type: 'object' } as const

/** What is done again and again from now on in such a period; nothing does it by itself. */
function periods(t: TestContext, periodMs: number): (() => void)[] {
  const { setInterval: every } = globalThis
  const works: (() => void)[] = []
  t.mock.method(globalThis, 'setInterval', (work: () => void, ms: number) => {
    if (ms === periodMs) works.push(work)
    return every(ms === periodMs ? () => {} : work, ms)
  })
  return works
}

test('an idle session ends at once, and one with a call as soon as that has its answer', async (t) => {
  const held = gate<string>()
  const tools = [{ name: 'hold', description: 'Holds.', inputSchema: empty, run: () => held.promise }]
  const server = serve(t, { tools, protocol: 'mcp', graceMs: 30_000 })
  const [idle, busy] = [await begin(server), await begin(server)]
  const streams = await Promise.all([idle, busy].map(async ({ headers }) => {
    return new EventStream(await server.fetch(new Request('http://triport.test/mcp', {
      headers: { ...headers, accept: 'text/event-stream' },
    })))
  }))
  const called = busy.call('hold')
  await eventually(() => server.status().calls.running === 1)
  const sweeps = periods(t, SWEEP_MS)
  const closing = server.close()
  assert.deepEqual(await streams[0]!.rest(), [])
  await eventually(() => server.status().mcp?.sessions === 1)
  held.open('done')
  assert.equal((await called).content[0].text, 'done')
  for (const sweep of sweeps) sweep()
  assert.equal(server.status().mcp?.sessions, 0)
  assert.deepEqual(await streams[1]!.rest(), [])
  await closing
})

/** A store whose slow answers are noted as they are given, and its end. */
function slowStore(): {
  readonly store: Store; readonly done: readonly string[]; readonly keptMs: ReadonlyMap<string, number>
} {
  const done: string[] = []
  const keptMs = new Map<string, number>()
  const connection = sharedMemory().connect()
  const noted = async <T>(what: string, ms: number, work: () => T): Promise<Awaited<T>> => {
    await new Promise((resolve) => setTimeout(resolve, ms))
    const result = await work()
    done.push(what)
    return result
  }
  const nameOf = (collection: string): string => collection.split('/').at(-1)!
  return {
    done, keptMs,
    store: {
      ...connection,
      write: ({ collection, ...key }, value, keepMs, expected) => {
        const name = nameOf(collection)
        keptMs.set(name, keepMs)
        return noted(`write ${name}`, ['streams', 'tasks'].includes(name) ? 200 : 20,
          () => connection.write({ collection, ...key }, value, keepMs, expected))
      },
      remove: ({ collection, ...key }, expected) => (
        noted(`remove ${nameOf(collection)}`, 20, () => connection.remove({ collection, ...key }, expected))
      ),
      close: () => { done.push('close') },
    },
  }
}

const slowly = { leaseMs: 60_000, storeTimeoutMs: 5_000 }

test('a store is closed when all is written that others go on with', async (t) => {
  const { store, done } = slowStore()
  const held = gate<string>()
  const tools = [{
    name: 'hold', description: 'Holds.', inputSchema: empty,
    run(_args: object, call: Call) {
      call.progress(1)
      return held.promise
    },
  }]
  const server = serve(t, { tools, protocol: 'mcp', store, ...slowly })
  const session = await begin(server)
  const stream = await session.stream('hold', {}, { progressToken: 1 })
  await stream.next()
  await stream.cancel()
  held.open('done')
  await eventually(() => server.status().calls.running === 0)
  assert.ok(!done.includes('write streams'))
  await server.close()
  for (const one of ['write streams', 'remove leases', 'remove members']) assert.ok(done.includes(one), one)
  assert.equal(done.at(-1), 'close')
})

test('the end of a task is written before a store is closed, over sockets and over lines', async (t) => {
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const params = { name: 'job', arguments: {} }
  const jobOf = (run: () => Promise<string>) => (
    { name: 'job', description: 'Works.', inputSchema: empty, task: 'required', run } as const
  )
  const ways: readonly ((store: Store, run: () => Promise<string>) => Promise<() => Promise<void>>)[] = [
    async (store, run) => {
      const server = serve(t, { tools: [jobOf(run)], protocol: 'mcp', store, ...slowly })
      await (await modern(server, 'tools/call', params, { capabilities })).text()
      return () => server.close()
    },
    async (store, run) => {
      const [input, output] = [new PassThrough(), new PassThrough()]
      const over = serveStdio({ tools: [jobOf(run)] }, {
        input, output, log: false, secret: 'the secret of all servers', store, graceMs: 0, ...slowly,
      })
      const whole = withMeta(params, { capabilities })
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: whole })}\n`)
      await once(output, 'data')
      return () => {
        input.end()
        return over
      }
    },
  ]
  for (const [at, way] of ways.entries()) {
    const { store, done } = slowStore()
    const held = gate<string>()
    const close = await way(store, () => held.promise)
    const begun = done.filter((one) => one === 'write tasks').length
    held.open('done')
    await new Promise(setImmediate)
    await close()
    assert.ok(done.filter((one) => one === 'write tasks').length > begun, `${at}: ${done.join()}`)
    for (const one of ['remove runs', 'remove leases', 'remove members']) assert.ok(done.includes(one), one)
    assert.equal(done.at(-1), 'close', `${at}: ${done.join()}`)
  }
})

test('who follows a task that goes on elsewhere is let go by the end of its stream', async (t) => {
  const agents = [{ name: 'Slow', recover: 'rerun' as const, run: () => new Promise<string>(() => {}) }]
  const { servers: [one, two, three] } = await fleetOf(t, 3, { agents, protocol: 'a2a' })
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
  const own = new EventStream(await one!.fetch(request('/message:stream', { message })))
  const { task: { id } } = await own.next()
  const subscribed = await two!.fetch(request(`/tasks/${id}:subscribe`, undefined, {}, 'POST'))
  const followed = new EventStream(subscribed)
  assert.equal((await followed.next()).task.id, id)
  await two!.close()
  assert.deepEqual(await followed.rest(), [])
  await one!.close()
  assert.deepEqual(await own.rest(), [])
  const task = await jsonOf(await three!.fetch(request(`/tasks/${id}`)))
  assert.equal((task['status'] as { state: string }).state, 'TASK_STATE_WORKING')
})

test('who follows a task that waits for its client is let go by the end of the stream', async (t) => {
  const run = (): object => ({ text: 'Which?', state: 'input-required' })
  const server = serve(t, { agents: [{ name: 'Asks', run }], protocol: 'a2a' })
  const ask = (method: string, params: object): Promise<Response> => (
    server.fetch(request('/a2a', { jsonrpc: '2.0', id: 1, method, params }))
  )
  const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
  const { result } = await jsonOf(await ask('message/send', { message })) as { result: { id: string } }
  const followed = new EventStream(await ask('tasks/resubscribe', { id: result.id }))
  assert.equal((await followed.next()).result.status.state, 'input-required')
  await server.close()
  assert.deepEqual(await followed.rest(), [])
})

test('a server listens when others can reach it, and all the same where its store is away', async (t) => {
  const { store, done } = slowStore()
  await serve(t, { agents: [echo], store, leaseMs: 60_000 }).listen(0)
  assert.ok(done.includes('write leases'))
  const away = sharedMemory()
  const lost = away.connect()
  lost.isCut = true
  t.after(() => { lost.isCut = false })
  await serve(t, { agents: [echo], store: lost, leaseMs: 60_000, storeTimeoutMs: 50 }).listen(0)
  assert.deepEqual(listed(away.memory, 'leases', '~'), [])
})

test('a server that has closed looks no more how late its loop is', async (t) => {
  const server = serve(t, { agents: [echo], metrics: true })
  const { setInterval: every } = globalThis
  const timers: NodeJS.Timeout[] = []
  t.mock.method(globalThis, 'setInterval', (work: () => void, ms: number) => {
    timers.push(every(work, ms))
    return timers.at(-1)
  })
  await (await server.fetch(new Request('http://triport.test/metrics'))).text()
  const { mock: ended } = t.mock.method(globalThis, 'clearInterval')
  assert.equal(timers.length, 1)
  await server.close()
  assert.ok(ended.calls.some(({ arguments: [timer] }) => timer === timers[0]))
})

test('sessions of an editor are kept for a month, or as long as was said', async () => {
  for (const [options, ms] of [[{}, 30 * 86_400_000], [{ conversationIdleMs: 60_000 }, 60_000]] as const) {
    const { store, keptMs } = slowStore()
    const [input, output] = [new PassThrough(), new PassThrough()]
    const over = serveStdio(echo, {
      protocol: 'acp', input, output, log: false, secret: 'the secret of all servers', store, ...slowly,
      ...options,
    })
    const lines: string[] = []
    output.on('data', (chunk) => lines.push(...String(chunk).trim().split('\n')))
    const ask = async (id: number, method: string, params: object): Promise<Record<string, string>> => {
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      const answer = (): string | undefined => lines.find((line) => JSON.parse(line).id === id)
      await eventually(() => answer() !== undefined)
      return JSON.parse(answer()!).result
    }
    await ask(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} })
    const { sessionId } = await ask(2, 'session/new', { cwd: process.cwd(), mcpServers: [] })
    await ask(3, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'hi' }] })
    input.end()
    await over
    const kept = [...keptMs].filter(([name]) => !['deployments', 'members', 'leases'].includes(name))
    assert.ok(kept.length > 0)
    assert.deepEqual(new Set(kept.map(([, keepMs]) => keepMs)), new Set([ms]))
  }
})

test('only standard input takes the signals of a process, where nothing else is said', async () => {
  const count = (): number => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')
  const before = count()
  for (const [signals, more] of [[undefined, 0], [false, 0], [true, 2]] as const) {
    const input = new PassThrough()
    const over = serveStdio(echo, { input, output: new PassThrough(), log: false, signals })
    await new Promise(setImmediate)
    await eventually(() => count() === before + more)
    input.end()
    await over
    assert.equal(count(), before)
  }
})

test('standard output is for the protocol alone, named or not, and ends in order', async () => {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const library = new URL(`../../../lib/index.${extension}`, import.meta.url)
  for (const output of ['', 'output: process.stdout, ']) {
    const code = `import { memoryStore, serveStdio } from ${JSON.stringify(library)}
      process.on('exit', (code) => console.error('exit ' + code))
      setInterval(() => {}, 1_000)
      const run = async () => {
        process.stdout.end('noise of a module\\n')
        process.stdout.write('which does not know of its end')
        setTimeout(() => process.kill(process.pid, 'SIGTERM'))
        await new Promise((resolve) => process.once('SIGTERM', () => setTimeout(resolve, 50)))
        return 'in time'
      }
      const tools = [{ name: 'job', description: 'Works.', inputSchema: { type: 'object' }, run }]
      const close = () => console.error('closed')
      await serveStdio({ tools }, { ${output}log: false, store: { ...memoryStore(), close } })`
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { timeout: 30_000 })
    let [said, warned] = ['', '']
    child.stdout.on('data', (chunk) => { said += String(chunk) })
    child.stderr.on('data', (chunk) => { warned += String(chunk) })
    const asked = {
      jsonrpc: '2.0', id: 1, method: 'tools/call', params: withMeta({ name: 'job', arguments: {} }),
    }
    child.stdin.write(`${JSON.stringify(asked)}\n`)
    const [exitCode] = await once(child, 'close')
    assert.equal(exitCode, 0)
    assert.equal(JSON.parse(said).result.content[0].text, 'in time')
    assert.match(warned, /^noise of a module\n.*waiting for 1 call;.*\nclosed\nexit 0\n$/)
  }
})
