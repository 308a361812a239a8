/**
 * The methods of a store as scripts on one Redis: what they are called with, under which keys, and what
 * their answers mean. Owners and topics stand in braces, so that the keys of one lie together in a cluster.
 */
import { createHash, randomBytes } from 'node:crypto'
import { Fault } from '../../kernel/define/fault.ts'
import { isStrings } from '../../kernel/wire/json.ts'
import { lazily, reach } from '../engine.ts'
import { FollowedTopics } from '../remote/followed-topics.ts'
import type { Entry, StoreKey } from '../../kernel/store/store.ts'
import type { Page, ReadEvent } from '../remote/followed-topics.ts'
import type { Publication, RemoteCommands } from '../remote/remote.ts'

export interface RedisConnection {
  command(args: readonly string[]): Promise<unknown>
  /** Opens a connection for messages. `onAgain`: it was lost, and has subscribed to its channels again. */
  open(receive: (channel: string, text: string) => void, onAgain: () => void): RedisSubscriber
}

export interface RedisSubscriber {
  subscribe(channel: string): Promise<void>
  unsubscribe(channel: string): Promise<unknown>
  close(): Promise<void>
}

// Each thing that Redis is asked to do is one script, so that no one sees half of it. All of them answer an
// array of strings, which is the same in every client and protocol version.
//
// An owner's entries in one collection are three keys in one slot: `v`, a hash of values, of which the field
// '' has the last version and the last removal; `n`, the keys by version; `x`, the keys by expiry. A topic is
// two keys in one slot: `s`, a stream of what is kept; `c`, a hash of the last number and of each process's
// last batch.

/** How long a topic's number, and an owner's version, is remembered after what it counts is gone. */
const REMEMBER_MS = 3_600_000
const REMEMBER_VERSION_MS = 600_000
const PAGE_BYTES = 1024 * 1024
const PAGE_COUNT = 256

const head = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function text(number) return string.format('%.0f', number) end
local function expiry(keep) if keep == '' then return math.huge end return now + tonumber(keep) end
local function milliseconds(expires) return math.ceil(math.max(expires, now) / 1000) end
local function number(score)
  if score == 'inf' then return math.huge end
  return tonumber(score or '0')
end
`

const entries = `${head}
local v, n, x, key = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local function version()
  if number(redis.call('ZSCORE', x, key)) <= now or redis.call('HEXISTS', v, key) == 0 then return 0 end
  return number(redis.call('ZSCORE', n, key))
end
local function forget(keys)
  if #keys == 0 then return end
  redis.call('HDEL', v, unpack(keys))
  redis.call('ZREM', n, unpack(keys))
  redis.call('ZREM', x, unpack(keys))
end
local function tidy()
  forget(redis.call('ZRANGEBYSCORE', x, '-inf', text(now), 'LIMIT', 0, 16))
  local longest = number(redis.call('ZRANGE', x, -1, -1, 'WITHSCORES')[2])
  for _, one in ipairs(KEYS) do
    if longest == math.huge then redis.call('PERSIST', one)
    else redis.call('PEXPIREAT', one, text(milliseconds(longest) + ${REMEMBER_VERSION_MS})) end
  end
end
`

/**
 * KEYS v n x, ARGV key value keep-microseconds-or-'' expected mark. Answers the version; on a conflict
 * nothing. The mark of a write that a client sends a second time, not knowing that it was done, is found
 * before its value.
 */
const WRITE = `${entries}
local known = version()
if ARGV[4] ~= 'any' and tonumber(ARGV[4]) ~= known then
  local kept = known ~= 0 and redis.call('HGET', v, key)
  if kept and string.sub(kept, 1, #ARGV[5]) == ARGV[5] then return { text(known) } end
  return {}
end
local fresh = text(math.max(now, number(string.match(redis.call('HGET', v, '') or '0', '%d+')) + 1))
redis.call('HSET', v, '', fresh, key, ARGV[5] .. ARGV[2])
redis.call('ZADD', n, fresh, key)
local expires = expiry(ARGV[3])
redis.call('ZADD', x, expires == math.huge and '+inf' or text(expires), key)
tidy()
return { fresh }
`

/** KEYS v n x, ARGV key expected mark. Answers '1' where there was one, also where it is sent again. */
const REMOVE = `${entries}
local known = version()
local last = redis.call('HGET', v, '')
if known == 0 or (ARGV[2] ~= 'any' and tonumber(ARGV[2]) ~= known) then
  if last and string.match(last, ' (.*)') == ARGV[3] then return { '1' } end
  return {}
end
forget({ key })
redis.call('HSET', v, '', string.match(last, '%d+') .. ' ' .. ARGV[3])
tidy()
return { '1' }
`

/** KEYS v n x, ARGV key. Answers version and value. */
const READ = `${entries}
local known = version()
if known == 0 then return {} end
return { text(known), redis.call('HGET', v, key) }
`

/**
 * KEYS v n x, ARGV before-or-'' limit. Answers where to go on, '' for the end, then keys, versions and
 * values.
 */
const LIST = `${entries}
local before = ARGV[1] == '' and '+inf' or '(' .. ARGV[1]
local limit = tonumber(ARGV[2])
local keys = redis.call('ZREVRANGEBYSCORE', n, before, '-inf', 'WITHSCORES', 'LIMIT', 0, ${PAGE_COUNT})
local answer, bytes = { '' }, 0
for at = 1, #keys, 2 do
  key = keys[at]
  local value = redis.call('HGET', v, key)
  if value and number(redis.call('ZSCORE', x, key)) > now then
    table.insert(answer, key)
    table.insert(answer, text(number(keys[at + 1])))
    table.insert(answer, value)
    bytes = bytes + #value
  end
  answer[1] = text(number(keys[at + 1]))
  if bytes > ${PAGE_BYTES} or (#answer - 1) / 3 >= limit then return answer end
end
if #keys < ${PAGE_COUNT * 2} then answer[1] = '' end
return answer
`

/**
 * KEYS s c, ARGV channel process batch, then for each event its text, how many to keep or '' and for how
 * many microseconds or ''. A batch that was published already is not published again.
 */
const PUBLISH = `${head}
local s, c = KEYS[1], KEYS[2]
if redis.call('HGET', c, ARGV[2]) == ARGV[3] then return {} end
local last = number(redis.call('HGET', c, 'n'))
local longest = 0
local live = redis.call('PTTL', s)
if live == -1 then longest = math.huge elseif live > 0 then longest = now + live * 1000 end
for at = 4, #ARGV, 3 do
  local body, events, keep = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local previous = text(last)
  last = math.max(now, last + 1)
  local id = text(last)
  if events ~= '' then
    local expires = expiry(keep)
    longest = math.max(longest, expires)
    local kept = { 'p', previous, 'x', expires == math.huge and '' or text(expires), 't', body }
    if events == 'all' then redis.call('XADD', s, id .. '-0', unpack(kept))
    else redis.call('XADD', s, 'MAXLEN', '=', events, id .. '-0', unpack(kept)) end
  end
  redis.call('PUBLISH', ARGV[1], previous .. ' ' .. id .. ' ' .. body)
end
for _ = 1, 16 do
  local first = redis.call('XRANGE', s, '-', '+', 'COUNT', 1)[1]
  if not first or first[2][4] == '' or tonumber(first[2][4]) > now then break end
  redis.call('XDEL', s, first[1])
end
redis.call('HSET', c, 'n', text(last), ARGV[2], ARGV[3])
if longest == math.huge then
  redis.call('PERSIST', s)
  redis.call('PERSIST', c)
else
  redis.call('PEXPIREAT', s, text(milliseconds(longest)))
  redis.call('PEXPIREAT', c, text(milliseconds(longest) + ${REMEMBER_MS}))
end
return {}
`

/**
 * KEYS s c, ARGV after what. Answers the last number, where to go on or '' for the end, then for each event
 * its number, the one before it, and its text.
 */
const TOPIC = `${head}
local s, c = KEYS[1], KEYS[2]
local answer = { text(number(redis.call('HGET', c, 'n'))), '' }
if ARGV[2] == 'nothing' then return answer end
local after, bytes = ARGV[1], 0
for _ = 1, ${PAGE_COUNT} do
  local event = redis.call('XRANGE', s, '(' .. after .. '-0', '+', 'COUNT', 1)[1]
  if not event then return answer end
  after = string.match(event[1], '%d+')
  local previous, expires, body = event[2][2], event[2][4], event[2][6]
  if ARGV[2] == 'missed' or expires == '' or tonumber(expires) > now then
    table.insert(answer, after)
    table.insert(answer, previous)
    table.insert(answer, body)
    bytes = bytes + #body
    if bytes > ${PAGE_BYTES} then break end
  end
end
answer[2] = after
return answer
`

/** KEYS with any name. Answers what the server sees it as: a client may put a prefix before it. */
const NAME = 'return { KEYS[1] }'

/** The names that the server knows scripts by. */
const digests = new Map<string, string>()

/** The length of what stands before a value: which process wrote it, and its how many-th write it was. */
const MARK_LENGTH = 14
const MARKS = 36 ** 6

/** One store in one Redis. */
export function redisCommands(connection: RedisConnection, prefix: string): RemoteCommands {
  const writer = randomBytes(6).toString('base64url')
  const spaceName = lazily(findSpace)
  /** The topics that are being unsubscribed from. */
  const ends = new Map<string, Promise<void>>()
  const followed = new FollowedTopics({ subscribe, unsubscribe, readPage })
  let subscriber: RedisSubscriber | undefined
  let count = 0
  let isClosed = false
  return { followed, read, write, remove, list, publishBatch, close }

  async function read(id: StoreKey): Promise<Entry | undefined> {
    const [version, value] = await run(READ, entryKeys(id), [id.key])
    return version === undefined ? undefined : entryOf(id.key, version, value)
  }

  async function write(
    id: StoreKey, value: string, keepMs: number, expected: number | 'any',
  ): Promise<number | undefined> {
    const args = [id.key, value, microseconds(keepMs), `${expected}`, mark()]
    const [version] = await run(WRITE, entryKeys(id), args)
    return version === undefined ? undefined : Number(version)
  }

  async function remove(id: StoreKey, expected: number | 'any'): Promise<boolean> {
    const args = [id.key, `${expected}`, mark()]
    const [removed] = await run(REMOVE, entryKeys(id), args)
    return removed !== undefined
  }

  async function list(
    collection: string, owner: string, limit: number, before: number = Infinity,
  ): Promise<readonly Entry[]> {
    const keys = entryKeys({ collection, owner, key: '' })
    const found: Entry[] = []
    let from: string | undefined = before === Infinity ? '' : `${before}`
    while (from !== undefined && found.length < limit) {
      const wanted = Math.min(limit - found.length, Number.MAX_SAFE_INTEGER)
      const answer: readonly string[] = await run(LIST, keys, [from, `${wanted}`])
      for (let at = 1; at < answer.length; at += 3) {
        found.push(entryOf(answer[at]!, answer[at + 1]!, answer[at + 2]))
      }
      from = answer[0] || undefined
    }
    return found
  }

  /** Publishes a batch once, even where the client sends it twice. */
  async function publishBatch(topic: string, batch: readonly Publication[]): Promise<void> {
    const args = [await spaceName() + topic, writer, `${count++}`]
    for (const { text, keep } of batch) {
      const events = keep === undefined ? '' : keep.events === Infinity ? 'all' : `${keep.events}`
      args.push(text, events, keep === undefined ? '' : microseconds(keep.ms))
    }
    await run(PUBLISH, topicKeys(topic), args)
  }

  async function close(): Promise<void> {
    followed.close()
    isClosed = true
    await subscriber?.close()
    subscriber = undefined
  }

  async function subscribe(topic: string): Promise<void> {
    const space = await spaceName()
    // Clients differ in what they make of both at once.
    for (let end = ends.get(topic); end !== undefined; end = ends.get(topic)) await end
    if (isClosed) throw new Fault('busy', 'The store is closed')
    subscriber ??= connection.open((channel, message) => {
      const name = channel.slice(space.length)
      const [, previous, number, text] = /^(\d+) (\d+) ([^]*)$/.exec(message) ?? []
      if (text === undefined || !channel.startsWith(space)) return
      followed.receive(name, { number: Number(number), previous: Number(previous), text })
    }, () => followed.resume())
    const opened = subscriber
    await reach(() => opened.subscribe(space + topic))
  }

  function unsubscribe(topic: string): void {
    const end = endOf(topic)
    ends.set(topic, end)
    void end.then(() => ends.delete(topic))
  }

  async function endOf(topic: string): Promise<void> {
    try {
      await subscriber?.unsubscribe(await spaceName() + topic)
    } catch {
      // Whatever still arrives is passed to no one.
    }
  }

  async function readPage(topic: string, after: number, what: 'late' | 'missed' | 'nothing'): Promise<Page> {
    const answer = await run(TOPIC, topicKeys(topic), [`${after}`, what])
    const events: ReadEvent[] = []
    for (let at = 2; at < answer.length; at += 3) {
      events.push({ number: Number(answer[at]), previous: Number(answer[at + 1]), text: answer[at + 2]! })
    }
    return { last: Number(answer[0]), events, next: answer[1] ? Number(answer[1]) : undefined }
  }

  function entryKeys({ collection, owner }: StoreKey): readonly string[] {
    const base = `${prefix}:entry:{${encodeTag(owner)}}:${collection}:`
    return [`${base}v`, `${base}n`, `${base}x`]
  }

  function topicKeys(topic: string): readonly string[] {
    const base = `${prefix}:topic:{${topic}}:`
    return [`${base}s`, `${base}c`]
  }

  function mark(): string {
    count = (count + 1) % MARKS
    return writer + count.toString(36).padStart(MARK_LENGTH - writer.length, '0')
  }

  /**
   * What the channels of this store begin with. Channels, other than keys, are the same in all databases
   * of a server, and a client's own prefix is not put before them.
   */
  async function findSpace(): Promise<string> {
    const [seen = ''] = await run(NAME, [prefix], [])
    const info = await reach(async () => {
      try {
        return await connection.command(['client', 'info'])
      } catch (error) {
        // Who may not ask has the database that all have.
        if (error instanceof Error && /^(?:NOPERM|ERR)\b/.test(error.message)) return ''
        throw error
      }
    })
    return `${seen}:${/\bdb=(\d+)/.exec(String(info))?.[1] ?? '0'}:`
  }

  async function run(
    text: string, keys: readonly string[], args: readonly string[],
  ): Promise<readonly string[]> {
    const digest = digests.get(text) ?? createHash('sha1').update(text).digest('hex')
    digests.set(text, digest)
    const rest = [`${keys.length}`, ...keys, ...args]
    const answer = await reach(async () => {
      try {
        return await connection.command(['evalsha', digest, ...rest])
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
        return await connection.command(['eval', text, ...rest])
      }
    })
    if (isStrings(answer)) return answer
    throw new TypeError('The Redis client answers something else than a list of strings to a script')
  }
}

function entryOf(key: string, version: string, value = ''): Entry {
  return { key, value: value.slice(MARK_LENGTH), version: Number(version) }
}

/** Without what would end the hash tag of a key. */
function encodeTag(owner: string): string {
  return owner.replace(/[%{}]/g, encodeURIComponent)
}

function microseconds(ms: number): string {
  return ms > 1e12 ? '' : `${Math.ceil(ms * 1000)}`
}
