/**
 * The history that a caller and an agent share, kept in bounded memory. A conversation belongs to one
 * principal; for every other it does not exist.
 *
 * When there is no room, one that was never named again goes first (most clients never come back), then
 * the one idle for longest of the principal that holds most.
 */
import { randomUUID } from 'node:crypto'
import { Queue } from './queue.ts'
import type { Limits } from './defaults.ts'
import type { Queued } from './queue.ts'

/** What a client may choose as the id of a conversation. */
export const CONVERSATION_ID: RegExp = /^[\w.-]{8,128}$/

/** One message of a conversation. */
export interface ChatMessage { readonly role: 'user' | 'assistant' | 'system'; readonly content: string }

interface Conversation extends Queued<Conversation> {
  readonly holding: Holding
  readonly id: string
  messages: readonly ChatMessage[]
  bytes: number
  /** Monotonic milliseconds; whole, so that they need no box of their own in ten thousand conversations. */
  usedAt: number
  /** Where it waits: among the fresh ones, or among its owner's. */
  queue: Queue<Conversation>
}

/** What one principal holds. */
interface Holding {
  readonly owner: string
  readonly conversations: Map<string, Conversation>
  /** Those that were named again, the one idle for longest first. */
  readonly named: Queue<Conversation>
  bytes: number
}

const none: readonly ChatMessage[] = Object.freeze([])

/** All conversations of one server. */
export class Conversations {
  readonly #limits: Limits
  readonly #holdings = new Map<string, Holding>()
  /** Those that were begun and never named again, the oldest first. */
  readonly #fresh = new Queue<Conversation>()
  #count = 0
  #bytes = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get count(): number { return this.#count }
  get bytes(): number { return this.#bytes }

  /** An id that nobody can guess, for a client that brought none. */
  makeId(): string {
    return randomUUID()
  }

  /** What was said in the owner's conversation of that id. Naming one keeps it. */
  history(owner: string, id: string): readonly ChatMessage[] {
    const found = this.#find(owner, id)
    if (found === undefined) return none
    const now = monotonic()
    if (this.#hasExpired(found, now)) {
      this.#forget(found)
      return none
    }
    touch(found, found.holding.named, now)
    return found.messages.slice()
  }

  /** Adds what was said, the oldest messages making room within the conversation's own limits. */
  record(owner: string, id: string, said: readonly ChatMessage[]): void {
    const now = monotonic()
    const known = this.#find(owner, id)
    if (known !== undefined) touch(known, known.queue, now)
    const conversation = known ?? this.#begin(owner, id, now)
    this.#add(conversation, said)
    this.#makeRoom(conversation, now)
  }

  #find(owner: string, id: string): Conversation | undefined {
    return this.#holdings.get(owner)?.conversations.get(id)
  }

  #begin(owner: string, id: string, usedAt: number): Conversation {
    let holding = this.#holdings.get(owner)
    if (holding === undefined) {
      holding = { owner, conversations: new Map(), named: new Queue(), bytes: 0 }
      this.#holdings.set(owner, holding)
    }
    const queue = this.#fresh
    const conversation = {
      holding, id, messages: none, bytes: 0, usedAt, queue, previous: undefined, next: undefined,
    }
    holding.conversations.set(id, conversation)
    queue.add(conversation)
    this.#count++
    return conversation
  }

  #add(conversation: Conversation, said: readonly ChatMessage[]): void {
    const { conversationMessages, conversationBytes } = this.#limits
    const messages = conversation.messages.length === 0 ? said : [...conversation.messages, ...said]
    const before = conversation.bytes
    for (const message of said) conversation.bytes += sizeOf(message)
    const surplus = Math.max(0, messages.length - conversationMessages)
    let drop = 0
    while (drop < surplus || conversation.bytes > conversationBytes) {
      conversation.bytes -= sizeOf(messages[drop++]!)
    }
    conversation.messages = drop === 0 ? messages : messages.slice(drop)
    conversation.holding.bytes += conversation.bytes - before
    this.#bytes += conversation.bytes - before
  }

  #hasExpired({ usedAt }: Conversation, now: number): boolean {
    return now - usedAt > this.#limits.conversationIdleMs
  }

  #makeRoom(keep: Conversation, now: number): void {
    this.#forgetExpired(this.#fresh, now)
    this.#forgetExpired(keep.holding.named, now)
    for (;;) {
      const isHeavy = this.#bytes > this.#limits.maxConversationsBytes
      if (!isHeavy && this.#count <= this.#limits.maxConversations) return
      const victim = oldestBut(keep, this.#fresh) ?? this.#oldestOfMost(isHeavy, keep)
      if (victim === undefined) return
      this.#forget(victim)
    }
  }

  /** Forgets what is past its time, of conversations that begin with the one idle for longest. */
  #forgetExpired(queue: Queue<Conversation>, now: number): void {
    for (;;) {
      const oldest = queue.first
      if (oldest === undefined || !this.#hasExpired(oldest, now)) return
      this.#forget(oldest)
    }
  }

  /** The oldest of the principal that holds most besides `keep`: most bytes, or most conversations. */
  #oldestOfMost(isHeavy: boolean, keep: Conversation): Conversation | undefined {
    let most = 0
    let found: Conversation | undefined
    for (const { conversations, named, bytes } of this.#holdings.values()) {
      const oldest = oldestBut(keep, named)
      const held = isHeavy ? bytes : conversations.size
      if (oldest === undefined || held <= most) continue
      most = held
      found = oldest
    }
    return found
  }

  #forget(conversation: Conversation): void {
    const { holding, id, bytes, queue } = conversation
    queue.remove(conversation)
    holding.conversations.delete(id)
    holding.bytes -= bytes
    if (holding.conversations.size === 0) this.#holdings.delete(holding.owner)
    this.#count--
    this.#bytes -= bytes
  }
}

/** Puts a conversation at the end of a queue. */
function touch(conversation: Conversation, queue: Queue<Conversation>, now: number): void {
  conversation.queue.remove(conversation)
  conversation.queue = queue
  conversation.usedAt = now
  queue.add(conversation)
}

/** What is in use stands at the end of its queue: it is at the front only where it is alone. */
function oldestBut(keep: Conversation, { first }: Queue<Conversation>): Conversation | undefined {
  return first === keep ? undefined : first
}

function monotonic(): number {
  return Math.floor(performance.now())
}

function sizeOf(message: ChatMessage): number {
  return Buffer.byteLength(message.content) + message.role.length
}
