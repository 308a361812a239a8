import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { eventually } from '../fixtures/client.ts'
import { ask, run, serve } from '../fixtures/command.ts'
import { modules } from '../fixtures/modules.ts'
import type { IncomingHttpHeaders } from 'node:http'

/** A way to each worker in turn: every request has a connection of its own. */
const agent = new Agent({ keepAlive: false })

interface Reply { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string }

function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent, method: 'POST',
      headers: {
        'content-type': 'application/json', 'accept': 'application/json, text/event-stream', ...headers,
      },
    }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => { text += String(chunk) })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
      answer.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

/** The process that has answered, as it says itself. */
async function whoAnswers(url: string): Promise<number> {
  return Number(JSON.parse((await post(`${url}/tools/who`, {})).text).result)
}

/** Asks until so many have answered. */
async function pidsOf(url: string, count: number): Promise<ReadonlySet<number>> {
  const pids = new Set<number>()
  // A worker that has just ended may still get a connection.
  const look = (): Promise<boolean> => whoAnswers(url).then((pid) => pids.add(pid).size >= count, () => false)
  await eventually(look, `${count} workers`)
  return pids
}

const WHO = `
  export const tools = [
    { name: 'who', inputSchema: { type: 'object' }, run: () => String(process.pid) },
    { name: 'die', description: 'Ends.', inputSchema: { type: 'object' }, run: () => process.exit(7) },
    {
      name: 'wait', description: 'Waits.', inputSchema: { type: 'object' },
      run() {
        console.error('called ' + process.pid)
        process.once('SIGINT', () => console.error('interrupted'))
        return new Promise((resolve) => process.once('SIGTERM', () => setTimeout(resolve, 400, 'late')))
      },
    },
    {
      name: 'stick', description: 'Never ends.', inputSchema: { type: 'object' },
      run: () => { console.error('stuck ' + process.pid); for (;;) {} },
    },
  ]
  export default (prompt, call) => call.history.length + ' before'`

/** Lines that a start prints. */
function count(said: string, pattern: RegExp): number {
  return [...said.matchAll(pattern)].length
}

test('workers serve one port, report their start once, and end together when all calls ended', async (t) => {
  const folder = modules(t, { 'who.mjs': WHO })
  const { url, child, ended, said, until } = await serve(
    t, [join(folder, 'who.mjs'), '--workers', '2', '--protocol', 'all'],
  )
  const pids = await pidsOf(url, 2)
  assert.equal(pids.has(child.pid!), false)
  const waiting = [1, 2].map(() => post(`${url}/tools/wait`, {}))
  await eventually(() => count(said(), /called/g) === 2, 'both calls')
  child.kill('SIGTERM')
  await until(/^triport: waiting for 2 calls; a second signal stops at once$/m)
  for (const { text } of await Promise.all(waiting)) assert.match(text, /"result":"late"/)
  assert.equal(await ended, 0)
  await assert.rejects(whoAnswers(url))
  assert.equal(count(said(), /\(docs: /g), 1)
  assert.equal(count(said(), /The tool 'who' has no description/g), 1)
  assert.equal(count(said(), /waiting for/g), 1)
})

test('the number of running calls is reported also where a terminal signals workers first', async (t) => {
  const folder = modules(t, { 'who.mjs': WHO })
  const { url, child, ended, until } = await serve(
    t, [join(folder, 'who.mjs'), '--workers', '1', '--protocol', 'http'],
  )
  const waiting = post(`${url}/tools/wait`, {})
  const [, pid] = await until(/called (\d+)/)
  child.kill('SIGSTOP')
  process.kill(Number(pid), 'SIGINT')
  await until(/interrupted/)
  child.kill('SIGINT')
  child.kill('SIGCONT')
  await until(/^triport: waiting for 1 call; a second signal stops at once$/m)
  assert.match((await waiting).text, /"result":"late"/)
  assert.equal(await ended, 0)
})

test('a worker that only begins to listen when all end is followed by no other, and ends too', async (t) => {
  // It gets the signal while it loads, and continues.
  const folder = modules(t, { 'late.mjs': `
    const held = setInterval(() => {}, 1_000)
    const signalled = new Promise((resolve) => process.once('SIGTERM', resolve))
    console.error('loads')
    await signalled
    clearInterval(held)
    export default () => 'fine'` })
  const { child, ended, said, until } = run(
    t, ['serve', join(folder, 'late.mjs'), '--workers', '2', '--port', '0'],
  )
  await until(/loads/)
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
  assert.equal(count(said(), /loads/g), 1)
})

test('a session and a conversation go on in every worker, and after each was killed', async (t) => {
  const folder = modules(t, { 'who.mjs': WHO })
  const { url, until } = await serve(t, [join(folder, 'who.mjs'), '--workers', '2', '--protocol', 'all'])
  const opened = await post(`${url}/mcp`, {
    jsonrpc: '2.0', id: 0, method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'me', version: '1' } },
  })
  const session = { 'mcp-session-id': String(opened.headers['mcp-session-id']) }
  const call = async (): Promise<number> => {
    const params = { name: 'who', arguments: {} }
    const { status, text } = await post(
      `${url}/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session,
    )
    assert.equal(status, 200, text)
    return Number(JSON.parse(text).result.content[0].text)
  }
  const before = new Set<number>()
  await eventually(async () => before.add(await call()).size === 2, 'both workers')
  let turns = 0
  const talk = async (): Promise<void> => {
    const { text } = await post(url, { query: 'hi', session_id: 'one-and-the-same' })
    assert.equal(JSON.parse(text).response, `${2 * turns++} before`)
  }
  for (let turn = 0; turn < 4; turn++) await talk()
  for (const pid of before) {
    process.kill(pid, 'SIGKILL')
    await until(new RegExp(`^triport: worker ${pid} ended with SIGKILL; starting another$`, 'm'))
    // A killed worker may still get a connection for a moment.
    await eventually(() => talk().then(() => true, () => false), 'the conversation')
  }
  const after = new Set<number>()
  await eventually(async () => after.add(await call()).size === 2, 'both new workers')
  for (const pid of before) assert.equal(after.has(pid), false)
})

test('a worker that ends by itself is replaced; at a signal its calls end first', async (t) => {
  const folder = modules(t, { 'who.mjs': WHO })
  const { url, until } = await serve(t, [join(folder, 'who.mjs'), '--workers', '1', '--protocol', 'http'])
  await post(`${url}/tools/die`, {}).catch(() => undefined)
  await until(/ended with code 7; starting another/)
  const [pid] = await pidsOf(url, 1)
  const waiting = post(`${url}/tools/wait`, {})
  await until(/called/)
  process.kill(Number(pid), 'SIGTERM')
  assert.match((await waiting).text, /"result":"late"/)
  await until(/ended with code 0; starting another/)
  const [next] = await pidsOf(url, 1)
  assert.notEqual(next, pid)
})

test('a module that cannot be loaded any more is not tried without end', async (t) => {
  const folder = modules(t, { 'who.mjs': WHO })
  const file = join(folder, 'who.mjs')
  const { url, ended, said } = await serve(t, [file, '--workers', '2', '--protocol', 'http'])
  const pids = await pidsOf(url, 2)
  writeFileSync(file, `throw new Error('on purpose')`)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  assert.equal(await ended, 1)
  assert.match(said(), /Cannot load .*who\.mjs: on purpose/)
})

test('a second signal does not wait for workers, not even for one that hangs', async (t) => {
  const folder = modules(t, { 'who.mjs': WHO })
  const { url, child, ended, until } = await serve(
    t, [join(folder, 'who.mjs'), '--workers', '1', '--protocol', 'http'],
  )
  const lost = post(`${url}/tools/stick`, {}).catch(() => undefined)
  await until(/stuck/)
  await eventually(() => !child.kill('SIGINT') || child.exitCode !== null, 'the end')
  // The streams are closed only when the last who has them is gone.
  assert.equal(await ended, 130)
  await lost
})

test('workers of a killed primary end', async (t) => {
  const folder = modules(t, { 'who.mjs': WHO })
  // As many as there are cores.
  const { url, child, ended } = await serve(t, [
    join(folder, 'who.mjs'), '--workers', 'auto', '--protocol', 'http',
  ])
  await pidsOf(url, availableParallelism())
  child.kill('SIGKILL')
  // The streams are closed only when the last who has them is gone.
  await ended
  await assert.rejects(whoAnswers(url))
})

test('where a key has to be made, all workers ask for the same', async (t) => {
  const folder = modules(t, {
    'who.mjs': WHO, 'own.mjs': `export default { host: '0.0.0.0', agents: [() => 'mine'] }`,
  })
  for (const [module, ...args] of [['who.mjs', '--host', '0.0.0.0'], ['own.mjs']] as const) {
    const { url, said } = await serve(t, [join(folder, module), '--workers', '2', ...args])
    const keys = [...said().matchAll(/asks for a key: (\S+)$/gm)].map(([, key]) => key!)
    assert.equal(keys.length, 1)
    for (let at = 0; at < 6; at++) {
      assert.equal((await post(url, { query: 'hi' })).status, 401)
      assert.equal((await post(url, { query: 'hi' }, { 'x-api-key': keys[0]! })).status, 200)
    }
  }
})

test('workers of a module that is watched start again when it changes, on their port', async (t) => {
  const skills = `export const skills = new URL('./skills/', import.meta.url)`
  const folder = modules(t, {
    'agent.mjs': `export default () => 'one'; ${skills}`,
    'skills/pay/SKILL.md': '---\nname: pay\ndescription: Pays.\n---\n',
  })
  const { url, child, ended, said } = await serve(t, [join(folder, 'agent.mjs'), '--workers', '2', '--watch'])
  const answers = (expected: string): Promise<unknown> => eventually(
    () => ask(url).then(({ response }) => response === expected, () => false), expected,
  )
  await answers('one')
  writeFileSync(join(folder, 'agent.mjs'), `export default () => 'two'; ${skills}`)
  await answers('two')
  writeFileSync(join(folder, 'skills/pay/more.md'), 'More')
  const more = async (): Promise<boolean> => (await fetch(`${url}/skills/pay/more.md`)).status === 200
  await eventually(() => more().catch(() => false), 'a file that is added to a skill')
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
  assert.equal(count(said(), /\(docs: /g), 1)
})

test('workers share the store that the command names', async (t) => {
  if (process.getBuiltinModule('node:sqlite') === undefined) return t.skip('this Node has no SQLite')
  const folder = modules(t, { 'who.mjs': WHO })
  const args = [join(folder, 'who.mjs'), '--workers', '2', '--store', `sqlite:${join(folder, 'state.db')}`]
  const env = { TRIPORT_SECRET: 'a secret of the workers' }
  for (const turns of [0, 3]) {
    const { url, child, ended } = await serve(t, args, env)
    for (let turn = turns; turn < turns + 3; turn++) {
      const { text } = await post(url, { query: 'hi', session_id: 'one-and-the-same' })
      assert.equal(JSON.parse(text).response, `${2 * turn} before`)
    }
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
  }
})

const mistakes: readonly (readonly [args: readonly string[], code: number, sentence: RegExp])[] = [
  [['fine.mjs', '--workers', '2', '--stdio'], 2, /^triport: --workers and --stdio: one client needs none/],
  [['fine.mjs', '--workers', '0'], 2, /^triport: --workers 0 is no number of processes; write one from 1 to/],
  [['fine.mjs', '--workers', '2', '--protocol', 'soap'], 2, /^triport: protocol is "soap"; [^\n]*\n$/],
  [['stuck.mjs', '--workers', '2'], 13, /^triport: .*stuck\.mjs never finishes loading: [^\n]*\n$/],
  [['throws.mjs', '--workers', '2'], 1,
    /^triport: Cannot load .*throws\.mjs: on purpose\n {4}at .*throws\.mjs:1:7\n$/],
]

test('what cannot be done is reported once, and by the exit code', async (t) => {
  const folder = modules(t, {
    'fine.mjs': 'export default () => 1', 'stuck.mjs': 'await new Promise(() => {})',
    'throws.mjs': `throw new Error('on purpose')`,
  })
  for (const [[module = '', ...args], code, sentence] of mistakes) {
    const failing = run(t, ['serve', join(folder, module), ...args])
    assert.equal(await failing.ended, code, args.join(' '))
    assert.match(failing.said(), sentence)
  }
})
