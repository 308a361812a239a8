/** Reads what a run of the OpenAI Agents SDK returns. */
import { readMember } from './shape.ts'
import type { Reader } from './adapter.ts'

export const openaiAgents: Reader = {
  makeReader: () => (result) => {
    const output = readMember(result, 'finalOutput')
    return typeof output === 'string' ? output : { data: output }
  },
}
