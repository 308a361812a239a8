/**
 * The store of a worker of `node:cluster`: every method is a question to the primary, which `hostStore` in it
 * answers.
 */
import { randomUUID } from 'node:crypto'
import { Fault } from '../../define/fault.ts'
import { tell } from '../shared/listener.ts'
import { decodeEnvelope, encodeBound, encodeEnvelope } from './worker-messages.ts'
import type { FaultKind } from '../../define/fault.ts'
import type { Entry, Store } from '../../state/store.ts'
import type { Follower } from '../shared/listener.ts'
import type { StoreFault, StoreQuestion, StoreReply } from './worker-messages.ts'

/** How long the primary has for its first word. */
const FIRST_WORD_MS = 5_000

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Fault) => void
}

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
  const primary = new Primary()
  return {
    isShared: true,
    read: (place) => primary.ask<Entry | undefined>({ method: 'read', place }),
    write: (place, value, keepMs, expected) => primary.ask<number | undefined>({
      method: 'write', place, value, keepMs: encodeBound(keepMs), expected,
    }),
    remove: (place, expected) => primary.ask<boolean>({ method: 'remove', place, expected }),
    list: (collection, owner, limit, before = Infinity) => primary.ask<readonly Entry[]>({
      method: 'list', collection, owner, limit: encodeBound(limit), before: encodeBound(before),
    }),
    publish: (topic, text, keep) => primary.ask<void>({
      method: 'publish', topic, text,
      keep: keep === undefined ? null : { events: encodeBound(keep.events), ms: encodeBound(keep.ms) },
    }),
    follow: (topic, from, listener, onLost) => primary.follow(topic, from, { listener, onLost }),
    close: () => primary.close(),
  }
}

/** The primary, as one store in a worker sees it. */
class Primary {
  readonly #name: string = randomUUID()
  readonly #pending = new Map<number, Pending>()
  readonly #followers = new Map<number, Follower>()
  readonly #onMessage = (message: unknown): void => this.#hear(message)
  readonly #onDisconnect = (): void => this.#end('The primary has gone')
  #lastId = 0
  #hasSpoken = false
  #isOver = false
  #timer: NodeJS.Timeout | undefined

  constructor() {
    process.on('message', this.#onMessage)
    process.on('disconnect', this.#onDisconnect)
  }

  /** Rejects with the `Fault` that the primary has answered, or with 'busy'. */
  ask<Answer>(question: StoreQuestion, id: number = ++this.#lastId): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (this.#isOver || !process.connected) {
        return reject(new Fault('busy', 'The store is closed, or the primary has gone'))
      }
      // The primary answers what was asked for.
      this.#pending.set(id, { resolve: (value) => resolve(value as Answer), reject })
      if (!this.#hasSpoken) this.#awaitFirstWord()
      const message = encodeEnvelope({ of: this.#name, id, content: question })
      process.send?.(message, undefined, undefined, (cause) => {
        if (cause === null) return
        this.#pending.delete(id)
        reject(new Fault('busy', 'The primary cannot be reached; try again later', undefined, { cause }))
      })
    })
  }

  async follow(topic: string, from: 'kept' | 'now', follower: Follower): Promise<() => void> {
    const id = ++this.#lastId
    // What is kept may be heard before there is an answer.
    this.#followers.set(id, follower)
    try {
      await this.ask({ method: 'follow', topic, from }, id)
    } catch (error) {
      this.#followers.delete(id)
      throw error
    }
    return () => {
      if (this.#followers.delete(id)) this.ask({ method: 'leave', follower: id }).catch(() => {})
    }
  }

  close(): void {
    if (this.#isOver) return
    for (const follower of this.#followers.keys()) this.ask({ method: 'leave', follower }).catch(() => {})
    this.#end('The store is closed')
  }

  #hear(message: unknown): void {
    const envelope = decodeEnvelope<StoreReply>(message)
    if (envelope?.of !== this.#name) return
    this.#hasSpoken = true
    clearTimeout(this.#timer)
    const { id, content } = envelope
    if ('text' in content || 'isLost' in content) {
      const follower = this.#followers.get(id)
      if (follower === undefined) return
      return tell(follower, 'text' in content ? content.text : undefined)
    }
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if ('fault' in content) {
      pending?.reject(faultOf(content.fault))
    } else {
      pending?.resolve(content.value)
    }
  }

  #awaitFirstWord(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#refuse('The primary does not answer: let it call hostStore(store)')
    }, FIRST_WORD_MS).unref()
  }

  #end(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    process.off('message', this.#onMessage)
    process.off('disconnect', this.#onDisconnect)
    const followers = [...this.#followers.values()]
    this.#followers.clear()
    this.#refuse(why)
    if (!process.connected) for (const follower of followers) tell(follower, undefined)
  }

  /** Nothing that was asked so far is answered any more. */
  #refuse(why: string): void {
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of pending) reject(new Fault('busy', why))
  }
}

function faultOf({ kind, message, cause }: StoreFault): Fault {
  const options = cause === undefined ? undefined : { cause: new Error(cause) }
  return new Fault(kind as FaultKind, message, undefined, options)
}
