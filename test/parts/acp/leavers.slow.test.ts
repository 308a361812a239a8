/**
 * Editors that write what no editor should, and leave at every moment. What can be answered is answered once,
 * the server ends, and nothing stays taken.
 *
 * Seeded: `LEAVERS_SEED` repeats a run, `LEAVERS_SECONDS` makes it longer; `npm run test:slow` does.
 */
import assert from 'node:assert/strict'
import diagnostics from 'node:diagnostics_channel'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { defineAgent, definePrompt, memoryStore, serveStdio } from '../../../lib/index.ts'
import { run } from '../../fixtures/command.ts'
import { heldBytes } from '../../fixtures/heap.ts'
import { modules } from '../../fixtures/modules.ts'
import { randomOf } from '../../fixtures/random.ts'
import type { Call, StdioOptions } from '../../../lib/index.ts'
import type { Quota } from '../../../lib/kernel/util/quota.ts'

type Json = Readonly<Record<string, any>>
type Random = (below: number) => number

const SECONDS = Number(process.env['LEAVERS_SECONDS'] ?? 2)
const SEED = Number(process.env['LEAVERS_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
/** How many editors there are at one time. */
const AT_ONCE = 12
/** How long an editor may take to be let go. */
const REST_MS = 60_000
/** How much of the heap may be there that was not before. */
const HEAP_SHARE = 1.1
const MAX_BODY_BYTES = 20_000

const cwd = process.cwd()
const sure = { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] } as const
const form = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } } as const

const agents = [
  defineAgent({ name: 'Quick', run: (prompt, { history }) => `${history.length} ${prompt}` }),
  defineAgent({
    name: 'Slow', description: 'Answers piece by piece.',
    async * run(_prompt, { signal }) {
      for (let piece = 0; piece < 8 && !signal.aborted; piece++) {
        yield 'x'.repeat(piece * 2_000)
        await pause(2)
      }
    },
  }),
  defineAgent({ name: 'Deaf', run: async () => { await pause(40); return 'late' } }),
  defineAgent({
    name: 'Busy', description: 'Says what it does.',
    async run(_prompt, call) {
      for (let id = 0; id < 5; id++) {
        call.event({ type: 'reasoning', text: 'Hm.' })
        call.event({ type: 'tool-call', id: String(id), name: 'look', args: { id } })
        await pause(1)
        call.event({ type: 'tool-result', id: String(id), result: 'x'.repeat(5_000) })
      }
      call.artifact({ name: 'notes', parts: ['done'] })
      throw new Error('broken')
    },
  }),
  defineAgent({ name: 'Asker', run: (_prompt, call) => ask(call, 0) }),
  defineAgent({ name: 'Late asker', run: (_prompt, call) => ask(call, 15) }),
]
const prompts = [definePrompt({
  name: 'wait', arguments: [{ name: 'what', required: true }],
  get: async ({ what }) => { await pause(10); return `Wait for ${what}` },
})]
const agentIds = ['quick', 'slow', 'deaf', 'busy', 'asker', 'late-asker', 'nobody']

async function ask(call: Call, ms: number): Promise<string> {
  await pause(ms)
  // One that nobody waits for.
  void call.elicit({ message: 'And?', schema: sure }).catch(() => {})
  const { action } = await call.elicit({ message: 'Sure?', schema: sure })
  return action === 'accept' ? (await call.elicit({ message: 'Which?', schema: form })).action : action
}

/** All that can be leased. */
const quotas = new Set<Quota>()
diagnostics.subscribe('triport:quota', (quota) => quotas.add(quota as Quota))

/** Waits until nothing is leased any more. */
async function allGivenBack(): Promise<void> {
  for (const end = performance.now() + REST_MS; ; await pause(20)) {
    const held = [...quotas].filter(({ used }) => used > 0).map(({ name, used }) => `${used} ${name}`)
    if (held.length === 0) return quotas.clear()
    if (performance.now() > end) assert.fail(`still taken: ${held.join(', ')}`)
  }
}

/** Lines that hold no message of the protocol. */
const broken: readonly (string | Buffer)[] = [
  '{', '7', '[]', 'null', '""', '{}', '{"jsonrpc":"2.0"}', '{"jsonrpc":"1.0","method":"a"}',
  '{"jsonrpc":"2.0","id":{},"method":"a"}', '{"jsonrpc":"2.0","id":1.5,"method":"a"}',
  '{"jsonrpc":"2.0","id":[],"result":1}', '{"jsonrpc":"2.0","method":7}', '[{"jsonrpc":"2.0","method":"a"}]',
  '{"jsonrpc":"2.0","method":""}', '['.repeat(5_000), 'x'.repeat(MAX_BODY_BYTES + 1),
  Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), '\u0000\u0001', '   ', '',
]

/** Values of a wrong type for any member. */
const strange: readonly unknown[] = [
  undefined, null, 7, -1.5, true, '', 'x', [], [[]], {}, { a: 1 }, 'x'.repeat(3_000), '\ud800', '../../..',
  '__proto__',
]

const members = [
  'sessionId', 'prompt', 'cwd', 'additionalDirectories', 'mcpServers', 'cursor', 'configId', 'value',
  'modeId',
  'protocolVersion', 'clientCapabilities', 'clientInfo', '_meta', 'methodId', 'requestId',
]

const methods = [
  'initialize', 'authenticate', 'session/new', 'session/load', 'session/resume', 'session/list',
  'session/delete', 'session/close', 'session/set_mode', 'session/set_config_option', 'session/prompt',
  'session/cancel', '$/cancel_request', 'session/fork', 'logout', '_own/method', 'constructor',
]

/** An editor without manners. It counts what it asks, and what comes back. */
class WildEditor {
  readonly input = new PassThrough()
  readonly output = new PassThrough()
  readonly over: Promise<void>
  /** Requests by id, without their answers. */
  readonly owed = new Map<unknown, number>()
  readonly #random: Random
  readonly #sessions: string[] = []
  #id = 0

  constructor(random: Random, options: Partial<StdioOptions>) {
    this.#random = random
    const { input, output } = this
    this.over = serveStdio({ agents, prompts }, {
      protocol: 'acp', input, output, log: false, graceMs: 30, askTimeoutMs: 60,
      maxBodyBytes: MAX_BODY_BYTES, ...options,
    })
    let text = ''
    output.on('data', (chunk) => {
      const lines = (text + String(chunk)).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) this.#take(JSON.parse(line))
    })
  }

  #one<T>(values: readonly T[]): T { return values[this.#random(values.length)]! }

  #take({ id, method, result, error }: Json): void {
    if (method === undefined) {
      assert.equal(result === undefined, error !== undefined)
      if (error !== undefined) assert.ok(typeof error.message === 'string' && error.message !== '')
      if (typeof result?.sessionId === 'string') this.#begun(result.sessionId)
      if (id !== null) this.owed.set(id, (this.owed.get(id) ?? 0) - 1)
    } else if (id !== undefined) {
      this.#answer(id)
    }
  }

  #begun(sessionId: string): void {
    this.#sessions.push(sessionId)
    this.request('session/set_mode', { sessionId, modeId: this.#one(agentIds) })
    this.request('session/prompt', this.#prompt(sessionId))
  }

  /** Answers a question: well, badly, twice, or not at all. */
  #answer(id: unknown): void {
    const answers: readonly (object | undefined)[] = [
      { result: { outcome: { outcome: 'selected', optionId: '0' } } },
      { result: { outcome: { outcome: 'cancelled' } } },
      { result: { action: 'accept', content: { a: 'x' } } },
      { result: this.#one(strange) ?? null }, { error: this.#one(strange) ?? null },
      { error: { code: -32800, message: 'Cancelled' } }, undefined,
    ]
    for (let times = this.#random(3); times >= 0; times--) {
      const answer = this.#one(answers)
      if (answer !== undefined) this.#write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
    }
  }

  #write(line: string | Buffer): void {
    if (!this.input.writable) return
    this.input.write(line)
    this.input.write('\n')
  }

  request(method: string, params: unknown, id: unknown = ++this.#id): void {
    if (!this.input.writable) return
    this.owed.set(id, (this.owed.get(id) ?? 0) + 1)
    this.#write(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  }

  #notify(method: string, params: unknown): void {
    this.#write(JSON.stringify({ jsonrpc: '2.0', method, params }))
  }

  /** Something that may happen, or should not. */
  act(): void {
    const sessionId = this.#sessions.length > 0 ? this.#one(this.#sessions) : 'none'
    const setup = { cwd, mcpServers: [] }
    const wide = { cwd, additionalDirectories: ['/'.repeat(this.#random(8_000) + 1)] }
    switch (this.#random(16)) {
      case 0: return this.#write(this.#one(broken))
      case 1: return this.request(this.#one(methods), { [this.#one(members)]: this.#one(strange), sessionId })
      case 2: return this.request(this.#one(methods), this.#one(strange))
      case 3: return this.#notify(this.#one(methods), { sessionId, [this.#one(members)]: this.#one(strange) })
      case 4: return this.#answer(this.#random(50))
      case 5: return this.request('session/new', this.#random(2) === 0 ? setup : wide)
      case 6: return this.request(`session/${this.#one(['load', 'resume'])}`, { ...setup, sessionId })
      case 7: return this.request('session/list', this.#one([{}, { cwd }, { cursor: '7' }]))
      case 8: return this.request(`session/${this.#one(['delete', 'close', 'delete'])}`, { sessionId })
      case 9: return this.#notify('session/cancel', { sessionId })
      case 10: return this.#notify('$/cancel_request', { requestId: this.#random(this.#id + 1) })
      case 11: return this.request('session/set_mode', { sessionId, modeId: this.#one(agentIds) })
      // An id that is taken, maybe.
      case 12: return this.request('session/prompt', this.#prompt(sessionId), this.#random(this.#id + 1))
      default: return this.request('session/prompt', this.#prompt(sessionId))
    }
  }

  #prompt(sessionId: string): object {
    const blocks = [
      { type: 'text', text: this.#one(['', '/wait ', '/wait']) + 'x'.repeat(this.#random(4_000)) },
      { type: 'image', data: 'aGk=', mimeType: 'a/b' },
      { type: 'resource_link', uri: 'file:///a', name: 'a' }, { type: 'text' }, 7,
    ]
    return { sessionId, prompt: [blocks[0], this.#random(8) > 0 ? blocks[1] : this.#one(blocks)] }
  }

  /** Leaves. Returns whether what is owed can still come. */
  leave(): boolean {
    switch (this.#random(7)) {
      case 0: this.input.destroy(); return false
      case 1: this.output.destroy(); return false
      case 2: this.output.destroy(new Error('gone')); this.input.end(); return false
      // In the middle of a line.
      case 3: this.input.end('{"jsonrpc":"2.0","id":77,"met'); return true
      default: this.input.end(); return true
    }
  }
}

async function live(random: Random, options: Partial<StdioOptions>): Promise<void> {
  const editor = new WildEditor(random, options)
  if (random(10) > 0) {
    const form = random(2) === 0 ? { form: {} } : {}
    editor.request('initialize', { protocolVersion: 1, clientCapabilities: { elicitation: form } })
    for (let count = random(3); count >= 0; count--) editor.request('session/new', { cwd, mcpServers: [] })
  }
  await pause(random(3))
  // It reads nothing for a time.
  if (random(4) === 0) editor.output.pause()
  for (let acts = random(60); acts > 0; acts--) {
    editor.act()
    if (random(4) === 0) await pause(random(3))
  }
  editor.output.resume()
  const isPolite = editor.leave()
  const late = new AbortController()
  await Promise.race([editor.over, pause(REST_MS, undefined, { signal: late.signal }).then(() => {
    throw new Error('The server does not end')
  })])
  late.abort()
  if (!isPolite) return
  await pause(1)
  const owed = [...editor.owed].filter(([, answers]) => answers !== 0)
  assert.deepEqual(owed, [], 'requests and how many answers they are owed')
}

for (const isShared of [false, true]) {
  const where = isShared ? 'a store' : 'memory'
  test(`nothing is kept for editors that leave: ${where}, seed ${SEED}`, async (t) => {
    t.diagnostic(`LEAVERS_SEED=${SEED} LEAVERS_SECONDS=${SECONDS}`)
    const warnings: Error[] = []
    const warn = (warning: Error): void => { warnings.push(warning) }
    process.on('warning', warn)
    t.after(() => process.off('warning', warn))
    const timers = (): number => (
      process.getActiveResourcesInfo().filter((name) => /Timeout|Immediate/.test(name)).length
    )
    const before = timers()
    let count = 0
    const half = async (seed: number): Promise<void> => {
      const end = performance.now() + SECONDS * 250
      await Promise.all(Array.from({ length: AT_ONCE }, async (_, index) => {
        for (let life = 0; performance.now() < end; life++) {
          const random = randomOf(seed + index * 7_919 + life * 104_729)
          await live(random, isShared
            ? { store: memoryStore({ isShared }), secret: 'the secret of the editors', deployment: 'a' } : {})
          count++
        }
      }))
      await allGivenBack()
    }
    await half(SEED)
    const heap = heldBytes()
    await half(SEED + 1)
    const grown = heldBytes()
    t.diagnostic(`${count} editors; ${heap} bytes were held, and are ${grown}`)
    if (SECONDS >= 10) assert.ok(grown < heap * HEAP_SHARE, `${heap} bytes were held, and are ${grown}`)
    const end = performance.now() + REST_MS
    while (timers() > before && performance.now() < end) await pause(20)
    assert.ok(timers() <= before, `${timers()} timers, and there were ${before}`)
    assert.deepEqual(warnings.map(String), [])
  })
}

/** What an editor writes before it leaves, as the lines of one process. */
const begin = [
  { id: 1, method: 'initialize', params: { protocolVersion: 1 } },
  { id: 2, method: 'session/new', params: { cwd, mcpServers: [] } },
]
const lines = (messages: readonly object[]): string => (
  messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
)
const prompt = (sessionId: string, text: string, id = 3): object => (
  { id, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text }] } }
)
const flood = (sessionId: string): string => (
  lines(Array.from({ length: 3_000 }, (_, id) => prompt(sessionId, 'slow', id + 10)))
)

const moments: readonly (readonly [
  moment: string, first: string, second?: (sessionId: string) => string, until?: RegExp,
])[] = [
  ['before the first line', ''],
  ['in the first line', '{"jsonrpc":"2.0",'],
  ['in a line that never ends', 'x'.repeat(9_000_000)],
  ['after lines that are broken', `{\n[]\n${'['.repeat(100_000)}\n7\n`],
  ['after the handshake', lines(begin)],
  ['in a prompt', lines(begin), (id) => lines([prompt(id, 'slow')]), /agent_message_chunk/],
  ['in a question', lines(begin), (id) => lines([prompt(id, 'ask')]), /request_permission/],
  ['in a prompt that hears no signal', lines(begin), (id) => lines([prompt(id, 'deaf')])],
  ['in a flood of prompts', lines(begin), flood, /agent_message_chunk/],
]

test('a process ends with 0 whenever its editor leaves', async (t) => {
  const folder = modules(t, { 'agent.mjs': `
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
    export const graceMs = 200
    export default async function * (prompt, call) {
      const schema = { type: 'object', properties: { sure: { type: 'boolean' } } }
      if (prompt === 'ask') yield (await call.elicit({ message: 'Sure?', schema })).action
      for (let piece = 0; piece < 500 && (prompt === 'deaf' || !call.signal.aborted); piece++) {
        yield 'piece '
        await pause(20)
      }
    }` })
  for (const [moment, first, second, until] of moments) {
    for (const isRude of [false, true]) {
      const what = `${moment}${isRude ? ', reading nothing any more' : ''}`
      const host = run(t, ['serve', '--acp', `${folder}/agent.mjs`])
      const stdin = host.child.stdin!
      stdin.on('error', () => {})
      stdin.write(first)
      const printed = async (pattern: RegExp): Promise<string> => {
        for (const end = performance.now() + REST_MS; ; await pause(5)) {
          const [, found] = pattern.exec(host.printed()) ?? []
          if (found !== undefined) return found
          const isLate = performance.now() > end
          assert.ok(!isLate, `${what}: no ${pattern} in ${host.printed()}${host.said()}`)
        }
      }
      if (second !== undefined) stdin.write(second(await printed(/"sessionId":"([\w-]+)"/)))
      if (until !== undefined) await printed(new RegExp(`(${until.source})`))
      if (isRude) host.child.stdout!.destroy()
      stdin.end()
      assert.equal(await host.ended, 0, `${what}: ${host.said()}`)
      assert.doesNotMatch(host.said(), /^ {4}at /m, what)
    }
  }
})
