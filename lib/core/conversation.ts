/**
 * The history that a caller and an agent share, kept in bounded memory. A conversation belongs to one
 * principal; for every other it does not exist.
 *
 * When there is no room, one that was never named again goes first (most clients never come back), then
 * the one idle for longest of the principal that holds most. One that is in use is never taken.
 */
import { randomUUID } from 'node:crypto'
import type { Limits } from './defaults.ts'

/** One message of a conversation. */
export interface Turn { readonly role: 'user' | 'assistant' | 'system'; readonly content: string }

interface Conversation {
  readonly owner: string
  readonly id: string
  turns: Turn[]
  bytes: number
  /** Monotonic milliseconds. */
  usedAt: number
}

const none: readonly Turn[] = Object.freeze([])

/** All conversations of one server. */
export class Conversations {
  readonly #limits: Limits
  readonly #owners = new Map<string, Map<string, Conversation>>()
  /** Those that were begun and never named again, the oldest first. */
  readonly #fresh = new Set<Conversation>()
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
  history(owner: string, id: string): readonly Turn[] {
    const found = this.#owners.get(owner)?.get(id)
    if (found === undefined) return none
    if (this.#expired(found)) {
      this.#forget(found)
      return none
    }
    this.#fresh.delete(found)
    this.#touch(found)
    return found.turns.slice()
  }

  /** Adds what was said, the oldest messages making room within the conversation's own limits. */
  record(owner: string, id: string, said: readonly Turn[]): void {
    const conversation = this.#owners.get(owner)?.get(id) ?? this.#begin(owner, id)
    const before = conversation.bytes
    for (const turn of said) {
      conversation.turns.push(turn)
      conversation.bytes += sizeOf(turn)
    }
    const { conversationMessages, conversationBytes } = this.#limits
    let drop = 0
    while (drop < conversation.turns.length
      && (conversation.turns.length - drop > conversationMessages || conversation.bytes > conversationBytes)) {
      conversation.bytes -= sizeOf(conversation.turns[drop++]!)
    }
    if (drop > 0) conversation.turns = conversation.turns.slice(drop)
    this.#bytes += conversation.bytes - before
    this.#touch(conversation)
    this.#makeRoom(conversation)
  }

  #begin(owner: string, id: string): Conversation {
    const conversation = { owner, id, turns: [], bytes: 0, usedAt: 0 }
    let owned = this.#owners.get(owner)
    if (owned === undefined) this.#owners.set(owner, owned = new Map())
    owned.set(id, conversation)
    this.#fresh.add(conversation)
    this.#count++
    return conversation
  }

  #touch(conversation: Conversation): void {
    conversation.usedAt = performance.now()
    const owned = this.#owners.get(conversation.owner)!
    // Maps keep the order of insertion: taking it out and putting it back makes it the newest.
    owned.delete(conversation.id)
    owned.set(conversation.id, conversation)
  }

  #expired(conversation: Conversation): boolean {
    return performance.now() - conversation.usedAt > this.#limits.conversationIdleMs
  }

  #makeRoom(keep: Conversation): void {
    for (const oldest of this.#fresh) {
      if (!this.#expired(oldest)) break
      this.#forget(oldest)
    }
    while (this.#count > this.#limits.maxConversations || this.#bytes > this.#limits.maxConversationsBytes) {
      const victim = first(this.#fresh, keep) ?? first(this.#largest().values(), keep)
      if (victim === undefined) return
      this.#forget(victim)
    }
  }

  #largest(): Map<string, Conversation> {
    let largest = new Map<string, Conversation>()
    for (const owned of this.#owners.values()) if (owned.size > largest.size) largest = owned
    return largest
  }

  #forget(conversation: Conversation): void {
    const owned = this.#owners.get(conversation.owner)!
    owned.delete(conversation.id)
    if (owned.size === 0) this.#owners.delete(conversation.owner)
    this.#fresh.delete(conversation)
    this.#count--
    this.#bytes -= conversation.bytes
  }
}

function first(conversations: Iterable<Conversation>, keep: Conversation): Conversation | undefined {
  for (const conversation of conversations) if (conversation !== keep) return conversation
  return undefined
}

function sizeOf(turn: Turn): number {
  return Buffer.byteLength(turn.content) + turn.role.length
}
