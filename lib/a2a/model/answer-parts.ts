/**
 * An answer as the parts of an artifact, or of what is said about a state.
 */
import { textOf } from '../../define/content.ts'
import type { Answer } from '../../define/answer.ts'
import type { Content } from '../../define/content.ts'

/** What an answer says, as parts: its content, and its data where the content is not that data's text. */
export function saidParts(answer: Answer): readonly Content[] {
  const { content, data } = answer
  if (data === undefined) return content
  const isItsText = content.length === 1 && textOf(content) === JSON.stringify(data)
  return isItsText ? [dataPart(answer)] : [...content, dataPart(answer)]
}

/** The same, and its artifacts behind it. */
export function answerParts(answer: Answer): readonly Content[] {
  const said = saidParts(answer)
  const more = answer.artifacts?.flatMap(({ parts }) => parts) ?? []
  return more.length === 0 ? said : [...said, ...more]
}

/** The data of an answer, as a part. */
export function dataPart({ data }: Answer): Content {
  return { type: 'data', data }
}
