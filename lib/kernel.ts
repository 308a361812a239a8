/**
 * A server of what is named, and of nothing else: the kernel, which serves no protocol by itself, and what
 * parts of it are written with.
 *
 *     createServer({ tools: [add], parts: [mcp({ sessions: 'none' })] })
 */
export { kernelServer as createServer } from './kernel/server/server.ts'
export { ownAgent as defineAgent, ownGroup as defineGroup } from './kernel/define/agent.ts'
export { ownTool as defineTool } from './kernel/define/tool.ts'
export { defineResource, defineResourceTemplate } from './kernel/define/resource.ts'
export { definePrompt } from './kernel/define/prompt.ts'
export { Fault } from './kernel/define/fault.ts'
export { kernelDefaults as defaults } from './kernel/define/limits.ts'
export { compile } from './kernel/schema/compile.ts'
export { LiveCall } from './kernel/define/live-call.ts'
export { callTool } from './kernel/run/call-tool.ts'
export { complete, getPrompt, readResource } from './kernel/run/reading.ts'
export { runHandler } from './kernel/run/run-handler.ts'
export { shownFault } from './kernel/run/shown-fault.ts'
export { problemReply } from './kernel/wire/problem.ts'

export type { Kernel, Opened, Part } from './kernel/server/part.ts'
export type { Gauge } from './kernel/util/gauge.ts'
export type { Lifetime } from './kernel/util/lifetime.ts'
export type { KernelOptions } from './kernel/server/options.ts'
export type { KernelServer, KernelStatus } from './kernel/server/server.ts'
export type { Endpoint, Exchange, Refusal, Reply, Sink, Source } from './kernel/http/message/exchange.ts'
export type { Agent, AgentDefinition, Group, GroupDefinition } from './kernel/define/agent.ts'
export type { Tool, ToolDefinition } from './kernel/define/tool.ts'
export type {
  Resource, ResourceDefinition, ResourceTemplate, ResourceTemplateDefinition,
} from './kernel/define/resource.ts'
export type { Prompt, PromptDefinition } from './kernel/define/prompt.ts'
export type { Content } from './kernel/define/content.ts'
export type { Call } from './kernel/define/call.ts'
export type { Principal } from './kernel/define/principal.ts'
export type { Store } from './kernel/store/store.ts'
