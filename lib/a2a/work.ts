/**
 * Who does what a message asks for: a tool, where the message names one and brings its arguments, else the
 * agent that the message was sent to.
 */
import { mayRerun } from '../core/agent.ts'
import { callTool } from '../core/call-tool.ts'
import { speak, timeoutOf } from '../core/converse.ts'
import { runHandler } from '../core/run-handler.ts'
import { namesOfFiles, promptOf } from './message.ts'
import { answerOfTool, toolCallFor } from './tool-agent.ts'
import type { Answer } from '../core/answer.ts'
import type { Content } from '../core/content.ts'
import type { MaybePromise } from '../core/store.ts'
import type { ToolCall } from './tool-agent.ts'
import type { Work } from './turn.ts'
import type { Visit } from './visit.ts'

/** Who is asked. */
type Asked = Pick<Visit, 'service' | 'who'>

/**
 * The work of one turn within a conversation, which a message begins; `isNamed`: something may have been said
 * in it before.
 */
export function workFor(
  visit: Asked, conversationId: string, isNamed: boolean, parts: readonly Content[],
): Work {
  const chosen = toolCallFor(visit.service, visit.who, parts)
  return chosen === undefined ? agentWork(visit, conversationId, isNamed) : toolWork(visit, chosen)
}

/** Whether the work of a message is done again where its process has died. */
export function isRerunFor({ service, who }: Asked, parts: readonly Content[]): boolean {
  if (service.shared === undefined) return false
  const chosen = toolCallFor(service, who, parts)
  return chosen === undefined ? mayRerun(who) : chosen.tool.recover === 'rerun'
}

function agentWork({ service, who }: Asked, conversationId: string, isNamed: boolean): Work {
  const timeoutMs = timeoutOf(service, who)
  return (turn, emit) => runHandler(service, turn.call, who, timeoutMs, (): MaybePromise<Answer> => {
    const prompt = promptOf(turn.message)
    const said = {
      prompt, conversationId, isNamed, remembered: prompt === '' ? namesOfFiles(turn.message) : prompt,
    }
    return speak(service, who, said, turn.call, emit)
  })
}

function toolWork({ service }: Pick<Visit, 'service'>, { tool, args }: ToolCall): Work {
  return (turn) => {
    const result = callTool(service, tool, args, turn.call)
    return result instanceof Promise ? result.then(answerOfTool) : answerOfTool(result)
  }
}
