/** Tokens where an agent does not count them. */
import type { UserMessage } from '../../run/answer-message.ts'

/** Bytes of a token. */
const TOKEN_BYTES = 4

/** Of what an agent was asked, its history included. */
export function tokensRead({ prompt, history = [] }: Pick<UserMessage, 'prompt' | 'history'>): number {
  let bytes = Buffer.byteLength(prompt)
  for (const { content } of history) bytes += Buffer.byteLength(content)
  return tokensIn(bytes)
}

export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / TOKEN_BYTES)
}
