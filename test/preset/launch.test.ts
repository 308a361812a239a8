import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, launch, memoryStore } from '../../lib/index.ts'
import { launchServer } from '../../lib/preset/launch.ts'
import { echo, eventually, jsonOf } from '../fixtures/client.ts'
import { listed } from '../fixtures/fleet.ts'
import type { IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import type { Launched, LaunchOptions, Subject } from '../../lib/index.ts'

const quiet = { port: 0, quiet: true, signals: false, log: false, graceMs: 0 } as const

async function start(t: TestContext, subject: Subject, options: LaunchOptions = {}): Promise<Launched> {
  const launched = await launch(subject, { ...quiet, ...options })
  t.after(() => launched.close())
  return launched
}

async function ask(url: string): Promise<Record<string, unknown>> {
  return jsonOf(await fetch(url, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"hi"}',
  }))
}

const writer = { name: 'Writer', run: (prompt: string) => `Writer heard ${prompt}` }

const subjects: readonly (readonly [what: string, subject: Subject, response: string, name: string])[] = [
  ['a function', (prompt: string) => `You said ${prompt}`, 'You said hi', 'Assistant'],
  ['an agent', echo, 'You said hi', 'Echo'],
  ['a list of one', [echo], 'You said hi', 'Echo'],
  ['a list of agents', [echo, writer], 'Writer heard You said hi', 'triport'],
  ['a group', { name: 'Desk', agents: [writer, echo] }, 'You said Writer heard hi', 'Desk'],
  ['agents by kind', { agents: [echo, writer] }, 'You said hi', 'Echo'],
]

test('whatever can be served is launched with one call', async (t) => {
  for (const [what, subject, response, name] of subjects) {
    const { url, server, port } = await start(t, subject)
    assert.equal(url, `http://127.0.0.1:${port}`)
    assert.equal(server.name, name, what)
    assert.equal((await ask(url))['response'], response, what)
  }
})

test('two things are no thing and its options', async () => {
  await assert.rejects(launch(echo, writer as never), /launch takes several things as a list/)
})

test('a list of agents is a group named like the server', async (t) => {
  const { url, server } = await start(t, [echo, writer], { name: 'The House' })
  assert.equal(server.name, 'The House')
  const { agent, results, final_response: last, response } = await ask(url)
  assert.equal(agent, 'The House')
  assert.deepEqual(results, [
    { agent: 'Echo', response: 'You said hi' }, { agent: 'Writer', response: 'Writer heard You said hi' },
  ])
  assert.equal(last, response)
  assert.equal((await ask(`${url}/agents/the-house`))['agent'], 'The House')
})

const mistakes: readonly (readonly [subject: unknown, sentence: RegExp])[] = [
  [undefined, /Cannot serve undefined: write a function \(prompt\) => answer, or use defineAgent/],
  [7, /Cannot serve 7/],
  ['hello', /Cannot serve "hello"/],
  [[], /There is nothing to serve/],
  [[echo, 7], /Cannot serve 7/],
  [{ name: 'Nothing' }, /Cannot serve an object/],
]

test('what cannot be served is reported in a sentence', async () => {
  for (const [subject, sentence] of mistakes) {
    await assert.rejects(launch(subject as Subject, quiet), sentence)
  }
})

test('what cannot be begun leaves nothing alive in a store that others share', async (t) => {
  const memory = memoryStore({ isShared: true })
  const shared = { store: memory, leaseMs: 60, secret: 'the secret of all servers' }
  const { port } = await start(t, echo)
  await assert.rejects(launch(echo, { ...quiet, ...shared, port }), /in use/)
  assert.throws(() => createServer({
    ...shared, agents: [echo], log: false, mountPath: 'no slash',
  }), /mountPath/)
  await eventually(() => listed(memory, 'leases', '~').length === 0)
  let writes = 0
  const { write } = memory
  memory.write = (...all) => {
    writes += 1
    return write(...all)
  }
  // Of what lives there would be one each 15 ms.
  await sleep(50)
  assert.equal(writes, 0)
})

const auth = {
  resource: 'https://a.example/mcp', authorizationServers: ['https://l.example'],
  verify: (token: string) => token === 'the token' ? { subject: 'ann' } : undefined,
}
const announced: readonly (readonly [options: LaunchOptions, said: RegExp])[] = [
  [{}, /^Echo 1\.0\.0 at (http:\S+)  \(docs: \1\/docs\)\n  HTTP  /],
  [{ apiKey: 'the key' }, /A key is asked for: the lines below take it from TRIPORT_API_KEY\.\n/],
  [{ auth }, /A key is asked for: the lines below take it from TRIPORT_TOKEN\.\n/],
  [{ host: '0.0.0.0', insecure: true, allowedHosts: ['a.example'] },
    /\(docs: http:\/\/a\.example:\d+\/docs\)/],
  [{ host: '0.0.0.0', insecure: true, publicUrl: 'https://a.example/x', mountPath: '/m' },
    /\/m  \(docs: https:\/\/a\.example\/x\/m\/docs\)/],
  // The address itself is allowed, so no name is needed.
  [{ allowedHosts: ['a.example'] }, /at (http:\S+)  \(docs: \1\/docs\)/],
  [{ host: '127.0.0.1', allowedHosts: ['a.example', '*'] }, /at (http:\S+)  \(docs: \1\/docs\)/],
  [{ host: '0.0.0.0', insecure: true, allowedHosts: ['a.example', '127.0.0.1'] },
    /at (http:\S+)  \(docs: \1\/docs\)/],
  // A key that was made is nobody's secret yet.
  [{ host: '0.0.0.0' }, /asks for a key: (\S+)\n[^]*curl \S+ -H 'X-API-Key: \1'/],
]
const variables: Readonly<Record<string, string>> = {
  $TRIPORT_API_KEY: 'the key', $TRIPORT_TOKEN: 'the token',
}

/** Sends what a line with curl would send; returns the status. */
async function obey(line: string): Promise<number | undefined> {
  const [, url = ''] = /curl (\S+)/.exec(line) ?? []
  const [, body] = /-d '(.*)'/.exec(line) ?? []
  const named = [...line.matchAll(/-H (['"])(\S+): (.*?)\1/g)].map(([, , name = '', value = '']) => (
    [name, value.replace(/\$\w+/, (variable) => variables[variable] ?? '')] as const
  ))
  const asked = httpRequest(url, {
    method: body === undefined ? 'GET' : 'POST', headers: Object.fromEntries(named), agent: false,
  }).end(body)
  const [response] = await once(asked, 'response') as [IncomingMessage]
  response.resume()
  return response.statusCode
}

/** What a launch prints. */
function printed(t: TestContext, subject: Subject, options: LaunchOptions): Promise<string> {
  return printing(() => start(t, subject, { protocol: 'all', quiet: false, ...options }))
}

async function printing(act: () => Promise<unknown>): Promise<string> {
  const { write } = process.stderr
  let text = ''
  process.stderr.write = (chunk: string | Uint8Array): boolean => { text += String(chunk); return true }
  try {
    await act()
  } finally {
    process.stderr.write = write
  }
  return text
}

test('each line that a launch prints can be obeyed as it is', async (t) => {
  for (const [options, said] of announced) {
    const text = await printed(t, echo, options)
    assert.match(text, said)
    assert.doesNotMatch(text, /the key|the token/)
    const lines = text.split('\n').filter((line) => line.includes('curl '))
    assert.equal(lines.length, 3)
    for (const line of lines) assert.equal(await obey(line), 200, line)
  }
  const resources = [{ uri: 'file:///a', name: 'a', read: () => 'A' }]
  assert.match(await printed(t, { resources }, {}), /A2A   not served: it needs an agent or a tool; use HTTP/)
})

test('the first things that are served are named where there is no agent', async (t) => {
  const resources = [{ uri: 'file:///a', name: 'a', read: () => 'A' }]
  const prompts = [{ name: 'greet', get: () => 'Hello' }]
  const tools = [{ name: 'add', description: 'Adds.', run: () => 3 }]
  const offers = [
    ['tools', { tools, prompts, resources }], ['prompts', { prompts, resources }],
    ['resources', { resources }],
  ] as const
  for (const [path, offer] of offers) {
    const text = await printed(t, offer, {})
    assert.match(text, new RegExp(`  HTTP  http://\\S+:\\d+/${path}\n +curl http://\\S+/${path}\n`))
  }
})

test('a quiet launch prints nothing, and one of a finished server its address', async (t) => {
  assert.equal(await printed(t, echo, { quiet: true }), '')
  const finished = async (isQuiet: boolean): Promise<string> => printing(async () => {
    const server = createServer({ agents: [echo], log: false, graceMs: 0 })
    const { close } = await launchServer(server, { port: 0, quiet: isQuiet, signals: false })
    await close()
  })
  assert.equal(await finished(true), '')
  assert.match(await finished(false), /^Echo 1\.0\.0 at (http:\S+)  \(docs: \1\/docs\)\n$/)
})

test('closing gives the signals back', async () => {
  const count = (): number => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM')
  const before = count()
  const launched = await launch(echo, { ...quiet, signals: true })
  assert.equal(count(), before + 2)
  await launched.close()
  assert.equal(count(), before)
  const silent = await launch(echo, quiet)
  assert.equal(count(), before)
  await silent.close()
})

/** What a process launches, and what it prints with its exit code. Without a signal it would live on. */
const endings: readonly (readonly [what: string, code: string, stdout: string, stderr: RegExp])[] = [
  ['two servers, one with a call to end', `
    const [idle, busy] = [await launch((prompt) => prompt, options), await launch(async (prompt) => {
      setTimeout(() => process.kill(process.pid, 'SIGTERM'))
      await new Promise((resolve) => process.once('SIGTERM', () => setTimeout(resolve, 50)))
      return prompt + ' in time'
    }, options)]
    console.log((await (await ask(busy.url)).json()).response)`, 'hi in time\n0\n', /waiting for 1 call;/],
  ['calls that never end, and a second signal', `
    const { url } = await launch(() => {
      begun += 1
      if (begun === 2) process.kill(process.pid, 'SIGINT')
      return new Promise(() => {})
    }, options)
    let begun = 0
    process.once('SIGINT', () => setTimeout(() => process.kill(process.pid, 'SIGINT'), 50))
    for (const _ of [1, 2]) ask(url).catch(() => {})`, '130\n', /waiting for 2 calls; a second signal stops/],
  ['a second signal of the other kind', `
    await launch(() => '', { ...options, store: { ...memoryStore(), close: () => never } })
    process.once('SIGTERM', () => process.kill(process.pid, 'SIGTERM'))
    process.kill(process.pid, 'SIGTERM')`, '143\n', /^$/],
  ['a server that cannot close', `
    const close = () => Promise.reject(new Error('no ink'))
    await launch(() => '', { ...options, store: { ...memoryStore(), close } })
    await launch(() => '', options)
    process.kill(process.pid, 'SIGTERM')`, '1\n', /^$/],
]

test('a signal ends the process when every server in it has closed, and a second one at once', () => {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const library = new URL(`../../lib/index.${extension}`, import.meta.url)
  for (const [what, work, said, warned] of endings) {
    const code = `import { launch, memoryStore } from ${JSON.stringify(library)}
      const options = { port: 0, quiet: true }
      const never = new Promise(() => {})
      setInterval(() => {}, 1_000)
      process.on('exit', (code) => console.log(code))
      const headers = { 'Content-Type': 'application/json' }
      const ask = (url) => fetch(url, { method: 'POST', headers, body: '{"query":"hi"}' })
      ${work}`
    const { stdout, stderr } = spawnSync(
      process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', timeout: 30_000 },
    )
    assert.equal(stdout, said, `${what}: ${stderr}`)
    assert.match(stderr, warned, what)
  }
})
