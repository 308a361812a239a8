/**
 * The history that a caller and an agent share, kept in bounded memory. A conversation belongs to one
 * principal; for every other it does not exist.
 *
 * When there is no room, one that was never named again goes first (most clients never come back), then
 * the one idle for longest of the principal that holds most.
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

/** What one principal holds; the conversation that was used last is the last. */
interface Holding { readonly conversations: Map<string, Conversation>; bytes: number }

const none: readonly Turn[] = Object.freeze([])

/** All conversations of one server. */
export class Conversations {
  readonly #limits: Limits
  readonly #owners = new Map<string, Holding>()
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
    const found = this.#find(owner, id)
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
    const conversation = this.#find(owner, id) ?? this.#begin(owner, id)
    const before = conversation.bytes
    for (const turn of said) {
      conversation.turns.push(turn)
      conversation.bytes += sizeOf(turn)
    }
    this.#shorten(conversation)
    this.#bytes += conversation.bytes - before
    this.#owners.get(owner)!.bytes += conversation.bytes - before
    this.#touch(conversation)
    this.#makeRoom(conversation)
  }

  #find(owner: string, id: string): Conversation | undefined {
    return this.#owners.get(owner)?.conversations.get(id)
  }

  #shorten(conversation: Conversation): void {
    const { conversationMessages, conversationBytes } = this.#limits
    const { turns } = conversation
    let drop = Math.max(0, turns.length - conversationMessages)
    for (const turn of turns.slice(0, drop)) conversation.bytes -= sizeOf(turn)
    while (conversation.bytes > conversationBytes) conversation.bytes -= sizeOf(turns[drop++]!)
    if (drop > 0) conversation.turns = turns.slice(drop)
  }

  #begin(owner: string, id: string): Conversation {
    const conversation = { owner, id, turns: [], bytes: 0, usedAt: 0 }
    let holding = this.#owners.get(owner)
    if (holding === undefined) this.#owners.set(owner, holding = { conversations: new Map(), bytes: 0 })
    holding.conversations.set(id, conversation)
    this.#fresh.add(conversation)
    this.#count++
    return conversation
  }

  #touch(conversation: Conversation): void {
    conversation.usedAt = performance.now()
    const { conversations } = this.#owners.get(conversation.owner)!
    // Maps keep the order of insertion: taking it out and putting it back makes it the newest.
    conversations.delete(conversation.id)
    conversations.set(conversation.id, conversation)
  }

  #expired(conversation: Conversation): boolean {
    return performance.now() - conversation.usedAt > this.#limits.conversationIdleMs
  }

  #makeRoom(keep: Conversation): void {
    this.#forgetExpired(this.#fresh)
    this.#forgetExpired(this.#owners.get(keep.owner)!.conversations.values())
    for (;;) {
      const isHeavy = this.#bytes > this.#limits.maxConversationsBytes
      if (!isHeavy && this.#count <= this.#limits.maxConversations) return
      const victim = first(this.#fresh, keep) ?? first(this.#most(isHeavy, keep), keep)
      if (victim === undefined) return
      this.#forget(victim)
    }
  }

  /** Forgets what is past its time, of conversations that begin with the one idle for longest. */
  #forgetExpired(conversations: Iterable<Conversation>): void {
    for (const oldest of conversations) {
      if (!this.#expired(oldest)) return
      this.#forget(oldest)
    }
  }

  /** The conversations of the principal that holds most besides `keep`: most bytes, or most of them. */
  #most(isHeavy: boolean, keep: Conversation): Iterable<Conversation> {
    let most = 0
    let found: Iterable<Conversation> = []
    for (const [owner, { conversations, bytes }] of this.#owners) {
      const others = owner === keep.owner ? 1 : 0
      if (conversations.size === others) continue
      const held = isHeavy ? bytes : conversations.size
      if (held <= most) continue
      most = held
      found = conversations.values()
    }
    return found
  }

  #forget(conversation: Conversation): void {
    const holding = this.#owners.get(conversation.owner)!
    holding.conversations.delete(conversation.id)
    holding.bytes -= conversation.bytes
    if (holding.conversations.size === 0) this.#owners.delete(conversation.owner)
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
