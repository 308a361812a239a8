/**
 * The public face of triport. What is not named here is internal; .github/CONTRIBUTING.md describes it.
 *
 * A type is named here where a program writes it down, or gets it from what it calls. What is only a part of
 * such a type is reached by it, as in `ToolDefinition['annotations']`.
 */
export { createServer } from './preset/create-server.ts'
export { oauthProxy } from './parts/oauth/oauth-proxy.ts'
export { launch } from './preset/launch.ts'
export { serveStdio } from './preset/stdio.ts'
export { adapt } from './adapters/frameworks.ts'
export { defineAgent, defineGroup, defineTool } from './preset/define.ts'
export { defineResource, defineResourceTemplate } from './kernel/define/resource.ts'
export { definePrompt } from './kernel/define/prompt.ts'
export { Fault } from './kernel/define/fault.ts'
export { defaults } from './preset/limits.ts'
export { jwksVerifier } from './parts/oauth/jwks.ts'
export { openaiAgent } from './agents/openai/openai.ts'
export { testClient } from './testing/test-client.ts'
export { compile } from './kernel/schema/compile.ts'
export { checkStore } from './testing/store/check.ts'
export { hostStore, workerStore } from './stores/cluster/worker-store.ts'
export { memoryStore } from './floors/memory/memory-store.ts'
export { postgresStore } from './stores/postgres/postgres.ts'
export { redisStore } from './stores/redis/redis.ts'
export { sqliteStore } from './stores/sqlite/sqlite.ts'

export type { Address } from './kernel/server/server.ts'
export type { ServerStatus, TriportServer } from './preset/create-server.ts'
export type { Launched, LaunchOptions } from './preset/launch.ts'
export type { StdioOptions } from './preset/stdio.ts'
export type { ProtocolName, ServerOptions } from './preset/options.ts'
export type { OauthProxyOptions, ProviderTokens } from './parts/oauth/oauth-provider.ts'
export type { OpenTelemetry } from './parts/telemetry/telemetry.ts'
export type { Limits } from './preset/limits.ts'
export type { Offer } from './kernel/define/normalize-definitions.ts'
export type { Subject } from './preset/subject.ts'
export type { Catalog } from './kernel/define/catalog.ts'

export type {
  AdaptOptions, Agent, AgentDefinition, Group, GroupDefinition, Router, Run, Skill,
} from './kernel/define/agent.ts'
export type { ForeignAgent } from './kernel/define/adapters.ts'
export type { AgentOutput, AnswerInput } from './kernel/define/answer.ts'
export type { Tool, ToolDefinition, ToolResultInput } from './kernel/define/tool.ts'
export type {
  Resource, ResourceDefinition, ResourceTemplate, ResourceTemplateDefinition, Variables,
} from './kernel/define/resource.ts'
export type { Prompt, PromptDefinition } from './kernel/define/prompt.ts'
export type { Completer } from './kernel/define/completion.ts'
export type { Content, ContentInput } from './kernel/define/content.ts'
export type { ExtendedCard } from './parts/a2a/model/options.ts'
export type { OpenaiOptions } from './agents/openai/openai.ts'

export type { Call, ChatMessage, ClientInfo, Protocol, Trace } from './kernel/define/call.ts'
export type { ArtifactInput } from './kernel/define/artifact.ts'
export type { ClientTool, ClientToolCall, ClientToolResult, ToolChoice } from './kernel/define/client-tool.ts'
export type { Around } from './kernel/define/around.ts'
export type { CallEvent } from './kernel/define/event.ts'
export type { FaultKind } from './kernel/define/fault.ts'
export type { Claims, Principal } from './kernel/define/principal.ts'
export type {
  ElicitAnswer, FormQuestion, Root, SampleAnswer, SampleQuestion, UrlAnswer, UrlQuestion,
} from './kernel/define/question.ts'

export type { ApiKey, Authorization, Verify } from './kernel/http/access/auth.ts'
export type { Handler } from './kernel/http/server/listener.ts'
export type { JwksAlgorithm, JwksOptions, TokenVerifier } from './parts/oauth/jwks.ts'
export type { TokenInfo } from './kernel/http/access/keys.ts'
export type { RateLimit } from './kernel/http/access/rate.ts'
export type { RequestSummary } from './kernel/http/server/observer.ts'
export type { CallInfo } from './kernel/run/call-observer.ts'
export type { Log, Logger, Severity } from './kernel/define/log.ts'

export type { TestClient, TestClientOptions } from './testing/types.ts'
export type { TestClientError } from './testing/http.ts'

export type {
  CompileOptions, JsonSchema, SchemaError, Validate, Validation,
} from './kernel/schema/compile.ts'
export type { Infer } from './kernel/schema/infer.ts'
export type { Schema, StandardSchema } from './kernel/schema/standard.ts'
export type { Entry, Keep, Store, StoreKey } from './kernel/store/store.ts'
export type { MaybePromise } from './kernel/util/thenable.ts'
export type { StoreReport } from './testing/store/check.ts'
export type { MemoryStore, MemoryStoreOptions } from './floors/memory/memory-store.ts'
export type { PostgresPool, PostgresStoreOptions } from './stores/postgres/postgres.ts'
export type { RedisClient, RedisStoreOptions } from './stores/redis/redis.ts'
export type { SqliteStore, SqliteStoreOptions } from './stores/sqlite/sqlite.ts'
