import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { promisify } from 'node:util'
import { createServer, defaults } from '../../lib/index.ts'
import { kernelLimits } from '../../lib/kernel/define/limits.ts'
import { a2aLimits } from '../../lib/parts/a2a/model/limits.ts'
import { mcpLimits } from '../../lib/parts/mcp/options.ts'
import { uiStreamLimits } from '../../lib/parts/ui-stream/limits.ts'
import { serverLimits } from '../../lib/preset/limits.ts'
import type { Limits } from '../../lib/index.ts'

const MiB = 1024 * 1024
const mayBeZero = ['graceMs', 'resumeMs']

/** What the kernel and the parts get of options, as one object. */
function limitsOf(options: Partial<Limits>): Limits {
  const limits = serverLimits(options)
  return { ...limits(kernelLimits), ...limits(mcpLimits), ...limits(a2aLimits), ...limits(uiStreamLimits) }
}

test('every limit has a default that cannot be changed', () => {
  assert.ok(Object.isFrozen(defaults))
  for (const [name, value] of Object.entries(defaults)) {
    assert.ok(Number.isSafeInteger(value) && (value > 0 || mayBeZero.includes(name)), name)
  }
  assert.deepEqual(limitsOf({}), defaults)
})

/** What the operator was promised. */
const promised: Partial<Limits> = {
  maxBodyBytes: 4 * MiB, maxBodiesBytes: 256 * MiB, maxDepth: 64, maxObjects: 100_000,
  maxBatch: 100, maxNameBytes: 256,
  maxHeaderBytes: 16 * 1024, maxHeaderLines: 200, headersTimeoutMs: 10_000, bodyTimeoutMs: 30_000,
  checkIntervalMs: 2_000, keepAliveMs: 65_000, maxConnections: 12_000, maxStreams: 10_000,
  maxWaitingRequests: 5_000,
  toolTimeoutMs: 60_000, agentTimeoutMs: 300_000, askTimeoutMs: 600_000, maxCalls: 1_024,
  maxCallsPerSession: 64, maxCheckSteps: 500_000, maxResultBytes: 16 * MiB, maxStateBytes: 16 * 1024,
  maxSessions: 10_000, sessionIdleMs: 1_800_000, maxStreamBytes: MiB, maxQueuedBytes: 64 * MiB,
  writeTimeoutMs: 30_000, replayEvents: 256,
  replayBytes: MiB, replayMs: 300_000, maxReplayBytes: 64 * MiB, resumeMs: 0, heartbeatMs: 15_000,
  maxTasks: 10_000,
  taskKeepMs: 3_600_000, maxTasksBytes: 256 * MiB, maxConversations: 10_000, conversationIdleMs: 1_800_000,
  conversationMessages: 100, conversationBytes: MiB, maxConversationsBytes: 256 * MiB,
  idempotencyKeepMs: 600_000, maxIdempotencyKeys: 10_000, maxIdempotencyBytes: 64 * MiB, graceMs: 10_000,
}

test('the defaults are the promised ones', () => {
  for (const [name, value] of Object.entries(promised)) {
    assert.equal(defaults[name as keyof Limits], value, name)
  }
})

test('what is no limit is refused when a server is made', () => {
  for (const name of Object.keys(defaults) as (keyof Limits)[]) {
    for (const value of [NaN, -1, 1.5, -Infinity, '5', null, {}, 2 ** 60]) {
      const options = { [name]: value } as Partial<Limits>
      assert.throws(
        () => limitsOf(options),
        (error) => error instanceof RangeError && error.message.startsWith(`${name} is `), name,
      )
    }
    assert.equal(limitsOf({ [name]: Infinity })[name], Infinity)
    assert.equal(limitsOf({ [name]: undefined } as Partial<Limits>)[name], defaults[name])
    if (mayBeZero.includes(name)) assert.equal(limitsOf({ [name]: 0 })[name], 0)
    else assert.throws(() => limitsOf({ [name]: 0 }), RangeError, name)
  }
  assert.throws(
    () => createServer({ agents: [() => ''], maxBodyBytes: NaN }),
    /^RangeError: maxBodyBytes is NaN; write a whole number above zero/,
  )
})

const pairs: readonly (readonly [small: keyof Limits, large: keyof Limits])[] = [
  ['maxBodyBytes', 'maxBodiesBytes'], ['headersTimeoutMs', 'bodyTimeoutMs'], ['maxStreams', 'maxConnections'],
  ['maxStreamBytes', 'maxQueuedBytes'], ['maxCallsPerSession', 'maxCalls'], ['replayBytes', 'maxReplayBytes'],
  ['conversationBytes', 'maxConversationsBytes'],
]

test('two limits that contradict each other are refused; where one is given the other follows', () => {
  for (const [small, large] of pairs) {
    assert.throws(() => limitsOf({ [small]: 20, [large]: 10 }), (error) => error instanceof RangeError
      && error.message === `${small} (20) is larger than ${large} (10); raise ${large}`)
    const raised = limitsOf({ [small]: defaults[large] * 2 })
    assert.equal(raised[large], defaults[large] * 2)
    const lowered = limitsOf({ [large]: 1 })
    assert.equal(lowered[small], 1)
  }
})

test('limits of parts stand beside those of the kernel, and a mistake names them as they are written', () => {
  const wrong: readonly (readonly [options: object, sentence: RegExp])[] = [
    [{ maxSessions: 'many' }, /^RangeError: maxSessions is "many"; write a whole number/],
    [{ resumeMs: -1, protocol: 'mcp' }, /^RangeError: resumeMs is -1; write a whole number/],
    [{ maxSesions: 5 }, /^TypeError: createServer has no option 'maxSesions'; did you mean 'maxSessions'\?$/],
    [{ blockingWaitsMs: 5 }, /did you mean 'blockingWaitMs'\?$/],
    [{ maxCallsPerSession: 20, maxCalls: 10 },
      /^RangeError: maxCallsPerSession \(20\) is larger than maxCalls \(10\); raise maxCalls$/],
    [{ mcp: { maxSessions: 5 } }, /^TypeError: mcp has no option 'maxSessions'; it has sessions, /],
    [{ a2a: { blockingWaitMs: 5 } }, /^TypeError: a2a has no option 'blockingWaitMs'; it has card, /],
  ]
  for (const [options, sentence] of wrong) {
    assert.throws(() => createServer({ agents: [() => ''], ...options }), sentence)
  }
})

test('options of a part may be an object of a class, with a state of its own', async (t) => {
  class Card {
    readonly source = 'a file'
    get documentationUrl(): string { return 'https://a.example/docs' }
  }
  const server = createServer({ agents: [() => ''], protocol: 'all', log: false, a2a: new Card() })
  t.after(() => server.close())
  const card = await server.fetch(new Request('http://localhost/.well-known/agent-card.json'))
  assert.match(await card.text(), /"documentationUrl":"https:\/\/a\.example\/docs"/)
})

test('a total of bytes follows the memory that the process may have', async () => {
  const module = new URL('../../lib/preset/limits.js', import.meta.url).href
  const print = `const { defaults, serverLimits } = await import('${module}')
    const given = [{ maxTasksBytes: 2 ** 30 }, {}].map((options) => serverLimits(options)({ defaults }))
    console.log(JSON.stringify([defaults, ...given]))`
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=96', '--input-type=module', '-e', print,
  ])
  const [small, given, all] = JSON.parse(stdout) as readonly [Limits, Limits, Limits]
  const ofOne = /^max(?:Body|Name|Header|Result|State|Stream|Value)Bytes$/
  const totals = Object.entries(defaults).filter(([name]) => /^max\w+Bytes$/.test(name) && !ofOne.test(name))
  assert.equal(totals.length, 7)
  for (const [name, usual] of totals) {
    const held = small[name as keyof Limits]
    assert.ok(held <= 40 * MiB && held >= 16 * MiB, `${name}: ${held} of ${usual}`)
  }
  assert.equal(small.maxBodyBytes, 4 * MiB)
  assert.equal(given.maxTasksBytes, 2 ** 30, 'what is given holds')
  assert.deepEqual(all, small)
})
