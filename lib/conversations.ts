/**
 * What parts are written with that answer with agents and groups, within a conversation or alone.
 *
 *     answerMessage(kernel, agent, { prompt, conversationId: undefined, isNamed: false }, call)
 */
export { answerMessage } from './floors/conversations/answer-message.ts'

export type { Answer, Emit } from './floors/answers/answer.ts'
export type { UserMessage } from './floors/conversations/answer-message.ts'
export type { GroupListener } from './floors/groups/group.ts'
