/**
 * One request of A2A as its operation sees it, the task that it names, where the events of a stream go, and
 * the extensions of the protocol that it asks for. Those that the agents offer are implemented by handlers,
 * by `call.extensions`; others are ignored.
 * Spec of extensions: A2A 1.0 §3.2.6 and §4.6, A2A 0.3 §3.6.
 */
import { callerOf } from '../../../kernel/define/call.ts'
import { andThen } from '../../../kernel/util/thenable.ts'
import { A2aFault } from '../model/faults.ts'
import { FieldFault } from '../model/fields.ts'
import { checkPushConfig } from '../push/push-config.ts'
import type { Origin } from '../../../kernel/define/call.ts'
import type { Task } from '../../../floors/tasks/task.ts'
import type { Tasks } from '../../../floors/tasks/tasks.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { CardRequest } from '../card/card-replies.ts'
import type { OperationName, PushConfig, Requests, Results, StreamEvent } from '../model/model.ts'
import type { A2aSetup } from '../model/options.ts'
import type { Push } from '../push/push.ts'

/** What all requests of one server share. */
export interface A2aContext extends A2aSetup {
  readonly tasks: Tasks
  /** Posts the events of tasks. Left out: nothing does. */
  readonly push?: Push | undefined
}

export interface A2aRequest extends CardRequest { readonly context: A2aContext }

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

/** Whether a task of the caller's is one of this agent and this tenant. For all others it does not exist. */
export function isVisible({ agent }: A2aRequest, tenant: string | undefined, task: Task): boolean {
  return task.protocol === 'a2a' && task.runnable.name === agent.id && task.tenant === tenant
    && task.isReserved !== true
}

/** The caller's task. Throws, or rejects with, `TASK_NOT_FOUND` where there is none. */
export function findTask(request: A2aRequest, tenant: string | undefined, id: string): MaybePromise<Task> {
  const { context: { tasks }, exchange: { origin } } = request
  return andThen(tasks.get(origin.principal.id, id), (task) => {
    if (task !== undefined && isVisible(request, tenant, task)) return task
    throw new A2aFault('TASK_NOT_FOUND',
      'There is no such task; send a message without a taskId to begin one')
  })
}

/** What posts the events of tasks. Throws where nothing does. */
export function requirePush({ context: { push } }: A2aRequest): Push {
  if (push !== undefined) return push
  throw new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED',
    'This server posts to no webhooks; read the task, or subscribe to it')
}

/** Rejects with what is wrong with a webhook, whose configuration is at `at`: as `checkUrl`, too. */
export async function checkPush(
  { exchange: { origin } }: A2aRequest, push: Push, config: PushConfig, at: string,
): Promise<void> {
  try {
    checkPushConfig(config)
    await push.checkUrl(config.url, callerOf(origin))
  } catch (error) {
    throw error instanceof FieldFault ? error.within(at) : error
  }
}

/** Of 1.0 and of 0.3. A client is answered in the one that it sends. */
const HEADERS = ['A2A-Extensions', 'X-A2A-Extensions'] as const
/** More of one header is not read. */
const MAX_BYTES = 8_192
const MAX_URIS = 64
const none: readonly string[] = Object.freeze([])

/** The URIs that a request asks for, in its order, each once. */
export function requestedExtensions(origin: Pick<Origin, 'header'>): readonly string[] {
  const newer = urisOf(origin, HEADERS[0])
  const older = urisOf(origin, HEADERS[1])
  return newer.length + older.length === 0 ? none : [...new Set([...newer, ...older])]
}

/** Throws where a message does not ask for an extension that the agents require. For `send` and `stream`. */
export function checkExtensions({ context: { options }, exchange }: A2aRequest): void {
  const required = options.extensions?.filter((one) => one.required === true) ?? []
  if (required.length === 0) return
  const asked = requestedExtensions(exchange)
  const missing = required.find(({ uri }) => !asked.includes(uri))
  if (missing === undefined) return
  throw new A2aFault('EXTENSION_SUPPORT_REQUIRED', `This agent is only for clients with the extension `
    + `${missing.uri}; list it in the header ${HEADERS[0]}`)
}

/** The headers of an answer, name and value: the extensions that are asked for and offered. */
export function extensionHeaders({ context, exchange }: A2aRequest): readonly string[] {
  const { extensions } = context.options
  if (extensions === undefined || extensions.length === 0) return none
  return HEADERS.flatMap((name) => {
    const active = urisOf(exchange, name).filter((uri) => extensions.some((one) => one.uri === uri))
    return active.length === 0 ? none : [name, [...new Set(active)].join(', ')]
  })
}

function urisOf(origin: Pick<Origin, 'header'>, name: typeof HEADERS[number]): readonly string[] {
  const list = origin.header(name.toLowerCase())
  if (list === undefined) return none
  // A list that is cut ends with what may be half a URI.
  const whole = list.length <= MAX_BYTES ? list : list.slice(0, list.lastIndexOf(',', MAX_BYTES) + 1)
  return whole.split(',', MAX_URIS).map((uri) => uri.trim()).filter((uri) => uri !== '')
}
