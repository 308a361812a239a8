/**
 * The store of the workers of `node:cluster`: every method is a question to the primary, which answers out of
 * a store of its own. What a worker that ends has followed is left.
 */
import { randomUUID } from 'node:crypto'
import { isRecord } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { notify } from '../../floors/memory/common.ts'
import { unreachable } from '../engine.ts'
import type { Cluster, Worker } from 'node:cluster'
import type { FaultKind } from '../../kernel/define/fault.ts'
import type { Entry, Store } from '../../kernel/store/store.ts'
import type { TopicSubscriber } from '../../floors/memory/common.ts'

/** What a worker asks for: the answer of a method of the store, or to begin or end following a topic. */
type StoreQuestion =
  | { readonly method: Method; readonly given: readonly unknown[] }
  | { readonly method: 'follow'; readonly topic: string; readonly from: 'kept' | 'now' }
  /** Ends what the question of this number has begun to follow. */
  | { readonly method: 'leave'; readonly follower: number }

type Method = 'read' | 'write' | 'remove' | 'list' | 'publish'

/** What comes back: the answer to a question, its failure, or an event of what is followed. */
type StoreReply =
  | { readonly value: unknown } | { readonly fault: StoreFault }
  | { readonly text: string } | { readonly isLost: true }

/** How a store has failed. `cause`: what kept it from being reached, for a log. */
interface StoreFault { readonly kind: string; readonly message: string; readonly cause?: string }

/** A message in one of the two directions: of which store in the worker, and of which question of it. */
interface Envelope<Content> { readonly of: string; readonly id: number; readonly content: Content }

/** Tells these messages from all others on the same channel. */
const NAME = 'triport:store'

/** The message that something received is; undefined where it is none of these. */
function decodeEnvelope<Content>(message: unknown): Envelope<Content> | undefined {
  const isOurs = typeof message === 'object' && message !== null && Object.hasOwn(message, NAME)
  return isOurs ? (message as Record<string, Envelope<Content>>)[NAME] : undefined
}

/** JSON makes null of `Infinity`, and nothing else that a worker gives is null. */
function decode(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? Infinity : value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, decode(part)]))
}

/** Whatever a store fails with but a `Fault`, it could not be reached. */
function encodeFault(error: unknown): StoreFault {
  const { kind, message, cause } = error instanceof Fault ? error : unreachable(error)
  if (cause === undefined) return { kind, message }
  return { kind, message, cause: cause instanceof Error ? cause.message : String(cause) }
}

function decodeFault({ kind, message, cause }: StoreFault): Fault {
  const options = cause === undefined ? undefined : { cause: new Error(cause) }
  return new Fault(kind as FaultKind, message, undefined, options)
}

/** The functions that end what one worker follows, by store and question; undefined while it begins. */
type Followers = Map<string, (() => void) | undefined>

/**
 * Answers the `workerStore()` of every worker that this primary of `node:cluster` has or will have, out of a
 * store that is shared: `memoryStore({ isShared: true })`, `sqliteStore(file)` or any other. Call it before
 * `cluster.fork()`. Returns the function that ends it; the store stays open.
 *
 * Throws `TypeError` for a store that is not shared.
 */
export function hostStore(store: Store): () => void {
  if (!isRecord(store) || store['isShared'] !== true) {
    throw new TypeError('hostStore takes a store that others may share, as memoryStore({ isShared: true })')
  }
  // Only a primary pays for what this module brings along.
  const cluster = process.getBuiltinModule('node:cluster') as unknown as Cluster
  const workers = new Map<Worker, Followers>()
  const receive = (worker: Worker, message: unknown): void => {
    const envelope = decodeEnvelope<StoreQuestion>(message)
    if (envelope === undefined) return
    const followers = workers.get(worker) ?? new Map()
    workers.set(worker, followers)
    void answer(store, worker, followers, envelope)
  }
  const forget = (worker: Worker): void => {
    const followers = workers.get(worker)
    workers.delete(worker)
    for (const leave of followers?.values() ?? []) leave?.()
    followers?.clear()
  }
  cluster.on('message', receive)
  cluster.on('disconnect', forget)
  return () => {
    cluster.off('message', receive)
    cluster.off('disconnect', forget)
    for (const worker of workers.keys()) forget(worker)
  }
}

async function answer(
  store: Store, worker: Worker, followers: Followers, { of, id, content }: Envelope<StoreQuestion>,
): Promise<void> {
  const send = (reply: StoreReply): void => {
    if (worker.isConnected()) worker.send({ [NAME]: { of, id, content: reply } }, () => {})
  }
  const name = `${of} ${content.method === 'leave' ? content.follower : id}`
  try {
    let value: unknown
    if (content.method === 'leave') {
      followers.get(name)?.()
      followers.delete(name)
    } else if (content.method === 'follow') {
      followers.set(name, undefined)
      const leave = await store.follow(
        content.topic, content.from, (text) => send({ text }), () => send({ isLost: true }),
      )
      // It may have left, or ended, meanwhile.
      if (followers.has(name)) followers.set(name, leave)
      else leave()
    } else {
      value = await Reflect.apply(store[content.method], store, content.given.map(decode))
    }
    send({ value })
  } catch (error) {
    followers.delete(name)
    send({ fault: encodeFault(error) })
  }
}

/** How long the primary has for its first message. */
const FIRST_MESSAGE_MS = 5_000

interface Pending { readonly resolve: (value: unknown) => void; readonly reject: (error: Fault) => void }

/**
 * Makes the store of a worker. What is kept lives as long as the store of the primary keeps it, and with a
 * memory store as long as the primary.
 *
 * Throws `Error` in a process that no primary has started. Where the primary has not called `hostStore`, the
 * methods reject with `Fault('busy')` after a while.
 */
export function workerStore(): Store {
  if (process.send === undefined) {
    throw new Error('workerStore() is for a worker that node:cluster has started; hostStore for its primary')
  }
  const name = randomUUID()
  const pending = new Map<number, Pending>()
  const subscribers = new Map<number, TopicSubscriber>()
  let lastId = 0
  let hasAnswered = false
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const lose = (): void => end('The primary has gone')
  process.on('message', receive)
  process.on('disconnect', lose)
  const ask = <Answer>(method: Method, ...given: readonly unknown[]): Promise<Answer> => (
    send<Answer>({ method, given })
  )
  return {
    isShared: true,
    read: (...given) => ask<Entry | undefined>('read', ...given),
    write: (...given) => ask<number | undefined>('write', ...given),
    remove: (...given) => ask<boolean>('remove', ...given),
    list: (collection, owner, limit, before = Infinity) => (
      ask<readonly Entry[]>('list', collection, owner, limit, before)
    ),
    publish: (topic, text, keep) => ask<void>('publish', topic, text, ...keep ? [keep] : []),
    follow, close,
  }

  /** Rejects with the `Fault` that the primary has answered, or with 'busy'. */
  function send<Answer>(question: StoreQuestion, id: number = ++lastId): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (isOver || !process.connected) {
        return reject(new Fault('busy', 'The store is closed, or the primary has gone'))
      }
      // The primary answers what was asked for.
      pending.set(id, { resolve: (value) => resolve(value as Answer), reject })
      if (!hasAnswered) awaitFirstMessage()
      const message = { [NAME]: { of: name, id, content: question } }
      process.send?.(message, undefined, undefined, (cause) => {
        if (cause === null) return
        pending.delete(id)
        reject(new Fault('busy', 'The primary cannot be reached; try again later', undefined, { cause }))
      })
    })
  }

  async function follow(
    topic: string, from: 'kept' | 'now', listener: (text: string) => void, onLost?: () => void,
  ): Promise<() => void> {
    const id = ++lastId
    // Events that are kept may arrive before there is an answer.
    subscribers.set(id, { listener, onLost })
    try {
      await send({ method: 'follow', topic, from }, id)
    } catch (error) {
      // The primary may get to it later.
      leave(id)
      throw error
    }
    return () => leave(id)
  }

  function close(): void {
    if (isOver) return
    for (const id of subscribers.keys()) leave(id)
    end('The store is closed')
  }

  function leave(follower: number): void {
    if (subscribers.delete(follower)) send({ method: 'leave', follower }).catch(() => {})
  }

  function receive(message: unknown): void {
    const envelope = decodeEnvelope<StoreReply>(message)
    if (envelope?.of !== name) return
    hasAnswered = true
    clearTimeout(timer)
    const { id, content } = envelope
    if ('text' in content || 'isLost' in content) {
      const subscriber = subscribers.get(id)
      if (subscriber !== undefined) notify(subscriber, 'text' in content ? content.text : undefined)
      return
    }
    const asked = pending.get(id)
    pending.delete(id)
    if ('fault' in content) asked?.reject(decodeFault(content.fault))
    else asked?.resolve(content.value)
  }

  function awaitFirstMessage(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      refuse('The primary does not answer: let it call hostStore(store)')
    }, FIRST_MESSAGE_MS).unref()
  }

  function end(why: string): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    process.off('message', receive)
    process.off('disconnect', lose)
    const left = [...subscribers.values()]
    subscribers.clear()
    refuse(why)
    if (!process.connected) for (const subscriber of left) notify(subscriber, undefined)
  }

  function refuse(why: string): void {
    const refused = [...pending.values()]
    pending.clear()
    for (const { reject } of refused) reject(new Fault('busy', why))
  }
}
