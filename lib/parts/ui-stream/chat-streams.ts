/**
 * The streams of chats whose runs go on. What was sent of one is kept, within bounds, so that a reader who
 * comes later gets all of it. Without a reader a run ends, at once or after `resumeMs`; that long its end is
 * kept, too.
 */
import { timer } from '../../kernel/util/clock.ts'
import { ReplayBudget } from '../../floors/kept-streams/replay-budget.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { LiveCall } from '../../kernel/define/live-call.ts'
import type { Principal } from '../../kernel/define/principal.ts'
import type { KeptStream } from '../../floors/kept-streams/replay-budget.ts'
import type { Sink, Source } from '../../kernel/http/message/exchange.ts'
import type { UiStreamLimits } from './limits.ts'

type Left = () => void

/** Most runs say less: a lease for each would cost a fifth of it. */
const PACK_LENGTH = 8 * 1024
/** What a stream takes besides its text. */
const OWN_BYTES = 1024

/** The streams of one server, by the key of their chats: what says whose chat it is, and with which agent. */
export class ChatStreams {
  readonly limits: UiStreamLimits
  readonly budget: ReplayBudget
  /** So many characters are packed at once. */
  readonly packLength: number
  readonly #byChat = new Map<string, ChatStream>()

  constructor(limits: UiStreamLimits) {
    this.limits = limits
    this.budget = new ReplayBudget(limits.maxReplayBytes)
    this.packLength = Math.min(PACK_LENGTH, limits.replayBytes)
  }

  get size(): number { return this.#byChat.size }

  find(chat: string): ChatStream | undefined { return this.#byChat.get(chat) }

  add(chat: string, stream: ChatStream): void {
    this.replace(chat)
    this.#byChat.set(chat, stream)
  }

  /** The chat has a new run: an earlier one goes on for those alone who read it. */
  replace(chat: string): void { this.#byChat.get(chat)?.forget() }

  remove(chat: string, stream: ChatStream): void {
    if (this.#byChat.get(chat) === stream) this.#byChat.delete(chat)
  }

  close(): void {
    for (const stream of this.#byChat.values()) stream.forget()
  }
}

/** What makes a chat the same one. No principal sees that of another. */
export function chatKey(agent: Agent | Group, chat: string, principal: Principal): string {
  return `${agent.id}/${chat}/${principal.id}`
}

/** Where the run of a chat writes. */
export class ChatStream implements KeptStream, Sink {
  slot = 0
  readonly #streams: ChatStreams
  readonly #chat: string
  /** Undefined after the end: it has the whole chat. */
  #call: LiveCall | undefined
  /** A list: a set would cost each run of one reader a twentieth. */
  #readers: readonly Sink[]
  /** What was sent of a long one, as UTF-8: it is counted. */
  #packs: Buffer[] | undefined
  /** What was sent since the last pack: the call holds room for it. */
  #text = ''
  /** Whether others may read it. */
  #hasBegun = false
  /** False: it cannot be read from its begin any more. */
  #isKept = true
  #isEnded = false
  #timer: NodeJS.Timeout | undefined

  constructor(streams: ChatStreams, chat: string, call: LiveCall, reader: Sink) {
    this.#streams = streams
    this.#chat = chat
    this.#call = call
    this.#readers = [reader]
  }

  get id(): string { return '' }
  get caller(): string { return this.#call?.caller ?? '' }
  get closed(): boolean { return this.#isEnded }

  /** The run has to be waited for: from now on the stream can be read again. */
  begin(): void {
    if (this.#isEnded) return
    this.#streams.add(this.#chat, this)
    this.#hasBegun = true
    try {
      this.#call?.hold(this.#streams.packLength)
      this.#keep('')
    } catch {
      // Calls have no room for it: it is sent all the same.
      this.forget()
    }
  }

  write(text: string): boolean {
    this.#keep(text)
    let isReady = true
    for (const reader of this.#readers) if (!reader.write(text)) isReady = false
    return isReady
  }

  /** When all readers can take more: one that takes nothing is dropped after `writeTimeoutMs`. */
  ready(): Promise<void> {
    const [first, ...others] = this.#readers
    if (first !== undefined && others.length === 0) return first.ready()
    return Promise.all(this.#readers.map((reader) => reader.ready())).then(() => {})
  }

  end(text = ''): void {
    this.#keep(text)
    this.#isEnded = true
    const { budget, limits: { resumeMs } } = this.#streams
    if (!this.#hasBegun || resumeMs === 0 || this.#call?.isDisconnected === true) this.forget()
    if (this.#isKept) this.#pack()
    if (this.#packs !== undefined) {
      // A client may have left unseen, and be on its way back.
      budget.ended(this)
      this.#wait(resumeMs)
    }
    const readers = this.#readers
    this.#readers = []
    this.#call = undefined
    for (const reader of readers) reader.end(text)
  }

  /** A further reader, who gets the whole. */
  source(): Source {
    return {
      open: (sink) => {
        if (sink.closed) return undefined
        const text = Buffer.concat(this.#packs ?? []).toString() + this.#text
        if (this.#isEnded) return void sink.end(text)
        sink.write(text)
        clearTimeout(this.#timer)
        this.#readers = [...this.#readers, sink]
        return this.leaving(sink)
      },
    }
  }

  /** What is called when a reader has left. */
  leaving(reader: Sink): Left {
    return () => {
      if (this.#isEnded) return
      this.#readers = this.#readers.filter((other) => other !== reader)
      if (this.#readers.length > 0) return
      const { resumeMs } = this.#streams.limits
      if (resumeMs === 0 || !this.#isKept) return this.stop('The client has left')
      this.#wait(resumeMs)
    }
  }

  /** Ends the run, which has been left or stopped. */
  stop(why: string): void {
    this.#call?.disconnect(why)
    this.forget()
  }

  /** From now on it is for its readers alone. */
  forget(): void {
    clearTimeout(this.#timer)
    this.#streams.remove(this.#chat, this)
    this.#isKept = false
    this.#text = ''
    this.#packs = undefined
    this.#streams.budget.remove(this)
    if (this.#readers.length === 0) this.#call?.disconnect()
  }

  #keep(text: string): void {
    if (!this.#isKept) return
    this.#text += text
    if (this.#hasBegun && this.#text.length >= this.#streams.packLength) this.#pack()
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = timer(ms, () => this.stop('The client has not come back'))
    this.#timer?.unref()
  }

  /** Counts what was sent since the last pack. */
  #pack(): void {
    const { budget, limits } = this.#streams
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    const packs = this.#packs ??= []
    packs.push(bytes)
    budget.hold(this, (packs.length === 1 ? OWN_BYTES : budget.bytesOf(this)) + bytes.length)
    if (budget.bytesOf(this) > limits.replayBytes || budget.isTooMuch(this)) this.forget()
  }
}
