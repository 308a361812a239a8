import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import test from 'node:test'
import { a2a } from '../../lib/parts/a2a/part.ts'
import { mcp } from '../../lib/parts/mcp/part.ts'
import { createServer, defaults, launch, memoryStore, serveStdio } from '../../lib/index.ts'
import { serverOptions } from '../../lib/preset/options.ts'
import { ofSockets } from '../../lib/preset/stdio.ts'
import { echo } from '../fixtures/client.ts'
import type { OpenTelemetry, LaunchOptions, ServerOptions, Subject } from '../../lib/index.ts'

const tool = { name: 'now', description: 'Tells the time.', inputSchema: { type: 'object' }, run: () => 1 }
const auth = {
  resource: 'https://a.example/mcp', authorizationServers: ['https://b.example'], verify: () => null,
}

/** Rows for all three verbs: what is given besides something to serve, and the sentence behind its owner. */
const unknown: readonly (readonly [options: object, sentence: RegExp])[] = [
  [{ apikey: 'k' }, / has no option 'apikey'; did you mean 'apiKey'\?$/],
  [{ apikey: undefined }, / has no option 'apikey'; did you mean 'apiKey'\?$/],
  [{ api_key: 'k' }, / has no option 'api_key'; did you mean 'apiKey'\?$/],
  [{ maxBodyByte: 1 }, / has no option 'maxBodyByte'; did you mean 'maxBodyBytes'\?$/],
  [{ tooltimeoutms: 1 }, / has no option 'tooltimeoutms'; did you mean 'toolTimeoutMs'\?$/],
  [{ colour: 'red' }, / has no option 'colour'; it has [\w, ]*name, version.* and \d+ more$/],
]

test('an unknown option is refused by every function', async () => {
  for (const [options, sentence] of unknown) {
    const isFine = (verb: string) => (error: Error): boolean => {
      assert.match(error.message, sentence)
      return error instanceof TypeError && error.message.startsWith(`${verb} has`)
    }
    assert.throws(() => createServer({ agents: [echo], ...options }), isFine('createServer'))
    await assert.rejects(launch(echo, options), isFine('launch'))
    await assert.rejects(serveStdio(echo, options), isFine('serveStdio'))
  }
})

test('every option of a2a is known', () => {
  const sentence = /^a2a has no option 'provder'; did you mean 'provider'\?$/
  const options = { agents: [echo], a2a: { provder: {} } }
  assert.throws(() => createServer(options as ServerOptions), { name: 'TypeError', message: sentence })
})

const store = memoryStore({ maxEntries: 1, maxBytes: 1 })

/** An OpenTelemetry that does nothing. */
const noTelemetry: OpenTelemetry = {
  trace: {
    getTracer: () => ({
      startSpan: () => ({ setAttributes() {}, setStatus() {}, recordException() {}, end() {} }),
    }),
    getSpan: () => undefined, setSpan: (context) => context,
  },
  context: { active: () => ({}), with: (_context, run) => run() },
  propagation: { extract: (context) => context, inject() {} },
  metrics: { getMeter: () => ({ createHistogram: () => ({ record() {} }) }) },
}

test('every option and every limit is known', async () => {
  const all: Required<Omit<ServerOptions, keyof typeof defaults>> = {
    agents: [echo], groups: [], tools: [tool], resources: [], resourceTemplates: [], prompts: [],
    skills: [{ name: 'echo', description: 'Echoes.', instructions: 'Say it again.' }],
    name: 'Echo', version: '1.0.0', description: '', instructions: 'Ask.', protocol: 'all', auth,
    insecure: false,
    apiKey: [{ id: 'a', key: 'k', scopes: [] }], publicUrl: 'https://a.example', trustProxy: false,
    mountPath: '/m', path: '/ask', cors: '*', allowedHosts: ['a.example'],
    allowedOrigins: ['https://a.example'], log: false, onCall: () => {},
    around: (_called, next) => next(), openTelemetry: noTelemetry, exposeErrors: false,
    rateLimit: { perMinute: 600 }, accessLog: false, onRequest: () => {}, metrics: false,
    secret: 'x'.repeat(16), store, deployment: 'shop',
    a2a: {
      card: 'hybrid', provider: { organization: 'A', url: 'https://a.example' }, extensions: [],
      iconUrl: 'https://a.example/i', documentationUrl: 'https://a.example/d', extendedCard: {},
      tenants: ['acme'],
      signingKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, pushNotifications: false,
    },
    mcp: {
      sessions: 'none', pageSize: 1, icons: [{ src: 'https://a.example/i' }],
      cache: { ttlMs: 0, scope: 'public' },
    },
  }
  await createServer({ ...defaults, ...all }).close()
})

test('what has no effect over stdio are options', () => {
  assert.deepEqual(ofSockets.filter((name) => !serverOptions.includes(name)), [])
})

const bags: readonly (readonly [options: unknown, sentence: RegExp])[] = [
  [undefined,
    /^createServer takes an object, not undefined\. Write createServer\(\{ agents: \[agent\] \}\)$/],
  [null, /^createServer takes an object, not null\. Write createServer\(\{ agents: \[agent\] \}\)$/],
  [[echo], /^createServer takes an object, not an array\. Write/],
  [() => '',
    /^createServer takes an object, not a function\. Write createServer\(\{ agents: \[agent\] \}\)$/],
  [echo, /^createServer takes options, and this is one thing to serve\. Write createServer\(\{ agents:/],
]

test('what is no object with options says what to write', () => {
  for (const [options, message] of bags) {
    assert.throws(() => createServer(options as ServerOptions), { name: 'TypeError', message })
  }
})

/** What stands beside something to serve. */
const wrong: readonly (readonly [options: object, sentence: RegExp])[] = [
  [{ port: 8000 }, /^createServer has no option 'port'; write server\.listen\(port, host\)$/],
  [{ host: 'a' }, /^createServer has no option 'host'; write server\.listen\(port, host\)$/],
  [{ quiet: true }, /^createServer has no option 'quiet'; it is one of launch, which announces/],
  ...['parts', 'adapters', 'share', 'absent'].map((name) => [{ [name]: {} }, new RegExp(
    `no option '${name}'; it is one of the createServer of 'triport/kernel'; here protocol says what is `,
  )] as const),
  [{ sessions: 'none' }, /no option 'sessions'; it is an option of mcp; write mcp: \{ sessions: … \}$/],
  [{ card: '1.0' }, /no option 'card'; it is an option of a2a; write a2a: \{ card: … \}$/],
  [{ extensions: [] }, /it is an option of mcp and of a2a; write mcp: \{ extensions: … \} or a2a: \{ ext/],
  [{ mcp: mcp() }, /^mcp is a part; write its options, as in mcp: \{\}, or make the server with the cre/],
  [{ a2a: a2a() }, /^a2a is a part; write its options, as in a2a: \{\}, or make the server with the cre/],
  [{ openTelemetry: {} }, /^openTelemetry is an object; write api, of import \* as api from/],
  [{ a2a: true }, /^a2a is true; write an object, as in \{ card: '1\.0' \}$/],
  [{ instructions: 'Ask.', mcp: { instructions: 'Ask.' } },
    /^The instructions stand in the options and in mcp/],
  [{ a2a: { extendedCard: {} } }, /^a2a\.extendedCard is for callers .* write apiKey or auth too$/],
  [{ protocol: 'all', a2a: { tenants: ['health'] } }, /^a2a\.tenants has "health", and \/health is a path/],
  [{ protocol: 'a2a', a2a: { tenants: ['a', 'tasks'] } }, /^a2a\.tenants has "tasks", and \/tasks is a path/],
  [{ protocol: 'all', path: '/ask', a2a: { tenants: ['ask'] } },
    /^a2a\.tenants has "ask", and \/ask is a path/],
  [{ mcp: 'all' }, /^mcp is "all"; write an object/],
  [{ mcp: { session: 'none' } }, /^mcp has no option 'session'; did you mean 'sessions'\?$/],
  [{ mcp: { sessions: 'never' } }, /^mcp\.sessions is "never"; write 'optional', 'required' or/],
  [{ mcp: { pageSize: '10' } }, /^mcp\.pageSize is "10"; write a whole number above zero$/],
  [{ mcp: { icons: {} } }, /^mcp has icons without a src/],
  [{ mcp: { icons: [{ src: 'i.png' }] } }, /^mcp, in its icons, has src "i\.png"; write an address, as in/],
  [{ mcp: { cache: 60 } }, /^mcp\.cache is 60; write \{ ttlMs/],
  [{ mcp: { cache: { ttl: 60 } } }, /^mcp\.cache has no option 'ttl'; did you mean 'ttlMs'\?$/],
  [{ mcp: { cache: { ttlMs: '60' } } }, /^mcp\.cache\.ttlMs is "60"; write whole milliseconds$/],
  [{ mcp: { cache: { ttlMs: 0.5 } } }, /^mcp\.cache\.ttlMs is 0\.5; write whole milliseconds$/],
  [{ mcp: { cache: { ttlMs: Infinity } } }, /^mcp\.cache\.ttlMs is Infinity; write whole milliseconds$/],
  [{ mcp: { extensions: { search: {} } } }, /^mcp\.extensions is an object; write names with a pre/],
  [{ mcp: { extensions: { 'com.example/search': true } } }, /^mcp\.extensions is an object; write names/],
  [{ mcp: { extensions: { 'com.example/search': { max: 1n } } } },
    /^mcp\.extensions has settings that JSON cannot represent \(.*BigInt\); write plain values$/],
  [{ mcp: { websiteUrl: '/about' } }, /^mcp\.websiteUrl is "\/about"; write a whole address, as in 'https/],
  [{ mcp: { cache: { ttlMs: 1, scope: 'all' } } }, /^mcp\.cache\.scope is "all"; write 'public' or/],
  [{ protocol: 'HTTP' }, /^protocol is "HTTP"; write 'http'$/],
  [{ protocol: 'ALL' }, /^protocol is "ALL"; write 'all'$/],
  [{ protocol: null }, /^protocol is null; write 'http', 'mcp', 'a2a', 'all' or a list/],
  [{ path: 7 }, /^path is 7; write a path/],
]

test('an option of the wrong type is a sentence that says what to write instead', () => {
  for (const [options, sentence] of wrong) {
    assert.throws(() => createServer({ agents: [echo], ...options }), (error: Error) => {
      assert.match(error.message, sentence)
      return error instanceof TypeError || error instanceof RangeError
    })
  }
})

const misplaced: readonly (readonly [subject: unknown, options: unknown, sentence: RegExp])[] = [
  [echo, 9250, /^launch takes its options as an object, not 9250; write launch\(agent, \{ port: 9250 \}\)$/],
  [echo, 'mcp',
    /^launch takes its options as an object, not "mcp"; write launch\(agent, \{ protocol: 'mcp' \}\)$/],
  [echo, 'key',
    /^launch takes its options as an object, not "key"; write launch\(agent, \{ name: 'Helper' \}\)$/],
  [echo, null, /^launch takes its options as an object, not null; write launch/],
  [{ tools: [tool], port: 9250 }, {},
    /^'port' is an option; write it in the second argument, as in launch\(\{ tools \}, \{ port: 9250 \}\)$/],
  [{ tools: [tool], name: 'Mine' }, {},
    /^'name' is an option; write .*launch\(\{ tools \}, \{ name: … \}\)$/],
  [{ tools: [tool], apiKey: 'secret' }, {}, /^'apiKey' is an option; write .*\{ apiKey: … \}\)$/],
  [{ ...echo, protocol: 'all' }, {},
    /^'protocol' is an option; write .*launch\(agent, \{ protocol: … \}\)$/],
  [{ name: 'Desk', agents: [echo], quiet: true }, {}, /^'quiet' is an option; write .*\{ quiet: true \}\)$/],
  [{ ...echo, version: '2.0.0', description: 'Says it again.', colour: 1 }, {},
    /^The agent 'Echo' has no option 'co/],
  [echo, { tools: [tool] },
    /^launch takes 'tools' in its first argument; write launch\(\{ tools: \[one\] \}, options\)$/],
  [echo, { port: '8000' },
    /^port is "8000"; write a whole number from 0 to 65535, as in Number\(process\.env\.PORT\)$/],
  [echo, { port: '/tmp/agents.sock' },
    new RegExp('^port is "/tmp/agents\\.sock"; write a whole number .*; '
      + 'for a path write createServer\\(server\\.handler\\)')],
  [echo, { port: 70_000 }, /^port is 70000; write a whole number from 0 to 65535$/],
  [echo, { host: '[::1]' }, /^host is "\[::1\]"; write '::1', without the brackets$/],
  [echo, { host: 'http://localhost' }, /^host is "http:\/\/localhost"; write a name or an address, as in/],
  [echo, { host: 7 }, /^host is 7; write a name or an address, as in '127\.0\.0\.1'$/],
  [echo, { quiet: 'yes' }, /^quiet is "yes"; write true or false$/],
  [echo, { quiet: null }, /^quiet is null; write true or false$/],
  [echo, { signals: 'false' }, /^signals is "false"; write true or false$/],
]

test('an option that stands in the wrong place says where it goes', async () => {
  for (const [subject, options, sentence] of misplaced) {
    const quiet = typeof options === 'object' && options !== null ? { log: false, ...options } : options
    await assert.rejects(launch(subject as Subject, quiet as LaunchOptions), (error: Error) => {
      assert.match(error.message, sentence)
      return error instanceof TypeError || error instanceof RangeError
    })
  }
  await assert.rejects(serveStdio(echo, 9250 as never), {
    name: 'TypeError', message: `serveStdio takes its options as an object, not 9250; `
      + `write serveStdio(agent, { name: 'Helper' })`,
  })
  await assert.rejects(serveStdio(echo, { protocol: 'http' as never }), {
    name: 'TypeError', message: `protocol is "http"; over stdio write 'mcp' or 'acp'`,
  })
  for (const [streams, sentence] of [
    [{ input: 'x' }, /^TypeError: input is "x"; write a readable stream, as process\.stdin is$/],
    [{ output: {} }, /^TypeError: output is an object; write a writable stream, as process\.stdout is$/],
    [{ signals: 'false' }, /^TypeError: signals is "false"; write true or false$/],
  ] as const) await assert.rejects(serveStdio(echo, streams as never), sentence)
  await assert.rejects(serveStdio({ ...echo, input: 1 } as Subject), /^TypeError: 'input' is an option; /)
})

test('an object of a class is served whatever else it holds', async (t) => {
  class Robot {
    readonly name = 'Robot'
    readonly port = 7
    run(): string { return 'Beep' }
  }
  const launched = await launch(new Robot(), { port: 0, quiet: true, signals: false, log: false })
  t.after(() => launched.close())
  assert.equal(launched.server.name, 'Robot')
})
