/**
 * A stream that began in one process and is resumed in another: its kept events and those that follow are
 * passed on, with their ids. Where the first process has died, each request that was to be answered on the
 * stream gets an error. Spec: MCP 2025-11-25, Transports, Resumability and Redelivery.
 */
import { sharedOf } from '../../../floors/shared/shared-of.ts'
import { startDeadline } from '../../../kernel/util/clock.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { ChannelSink } from '../../../floors/shared/peer-channels.ts'
import { keyOf } from '../../../kernel/store/store.ts'
import { decoded, isText, manyOf, readStored } from '../../../floors/shared/stored-value.ts'
import { DeferredStream } from '../../../floors/kept-streams/deferred-stream.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { formatError, INTERNAL_ERROR, rpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import { EVENT_STREAM, formatEvent } from '../../../kernel/wire/sse.ts'
import { invalid, unavailable } from '../protocol/replies.ts'
import type { SharedProcesses } from '../../../floors/shared/shared.ts'
import type { StoreKey } from '../../../kernel/store/store.ts'
import type { Reply } from '../../../kernel/http/message/exchange.ts'
import type { McpContext } from '../request/context.ts'
import type { EventPosition, Replayed, ReplayStream } from '../session/replay.ts'
import type { Session } from '../session/session.ts'

type ResumeQuestion = readonly [session: string, owner: string, stream: string, after: number]

const KIND = 'resume'
const KEPT = 'kept'
const FORGOTTEN = 'forgotten'

/**
 * What a resumed stream begins with: without it a client that is cut off again loses its position. Nothing
 * for clients of older revisions, which cannot read an event without data.
 */
export function positionEvent({ revision }: Session, lastEventId: string): string {
  return revision.primes ? formatEvent('', undefined, lastEventId) : ''
}

export function noEvent(): Reply {
  return invalid(400, 'Last-Event-ID names no event of this session that is still kept')
}

/**
 * The rest of a stream of `node`, another process. `begin` is the reply where there is nothing to resume and
 * nothing is owed: the stream of a session goes on as a new one.
 */
export async function resumeFromPeer(
  mcp: McpContext, shared: SharedProcesses, session: Session, node: string, event: EventPosition,
  lastEventId: string,
  begin: () => Reply,
): Promise<Reply> {
  const stream = new DeferredStream(() => hangUp())
  let hangUp = (): void => {}
  stream.write(positionEvent(session, lastEventId))
  const reply: Reply = { status: 200, type: EVENT_STREAM, body: stream }
  try {
    if (!await shared.cluster.isAlive(node)) {
      const kept = await handedOver(mcp, session, event)
      if (kept === undefined && event.owed.length === 0) return begin()
      stream.end(kept ?? errorsFor(event))
      return reply
    }
  } catch (error) {
    return unavailable(error)
  }
  return new Promise((resolve) => {
    const question: ResumeQuestion = [session.id, session.owner, event.stream, event.number]
    const { storeTimeoutMs } = mcp.service.limits
    // A process that has just died is silent too: the client's stream is kept until that is known.
    const stop = startDeadline(storeTimeoutMs, () => resolve(reply))
    const line = shared.channels.open(node, KIND, question, {
      onMessage(word) {
        if (word === FORGOTTEN) resolve(noEvent())
        else if (word === KEPT) resolve(reply)
        else if (typeof word === 'string') stream.write(word)
      },
      onEnd() {
        stop()
        resolve(reply)
        stream.end()
      },
      onLost() {
        stop()
        void (async () => {
          const isAlive = await shared.cluster.isAlive(node).catch(() => undefined)
          const unknown = new Fault('busy', 'The stream cannot be reached now; try again later')
          resolve(isAlive === undefined ? unavailable(unknown) : reply)
          // Where it is alive, the client can resume later.
          stream.end(isAlive === false ? await handedOver(mcp, session, event) ?? errorsFor(event) : '')
        })()
      },
    })
    hangUp = () => {
      stop()
      line.end()
    }
  })
}

/** Gives other processes the streams of this one. */
export function serveResumes(mcp: McpContext): void {
  sharedOf(mcp.service)?.channels.on(KIND, (question, line) => {
    // Sealed by another process of ours.
    const [id, owner, name, after] = question as ResumeQuestion
    const stream = mcp.sessions.find(id, owner)?.streamOf(name)
    if (stream === undefined || stream.hasLost(after)) return void line.send(FORGOTTEN)
    line.send(KEPT)
    const leave = stream.source(after).open(new ChannelSink(line)) ?? (() => {})
    return { onEnd: leave, onLost: leave }
  })
}

/**
 * Writes what clients have not read to the store, for when this process is gone: each stream that has ended
 * by now, once. Resolves when all of it is written, or could not be.
 */
export function handOver({ sessions, service, limits }: McpContext): () => Promise<unknown> {
  const shared = sharedOf(service)
  const writes = new Map<ReplayStream, Promise<unknown>>()
  return () => {
    for (const session of sessions.all()) {
      for (const stream of session.streams) {
        if (shared === undefined || !stream.isUnread || writes.has(stream)) continue
        const kept = formatJson(stream.kept)
        const written = shared.store.write(storeKeyOf(session, stream.id), kept, limits.replayMs, 'any')
        writes.set(stream, Promise.resolve(written).catch(() => {}))
      }
    }
    return Promise.all(writes.values())
  }
}

/** What followed an event, as its process handed it over; undefined where it did not. */
async function handedOver(
  mcp: McpContext, session: Session, { stream, number }: EventPosition,
): Promise<string | undefined> {
  const { log } = mcp.service
  const shared = sharedOf(mcp.service)
  const store = shared!.store
  const entry = await Promise.resolve(store.read(storeKeyOf(session, stream))).catch(() => undefined)
  const kept = readStored(COLLECTION, entry, decoded(manyOf(isReplayed)), log)
  return kept?.flatMap(([at, text]) => at > number ? text : []).join('')
}

function isReplayed(value: unknown): value is Replayed {
  return Array.isArray(value) && typeof value[0] === 'number' && isText(value[1])
}

const COLLECTION = 'streams'

function storeKeyOf({ owner }: Session, stream: string): StoreKey {
  return { collection: COLLECTION, owner: keyOf(owner), key: stream }
}

function errorsFor({ owed }: EventPosition): string {
  const why = 'The process that ran it has ended; whether it took effect is not known'
  return owed.map((id) => formatEvent(formatError(id, rpcError(INTERNAL_ERROR, why)))).join('')
}
