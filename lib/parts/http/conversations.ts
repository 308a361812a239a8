/**
 * The conversations of a caller over plain HTTP: listed, read and removed by their owner alone. Without keys
 * all callers are one, so then there is nothing to see.
 */
import { conversationsOf } from '../../floors/conversations/conversation.ts'
import { sharedOf } from '../../floors/shared/shared-of.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { LiveCall } from '../../kernel/define/live-call.ts'
import { anonymous } from '../../kernel/define/principal.ts'
import { CONVERSATION_ID } from '../../floors/conversations/conversation-page.ts'
import { READ_AT_ONCE } from '../../floors/conversations/stored-conversations.ts'
import { andThen } from '../../kernel/util/thenable.ts'
import { countedCall, json, limitIn } from '../../floors/reply/reply.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'

/** No cache on the way may keep what belongs to one caller. */
const unkept = ['Cache-Control', 'private, no-store'] as const

/** One page of the caller's conversations. Each of these throws, or rejects with, a `Fault`. */
export function listConversations(service: Service, exchange: Exchange): MaybePromise<Reply> {
  const owner = ownerOf(exchange)
  const asked = new URLSearchParams(exchange.query)
  const limit = limitIn(asked, wrongLimit)
  const list = (): MaybePromise<Reply> => {
    const page = conversationsOf(service).list(owner, limit, asked.get('cursor') ?? undefined)
    return andThen(page, ({ conversations, next }) => json({
      conversations: conversations.map(({ id, ...rest }) => ({ session_id: id, ...rest })),
      next_cursor: next,
    }, 200, unkept))
  }
  return counted(service, exchange, READ_AT_ONCE, list)
}

/** The messages of one conversation. */
export function readConversation(service: Service, exchange: Exchange): MaybePromise<Reply> {
  const [owner, id] = [ownerOf(exchange), idIn(exchange)]
  return counted(service, exchange, 1, () => (
    andThen(conversationsOf(service).history(owner, id), (messages) => (
      messages.length === 0 ? missing(id, exchange) : json({ session_id: id, messages }, 200, unkept)
    ))
  ))
}

/** Forgets one conversation. */
export function removeConversation(service: Service, exchange: Exchange): MaybePromise<Reply> {
  const [owner, id] = [ownerOf(exchange), idIn(exchange)]
  return counted(service, exchange, 0, () => (
    andThen(conversationsOf(service).remove(owner, id), (wasThere) => (
      wasThere ? { status: 204 } : missing(id, exchange)
    ))
  ))
}

function ownerOf({ origin: { principal: { id } } }: Exchange): string {
  if (id !== anonymous.id) return id
  throw new Fault('not-found', 'Conversations are shown to their owner, who is known by a key or a token; '
    + 'this server asks for none. Its operator can set apiKey or auth')
}

function idIn(exchange: Exchange): string {
  const id = exchange.params.get('conversation') ?? ''
  return CONVERSATION_ID.test(id) ? id : missing(id, exchange)
}

function missing(id: string, { basePath }: Exchange): never {
  const remedy = `GET ${basePath}/conversations lists those you have`
  throw new Fault('not-found', `You have no conversation '${id}'; ${remedy}`)
}

function wrongLimit(message: string): Fault {
  return new Fault('invalid', `The limit ${message}`, { errors: [{ path: 'limit', message }] })
}

/**
 * Counts against the caller's rate, as a call; and what is read of a shared store, so many conversations at
 * one time, among the bytes of all calls until it has been read.
 */
function counted(
  service: Service, exchange: Exchange, conversations: number, work: () => MaybePromise<Reply>,
): MaybePromise<Reply> {
  const { limits, workload } = service
  const shared = sharedOf(service)
  return countedCall(exchange, () => {
    const { origin } = exchange
    if (shared === undefined) return work()
    workload.check(origin)
    const call = new LiveCall(origin, { protocol: 'http' }, {})
    const lease = workload.enter(call)
    const leave = (): void => {
      call.close()
      lease.leave()
    }
    try {
      const most = Math.min(limits.conversationBytes, limits.maxValueBytes) * conversations
      workload.hold(call, Math.min(most, limits.maxCallsBytes))
      return Promise.resolve(work()).finally(leave)
    } catch (error) {
      leave()
      throw error
    }
  })
}
