/**
 * The k-th write, timer, call of the store or of a handler fails, for every k of a short script of an editor.
 * The process lives, each request gets an answer or the server ends, and nothing stays taken.
 *
 * `npm run test:slow` takes every k, `npm test` some of them.
 */
import assert from 'node:assert/strict'
import diagnostics from 'node:diagnostics_channel'
import { PassThrough, Writable } from 'node:stream'
import test from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { defineAgent, definePrompt, memoryStore, serveStdio } from '../../../lib/index.ts'
import { failing, Fuse } from '../../fixtures/fuse.ts'
import type { Quota } from '../../../lib/kernel/util/quota.ts'

type Json = Readonly<Record<string, any>>

const IS_SLOW = process.env['LEAVERS_SECONDS'] !== undefined
/** Of how many k one is taken. */
const STEP = IS_SLOW ? 1 : 3
/** The longest that an editor waits for an answer. */
const ANSWER_MS = 30_000

const fuses = { store: new Fuse(), handler: new Fuse(), write: new Fuse(), timer: new Fuse() }
const fail = (): void => { if (fuses.handler.burns()) throw new Error('The handler fails') }

const sure = { type: 'object', properties: { sure: { type: 'boolean' } } } as const
const agents = [
  defineAgent({
    name: 'Asker',
    async * run(_prompt, call) {
      fail()
      call.event({ type: 'tool-call', id: '1', name: 'look' })
      yield (await call.elicit({ message: 'Sure?', schema: sure })).action
      fail()
      await pause(1)
      yield '!'
    },
  }),
  defineAgent({ name: 'Echo', run: (prompt) => { fail(); return prompt } }),
]
const prompts = [definePrompt({ name: 'hello', get: async () => { fail(); await pause(1); return 'Hello' } })]

const quotas = new Set<Quota>()
diagnostics.subscribe('triport:quota', (quota) => quotas.add(quota as Quota))

/** Does all that an editor does. Resolves when each request has its answer, or the server has ended. */
async function edit(isShared: boolean): Promise<void> {
  const input = new PassThrough()
  const answers = new Map<unknown, (message: Json) => void>()
  let text = ''
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (fuses.write.burns()) return done(new Error('The write fails'))
      const lines = (text + String(chunk)).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) take(JSON.parse(line))
      done()
    },
  })
  const write = (message: object): void => {
    if (input.writable) input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  const take = (message: Json): void => {
    if (message['method'] === undefined) return answers.get(message['id'])?.(message)
    if (message['id'] === undefined) return
    write({ id: message['id'], result: { outcome: { outcome: 'selected', optionId: '0' } } })
  }
  const over = serveStdio({ agents, prompts }, {
    protocol: 'acp', input, output, log: false, graceMs: 0, askTimeoutMs: 200,
    ...isShared && {
      store: failing(memoryStore({ isShared }), fuses.store), secret: 'the secret of the editors',
      deployment: 'editors',
    },
  })
  const ended = over.then(() => ({}), () => ({}))
  let id = 0
  const ask = async (method: string, params: object): Promise<Json> => {
    const answer = new Promise<Json>((resolve) => answers.set(++id, resolve))
    write({ id, method, params })
    const late = new AbortController()
    const silence = pause(ANSWER_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error(`${method} got neither an answer nor an end`)
    })
    return Promise.race([answer, ended, silence]).finally(() => late.abort())
  }
  const setup = { cwd: process.cwd(), mcpServers: [] }
  await ask('initialize', { protocolVersion: 1 })
  const sessionId: unknown = (await ask('session/new', setup))['result']?.sessionId
  const prompt = (word: string): Promise<Json> => (
    ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: word }] })
  )
  await prompt('Go')
  await ask('session/set_mode', { sessionId, modeId: 'echo' })
  await Promise.all([prompt('Go'), ask('session/list', {}), ask('session/load', { sessionId, ...setup })])
  await prompt('/hello')
  await ask('session/resume', { sessionId, ...setup })
  await ask('session/close', { sessionId })
  await ask('session/delete', { sessionId })
  input.end()
  await ended
}

for (const part of ['store', 'handler', 'write', 'timer'] as const) {
  test(`whichever ${part} fails, an editor gets answers or an end, and nothing stays taken`, async (t) => {
    const { setTimeout: set } = globalThis
    t.after(() => { globalThis.setTimeout = set })
    globalThis.setTimeout = ((...all: Parameters<typeof setTimeout>) => {
      if (fuses.timer.burns()) throw new Error('The timer fails')
      return set(...all)
    }) as typeof setTimeout
    const fuse = fuses[part]
    let count = 0
    for (let k = 1; ; k += STEP) {
      fuse.arm(k)
      await edit(part === 'store')
      const { isBlown } = fuse
      fuse.arm(0)
      const held = (): readonly string[] => [...quotas].filter(({ used }) => used > 0).map(({ name }) => name)
      const end = performance.now() + ANSWER_MS
      while (held().length > 0 && performance.now() < end) await pause(5)
      assert.deepEqual(held(), [], `after the ${part} ${k}`)
      quotas.clear()
      if (!isBlown) break
      count++
    }
    t.diagnostic(`${count} of them failed`)
    assert.ok(count > 0)
    await edit(part === 'store')
  })
}
