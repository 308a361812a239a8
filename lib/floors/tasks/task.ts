/**
 * What a task is, independent of protocols, and its life as a table: which state may follow which.
 * Where tasks are kept is in `tasks.ts`, how one is run in `floors/tasks/task-run.ts`.
 */
import { formatJson } from '../../kernel/wire/json.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import type { Artifact } from '../../kernel/define/artifact.ts'
import type { Origin, Protocol, Runnable } from '../../kernel/define/call.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { Fault, FaultKind } from '../../kernel/define/fault.ts'
import type { Principal } from '../../kernel/define/principal.ts'
import type { Question } from '../../kernel/define/question.ts'

export type TaskState =
  | 'submitted' | 'working' | 'completed' | 'failed' | 'canceled' | 'rejected'
  | 'input-required' | 'auth-required'

const terminal: readonly TaskState[] = ['completed', 'failed', 'canceled', 'rejected']

const usual: readonly TaskState[] = ['working', 'input-required', 'auth-required', ...terminal]

/** What may follow a state. A finished task never changes again. */
const follows: Readonly<Record<TaskState, readonly TaskState[]>> = {
  submitted: usual, working: usual, completed: [], failed: [], canceled: [], rejected: [],
  'input-required': ['submitted', ...usual], 'auth-required': usual,
}

export const taskStates: readonly TaskState[] = Object.keys(follows) as TaskState[]

export function isTerminal(state: TaskState): boolean {
  return terminal.includes(state)
}

/** Whether its client has to do something before the task goes on. */
export function isInterrupted(state: TaskState): boolean {
  return state === 'input-required' || state === 'auth-required'
}

export function mayFollow(state: TaskState, next: TaskState): boolean {
  return follows[state].includes(next)
}

/** A state, since when, and what the agent says about it. */
export interface TaskStatus {
  readonly state: TaskState
  /** ISO 8601, UTC, milliseconds; rises strictly within a process. */
  readonly at: string
  readonly message?: TaskMessage
  /** Of the turn that has ended in this state. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** One message of a task: of its history, or what the agent says about its state. */
export interface TaskMessage {
  /** Made by who wrote it. Some clients give all of theirs one id. */
  readonly id: string
  readonly role: 'user' | 'agent'
  readonly parts: readonly Content[]
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** URIs of the extensions that it was written with (A2A). */
  readonly extensions?: readonly string[] | undefined
  /** Other tasks that it refers to (A2A). */
  readonly referenceTaskIds?: readonly string[] | undefined
}

/** A question to the client that waits with the task. A key is used once in a task's life. */
export interface TaskQuestion { readonly key: string; readonly question: Question }

/** The request that began a turn, as far as a handler can read it. */
export interface TurnRequest {
  readonly requestId: string
  readonly principal: Principal
  /** Without credentials. */
  readonly headers: readonly (readonly [string, string])[]
  /** What only its protocol reads: the arguments of a tool, what its client can be asked. */
  readonly said: unknown
}

/**
 * What it takes to run one turn of a task again from the top: from a message or a call to its end, with the
 * questions in between.
 */
export interface TaskTurn {
  /** The message of the history that began it; undefined where a call did. */
  readonly messageId?: string | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Undefined: it is begun again by another request. */
  readonly request?: TurnRequest | undefined
  /** Another process runs it again where its own has died; else only its next answer begins it again. */
  readonly isRerun?: boolean | undefined
  /** The number of its present run; left out: 1. */
  readonly run?: number | undefined
  /** Ids of artifacts that are older than the turn. */
  readonly earlier?: readonly string[] | undefined
  /** The artifact of its answer: what an interrupted run has written there is replaced by the next run. */
  readonly artifactId?: string | undefined
  readonly answers: Readonly<Record<string, unknown>>
  /** Digests of the questions that were answered, by their keys. */
  readonly asked?: Readonly<Record<string, string>> | undefined
  /** Results of what must happen once, by its key. */
  readonly results: Readonly<Record<string, unknown>>
}

export interface TaskFault { readonly kind: FaultKind; readonly message: string; readonly detail?: unknown }

/** A task as it stands; a snapshot, to be replaced and never changed. All of it is JSON. */
export interface Task {
  readonly id: string
  readonly owner: string
  /** The process that wrote it last, where several share the store: its run is there, if it has one. */
  readonly node?: string | undefined
  /** The protocol that it belongs to; the others do not show it. */
  readonly protocol: Protocol
  readonly runnable: Runnable
  /** Its client does not know of it yet, and may never: it is not shown. */
  readonly isReserved?: boolean
  /** Which part of the server it belongs to, where there are several (A2A). */
  readonly tenant?: string | undefined
  readonly contextId: string
  /** The session that it was asked for in, where there is one. */
  readonly sessionId?: string | undefined
  readonly createdAt: string
  /** How long from its creation the client wants it to be kept, in milliseconds. */
  readonly ttlMs?: number | undefined
  readonly status: TaskStatus
  readonly artifacts: readonly Artifact[]
  readonly history: readonly TaskMessage[]
  /** Those that have no answer yet. */
  readonly questions: readonly TaskQuestion[]
  /** What is needed to run its present turn again; undefined where that is never done. */
  readonly turn?: TaskTurn | undefined
  readonly result?: unknown
  readonly fault?: TaskFault | undefined
}

export type TaskEvent =
  | { readonly what: 'status'; readonly status: TaskStatus }
  | {
    readonly what: 'artifact'
    readonly artifact: Artifact
    readonly append: boolean
    readonly last: boolean
  }
  /** No more events come from here. */
  | { readonly what: 'forgotten' }

/**
 * Takes one event. `after.task` is the task after it; reading it costs something while a text is streamed.
 * A promise: the watcher is behind until that resolves.
 */
export type Watcher = (event: TaskEvent, after: { readonly task: Task }) => Promise<void> | undefined | void

/** A task as it stood, and what ends the watching. */
export interface Watched { readonly task: Task; readonly stop: () => void }

export interface RunningTask {
  /** Calls once when the handler's own code has ended; at once where it has. */
  onSettled(listener: () => void): void
  /** Takes answers to its questions, by key; those to no open question are ignored. */
  answer(answers: ReadonlyMap<string, unknown>): void
  refuse(key: string, reason: Error): void
  /** Does nothing where it has ended. */
  cancel(): void
  /** Another process has the task, or it was never promised: then its client gets `why`. */
  lose(why: Fault): void
}

export type TaskSeed =
  & Pick<Task, 'owner' | 'protocol' | 'runnable' | 'contextId' | 'sessionId' | 'ttlMs'>
  & Partial<Pick<Task, 'id' | 'isReserved' | 'tenant' | 'history' | 'turn'>>

/** What may change together with a task's state. What is left out stays as it is. */
export interface TaskChange {
  /** What the agent says about the state. */
  readonly message?: TaskMessage['parts'] | undefined
  readonly metadata?: TaskStatus['metadata'] | undefined
  /** It is added, in the place of that of the same id. */
  readonly artifact?: Artifact | undefined
  readonly questions?: Task['questions']
  readonly result?: unknown
  readonly fault?: Task['fault']
}

/** How a task ends that was over before anybody could see it. */
export interface TaskEnd extends Pick<TaskChange, 'metadata'> {
  readonly state: TaskState
  readonly message: TaskChange['message']
  readonly fault: TaskChange['fault']
  readonly artifacts: readonly Artifact[]
}

const none: readonly never[] = Object.freeze([])

/** The message that began the present turn. Of several with its id it is the last. */
export function turnMessage({ history, turn }: Pick<Task, 'history' | 'turn'>): TaskMessage | undefined {
  const id = turn?.messageId
  return id === undefined ? undefined : history.findLast((one) => one.id === id)
}

/**
 * Whether a message was sent before: one of its id is there that says the same, or began the turn that waits
 * for an answer, which is found by that id. Spec: A2A 1.0 §3.3.1.
 */
export function isRepeated({ history, questions, turn }: Task, message: TaskMessage): boolean {
  if (questions.length > 0 && message.id === turn?.messageId) return true
  let said: string | undefined
  return history.some((one) => one.id === message.id && saidIn(one) === (said ??= saidIn(message)))
}

function saidIn({ parts, metadata }: TaskMessage): string { return formatJson([parts, metadata]) }

/** What ran last: most tasks after one another are of one agent, and keep it once. */
let lastRunnable: Runnable = { kind: '', name: '' }

function runnableOf({ runnable: { kind, name } }: TaskSeed): Runnable {
  if (lastRunnable.name !== name || lastRunnable.kind !== kind) lastRunnable = { kind, name }
  return lastRunnable
}

/**
 * The task of a seed, at its beginning, or at its end where that is the same. What it runs may be given as
 * the definition itself.
 */
export function taskOf(
  seed: TaskSeed, createdAt: string, status: Task['status'], artifacts: readonly Artifact[] = none,
  fault: Task['fault'] = undefined,
): Task {
  const { isReserved, tenant, sessionId, ttlMs, turn } = seed
  const task: { -readonly [name in keyof Task]: Task[name] } = {
    id: seed.id ?? randomUuid(), owner: seed.owner, protocol: seed.protocol, runnable: runnableOf(seed),
    contextId: seed.contextId, createdAt, status, artifacts, history: seed.history ?? none, questions: none,
  }
  // What most have not takes no room in them.
  if (isReserved === true) task.isReserved = true
  if (tenant !== undefined) task.tenant = tenant
  if (sessionId !== undefined) task.sessionId = sessionId
  if (ttlMs !== undefined) task.ttlMs = ttlMs
  if (turn !== undefined) task.turn = turn
  if (fault !== undefined) task.fault = fault
  return task
}

/** What is kept of a request for a run in another process. `said`: what only its protocol reads, as JSON. */
export function requestOf({ requestId, principal, headers }: Origin, said: unknown): TurnRequest {
  return { requestId, principal, headers: [...headers], said }
}

/** The origin of a request that was kept. Its client has left. */
export function originOf({ requestId, principal, headers }: TurnRequest): Origin {
  const map = new Map(headers)
  return { requestId, principal, headers: map, header: (name) => map.get(name), onDisconnect() {} }
}
