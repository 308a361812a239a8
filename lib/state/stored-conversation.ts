/**
 * Conversations in a store that others share: read before a run, appended to after it by compare-and-set,
 * so that what two processes add at one time is all there. One entry a conversation, JSON, with its version.
 */
import { append, silence, sizeOf } from '../define/chat.ts'
import { isRecord } from '../define/content.ts'
import { Fault } from '../define/fault.ts'
import { keyOf } from './store.ts'
import type { Chat, ChatMessage } from '../define/chat.ts'
import type { Limits } from '../define/limits.ts'
import type { Log } from '../define/log.ts'
import type { Store, StoreKey } from './store.ts'

/** So often is an append begun again after somebody else was first. */
const MAX_ATTEMPTS = 64

/** A conversation as it was read. Version 0: there was none. */
interface Stored extends Chat { readonly version: number }

const nothing: Stored = Object.freeze({ ...silence, version: 0 })

/** All conversations of one store. */
export class StoredConversations {
  readonly #limits: Limits
  readonly #store: Store
  readonly #log: Log | undefined
  /** What was read, by the list of messages that was handed out: an append needs not read it again. */
  readonly #known = new WeakMap<readonly ChatMessage[], Stored>()
  #hasFailed = false

  constructor(limits: Limits, store: Store, log: Log | undefined) {
    this.#limits = limits
    this.#store = store
    this.#log = log
  }

  /** What was said. Rejects with `Fault('busy')` where that cannot be read. */
  async history(owner: string, id: string): Promise<readonly ChatMessage[]> {
    let stored
    try {
      stored = await this.#read(placeOf(owner, id))
    } catch (cause) {
      const remedy = 'try again later, or begin another conversation'
      throw new Fault('busy', `The conversation cannot be read now; ${remedy}`, undefined, { cause })
    }
    // The author's code gets a list of its own.
    const messages = stored.messages.slice()
    this.#known.set(messages, stored)
    return messages
  }

  /** Adds what was said. Never rejects: the reply is given all the same, and the first failure logged. */
  async record(
    owner: string, id: string, said: readonly ChatMessage[], known: readonly ChatMessage[] | undefined,
  ): Promise<void> {
    try {
      await this.#append(placeOf(owner, id), said, known && this.#known.get(known))
      this.#hasFailed = false
    } catch (cause) {
      if (this.#hasFailed) return
      this.#hasFailed = true
      this.#log?.('warning', 'A conversation could not be kept: what follows will not know of it', { cause })
    }
  }

  async #append(place: StoreKey, said: readonly ChatMessage[], known: Stored = nothing): Promise<void> {
    const { conversationIdleMs } = this.#limits
    let before = known
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { messages } = append(before, said, this.#limits)
      const text = JSON.stringify(messages)
      if (await this.#store.write(place, text, conversationIdleMs, before.version) !== undefined) return
      before = await this.#read(place)
    }
    throw new Error(`Somebody else was first ${MAX_ATTEMPTS} times`)
  }

  async #read(place: StoreKey): Promise<Stored> {
    const entry = await this.#store.read(place)
    if (entry === undefined) return nothing
    const messages = decode(entry.value)
    let bytes = 0
    for (const message of messages) bytes += sizeOf(message)
    return { messages, bytes, version: entry.version }
  }
}

function placeOf(owner: string, id: string): StoreKey {
  return { collection: 'conversations', owner: keyOf(owner), key: keyOf(id) }
}

function decode(value: string): readonly ChatMessage[] {
  const messages: unknown = JSON.parse(value)
  if (Array.isArray(messages) && messages.every(isMessage)) return messages
  throw new Error('What is kept as a conversation is none')
}

function isMessage(value: unknown): value is ChatMessage {
  if (!isRecord(value) || typeof value['content'] !== 'string') return false
  const { role } = value
  return role === 'user' || role === 'assistant' || role === 'system'
}
