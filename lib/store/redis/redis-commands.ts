/**
 * The methods of a store as scripts on one Redis: what they are called with, under which keys, and what
 * their answers mean. Owners and topics stand in braces, so that the keys of one lie together in a cluster.
 */
import { randomBytes } from 'node:crypto'
import { Fault } from '../../define/fault.ts'
import { FollowedTopics } from '../topics/followed-topics.ts'
import { reach } from '../shared/reach.ts'
import { LIST, NAME, PUBLISH, READ, REMOVE, TOPIC, WRITE } from './redis-scripts.ts'
import type { Entry, StoreKey } from '../../state/store.ts'
import type { Page, Said } from '../topics/followed-topic.ts'
import type { Saying } from '../topics/publishing.ts'
import type { RedisConnection, RedisEar } from './redis-client.ts'
import type { Script } from './redis-scripts.ts'

/** The length of what stands before a value: which process wrote it, and its how many-th write it was. */
const MARK_LENGTH = 14
const MARKS = 36 ** 6

/** One store in one Redis. */
export class RedisCommands {
  readonly followed: FollowedTopics
  readonly #connection: RedisConnection
  readonly #prefix: string
  readonly #process: string = randomBytes(6).toString('base64url')
  #count = 0
  #isClosed = false
  #space: Promise<string> | undefined
  #ear: RedisEar | undefined
  /** The topics that are about to be heard no more. */
  readonly #ends = new Map<string, Promise<void>>()

  constructor(connection: RedisConnection, prefix: string) {
    this.#connection = connection
    this.#prefix = prefix
    this.followed = new FollowedTopics({
      subscribe: (topic) => this.#subscribe(topic),
      unsubscribe: (topic) => this.#unsubscribe(topic),
      readPage: (topic, after, what) => this.#readPage(topic, after, what),
    })
  }

  async read(place: StoreKey): Promise<Entry | undefined> {
    const [version, value] = await this.#run(READ, this.#entryKeys(place), [place.key])
    return version === undefined ? undefined : entryOf(place.key, version, value)
  }

  async write(
    place: StoreKey, value: string, keepMs: number, expected: number | 'any',
  ): Promise<number | undefined> {
    const args = [place.key, value, microseconds(keepMs), `${expected}`, this.#mark()]
    const [version] = await this.#run(WRITE, this.#entryKeys(place), args)
    return version === undefined ? undefined : Number(version)
  }

  async remove(place: StoreKey, expected: number | 'any'): Promise<boolean> {
    const args = [place.key, `${expected}`, this.#mark()]
    const [removed] = await this.#run(REMOVE, this.#entryKeys(place), args)
    return removed !== undefined
  }

  async list(
    collection: string, owner: string, limit: number, before: number = Infinity,
  ): Promise<readonly Entry[]> {
    const keys = this.#entryKeys({ collection, owner, key: '' })
    const found: Entry[] = []
    let from: string | undefined = before === Infinity ? '' : `${before}`
    while (from !== undefined && found.length < limit) {
      const wanted = Math.min(limit - found.length, Number.MAX_SAFE_INTEGER)
      const answer: readonly string[] = await this.#run(LIST, keys, [from, `${wanted}`])
      for (let at = 1; at < answer.length; at += 3) {
        found.push(entryOf(answer[at]!, answer[at + 1]!, answer[at + 2]))
      }
      from = answer[0] || undefined
    }
    return found
  }

  /** Says a batch once, even where the client sends it twice. */
  async say(topic: string, batch: readonly Saying[]): Promise<void> {
    const args = [await this.#channel(topic), this.#process, `${this.#count++}`]
    for (const { text, keep } of batch) {
      const events = keep === undefined ? '' : keep.events === Infinity ? 'all' : `${keep.events}`
      args.push(text, events, keep === undefined ? '' : microseconds(keep.ms))
    }
    await this.#run(PUBLISH, this.#topicKeys(topic), args)
  }

  async close(): Promise<void> {
    this.followed.close()
    this.#isClosed = true
    await this.#ear?.close()
    this.#ear = undefined
  }

  async #subscribe(topic: string): Promise<void> {
    const space = await this.#spaceName()
    // Clients differ in what they make of both at once.
    for (let end = this.#ends.get(topic); end !== undefined; end = this.#ends.get(topic)) await end
    if (this.#isClosed) throw new Fault('busy', 'The store is closed')
    this.#ear ??= this.#connection.open((channel, message) => {
      const name = channel.slice(space.length)
      const [, previous, number, text] = /^(\d+) (\d+) ([^]*)$/.exec(message) ?? []
      if (text === undefined || !channel.startsWith(space)) return
      this.followed.hear(name, { number: Number(number), previous: Number(previous), text })
    }, () => this.followed.resume())
    const ear = this.#ear
    await reach(() => ear.subscribe(space + topic))
  }

  #unsubscribe(topic: string): void {
    const end = this.#endOf(topic)
    this.#ends.set(topic, end)
    void end.then(() => this.#ends.delete(topic))
  }

  async #endOf(topic: string): Promise<void> {
    try {
      await this.#ear?.unsubscribe(await this.#channel(topic))
    } catch {
      // Whatever arrives still, nobody hears it.
    }
  }

  async #readPage(topic: string, after: number, what: 'late' | 'missed' | 'nothing'): Promise<Page> {
    const answer = await this.#run(TOPIC, this.#topicKeys(topic), [`${after}`, what])
    const events: Said[] = []
    for (let at = 2; at < answer.length; at += 3) {
      events.push({ number: Number(answer[at]), previous: Number(answer[at + 1]), text: answer[at + 2]! })
    }
    return { last: Number(answer[0]), events, next: answer[1] ? Number(answer[1]) : undefined }
  }

  #entryKeys({ collection, owner }: StoreKey): readonly string[] {
    const base = `${this.#prefix}:entry:{${encodeTag(owner)}}:${collection}:`
    return [`${base}v`, `${base}n`, `${base}x`]
  }

  #topicKeys(topic: string): readonly string[] {
    const base = `${this.#prefix}:topic:{${topic}}:`
    return [`${base}s`, `${base}c`]
  }

  #mark(): string {
    this.#count = (this.#count + 1) % MARKS
    return this.#process + this.#count.toString(36).padStart(MARK_LENGTH - this.#process.length, '0')
  }

  async #channel(topic: string): Promise<string> {
    return await this.#spaceName() + topic
  }

  #spaceName(): Promise<string> {
    const space = this.#space ??= this.#findSpace()
    space.catch(() => {
      if (this.#space === space) this.#space = undefined
    })
    return space
  }

  /**
   * What the channels of this store begin with. Channels, other than keys, are the same in all databases
   * of a server, and a client's own prefix is not put before them.
   */
  async #findSpace(): Promise<string> {
    const [seen = ''] = await this.#run(NAME, [this.#prefix], [])
    const info = await reach(async () => {
      try {
        return await this.#connection.command(['client', 'info'])
      } catch (error) {
        // Who may not ask has the database that all have.
        if (error instanceof Error && /^(?:NOPERM|ERR)\b/.test(error.message)) return ''
        throw error
      }
    })
    return `${seen}:${/\bdb=(\d+)/.exec(String(info))?.[1] ?? '0'}:`
  }

  async #run(
    { text, digest }: Script, keys: readonly string[], args: readonly string[],
  ): Promise<readonly string[]> {
    const rest = [`${keys.length}`, ...keys, ...args]
    const answer = await reach(async () => {
      try {
        return await this.#connection.command(['evalsha', digest, ...rest])
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
        return await this.#connection.command(['eval', text, ...rest])
      }
    })
    if (isTexts(answer)) return answer
    throw new TypeError('The Redis client answers something else than a list of strings to a script')
  }
}

/** Of a value, what was written. */
function entryOf(key: string, version: string, value = ''): Entry {
  return { key, value: value.slice(MARK_LENGTH), version: Number(version) }
}

/** Without what would end the part of a key that says where in a cluster it lies. */
function encodeTag(owner: string): string {
  return owner.replace(/[%{}]/g, encodeURIComponent)
}

function microseconds(ms: number): string {
  return ms > 1e12 ? '' : `${Math.ceil(ms * 1000)}`
}

function isTexts(answer: unknown): answer is readonly string[] {
  return Array.isArray(answer) && answer.every((text) => typeof text === 'string')
}
