/**
 * What a task is, in the words of no protocol, and its life as a table: which state may follow which.
 * Where tasks are kept is in `tasks.ts`, how one is run in `task-run.ts`.
 */
import { randomUuid } from '../wire/random.ts'
import type { Artifact } from '../define/artifact.ts'
import type { Protocol, Runnable } from '../define/call.ts'
import type { Content } from '../define/content.ts'
import type { Fault, FaultKind } from '../define/fault.ts'
import type { Principal } from '../define/principal.ts'
import type { Question } from '../define/question.ts'

/** Where a task stands. */
export type TaskState =
  | 'submitted' | 'working' | 'input-required' | 'auth-required'
  | 'completed' | 'failed' | 'canceled' | 'rejected'

/** States that nothing follows. */
const ends: readonly TaskState[] = ['completed', 'failed', 'canceled', 'rejected']

/** What may follow a state. A finished task never changes again. */
const follows: ReadonlyMap<TaskState, ReadonlySet<TaskState>> = new Map<TaskState, ReadonlySet<TaskState>>([
  ['submitted', new Set<TaskState>(['working', 'input-required', 'auth-required', ...ends])],
  ['working', new Set<TaskState>(['working', 'input-required', 'auth-required', ...ends])],
  ['input-required', new Set<TaskState>(['submitted', 'working', 'input-required', ...ends])],
  ['auth-required', new Set<TaskState>(['working', 'input-required', 'auth-required', ...ends])],
  ...ends.map((state): [TaskState, ReadonlySet<TaskState>] => [state, new Set()]),
])

/** Whether nothing can follow. */
export function isTerminal(state: TaskState): boolean {
  return ends.includes(state)
}

/** Whether its client has to do something before the task goes on. */
export function isInterrupted(state: TaskState): boolean {
  return state === 'input-required' || state === 'auth-required'
}

/** Whether one state may follow another. */
export function mayFollow(state: TaskState, next: TaskState): boolean {
  return follows.get(state)?.has(next) === true
}

/** A state, since when, and what the agent says about it. */
export interface TaskStatus {
  readonly state: TaskState
  /** ISO 8601, UTC, milliseconds; rises strictly within a process. */
  readonly at: string
  readonly message?: TaskMessage
}

/** One message of a task: of its history, or what the agent says about its state. */
export interface TaskMessage {
  /** Once in a task. */
  readonly id: string
  readonly role: 'user' | 'agent'
  readonly parts: readonly Content[]
  /** What its sender attached to it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Addresses of the extensions that it was written with (A2A). */
  readonly extensions?: readonly string[] | undefined
  /** Other tasks that it speaks of (A2A). */
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
  /** What its door alone reads: the arguments of a tool, what its client can be asked. */
  readonly said: unknown
}

/**
 * One turn of a task, as far as it takes to run it again from the top: from a message or a call to its end,
 * questions in between.
 */
export interface TaskTurn {
  /** The message of the history that began it; undefined where a call did. */
  readonly messageId?: string | undefined
  /** What came with that message beside it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Undefined: whoever begins it again brings a request of their own. */
  readonly request?: TurnRequest | undefined
  /** Another process runs it again where its own has died; else its next answer alone begins it again. */
  readonly isRerun?: boolean | undefined
  /** The number of its present run; left out: 1. */
  readonly run?: number | undefined
  /** Artifacts of the task that are older than the turn, by their ids. */
  readonly earlier?: readonly string[] | undefined
  /** The artifact of its answer: what a run that came to no end has said of it gives way to the next. */
  readonly artifactId?: string | undefined
  /** Answers that were given to its questions, by the key of each. */
  readonly answers: Readonly<Record<string, unknown>>
  /** Results of what must happen once, by its key. */
  readonly results: Readonly<Record<string, unknown>>
}

/** Why a task failed, fit for its caller to read. */
export interface TaskFault { readonly kind: FaultKind; readonly message: string; readonly detail?: unknown }

/** A task as it stands; a snapshot, to be replaced and never changed. All of it is JSON. */
export interface Task {
  readonly id: string
  readonly owner: string
  /** The process that wrote it last, where several share the store: its run is there, if it has one. */
  readonly node?: string | undefined
  /** The door that it belongs to; the others pass over it. */
  readonly protocol: Protocol
  /** What it runs. */
  readonly runnable: Runnable
  /** Its client does not know of it yet, and may never: nobody is shown it. */
  readonly isReserved?: boolean
  /** Whose part of the server it belongs to, where there are several (A2A). */
  readonly tenant: string | undefined
  readonly contextId: string
  /** The session that it was asked for in, where there is one. */
  readonly sessionId: string | undefined
  readonly createdAt: string
  /** How long from its creation the client wants it to be kept, in milliseconds. */
  readonly ttlMs: number | undefined
  readonly status: TaskStatus
  readonly artifacts: readonly Artifact[]
  readonly history: readonly TaskMessage[]
  /** Those that have no answer yet. */
  readonly questions: readonly TaskQuestion[]
  /** What is needed to run its present turn again; undefined where that is never done. */
  readonly turn: TaskTurn | undefined
  /** What came of it, once it is completed. */
  readonly result: unknown
  /** Why there is no result, once it has failed. */
  readonly fault: TaskFault | undefined
}

/** A task in a list: what it is chosen by, and the whole of it for whoever shows it. Read at once. */
export interface ListedTask extends Pick<
  Task, 'id' | 'protocol' | 'runnable' | 'isReserved' | 'tenant' | 'contextId' | 'sessionId' | 'status'
> {
  readonly task: Task
}

/** What happened to a task. */
export type TaskEvent =
  | { readonly what: 'status'; readonly status: TaskStatus }
  | {
    readonly what: 'artifact'
    readonly artifact: Artifact
    readonly append: boolean
    readonly last: boolean
  }
  /** It had to make room, or was waited for in vain. */
  | { readonly what: 'forgotten' }

/**
 * Told of one event; `after` is where the task is read as it then stands, which costs something while a text
 * goes on. A promise: it is behind, until that resolves.
 */
export type Watcher = (event: TaskEvent, after: { readonly task: Task }) => Promise<void> | undefined | void

/** A task as it stood, and how to hear no more of it. */
export interface Watched { readonly task: Task; readonly stop: () => void }

/** The run behind a task, in the process that runs it. */
export interface RunningTask {
  /** Calls once when the handler's own code comes to its end; at once where it has. */
  onSettled(listener: () => void): void
  /** Takes answers to its questions, by key; those to no open question are passed over. */
  answer(answers: ReadonlyMap<string, unknown>): void
  /** The client will not answer a question. */
  refuse(key: string, reason: Error): void
  /** Nobody wants it any longer. Nothing where it has ended. */
  cancel(): void
  /** Another process has the task, or it was never promised: then `why` is what its client hears. */
  lose(why: Fault): void
}

/** What a task begins with. */
export type TaskSeed =
  & Pick<Task, 'owner' | 'protocol' | 'runnable' | 'contextId' | 'sessionId' | 'ttlMs'>
  & Partial<Pick<Task, 'id' | 'isReserved' | 'tenant' | 'history' | 'turn'>>

/** How a task ends that was over before anybody could see it. */
export interface TaskEnd {
  readonly state: TaskState
  readonly message: TaskMessage['parts'] | undefined
  readonly artifacts: readonly Artifact[]
  readonly fault: Task['fault']
}

/** What may change together with a task's state. What is left out stays as it is. */
export interface TaskChange {
  /** What the agent says about the state. */
  readonly message?: TaskMessage['parts'] | undefined
  readonly questions?: Task['questions']
  readonly result?: unknown
  readonly fault?: Task['fault']
}

const none: readonly never[] = Object.freeze([])

/** The task of a seed, as it stands at its beginning, or at its end where that is the same. */
export function taskOf(
  seed: TaskSeed, createdAt: string, status: Task['status'], artifacts: readonly Artifact[] = none,
  fault: Task['fault'] = undefined,
): Task {
  return {
    id: seed.id ?? randomUuid(), owner: seed.owner, protocol: seed.protocol, runnable: seed.runnable,
    isReserved: seed.isReserved ?? false, tenant: seed.tenant, contextId: seed.contextId,
    sessionId: seed.sessionId, createdAt, ttlMs: seed.ttlMs, status, artifacts,
    history: seed.history ?? none, questions: none, turn: seed.turn, result: undefined,
    fault,
  }
}
