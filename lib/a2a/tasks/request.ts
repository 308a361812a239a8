/**
 * One request of A2A as its operation sees it, the task that it names, and where the events of a stream go.
 */
import { andThen } from '../../util/thenable.ts'
import { A2aFault } from '../model/faults.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Exchange } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { Task } from '../../tasks/task.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Seal } from '../../wire/seal.ts'
import type { Dialect } from '../model/dialect.ts'
import type { OperationName, Requests, Results, StreamEvent } from '../model/model.ts'
import type { A2aOptions } from '../model/options.ts'
import type { Signer } from '../model/signature.ts'
import type { PushDeliveries } from '../push/push-delivery.ts'

/** What all requests of one server share. */
export interface A2aContext {
  readonly service: Service
  readonly options: A2aOptions
  /** Seals cursors. */
  readonly seal: Seal
  /** Posts the events of tasks. Left out: nothing does. */
  readonly push?: PushDeliveries | undefined
  /** Signs cards of 1.0; undefined where the operator gave no key. */
  readonly signer?: Signer | undefined
}

export interface A2aRequest extends A2aContext {
  readonly agent: Agent | Group
  readonly dialect: Dialect
  readonly exchange: Exchange
  /** URIs of the extensions that the client asks for. */
  readonly extensions: readonly string[]
}

/** Where the events of a stream go. */
export interface EventSink {
  /** False: enough is waiting; a sender that can wait awaits `ready()`. */
  send(event: StreamEvent): boolean
  ready(): Promise<void>
  /** The reader has left. */
  readonly closed: boolean
  /** Ends the stream; with what was thrown, where it ends in an error. */
  end(thrown?: unknown): void
}

/**
 * Events in order. Opened exactly once; the returned function is called once when the reader has got
 * everything or has left.
 */
export interface EventStream { open(sink: EventSink): (() => void) | undefined }

type Outcome<name extends OperationName> =
  name extends 'stream' | 'subscribe' ? EventStream : Results[name]

export type Operations = {
  readonly [name in OperationName]?: (
    request: A2aRequest, params: Requests[name],
  ) => MaybePromise<Outcome<name>>
}

type Visible = Pick<Task, 'protocol' | 'runnable' | 'tenant' | 'isReserved'>

/** Whether a task of the caller's is one of this agent and this tenant. For all others it does not exist. */
export function isVisible({ agent }: A2aRequest, tenant: string | undefined, task: Visible): boolean {
  return task.protocol === 'a2a' && task.runnable.name === agent.id && task.tenant === tenant
    && task.isReserved !== true
}

/** The caller's task. Throws, or rejects with, `TASK_NOT_FOUND` where there is none. */
export function findTask(request: A2aRequest, tenant: string | undefined, id: string): MaybePromise<Task> {
  const { service: { tasks }, exchange: { origin: { principal } } } = request
  return andThen(tasks.get(principal.id, id), (task) => {
    if (task !== undefined && isVisible(request, tenant, task)) return task
    throw new A2aFault('TASK_NOT_FOUND',
      'There is no such task; send a message without a taskId to begin one')
  })
}

/** What posts the events of tasks. Throws where nothing does. */
export function requirePush({ push }: A2aRequest): PushDeliveries {
  if (push !== undefined) return push
  throw new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED',
    'This server posts to no webhooks; read the task, or subscribe to it')
}
