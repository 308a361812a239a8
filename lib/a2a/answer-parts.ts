/**
 * An answer as the parts of an artifact, or of what is said about a state.
 */
import { textOf } from '../core/content.ts'
import type { Answer } from '../core/answer.ts'
import type { Content } from '../core/content.ts'

/** What an answer says, as parts: its content, and its data where the content is not that data's text. */
export function answerParts(answer: Answer): readonly Content[] {
  const { content, data, artifacts } = answer
  if (data === undefined && artifacts === undefined) return content
  const more = artifacts?.flatMap(({ parts }) => parts) ?? []
  if (data === undefined) return more.length === 0 ? content : [...content, ...more]
  const isItsText = content.length === 1 && textOf(content) === JSON.stringify(data)
  return [...isItsText ? [] : content, dataPart(answer), ...more]
}

/** The data of an answer, as a part. */
export function dataPart({ data }: Answer): Content {
  return { type: 'data', data }
}
