import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import test from 'node:test'
import { Fault, redisStore } from '../../../lib/index.ts'
import type { RedisClient } from '../../../lib/index.ts'

type Answer = (args: readonly string[]) => unknown

/** A client of two functions, with what it was asked. */
function functions(answer: Answer): { readonly client: RedisClient; readonly asked: (readonly string[])[] } {
  const asked: (readonly string[])[] = []
  const client = {
    async command(args: readonly string[]) {
      asked.push(args)
      return answer(args)
    },
    subscribe: async () => () => {},
  }
  return { client, asked }
}

const place = { collection: 'things', owner: 'me', key: 'a' }

test('what is no client of Redis is refused with the names of those that are', () => {
  const wrong: readonly unknown[] = [
    undefined, null, 'redis://localhost', {}, { call() {} }, { command() {} }, { subscribe() {} },
  ]
  for (const client of wrong) {
    assert.throws(() => redisStore(client as RedisClient), {
      name: 'TypeError', message: /ioredis, iovalkey or redis \(createClient\), or \{ command, subscribe \}/,
    })
  }
})

test('a pool and a cluster of redis are refused with what to give in their place', () => {
  const cluster = { sendCommand() {}, duplicate() {}, subscribe() {}, getSlotRandomNode() {}, command() {} }
  for (const client of [cluster, { sendCommand() {}, duplicate() {} }]) {
    assert.throws(() => redisStore(client), { name: 'TypeError', message: /give \{ command, subscribe \}/ })
  }
})

test('an option of a store in Redis that is wrong is refused', () => {
  const { client } = functions(() => [])
  assert.throws(() => redisStore(client, { prefx: 'a' } as object), /did you mean 'prefix'/)
  for (const prefix of ['', 'a{b}', 'a b', 'x'.repeat(65), 1 as unknown as string]) {
    assert.throws(() => redisStore(client, { prefix }), {
      name: 'TypeError', message: /^prefix is .*; write 1 to 64/,
    })
  }
  for (const maxValueBytes of [0, 1.5, NaN, Infinity]) {
    assert.throws(() => redisStore(client, { maxValueBytes }), {
      name: 'RangeError', message: /maxValueBytes/,
    })
  }
})

test('a script that Redis does not know is sent whole', async () => {
  const { client, asked } = functions(([name]) => {
    if (name === 'evalsha') throw new Error('NOSCRIPT No matching script.')
    return ['7']
  })
  assert.equal(await redisStore(client).write(place, 'value', 10, 0), 7)
  assert.deepEqual(asked.map(([name]) => name), ['evalsha', 'eval'])
  assert.deepEqual(asked[0]!.slice(2), asked[1]!.slice(2))
})

test('owners and prefixes that look like parts of a key stay apart', async () => {
  const { client, asked } = functions(() => [])
  const owners = ['u', 'u}:things', '{u', '%7Bu', '%', '}', '{}']
  for (const owner of owners) await redisStore(client).read({ ...place, owner })
  await redisStore(client, { prefix: 'other' }).read(place)
  const keys = asked.map(([, , count, ...rest]) => rest.slice(0, Number(count)).join(' '))
  assert.equal(new Set(keys).size, owners.length + 1)
  // All keys of one script lie in one slot of a cluster, which is what is between the first braces.
  for (const key of keys) {
    const tags = key.split(' ').map((one) => /\{([^}]+)\}/.exec(one)?.[1])
    assert.equal(new Set(tags).size, 1)
    assert.notEqual(tags[0], undefined)
  }
})

test('how much of a topic is kept is said with each event', async () => {
  const { client, asked } = functions(() => ['1'])
  const store = redisStore(client)
  const keeps = [undefined, { events: 3, ms: 10 }, { events: Infinity, ms: Infinity }]
  for (const keep of keeps) await store.publish('topic', 'said', keep)
  const said = asked.filter((args) => args.includes('said')).map((args) => args.slice(-4))
  // Each batch has a number, and with each event how many are kept and for how many microseconds.
  assert.deepEqual(said, [['0', 'said', '', ''], ['1', 'said', '3', '10000'], ['2', 'said', 'all', '']])
})

test('who cannot subscribe is told so, and may try again', async () => {
  const follower = new Follower()
  const ask = topicsOf([])
  const store = redisStore({
    call: (...args: readonly string[]) => ask(args), duplicate: () => follower, subscribe() {},
  } as unknown as RedisClient)
  follower.refused = 1
  await assert.rejects(async () => store.follow('one', 'now', () => {}), { kind: 'busy' })
  const leave = await store.follow('one', 'now', () => {})
  leave()
  await store.close?.()
})

test('where Redis cannot be reached every method says that it is busy, and why only to the log', async () => {
  const cause = new Error('ECONNREFUSED 10.0.0.7:6379')
  const store = redisStore(functions(() => { throw cause }).client)
  const calls: readonly (() => unknown)[] = [
    () => store.read(place), () => store.write(place, 'x', 1, 'any'), () => store.remove(place, 'any'),
    () => store.list('things', 'me', 9), () => store.publish('topic', 'x'),
    () => store.follow('topic', 'now', () => {}),
  ]
  for (const one of calls) {
    await assert.rejects(async () => one(), (error) => error instanceof Fault && error.kind === 'busy'
      && error.cause === cause && !error.message.includes('10.0.0.7'))
  }
})

test('a client that answers bytes is told apart from one that cannot be reached', async () => {
  const store = redisStore(functions(() => [Buffer.from('1'), Buffer.from('value')]).client)
  await assert.rejects(async () => store.read(place), { name: 'TypeError', message: /list of strings/ })
})

test('after close nobody can follow', async () => {
  const { client } = functions(() => ['triport'])
  const store = redisStore(client)
  await store.close?.()
  await store.close?.()
  await assert.rejects(async () => store.follow('topic', 'now', () => {}), /The store is closed/)
})

test('who may not ask Redis for the database follows as in the first one', async () => {
  const channels: string[] = []
  const store = redisStore({
    async command([name, , ...rest]) {
      if (name === 'client') throw new Error('NOPERM this user has no permissions')
      return rest.length === 2 ? ['triport'] : ['0', '']
    },
    async subscribe(channel) {
      channels.push(channel)
      return () => { channels.push('end') }
    },
  })
  const leave = await store.follow('topic', 'now', () => {})
  leave()
  await store.close?.()
  assert.deepEqual(channels, ['triport:0:topic', 'end'])
})

/** What the one connection of a client that follows was asked. It emits what it is told to. */
class Follower extends EventEmitter {
  readonly asked: string[] = []
  refused = 0

  async connect(): Promise<void> {}
  async subscribe(...channels: readonly unknown[]): Promise<void> {
    this.asked.push(`+${channels.filter((one) => typeof one === 'string').join(' ')}`)
    if (this.refused > 0 && this.refused--) throw new Error('Connection is closed.')
  }

  async unsubscribe(channel: string): Promise<void> { this.asked.push(`-${channel}`) }
  disconnect(): void { this.asked.push('end') }
  destroy(): void { this.asked.push('end') }
}

/** A Redis that has one event after another of each topic; what it was asked to read. */
function topicsOf(read: string[]): (args: readonly string[]) => Promise<unknown> {
  let last = 0
  return async ([name, , count, ...rest]) => {
    if (name === 'client') return ''
    if (count === '1') return ['triport']
    const [, , after, what] = rest
    read.push(`${what}`)
    if (what === 'nothing') return [`${last}`, '']
    last++
    return [`${last}`, '', `${last}`, `${after}`, `event ${last}`]
  }
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}

test('a connection of ioredis that fails ends nothing, and what is followed is heard again', async () => {
  const [follower, read] = [new Follower(), [] as string[]]
  const ask = topicsOf(read)
  const store = redisStore({
    call: (...args: readonly string[]) => ask(args), duplicate: () => follower, subscribe() {},
  } as unknown as RedisClient)
  const heard: string[] = []
  await store.follow('one', 'now', (text) => heard.push(text))
  const leave = await store.follow('two', 'now', (text) => heard.push(text))
  follower.emit('ready')
  leave()
  await settled()
  assert.deepEqual(follower.asked, ['+triport:0:one', '+triport:0:two', '-triport:0:two'])
  follower.asked.length = read.length = 0
  follower.emit('error', new Error('ECONNRESET'))
  follower.refused = 1
  follower.emit('ready')
  await settled()
  // That connection was lost, too: nothing is read before it is heard again.
  assert.deepEqual([follower.asked, read], [['+triport:0:one'], []])
  follower.emit('error', new Error('ECONNRESET'))
  follower.emit('ready')
  await settled()
  assert.deepEqual([follower.asked, read, heard], [
    ['+triport:0:one', '+triport:0:one'], ['missed'], ['event 1'],
  ])
  follower.emit('message', 'triport:0:one', '1 2 said')
  follower.emit('message', 'another:0:one', '2 3 not here')
  follower.emit('message', 'triport:0:one', 'no event')
  assert.deepEqual(heard, ['event 1', 'said'])
  await store.close?.()
  assert.equal(follower.asked.at(-1), 'end')
})

test('a connection of node-redis that fails ends nothing, and what was missed is read', async () => {
  const [follower, read] = [new Follower(), [] as string[]]
  const store = redisStore({
    sendCommand: topicsOf(read), duplicate: () => follower, subscribe() {},
  } as unknown as RedisClient)
  const heard: string[] = []
  await store.follow('one', 'now', (text) => heard.push(text))
  follower.emit('ready')
  await settled()
  assert.deepEqual(read, ['nothing'])
  follower.emit('error', new Error('ECONNRESET'))
  follower.emit('ready')
  await settled()
  assert.deepEqual([read, heard, follower.asked], [
    ['nothing', 'missed'], ['event 1'], ['+triport:0:one'],
  ])
  await store.close?.()
})
