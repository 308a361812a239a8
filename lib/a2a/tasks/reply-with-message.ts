/**
 * A message in, a message out: for dialects, and agents, without tasks. What happens on the way is not told,
 * and whoever leaves ends the run.
 */
import { callTool } from '../../run/call-tool.ts'
import { answerMessage, PlainChannel } from '../../run/answer-message.ts'
import { Fault } from '../../define/fault.ts'
import { LiveCall } from '../../define/live-call.ts'
import { andThen, isThenable } from '../../util/thenable.ts'
import { randomUuid } from '../../wire/random.ts'
import { contentParts, filenameOf } from '../codec/parts.ts'
import { requestedExtensions } from './extensions.ts'
import { answerOfTool, toolCallFor } from '../model/tool-agent.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Answer } from '../../define/answer.ts'
import type { Artifact } from '../../define/artifact.ts'
import type { Origin } from '../../define/call.ts'
import type { Content } from '../../define/content.ts'
import type { Service } from '../../run/service.ts'
import type { TaskMessage } from '../../tasks/task.ts'
import type { ToolResult } from '../../define/tool.ts'
import type { JsonMembers, Message, SendRequest } from '../model/model.ts'

/** What a run hears of a message; read when somebody asks. */
class MessageChannel extends PlainChannel {
  get extensions(): readonly string[] { return requestedExtensions(this.origin) }
}

/** What a client attached: to a message, and beside it to its request. What the message says itself wins. */
export function attachedTo(
  { metadata }: Pick<TaskMessage, 'metadata'>, beside: JsonMembers | undefined,
): JsonMembers | undefined {
  return metadata === undefined || beside === undefined ? metadata ?? beside : { ...beside, ...metadata }
}

/**
 * Runs an agent for a message. Synchronous where the agent is. Throws, or rejects with, a `Fault`. `isPlain`:
 * the dialect has texts and files alone.
 */
export function replyWithMessage(
  service: Service, agent: Agent | Group, { message, metadata: beside }: SendRequest, origin: Origin,
  isPlain: boolean,
): MaybePromise<Message> {
  const { contextId, parts: content } = message
  const conversationId = contextId ?? service.conversations.makeId()
  const metadata = attachedTo(message, beside)
  const channel = new MessageChannel(service, origin, 'a2a', conversationId, content, metadata)
  const call = new LiveCall(origin, channel, channel)
  const answer = answerTo(service, agent, message, conversationId, call)
  if (!isThenable(answer)) return messageOf(answer, conversationId, isPlain)
  call.cancelOnDisconnect()
  return answer.then((later) => messageOf(later, conversationId, isPlain))
}

/** Who answers: a tool that the message names, else the agent. */
function answerTo(
  service: Service, agent: Agent | Group, { parts, contextId }: Message, conversationId: string,
  call: LiveCall,
): MaybePromise<Answer> {
  const chosen = toolCallFor(service, agent, parts)
  if (chosen !== undefined) {
    const result = callTool(service, chosen.tool, chosen.args, call)
    return andThen(result, toolAnswer)
  }
  const prompt = promptOf(parts)
  return answerMessage(service, agent, {
    prompt, conversationId, isNamed: contextId !== undefined,
    remembered: prompt === '' ? namesOfFiles(parts) : prompt,
  }, call)
}

function toolAnswer(result: ToolResult): Answer {
  const answer = answerOfTool(result)
  if (answer.state === 'failed') throw new Fault('failed', answer.text || 'The tool failed')
  return answer
}

/** What an agent answers, but for data where that is plain; what it gave as artifacts stands behind it. */
export function messageOf(answer: Answer, contextId: string, isPlain: boolean): Message {
  const { artifacts = [] } = answer
  const said = isPlain ? answer.content : contentParts(answer)
  const parts = artifacts.length === 0 ? said : [...said, ...artifacts.flatMap(partsOf)]
  return {
    id: randomUuid(), role: 'agent', parts, contextId, taskId: undefined, metadata: undefined,
    extensions: undefined, referenceTaskIds: undefined,
  }
}

/** The parts of an artifact, each called like it where nothing else says what it is called. */
function partsOf({ name, parts }: Artifact): readonly Content[] {
  if (name === undefined) return parts
  return parts.map((part) => {
    if (part.type === 'resource' || part.type === 'resource_link') return part
    return filenameOf(part) === undefined ? { ...part, _meta: { ...part._meta, filename: name } } : part
  })
}

/** The texts of a message, one below the other: what an agent is asked. Empty where there are only files. */
export function promptOf(content: readonly Content[]): string {
  let prompt: string | undefined
  for (const block of content) {
    if (block.type === 'text') prompt = prompt === undefined ? block.text : `${prompt}\n${block.text}`
  }
  return prompt ?? ''
}

/** What stands in the history for a message without words. */
export function namesOfFiles(content: readonly Content[]): string {
  return content.map((block) => block.type === 'resource_link' ? block.name : block.type).join(', ')
}
