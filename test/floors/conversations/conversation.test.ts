import assert from 'node:assert/strict'
import test from 'node:test'
import { Conversations } from '../../../lib/floors/conversations/conversation.ts'
import { StoredConversations } from '../../../lib/floors/conversations/stored-conversations.ts'
import { limitsOf } from '../../../lib/kernel/define/limits.ts'
import { memoryStore } from '../../../lib/floors/memory/memory-store.ts'
import { standingTime } from '../../fixtures/time.ts'
import type { ChatMessage, Limits, Log, MemoryStore, Store } from '../../../lib/index.ts'
import type { LogLevel } from '../../../lib/kernel/define/log.ts'
import type { ConversationPage } from '../../../lib/floors/conversations/conversation-page.ts'

/** Conversations in a store that is shared. */
function conversationsOn(store: Store, limits = limitsOf({}), log: Log = () => {}): Conversations {
  return new Conversations(limits, new StoredConversations(limits, store, log))
}

/** Conversations in memory, where nothing is waited for: a promise is a failure. */
class Here {
  readonly all: Conversations

  constructor(limits: Partial<Limits> = {}) {
    this.all = new Conversations(limitsOf(limits))
  }

  get count(): number { return this.all.count }
  get bytes(): number { return this.all.bytes }

  history(owner: string, id: string): readonly ChatMessage[] {
    const history = this.all.history(owner, id)
    assert.ok(!(history instanceof Promise))
    return history
  }

  record(owner: string, id: string, said: readonly ChatMessage[]): void {
    assert.equal(this.all.record(owner, id, said), undefined)
  }

  /** The answer is what was asked, louder. */
  begin(owner: string, id: string, asked: string): void {
    assert.equal(this.all.begin(owner, id, asked, `${asked}!`), undefined)
  }
}

function conversations(limits: Partial<Limits> = {}): Here {
  return new Here(limits)
}

const user = (content: string): ChatMessage => ({ role: 'user', content })
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content })

/** Which of the named conversations are still known. Looks without naming those that are not. */
function known(all: Here, owner: string, ids: readonly string[]): readonly string[] {
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

test('owners and ids of any form are told apart', async () => {
  const all = conversations()
  const names = ['', '1', '11', '1:', ':1', 'a', 'a:', '2:a', 'a\0', '\0a']
  const ids = names.slice(1)
  for (const owner of names) for (const id of ids) all.record(owner, id, [user(`${owner} and ${id}`)])
  for (const owner of names) {
    for (const id of ids) assert.deepEqual(all.history(owner, id), [user(`${owner} and ${id}`)])
  }
  const id = 'a-long-id'
  all.record('2:a', id, [user('x')])
  assert.deepEqual((await all.all.list('2:a', 1)).conversations.map((one) => one.id), [id])
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
  const ids = new Set(Array.from({ length: 100 }, () => all.all.makeId()))
  assert.equal(ids.size, 100)
  for (const id of ids) assert.match(id, /^[\w.-]{8,128}$/)
})

test('one that is begun under an id that was made for it makes room like every other', () => {
  const all = conversations({ maxConversations: 2 })
  const ids = ['one', 'two', 'three'].map((said) => {
    const id = all.all.makeId()
    all.begin('ann', id, said)
    return id
  })
  assert.equal(all.count, 2)
  assert.deepEqual(known(all, 'ann', ids), ids.slice(1))
  all.record('ann', ids[1]!, [user('more')])
  assert.deepEqual(all.history('ann', ids[1]!), [user('two'), assistant('two!'), user('more')])
})

test('what was begun is there word by word when it is named, and counts for as much', () => {
  const texts = [
    '', 'plain', '\0\n"', 'x'.repeat(110), 'x'.repeat(111), 'x'.repeat(5_000), 'gr\u00fc\u00df', '\u20ac',
    '\u{1f600}', '\ud800 alone', 'x'.repeat(219),
  ]
  const all = conversations()
  const ids = texts.map((text) => {
    const id = all.all.makeId()
    all.begin('ann', id, text)
    return id
  })
  const bytes = texts.reduce((sum, text) => sum + 2 * Buffer.byteLength(text) + 'userassistant!'.length, 0)
  assert.deepEqual([all.count, all.bytes], [texts.length, bytes])
  for (const [at, text] of texts.entries()) {
    assert.deepEqual(all.history('ann', ids[at]!), [user(text), assistant(`${text}!`)], JSON.stringify(text))
  }
  assert.deepEqual([all.count, all.bytes], [texts.length, bytes])
})

test('one is begun under an id of any kind', () => {
  const all = conversations()
  for (const id of ['tools', 'x'.repeat(36), 'é'.repeat(128)]) {
    all.begin('ann', id, id)
    assert.deepEqual(all.history('ann', id), [user(id), assistant(`${id}!`)])
  }
})

test('one that is begun is nobody else\'s, and naming it keeps it', () => {
  const all = conversations({ maxConversations: 3 })
  const [kept, id] = [all.all.makeId(), all.all.makeId()] as const
  all.begin('ann', kept, 'kept')
  assert.deepEqual(all.history('bob', kept), [])
  assert.equal(all.history('ann', kept).length, 2)
  all.begin('ann', id, 'one')
  for (const said of ['two', 'three', 'four']) all.begin('ann', all.all.makeId(), said)
  assert.deepEqual(known(all, 'ann', [kept, id]), [kept])
  assert.equal(all.count, 3)
})

test('of what was begun and what a client named once, the one idle for longest makes room', (t) => {
  const pass = standingTime(t)
  for (const first of ['begun', 'named once'] as const) {
    const all = conversations({ maxConversations: 2 })
    const id = all.all.makeId()
    const both = [() => all.begin('ann', id, 'x'), () => all.record('ann', 'once', [user('x')])]
    for (const begin of first === 'begun' ? both : both.reverse()) {
      begin()
      pass(1)
    }
    all.begin('ann', all.all.makeId(), 'x')
    assert.deepEqual(known(all, 'ann', [id, 'once']), first === 'begun' ? ['once'] : [id])
  }
})

test('one that is begun keeps within the limits of a conversation, and within those of all', () => {
  const cases: readonly (readonly [Partial<Limits>, readonly ChatMessage[]])[] = [
    [{ conversationMessages: 1 }, [assistant('said!')]],
    [{ conversationBytes: 'assistantsaid!'.length }, [assistant('said!')]],
    [{ conversationBytes: 5 }, []],
    [{ maxConversationsBytes: 'assistantsaid!'.length }, [assistant('said!')]],
    [{ maxConversationsBytes: 5 }, []],
  ]
  for (const [limits, left] of cases) {
    const all = conversations(limits)
    const id = all.all.makeId()
    all.begin('ann', id, 'said')
    const held = left.reduce((sum, { role, content }) => sum + role.length + content.length, 0)
    assert.deepEqual([all.history('ann', id), all.bytes], [left, held], JSON.stringify(limits))
  }
})

test('one that is begun and is more than anybody else has makes room from its own beginning', () => {
  const all = conversations({ maxConversationsBytes: 100, conversationBytes: 100 })
  const others = ['b', 'c', 'd', 'e']
  for (const owner of others) all.record(owner, 'only', [user('x'.repeat(18))])
  const id = all.all.makeId()
  all.begin('ann', id, 'y'.repeat(14))
  assert.equal(all.bytes, 88)
  assert.deepEqual(all.history('ann', id), [])
  for (const owner of others) assert.equal(all.history(owner, 'only').length, 1, owner)
})

test('what was begun and is named by nobody is forgotten after its time, whoever comes then', (t) => {
  const pass = standingTime(t)
  const all = conversations({ conversationIdleMs: 30 })
  const [old, named] = [all.all.makeId(), all.all.makeId()] as const
  all.begin('ann', old, 'old')
  all.begin('ann', named, 'named')
  pass(20)
  all.history('ann', named)
  pass(20)
  assert.deepEqual(all.history('ann', old), [])
  assert.equal(all.count, 1)
  all.begin('ann', all.all.makeId(), 'more')
  pass(31)
  all.begin('bob', all.all.makeId(), 'new')
  assert.deepEqual([all.count, all.bytes], [1, 'usernewassistantnew!'.length])
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

test('of what one principal holds, what was never named again makes room first, the oldest of it', () => {
  const all = conversations({ maxConversations: 3 })
  for (const id of ['named', 'b', 'c']) all.record('ann', id, [user(id)])
  all.history('ann', 'named')
  all.record('bob', 'd', [user('d')])
  assert.deepEqual(known(all, 'ann', ['named', 'b', 'c']), ['named', 'c'])
  assert.deepEqual(known(all, 'bob', ['d']), ['d'])
})

test('a flood of one principal pushes out its own, named or not, and nothing of another\'s', () => {
  for (const isNamed of [false, true]) {
    const all = conversations({ maxConversations: 20 })
    for (const id of ['a', 'b', 'c', 'd', 'e']) all.record('ann', id, [user(id)])
    for (let at = 0; at < 100; at++) {
      all.record('bob', `b-${at}`, [user('x')])
      if (isNamed) all.history('bob', `b-${at}`)
    }
    assert.deepEqual(known(all, 'ann', ['a', 'b', 'c', 'd', 'e']), ['a', 'b', 'c', 'd', 'e'])
    assert.equal(all.count, 20)
  }
})

test('who holds most makes room for one that holds less, even from what it goes on with', () => {
  const all = conversations({ maxConversations: 10 })
  const ids = Array.from({ length: 10 }, (_, at) => `a-${at}`)
  for (const id of ids) all.record('ann', id, [user(id)])
  for (const id of ids) all.history('ann', id)
  for (let at = 0; at < 30; at++) all.record('bob', `b-${at}`, [user('x')])
  assert.deepEqual(known(all, 'ann', ids), ids.slice(5))
  assert.equal(all.count, 10)
})

test('of principals that hold equally much, the one idle for longest makes room', () => {
  const all = conversations({ maxConversations: 3 })
  for (const owner of ['ann', 'bob', 'cal']) all.record(owner, 'only', [user(owner)])
  all.history('ann', 'only')
  all.record('dan', 'only', [user('dan')])
  assert.deepEqual(['ann', 'bob', 'cal', 'dan'].filter((owner) => known(all, owner, ['only']).length > 0),
    ['ann', 'cal', 'dan'])
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

test('a conversation that is more than anybody else has makes room from its own beginning', () => {
  const all = conversations({ maxConversationsBytes: 1_000, conversationBytes: 900 })
  all.record('bob', 'b', [user('x'.repeat(300))])
  for (const text of ['1', '2', '3', '4']) all.record('ann', 'a', [user(text.repeat(200))])
  assert.deepEqual(known(all, 'bob', ['b']), ['b'])
  assert.deepEqual(all.history('ann', 'a').map(({ content }) => content[0]), ['2', '3', '4'])
  assert.ok(all.bytes <= 1_000)
})

test('a conversation that nobody goes on with is forgotten, whoever comes then', (t) => {
  const pass = standingTime(t)
  const all = conversations({ conversationIdleMs: 30 })
  all.record('ann', 'a', [user('one')])
  all.record('ann', 'b', [user('one')])
  all.history('ann', 'b')
  all.record('bob', 'c', [user('one')])
  pass(60)
  assert.deepEqual(all.history('ann', 'a'), [])
  assert.equal(all.count, 2)
  all.record('ann', 'b', [user('two')])
  assert.equal(all.count, 1)
  assert.deepEqual(all.history('ann', 'b'), [user('two')])
})

test('what nobody goes on with is kept to the last millisecond of its time, whoever comes then', (t) => {
  const pass = standingTime(t)
  for (const [passedMs, isKept] of [[1_500, true], [1_501, false]] as const) {
    const all = conversations({ conversationIdleMs: 1_500 })
    pass(2_000)
    const ids = [all.all.makeId(), 'chosen-by-ann', 'named-by-ann']
    all.begin('ann', ids[0]!, 'x')
    for (const id of ids.slice(1)) all.record('ann', id, [user('x')])
    all.history('ann', ids[2]!)
    pass(passedMs)
    all.begin('bob', all.all.makeId(), 'x')
    assert.equal(all.count, isKept ? 4 : 1)
    assert.deepEqual(known(all, 'ann', ids), isKept ? ids : [])
  }
})

test('one that is gone on with is not forgotten with those begun at the same time', (t) => {
  const pass = standingTime(t)
  const all = conversations({ conversationIdleMs: 2_000 })
  for (const id of ['a', 'b', 'c']) all.record('ann', id, [user(id)])
  all.history('ann', 'a')
  pass(1_500)
  all.history('ann', 'a')
  all.record('ann', 'b', [user('more')])
  pass(1_500)
  all.record('bob', 'd', [user('d')])
  assert.equal(all.count, 3)
  assert.deepEqual(known(all, 'ann', ['a', 'b', 'c']), ['a', 'b'])
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

test('in memory nothing is serialized and nothing copied but the list that is handed out', () => {
  const all = conversations()
  const said = [user('one'), user('two')]
  const { stringify, parse } = JSON
  JSON.stringify = JSON.parse = () => assert.fail('serialized')
  try {
    all.record('ann', 'a', said)
    all.record('ann', 'a', [user('three')])
    const history = all.history('ann', 'a')
    assert.equal(history[0], said[0])
    assert.equal(history[1], said[1])
    assert.equal(history.length, 3)
  } finally {
    Object.assign(JSON, { stringify, parse })
  }
})

interface Known { readonly owner: string; readonly id: string; isNamed: boolean }

/** The same rules, written down plainly: a list of conversations, the one used last being the last. */
class Model {
  readonly #max: number
  #list: Known[] = []
  #uses = new Map<string, number>()
  #clock = 0

  constructor(max: number) {
    this.#max = max
  }

  name(owner: string, id: string): void {
    const found = this.#use(owner, id)
    if (found !== undefined) found.isNamed = true
  }

  record(owner: string, id: string): void {
    const used = this.#use(owner, id) ?? { owner, id, isNamed: false }
    if (!this.#list.includes(used)) this.#list.push(used)
    this.#uses.set(owner, ++this.#clock)
    while (this.#list.length > this.#max) {
      const held = (of: string): number => this.#list.filter((one) => one.owner === of).length
      const owners = [...new Set(this.#list.map((one) => one.owner))].toSorted((one, other) =>
        held(other) - held(one) || this.#uses.get(one)! - this.#uses.get(other)!)
      const others = this.#list.filter((one) => one !== used)
      const [victim] = owners.flatMap((of) => others.find((one) => one.owner === of && !one.isNamed)
        ?? others.find((one) => one.owner === of) ?? [])
      this.#list = this.#list.filter((one) => one !== victim)
      this.#uses.set(victim!.owner, ++this.#clock)
    }
  }

  has(owner: string, id: string): boolean {
    return this.#list.some((one) => one.owner === owner && one.id === id)
  }

  #use(owner: string, id: string): Known | undefined {
    const found = this.#list.find((one) => one.owner === owner && one.id === id)
    if (found === undefined) return undefined
    this.#list = [...this.#list.filter((one) => one !== found), found]
    this.#uses.set(owner, ++this.#clock)
    return found
  }
}

test('who makes room is always the one that the rules name, whatever is said', (t) => {
  const pass = standingTime(t)
  const all = conversations({ maxConversations: 15 })
  const model = new Model(15)
  /** Ids of ours, those that were made last; whose they are is not looked at. */
  const made: string[] = []
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 0x80000000
    return (seed >> 8) % below
  }
  for (let at = 0; at < 10_000; at++) {
    const owner = `owner-${Math.min(random(6), random(6))}`
    const id = random(2) === 0 ? `id-${random(12)}` : made[random(20)] ?? 'none'
    pass(1)
    switch (random(4)) {
      case 0:
        assert.equal(all.history(owner, id).length > 0, model.has(owner, id), `round ${at}`)
        model.name(owner, id)
        break
      case 1:
        all.record(owner, id, [user('x')])
        model.record(owner, id)
        break
      default:
        made.unshift(all.all.makeId())
        made.length = Math.min(made.length, 20)
        all.begin(owner, made[0]!, 'x')
        model.record(owner, made[0]!)
    }
    assert.ok(all.count <= 15)
  }
})

const asked = (content: string): ChatMessage => ({ role: 'user', content })
const contents = (messages: readonly ChatMessage[]): readonly string[] => (
  messages.map(({ content }) => content)
)

interface Counted extends Store { readonly calls: Record<'read' | 'write', number> }

/** A store that answers later, over a memory that others share, and counts what it is asked. */
function connect(memory: MemoryStore): Counted {
  const calls = { read: 0, write: 0 }
  return {
    ...memory,
    calls,
    read: async (place) => {
      calls.read++
      return memory.read(place)
    },
    write: async (...kept) => {
      calls.write++
      return memory.write(...kept)
    },
    list: async (...page) => memory.list(...page),
  }
}

interface Process { readonly all: Conversations; readonly store: Counted }

/** Two processes. */
function pair(limits: Partial<Limits> = {}): readonly Process[] {
  const memory = memoryStore({ isShared: true })
  return [1, 2].map(() => {
    const store = connect(memory)
    return { store, all: conversationsOn(store, limitsOf(limits)) }
  })
}

test('what one process has heard another knows, of its owner alone', async () => {
  const [one, other] = pair()
  await one!.all.record('ann', 'a', [asked('1'), asked('2')])
  assert.deepEqual(await other!.all.history('ann', 'a'), [asked('1'), asked('2')])
  assert.deepEqual(await other!.all.history('bob', 'a'), [])
  assert.deepEqual(await other!.all.history('ann', 'b'), [])
  await other!.all.record('ann', 'a', [asked('3')])
  assert.deepEqual(contents(await one!.all.history('ann', 'a')), ['1', '2', '3'])
  assert.deepEqual([one!.all.count, one!.all.bytes], [0, 0])
})

test('a turn costs one read and one write, the first turn of all one write', async () => {
  const { all, store } = pair()[0]!
  await all.record('ann', 'a', [asked('1')])
  assert.deepEqual(store.calls, { read: 0, write: 1 })
  const known = await all.history('ann', 'a')
  await all.record('ann', 'a', [asked('2')], known)
  assert.deepEqual(store.calls, { read: 1, write: 2 })
  await all.record('ann', 'a', [asked('3')], known)
  assert.deepEqual(contents(await all.history('ann', 'a')), ['1', '2', '3'])
})

test('what an author does to the list that it got changes nothing', async () => {
  const [one, other] = pair()
  await one!.all.record('ann', 'a', [asked('1')])
  const known = await one!.all.history('ann', 'a') as ChatMessage[]
  known.push(asked('invented'))
  await one!.all.record('ann', 'a', [asked('2')], known)
  assert.deepEqual(contents(await other!.all.history('ann', 'a')), ['1', '2'])
})

test('nothing is lost where many add at one time', async () => {
  const processes = pair()
  const said = Array.from({ length: 40 }, (_, at) => `${at}`)
  await Promise.all(said.map((content, at) => processes[at % 2]!.all.record('ann', 'a', [asked(content)])))
  const kept = await processes[0]!.all.history('ann', 'a')
  assert.deepEqual(contents(kept).toSorted(), said.toSorted())
})

test('the limits of a conversation hold, and its time begins anew with each turn', async () => {
  const [one] = pair({ conversationMessages: 3, conversationBytes: 100 })
  for (const content of ['1', '2', '3', '4']) await one!.all.record('ann', 'a', [asked(content)])
  assert.deepEqual(contents(await one!.all.history('ann', 'a')), ['2', '3', '4'])
  await one!.all.record('ann', 'a', [asked('x'.repeat(80))])
  assert.deepEqual(contents(await one!.all.history('ann', 'a')), ['3', '4', 'x'.repeat(80)])
  const times: number[] = []
  const memory = memoryStore({ isShared: true })
  const store: Store = {
    ...memory,
    write: (place, value, keepMs, expected) => {
      times.push(keepMs)
      return memory.write(place, value, keepMs, expected)
    },
  }
  await conversationsOn(store, limitsOf({ conversationIdleMs: 1_234 })).record('ann', 'a', [asked('1')])
  assert.deepEqual(times, [1_234])
})

test('ids and owners of any length and form are told apart', async () => {
  const [one, other] = pair()
  const names = ['~', '#', 'x'.repeat(600), `${'x'.repeat(600)}y`, '\ud800', '\ud801', 'a\0b', 'ann']
  for (const [at, name] of names.entries()) {
    await one!.all.record(name, 'id', [asked(`owner ${at}`)])
    await one!.all.record('owner', name, [asked(`id ${at}`)])
  }
  for (const [at, name] of names.entries()) {
    assert.deepEqual(await other!.all.history(name, 'id'), [asked(`owner ${at}`)])
    assert.deepEqual(await other!.all.history('owner', name), [asked(`id ${at}`)])
  }
})

const wrong = ['not JSON', '', 'null', '{}', '[{"role":"boss","content":"x"}]', '[{"role":"user"}]', '[null]']

test('a history that the store does not answer for is never taken for none', async () => {
  const memory = memoryStore({ isShared: true })
  const reads: readonly Store['read'][] = [
    () => { throw new Error('away') },
    () => Promise.reject(new Error('away')),
  ]
  for (const read of reads) {
    const all = conversationsOn({ ...memory, read })
    await assert.rejects(async () => all.history('ann', 'a'), { kind: 'busy' })
  }
})

test('a kept conversation that cannot be read is none, and the next turn takes its place', async () => {
  for (const value of wrong) {
    const memory = memoryStore({ isShared: true })
    const all = conversationsOn(memory)
    const id = 'conversation-1'
    memory.write({ collection: 'conversations', owner: 'ann', key: id }, value, 60_000, 'any')
    assert.deepEqual(await all.history('ann', id), [], value)
    assert.deepEqual(await all.list('ann', 9), { conversations: [], next: undefined }, value)
    await all.record('ann', id, [asked('1')], await all.history('ann', id))
    assert.deepEqual(contents(await all.history('ann', id)), ['1'], value)
    memory.write({ collection: 'conversations', owner: 'ann', key: id }, value, 60_000, 'any')
    assert.equal(await all.remove('ann', id), true, value)
    assert.equal(await all.remove('ann', id), false, value)
  }
})

test('a page is filled past what cannot be read, as far as 256 of that', async () => {
  const memory = memoryStore({ isShared: true })
  const all = conversationsOn(memory)
  const keep = (key: string, value: string): void => {
    memory.write({ collection: 'conversations', owner: 'ann', key }, value, 60_000, 'any')
  }
  const good = JSON.stringify([asked('1')])
  for (let at = 0; at < 4; at++) keep(`readable-${at}`, good)
  for (let at = 0; at < 255; at++) keep(`damaged-${at}`, wrong[at % wrong.length]!)
  const shownIn = (page: ConversationPage): readonly string[] => page.conversations.map(({ id }) => id)
  const first = await all.list('ann', 3) as ConversationPage
  assert.deepEqual(shownIn(first), ['readable-3', 'readable-2', 'readable-1'])
  assert.deepEqual(shownIn(await all.list('ann', 3, first.next)), ['readable-0'])
  for (let at = 0; at < 300; at++) keep(`damaged-${at}`, 'not JSON')
  const pages: (readonly string[])[] = []
  for (let next: string | undefined, count = 0; count < 9; count++) {
    const page = await all.list('ann', 3, next)
    pages.push(shownIn(page))
    next = page.next
    if (next === undefined) break
  }
  assert.deepEqual(pages, [[], ['readable-3', 'readable-2', 'readable-1'], ['readable-0']])
  // As far, and not further.
  keep('readable-4', good)
  for (let at = 0; at < 256; at++) keep(`damaged-again-${at}`, 'not JSON')
  const none = await all.list('ann', 8) as ConversationPage
  assert.deepEqual([shownIn(none), none.next !== undefined], [[], true])
  assert.equal(shownIn(await all.list('ann', 1, none.next))[0], 'readable-4')
})

test('what cannot be kept is logged once until it can be again, and nobody is rejected', async () => {
  const lines: (readonly [LogLevel, string, unknown])[] = []
  const memory = memoryStore({ isShared: true })
  let cause: Error | undefined
  const store: Store = {
    ...memory,
    write: (...kept) => {
      if (cause !== undefined) throw cause
      return memory.write(...kept)
    },
  }
  const all = conversationsOn(store, limitsOf({}), (level, message, fields) => {
    lines.push([level, message, fields?.['cause']])
  })
  const first = cause = new Error('away')
  for (const content of ['1', '2', '3']) await all.record('ann', 'a', [asked(content)])
  cause = undefined
  await all.record('ann', 'a', [asked('4')])
  const second = cause = new Error('away again')
  await all.record('ann', 'a', [asked('5')])
  const message = 'A conversation could not be kept: what follows will not know of it'
  assert.deepEqual(lines, [['warning', message, first], ['warning', message, second]])
  assert.deepEqual(contents(await all.history('ann', 'a')), ['4'])
})

test('one that is never first gives up, after a number of attempts that is bounded', async () => {
  const causes: unknown[] = []
  let attempts = 0
  const store: Store = { ...memoryStore({ isShared: true }), write: () => void attempts++ }
  const log: Log = (_level, _message, fields) => { causes.push(fields?.['cause']) }
  const all = conversationsOn(store, limitsOf({}), log)
  await all.record('ann', 'a', [asked('1')])
  assert.equal(attempts, 64)
  assert.match(String(causes), /Another process was first 64 times/)
})

/** The ids of all pages of so many, and the sizes of the pages. */
async function pagesOf(
  all: Conversations, owner: string, limit: number,
): Promise<readonly [ids: readonly string[], sizes: readonly number[]]> {
  const ids: string[] = []
  const sizes: number[] = []
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const { conversations: page, next } = await all.list(owner, limit, after)
    ids.push(...page.map(({ id }) => id))
    sizes.push(page.length)
    after = next
  }
  return [ids, sizes]
}

/** Both ways of keeping them. */
const kinds: readonly (readonly [what: string, make: (limits?: Partial<Limits>) => Conversations])[] = [
  ['memory', (limits) => new Conversations(limitsOf(limits ?? {}))],
  ['a shared store', (limits) => pair(limits)[0]!.all],
]

for (const [what, make] of kinds) {
  test(`in ${what}, a list has what its owner holds, the last used first, page by page`, async (t) => {
    const pass = standingTime(t)
    const all = make()
    const begun = Array.from({ length: 20 }, () => all.makeId())
    for (const [at, id] of begun.entries()) {
      // Some at the same time.
      if (at % 3 === 0) pass(1)
      await all.begin('ann', id, `asked ${at}`, 'answered')
      await all.begin('bob', all.makeId(), 'of bob', 'answered')
    }
    pass(1)
    await all.record('ann', 'chosen-by-ann', [user('x'.repeat(130)), assistant('y'), user('z')])
    pass(1)
    await all.history('ann', begun[3]!)
    await all.record('ann', begun[3]!, [user('again')])
    pass(1)
    await all.record('ann', 'of a protocol with ids of its own', [user('more')])
    const [whole] = await pagesOf(all, 'ann', 100)
    assert.deepEqual(whole.slice(0, 2), [begun[3], 'chosen-by-ann'])
    assert.deepEqual(whole.toSorted(), [...begun, 'chosen-by-ann'].toSorted())
    for (const limit of [1, 2, 7, 8, 9, 21]) {
      const [ids, sizes] = await pagesOf(all, 'ann', limit)
      assert.deepEqual(ids, whole, String(limit))
      assert.ok(sizes.every((size) => size <= limit))
      // Only a store has to be asked whether more follows a page that is full.
      if (what === 'memory') assert.equal(sizes.length, Math.ceil(21 / limit))
    }
    const { conversations: [first, second] } = await all.list('ann', 3)
    assert.deepEqual(first, { id: begun[3], messages: 3, preview: 'asked 3' })
    assert.deepEqual(second, { id: 'chosen-by-ann', messages: 3, preview: `${'x'.repeat(120)}…` })
    assert.deepEqual(await all.list('nobody', 2), { conversations: [], next: undefined })
  })

  test(`in ${what}, one that is removed is gone for its owner, and no other is`, async () => {
    const all = make()
    const id = all.makeId()
    await all.begin('ann', id, 'asked', 'answered')
    await all.record('ann', 'kept-by-ann', [user('one')])
    await all.record('bob', 'kept-by-bob', [user('one')])
    const bytes = all.bytes
    assert.equal(await all.remove('bob', id), false)
    assert.equal(await all.remove('bob', 'kept-by-ann'), false)
    assert.equal(await all.remove('ann', id), true)
    assert.equal(await all.remove('ann', id), false)
    assert.deepEqual(await all.history('ann', id), [])
    assert.equal((await all.history('ann', 'kept-by-ann')).length, 1)
    if (bytes > 0) assert.equal(all.bytes, bytes - 'userassistantaskedanswered'.length)
    assert.deepEqual((await pagesOf(all, 'ann', 5))[0], ['kept-by-ann'])
    assert.deepEqual((await pagesOf(all, 'bob', 5))[0], ['kept-by-bob'])
  })

  test(`in ${what}, what is no cursor is refused`, async () => {
    const all = make()
    for (const after of ['', 'x', '-1', '1e3', '5.', '5.a b', ' 1', '1'.repeat(400)]) {
      await assert.rejects(async () => all.list('ann', 1, after), { kind: 'invalid' }, after)
    }
  })

  test(`in ${what}, a preview is not cut within a character`, async () => {
    const all = make()
    await all.record('ann', 'kept-by-ann', [user(`${'x'.repeat(119)}\u{1f600}${'y'.repeat(50)}`)])
    const { conversations: [first] } = await all.list('ann', 1)
    assert.equal(first?.preview, `${'x'.repeat(119)}…`)
    for (const [length, preview] of [[120, 'x'.repeat(120)], [121, `${'x'.repeat(120)}…`]] as const) {
      await all.record('ann', `of-${length}-characters`, [user('x'.repeat(length))])
      assert.equal((await all.list('ann', 1)).conversations[0]?.preview, preview)
    }
  })
}

test('what has expired is in no list', async (t) => {
  const pass = standingTime(t)
  const all = conversations({ conversationIdleMs: 1_000 }).all
  await all.begin('ann', all.makeId(), 'old', 'answered')
  pass(600)
  await all.record('ann', 'kept-by-ann', [user('new')])
  pass(600)
  assert.deepEqual((await pagesOf(all, 'ann', 5))[0], ['kept-by-ann'])
})

test('a conversation that its client has named before its first answer is there once', () => {
  const here = new Here()
  const said: ChatMessage = { role: 'user', content: 'second' }
  here.record('ann', 'a', [said])
  here.all.begin('ann', 'a', 'first', 'answer')
  assert.deepEqual(here.history('ann', 'a').map(({ content }) => content), ['second', 'first', 'answer'])
  assert.equal(here.count, 1)
  here.all.remove('ann', 'a')
  assert.deepEqual([here.history('ann', 'a'), here.count, here.bytes], [[], 0, 0])
})

test('where two hold about the same, each makes room with what is older, and not with what is new', () => {
  const here = new Here({ maxConversationsBytes: 4_000, conversationBytes: 2_000 })
  for (let nth = 0; nth < 20; nth++) {
    here.all.begin(nth % 2 === 0 ? 'ann' : 'bob', `c${nth}`, 'q'.repeat(100 + nth % 2), 'a'.repeat(90))
  }
  here.all.begin('ann', 'new', 'question', 'a'.repeat(400))
  assert.deepEqual(here.history('ann', 'new').map(({ role }) => role), ['user', 'assistant'])
})
