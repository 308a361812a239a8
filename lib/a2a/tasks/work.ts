/**
 * Who does what a message asks for: a tool, where the message names one and brings its arguments, else the
 * agent that the message was sent to.
 */
import { mayRerun } from '../../define/agent.ts'
import { callTool } from '../../run/call-tool.ts'
import { runConversationTurn, timeoutOf } from '../../run/answer-message.ts'
import { runHandler } from '../../run/run-handler.ts'
import { andThen } from '../../util/thenable.ts'
import { namesOfFiles, promptOf } from './reply-with-message.ts'
import { answerOfTool, toolCallFor } from '../model/tool-agent.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Answer, Emit } from '../../define/answer.ts'
import type { Content } from '../../define/content.ts'
import type { ToolCall } from '../model/tool-agent.ts'
import type { TaskTurnRun, Work } from './task-turn-run.ts'
import type { A2aRequest } from './request.ts'

/** Who is asked. */
type Asked = Pick<A2aRequest, 'service' | 'agent'>

/**
 * The work of one turn within a conversation, which a message begins; `isNamed`: something may have been said
 * in it before.
 */
export function workFor(
  visit: Asked, conversationId: string, isNamed: boolean, parts: readonly Content[],
): Work {
  const chosen = toolCallFor(visit.service, visit.agent, parts)
  return chosen === undefined ? new AgentWork(visit, conversationId, isNamed) : toolWork(visit, chosen)
}

/** Whether the work of a message is done again where its process has died. */
export function isRerunFor({ service, agent }: Asked, parts: readonly Content[]): boolean {
  if (service.shared === undefined) return false
  const chosen = toolCallFor(service, agent, parts)
  return chosen === undefined ? mayRerun(agent) : chosen.tool.recover === 'rerun'
}

/** A message to an agent, before it is known what its parts ask. */
class AgentWork implements Work {
  readonly #asked: Asked
  readonly #conversationId: string
  readonly #isNamed: boolean

  constructor(asked: Asked, conversationId: string, isNamed: boolean) {
    this.#asked = asked
    this.#conversationId = conversationId
    this.#isNamed = isNamed
  }

  run(turn: TaskTurnRun, emit: Emit): MaybePromise<Answer> {
    const { service, agent } = this.#asked
    const one = { service, agent, turn, emit, conversationId: this.#conversationId, isNamed: this.#isNamed }
    return runHandler(service, turn.call, agent, timeoutOf(service, agent), speakTo, one)
  }
}

/** One run of it. */
interface AgentRun extends Asked {
  readonly turn: TaskTurnRun
  readonly emit: Emit
  readonly conversationId: string
  readonly isNamed: boolean
}

function speakTo({ service, agent, turn, emit, conversationId, isNamed }: AgentRun): MaybePromise<Answer> {
  const prompt = promptOf(turn.message)
  const remembered = prompt === '' ? namesOfFiles(turn.message) : prompt
  return runConversationTurn(service, agent, { prompt, conversationId, isNamed, remembered }, turn.call, emit)
}

function toolWork({ service }: Pick<A2aRequest, 'service'>, { tool, args }: ToolCall): Work {
  return {
    run({ call }) {
      const result = callTool(service, tool, args, call)
      return andThen(result, answerOfTool)
    },
  }
}
