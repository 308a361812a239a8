/** Chats of the AI SDK that are read again: by a page that is loaded anew, by two, by none. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually, request, serve } from '../../fixtures/client.ts'
import { fleetOf, sharedMemory } from '../../fixtures/fleet.ts'
import { heldBytes } from '../../fixtures/heap.ts'
import type { TestContext } from 'node:test'
import type { Call, ServerOptions, TriportServer } from '../../../lib/index.ts'

const saying = (text: string): object => ({ id: '1', role: 'user', parts: [{ type: 'text', text }] })
const usual = { id: 'chat-0001', messages: [saying('Hi')] }
const STREAM = '/ui-stream/chat-0001/stream'
/** Longer than any test. */
const LONG_MS = 60_000

/** A run of the agent: it says what it is told to, until it is told to end, or nobody wants it any more. */
class Run {
  readonly call: Call
  #say: (text: string | undefined) => void = () => {}
  #next = this.#promise()

  constructor(call: Call) {
    this.call = call
  }

  get isAborted(): boolean { return this.call.signal.aborted }

  say(text: string | undefined): void { this.#say(text) }
  end(): void { this.#say(undefined) }

  async * pieces(): AsyncGenerator<string> {
    yield 'a'
    for (let text = await this.#next; text !== undefined; text = await this.#next) {
      this.#next = this.#promise()
      yield text
    }
  }

  #promise(): Promise<string | undefined> { return new Promise((resolve) => { this.#say = resolve }) }
}

/** Two agents, and what they are asked. */
function speakers(): { readonly agents: ServerOptions['agents']; readonly runs: readonly Run[] } {
  const runs: Run[] = []
  const agents = ['Agent', 'Other'].map((name) => ({
    name,
    run(prompt: string, call: Call) {
      const run = new Run(call)
      if (prompt === 'Now') return 'Done'
      runs.push(run)
      return run.pieces()
    },
  }))
  return { agents, runs }
}

function serving(t: TestContext, options: Partial<ServerOptions> = {}): {
  readonly server: TriportServer
  readonly runs: readonly Run[]
} {
  const { agents, runs } = speakers()
  return { server: serve(t, { agents, ...options }), runs }
}

/** Processes that share a store. */
async function several(t: TestContext, options: Partial<ServerOptions> = {}): Promise<{
  readonly servers: readonly TriportServer[]
  readonly runs: readonly Run[]
}> {
  const { agents, runs } = speakers()
  const { servers } = await fleetOf(t, 3, { agents, resumeMs: LONG_MS, protocol: 'http', ...options })
  return { servers, runs }
}

/** One who reads a stream. */
class Reader {
  readonly status: number
  text = ''
  isAtEnd = false
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor({ status, body }: Response) {
    this.status = status
    this.#reader = body?.getReader()
    void this.#read()
  }

  /** The texts of the parts of a type, without what was not read yet. */
  parts(member: 'type' | 'delta' | 'messageId'): readonly unknown[] {
    const parts = [...this.text.matchAll(/^data: (\{.*\})$/gm)].map(([, part]) => JSON.parse(part!) as object)
    return parts.flatMap((part) => member in part ? [(part as Record<string, unknown>)[member]] : [])
  }

  has(...deltas: readonly string[]): Promise<void> {
    return eventually(() => this.parts('delta').join() === deltas.join(), `${deltas} in ${this.text}`)
  }

  ended(): Promise<void> { return eventually(() => this.isAtEnd, `the end of ${this.text}`) }

  async leave(): Promise<void> { await this.#reader?.cancel() }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await this.#reader?.read() ?? { done: true }
      if (value !== undefined) this.text += decoder.decode(value, { stream: true })
      if (!done) continue
      this.isAtEnd = true
      return
    }
  }
}

type Headers = Readonly<Record<string, string>>

async function ask(server: TriportServer, more: object = {}, headers: Headers = {}): Promise<Reader> {
  return new Reader(await server.fetch(request('/ui-stream', { ...usual, ...more }, headers)))
}

async function resume(server: TriportServer, path = STREAM, headers: Headers = {}): Promise<Reader> {
  return new Reader(await server.fetch(request(path, undefined, headers)))
}

test('a chat that goes on is read from its begin by whoever comes later, and then as it comes', async (t) => {
  const { server, runs } = serving(t)
  const first = await ask(server)
  await first.has('a')
  runs[0]!.say('b')
  const second = await resume(server)
  const third = await resume(server, '/agents/agent/ui-stream/chat-0001/stream')
  for (const reader of [first, second, third]) await reader.has('a', 'b')
  runs[0]!.say('c')
  for (const reader of [first, second, third]) await reader.has('a', 'b', 'c')
  runs[0]!.end()
  for (const reader of [first, second, third]) {
    await reader.ended()
    assert.equal(reader.text, first.text)
  }
  assert.ok(first.text.endsWith('data: [DONE]\n\n'))
  assert.equal((await resume(server)).status, 204)
})

test('another chat, another agent and a run that is over have no stream', async (t) => {
  const { server, runs } = serving(t)
  assert.equal((await resume(server)).status, 204)
  const first = await ask(server)
  assert.equal((await resume(server, '/ui-stream/chat-0002/stream')).status, 204)
  assert.equal((await resume(server, '/agents/other/ui-stream/chat-0001/stream')).status, 204)
  assert.equal((await resume(server, '/agents/none/ui-stream/chat-0001/stream')).status, 404)
  const head = await server.fetch(request(STREAM, undefined, {}, 'HEAD'))
  assert.equal(head.status, 200)
  runs[0]!.end()
  await first.ended()
  assert.equal((await resume(server)).status, 204)
  const whole = await ask(server, { messages: [saying('Now')] })
  await whole.ended()
  assert.equal((await resume(server)).status, 204)
})

test('a chat is its principal\'s, and needs what its agent needs', async (t) => {
  const run = async function* (_prompt: string, { signal }: Call): AsyncGenerator<string> {
    yield 'a'
    await new Promise((resolve) => { signal.addEventListener('abort', resolve) })
  }
  const scopes = ['chat']
  const server = serve(t, {
    agents: [{ name: 'Agent', run, scopes }],
    apiKey: [{ id: 'ann', key: 'the key of ann', scopes }, { id: 'bob', key: 'the key of bob', scopes },
      { id: 'cid', key: 'the key of cid' }],
  })
  const keyOf = (who: string): Headers => ({ 'x-api-key': `the key of ${who}` })
  const first = await ask(server, {}, keyOf('ann'))
  await first.has('a')
  assert.equal((await resume(server, STREAM, keyOf('bob'))).status, 204)
  assert.equal((await resume(server, STREAM, keyOf('cid'))).status, 403)
  assert.equal((await resume(server)).status, 401)
  const stopped = await server.fetch(request(STREAM, undefined, keyOf('bob'), 'DELETE'))
  assert.equal(stopped.status, 204)
  const second = await resume(server, STREAM, keyOf('ann'))
  await second.has('a')
})

test('a run ends when its last reader has left', async (t) => {
  const { server, runs } = serving(t)
  const first = await ask(server)
  const second = await resume(server)
  await second.has('a')
  await first.leave()
  runs[0]!.say('b')
  await second.has('a', 'b')
  assert.equal(runs[0]!.isAborted, false)
  await second.leave()
  await eventually(() => runs[0]!.isAborted)
  assert.equal((await resume(server)).status, 204)
})

test('with resumeMs a run goes on without a reader, and who comes back gets all of it', async (t) => {
  const { server, runs } = serving(t, { resumeMs: LONG_MS })
  await (await ask(server)).leave()
  runs[0]!.say('b')
  await pause(20)
  const second = await resume(server)
  await second.has('a', 'b')
  runs[0]!.say('c')
  await second.has('a', 'b', 'c')
  runs[0]!.end()
  await second.ended()
  assert.equal(runs[0]!.isAborted, false)
})

test('but no longer than that, counted from when the last reader left', async (t) => {
  const { server, runs } = serving(t, { resumeMs: 1_000 })
  const first = await ask(server)
  await pause(1_200)
  await first.leave()
  const second = await resume(server)
  await second.has('a')
  await pause(1_200)
  assert.equal(runs[0]!.isAborted, false)
  await second.leave()
  await eventually(() => runs[0]!.isAborted)
  assert.equal((await resume(server)).status, 204)
})

for (const isRead of [true, false]) {
  test(`the end of a run that was ${isRead ? '' : 'not '}read is kept for that time`, async (t) => {
    const { server, runs } = serving(t, { resumeMs: 1_500 })
    const first = await ask(server)
    if (!isRead) await first.leave()
    runs[0]!.end()
    if (isRead) await first.ended()
    else await eventually(() => server.status().calls.running === 0)
    for (let times = 0; times < 2; times++) {
      const reader = await resume(server)
      await reader.ended()
      assert.deepEqual(reader.parts('delta'), ['a'])
      assert.ok(reader.text.endsWith('data: [DONE]\n\n'))
    }
    await eventually(async () => (await resume(server)).status === 204)
  })
}

test('the message has an id that stays, unless it goes on with one that the chat has', async (t) => {
  const { server, runs } = serving(t, { resumeMs: LONG_MS })
  const first = await ask(server)
  await first.has('a')
  const second = await resume(server)
  await second.has('a')
  assert.match(String(first.parts('messageId')[0]), /^[\w-]{36}$/)
  assert.deepEqual(second.parts('messageId'), first.parts('messageId'))
  runs[0]!.end()
  await first.ended()
  const messages = [...usual.messages, { id: '2', role: 'assistant', parts: [] }]
  const next = await ask(server, { messages })
  await next.has('a')
  assert.deepEqual(next.parts('messageId'), [])
  runs[1]!.end()
  await next.ended()
})

test('a new message takes the place of a run: unread it ends, else it goes on for its readers', async (t) => {
  const { server, runs } = serving(t, { resumeMs: LONG_MS })
  await (await ask(server)).leave()
  const second = await ask(server)
  await eventually(() => runs[0]!.isAborted)
  await second.has('a')
  const third = await ask(server)
  await third.has('a')
  runs[1]!.say('b')
  await second.has('a', 'b')
  const fourth = await resume(server)
  await fourth.has('a')
  assert.deepEqual(fourth.parts('messageId'), third.parts('messageId'))
  await second.leave()
  await eventually(() => runs[1]!.isAborted)
  assert.equal(runs[2]!.isAborted, false)
  // So does one that is answered at once.
  await third.leave()
  await fourth.leave()
  await (await ask(server, { messages: [saying('Now')] })).ended()
  await eventually(() => runs[2]!.isAborted)
  assert.equal((await resume(server)).status, 204)
})

test('DELETE stops a run, and who reads it sees that it was stopped', async (t) => {
  const { server, runs } = serving(t, { resumeMs: LONG_MS })
  const stop = async (): Promise<number> => (
    (await server.fetch(request(STREAM, undefined, {}, 'DELETE'))).status
  )
  assert.equal(await stop(), 204)
  const first = await ask(server)
  await first.has('a')
  assert.equal(await stop(), 204)
  assert.ok(runs[0]!.isAborted)
  await first.ended()
  assert.deepEqual(first.parts('type').slice(-2), ['text-end', 'abort'])
  assert.equal((await resume(server)).status, 204)
  await (await ask(server)).leave()
  assert.equal(await stop(), 204)
  assert.ok(runs[1]!.isAborted)
  assert.equal((await resume(server)).status, 204)
})

test('a chat that is larger than replayBytes cannot be resumed, and unread it ends', async (t) => {
  const { server, runs } = serving(t, { resumeMs: LONG_MS, replayBytes: 1_000 })
  const first = await ask(server)
  await first.has('a')
  const long = 'x'.repeat(1_000)
  runs[0]!.say(long)
  await first.has('a', long)
  assert.equal((await resume(server)).status, 204)
  runs[0]!.say('c')
  await first.has('a', long, 'c')
  await first.leave()
  await eventually(() => runs[0]!.isAborted)
  await (await ask(server)).leave()
  assert.equal(runs[1]!.isAborted, false)
  runs[1]!.say(long)
  await eventually(() => runs[1]!.isAborted)
})

test('chats that have ended make room for those that go on, within maxReplayBytes', async (t) => {
  const { server, runs } = serving(t, { resumeMs: LONG_MS, replayBytes: 20_000, maxReplayBytes: 20_000 })
  await (await ask(server)).leave()
  runs[0]!.say('x'.repeat(15_000))
  await pause(10)
  runs[0]!.end()
  await eventually(async () => {
    const reader = await resume(server)
    await pause(5)
    return reader.isAtEnd
  })
  const second = await ask(server, { id: 'chat-0002' })
  const long = 'y'.repeat(15_000)
  runs[1]!.say(long)
  await second.has('a', long)
  assert.equal((await resume(server)).status, 204)
  const third = await resume(server, '/ui-stream/chat-0002/stream')
  await third.has('a', long)
  const { count, bytes } = server.status().chats!
  assert.equal(count, 1)
  assert.ok(bytes > 15_000 && bytes < 20_000, String(bytes))
})

test('a reader who takes nothing holds the run up, and takes no memory', async (t) => {
  let said = 0
  const server = serve(t, {
    resumeMs: LONG_MS, replayBytes: 100_000, writeTimeoutMs: 300,
    agents: [{
      name: 'Agent',
      async* run(_prompt: string, { signal }: Call) {
        for (; !signal.aborted && said < 100; said++) yield 'x'.repeat(10_000)
      },
    }],
  })
  const first = await server.fetch(request('/ui-stream', usual))
  await pause(100)
  const before = said
  assert.ok(before < 50)
  assert.ok(server.status().streams.queuedBytes < 200_000)
  // It is dropped after a time, and then the run has no reader, and is too large to be resumed.
  await eventually(() => server.status().calls.running === 0)
  assert.ok(said < 100)
  await assert.rejects(first.text())
})

test('of two readers the slower sets the pace, until it is dropped', async (t) => {
  let begin: () => void = () => {}
  const begun = new Promise<void>((resolve) => { begin = resolve })
  let queued = 0
  let longest = { ms: 0, said: 0 }
  const server = serve(t, {
    writeTimeoutMs: 1_500,
    agents: [{
      name: 'Agent',
      async* run() {
        yield 'a'
        await begun
        for (let said = 0; said < 60; said++) {
          const from = performance.now()
          yield 'x'.repeat(10_000)
          const ms = performance.now() - from
          if (ms > longest.ms) longest = { ms, said }
          queued = Math.max(queued, server.status().streams.queuedBytes)
        }
      },
    }],
  })
  const first = await ask(server)
  await first.has('a')
  const second = await server.fetch(request(STREAM))
  begin()
  await first.ended()
  // It stood still for as long as the slower one was waited for.
  assert.ok(longest.ms > 1_000 && longest.said < 40, `${longest.ms} ms behind ${longest.said}`)
  assert.ok(queued < 200_000, `${queued} bytes`)
  assert.equal(first.parts('delta').length, 61)
  await assert.rejects(second.text())
})

test('of a chat that has ended its stream alone is kept', async (t) => {
  const { server, runs } = serving(t, { resumeMs: LONG_MS })
  const one = async (n: number): Promise<void> => {
    const reader = await ask(server, { id: `chat-of-${n}`, note: `${n}`.repeat(500_000) })
    runs.at(-1)!.end()
    await reader.ended()
    ;(runs as Run[]).length = 0
  }
  await one(1)
  const before = heldBytes()
  for (let n = 2; n < 10; n++) await one(n)
  assert.ok(heldBytes() - before < 1_000_000, `${heldBytes() - before} bytes are held`)
  assert.equal((await resume(server, '/ui-stream/chat-of-2/stream')).status, 200)
})

test('a server that closes keeps nothing of what was unread', async (t) => {
  const { server, runs } = serving(t, { resumeMs: LONG_MS })
  await (await ask(server)).leave()
  await (await ask(server, { id: 'chat-0002' })).leave()
  runs[0]!.end()
  await pause(10)
  await server.close()
  assert.ok(runs[1]!.isAborted)
  // That nothing is leased any more is looked at when this process ends.
})

test('with an Idempotency-Key a run goes on without a reader, and is read or stopped', async (t) => {
  const { server, runs } = serving(t)
  const key = { 'idempotency-key': 'k' }
  const first = await ask(server, {}, key)
  await first.has('a')
  await first.leave()
  const later = await resume(server)
  await later.has('a')
  await later.leave()
  assert.equal(runs[0]!.isAborted, false)
  assert.equal((await ask(server, {}, key)).status, 409)
  assert.equal((await server.fetch(request(STREAM, undefined, {}, 'DELETE'))).status, 204)
  assert.equal(runs[0]!.isAborted, true)
  // What was stopped is not kept.
  const second = await ask(server, {}, key)
  await second.has('a')
  runs[1]!.say('b')
  await second.has('a', 'b')
  runs[1]!.end()
  await second.ended()
  // A reply of before takes no stream from a run that goes on.
  const other = await ask(server, { messages: [saying('More')] })
  const again = await ask(server, {}, key)
  await again.ended()
  assert.equal(again.text, second.text)
  assert.equal(runs[2]!.isAborted, false)
  const reader = await resume(server)
  await reader.has('a')
  runs[2]!.end()
  await Promise.all([other.ended(), reader.ended()])
})

test('processes that share a store find the chats of each other', async (t) => {
  const { servers: [one, two, three], runs } = await several(t)
  const first = await ask(one!)
  await first.has('a')
  await first.leave()
  let second!: Reader
  await eventually(async () => (second = await resume(two!)).status === 200)
  await second.has('a')
  const third = await resume(three!)
  runs[0]!.say('b')
  for (const reader of [second, third]) await reader.has('a', 'b')
  assert.deepEqual(second.parts('messageId'), first.parts('messageId'))
  await second.leave()
  runs[0]!.end()
  await third.ended()
  assert.ok(third.text.endsWith('data: [DONE]\n\n'))
  const late = await resume(two!)
  await late.ended()
  assert.equal(late.text, third.text)
  assert.equal((await resume(two!, '/ui-stream/chat-0002/stream')).status, 204)
})

test('a reader at another process is one whose leaving counts', async (t) => {
  const { servers: [one, two], runs } = await several(t, { resumeMs: 1_500 })
  await (await ask(one!)).leave()
  let second!: Reader
  await eventually(async () => (second = await resume(two!)).status === 200)
  await pause(2_000)
  assert.equal(runs[0]!.isAborted, false)
  await second.leave()
  await eventually(() => runs[0]!.isAborted)
  assert.equal((await resume(two!)).status, 204)
})

test('a chat is stopped, and replaced, from another process', async (t) => {
  const { servers: [one, two], runs } = await several(t)
  const isFound = async (server: TriportServer): Promise<boolean> => {
    const reader = await resume(server)
    await reader.leave()
    return reader.status === 200
  }
  await (await ask(one!)).leave()
  await eventually(() => isFound(two!))
  await (await ask(two!)).leave()
  await eventually(() => runs[0]!.isAborted)
  await eventually(() => isFound(one!))
  assert.equal(runs[1]!.isAborted, false)
  assert.equal((await one!.fetch(request(STREAM, undefined, {}, 'DELETE'))).status, 204)
  await eventually(() => runs[1]!.isAborted)
  await eventually(async () => !await isFound(one!))
})

test('what processes know of a chat makes room, however long its run may take', async (t) => {
  const shared = sharedMemory()
  const { memory } = shared
  const times: number[] = []
  const { write } = memory
  memory.write = (id, value, keepMs, expected) => {
    if (id.collection.endsWith('chats')) times.push(keepMs)
    return write(id, value, keepMs, expected)
  }
  const { agents } = speakers()
  const { servers: [one] } = await fleetOf(t, 1, {
    agents, resumeMs: LONG_MS, agentTimeoutMs: Infinity, protocol: 'http',
  }, shared)
  await (await ask(one!, { messages: [saying('Now')] })).ended()
  await eventually(() => times.length === 1)
  assert.ok(times[0]! > LONG_MS && times[0]! < Infinity, String(times))
})

test('of a process that has died a reader is told, and later ones find nothing', async (t) => {
  const { agents } = speakers()
  const { servers: [one, two], connections } = await fleetOf(t, 2, {
    agents, resumeMs: LONG_MS, protocol: 'http', leaseMs: 1_000, storeTimeoutMs: 500,
  })
  const first = await ask(one!)
  await first.has('a')
  let second!: Reader
  await eventually(async () => (second = await resume(two!)).status === 200)
  await second.has('a')
  connections[0]!.isCut = true
  await second.ended()
  assert.match(second.text, /The process that ran the chat has ended/)
  assert.equal((await resume(two!)).status, 204)
  await first.leave()
})
