/** What the client for tests is given, and what it returns. */
import type { Content, ResourceContents } from '../kernel/define/content.ts'
import type { ElicitAnswer, SampleAnswer, SampleQuestion, UrlAnswer } from '../kernel/define/question.ts'
import type { MaybePromise } from '../kernel/util/thenable.ts'

export type JsonRecord = Readonly<Record<string, unknown>>

/** What a handler asks by `call.elicit`: to fill in a form (`schema`), or to open an address (`url`). */
export interface TestQuestion {
  readonly message: string
  readonly schema?: JsonRecord
  readonly url?: string
}

/** How a client for tests reaches its server, and what it answers when it is asked. */
export interface TestClientOptions {
  /** Sent with each request, as in `{ 'x-api-key': 'key' }`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The address of the server, its `mountPath` included. By default `http://localhost`. */
  readonly url?: string | undefined
  /** Answers `call.elicit`, over MCP and A2A. Left out: the client cannot be asked. */
  readonly onElicit?: ((question: TestQuestion) => MaybePromise<ElicitAnswer | UrlAnswer>) | undefined
  /** Answers `call.sample`, over MCP; a text is what the model says. Left out: the client has no model. */
  readonly onSample?: ((request: SampleQuestion) => MaybePromise<SampleAnswer | string>) | undefined
}

/** What a request may have besides what is sent. */
export interface TestRequest {
  /** The id of an agent or a group; by default the one that answers at `/`. Not for MCP. */
  readonly agent?: string | undefined
  /** Plain HTTP: goes on with a conversation. */
  readonly sessionId?: string | undefined
  /** A2A: goes on with a context, and with a task that waits. */
  readonly contextId?: string | undefined
  readonly taskId?: string | undefined
  readonly metadata?: JsonRecord | undefined
  /** Instead of the client's headers of the same names. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Aborts the request, as a client that leaves. */
  readonly signal?: AbortSignal | undefined
}

/** The reply to a query, as it is sent. */
export interface TestReply {
  readonly response: string
  readonly agent: string
  readonly query: string
  readonly session_id: string
  readonly request_id: string
  readonly data?: unknown
  readonly content?: readonly Content[]
  readonly state?: string
  readonly results?: readonly { agent: string; response?: string; error?: string }[]
  readonly final_response?: string
  /** What the agent says of its tokens. */
  readonly usage?: JsonRecord
}

/** The result of a tool. `T` is what is expected as `structuredContent`. */
export interface TestToolResult<T> {
  readonly content: readonly Content[]
  /** The text of the content. */
  readonly text: string
  readonly structuredContent: T
  /** The result reports an error, for a model to read. */
  readonly isError: boolean
  readonly progress: readonly { progress: number; total?: number; message?: string }[]
  readonly log: readonly { level: string; data: unknown; logger?: string }[]
}

/** What an agent answers over A2A. */
export interface TestAnswer {
  /** The text of the artifacts, else of the message. */
  readonly text: string
  /** The first data part, if there is one. */
  readonly data: unknown
  /** Of the task, as in `completed` and `input-required`; undefined for an answer without a task. */
  readonly state: string | undefined
  readonly taskId: string | undefined
  readonly contextId: string
  /** The task or the message, as A2A 1.0 has it. */
  readonly body: JsonRecord
}

/**
 * Each method rejects with a `TestClientError` where the server answers an error, and with a `TypeError` for
 * an unknown option. Nothing is kept between two requests, so there is nothing to close.
 */
export interface TestClient {
  /** Sends a query over plain HTTP. */
  query(query: string, request?: TestRequest): Promise<TestReply>
  /** The same as events, to their end. `pieces` are the texts of the `delta` events. */
  stream(query: string, request?: TestRequest): Promise<{
    readonly pieces: readonly string[]
    readonly events: readonly { event: string; data: unknown }[]
    readonly reply: TestReply
  }>
  /** MCP 2026-07-28. Where a handler asks, it runs again from the top with the answers. */
  readonly mcp: {
    listTools(request?: TestRequest): Promise<readonly {
      readonly name: string
      readonly description?: string
      readonly inputSchema: JsonRecord
      readonly [member: string]: unknown
    }[]>
    /** Calls a tool. A result with `isError` is returned, and not thrown. */
    callTool<T = unknown>(name: string, args?: object, request?: TestRequest): Promise<TestToolResult<T>>
    readResource(uri: string, request?: TestRequest): Promise<readonly ResourceContents[]>
    getPrompt(name: string, args?: Readonly<Record<string, string>>, request?: TestRequest): Promise<{
      readonly description?: string
      readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: Content }[]
    }>
    /** Calls any other method; its result. */
    request(method: string, params?: object, request?: TestRequest): Promise<JsonRecord>
  }
  /** A2A 1.0 over JSON-RPC. A message is a text, or a list of parts as A2A 1.0 has them. */
  readonly a2a: {
    /** Sends a message. With `onElicit`, what the agent asks is answered; the result is what comes then. */
    send(message: string | readonly object[], request?: TestRequest): Promise<TestAnswer>
    /** The same as a stream, to its end. `pieces` are the texts of the artifacts as they came. */
    stream(message: string | readonly object[], request?: TestRequest): Promise<TestAnswer & {
      readonly pieces: readonly string[]
      readonly events: readonly JsonRecord[]
    }>
    /** A task as it stands. */
    task(id: string, request?: TestRequest): Promise<TestAnswer>
  }
}
