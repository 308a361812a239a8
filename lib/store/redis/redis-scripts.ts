/**
 * What Redis and Valkey are asked to do, each as one script, so that nobody sees half of it. All of them
 * answer an array of strings, which is the same in every client and protocol version.
 *
 * An owner's entries in one collection are three keys in one slot: `v`, a hash of values, of which the
 * field '' has the last version and the last removal; `n`, the keys by version; `x`, the keys by expiry. A
 * topic is two keys in one slot: `s`, a stream of what is kept; `c`, a hash of the last number and of each
 * process's last batch.
 */
import { createHash } from 'node:crypto'

/** A script and the name that the server knows it by. */
export interface Script { readonly text: string; readonly digest: string }

/** How long a topic's number, and an owner's version, is remembered after what it counts is gone. */
const REMEMBER_MS = 3_600_000
const REMEMBER_VERSION_MS = 600_000
/** One page of a list or of a topic. */
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
export const WRITE: Script = script(`${entries}
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
`)

/** KEYS v n x, ARGV key expected mark. Answers '1' where there was one, also where it is sent again. */
export const REMOVE: Script = script(`${entries}
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
`)

/** KEYS v n x, ARGV key. Answers version and value. */
export const READ: Script = script(`${entries}
local known = version()
if known == 0 then return {} end
return { text(known), redis.call('HGET', v, key) }
`)

/**
 * KEYS v n x, ARGV before-or-'' limit. Answers where to go on, '' for the end, then keys, versions and
 * values.
 */
export const LIST: Script = script(`${entries}
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
`)

/**
 * KEYS s c, ARGV channel process batch, then for each event its text, how many to keep or '' and for how
 * many microseconds or ''. A batch that was said already is not said again.
 */
export const PUBLISH: Script = script(`${head}
local s, c = KEYS[1], KEYS[2]
if redis.call('HGET', c, ARGV[2]) == ARGV[3] then return {} end
local last = number(redis.call('HGET', c, 'n'))
local longest = 0
local live = redis.call('PTTL', s)
if live == -1 then longest = math.huge elseif live > 0 then longest = now + live * 1000 end
for at = 4, #ARGV, 3 do
  local said, events, keep = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local previous = text(last)
  last = math.max(now, last + 1)
  local id = text(last)
  if events ~= '' then
    local expires = expiry(keep)
    longest = math.max(longest, expires)
    local kept = { 'p', previous, 'x', expires == math.huge and '' or text(expires), 't', said }
    if events == 'all' then redis.call('XADD', s, id .. '-0', unpack(kept))
    else redis.call('XADD', s, 'MAXLEN', '=', events, id .. '-0', unpack(kept)) end
  end
  redis.call('PUBLISH', ARGV[1], previous .. ' ' .. id .. ' ' .. said)
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
`)

/**
 * KEYS s c, ARGV after what. Answers the last number, where to go on or '' for the end, then for each event
 * its number, the one before it, and its text.
 */
export const TOPIC: Script = script(`${head}
local s, c = KEYS[1], KEYS[2]
local answer = { text(number(redis.call('HGET', c, 'n'))), '' }
if ARGV[2] == 'nothing' then return answer end
local after, bytes = ARGV[1], 0
for _ = 1, ${PAGE_COUNT} do
  local event = redis.call('XRANGE', s, '(' .. after .. '-0', '+', 'COUNT', 1)[1]
  if not event then return answer end
  after = string.match(event[1], '%d+')
  local previous, expires, said = event[2][2], event[2][4], event[2][6]
  if ARGV[2] == 'missed' or expires == '' or tonumber(expires) > now then
    table.insert(answer, after)
    table.insert(answer, previous)
    table.insert(answer, said)
    bytes = bytes + #said
    if bytes > ${PAGE_BYTES} then break end
  end
end
answer[2] = after
return answer
`)

/** KEYS with any name. Answers what the server sees it as: a client may put a prefix before it. */
export const NAME: Script = script('return { KEYS[1] }')

function script(text: string): Script {
  let digest: string | undefined
  return { text, get digest() { return digest ??= createHash('sha1').update(text).digest('hex') } }
}
