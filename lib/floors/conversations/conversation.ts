/**
 * The histories of conversations. One belongs to one principal; for every other it does not exist. They are
 * objects in bounded memory, or entries of the store where processes share one.
 *
 * When memory is short, the principal that holds most makes room: first with conversations that were never
 * named again after their first message (most clients never come back), then with those idle for longest.
 */
import { storeOf } from '../memory/store-of.ts'
import { monotonic } from '../../kernel/util/clock.ts'
import { LinkedList } from '../../kernel/util/linked-list.ts'
import { Share, Shares } from '../bounds/shares.ts'
import { ID_LENGTH, NO_SLOT, TextSlots } from '../bounds/text-slots.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { append, sizeOf } from './chat.ts'
import { CONVERSATION_ID, rejectCursor, summaryOf } from './conversation-page.ts'
import { StoredConversations } from './stored-conversations.ts'
import type { ChatMessage } from '../../kernel/define/call.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Gauge } from '../../kernel/util/gauge.ts'
import type { LinkedMember } from '../../kernel/util/linked-list.ts'
import type { Store } from '../../kernel/store/store.ts'
import type { SlotHolder } from '../bounds/text-slots.ts'
import type { Chat } from './chat.ts'
import type { ConversationPage } from './conversation-page.ts'

interface Conversation extends Chat, LinkedMember<Conversation> {
  readonly holding: Holding
  readonly id: string
  /** Monotonic milliseconds. */
  usedAt: number
  /** The `fresh` or the `named` of its holding. */
  queue: LinkedList<Conversation>
}

/** The conversations of one principal. */
class Holding implements SlotHolder {
  readonly owner: string
  readonly share: Share<Holding> = new Share<Holding>(this)
  /** Slots of those that were begun under an id of ours and never named; all others are objects. */
  firstSlot: number = NO_SLOT
  lastSlot: number = NO_SLOT
  readonly conversations = new Map<string, Conversation>()
  /** Begun under an id of the client's and never named again, those idle for longest first. */
  readonly fresh = new LinkedList<Conversation>()
  /** Named again, in the same order. */
  readonly named = new LinkedList<Conversation>()

  constructor(owner: string) {
    this.owner = owner
  }
}

/** Room for an id, a short question and its answer. */
const CELL_BYTES = 256
const ROLES_BYTES = 'user'.length + 'assistant'.length
/** In UTF-8, for each unit of a string. */
const MAX_CHARACTER_BYTES = 3

const SWEEP_MS = 1_000

function makeConversations(service: Service): Conversations {
  return new Conversations(service.limits, storeOf(service), service.log)
}

/** Those of a server. */
export function conversationsOf(service: Service): Conversations {
  return service.use(makeConversations)
}

export class Conversations {
  readonly #limits: KernelLimits
  readonly #stored: StoredConversations | undefined
  readonly #holdings = new Map<string, Holding>()
  readonly #shares: Shares<Holding>
  /** A question and its answer in each slot. */
  readonly #begun: TextSlots<Holding>
  readonly #sweepMs: number
  #sweptAt = 0

  /** `store` keeps them where processes share it; `log` gets what could not be written there. */
  constructor(limits: KernelLimits, store?: Store, log?: Log) {
    this.#limits = limits
    this.#sweepMs = Math.min(SWEEP_MS, limits.conversationIdleMs)
    this.#shares = new Shares(limits.maxConversations, limits.maxConversationsBytes)
    this.#begun = new TextSlots(limits.maxConversations + 1, 2, CELL_BYTES)
    if (store?.isShared === true) this.#stored = new StoredConversations(limits, store, log)
  }

  get count(): number { return this.#shares.count }
  get bytes(): number { return this.#shares.bytes }

  status(): object {
    const { count, bytes } = this
    return { conversations: { count, bytes } }
  }

  gauges(): readonly Gauge[] {
    return [
      ['triport_conversations', 'Conversations that are kept.', this.count],
      ['triport_conversation_bytes', 'What they hold.', this.bytes],
    ]
  }

  makeId(): string { return randomUuid() }

  /**
   * The messages of the owner's conversation of that id, which is named by it. A promise only where the store
   * is shared; it rejects with `Fault('busy')` where that cannot be read: a history is never silently empty.
   */
  history(owner: string, id: string): MaybePromise<readonly ChatMessage[]> {
    if (this.#stored !== undefined) return this.#stored.history(owner, id)
    const now = monotonic()
    const found = this.#find(owner, id, now)
    if (found === undefined) return []
    touch(found, found.holding.named, now)
    this.#shares.change(found.holding.share, 0, 0)
    // A copy: the author's code may change it.
    return found.messages.slice()
  }

  /**
   * Adds messages; beyond the conversation's own limits the oldest go. A promise only where the store is
   * shared; it never rejects: a failure is logged. `known`: what `history` returned before the run, which
   * saves reading the store again.
   */
  record(
    owner: string, id: string, added: readonly ChatMessage[], known?: readonly ChatMessage[],
  ): MaybePromise<void> {
    if (this.#stored !== undefined) return this.#stored.record(owner, id, added, known)
    const now = monotonic()
    this.#sweepAt(now)
    const conversation = this.#find(owner, id, now)
    if (conversation === undefined) return this.#append(this.#open(this.#holdingOf(owner), id, now), added, 1)
    touch(conversation, conversation.queue, now)
    this.#append(conversation, added, 0)
  }

  /**
   * Begins a conversation under an id of `makeId`. As long as it is not named it costs next to nothing.
   */
  begin(owner: string, id: string, asked: string, answered: string): MaybePromise<void> {
    const texts = [asked, answered]
    if (this.#stored !== undefined) return this.#stored.record(owner, id, messagesOf(texts), [])
    const now = monotonic()
    this.#sweepAt(now)
    const holding = this.#holdingOf(owner)
    if (!this.#fits(id, asked, answered)) {
      return this.#append(this.#open(holding, id, now), messagesOf(texts), 1)
    }
    const slot = this.#begun.add(holding, id, texts, ROLES_BYTES, now)
    this.#shares.change(holding.share, 1, this.#begun.bytesOf(slot))
    while (this.#shares.isOver) {
      if (!this.#makeRoom(undefined, slot)) return this.#settle(this.#taken(slot, id))
    }
  }

  /**
   * At most `limit` of the owner's conversations whose ids plain HTTP takes, those behind the page that ended
   * with `after`. Throws `Fault('invalid')` for an `after` of no page. A promise only where the store is
   * shared; it rejects with `Fault('busy')` where that cannot be read.
   */
  list(owner: string, limit: number, after?: string): MaybePromise<ConversationPage> {
    if (this.#stored !== undefined) return this.#stored.list(owner, limit, after)
    const cursor = after === undefined ? undefined : placeIn(after)
    const now = monotonic()
    const holding = this.#holdings.get(owner)
    const all = holding === undefined ? [] : this.#placesOf(holding).filter((place) => (
      !this.#hasExpired(place.usedAt, now) && CONVERSATION_ID.test(place.id)
        && (cursor === undefined || byUse(cursor, place) < 0)
    )).sort(byUse)
    const shown = all.slice(0, limit)
    const last = shown.at(-1)
    return {
      conversations: shown.map(({ id, slot, chat }) => (
        summaryOf(id, chat ?? messagesOf(this.#begun.textsOf(slot)))
      )),
      next: all.length > limit && last !== undefined ? `${last.usedAt}.${last.id}` : undefined,
    }
  }

  /** Forgets a conversation; false where there is none of that id. The rest is as in `list`. */
  remove(owner: string, id: string): MaybePromise<boolean> {
    if (this.#stored !== undefined) return this.#stored.remove(owner, id)
    const found = this.#find(owner, id, monotonic())
    if (found !== undefined) this.#forget(found)
    return found !== undefined
  }

  #placesOf(holding: Holding): readonly Place[] {
    const begun = this.#begun
    const places = Array.from(begun.of(holding), (slot): Place => (
      { id: begun.idOf(slot), usedAt: begun.begunAt(slot), slot, chat: undefined }
    ))
    for (const { id, usedAt, messages } of holding.conversations.values()) {
      places.push({ id, usedAt, slot: NO_SLOT, chat: messages })
    }
    return places
  }

  /** Whether it fits into a slot, and surely into the limits of a conversation. */
  #fits(id: string, asked: string, answered: string): boolean {
    const { conversationBytes, conversationMessages } = this.#limits
    return id.length === ID_LENGTH && conversationMessages >= 2
      && (asked.length + answered.length) * MAX_CHARACTER_BYTES + ROLES_BYTES <= conversationBytes
  }

  #append(conversation: Conversation, added: readonly ChatMessage[], begun: 0 | 1): void {
    const { bytes } = conversation
    append(conversation, added, this.#limits)
    this.#shares.change(conversation.holding.share, begun, conversation.bytes - bytes)
    this.#settle(conversation)
  }

  /** Others make room for this one; where its owner holds most and has no other, its oldest messages go. */
  #settle(conversation: Conversation): void {
    while (this.#shares.isOver) {
      if (this.#makeRoom(conversation, NO_SLOT)) continue
      const dropped = sizeOf(conversation.messages.shift()!)
      conversation.bytes -= dropped
      this.#shares.change(conversation.holding.share, 0, -dropped)
    }
  }

  #find(owner: string, id: string, now: number): Conversation | undefined {
    const holding = this.#holdings.get(owner)
    if (holding === undefined) return undefined
    const found = holding.conversations.get(id) ?? this.#named(holding, id)
    if (found === undefined || !this.#hasExpired(found.usedAt, now)) return found
    this.#forget(found)
    return undefined
  }

  /** One that was begun, and is named for the first time now. */
  #named(holding: Holding, id: string): Conversation | undefined {
    const slot = this.#begun.find(id)
    if (slot === NO_SLOT || this.#begun.holderOf(slot) !== holding) return undefined
    return this.#taken(slot, id)
  }

  /** Makes an object of a slot, which counts for as much. */
  #taken(slot: number, id: string): Conversation {
    const begun = this.#begun
    const conversation = this.#open(begun.holderOf(slot), id, begun.begunAt(slot))
    conversation.messages.push(...messagesOf(begun.textsOf(slot)))
    conversation.bytes = begun.bytesOf(slot)
    begun.remove(slot)
    return conversation
  }

  #holdingOf(owner: string): Holding {
    let holding = this.#holdings.get(owner)
    if (holding === undefined) this.#holdings.set(owner, holding = new Holding(owner))
    return holding
  }

  #open(holding: Holding, id: string, usedAt: number): Conversation {
    const queue = holding.fresh
    const conversation = {
      holding, id, messages: [], bytes: 0, usedAt, queue, previous: undefined, next: undefined,
    }
    holding.conversations.set(id, conversation)
    queue.add(conversation)
    return conversation
  }

  /**
   * Removes a conversation of the holder of most, or of one that holds as much, but not the one in use, which
   * is an object or a slot. False where they have no other.
   */
  #makeRoom(keep: Conversation | undefined, kept: number): boolean {
    return this.#give(this.#shares.largest, keep, kept) || this.#give(this.#shares.asLarge, keep, kept)
  }

  /** The one in use is the last of its kind: it is the first only where it is alone. */
  #give(holding: Holding | undefined, keep: Conversation | undefined, kept: number): boolean {
    if (holding === undefined) return false
    const { firstSlot: slot, fresh: { first: fresh }, named: { first: named } } = holding
    const isFree = fresh !== undefined && fresh !== keep
    if (slot !== NO_SLOT && slot !== kept && !(isFree && fresh.usedAt < this.#begun.begunAt(slot))) {
      this.#drop(slot)
    } else if (isFree) {
      this.#forget(fresh)
    } else if (named !== undefined && named !== keep) {
      this.#forget(named)
    } else {
      return false
    }
    return true
  }

  #hasExpired(usedAt: number, now: number): boolean {
    return now - usedAt > this.#limits.conversationIdleMs
  }

  /** Forgets what has expired, at most once in `#sweepMs`. */
  #sweepAt(now: number): void {
    if (now - this.#sweptAt < this.#sweepMs) return
    this.#sweptAt = now
    for (const holding of this.#holdings.values()) {
      const begun = this.#begun
      while (holding.firstSlot !== NO_SLOT && this.#hasExpired(begun.begunAt(holding.firstSlot), now)) {
        this.#drop(holding.firstSlot)
      }
      this.#forgetExpired(holding.fresh, now)
      this.#forgetExpired(holding.named, now)
    }
  }

  #forgetExpired(queue: LinkedList<Conversation>, now: number): void {
    while (queue.first !== undefined && this.#hasExpired(queue.first.usedAt, now)) this.#forget(queue.first)
  }

  #forget(conversation: Conversation): void {
    const { holding, id, bytes, queue } = conversation
    queue.remove(conversation)
    holding.conversations.delete(id)
    this.#released(holding, bytes)
  }

  #drop(slot: number): void {
    const holding = this.#begun.holderOf(slot)
    const bytes = this.#begun.bytesOf(slot)
    this.#begun.remove(slot)
    this.#released(holding, bytes)
  }

  #released(holding: Holding, bytes: number): void {
    this.#shares.change(holding.share, -1, -bytes)
    if (holding.share.count === 0) this.#holdings.delete(holding.owner)
  }
}

function touch(conversation: Conversation, queue: LinkedList<Conversation>, now: number): void {
  conversation.queue.remove(conversation)
  conversation.queue = queue
  conversation.usedAt = now
  queue.add(conversation)
}

function messagesOf([asked = '', answered = '']: readonly string[]): readonly ChatMessage[] {
  return [{ role: 'user', content: asked }, { role: 'assistant', content: answered }]
}

/** Where a conversation stands in a list, and what it holds: messages, or the texts of a slot. */
interface Place {
  readonly id: string
  readonly usedAt: number
  readonly slot: number
  readonly chat: readonly ChatMessage[] | undefined
}

/** The one that was used last first, and of equals the greater id. */
function byUse(one: Pick<Place, 'id' | 'usedAt'>, other: Pick<Place, 'id' | 'usedAt'>): number {
  return other.usedAt - one.usedAt || (one.id > other.id ? -1 : 1)
}

/** The last conversation of a page. */
function placeIn(after: string): Pick<Place, 'id' | 'usedAt'> {
  const [, usedAt, id] = /^(\d{1,15})\.([\w.-]+)$/.exec(after) ?? []
  return id === undefined ? rejectCursor() : { id, usedAt: Number(usedAt) }
}
