/**
 * What a handler is given, and what a protocol gives for it: where the request came from (`Origin`), what it
 * contains (`CallFacts`), and what can be sent back while the handler runs (`CallChannel`). The call that is
 * made of them is in `live-call.ts`.
 */
import type { JsonSchema } from '../schema/compile.ts'
import type { InferAnswer } from '../schema/infer.ts'
import type { ArtifactInput } from './artifact.ts'
import type { ClientTool, ClientToolResult, ToolChoice } from './client-tool.ts'
import type { Content } from './content.ts'
import type { CallEvent } from './event.ts'
import type { Severity } from './log.ts'
import type { Principal } from './principal.ts'
import type {
  Ability, ElicitAnswer, FormQuestion, Keyed, Question, Root, SampleAnswer, SampleQuestion, UrlAnswer,
  UrlQuestion,
} from './question.ts'

/** The protocol that a call came by. */
export type Protocol = 'http' | 'mcp' | 'a2a' | 'acp'

/** The definition whose code runs. */
export interface Runnable { readonly kind: string; readonly name: string }

/** The program on the other side, as it names itself. Never a reason to trust it. */
export interface ClientInfo {
  readonly name: string
  readonly version: string
  readonly title?: string
  /** Extensions of its protocol that it has declared by name, with their settings. */
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** One message of a conversation. */
export interface ChatMessage { readonly role: 'user' | 'assistant' | 'system'; readonly content: string }

/** W3C trace context, as it came. */
export interface Trace {
  readonly traceparent?: string
  readonly tracestate?: string
  readonly baggage?: string
}

/** The second argument of every handler. */
export interface Call {
  /** Aborts when the result is not needed any more: the client left or cancelled, or the time is over. */
  readonly signal: AbortSignal
  readonly protocol: Protocol
  /** The client's `X-Request-Id`, or one that was made; it is in replies and in the log. */
  readonly requestId: string
  /** Who is calling. */
  readonly principal: Principal
  /** The program that calls, where its protocol names it. */
  readonly client: ClientInfo | undefined
  /** The request's headers, names in lower case, without credentials. */
  readonly headers: ReadonlyMap<string, string>
  /** The session, else the conversation. Undefined where the protocol, or this request, has neither. */
  readonly sessionId: string | undefined
  /** Earlier messages of this conversation, oldest first, the present one not among them. */
  readonly history: readonly ChatMessage[]
  /** The whole present message: its text, its files and its data; and the files of `clientToolResults`. */
  readonly message: readonly Content[]
  /**
   * Tools that the client runs itself. An answer with `toolCalls` has it run some: it asks again with
   * what came of them. Empty where it offers none, and for the agents of a group.
   */
  readonly clientTools: readonly ClientTool[]
  /**
   * Whether the answer is to call one of `clientTools`, which has those alone that it may call. An
   * answer without a call goes out as what it is. `auto` where the client says nothing, and for the agents of
   * a group.
   */
  readonly toolChoice: ToolChoice
  /** What came of the client's tools since the present message, in order. */
  readonly clientToolResults: readonly ClientToolResult[]
  /** The answer is to be JSON that fits this schema; undefined: any text. */
  readonly outputSchema: JsonSchema | undefined
  /** The client's id of the present message. Undefined where its protocol has none. */
  readonly messageId: string | undefined
  /** The task that this run belongs to. Undefined where it belongs to none. */
  readonly taskId: string | undefined
  /** What its tasks and messages belong to, by the client's word. Undefined where its protocol has none. */
  readonly contextId: string | undefined
  /** What the client has attached: to its message, and what it has attached to the request besides. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** URIs of the extensions that the client asks for with this request. */
  readonly extensions: readonly string[]
  /** Other tasks that the client names with its message. */
  readonly referenceTaskIds: readonly string[]
  /** Media types that the client can read; a wish. Empty: it says nothing. */
  readonly acceptedOutputModes: readonly string[]
  /** Of what the client has attached, else of the headers; empty where neither has any. */
  readonly trace: Trace
  /** The number of this run: more than 1 where a process that ran it before has died (`recover: 'rerun'`). */
  readonly run: number
  /** Whether this client can be asked in this way. Where it cannot, asking throws `Fault('unsupported')`. */
  can(what: Ability): boolean
  /** Progress. `done` must rise; `total` in the same unit. Dropped where the client did not ask for it. */
  progress(done: number, total?: number, text?: string): void
  /**
   * Says that a tool is called, or has ended, what a model thinks, or the tokens that it used. Each protocol
   * shows it in its own form, or not at all. Of arguments and results that JSON writes in more than 16,384
   * characters the beginning is shown. Throws `TypeError` for what is no event.
   */
  event(event: CallEvent): void
  /** A line for the client's log, where its protocol has one; else for the server's. */
  log(level: Severity, data: unknown, logger?: string): void
  /**
   * Has the user fill in a form. Throws `Fault('unsupported')`, `Fault('timeout')` after `askTimeoutMs`,
   * `Fault('invalid')` for an answer that does not fit.
   */
  elicit<const S>(question: FormQuestion<S>): Promise<ElicitAnswer<InferAnswer<S>>>
  /** Asks the user to open an address. Throws as for a form. */
  elicit(question: UrlQuestion): Promise<UrlAnswer>
  /** Asks for either. Throws as for a form. */
  elicit(question: FormQuestion | UrlQuestion): Promise<ElicitAnswer | UrlAnswer>
  /**
   * Notifies the client that what an address was opened for is done, also after the call has ended. Does
   * nothing where its protocol has no such notification.
   */
  completeElicitation(elicitationId: string): void
  /** Asks the client's model. Throws as `elicit` does. */
  sample(question: SampleQuestion): Promise<SampleAnswer>
  /** Asks for the client's roots. Throws as `elicit` does. */
  roots(options?: Keyed): Promise<readonly Root[]>
  /**
   * Runs a side effect once per call, even where the handler runs again from the top: because it has asked
   * the client, or because its process has died. `fn`'s result must be JSON; it is stored before this
   * resolves, and a process that dies between the two has run `fn` without storing it. Two at one time with
   * one key get one promise.
   */
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T>
  /**
   * Lets the client disconnect and come back for the result, after `retryMs` milliseconds. Left out: it comes
   * back when it likes. Does nothing where its protocol cannot take up a reply again.
   */
  detach(options?: { readonly retryMs?: number }): void
  /**
   * Sends a named piece of output, as it comes; where the protocol has none, its parts follow the answer.
   * Throws `TypeError` for a member that is not known, `Fault('internal')` for a part that is no content, and
   * `Fault('too-large')` where those of a task are over `maxResultBytes`.
   */
  artifact(artifact: ArtifactInput): void
}

/** Where a call came from. Made by a transport; its members are read on demand. */
export interface Origin {
  readonly requestId: string
  readonly principal: Principal
  /** By whom the call counts where callers share a limit. Left out: the principal. */
  readonly caller?: string
  /** A header's value by its lower-case name; undefined where the transport has no headers. */
  header(name: string): string | undefined
  /** All headers but the credentials. */
  readonly headers: ReadonlyMap<string, string>
  /** Calls `listener` once when the client has left before it was answered; at once where it has already. */
  onDisconnect(listener: () => void): void
  /** A run uses the body of the request, maybe after the request ended: it counts until `release`. */
  retain?(): void
  /** Once for each `retain`. */
  release?(): void
  /** The scopes that the answer has needed so far: where the principal loses one, its stream ends. */
  readonly needed?: Set<string>
}

/** By whom a call counts where callers share a limit. */
export function callerOf({ caller, principal }: Pick<Origin, 'caller' | 'principal'>): string {
  return caller ?? principal.id
}

/** The members of a call that are in its request, in some protocols. */
type Fact =
  | 'sessionId' | 'client' | 'message' | 'messageId' | 'taskId' | 'contextId' | 'metadata' | 'extensions'
  | 'referenceTaskIds' | 'acceptedOutputModes'
  | 'trace' | 'run' | 'clientTools' | 'toolChoice' | 'clientToolResults' | 'outputSchema'

/** What a request contains, as far as its protocol has it. */
export type CallFacts = Pick<Call, 'protocol'> & { readonly [F in Fact]?: Call[F] | undefined }

/**
 * What can be sent back to the client while a handler runs. What is left out, the protocol cannot do. A call
 * that becomes a task gets another channel.
 */
export interface CallChannel {
  can?(what: Ability): boolean
  /** Why nothing can be asked of any client here. Left out: it depends on what the client has declared. */
  readonly silence?: string | undefined
  progress?(done: number, total: number | undefined, text: string | undefined): void
  /**
   * An event within its bounds. `agent`: the member of a group that it comes from. Left out: the call of a
   * tool and its end are progress, with a text; no other event is shown.
   */
  event?(event: CallEvent, agent: string | undefined): void
  log?(level: Severity, data: unknown, logger: string | undefined): void
  /** Resolves to the answer of the client: an `ElicitAnswer`, a `UrlAnswer`, a `SampleAnswer`, or roots. */
  ask?(question: Question): Promise<unknown>
  /** A question ends the run, so that its clock does not stop for it. */
  readonly asksByReturning?: boolean
  once?(key: string, fn: () => unknown): Promise<unknown>
  detach?(retryMs: number | undefined): void
  completeElicitation?(elicitationId: string): void
  artifact?(artifact: ArtifactInput): void
}
