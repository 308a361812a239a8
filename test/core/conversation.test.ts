import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Conversations } from '../../lib/core/conversation.ts'
import { limitsOf } from '../../lib/core/defaults.ts'
import type { Limits, ChatMessage } from '../../lib/index.ts'

function conversations(limits: Partial<Limits> = {}): Conversations {
  return new Conversations(limitsOf(limits))
}

const user = (content: string): ChatMessage => ({ role: 'user', content })

/** Which of the named conversations are still known. Looks without naming them. */
function known(all: Conversations, owner: string, ids: readonly string[]): readonly string[] {
  return ids.filter((id) => all.history(owner, id).length > 0)
}

test('what was said is there for its owner, and for nobody else', () => {
  const all = conversations()
  all.record('ann', 'a', [user('one')])
  all.record('ann', 'a', [user('two')])
  assert.deepEqual(all.history('ann', 'a'), [user('one'), user('two')])
  assert.deepEqual(all.history('bob', 'a'), [])
  assert.deepEqual(all.history('ann', 'b'), [])
  all.record('bob', 'a', [user('three')])
  assert.equal(all.history('ann', 'a').length, 2)
  assert.equal(all.count, 2)
})

test('a history that was handed out does not change', () => {
  const all = conversations()
  all.record('ann', 'a', [user('one')])
  const before = all.history('ann', 'a')
  all.record('ann', 'a', [user('two')])
  assert.deepEqual(before, [user('one')])
})

test('an id that is made is not guessed', () => {
  const all = conversations()
  const ids = new Set(Array.from({ length: 100 }, () => all.makeId()))
  assert.equal(ids.size, 100)
  for (const id of ids) assert.match(id, /^[\w.-]{8,128}$/)
})

test('the oldest messages make room within a conversation, by number and by bytes', () => {
  const few = conversations({ conversationMessages: 3 })
  for (const said of ['1', '2', '3', '4']) few.record('ann', 'a', [user(said)])
  assert.deepEqual(few.history('ann', 'a').map(({ content }) => content), ['2', '3', '4'])
  const small = conversations({ conversationBytes: 100 })
  for (let at = 0; at < 10; at++) small.record('ann', 'a', [user('é'.repeat(20))])
  assert.equal(small.history('ann', 'a').length, 2)
  assert.ok(small.bytes <= 100)
  small.record('ann', 'a', [user('x'.repeat(200))])
  assert.deepEqual([small.history('ann', 'a'), small.bytes], [[], 0])
})

test('one that was never named again makes room first, the oldest of them', () => {
  const all = conversations({ maxConversations: 3 })
  for (const id of ['named', 'b', 'c']) all.record('ann', id, [user(id)])
  all.history('ann', 'named')
  all.record('bob', 'd', [user('d')])
  assert.deepEqual(known(all, 'ann', ['named', 'b', 'c']), ['named', 'c'])
  assert.deepEqual(known(all, 'bob', ['d']), ['d'])
})

test('then the one idle for longest of the principal that holds most', () => {
  const all = conversations({ maxConversations: 4 })
  all.record('bob', 'only', [user('only')])
  for (const id of ['a', 'b', 'c']) all.record('ann', id, [user(id)])
  all.history('bob', 'only')
  for (const id of ['b', 'c', 'a']) all.history('ann', id)
  all.record('eve', 'new', [user('new')])
  assert.deepEqual(known(all, 'bob', ['only']), ['only'])
  assert.deepEqual(known(all, 'ann', ['a', 'b', 'c']), ['a', 'c'])
})

test('where bytes are short, who holds most of them gives way, however few conversations they are', () => {
  const all = conversations({ maxConversationsBytes: 1_000, conversationBytes: 600 })
  for (let at = 0; at < 5; at++) all.record('ann', `small-${at}`, [user('x'.repeat(10))])
  all.record('bob', 'large', [user('x'.repeat(500))])
  for (let at = 0; at < 5; at++) all.history('ann', `small-${at}`)
  all.history('bob', 'large')
  all.record('eve', 'new', [user('x'.repeat(500))])
  assert.deepEqual(known(all, 'bob', ['large']), [])
  assert.equal(known(all, 'ann', [0, 1, 2, 3, 4].map((at) => `small-${at}`)).length, 5)
  assert.deepEqual(known(all, 'eve', ['new']), ['new'])
  assert.ok(all.bytes <= 1_000)
})

test('the one that grows past all bounds together pushes others out, not itself', () => {
  const all = conversations({ maxConversationsBytes: 1_000, conversationBytes: 900 })
  all.record('bob', 'b', [user('x'.repeat(300))])
  all.history('bob', 'b')
  for (let at = 0; at < 4; at++) all.record('ann', 'a', [user('x'.repeat(200))])
  assert.deepEqual(known(all, 'bob', ['b']), [])
  assert.equal(all.history('ann', 'a').length, 4)
})

test('a conversation that nobody goes on with is forgotten', async () => {
  const all = conversations({ conversationIdleMs: 30 })
  all.record('ann', 'a', [user('one')])
  all.record('ann', 'b', [user('one')])
  all.history('ann', 'b')
  await sleep(60)
  assert.deepEqual(all.history('ann', 'a'), [])
  all.record('ann', 'c', [user('one')])
  assert.equal(all.count, 1)
})

test('the account of what is held is right after everything', () => {
  const all = conversations({
    maxConversations: 20, conversationMessages: 5, conversationBytes: 200, maxConversationsBytes: 1_500,
  })
  for (let at = 0; at < 2_000; at++) {
    const owner = `owner-${at * 7 % 5}`
    const id = `id-${at * 13 % 11}`
    if (at % 3 === 0) all.history(owner, id)
    all.record(owner, id, [user('x'.repeat(at * 31 % 120))])
    assert.ok(all.count <= 20 && all.bytes <= 1_500 && all.bytes >= 0, `round ${at}`)
  }
  let bytes = 0
  for (let at = 0; at < 55; at++) {
    for (const { role, content } of all.history(`owner-${at % 5}`, `id-${at % 11}`)) {
      bytes += role.length + content.length
    }
  }
  assert.equal(all.bytes, bytes)
})
