/**
 * What an operation is given besides its request, and where the events of a stream go. Types alone.
 */
import type { MaybePromise } from '../../util/thenable.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Service } from '../../run/service.ts'
import type { Exchange } from '../../http/message/exchange.ts'
import type { Seal } from '../../wire/seal.ts'
import type { Dialect } from '../model/dialect.ts'
import type { OperationName, Requests, Results, StreamEvent } from '../model/model.ts'
import type { A2aOptions } from '../model/options.ts'
import type { PushDeliveries } from '../push/push-delivery.ts'
import type { Signer } from '../model/signature.ts'

/** What all requests of one server share. */
export interface A2aContext {
  readonly service: Service
  readonly options: A2aOptions
  /** Seals cursors. */
  readonly seal: Seal
  /** What posts the events of tasks. Left out: nothing does. */
  readonly push?: PushDeliveries | undefined
  /** Signs cards of 1.0; undefined where the operator gave no key. */
  readonly signer?: Signer | undefined
}

/** One request: who is asked, by whom, and in which dialect. */
export interface A2aRequest extends A2aContext {
  readonly agent: Agent | Group
  readonly dialect: Dialect
  readonly exchange: Exchange
  /** Addresses of the extensions that the client asks for. */
  readonly extensions: readonly string[]
}

/** Where the events of a stream go. */
export interface EventSink {
  /** False: enough is waiting; whoever can wait awaits `ready()`. */
  send(event: StreamEvent): boolean
  ready(): Promise<void>
  /** Nobody reads any more. */
  readonly closed: boolean
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
  readonly [name in OperationName]?: (
    asked: A2aRequest, request: Requests[name],
  ) => MaybePromise<Outcome<name>>
}
