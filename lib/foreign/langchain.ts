/** Reads what agents of LangChain and graphs of LangGraph return. */
import { readMember } from './shape.ts'
import type { Reader } from './adapter.ts'

export const langchain: Reader = {
  makeReader: () => (value) => {
    const messages = readMember(value, 'messages')
    const message: unknown = Array.isArray(value) ? value[0]
      : Array.isArray(messages) ? messages.at(-1) : value
    const text = readMember(message, 'text')
    return typeof text === 'string' ? text : undefined
  },
}
