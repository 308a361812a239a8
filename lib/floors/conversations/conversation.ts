/**
 * The histories of conversations. One belongs to one principal; for every other it does not exist. They are
 * objects in bounded memory, or entries of the store where processes share one.
 *
 * When memory is short, the principal that holds most makes room: first with conversations that were never
 * named again after their first message (most clients never come back), then with those idle for longest.
 */
import { sharedOf } from '../shared/shared-of.ts'
import { Bounded, FLEETING, KEPT } from '../bounds/bounded.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { append, sizeOf } from './chat.ts'
import { CONVERSATION_ID, rejectCursor, summaryOf } from './conversation-page.ts'
import type { ChatMessage } from '../../kernel/define/call.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Gauge } from '../../kernel/util/gauge.ts'
import type { SharedForm } from '../shared/shared.ts'
import type { Slotted } from '../bounds/slots.ts'
import type { ConversationPage } from './conversation-page.ts'
import type { StoredConversations } from './stored-conversations.ts'

const ROLES_BYTES = 'user'.length + 'assistant'.length

/** One that was never named again is fleeting; its bytes are those of its messages. */
class Conversation implements Slotted {
  readonly id: string
  slot = 0
  /** What began it, until its messages are read, which those of most never are. */
  #asked: string
  #answered: string
  #messages: ChatMessage[] | undefined

  constructor(id: string, asked: string, answered: string, messages?: ChatMessage[]) {
    this.id = id
    this.#asked = asked
    this.#answered = answered
    this.#messages = messages
  }

  get messages(): ChatMessage[] {
    if (this.#messages === undefined) {
      this.#messages = messagesOf(this.#asked, this.#answered)
      this.#asked = this.#answered = ''
    }
    return this.#messages
  }
}

/** Takes the oldest message out; returns how many bytes it was. */
function trim({ messages }: Conversation): number {
  return sizeOf(messages.shift()!)
}

/** Where they are kept where processes share the store. */
export const conversationForm: SharedForm<typeof StoredConversations> = { name: 'conversations' }

function makeConversations(service: Service): Conversations {
  const { limits, log } = service
  const shared = sharedOf(service)
  const Stored = shared?.form(conversationForm)
  return new Conversations(limits, shared && Stored && new Stored(limits, shared.store, log))
}

/** Those of a server. */
export function conversationsOf(service: Service): Conversations {
  return service.use(makeConversations)
}

export class Conversations {
  readonly #limits: KernelLimits
  readonly #stored: StoredConversations | undefined
  readonly #all: Bounded<Conversation>
  /** It is there to the last millisecond. */
  readonly #keepMs: number

  constructor(limits: KernelLimits, stored?: StoredConversations) {
    this.#limits = limits
    this.#keepMs = limits.conversationIdleMs + 1
    const { maxConversations: maxCount, maxConversationsBytes: maxBytes } = limits
    this.#all = new Bounded({ maxCount, maxBytes, isByOwner: true }, { trim })
    this.#stored = stored
  }

  get count(): number { return this.#all.count }
  get bytes(): number { return this.#all.bytes }

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
    const found = this.#all.get(id, owner)
    if (found === undefined) return []
    this.#all.use(found, KEPT, this.#keepMs)
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
    this.#all.expire()
    const found = this.#all.get(id, owner)
    const bytes = found === undefined ? 0 : this.#all.bytesOf(found)
    const chat = { messages: found?.messages ?? [], bytes }
    append(chat, added, this.#limits)
    if (found === undefined) {
      this.#all.add(owner, new Conversation(id, '', '', chat.messages), chat.bytes, FLEETING, this.#keepMs)
    } else {
      this.#all.use(found, this.#all.holdOf(found), this.#keepMs)
      this.#all.resize(found, chat.bytes)
    }
  }

  /** Begins a conversation under an id of `makeId`. */
  begin(owner: string, id: string, asked: string, answered: string): MaybePromise<void> {
    if (this.#stored !== undefined) return this.#stored.record(owner, id, messagesOf(asked, answered), [])
    const { conversationBytes, conversationMessages } = this.#limits
    const bytes = ROLES_BYTES + Buffer.byteLength(asked) + Buffer.byteLength(answered)
    // A client may have named it meanwhile, where it got the id before the answer.
    if (conversationMessages < 2 || bytes > conversationBytes || this.#all.get(id, owner) !== undefined) {
      return this.record(owner, id, messagesOf(asked, answered))
    }
    this.#all.add(owner, new Conversation(id, asked, answered), bytes, FLEETING, this.#keepMs)
  }

  /**
   * At most `limit` of the owner's conversations whose ids plain HTTP takes, those behind the page that ended
   * with `after`. Throws `Fault('invalid')` for an `after` of no page. A promise only where the store is
   * shared; it rejects with `Fault('busy')` where that cannot be read.
   */
  list(owner: string, limit: number, after?: string): MaybePromise<ConversationPage> {
    if (this.#stored !== undefined) return this.#stored.list(owner, limit, after)
    const cursor = after === undefined ? undefined : placeIn(after)
    this.#all.expire()
    const all = Array.from(this.#all.of(owner), (of) => ({ id: of.id, usedAt: this.#all.usedAt(of), of }))
      .filter((one) => CONVERSATION_ID.test(one.id) && (cursor === undefined || byUse(cursor, one) < 0))
      .sort(byUse)
    const shown = all.slice(0, limit)
    const last = shown.at(-1)
    return {
      conversations: shown.map(({ id, of }) => summaryOf(id, of.messages)),
      next: all.length > limit && last !== undefined ? `${last.usedAt}.${last.id}` : undefined,
    }
  }

  /** Forgets a conversation; false where there is none of that id. The rest is as in `list`. */
  remove(owner: string, id: string): MaybePromise<boolean> {
    if (this.#stored !== undefined) return this.#stored.remove(owner, id)
    const found = this.#all.get(id, owner)
    if (found !== undefined) this.#all.remove(found)
    return found !== undefined
  }
}

function messagesOf(asked: string, answered: string): ChatMessage[] {
  return [{ role: 'user', content: asked }, { role: 'assistant', content: answered }]
}

/** Where a conversation stands in a list. */
interface Place { readonly id: string; readonly usedAt: number }

/** The one that was used last first, and of equals the greater id. */
function byUse(one: Place, other: Place): number {
  return other.usedAt - one.usedAt || (one.id > other.id ? -1 : 1)
}

/** The last conversation of a page. */
function placeIn(after: string): Place {
  const [, usedAt, id] = /^(\d{1,15})\.([\w.-]+)$/.exec(after) ?? []
  return id === undefined ? rejectCursor() : { id, usedAt: Number(usedAt) }
}
