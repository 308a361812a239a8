/**
 * Runs what a message asks for: the tool that it names, else the agent that it was sent to. For a task, or as
 * a plain reply of which its client sees nothing before the answer.
 */
import { warnOfData, warnOfReply } from '../../../floors/answers/warnings.ts'
import { mayRerun } from '../../../kernel/define/agent.ts'
import { usageMeta } from '../../../kernel/define/event.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { LiveCall } from '../../../kernel/define/live-call.ts'
import {
  answerMessage, plainChannel, runConversationTurn, timeoutOf,
} from '../../../floors/conversations/answer-message.ts'
import { linesOf } from '../../../floors/conversations/message.ts'
import { callTool } from '../../../kernel/run/call-tool.ts'
import { runHandler } from '../../../kernel/run/run-handler.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { randomUuid } from '../../../kernel/wire/random.ts'
import { contentParts, filenameOf } from '../codec/parts.ts'
import { answerOfTool } from '../model/tool-agent.ts'
import { requestedExtensions } from './request.ts'
import type { Answer } from '../../../floors/answers/answer.ts'
import type { Emit } from '../../../floors/answers/run-event.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { Artifact } from '../../../kernel/define/artifact.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { ToolResult } from '../../../kernel/define/tool.ts'
import type { UserMessage } from '../../../floors/conversations/answer-message.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { TaskMessage, TaskSeed } from '../../../floors/tasks/task.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { JsonMembers, MessageResult, SendRequest } from '../model/model.ts'
import type { ToolCall } from '../model/tool-agent.ts'
import type { A2aRequest } from './request.ts'

/** A message that runs for a task, and whom it is for. */
export interface AskedForTask {
  readonly service: Service
  readonly agent: Agent | Group
  /** The tool that the message names: it runs in the place of the agent. */
  readonly tool: ToolCall | undefined
  readonly message: Pick<TaskMessage, 'parts'>
  /** Whether the client named the conversation, which then may have a history. */
  readonly isNamed: boolean
  readonly task: Pick<TaskSeed, 'tenant' | 'contextId'>
}

/**
 * Runs a message for a task: a tool that fails is an answer of that state. `emit` gets each piece of the
 * answer. Throws, or rejects with, a `Fault`.
 */
export function runForTask(asked: AskedForTask, call: LiveCall, emit: Emit): MaybePromise<Answer> {
  const { service, agent, tool, message: { parts }, isNamed, task: { tenant, contextId } } = asked
  if (tool !== undefined) return andThen(callTool(service, tool.tool, tool.args, call), answerOfTool)
  const message = userMessage(parts, contextId, isNamed, ownerOf(call, tenant))
  return runHandler(service, call, agent, timeoutOf(service, agent), (given) => (
    runConversationTurn(service, agent, given, call, emit)
  ), message)
}

/** Whether a message is run again where its process has died, and others share its store. */
export function isRerunFor(agent: Agent | Group, tool: ToolCall | undefined): boolean {
  return tool === undefined ? mayRerun(agent) : tool.tool.recover === 'rerun'
}

/**
 * Answers a message with a message. Synchronous where the agent is. Throws, or rejects with, a `Fault`.
 * `tool`: what the message names.
 */
export function replyWithMessage(
  { context: { service }, agent, dialect, exchange: { origin } }: A2aRequest,
  { message, metadata, tenant, outputModes }: SendRequest, tool: ToolCall | undefined,
): MaybePromise<MessageResult> {
  // It has texts and files alone.
  const isPlain = !dialect.hasTasks
  const { contextId, parts } = message
  const conversationId = contextId ?? randomUuid()
  const attached = attachedTo(message, metadata)
  const call = new LiveCall(origin, {
    protocol: 'a2a', sessionId: conversationId, message: parts, metadata: attached,
    messageId: message.id === '' ? undefined : message.id, contextId: conversationId,
    extensions: requestedExtensions(origin), referenceTaskIds: message.referenceTaskIds,
    acceptedOutputModes: outputModes,
  }, { ...plainChannel(service, origin), silence: 'only a task waits, and this is answered with a message' })
  const asked = userMessage(parts, conversationId, contextId !== undefined, ownerOf(call, tenant))
  const answer = tool === undefined ? answerMessage(service, agent, asked, call)
    : andThen(callTool(service, tool.tool, tool.args, call), toolAnswer)
  const encode = (whole: Answer): MessageResult => {
    const isMeant = agent.kind === 'group' || agent.replies !== 'message' || whole.reply !== 'task'
    if (!isMeant) warnOfReply(service.log, agent, whole.reply, origin.requestId)
    if (isPlain) warnOfData(service.log, agent, whole, 'plain A2A', origin.requestId)
    return messageOf(whole, call, conversationId, isPlain)
  }
  if (!isThenable(answer)) return encode(answer)
  call.cancelOnDisconnect()
  return answer.then(encode)
}

function toolAnswer(result: ToolResult): Answer {
  const answer = answerOfTool(result)
  if (answer.state === 'failed') throw new Fault('failed', answer.text || 'The tool failed')
  return answer
}

/** What a client attached to a message and to its request. The message wins. */
export function attachedTo(
  { metadata }: Pick<TaskMessage, 'metadata'>, beside: JsonMembers | undefined,
): JsonMembers | undefined {
  return metadata === undefined || beside === undefined ? metadata ?? beside : { ...beside, ...metadata }
}

/** An answer with its artifacts behind it and the tokens of its run; without its data where that is plain. */
export function messageOf(
  answer: Answer, call: LiveCall, contextId: string, isPlain: boolean,
): MessageResult {
  const { artifacts = [] } = answer
  const said = isPlain ? answer.content : contentParts(answer)
  const parts = artifacts.length === 0 ? said : [...said, ...artifacts.flatMap(partsOf)]
  return {
    what: 'message',
    message: {
      id: randomUuid(), role: 'agent', parts, contextId, taskId: undefined, metadata: usageMeta(call.usage),
      extensions: undefined, referenceTaskIds: undefined,
    },
  }
}

/** The parts of an artifact, each with its name where it has none of its own. */
function partsOf({ name, parts }: Artifact): readonly Content[] {
  if (name === undefined) return parts
  return parts.map((part) => {
    if (part.type === 'resource' || part.type === 'resource_link') return part
    return filenameOf(part) === undefined ? { ...part, _meta: { ...part._meta, filename: name } } : part
  })
}

/** With each tenant, whose name has no `/`, a caller has conversations of its own. */
function ownerOf({ origin: { principal } }: LiveCall, tenant: string | undefined): string | undefined {
  return tenant === undefined ? undefined : `tenant:${tenant}/${principal.id}`
}

/** In the history the names of its files stand for a message without words. */
function userMessage(
  parts: readonly Content[], conversationId: string, isNamed: boolean, owner: string | undefined,
): UserMessage {
  const prompt = linesOf(parts)
  const remembered = prompt !== '' ? prompt
    : parts.map((part) => part.type === 'resource_link' ? part.name : part.type).join(', ')
  return { prompt, conversationId, owner, isNamed, remembered }
}
