/**
 * Chats that other processes run. Which one has a chat is written into the store that they share, as long as
 * somebody may come back to it.
 */
import { timeoutOf } from '../../floors/conversations/answer-message.ts'
import { DeferredStream } from '../../floors/kept-streams/deferred-stream.ts'
import { keyOf } from '../../kernel/store/store.ts'
import { ChannelSink } from '../../floors/shared/peer-channels.ts'
import { MAX_TIMER_MS, startDeadline } from '../../kernel/util/clock.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Source } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { SharedProcesses } from '../../floors/shared/shared.ts'
import type { StoreKey } from '../../kernel/store/store.ts'
import type { ChatStreams } from './chat-streams.ts'

type Verb = 'read' | 'stop' | 'replace'

const KIND = 'chat'
const WHY_LOST = 'The process that ran the chat has ended, or a part of it is lost'
const LOST = formatEvent(`{"type":"error","errorText":"${WHY_LOST}"}`) + formatEvent('[DONE]')

export class PeerChats {
  readonly #service: Service
  readonly #shared: SharedProcesses
  readonly #resumeMs: number

  constructor(service: Service, shared: SharedProcesses, streams: ChatStreams) {
    this.#service = service
    this.#shared = shared
    this.#resumeMs = streams.limits.resumeMs
    shared.channels.on(KIND, (question, channel) => {
      // Sealed by another process of ours.
      const [verb, chat] = question as readonly [Verb, string]
      if (verb === 'replace') streams.replace(chat)
      const stream = streams.find(chat)
      if (verb === 'stop') stream?.stop('The client has stopped the chat')
      if (verb !== 'read' || stream === undefined) return undefined
      const leave = stream.source().open(new ChannelSink(channel)) ?? (() => {})
      return { onEnd: leave, onLost: leave }
    })
  }

  /** This process has it from now on. Another that had it is told, and where that fails nobody is. */
  begin(owner: string, chat: string, agent: Agent | Group): void {
    const { store, cluster } = this.#shared
    // Not for ever, even where the run may take that long: what a client makes us keep makes room.
    const keepMs = Math.min(timeoutOf(this.#service, agent) + this.#resumeMs, MAX_TIMER_MS)
    void (async () => {
      await this.#notify(owner, chat, 'replace')
      await store.write(keyFor(owner, chat), cluster.id, keepMs, 'any')
    })().catch(() => {})
  }

  /** Its stream from its begin; undefined where there is none. Rejects with `Fault('busy')`. */
  async read(owner: string, chat: string): Promise<Source | undefined> {
    const node = await this.#nodeOf(owner, chat)
    if (node === undefined) return undefined
    let hangUp = (): void => {}
    const stream = new DeferredStream(() => hangUp())
    return new Promise((resolve) => {
      const finish = (text?: string): void => {
        stop()
        resolve(undefined)
        stream.end(text)
      }
      const stop = startDeadline(this.#service.limits.storeTimeoutMs, () => {
        hangUp()
        finish()
      })
      const channel = this.#shared.channels.open(node, KIND, ['read', chat], {
        onMessage(text) {
          stop()
          resolve(stream)
          if (typeof text === 'string') stream.write(text)
        },
        onEnd: () => finish(),
        onLost: () => finish(LOST),
      })
      hangUp = () => channel.end()
    })
  }

  /** Rejects with `Fault('busy')`. */
  stop(owner: string, chat: string): Promise<void> { return this.#notify(owner, chat, 'stop') }

  async #notify(owner: string, chat: string, verb: Verb): Promise<void> {
    const node = await this.#nodeOf(owner, chat)
    if (node !== undefined) this.#shared.channels.open(node, KIND, [verb, chat], {})
  }

  /** Another process that has it, and lives. */
  async #nodeOf(owner: string, chat: string): Promise<string | undefined> {
    const { store, cluster } = this.#shared
    const node = (await store.read(keyFor(owner, chat)))?.value
    if (node === undefined || node === cluster.id) return undefined
    return await cluster.isAlive(node) ? node : undefined
  }
}

function keyFor(owner: string, chat: string): StoreKey {
  return { collection: 'chats', owner: keyOf(owner), key: keyOf(chat) }
}
