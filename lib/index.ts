/**
 * The public face of triport. What is not named here is internal; .github/CONTRIBUTING.md describes it.
 *
 * A type is named here where a program writes it down, or gets it from what it calls. What is only a part of
 * such a type is reached by it, as in `ToolDefinition['annotations']`.
 */
export { createServer } from './server/server.ts'
export { oauthProxy } from './server/oauth-proxy.ts'
export { launch } from './server/launch.ts'
export { serveStdio } from './server/stdio.ts'
export { adapt, defineAgent, defineGroup } from './define/agent.ts'
export { defineTool } from './define/tool.ts'
export { defineResource, defineResourceTemplate } from './define/resource.ts'
export { definePrompt } from './define/prompt.ts'
export { Fault } from './define/fault.ts'
export { defaults } from './define/limits.ts'
export { jwksVerifier } from './http/access/jwks.ts'
export { openaiAgent } from './openai/openai.ts'
export { testClient } from './testing/test-client.ts'
export { compile } from './schema/compile.ts'
export { checkStore } from './store/conformance/check.ts'
export { hostStore, workerStore } from './store/cluster/worker-store.ts'
export { memoryStore } from './store/memory/memory.ts'
export { postgresStore } from './store/postgres/postgres.ts'
export { redisStore } from './store/redis/redis.ts'
export { sqliteStore } from './store/sqlite/sqlite.ts'

export type { Address, TriportServer } from './server/server.ts'
export type { ServerStatus } from './server/metrics.ts'
export type { Launched, LaunchOptions } from './server/launch.ts'
export type { StdioOptions } from './server/stdio.ts'
export type { ProtocolName, ServerOptions } from './server/options.ts'
export type { OauthProxyOptions, ProviderTokens } from './server/oauth-provider.ts'
export type { OpenTelemetry } from './server/telemetry.ts'
export type { Limits } from './define/limits.ts'
export type { Offer, Subject } from './define/normalize-definitions.ts'
export type { Catalog } from './define/catalog.ts'

export type {
  AdaptOptions, Agent, AgentDefinition, Group, GroupDefinition, Router, Run, Skill,
} from './define/agent.ts'
export type { ForeignAgent } from './foreign/agents.ts'
export type { AgentOutput, AnswerInput } from './define/answer.ts'
export type { Tool, ToolDefinition, ToolResultInput } from './define/tool.ts'
export type {
  Resource, ResourceDefinition, ResourceTemplate, ResourceTemplateDefinition, Variables,
} from './define/resource.ts'
export type { Prompt, PromptDefinition } from './define/prompt.ts'
export type { Completer } from './define/completion.ts'
export type { Content, ContentInput } from './define/content.ts'
export type { ExtendedCard } from './a2a/model/options.ts'
export type { OpenaiOptions } from './openai/openai.ts'

export type { Call, ClientInfo, Protocol, Trace } from './define/call.ts'
export type { ArtifactInput } from './define/artifact.ts'
export type { ChatMessage } from './define/chat.ts'
export type { ClientTool, ClientToolCall, ClientToolResult, ToolChoice } from './define/client-tool.ts'
export type { Around } from './define/around.ts'
export type { CallEvent } from './define/event.ts'
export type { FaultKind } from './define/fault.ts'
export type { Claims, Principal } from './define/principal.ts'
export type {
  ElicitAnswer, FormQuestion, Root, SampleAnswer, SampleQuestion, UrlAnswer, UrlQuestion,
} from './define/question.ts'

export type { ApiKey, Authorization, Verify } from './http/access/auth.ts'
export type { Handler } from './http/server/listener.ts'
export type { JwksAlgorithm, JwksOptions, TokenVerifier } from './http/access/jwks.ts'
export type { TokenInfo } from './http/access/keys.ts'
export type { RateLimit } from './http/access/rate.ts'
export type { RequestSummary } from './http/server/observer.ts'
export type { CallInfo } from './run/call-observer.ts'
export type { Log, Logger, Severity } from './define/log.ts'

export type { TestClient, TestClientOptions } from './testing/types.ts'
export type { TestClientError } from './testing/http.ts'

export type { CompileOptions, JsonSchema, SchemaError, Validate, Validation } from './schema/compile.ts'
export type { Infer } from './schema/infer.ts'
export type { Schema, StandardSchema } from './schema/standard.ts'
export type { Entry, Keep, Store, StoreKey } from './state/store.ts'
export type { MaybePromise } from './util/thenable.ts'
export type { StoreReport } from './store/conformance/check.ts'
export type { MemoryStore, MemoryStoreOptions } from './store/memory/memory.ts'
export type { PostgresPool, PostgresStoreOptions } from './store/postgres/postgres.ts'
export type { RedisClient, RedisStoreOptions } from './store/redis/redis.ts'
export type { SqliteStore, SqliteStoreOptions } from './store/sqlite/sqlite.ts'
