/** Conversations in a store that processes share: read before a run, appended to by compare-and-set. */
import { Fault } from '../../kernel/define/fault.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { keyOf } from '../../kernel/store/store.ts'
import { among, decoded, isText, manyOf, readStored, recordOf } from '../shared/stored-value.ts'
import { append, sizeOf } from './chat.ts'
import { CONVERSATION_ID, rejectCursor, summaryOf } from './conversation-page.ts'
import type { ChatMessage } from '../../kernel/define/call.ts'
import type { KernelLimits } from '../../kernel/define/limits.ts'
import type { Log } from '../../kernel/define/log.ts'
import type { Entry, Store, StoreKey } from '../../kernel/store/store.ts'
import type { Chat } from './chat.ts'
import type { ConversationPage, ConversationSummary } from './conversation-page.ts'

/** How often an append is tried again after another process was first. */
const MAX_ATTEMPTS = 64

/** A conversation as it was read. Version 0: there was none. */
interface Stored extends Chat { readonly version: number }

const nothing: Stored = Object.freeze({ messages: [], bytes: 0, version: 0 })

/** How many a list reads at one time. */
export const READ_AT_ONCE = 8
/** How many that are not shown a page passes over, at most: then it has fewer. */
const MAX_PASSED_OVER = 256

export class StoredConversations {
  readonly #limits: KernelLimits
  readonly #store: Store
  readonly #log: Log | undefined
  /** What was read, by the list that was returned: an append needs not read it again. */
  readonly #known = new WeakMap<readonly ChatMessage[], Stored>()
  #hasFailed = false

  constructor(limits: KernelLimits, store: Store, log: Log | undefined) {
    this.#limits = limits
    this.#store = store
    this.#log = log
  }

  async history(owner: string, id: string): Promise<readonly ChatMessage[]> {
    let stored
    try {
      stored = await this.#read(keyFor(owner, id))
    } catch (cause) {
      const remedy = 'try again later, or begin another conversation'
      throw new Fault('busy', `The conversation cannot be read now; ${remedy}`, undefined, { cause })
    }
    // A copy: the author's code may change it.
    const messages = stored.messages.slice()
    this.#known.set(messages, stored)
    return messages
  }

  /** Passes over what cannot be read, and conversations of A2A whose ids plain HTTP does not take. */
  async list(owner: string, limit: number, after: string | undefined): Promise<ConversationPage> {
    let before = after === undefined ? undefined : versionIn(after)
    const conversations: ConversationSummary[] = []
    let passedOver = 0
    while (conversations.length < limit && passedOver < MAX_PASSED_OVER) {
      const wanted = Math.min(limit - conversations.length, READ_AT_ONCE)
      const entries = await this.#store.list(COLLECTION, keyOf(owner), wanted, before)
      for (const entry of entries) {
        const messages = CONVERSATION_ID.test(entry.key) ? this.#messagesIn(entry) : undefined
        if (messages === undefined) passedOver += 1
        else conversations.push(summaryOf(entry.key, messages))
      }
      if (entries.length < wanted) return { conversations, next: undefined }
      before = entries.at(-1)?.version
    }
    return { conversations, next: String(before) }
  }

  async remove(owner: string, id: string): Promise<boolean> {
    return this.#store.remove(keyFor(owner, id), 'any')
  }

  /** Never rejects: the reply is sent all the same. The first failure in a row is logged. */
  async record(
    owner: string, id: string, added: readonly ChatMessage[], known: readonly ChatMessage[] | undefined,
  ): Promise<void> {
    try {
      await this.#append(keyFor(owner, id), added, known && this.#known.get(known))
      this.#hasFailed = false
    } catch (cause) {
      if (this.#hasFailed) return
      this.#hasFailed = true
      this.#log?.('warning', 'A conversation could not be kept: what follows will not know of it', { cause })
    }
  }

  async #append(key: StoreKey, added: readonly ChatMessage[], known: Stored = nothing): Promise<void> {
    const { conversationIdleMs } = this.#limits
    let before = known
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const chat = { messages: before.messages.slice(), bytes: before.bytes }
      append(chat, added, this.#limits)
      const text = formatJson(chat.messages)
      if (await this.#store.write(key, text, conversationIdleMs, before.version) !== undefined) return
      before = await this.#read(key)
    }
    throw new Error(`Another process was first ${MAX_ATTEMPTS} times`)
  }

  async #read(key: StoreKey): Promise<Stored> {
    const entry = await this.#store.read(key)
    if (entry === undefined) return nothing
    const messages = this.#messagesIn(entry) ?? []
    let bytes = 0
    for (const message of messages) bytes += sizeOf(message)
    return { messages: [...messages], bytes, version: entry.version }
  }

  #messagesIn(entry: Entry): readonly ChatMessage[] | undefined {
    return readStored(COLLECTION, entry, decoded(areMessages), this.#log)
  }
}

/** The version of the last conversation of a page. */
function versionIn(after: string): number {
  return /^\d+$/.test(after) && Number.isSafeInteger(Number(after)) ? Number(after) : rejectCursor()
}

const COLLECTION = 'conversations'

function keyFor(owner: string, id: string): StoreKey {
  return { collection: COLLECTION, owner: keyOf(owner), key: keyOf(id) }
}

const areMessages = manyOf(recordOf<ChatMessage>({
  role: among('user', 'assistant', 'system'), content: isText,
}))
