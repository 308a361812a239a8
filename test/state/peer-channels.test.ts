import assert from 'node:assert/strict'
import test from 'node:test'
import { PeerChannels } from '../../lib/state/peer-channels.ts'
import { holdUp } from '../fixtures/time.ts'
import type { ClusterMembership } from '../../lib/state/cluster.ts'

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
