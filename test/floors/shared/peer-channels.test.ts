import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import { ClusterMembership } from '../../../lib/floors/shared/cluster.ts'
import { guardedStore } from '../../../lib/floors/shared/guarded-store.ts'
import { ChannelSink, PeerChannels } from '../../../lib/floors/shared/peer-channels.ts'
import { createSeal } from '../../../lib/kernel/wire/seal.ts'
import { holdUp, keepingTimers, standingTime } from '../../fixtures/time.ts'
import type { ChannelListener } from '../../../lib/floors/shared/peer-channels.ts'

type Hear = (body: unknown, from: string) => void

/** Lines to a process that answers while it is still being asked, as a store may bring it that publishes. */
function hastyLines(answer: (hear: ReadonlyMap<string, Hear>, id: string) => void): PeerChannels {
  const hear = new Map<string, Hear>()
  const nodes: Partial<Record<keyof ClusterMembership, unknown>> = {
    id: 'here',
    beatMs: 1_000,
    on: (kind: string, listener: Hear) => hear.set(kind, listener),
    onLost: () => {},
    isAlive: () => Promise.resolve(true),
    send(_node: string, kind: string, body: readonly unknown[]) {
      if (kind === 'open') answer(hear, String(body[0]))
      return Promise.resolve()
    },
  }
  return new PeerChannels(nodes as unknown as ClusterMembership)
}

test('an answer that is there before the question has left is heard', async () => {
  const lines = hastyLines((hear, id) => hear.get('say')!([id, 'answered'], 'there'))
  assert.equal(await lines.ask('there', 'any', 'question', 5_000), 'answered')
})

test('a line that ends before its question has left has ended', async () => {
  const lines = hastyLines((hear, id) => hear.get('end')!(id, 'there'))
  await assert.rejects(lines.ask('there', 'any', 'question', 5_000), { kind: 'busy' })
})

test('whoever opens a line has it before anything is heard on it', async () => {
  const lines = hastyLines((hear, id) => {
    hear.get('say')!([id, 1], 'there')
    hear.get('say')!([id, 2], 'there')
    hear.get('end')!(id, 'there')
  })
  const heard: unknown[] = []
  await new Promise<void>((resolve) => {
    const line = lines.open('there', 'any', 'question', {
      onMessage: (value) => heard.push([line.node, value]),
      onEnd: () => resolve(),
      onLost: () => assert.fail('nothing is lost'),
    })
  })
  assert.deepEqual(heard, [['there', 1], ['there', 2]])
})

test('an answer that came while this process was held up is heard', async () => {
  const lines = hastyLines((hear, id) => {
    setImmediate(() => setImmediate(() => hear.get('say')!([id, 'answered'], 'there')))
  })
  const answer = lines.ask('there', 'any', 'question', 20)
  holdUp(200)
  assert.equal(await answer, 'answered')
})

test('without a limit, an answer is waited for as long as it takes', async () => {
  const lines = hastyLines((hear, id) => {
    setTimeout(() => hear.get('say')!([id, 'answered'], 'there'), 20)
  })
  assert.equal(await lines.ask('there', 'any', 'question', Infinity), 'answered')
})

/** The lines of a process whose others do what the test says. */
interface Scene {
  readonly lines: PeerChannels
  /** What was sent, by kind. */
  readonly sent: (readonly [node: string, kind: string, body: unknown])[]
  /** Whom it has looked for. */
  readonly looked: string[]
  /** Nobody else lives. */
  readonly alive: Set<string>
  hear(kind: string, body: unknown, from?: string): void
  lose(isFirst: boolean): void
  /** How what is sent from now on ends. */
  ends(how: () => Promise<void>): void
}

function scene(beatMs = 10_000): Scene {
  const hear = new Map<string, Hear>()
  const sent: Scene['sent'] = []
  const looked: string[] = []
  const alive = new Set<string>()
  let lost: (isFirst: boolean) => void = () => {}
  let how = (): Promise<void> => Promise.resolve()
  const nodes: Partial<Record<keyof ClusterMembership, unknown>> = {
    id: 'here',
    beatMs,
    on: (kind: string, listener: Hear) => hear.set(kind, listener),
    onLost: (listener: typeof lost) => { lost = listener },
    async isAlive(node: string) {
      looked.push(node)
      if (node === 'unknown') throw new Error('away')
      return alive.has(node)
    },
    send(node: string, kind: string, body: unknown) {
      sent.push([node, kind, body])
      return how()
    },
  }
  return {
    lines: new PeerChannels(nodes as unknown as ClusterMembership), sent, looked, alive,
    hear: (kind, body, from = 'there') => hear.get(kind)!(body, from),
    lose: (isFirst) => lost(isFirst),
    ends: (next) => { how = next },
  }
}

/** A listener that writes down what it hears. */
function listening(): { readonly heard: unknown[]; readonly listener: ChannelListener } {
  const heard: unknown[] = []
  return {
    heard,
    listener: {
      onMessage: (value) => heard.push(value),
      onEnd: () => heard.push('end'),
      onLost: () => heard.push('lost'),
    },
  }
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
}

test('what is said on a line is heard until one of the two ends it, and is of that line alone', () => {
  const one = scene()
  const [first, second] = [listening(), listening()]
  const line = one.lines.open('there', 'any', { q: 1 }, first.listener)
  const other = one.lines.open('there', 'any', null, second.listener)
  assert.deepEqual(one.sent, [
    ['there', 'open', ['here.1', 'any', { q: 1 }]], ['there', 'open', ['here.2', 'any', null]],
  ])
  one.hear('say', ['here.1', 1])
  one.hear('say', ['here.2', 2])
  line.send('a')
  one.hear('end', 'here.2')
  one.hear('say', ['here.2', 3])
  one.hear('end', 'here.2')
  // It has ended: nothing is sent on it, nor is its end.
  other.send('b')
  other.end()
  line.end()
  line.end()
  line.send('c')
  one.hear('say', ['here.1', 4])
  one.hear('end', 'here.1')
  one.lose(false)
  assert.deepEqual([first.heard, second.heard], [[1], [2, 'end']])
  assert.deepEqual(one.sent.slice(2), [['there', 'say', ['here.1', 'a']], ['there', 'end', 'here.1']])
})

test('a line that another opens is taken by who takes its kind, or ended', () => {
  const one = scene()
  const { heard, listener } = listening()
  one.lines.on('taken', (request, line) => {
    heard.push(request, line.node)
    line.send('hello')
    return listener
  })
  one.lines.on('refused', () => undefined)
  one.lines.on('over', (_request, line) => {
    line.send('all')
    line.end()
    return undefined
  })
  one.hear('open', ['there.1', 'taken', 'request'])
  one.hear('say', ['there.1', 'word'])
  one.hear('end', 'there.1')
  one.hear('open', ['there.2', 'refused', 1])
  one.hear('open', ['there.3', 'unknown', 1])
  one.hear('open', ['there.4', 'over', 1])
  assert.deepEqual(heard, ['request', 'there', 'word', 'end'])
  assert.deepEqual(one.sent, [
    ['there', 'say', ['there.1', 'hello']], ['there', 'end', 'there.2'], ['there', 'end', 'there.3'],
    ['there', 'say', ['there.4', 'all']], ['there', 'end', 'there.4'],
  ])
})

test('what has no form is no message', () => {
  const one = scene()
  one.lines.on('any', () => assert.fail('taken'))
  const { heard, listener } = listening()
  one.lines.open('there', 'any', null, listener)
  for (const body of [undefined, null, 'here.1', { 0: 'here.1', 1: 'any' }, [], [1, 'any'], ['x', 1]]) {
    one.hear('open', body)
    one.hear('say', body)
    if (body !== 'here.1') one.hear('end', body)
  }
  assert.deepEqual([heard, one.sent.length], [[], 1])
})

test('where messages are lost all lines are, but not by what came before there was one', () => {
  const one = scene()
  const [mine, theirs] = [listening(), listening()]
  one.lines.on('any', () => theirs.listener)
  one.lines.open('there', 'any', null, mine.listener)
  one.hear('open', ['there.1', 'any', null])
  one.lose(true)
  assert.deepEqual([mine.heard, theirs.heard, one.sent.length], [[], [], 1])
  one.lose(false)
  one.lose(false)
  assert.deepEqual([mine.heard, theirs.heard], [['lost'], ['lost']])
  // The others are told, if they can be.
  assert.deepEqual(one.sent.slice(1), [['there', 'end', 'here.1'], ['there', 'end', 'there.1']])
})

test('a line on which something could not be sent is lost, whatever its listener does then', async () => {
  const one = scene()
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
  const { heard, listener } = listening()
  one.lines.open('there', 'any', null, { onLost() { throw new Error('odd') } })
  const line = one.lines.open('there', 'any', null, listener)
  one.ends(() => Promise.reject(new Error('away')))
  line.send(1)
  line.send(2)
  await settled()
  assert.deepEqual(heard, ['lost'])
  one.lose(false)
  assert.equal((await warned).message, 'odd')
})

test('what is on its way on a line is bounded, and what has arrived does not count', async () => {
  const MiB = 1024 * 1024
  for (const more of [0, 1]) {
    const one = scene()
    one.alive.add('there')
    let arrive: (() => void)[] = []
    const { heard, listener } = listening()
    const line = one.lines.open('there', 'any', null, listener)
    one.ends(() => new Promise((resolve) => { arrive.push(resolve) }))
    await settled()
    const beside = JSON.stringify(['here.1', '']).length
    line.send('x'.repeat(32 * MiB - beside))
    await settled()
    assert.deepEqual(heard, [])
    for (const done of arrive) done()
    arrive = []
    await settled()
    line.send('x'.repeat(16 * MiB - beside))
    line.send('x'.repeat(16 * MiB - beside + more))
    await settled()
    assert.deepEqual(heard, more === 0 ? [] : ['lost'])
    // What is too much is not sent.
    assert.equal(one.sent.filter(([, kind]) => kind === 'say').length, more === 0 ? 3 : 2)
  }
})

test('while lines are open the other sides are looked for, each once, until none is', async (t) => {
  const pass = standingTime(t)
  for (const beatMs of [500, 5_000]) {
    const one = scene(beatMs)
    const lookMs = Math.min(1_000, beatMs)
    const both = async (): Promise<void> => {
      pass(lookMs)
      await settled()
    }
    one.alive.add('there')
    const all = ['there', 'there', 'dead', 'unknown'].map((node) => {
      const { heard, listener } = listening()
      return { heard, line: one.lines.open(node, 'any', null, listener) }
    })
    pass(lookMs - 1)
    await settled()
    assert.deepEqual(one.looked, [])
    pass(1)
    await settled()
    assert.deepEqual(one.looked.splice(0), ['there', 'dead', 'unknown'])
    assert.deepEqual(all.map(({ heard }) => heard), [[], [], ['lost'], []])
    await both()
    assert.deepEqual(one.looked.splice(0), ['there', 'unknown'])
    all[3]!.line.end()
    one.alive.clear()
    await both()
    assert.deepEqual(all.map(({ heard }) => heard), [['lost'], ['lost'], ['lost'], []])
    one.looked.splice(0)
    await both()
    assert.deepEqual(one.looked, [])
    // Nor is there a beat that goes on: the next look is a whole time after the next line.
    pass(1)
    one.lines.open('there', 'any', null, {})
    pass(lookMs - 1)
    await settled()
    assert.deepEqual(one.looked, [])
    pass(1)
    await settled()
    assert.deepEqual(one.looked, ['there'])
  }
})

test('a process is kept neither by its beats nor by the lines that it has', async (t) => {
  const before = keepingTimers()
  const limits = limitsOf({})
  const store = guardedStore(memoryStore({ isShared: true }), limits, () => {})
  const nodes = new ClusterMembership(store, createSeal('the secret of all'), limits, () => {})
  t.after(() => nodes.close(true))
  const beat = new Promise<void>((resolve) => nodes.onBeat(resolve))
  new PeerChannels(nodes).open('there', 'any', null, {})
  await beat
  await settled()
  assert.equal(keepingTimers(), before)
})

test('who asks hears the first word alone, and why there is none', async (t) => {
  const pass = standingTime(t)
  const busy = { kind: 'busy', message: 'Another process does not answer; try again later' }
  const dead = { kind: 'not-found', message: 'The process that had it has ended' }
  const rows: readonly (readonly [
    what: string, node: string, act: (one: Scene) => void, outcome: unknown, isEnded: boolean,
  ])[] = [
    ['two words', 'there', (one) => {
      one.hear('say', ['here.1', 1])
      one.hear('say', ['here.1', 2])
    }, 1, true],
    ['the end', 'there', (one) => one.hear('end', 'here.1'), busy, false],
    ['silence', 'there', () => pass(100), busy, true],
    ['silence of the dead', 'gone', () => pass(100), dead, true],
    ['silence, and the store is away', 'unknown', () => pass(100), { message: 'away' }, true],
    ['a line that is lost', 'there', (one) => one.lose(false), busy, true],
    ['the same, of the dead', 'gone', (one) => one.lose(false), dead, true],
  ]
  for (const [what, node, act, outcome, isEnded] of rows) {
    const one = scene()
    one.alive.add('there')
    const answer = one.lines.ask(node, 'any', 'question', 100)
    act(one)
    if (typeof outcome === 'number') assert.equal(await answer, outcome, what)
    else await assert.rejects(answer, outcome as object, what)
    // Nothing comes of it later.
    pass(1_000)
    await settled()
    const ends = one.sent.filter(([, kind]) => kind === 'end')
    assert.deepEqual(ends, isEnded ? [[node, 'end', 'here.1']] : [], what)
  }
})

test('a question that has ended leaves no timer behind', async () => {
  const before = keepingTimers()
  for (const end of [
    (one: Scene) => one.hear('say', ['here.1', 1]), (one: Scene) => one.hear('end', 'here.1'),
    (one: Scene) => one.lose(false),
  ]) {
    const one = scene()
    const asked = one.lines.ask('there', 'any', 'question', 60_000).catch(() => {})
    assert.equal(keepingTimers(), before + 1)
    end(one)
    await asked
    assert.equal(keepingTimers(), before)
  }
})

test('a long text goes in pieces that stores take, and no character is cut', async () => {
  const one = scene()
  const sink = new ChannelSink(one.lines.open('there', 'any', null, {}))
  assert.equal(sink.closed, false)
  await sink.ready()
  const PIECE = 262_144
  const text = `${'x'.repeat(PIECE - 1)}\u{1f600}${'y'.repeat(PIECE)}\n`
  assert.equal(sink.write(text), true)
  assert.equal(sink.write(''), true)
  sink.end('last')
  const words = one.sent.slice(1).map(([, kind, body]) => (
    kind === 'say' ? (body as readonly string[])[1]! : kind
  ))
  assert.deepEqual(words.slice(-2), ['last', 'end'])
  assert.equal(words.slice(0, -2).join(''), text)
  assert.deepEqual(words.slice(0, -2).map((word) => [...word].length), [PIECE, PIECE, 1])
})
