/**
 * What parts are written with that answer with agents and groups, within a conversation or alone.
 *
 *     answerMessage(kernel, agent, { prompt, conversationId: undefined, isNamed: false }, call, (event) => {
 *       if (event.type === 'piece') show(event.content)
 *     })
 */
export { answerForPart as answerMessage } from './floors/conversations/answer-message.ts'

export type { Answer } from './floors/answers/answer.ts'
export type { AnswerEvent, AnswerPiece, Emit } from './floors/answers/run-event.ts'
export type { UserMessage } from './floors/conversations/answer-message.ts'
