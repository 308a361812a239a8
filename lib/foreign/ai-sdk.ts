/** Runs agents of the AI SDK, versions 5 to 7, and reads what its functions return. */
import { readMember } from './shape.ts'
import type { Adapter, Read, Reader } from './adapter.ts'

/** What its agents have in common; `stream` of version 5 is no promise. */
interface Theirs {
  stream(options: object): PromiseLike<{ fullStream: AsyncIterable<object> }> | {
    fullStream: AsyncIterable<object>
  }
}

export const aiSdk: Adapter & Reader = {
  async* run(agent, prompt, call) {
    const messages = [...call.history, { role: 'user', content: prompt }]
    const { fullStream } = await (agent as Theirs).stream({ messages, abortSignal: call.signal })
    for await (const part of fullStream) {
      const shown = readPart(part, call)
      if (shown !== undefined) yield shown
    }
  },
  makeReader: () => readPart,
}

const readPart: Read = (part) => {
  const { type, error, text, delta, payload }: Readonly<Record<string, unknown>> = { ...part }
  // A whole result, its text a getter of its class.
  if (type === undefined) return stringIn(readMember(part, 'text'))
  if (type === 'error') throw error ?? readMember(payload, 'error')
  if (type === 'abort') throw new Error('The stream of the model was aborted')
  return type === 'text-delta' ? stringIn(text ?? delta ?? readMember(payload, 'text')) : undefined
}

function stringIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
