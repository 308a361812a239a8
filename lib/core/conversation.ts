/**
 * The history that a caller and an agent share. A conversation belongs to one principal; for every other it
 * does not exist. It lives in bounded memory, as live objects, or, where others share the store, there.
 *
 * When memory is short, the principal that holds most makes room: first with what was begun and never named
 * again (most clients never come back), then with what is idle for longest.
 */
import { randomUUID } from 'node:crypto'
import { append, silence, sizeOf } from './chat.ts'
import { Queue } from './queue.ts'
import { Share, Shares } from './shares.ts'
import { StoredConversations } from './stored-conversation.ts'
import type { Chat, ChatMessage } from './chat.ts'
import type { Limits } from './defaults.ts'
import type { Log } from './log.ts'
import type { Queued } from './queue.ts'
import type { MaybePromise, Store } from './store.ts'

export type { ChatMessage } from './chat.ts'

/** What a client may choose as the id of a conversation. */
export const CONVERSATION_ID: RegExp = /^[\w.-]{8,128}$/

interface Conversation extends Chat, Queued<Conversation> {
  readonly holding: Holding
  readonly id: string
  messages: readonly ChatMessage[]
  bytes: number
  /** Monotonic milliseconds; whole, so that they need no box of their own in ten thousand conversations. */
  usedAt: number
  /** Where it waits: among its owner's fresh ones, or among the named. */
  queue: Queue<Conversation>
}

/** What one principal holds. */
class Holding {
  readonly owner: string
  readonly share: Share<Holding> = new Share<Holding>(this)
  readonly conversations = new Map<string, Conversation>()
  /** Those that were begun and never named again, the one idle for longest first. */
  readonly fresh = new Queue<Conversation>()
  /** Those that were named again, in the same order. */
  readonly named = new Queue<Conversation>()

  constructor(owner: string) {
    this.owner = owner
  }
}

/** What has expired is looked for at most so often. */
const SWEEP_MS = 1_000

/** All conversations of one server. */
export class Conversations {
  readonly #limits: Limits
  /** Where they are, if not here. */
  readonly #stored: StoredConversations | undefined
  readonly #holdings = new Map<string, Holding>()
  readonly #shares: Shares<Holding>
  readonly #sweepMs: number
  #sweptAt = 0

  /** `store` keeps them where others share it. `log` hears of what could not be kept there. */
  constructor(limits: Limits, store?: Store, log?: Log) {
    this.#limits = limits
    this.#sweepMs = Math.min(SWEEP_MS, limits.conversationIdleMs)
    this.#shares = new Shares(limits.maxConversations, limits.maxConversationsBytes)
    if (store?.isShared === true) this.#stored = new StoredConversations(limits, store, log)
  }

  /** How many are here, and how many bytes they count for. */
  get count(): number { return this.#shares.count }
  get bytes(): number { return this.#shares.bytes }

  /** An id that nobody can guess, for a client that brought none. */
  makeId(): string {
    return randomUUID()
  }

  /**
   * What was said in the owner's conversation of that id. Naming one keeps it. A promise only where the
   * store is shared; it rejects with `Fault('busy')` where that cannot be read: a history is never
   * forgotten in silence.
   */
  history(owner: string, id: string): MaybePromise<readonly ChatMessage[]> {
    if (this.#stored !== undefined) return this.#stored.history(owner, id)
    const now = monotonic()
    const found = this.#find(owner, id, now)
    if (found === undefined) return silence.messages
    touch(found, found.holding.named, now)
    this.#shares.change(found.holding.share, 0, 0)
    // The author's code gets a list of its own.
    return found.messages.slice()
  }

  /**
   * Adds what was said, the oldest messages making room within the conversation's own limits. A promise
   * only where the store is shared; it never rejects: what cannot be kept there is logged. `known` is what
   * `history` answered before the run; it saves a look into that store.
   */
  record(
    owner: string, id: string, said: readonly ChatMessage[], known?: readonly ChatMessage[],
  ): MaybePromise<void> {
    if (this.#stored !== undefined) return this.#stored.record(owner, id, said, known)
    const now = monotonic()
    const conversation = this.#find(owner, id, now)
    if (conversation === undefined) return this.#say(this.#begin(owner, id, now), said, 1, now)
    touch(conversation, conversation.queue, now)
    this.#say(conversation, said, 0, now)
  }

  /** Begins a conversation with what was said, under an id that was made for it: nobody has named it yet. */
  begin(owner: string, id: string, said: readonly ChatMessage[]): MaybePromise<void> {
    if (this.#stored !== undefined) return this.#stored.record(owner, id, said, silence.messages)
    const now = monotonic()
    this.#say(this.#begin(owner, id, now), said, 1, now)
  }

  #say(conversation: Conversation, said: readonly ChatMessage[], begun: 0 | 1, now: number): void {
    if (now - this.#sweptAt >= this.#sweepMs) this.#sweep(now)
    const { messages, bytes } = append(conversation, said, this.#limits)
    this.#shares.change(conversation.holding.share, begun, bytes - conversation.bytes)
    conversation.messages = messages
    conversation.bytes = bytes
    while (this.#shares.isOver) this.#makeRoom(conversation)
  }

  #find(owner: string, id: string, now: number): Conversation | undefined {
    const found = this.#holdings.get(owner)?.conversations.get(id)
    if (found === undefined || !this.#hasExpired(found, now)) return found
    this.#forget(found)
    return undefined
  }

  #begin(owner: string, id: string, usedAt: number): Conversation {
    let holding = this.#holdings.get(owner)
    if (holding === undefined) this.#holdings.set(owner, holding = new Holding(owner))
    const queue = holding.fresh
    const conversation = {
      holding, id, messages: silence.messages, bytes: 0, usedAt, queue, previous: undefined, next: undefined,
    }
    holding.conversations.set(id, conversation)
    queue.add(conversation)
    return conversation
  }

  /** Whoever holds most gives something, only not the conversation that is in use. */
  #makeRoom(keep: Conversation): void {
    const victim = oldestBut(keep, this.#shares.largest) ?? oldestBut(keep, this.#shares.asLarge)
    if (victim !== undefined) return this.#forget(victim)
    // It alone is more than anybody else has, so it has to do with less.
    const dropped = sizeOf(keep.messages[0]!)
    keep.messages = keep.messages.slice(1)
    keep.bytes -= dropped
    this.#shares.change(keep.holding.share, 0, -dropped)
  }

  #hasExpired({ usedAt }: Conversation, now: number): boolean {
    return now - usedAt > this.#limits.conversationIdleMs
  }

  #sweep(now: number): void {
    this.#sweptAt = now
    for (const { fresh, named } of this.#holdings.values()) {
      this.#forgetExpired(fresh, now)
      this.#forgetExpired(named, now)
    }
  }

  #forgetExpired(queue: Queue<Conversation>, now: number): void {
    while (queue.first !== undefined && this.#hasExpired(queue.first, now)) this.#forget(queue.first)
  }

  #forget(conversation: Conversation): void {
    const { holding, id, bytes, queue } = conversation
    queue.remove(conversation)
    holding.conversations.delete(id)
    if (holding.conversations.size === 0) this.#holdings.delete(holding.owner)
    this.#shares.change(holding.share, -1, -bytes)
  }
}

/** Puts a conversation at the end of a queue of its owner's. */
function touch(conversation: Conversation, queue: Queue<Conversation>, now: number): void {
  conversation.queue.remove(conversation)
  conversation.queue = queue
  conversation.usedAt = now
  queue.add(conversation)
}

/**
 * What a holding gives first. What is in use stands at the end of its queue: it is at the front only where
 * it is alone.
 */
function oldestBut(keep: Conversation, holding: Holding | undefined): Conversation | undefined {
  const fresh = holding?.fresh.first
  if (fresh !== undefined && fresh !== keep) return fresh
  const named = holding?.named.first
  return named === keep ? undefined : named
}

function monotonic(): number {
  return Math.floor(performance.now())
}
