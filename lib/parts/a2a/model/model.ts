/**
 * Requests, results and events of A2A, for every dialect: its codecs make these of JSON and JSON of these. A
 * member that a client may leave out is `undefined`, never missing: what is decoded has one shape.
 * Spec: A2A 1.0 §3 and §4.
 */
import type { Skill } from '../../../kernel/define/agent.ts'
import type { Artifact } from '../../../kernel/define/artifact.ts'
import type { Task, TaskMessage, TaskState, TaskStatus } from '../../../floors/tasks/task.ts'

export type JsonMembers = Readonly<Record<string, unknown>>

/**
 * A value of which all members are named. What writes or copies it member by member takes this: with a member
 * that is not named the compiler refuses it, instead of losing the member.
 */
export type Whole<T, Names extends keyof T> = keyof T extends Names ? T : never

/** With each member there, some of them as undefined: what copies a value cannot leave one out. */
export type Each<T> = { readonly [name in keyof Required<T>]: T[name] }

/** One message between a client and an agent. */
export interface Message extends Each<TaskMessage> {
  readonly contextId: string | undefined
  readonly taskId: string | undefined
}

/** The members of a task that its client does not see. */
type Unseen =
  | 'owner' | 'node' | 'protocol' | 'runnable' | 'isReserved' | 'tenant' | 'sessionId' | 'createdAt' | 'ttlMs'
  | 'questions' | 'turn' | 'result' | 'fault'

/** A task as its client sees it. */
export interface TaskView extends Omit<Task, Unseen | 'artifacts' | 'history'> {
  /** Undefined: not asked for. */
  readonly artifacts: readonly Artifact[] | undefined
  /** Undefined: not asked for. */
  readonly history: readonly TaskMessage[] | undefined
  readonly metadata: JsonMembers | undefined
}

/** Where the events of a task are posted to. */
export interface PushConfig {
  readonly id: string | undefined
  readonly taskId: string | undefined
  /** Absolute. */
  readonly url: string
  /** Sent along, so that the receiver knows its own task. */
  readonly token: string | undefined
  /** How the receiver wants to be authenticated to: the first scheme counts. */
  readonly authentication: {
    readonly schemes: readonly string[]
    readonly credentials: string | undefined
  } | undefined
}

/** What every request has, and all that `extended-card` takes. */
export interface TenantRequest { readonly tenant: string | undefined }

/** What `send` and `stream` take. */
export interface SendRequest extends TenantRequest {
  readonly message: Message
  /** Media types that the client can read; a hint. */
  readonly outputModes: readonly string[] | undefined
  /** How many messages of the history are wanted: undefined all, 0 none. */
  readonly historyLength: number | undefined
  /** Whether the answer waits until the task has ended or asks for something. */
  readonly isBlocking: boolean
  readonly push: PushConfig | undefined
  readonly metadata: JsonMembers | undefined
}

/** What `get`, `cancel` and `subscribe` take. */
export interface TaskRequest extends TenantRequest {
  readonly id: string
  readonly historyLength: number | undefined
  readonly metadata: JsonMembers | undefined
}

/** What `list` takes. */
export interface ListRequest extends TenantRequest {
  readonly contextId: string | undefined
  readonly state: TaskState | undefined
  /** 1 to 100. */
  readonly pageSize: number
  /** '' begins. */
  readonly pageToken: string
  readonly historyLength: number | undefined
  /** ISO 8601, UTC, milliseconds: only tasks whose status is as new or newer. */
  readonly changedSince: string | undefined
  readonly withArtifacts: boolean
}

/** What `push-get` and `push-delete` take. */
export interface PushRequest extends TenantRequest {
  readonly taskId: string
  /** Undefined: the task's first one (A2A 0.2 and 0.3). */
  readonly id: string | undefined
}

/** What `push-list` takes. */
export interface PushListRequest extends TenantRequest {
  readonly taskId: string
  /** Undefined: all. */
  readonly pageSize: number | undefined
  readonly pageToken: string
}

/** What `push-create` takes: of `config` the task is known. */
export interface PushCreateRequest extends TenantRequest {
  readonly config: PushConfig & { readonly taskId: string }
}

/** What came of a message: a task, or a message instead. */
export type SendResult = { readonly what: 'task'; readonly task: TaskView } | MessageResult

export interface MessageResult { readonly what: 'message'; readonly message: Message }

/** One event of a stream, and of a webhook. */
export type StreamEvent =
  | SendResult
  | {
    readonly what: 'status'
    readonly taskId: string
    readonly contextId: string
    readonly status: TaskStatus
    /** The stream ends behind it. */
    readonly isLast: boolean
  }
  | {
    readonly what: 'artifact'
    readonly taskId: string
    readonly contextId: string
    readonly artifact: Artifact
    /** Adds to the artifact of the same id. */
    readonly append: boolean
    /** Nothing more will be added to it. */
    readonly last: boolean
  }

export interface TaskPage {
  readonly tasks: readonly TaskView[]
  /** '' on the last page. */
  readonly nextPageToken: string
  /** The size that was used. */
  readonly pageSize: number
  /** All that match, on every page. */
  readonly totalSize: number
}

export interface PushPage { readonly configs: readonly PushConfig[]; readonly nextPageToken: string }

export interface CardInterface {
  /** Absolute. */
  readonly url: string
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  /** Major and minor: `1.0`. */
  readonly version: string
  readonly tenant: string | undefined
}

/** An extension of the protocol that an agent offers. */
export interface CardExtension {
  /** By which clients ask for it: an address in visible ASCII, without commas. */
  readonly uri: string
  /** How this agent uses it, for people. */
  readonly description?: string
  /** Whether requests that do not ask for it are refused. Left out: false. */
  readonly required?: boolean
  /** Its settings, as its own specification defines them. JSON. */
  readonly params?: JsonMembers
}

/** How a caller may authenticate. */
export type SecurityScheme =
  /** In the header of that name. */
  | { readonly kind: 'apiKey'; readonly name: string }
  | { readonly kind: 'http'; readonly scheme: string }
  /** The flows are in the metadata. */
  | { readonly kind: 'oauth2'; readonly metadataUrl: string }

/** Which agent is served, where, and what it can do. */
export interface Card {
  readonly name: string
  readonly description: string
  readonly version: string
  /** The preferred one first; at least one. */
  readonly interfaces: readonly CardInterface[]
  readonly provider: { readonly organization: string; readonly url: string } | undefined
  readonly documentationUrl: string | undefined
  readonly iconUrl: string | undefined
  readonly streams: boolean
  readonly pushes: boolean
  readonly hasExtendedCard: boolean
  readonly extensions: readonly CardExtension[]
  /** Media types. */
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly skills: readonly Skill[]
  readonly schemes: ReadonlyMap<string, SecurityScheme>
  /** Any one of them is enough: all the schemes that it names, each with the scopes that it needs. */
  readonly security: readonly ReadonlyMap<string, readonly string[]>[]
  /** Of the members that 1.0 writes. */
  readonly signatures?: readonly CardSignature[]
}

/** A signature of a card, as JWS has it. */
export interface CardSignature { readonly protected: string; readonly signature: string }

/** What each operation takes, and what comes of it; of `stream` and `subscribe`, each event. */
interface OperationTypes {
  'send': [SendRequest, SendResult]
  'stream': [SendRequest, StreamEvent]
  'get': [TaskRequest, TaskView]
  'list': [ListRequest, TaskPage]
  'cancel': [TaskRequest, TaskView]
  'subscribe': [TaskRequest, StreamEvent]
  'push-create': [PushCreateRequest, PushConfig]
  'push-get': [PushRequest, PushConfig]
  'push-list': [PushListRequest, PushPage]
  'push-delete': [PushRequest, undefined]
  'extended-card': [TenantRequest, Card]
}

export type OperationName = keyof OperationTypes
export type Requests = { readonly [name in OperationName]: OperationTypes[name][0] }
export type Results = { readonly [name in OperationName]: OperationTypes[name][1] }
