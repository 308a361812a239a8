/**
 * The public face of triport. What is not named here is the house's own; how that is built is in the chapter
 * "Inside" of the README.
 */
export { createServer } from './server.ts'
export { launch } from './launch.ts'
export { serveStdio } from './stdio.ts'
export { defineAgent, defineGroup } from './core/agent.ts'
export { defineTool } from './core/tool.ts'
export { defineResource, defineResourceTemplate } from './core/resource.ts'
export { definePrompt } from './core/prompt.ts'
export { Fault } from './core/fault.ts'
export { defaults } from './core/defaults.ts'
export { openaiAgent } from './adapters/openai.ts'
export { compile } from './schema/compile.ts'
export { checkStore } from './store/check.ts'
export { memoryStore } from './store/memory.ts'

export type { ProtocolChoice, ProtocolName } from './settings.ts'
export type { ServerOptions } from './server-options.ts'
export type { Address, ServerStatus, TriportServer } from './server.ts'
export type { Launched, LaunchOptions } from './launch.ts'
export type { StdioOptions } from './stdio.ts'
export type { McpOptions } from './mcp/context.ts'
export type {
  Agent, AgentDefinition, AgentLike, Group, GroupDefinition, Router, RouterChoice, Run, Skill,
} from './core/agent.ts'
export type { AgentOutput, AnswerInput, AnswerState, Piece } from './core/answer.ts'
export type { ArtifactInput } from './core/artifact.ts'
export type { Call, ClientInfo, Protocol, Trace } from './core/call.ts'
export type {
  Ability, ElicitAnswer, FormQuestion, Root, SampleAnswer, SampleQuestion, UrlAnswer, UrlQuestion,
} from './core/question.ts'
export type { CallInfo } from './core/call-observer.ts'
export type { Catalog, CatalogChange, Offering, Served } from './core/catalog.ts'
export type {
  Completer, Completers, CompletionContext, CompletionInput, CompletionOutput,
} from './core/completion.ts'
export type {
  Annotations, AudioContent, Content, ContentInput, EmbeddedResource, ImageContent, ResourceContents,
  ResourceLink, TextContent,
} from './core/content.ts'
export type { ChatMessage } from './core/chat.ts'
export type { Limits } from './core/defaults.ts'
export type { Icon, ServedKind } from './core/define.ts'
export type { FaultKind } from './core/fault.ts'
export type { Log, Logger, LogLevel, Severity } from './core/log.ts'
export type { OpenaiOptions } from './adapters/openai.ts'
export type { Principal } from './core/principal.ts'
export type {
  Prompt, PromptArgument, PromptArgumentInput, PromptArguments, PromptDefinition, PromptMessageInput,
  PromptOutput, PromptResultInput,
} from './core/prompt.ts'
export type {
  ContentsInput, Resource, ResourceDefinition, ResourceOutput, ResourceTemplate, ResourceTemplateDefinition,
  Variables,
} from './core/resource.ts'
export type { Entry, Keep, MaybePromise, Store, StoreKey } from './core/store.ts'
export type {
  Offer, PromptLike, ResourceLike, ResourceTemplateLike, Subject, ToolLike,
} from './core/subject.ts'
export type {
  Tool, ToolAnnotations, ToolArguments, ToolDefinition, ToolOutput, ToolResult, ToolResultInput,
} from './core/tool.ts'
export type { ApiKey, Authorization, AuthRequest, Verify } from './http/auth.ts'
export type { NamedKey } from './http/keys.ts'
export type { TokenInfo } from './http/principal.ts'
export type { RateLimit } from './http/rate.ts'
export type { RequestSummary } from './http/observer.ts'
export type { CompileOptions, JsonSchema, SchemaError, Validate, Validation } from './schema/compile.ts'
export type { Infer, InferGiven } from './schema/infer.ts'
export type { Schema, StandardSchema } from './schema/standard.ts'
export type { CheckOptions, StoreReport } from './store/check.ts'
export type { MemoryStore } from './store/memory.ts'
export type { MemoryStoreOptions } from './store/memory-limits.ts'
export type { TemplateValue } from './wire/uri-parts.ts'
export type { UriTemplate } from './wire/uri-template.ts'
