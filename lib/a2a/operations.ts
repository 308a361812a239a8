/**
 * Everything that can be asked of the A2A door, in the words of no dialect and of no binding: a request and
 * the visit it came on go in, a result or a stream of events comes out. Whatever is wrong is thrown as a
 * `Fault`.
 */
import { extendedCard } from './extended-card.ts'
import { answerMessage } from './message.ts'
import type { MaybePromise } from '../core/store.ts'
import type { OperationName, Requests, Results, StreamEvent } from './model.ts'
import type { Visit } from './visit.ts'

/** Where the events of a stream go. */
export interface EventSink {
  /** False: enough is waiting; whoever can wait awaits `ready()`. */
  send(event: StreamEvent): boolean
  ready(): Promise<void>
  /** Ends the stream; with what was thrown, where it ends in an error. */
  end(thrown?: unknown): void
}

/**
 * Events that come one after the other. Begun exactly once; the returned function is called once when the
 * reader has got everything or has left.
 */
export interface EventStream { open(sink: EventSink): (() => void) | undefined }

/** What comes of an operation. */
export type Outcome<name extends OperationName> =
  name extends 'stream' | 'subscribe' ? EventStream : Results[name]

/** Each operation that there is. */
export type Operations = {
  readonly [name in OperationName]?: (visit: Visit, request: Requests[name]) => MaybePromise<Outcome<name>>
}

/** Those of this server. */
export const operations: Operations = {
  'extended-card': (visit) => extendedCard(visit),
  send({ service, who, exchange }, request) {
    const reply = answerMessage(service, who, request, exchange.origin)
    return reply instanceof Promise ? reply.then((message) => ({ what: 'message', message }))
      : { what: 'message', message: reply }
  },
}
