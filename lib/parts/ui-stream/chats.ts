/** The chats of one server: a message is answered, its stream read again, its run stopped. */
import { sharedOf } from '../../floors/shared/shared-of.ts'
import { andThen } from '../../kernel/util/thenable.ts'
import { EVENT_STREAM } from '../../kernel/wire/sse.ts'
import { answerOnce, requestIn } from '../../floors/reply/agent-run.ts'
import { countedCall } from '../../floors/reply/reply.ts'
import { decodeChatInput } from './chat-input.ts'
import { chatKey, ChatStream, ChatStreams } from './chat-streams.ts'
import { PeerChats } from './peer-chats.ts'
import { errorEvents, UiFace } from './ui-run.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Exchange, Reply, Source } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { RunWriter } from '../../floors/reply/run.ts'
import type { ChatInput } from './chat-input.ts'
import type { UiStreamLimits } from './limits.ts'

const HEADERS = ['X-Vercel-AI-UI-Message-Stream', 'v1']

/** Each of its methods throws, or rejects with, a `Fault`. */
export class Chats {
  readonly #service: Service
  readonly #streams: ChatStreams
  /** Undefined: there are none, or nobody could come back there. */
  readonly #peers: PeerChats | undefined

  constructor(service: Service, limits: UiStreamLimits) {
    const shared = sharedOf(service)
    this.#service = service
    this.#streams = new ChatStreams(limits)
    if (shared !== undefined && limits.resumeMs > 0) {
      this.#peers = new PeerChats(service, shared, this.#streams)
    }
  }

  /** Streams that can be read again, and the bytes of the long ones. */
  get status(): { readonly count: number; readonly bytes: number } {
    return { count: this.#streams.size, bytes: this.#streams.budget.bytes }
  }

  answer(agent: Agent | Group, exchange: Exchange): MaybePromise<Reply> {
    const input = requestIn(this.#service, exchange, decodeChatInput)
    const face = new UiFace(this.#streams.limits.resumeMs > 0 && !input.isContinued)
    return answerOnce(this.#service, exchange, agent, input, face, {
      identity: { ui: agent.id, body: exchange.body }, isStream: true, headers: HEADERS,
    }, (run) => this.#begin(agent, input, run))
  }

  /** The stream of a chat from its begin, where there is one. It counts as a call. */
  resume(agent: Agent | Group, exchange: Exchange): MaybePromise<Reply> {
    const { params, origin: { principal } } = exchange
    const chat = chatKey(agent, params.get('chat') ?? '', principal)
    return countedCall(exchange, () => {
      const source = this.#streams.find(chat)?.source() ?? this.#peers?.read(principal.id, chat)
      return andThen(source, (found) => found === undefined ? { status: 204 } : streamed(reading(found)))
    })
  }

  /** Ends the run of a chat, whoever reads it. */
  stop(agent: Agent | Group, { params, origin: { principal } }: Exchange): MaybePromise<Reply> {
    const chat = chatKey(agent, params.get('chat') ?? '', principal)
    const stream = this.#streams.find(chat)
    stream?.stop('The client has stopped the chat')
    const stopped = stream === undefined ? this.#peers?.stop(principal.id, chat) : undefined
    return andThen(stopped, () => ({ status: 204 }))
  }

  close(): void { this.#streams.close() }

  #begin(agent: Agent | Group, { conversationId: id }: ChatInput, run: RunWriter<Answer>): Reply {
    const reply = run.events()
    if (id === undefined) return { ...reply, headers: HEADERS }
    const { principal } = run.call
    const chat = chatKey(agent, id, principal)
    if (this.#streams.size > 0 || this.#peers !== undefined) {
      this.#streams.replace(chat)
      this.#peers?.begin(principal.id, chat, agent)
    }
    return streamed({
      open: (sink) => {
        if (sink.closed) return run.open(sink)
        const stream = new ChatStream(this.#streams, chat, run.call, sink)
        const left = run.open(stream)
        // One that has to be waited for can be read again.
        if (!run.call.over) stream.begin()
        // With a key the run goes on without a reader.
        return left && stream.leaving(sink)
      },
      dismissal: run.dismissal.bind(run),
    })
  }
}

/** A stream that is read again. */
function reading(source: Source): Source {
  return { open: (sink) => source.open(sink), dismissal: errorEvents }
}

function streamed(body: Source): Reply {
  return { status: 200, type: EVENT_STREAM, headers: HEADERS, body }
}
