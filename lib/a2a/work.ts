/**
 * Who does what a message asks for: a tool, where the message names one and brings its arguments, else the
 * agent that the message was sent to.
 */
import { speak, timeoutOf } from '../core/converse.ts'
import { runHandler } from '../core/run-handler.ts'
import { namesOfFiles, promptOf } from './message.ts'
import type { Answer } from '../core/answer.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Visit } from './visit.ts'
import type { Work } from './turn.ts'

/** The work of one turn within a conversation; `isNamed`: something may have been said in it before. */
export function workFor({ service, who }: Visit, conversationId: string, isNamed: boolean): Work {
  const timeoutMs = timeoutOf(service, who)
  return (turn, emit) => runHandler(service, turn.call, who, timeoutMs, (): MaybePromise<Answer> => {
    const prompt = promptOf(turn.message)
    const said = {
      prompt, conversationId, isNamed, remembered: prompt === '' ? namesOfFiles(turn.message) : prompt,
    }
    const answer = speak(service, who, said, turn.call, emit)
    if (answer instanceof Promise) turn.settled = answer.then(() => {}, () => {})
    return answer
  })
}
